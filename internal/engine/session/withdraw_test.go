package session_test

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// SPEC 18.3: what was typed while a turn runs is delivered once, or given back
// to whoever typed it, also where an interrupt comes in between.
func TestWithdraw(t *testing.T) {
	for name, c := range map[string]struct {
		withdraw, interrupt bool
		want                string
	}{
		"delivered":                    {false, false, "go|typed|unnamed"},
		"taken back":                   {true, false, "go|unnamed"},
		"interrupted":                  {false, true, "go|typed"},
		"taken back, then interrupted": {true, true, "go"},
	} {
		t.Run(name, func(t *testing.T) {
			var r *rig
			do := func(op session.Op) error {
				_, err := r.Submit(t.Context(), op)
				return err
			}
			r = newRig(t, "yolo", llmtest.New(llmtest.Use("poke", `{}`), llmtest.Say("ok")), func(cfg *session.Config) {
				cfg.Tools = append(cfg.Tools, poke(func() {
					if err := do(session.Withdraw{ID: "1"}); err == nil {
						t.Error("nothing waited, and was taken back")
					}
					for _, p := range []session.Prompt{{ID: "1", Text: "typed"}, {Text: "unnamed"}} {
						if err := do(p); err != nil {
							t.Error(err)
						}
					}
					if err := do(session.Withdraw{}); err == nil {
						t.Error("a prompt without an ID was taken back")
					}
					if c.withdraw {
						if err := do(session.Withdraw{ID: "1"}); err != nil {
							t.Error(err)
						}
					}
					if c.interrupt {
						_ = do(session.Interrupt{By: "person"})
					}
				}))
			})
			var got []string
			for _, p := range find[event.Prompted](r.run("go", nil)) {
				got = append(got, p.Text)
				if (p.ID == "1") != (p.Text == "typed") {
					t.Errorf("%+v", p)
				}
			}
			if c.interrupt && !c.withdraw { // it runs in a turn of its own
				for e, err := range r.Events(t.Context(), 0) {
					if b, ok := e.Body.(event.Prompted); ok && b.ID == "1" || err != nil {
						got = append(got, b.Text)
						break
					}
				}
			}
			if strings.Join(got, "|") != c.want {
				t.Errorf("%q, want %q", strings.Join(got, "|"), c.want)
			}
		})
	}
}
