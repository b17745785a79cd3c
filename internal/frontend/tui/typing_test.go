package tui

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/frontend/styled"
	"github.com/pawl-agent/pawl/internal/frontend/tui/keys"
)

// Ctrl+X Ctrl+E is an editor as in shells; what was erased comes back, and what
// was erased before it; what was undone is done again.
//
// SPEC 18.3
func TestShellKeys(t *testing.T) {
	r := newTestScreen(t, llmtest.New())
	r.start("")
	r.say("text")
	r.press("ctrl+x", "ctrl+e")
	r.see("› text edited")
	r.press("ctrl+w", "x", "ctrl+u", "ctrl+y", "alt+y")
	r.see("› edited")
	r.press("ctrl+_", "alt+_")
	r.see("› edited")
	r.press("ctrl+x", "a") // it does not begin another key
	r.see("› editeda")
}

// A paste is shown by its lines and its size, and is sent whole.
//
// SPEC 18.3
func TestLargePaste(t *testing.T) {
	m := llmtest.New(llmtest.Say("all read"))
	r := newTestScreen(t, m)
	r.start("")
	r.send(keys.Paste{Text: strings.Repeat("0123456789\n", 120_000)})
	r.see("[pasted text 1: 120000 lines, 1.3 MB]")
	r.press("ctrl+u", "ctrl+y") // erased and brought back
	r.see("[pasted text 1: 120000 lines, 1.3 MB]")
	r.press("ctrl+u")
	r.enter("short")
	r.see("all read")
	r.press("ctrl+y") // what was erased outlives the prompt
	r.see("[pasted text 1: 120000 lines, 1.3 MB]")
}

// A paste of 10 MB reaches the model as its ends and a file with the whole. It
// comes back as it stood: by Up, by Undo, and when an interrupt takes it back
// while it waits.
//
// SPEC 10.1, 18.3
func TestHugePaste(t *testing.T) {
	hold := make(chan struct{})
	m := llmtest.New(llmtest.Say("all read"), llmtest.Turn{Text: "half a\n\nword", Piece: 4, Wait: hold})
	r := newTestScreen(t, m)
	r.start("")
	paste := strings.Repeat("0123456789\n", 910_000)
	const stands = "[pasted text 1: 910000 lines, 10.0 MB]"
	r.say("why ")
	r.send(keys.Paste{Text: paste})
	r.say(" so?")
	r.see("› why " + stands + " so?")
	r.press("ctrl+u", "ctrl+_")
	r.see("› why " + stands + " so?")
	r.press("enter")
	r.rest(1)
	got := m.Requests()[0].Messages
	text := got[len(got)-1].Text()
	if len(text) > 200_000 || !strings.Contains(text, "why 0123456789\n") || !strings.Contains(text, "the whole, 910000 lines and 10.0 MB, is in ") || !strings.HasSuffix(strings.TrimSpace(text), " so?") {
		t.Errorf("the model got %d bytes: %.200q", len(text), text)
	}
	r.press("up")
	r.see("› why " + stands + " so?")
	r.press("ctrl+u")
	r.enter("hang")
	r.see("half a")
	r.press("up", "up") // the prompt of before
	r.see("› why " + stands + " so?")
	r.press("enter")
	r.see("◦ why 0123456789")
	r.press("esc")
	r.see("› why " + stands + " so?")
}

// The terminal's background decides the theme unless a person has.
//
// SPEC 18.5
func TestTheme(t *testing.T) {
	for name, chosen := range map[string]bool{"by the background": false, "by a person": true} {
		s := &screen{Config: Config{Theme: styled.Dark, ThemeChosen: chosen}}
		s.event(t.Context(), keys.Background{Dark: false})
		if got := s.Theme.Name; (got == styled.Dark.Name) != chosen {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// The prompt is there before the terminal has answered what it was asked, however
// long that takes, and keys are taken; what is finished waits, and has the colours of
// the answer.
//
// SPEC 18.4, 18.5
func TestFirstFrameWaitsForNothing(t *testing.T) {
	for name, answers := range map[string]bool{"a terminal that answers": true, "one that does not": false} {
		t.Run(name, func(t *testing.T) {
			r := newTestScreen(t, llmtest.New(llmtest.Say("all read")))
			r.clock.stands, r.asks, r.theme = true, true, styled.Dark
			r.start("")
			r.see("› " + invitation)
			r.say("hello")
			r.see("› hello")
			if strings.Contains(r.text(), "mode ask; /help") {
				t.Fatalf("it did not wait:\n%s", r.text())
			}
			if answers {
				r.send(keys.Background{Dark: false})
				r.send(keys.DeviceAttributes{})
			} else {
				r.clock.release()
			}
			r.see("mode ask; /help")
			r.mu.Lock()
			look := r.term.Styled()
			r.mu.Unlock()
			if want := map[bool]string{true: "{34;1}pawl", false: "{96;1}pawl"}[answers]; !strings.Contains(look, want) {
				t.Errorf("no %s in\n%s", want, look)
			}
			r.press("enter")
			r.see("all read")
		})
	}
}

// The path of an image that is dropped, and Ctrl+V, put an image into the prompt; what
// was erased is not sent, and a path of anything else is text.
//
// SPEC 10.1
func TestPictures(t *testing.T) {
	m := llmtest.New(llmtest.Say("a cat"), llmtest.Say("a dog"))
	m.InfoValue.Images = true
	r := newTestScreen(t, m)
	image := func(name string) *Picture {
		return &Picture{Name: name, Media: llm.Media{Type: "image/png", Data: []byte(name)}}
	}
	r.dropped = func(text string) (*Picture, error) {
		switch text {
		case "/x/cat.png":
			return image("cat.png"), nil
		case "/x/huge.png":
			return nil, errors.New("huge.png is larger than 10 MB, the limit for pictures")
		case "/x/a.pdf":
			return &Picture{Name: "a.pdf", Media: llm.Media{Type: "application/pdf", Data: []byte("%PDF-1")}}, nil
		}
		return nil, nil
	}
	r.clipboard = func(context.Context) (*Picture, error) { return image("clipboard"), nil }
	r.start("")
	r.see("mode ask; /help") // before it is open nobody knows what its model takes
	r.send(keys.Paste{Text: "/x/huge.png"})
	r.see("larger than 10 MB")
	r.send(keys.Paste{Text: "/x/cat.png"})
	r.see("[image 1: cat.png]")
	r.send(keys.Paste{Text: " and /x/cat.png?"})
	r.see("[image 1: cat.png] and /x/cat.png?")
	r.send(keys.Paste{Text: "/x/a.pdf"}) // the model takes none
	r.see("and /x/cat.png?/x/a.pdf")
	r.see("takes no PDFs")
	r.press("enter")
	r.see("a cat")
	r.press("ctrl+v")
	r.see("[image 1: clipboard]")
	r.press("backspace")
	r.press("ctrl+v")
	r.see("[image 2: clipboard]")
	r.enter(" who?")
	r.see("a dog")
	var sent []string
	for _, q := range m.Requests() {
		names := ""
		for _, p := range q.Messages[len(q.Messages)-1].Parts {
			if p.Kind == llm.Image {
				names += string(p.Data) + " "
			}
		}
		sent = append(sent, names)
	}
	if strings.Join(sent, "|") != "cat.png |clipboard " {
		t.Errorf("sent %q", sent)
	}
	r.press("ctrl+v")
	r.see("[image 1: clipboard]")
	r.press("home")
	r.enter("/status ")
	r.see("an image goes with a prompt")
}
