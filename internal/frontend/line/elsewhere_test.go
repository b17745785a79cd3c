package line

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/history"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
)

// SPEC 21.1: what a browser does is shown while the terminal waits for a key: its prompt, the
// reply, and a question that it answers before the terminal does.
func TestShowsWhatABrowserDoes(t *testing.T) {
	r := newRig(t, llmtest.New(llmtest.Say("a reply to the sofa"), llmtest.Use("bash", `{"command":"touch x"}`), llmtest.Say("so be it")), key{hold: true})
	cfg := r.config()
	opened := make(chan *session.Session, 1)
	cfg.Open = func(ctx context.Context, w slash.Want, p chat.Person) (*chat.Opened, error) {
		o, err := r.open(ctx, w, p)
		if err == nil {
			opened <- o.Session
		}
		return o, err
	}
	browser := func(op func() session.Op) func() {
		return func() {
			s := <-opened
			opened <- s
			go func() {
				if _, err := s.Submit(t.Context(), op()); err != nil {
					t.Error(err)
				}
			}()
		}
	}
	r.paper.on("\n> ", browser(func() session.Op { return session.Prompt{ID: "browser-1", Text: "from the\nsofa"} }))
	r.paper.on("20 out\n> ", browser(func() session.Op { return session.Prompt{ID: "browser-2", Text: "and a file"} }))
	r.paper.on("what to do instead: ", browser(func() session.Op {
		q := events[event.Asked](r, "s1")[0]
		return session.Answer{ID: q.ID, Verdicts: []event.Verdict{{Call: q.Questions[0].Call, Scope: event.No, Why: "not here"}}}
	}))
	r.paper.on("40 out, 1 call\n> ", func() { r.signals <- "SIGTERM" })
	must.Done(t)(Run(t.Context(), cfg, slash.Want{}))
	shown(t, "elsewhere", r.paper.String())
}

// SPEC 21.1, 10.1: what a person has typed when something happens elsewhere is theirs: it goes
// on as typed input, whole, also out of a search in the history; a line that was entered in
// that moment counts.
func TestYield(t *testing.T) {
	for typed, want := range map[string]string{"half a sen": "half a sen", "": "", "one\x1b\rtwo": "one" + string(newlineMark) + "two", "\x12abc": ""} {
		src, w := io.Pipe()
		h, _, err := history.Open("")
		must.Do(t, err)
		e := must.Get(newEditor(src, io.Discard, &tty{}, h, []string{"abcdef"}))(t)
		seen := make(chan bool, 100)
		was := e.rl.GetConfig()
		listener := was.Listener
		was.Listener = func(l []rune, at int, key rune) ([]rune, int, bool) {
			defer func() { seen <- true }()
			return listener(l, at, key)
		}
		must.Do(t, e.rl.SetConfig(was))
		ended := make(chan error, 1)
		go func() {
			_, err := e.Line("> ")
			ended <- err
		}()
		_, _ = io.WriteString(w, typed)
		for range 1 + len([]rune(strings.ReplaceAll(typed, "\x1b", ""))) { // and once before the first key
			<-seen
		}
		e.Yield()
		if err := <-ended; err != ErrYield {
			t.Fatalf("%q: %v", typed, err)
		}
		go func() { _, _ = io.WriteString(w, "tence\r") }()
		line, err := e.Line("> ")
		if want = e.keys.text(want) + "tence"; line != want || err != nil {
			t.Errorf("%q: then %q, want %q, %v", typed, line, want, err)
		}
		e.fill = "filled in"
		e.Yield() // after the line: the next one ends at once
		if _, err := e.Line("> "); err != ErrYield {
			t.Errorf("%q: %v", typed, err)
		}
		ended = make(chan error, 1)
		go func() {
			_, err := e.Line("> ")
			ended <- err
		}()
		for range 1 + len("filled in") {
			<-seen
		}
		e.Yield()
		<-ended
		_ = w.Close()
		if line, err := e.Line("> "); line != "filled in" || err != nil {
			t.Errorf("%q: what was filled in: %q, %v", typed, line, err)
		}
		if line, err := e.Line("> "); line != "" || err != io.EOF {
			t.Errorf("%q: the key that ended it is still there: %q, %v", typed, line, err)
		}
	}
}
