package line

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

func reply(text string) event.Event {
	return event.Event{Body: event.Replied{Reply: llm.Reply{Message: llm.Message{Parts: []llm.Part{llm.TextPart(text)}}}}}
}

// SPEC 5.4: however much of a reply was streamed, in whatever pieces, all of
// it is shown, once, and the line is ended.
func TestStreamShowsEachPieceOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("ab é漢\n\t "))).Draw(t, "text")
		upTo := rapid.IntRange(0, len(text)).Draw(t, "streamed")
		p := &paper{}
		v := newSeen(p, nil)
		for at := 0; at < upTo; {
			n := rapid.IntRange(1, upTo-at).Draw(t, "piece")
			v.show(event.Event{Body: event.TextDelta{Text: text[at : at+n]}})
			at += n
		}
		v.show(reply(text))
		want := strings.TrimLeft(text, "\n")
		got := p.String()
		if strings.TrimRight(got, "\n") != strings.TrimRight(want, "\n") {
			// Where the stream began with newlines only, they may stand.
			if strings.Trim(got, "\n") != strings.Trim(want, "\n") {
				t.Fatalf("%q was shown as %q", text, got)
			}
		}
		if got != "" && !strings.HasSuffix(got, "\n") {
			t.Fatalf("%q does not end its line", got)
		}
	})
}

// SPEC 5.4: a provider may trim what it streamed; a slow screen may miss a
// piece, and then is told.
func TestStreamThatDiffers(t *testing.T) {
	for _, c := range []struct{ streamed, whole, want string }{
		{"\n\n Hello ", "Hello", " Hello \n"},
		{"Hello", "Hello  \n\n", "Hello  \n\n"},
		{"Hel world", "Hello world", "Hel world\npawl: the screen missed a part of this; here is all of it:\nHello world\n"},
	} {
		p := &paper{}
		v := newSeen(p, nil)
		v.show(event.Event{Body: event.TextDelta{Text: c.streamed}})
		v.show(reply(c.whole))
		if got := p.String(); got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.streamed, c.whole, got, c.want)
		}
	}
}

// SPEC 10.1, 5.4: a command's output is shown as it comes, and not again.
func TestOutputOnce(t *testing.T) {
	for _, c := range []struct {
		streamed, output string
		exit             *int
		want             string
	}{
		{"a\nb\n", "a\nb\n", new(int), "a\nb\n"},
		{"a\n", "a\nb", new(1), "a\nb\nexit code 1\n"},
		{"", "all of it", new(int), "all of it\n"},
		{"1\n2\n3\n4\n", "1\n… 2 lines left out …\n4\n", new(int), "1\n2\n3\n4\n"},
		{"1\n3\n", "1\n2\n3\n4\n", nil, "1\n3\npawl: the screen missed a part of this; it ends with: 4\nit was stopped\n"},
	} {
		p := &paper{}
		v := newSeen(p, nil)
		v.show(event.Event{Body: event.OutputDelta{Text: c.streamed}})
		v.show(event.Event{Body: event.PersonRan{Command: "x", Output: c.output, Exit: c.exit}})
		if got := p.String(); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
