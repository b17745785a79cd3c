package line

import (
	"context"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
)

// SPEC 21.1: what a browser does is shown while the terminal waits for a key: its prompt, the
// reply, and a question that it answers before the terminal does.
func TestShowsWhatABrowserDoes(t *testing.T) {
	r := newTestConversation(t, llmtest.New(llmtest.Say("a reply to the sofa"), llmtest.Use("bash", `{"command":"touch x"}`), llmtest.Say("so be it")), key{hold: true})
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
