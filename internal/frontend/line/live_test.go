package line

import (
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/frontend/tui/tty"
)

// hearing is a typist who also types while a turn runs.
type hearing struct {
	*typist
	mu   sync.Mutex
	wait sync.Cond // for take
	take func(string) bool
	kept []string
}

func (h *hearing) Ahead(take func(string) bool) (stop func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.take, h.wait.L = take, &h.mu
	h.wait.Broadcast()
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.take = nil
	}
}

// types enters a line while nobody asks for one, as soon as it is heard: a turn may
// be faster than that.
func (h *hearing) types(line string) {
	h.mu.Lock()
	h.wait.L = &h.mu
	for h.take == nil {
		h.wait.Wait()
	}
	take := h.take
	h.mu.Unlock()
	if !take(line) {
		h.kept = append(h.kept, line)
	}
}

// SPEC 1.5: /pause is typed while a turn runs; the turn waits before its next
// request and goes on as the person decides. SPEC 10.1: a prompt is delivered into
// the turn, once; if the turn was stopped, it starts the next turn.
func TestPauseWhileATurnRuns(t *testing.T) {
	for answer, want := range map[string]event.End{"1": event.EndDone, "2": event.EndInterrupted, "use b.txt": event.EndDone} {
		h, waits, pauses := &hearing{}, make(chan struct{}), make(chan struct{})
		first := llmtest.Use("bash", `{"command":"echo x"}`)
		first.Before = func(*llm.Request) {
			for _, l := range []string{"look at b.txt too", "/mode plan", "/phase wire it", "/pau"} {
				h.types(l)
			}
			<-waits
			<-pauses
		}
		r := newTestConversation(t, llmtest.New(first, llmtest.Say("and the end")), keysOf("go", answer)...)
		r.mode = "yolo"
		r.paper.on("(waits: look at b.txt too)", func() { close(waits) })
		r.paper.on("the turn pauses", func() { close(pauses) })
		h.typist = r.typist
		cfg := r.config()
		cfg.In = h
		must.Done(t)(Run(t.Context(), cfg, slash.Want{}))
		seen := r.paper.String()
		asked, ended := events[event.Asked](r, "s1"), events[event.Ended](r, "s1")
		turns := 1
		if want == event.EndInterrupted {
			turns = 2
		}
		if len(asked) != 1 || asked[0].Why != "pause" || len(ended) != turns || ended[0].End != want {
			t.Errorf("%s: asked %+v, ended %+v", answer, asked, ended)
		}
		if p := events[event.Prompted](r, "s1"); len(p) != 2 || p[1].Text != "look at b.txt too" || p[1].ID == "" {
			t.Errorf("%s: prompted %+v", answer, p)
		}
		if turns == 1 && !strings.Contains(seen, "(told the model: look at b.txt too)") {
			t.Errorf("%s: its delivery is not seen:\n%s", answer, seen)
		}
		if len(h.kept) != 0 || !strings.Contains(seen, "(waits: look at b.txt too)") || !strings.Contains(seen, "mode plan") || !strings.Contains(seen, "pawl: phase 1 of 1: wire it") || !strings.Contains(seen, "the turn pauses before the next request") || !strings.Contains(seen, "pawl asks: Paused. Go on?") {
			t.Errorf("%s: kept %q, seen:\n%s", answer, h.kept, seen)
		}
	}
}

// SPEC 10.1, 11.2, 13.3: a prompt that is delivered into a turn is of that turn:
// its closing line counts what was before it, and an undo of the turn puts all of
// it back.
func TestSteeredTurnIsOne(t *testing.T) {
	h := &hearing{}
	first := llmtest.Use("write", `{"path":"a.txt","content":"a\n"}`)
	waits := make(chan struct{})
	first.Before = func(*llm.Request) {
		h.types(`and b\`)
		h.types("too")
		<-waits
	}
	m := llmtest.New(first, llmtest.Use("write", `{"path":"b.txt","content":"b\n"}`), llmtest.Say("written"))
	r := newTestConversation(t, m, keysOf("write a", "/undo turn", "y", "/stats")...)
	r.paper.on("(waits: and b too)", func() { close(waits) })
	r.mode = "yolo"
	h.typist = r.typist
	cfg := r.config()
	cfg.In = h
	must.Done(t)(Run(t.Context(), cfg, slash.Want{}))
	seen := r.paper.String()
	for _, want := range []string{"(waits: and b too)", "(told the model: and b too)", "changed a.txt, b.txt;", "3 model replies", "2 calls", "undone: a.txt", "undone: b.txt", "turns 1,"} {
		if !strings.Contains(seen, want) {
			t.Errorf("%q is not seen in:\n%s", want, seen)
		}
	}
}

// A phase is listed, begun and ended; why and stats tell of the session; a
// plan of the model is shown as it goes on. SPEC 2.5, 7.2, 15.2
func TestWatchingCommands(t *testing.T) {
	m := llmtest.New(
		llmtest.Use("todo", `{"items":[{"text":"look","status":"in_progress"},{"text":"change","status":"pending"}]}`),
		llmtest.Use("write", `{"path":"a.txt","content":"x\n"}`, "bash", `{"command":"exit 3"}`),
		llmtest.Say("written"),
	)
	r := newTestConversation(t, m, keysOf(
		"/phase", "/why", "/stats", "/pause", "go", "/phase", "/phase next", "/phase 1 again", "/phase 7 late --expect 20m", "/phase x --expect soon", "/phase done", "/phase done",
		"/status", "/why", "/stats",
	)...)
	r.mode = "yolo"
	_, seen := r.run()
	shown(t, "watching", seen)
	safe(t, seen)
}

// An answer to a question is never taken for a command, and on a dumb terminal
// /pause is heard as well.
func TestHeardAheadOnADumbTerminal(t *testing.T) {
	src, w := io.Pipe()
	c := newCooked(src, io.Discard, &tty.Terminal{})
	heard := make(chan string, 8)
	stop := c.Ahead(func(l string) bool {
		heard <- l
		return l == "/pause"
	})
	_, _ = io.WriteString(w, "/pause\nnext\n")
	if a, b := <-heard, <-heard; a != "/pause" || b != "next" {
		t.Errorf("heard %q, %q", a, b)
	}
	stop()
	if l, err := c.Line("> "); l != "next" || err != nil {
		t.Errorf("%q, %v", l, err)
	}
	_, _ = io.WriteString(w, "no newline")
	_ = w.Close()
	if l, err := c.Line("> "); l != "no newline" || err != nil {
		t.Errorf("%q, %v", l, err)
	}
	if _, err := c.Line("> "); err != io.EOF {
		t.Errorf("%v", err)
	}
}
