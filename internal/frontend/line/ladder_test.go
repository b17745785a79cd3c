package line

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
)

// SPEC 10.3: at the prompt. Input with text is cleared; an empty one asks
// once, and what is entered in between makes it ask again.
func TestInterruptAtThePrompt(t *testing.T) {
	r := newTestConversation(t, llmtest.New(), interrupt("half a prompt"), interrupt(""), key{text: "hello"}, interrupt(""), interrupt("x"), interrupt(""), interrupt(""), key{text: "never"})
	exit, seen := r.run()
	if exit.By != "" || strings.Contains(seen, "never") || len(events[event.Prompted](r, "s1")) != 1 {
		t.Errorf("%+v\n%s", exit, seen)
	}
	shown(t, "interrupt", seen)
}

// SPEC 10.3: the end of input ends the conversation.
func TestEndOfInput(t *testing.T) {
	r := newTestConversation(t, llmtest.New(llmtest.Say("fine")), keysOf("go")...)
	if exit, _ := r.run(); exit.By != "" || len(r.closed) != 1 {
		t.Errorf("%+v, closed %v", exit, r.closed)
	}
}

// SPEC 10.3: what runs is cancelled, the marker is recorded, the prompt is
// back, and what was typed ahead is forgotten.
func TestInterruptWhatRuns(t *testing.T) {
	slow := llmtest.Use("bash", `{"command":"touch ready; sleep 1000"}`)
	for name, c := range map[string]struct {
		model *llmtest.Model
		keys  []string
		at    string // appears when it runs
	}{
		"request": {llmtest.New(llmtest.Turn{Text: "Half a reply", Wait: make(chan struct{})}), []string{"go"}, "Half"},
		"tool":    {llmtest.New(slow), []string{"go", "y"}, "  bash touch ready; sleep 1000"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newTestConversation(t, c.model, append(keysOf(c.keys...), keysOf("and now?")...)...)
			r.paper.on("\n"+c.at, func() { r.signals <- "SIGINT" })
			exit, seen := r.run()
			if exit.By != "" || strings.Count(seen, "\ninterrupted\n") != 1 || !strings.Contains(seen, "> and now?\ndone\n") {
				t.Errorf("%+v\n%s", exit, seen)
			}
			by := events[event.Interrupted](r, "s1")
			if len(by) != 1 || by[0].By != "person" || r.typist.dropped == 0 {
				t.Errorf("%+v, dropped %d times", by, r.typist.dropped)
			}
		})
	}
}

// dropping is a typist whose Drop looks at what runs.
type dropping struct {
	*typist
	look func()
}

func (d dropping) Drop() {
	d.look()
	d.typist.Drop()
}

// SPEC 10.3: what was typed is dropped before anything is cancelled. Later, it would take
// what the person types at the prompt that follows.
func TestDropsBeforeItCancels(t *testing.T) {
	r := newTestConversation(t, llmtest.New(), keysOf("/doctor", "go on")...)
	cfg := r.config()
	running, cancelled := make(chan context.Context, 1), 0
	cfg.Pawl = func(ctx context.Context, _ io.Writer, _ ...string) error {
		running <- ctx
		r.signals <- "SIGINT"
		<-ctx.Done()
		return ctx.Err()
	}
	cfg.In = dropping{r.typist, func() {
		if ctx := <-running; ctx.Err() != nil {
			cancelled++
		}
	}}
	if _, err := Run(t.Context(), cfg, slash.Want{}); err != nil || cancelled != 0 || r.typist.dropped != 1 {
		t.Errorf("%v, cancelled before: %d, dropped: %d\n%s", err, cancelled, r.typist.dropped, r.paper)
	}
}

// SPEC 10.3: a person's own command is cancelled too.
func TestInterruptACommand(t *testing.T) {
	r := newTestConversation(t, llmtest.New(), keysOf("!echo begun; sleep 1000", "go on")...)
	r.paper.on("\nbegun\n", func() { r.signals <- "SIGINT" })
	_, seen := r.run()
	if !strings.Contains(seen, "> go on\ndone\n") {
		t.Error(seen)
	}
}

