package consent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// This file asks a person, once, about what the sandbox refused a command that
// then failed (SPEC 16.12). Nothing is run again here: the command may have had
// effects before it failed, and only the model knows whether to repeat them.

// refusals are the person's answers about refusals in a turn.
type refusals struct {
	asking sync.Mutex // one question at a time
	mu     sync.Mutex
	once   []onceOpened
}

// onceOpened is what the next run of a command line may touch in addition.
// next: there was no step in between, so the line still means the same.
type onceOpened struct {
	line  string
	opens []permission.Opening
	next  bool
}

// again handles the calls of a new step: it returns the one that a person
// allowed by their answer about its last run.
func (r *refusals) again(step []*turn.Pending) *turn.Pending {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out *turn.Pending
	for i := range r.once {
		if o := &r.once[i]; o.next {
			o.next = false
			if len(step) > 0 && step[0].Footprint.Shell == o.line && step[0].Records == nil && step[0].Refused == nil {
				out = step[0]
			}
		}
	}
	return out
}

// widen adds what was opened for a command's next run to its confinement.
func (r *refusals) widen(p *turn.Pending, c process.Confine) process.Confine {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range r.once {
		if o.line == p.Footprint.Shell && p.Records == nil {
			c = permission.Open(c, o.opens)
		}
	}
	return c
}

// ran forgets what was opened for a run that is done.
func (r *refusals) ran(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.once = slices.DeleteFunc(r.once, func(o onceOpened) bool { return o.line == line })
}

// After implements turn.After.
func (g *Gate) After(ctx context.Context, r *turn.Ran) error {
	line := r.Footprint.Shell
	if line == "" || r.Records != nil || !r.Started {
		return nil
	}
	g.said.ran(line)
	if !g.Person || r.Outcome != event.Failed || r.Confine.Level != process.Workspace || len(r.Result.Refused) == 0 {
		return nil
	}
	g.said.asking.Lock()
	defer g.said.asking.Unlock()
	opens := g.openings(r.Result.Refused)
	if len(opens) == 0 {
		return nil
	}
	a, err := g.Ask(ctx, event.Asked{Questions: []event.Question{g.aboutRefused(r.Pending, opens)}})
	if ctx.Err() != nil || errors.Is(err, tool.ErrNobody) {
		return nil
	}
	if err != nil {
		return err
	}
	told, err := g.opened(ctx, r.Pending, opens, a)
	r.Result.Text = strings.TrimSuffix(r.Result.Text, "\n") + "\n" + told
	return err
}

// openings returns the refusals to ask about: not those that the person refused
// before, nor paths that lead elsewhere than their names.
func (g *Gate) openings(refused []process.Refusal) []permission.Opening {
	asked := slices.DeleteFunc(slices.Clone(refused), func(r process.Refusal) bool {
		if slices.ContainsFunc(g.kept, func(k process.Refusal) bool { return strings.EqualFold(k.What, r.What) }) {
			return true
		}
		if r.Act == process.ActHost || g.Files == nil {
			return r.Act != process.ActHost
		}
		clean, inside, err := g.Files.Resolve(r.What)
		return err != nil || inside || clean != r.What
	})
	return eventlog.Look(g.Log, func() []permission.Opening { return g.Config.Policy.Openings(asked) })
}

// names describes what is to be opened.
func names(opens []permission.Opening) string {
	var out []string
	for _, o := range opens {
		out = append(out, o.String())
	}
	return strings.Join(out, ", ")
}

func (g *Gate) aboutRefused(p *turn.Pending, opens []permission.Opening) event.Question {
	q := event.Question{
		Call: p.Call.ID, Tool: p.Tool.Spec.Name, Title: "let it " + names(opens), Always: true,
		Reason: "the sandbox refused that, and the command failed", Preview: p.Footprint.Shell,
	}
	var rules []string
	for _, o := range opens {
		rules = append(rules, o.Rule)
		q.Always = q.Always && o.Always
	}
	q.Pattern = strings.Join(rules, ", ")
	return q
}

// opened executes the person's answer, and describes it for the model.
func (g *Gate) opened(ctx context.Context, p *turn.Pending, opens []permission.Opening, a event.Answered) (string, error) {
	var v event.Verdict
	for _, w := range a.Verdicts {
		if w.Call == p.Call.ID {
			v = w
		}
	}
	switch v.Scope {
	case event.Once:
		g.said.mu.Lock()
		g.said.once = append(g.said.once, onceOpened{p.Footprint.Shell, opens, true})
		g.said.mu.Unlock()
		return "[the user allowed it for one more run: " + names(opens) + ". Call the same command again]", nil
	case event.Session, event.Always:
		q := g.aboutRefused(p, opens)
		if v.Scope == event.Always && !q.Always {
			v.Scope = event.Session
		}
		if err := g.Grant(ctx, q.Pattern, v.Scope); err != nil {
			return "[the user allowed it, and that could not be kept: " + err.Error() + "]", err
		}
		return "[the user allowed it from now on: " + names(opens) + ". Call the command again]", nil
	}
	for _, o := range opens {
		g.kept = append(g.kept, o.Refusal)
	}
	told := "[the user did not allow it: " + names(opens) + ". Do not try it another way"
	if v.Why != "" {
		told += "; they say: " + v.Why
	}
	return told + "]", nil
}
