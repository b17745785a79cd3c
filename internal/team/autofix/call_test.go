package autofix

import (
	"context"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/turn"
)

// stage hears of calls, and may refuse or hold them.
type stage struct {
	heard  []string
	refuse bool
}

func (s *stage) Start(_ context.Context, p *turn.Pending) *turn.Refusal {
	s.heard = append(s.heard, "start "+p.Footprint.Shell)
	if s.refuse && p.Footprint.Shell != "" {
		return &turn.Refusal{Outcome: event.Denied, Text: "a hook says no"}
	}
	return nil
}

func (s *stage) After(_ context.Context, r *turn.Ran) error {
	s.heard = append(s.heard, "after "+r.Footprint.Shell+" "+string(r.Outcome))
	return nil
}

// SPEC 4.1, 4.15: a check is a call like any other: it passes the stages around a
// call, and a tool that panics is its result.
func TestCheckIsACall(t *testing.T) {
	const shop = "-- a.txt --\none\n"
	rig := func(t *testing.T, s *stage) *rig {
		r := newRig(t, shop, write("a.txt", "two\n"), llmtest.Say("done"))
		r.configure("true")
		r.Cfg.Stages = turn.Stages{Start: []turn.Starter{s}, After: []turn.After{s}}
		return r
	}
	t.Run("stages", func(t *testing.T) {
		s := &stage{}
		r := rig(t, s)
		r.told(r.run(nil), "0 true → 0", "done")
		if got := strings.Join(s.heard, "|"); !strings.Contains(got, "start true|after true ok") {
			t.Error(got)
		}
	})
	t.Run("refused at its start", func(t *testing.T) {
		s := &stage{refuse: true}
		r := rig(t, s)
		r.told(r.run(nil), "0 true → a hook says no", "done")
	})
	t.Run("panic", func(t *testing.T) {
		r := rig(t, &stage{})
		r.Cfg.Shell = brokenShell{r.Cfg.Shell}
		if got := story(r.run(nil)); len(got) != 2 || !strings.Contains(got[0], "broke: no shell") || got[1] != "done" {
			t.Error(got)
		}
	})
}

type brokenShell struct{ tool.Shell }

func (brokenShell) Run(context.Context, tool.Run) (tool.Ran, error) { panic("no shell") }