// SPEC 10.3: an interrupt at an open question cancels the turn, whether it
// comes as a key or, on a dumb terminal, as a signal.
func TestInterruptAQuestion(t *testing.T) {
	ask := llmtest.Use("bash", `{"command":"touch x"}`)
	for name, k := range map[string]key{"key": interrupt(""), "end of input": {err: io.EOF}, "signal": {hold: true}} {
		t.Run(name, func(t *testing.T) {
			r := newTestConversation(t, llmtest.New(ask), append(keysOf("go"), k)...)
			if k.hold {
				r.paper.on("what to do instead: ", func() { r.signals <- "SIGINT" })
				// The read that was never answered takes the next prompt.
				r.paper.on("interrupted", func() { r.signals <- "SIGTERM" })
			}
			_, seen := r.run()
			if !strings.Contains(seen, "interrupted\n") || !strings.HasPrefix(r.file("x"), "error") {
				t.Error(seen)
			}
			if e := events[event.Ended](r, "s1"); len(e) != 1 || e[0].End != event.EndInterrupted {
				t.Errorf("%+v", e)
			}
		})
	}
}

// SPEC 10.3: SIGTERM and SIGHUP end it in order, at the prompt, at a question
// and during a turn; the log records which signal it was.
func TestSignals(t *testing.T) {
	for _, name := range []string{"SIGTERM", "SIGHUP"} {
		for at, c := range map[string]struct {
			model *llmtest.Model
			keys  []key
			text  string
		}{
			"prompt":   {llmtest.New(), []key{{hold: true}}, "> "},
			"question": {llmtest.New(llmtest.Use("bash", `{"command":"touch x"}`)), []key{{text: "go"}, {hold: true}}, "what to do instead: "},
			"turn":     {llmtest.New(llmtest.Turn{Text: "Half a reply", Wait: make(chan struct{})}), keysOf("go"), "Half"},
		} {
			t.Run(name+" at the "+at, func(t *testing.T) {
				r := newTestConversation(t, c.model, c.keys...)
				r.paper.on(c.text, func() { r.signals <- name })
				exit, seen := r.run()
				if exit.By != name || len(r.closed) != 1 {
					t.Errorf("%+v, closed %v\n%s", exit, r.closed, seen)
				}
				if at != "prompt" {
					if by := events[event.Interrupted](r, "s1"); len(by) != 1 || by[0].By != name {
						t.Errorf("%+v", by)
					}
				}
			})
		}
	}
}

// SPEC 10.3: three at once leave at once, even where a tool does not listen;
// what was stored stays.
func TestThreeAtOnce(t *testing.T) {
	stuck, release := make(chan struct{}), make(chan struct{})
	deaf := tool.New("deaf", "does not listen", func(tool.Env, struct{}) (tool.Footprint, error) { return tool.Footprint{}, nil },
		func(context.Context, tool.Env, struct{}) (tool.Result, error) {
			close(stuck)
			<-release
			return tool.Text("at last"), nil
		})
	r := newTestConversation(t, llmtest.New(llmtest.Use("deaf", `{}`)), keysOf("go")...)
	r.extra, r.mode, r.step = []tool.Tool{deaf}, "yolo", time.Millisecond
	r.paper.on("  deaf", func() {
		<-stuck
		for range 3 {
			r.signals <- "SIGINT"
		}
	})
	exit, seen := r.run()
	if exit.By != "SIGINT" || len(r.closed) != 0 {
		t.Errorf("%+v, closed %v\n%s", exit, r.closed, seen)
	}
	close(release)
	if a := events[event.CallStarted](r, "s1"); len(a) != 1 {
		t.Errorf("%+v", a)
	}
}
