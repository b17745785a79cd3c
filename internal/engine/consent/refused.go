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

// If the sandbox refused something to a command and the command failed, this file
// asks the person about it once (SPEC 16.12). The command may be the model's, a
// background command whose end was read, or a check. Nothing is run again here: the
// command may have had effects before it failed, and only the model knows whether to
// repeat them. A check may be repeated, and its runner does that.

// refusals are the person's answers about refusals in a turn.
type refusals struct {
	asking sync.Mutex // one question at a time
	mu     sync.Mutex
	once   []onceOpened
}

// onceOpened lists what the next run of a command line may access in addition. next
// means that no step was in between, so the line still means the same.
type onceOpened struct {
	command
	opens []permission.Opening
	next  bool
}

// command is a command line that ran. A check has its own environment, so the same
// line as a check is another command.
type command struct {
	line  string
	check bool
}

// commandOf returns the command that a call ran (own is true), or the background
// command whose end it read.
func commandOf(r *turn.Ran) (c command, own bool) {
	if r.Footprint.Shell != "" {
		return command{r.Footprint.Shell, r.Records != nil}, true
	}
	return command{r.Result.RefusedLine, false}, false
}

// AnswerSetter is implemented by Records that are told what a person said about what the
// sandbox refused: whether it is allowed now, and the text for the model.
type AnswerSetter interface {
	SetAnswer(allowed bool, text string)
}

// nextRun handles the calls of a new step: it returns the one that a person
// allowed by their answer about its last run.
func (r *refusals) nextRun(step []*turn.Pending) *turn.Pending {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out *turn.Pending
	for i := range r.once {
		if o := &r.once[i]; o.next {
			o.next = false
			if len(step) > 0 && step[0].Footprint.Shell == o.line && !o.check && step[0].Records == nil && step[0].Refused == nil {
				out = step[0]
			}
		}
	}
	return out
}

// withOpened adds what was opened for a command's next run to its confinement.
func (r *refusals) withOpened(p *turn.Pending, c process.Confine) process.Confine {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range r.once {
		if o.line == p.Footprint.Shell && o.check == (p.Records != nil) {
			c = permission.Open(c, o.opens)
		}
	}
	return c
}

// forget forgets what was opened for a run that is done.
func (r *refusals) forget(c command) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.once = slices.DeleteFunc(r.once, func(o onceOpened) bool { return o.command == c })
}

// isOpen reports whether something is opened for a command's next run already: its
// end was read before.
func (r *refusals) isOpen(c command) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.once, func(o onceOpened) bool { return o.command == c })
}

// After implements turn.After.
func (g *Gate) After(ctx context.Context, r *turn.Ran) error {
	c, own := commandOf(r)
	if c.line == "" || !r.Started {
		return nil
	}
	if own {
		g.refusals.forget(c)
	}
	if !g.Person || r.Outcome != event.Failed || own && r.Confine.Level != process.Workspace || len(r.Result.Refused) == 0 || g.refusals.isOpen(c) {
		return nil
	}
	g.refusals.asking.Lock()
	defer g.refusals.asking.Unlock()
	opens := g.openings(r.Pending, r.Result.Refused)
	if len(opens) == 0 {
		return nil
	}
	a, err := g.Ask(ctx, event.Asked{Questions: []event.Question{g.refusalQuestion(r.Pending, c, opens)}})
	if ctx.Err() != nil || errors.Is(err, tool.ErrNobody) {
		return nil
	}
	if err != nil {
		return err
	}
	allowed, told, err := g.applyAnswer(ctx, r.Pending, c, opens, a)
	if t, ok := r.Records.(AnswerSetter); ok {
		t.SetAnswer(allowed, told)
		return err
	}
	r.Result.Text = strings.TrimSuffix(r.Result.Text, "\n") + "\n" + told
	return err
}

// openings returns the refusals to ask about: not those that the person refused
// before, nor paths that lead elsewhere than their names.
func (g *Gate) openings(p *turn.Pending, refused []process.Refusal) []permission.Opening {
	asked := slices.DeleteFunc(slices.Clone(refused), func(r process.Refusal) bool {
		if slices.ContainsFunc(g.keptRefusals, func(k process.Refusal) bool { return strings.EqualFold(k.What, r.What) }) {
			return true
		}
		if r.Act == process.ActHost || g.Files == nil {
			return r.Act != process.ActHost
		}
		clean, inside, err := g.Files.Resolve(r.What)
		return err != nil || inside || clean != r.What
	})
	return eventlog.Query(g.Log, func() []permission.Opening { return g.Config.Policy.Openings(asked, p.Footprint.Git) })
}

// describeOpenings describes what is to be opened.
func describeOpenings(opens []permission.Opening) string {
	var out []string
	for _, o := range opens {
		out = append(out, o.String())
	}
	return strings.Join(out, ", ")
}

func (g *Gate) refusalQuestion(p *turn.Pending, c command, opens []permission.Opening) event.Question {
	q := event.Question{
		Call: p.Call.ID, Tool: p.Tool.Spec.Name, Title: "let it " + describeOpenings(opens), Always: true,
		Reason: "the sandbox refused that, and the command failed", Preview: c.line,
	}
	var rules []string
	for _, o := range opens {
		rules = append(rules, o.Rule)
		q.Always = q.Always && o.Always
	}
	q.Pattern = strings.Join(rules, ", ")
	return q
}

// applyAnswer executes the person's answer, and describes it for the model.
func (g *Gate) applyAnswer(ctx context.Context, p *turn.Pending, c command, opens []permission.Opening, a event.Answered) (allowed bool, told string, err error) {
	var v event.Verdict
	for _, w := range a.Verdicts {
		if w.Call == p.Call.ID {
			v = w
		}
	}
	switch v.Scope {
	case event.Once:
		g.refusals.mu.Lock()
		g.refusals.once = append(g.refusals.once, onceOpened{c, opens, true})
		g.refusals.mu.Unlock()
		return true, "[the user allowed it for one more run: " + describeOpenings(opens) + c.nextRunNote("Call the same command again") + "]", nil
	case event.Session, event.Always:
		q := g.refusalQuestion(p, c, opens)
		if v.Scope == event.Always && !q.Always {
			v.Scope = event.Session
		}
		if err := g.Grant(ctx, q.Pattern, v.Scope); err != nil {
			return false, "[the user allowed it, and that could not be kept: " + err.Error() + "]", err
		}
		return true, "[the user allowed it from now on: " + describeOpenings(opens) + c.nextRunNote("Call the command again") + "]", nil
	}
	for _, o := range opens {
		g.keptRefusals = append(g.keptRefusals, o.Refusal)
	}
	told = "[the user did not allow it: " + describeOpenings(opens) + ". Do not try it another way"
	if v.Why != "" {
		told += "; they say: " + v.Why
	}
	return false, told + "]", nil
}

// nextRunNote words what follows from a yes.
func (c command) nextRunNote(call string) string {
	if c.check {
		return ". The check runs again"
	}
	return ". " + call
}
