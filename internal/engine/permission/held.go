package permission

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/command"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// This file asks the person about an access that a running command needs and that its
// confinement does not cover (SPEC 16.14). The command waits in the system call. After a
// yes the same process goes on; after a No the call fails, and the result tells the model
// what the person said.

// kept is what is remembered of accesses that were not allowed.
type kept struct {
	asking  sync.Mutex // one question at a time
	mu      sync.Mutex
	refused []string // by the person in this session, by Opening.String
	// lacked is what running calls were refused since nobody was there to allow it.
	lacked map[*turn.Pending][]permission.Opening
}

func (k *kept) lack(p *turn.Pending, o permission.Opening) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lacked == nil {
		k.lacked = map[*turn.Pending][]permission.Opening{}
	}
	if !slices.Contains(k.lacked[p], o) {
		k.lacked[p] = append(k.lacked[p], o)
	}
}

// take returns what a call lacked, and forgets it.
func (k *kept) take(p *turn.Pending) []permission.Opening {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := k.lacked[p]
	delete(k.lacked, p)
	return out
}

func (k *kept) has(o permission.Opening) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Contains(k.refused, o.String())
}

func (k *kept) add(o permission.Opening) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.refused = append(k.refused, o.String())
}

// hold returns who decides while a process of the call waits: the person of the turn, or, if
// nobody is there, the policy alone. turn ends with the turn; a command that then still runs,
// in the background, is refused at once.
func (g *Gate) hold(turn context.Context, p *turn.Pending, d permission.Decision) process.Hold {
	if p.Confine.Level == process.Unconfined {
		return nil
	}
	var once []permission.Opening // what was allowed for this command
	var person answered           // whether it runs again as the person
	return func(ctx context.Context, r process.Refusal) (string, process.Answer) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(turn, func() { cancel(context.Cause(turn)) })()
		o, v := g.held(p, r, d)
		if v != permission.Ask { // nobody waits behind a question for it
			return o.Opens, answerOf(r, v)
		}
		g.kept.asking.Lock()
		defer g.kept.asking.Unlock()
		o, v = g.held(p, r, d) // which an answer meanwhile may have changed
		whole := o
		if from := installs(p); from != "" && g.Person { // a run without one names what each flag allows
			o, whole = o.Install(r.What, from)
		}
		switch {
		case ctx.Err() != nil:
			return "", process.Refused
		case o.Act == permission.ActPerson:
			if !person.given {
				person = answered{g.asPerson(ctx, p, r, o), true}
			}
			return "", person.answer
		case v != permission.Ask:
			return o.Opens, answerOf(r, v)
		case slices.ContainsFunc(once, o.In):
			return o.Opens, process.Allowed
		case !g.Person && o.Act == process.ActGit:
			o.Rule = g.unconfined(p).Pattern // no rule opens only the repository
			return "", g.unmet(p, o, "[it needs to "+o.String())
		case !g.Person:
			g.kept.lack(p, o)
			return "", process.Refused
		case g.kept.has(whole):
			return "", g.decline(p, whole, "")
		}
		a := g.askHeld(ctx, p, r, whole)
		if a == process.Allowed {
			once = append(once, whole)
		}
		return o.Opens, a
	}
}

// answerOf returns the answer to an access that the policy decides alone. A refused read is
// not reported: programs look at much that they do without.
func answerOf(r process.Refusal, v permission.Verdict) process.Answer {
	switch {
	case v == permission.Allow:
		return process.Allowed
	case r.Act == process.ActRead:
		return process.Declined
	}
	return process.Refused
}

// After implements turn.After: of a call that failed, it records what a person could have
// allowed and nobody was there to. A call that did without needs no word. A check has a
// report of its own.
func (g *Gate) After(ctx context.Context, r *turn.Ran) error {
	unmet := g.kept.take(r.Pending)
	if r.Outcome != event.Failed || r.Records != nil {
		return nil
	}
	unmet = slices.DeleteFunc(unmet, func(o permission.Opening) bool {
		return tools.Optional(process.Refusal{Act: o.Act, What: o.Opens}, tool.Ran{Output: r.Result.Text}, r.Footprint.Commands...)
	})
	if len(unmet) == 0 {
		return nil
	}
	return g.Log.Append(context.WithoutCancel(ctx), event.Draft{Body: event.Blocked{Call: r.Call.ID, Tool: r.Tool.Spec.Name, What: r.Title(), Reason: lacked(unmet), By: event.ByNobody, Ran: true}})
}

// lackedShown is how many openings a report of one command names.
const lackedShown = 3

// lacked describes what a command wanted and nobody was there to allow, with the flags that
// allow it. A folder stands for those in it.
func lacked(all []permission.Opening) string {
	within := func(o permission.Opening) bool {
		return slices.ContainsFunc(all, func(other permission.Opening) bool { return other != o && o.In(other) })
	}
	var wanted, flags []string
	end := ""
	for _, o := range all {
		if within(o) {
			continue
		}
		wanted = append(wanted, o.String())
		if flag := o.Flag(); flag != "" && len(wanted) <= lackedShown && !slices.Contains(flags, flag) {
			flags = append(flags, flag)
		}
		if o.Act == process.ActLose {
			end = "; kept.session_mb and kept.file_mb of the configuration set how much is kept"
		}
	}
	more := ""
	if n := len(wanted) - lackedShown; n > 0 {
		wanted, more = wanted[:lackedShown], fmt.Sprintf(", and %d more", n)
	}
	if len(flags) > 0 {
		end += "; a run with " + strings.Join(flags, " ") + " may do it"
	}
	return "it could not " + strings.Join(wanted, ", ") + more + ": nobody is there to allow it" + end
}

// held returns the policy's decision about an access. A path that leads elsewhere than its
// name is refused.
func (g *Gate) held(p *turn.Pending, r process.Refusal, d permission.Decision) (permission.Opening, permission.Verdict) {
	if r.Act == process.ActChange {
		return permission.Opening{Act: r.Act, Opens: r.What, Rule: d.Changes, Always: d.Changes != "" && d.CanAlways}, permission.Ask
	}
	if path.IsAbs(r.What) && r.Act != process.ActLose && g.Files != nil {
		clean, inside, err := g.Files.Resolve(r.What)
		if inside { // a protected file: the policy allows to ask for no other
			clean = path.Join(g.Files.Root(), clean)
		}
		if err != nil || clean != r.What {
			return permission.Opening{}, permission.Deny
		}
	}
	if r.Act == process.ActRead && g.changes(p, r.What) { // rm looks into a folder before it removes it
		change := r
		change.Act = process.ActRemove
		if o, v := g.Held(change, p.Footprint.Git); v == permission.Ask {
			return o, v // that is one question
		}
	}
	return g.Held(r, p.Footprint.Git)
}

// installs returns the host from which a call installs packages, "" if it does not.
func installs(p *turn.Pending) string {
	for _, c := range p.Footprint.Commands {
		if from := command.Installs(c); from != "" {
			return from
		}
	}
	return ""
}

// changes reports whether a command of the call changes a file, or a folder that it is in.
func (g *Gate) changes(p *turn.Pending, file string) bool {
	for _, c := range p.Footprint.Commands {
		for _, w := range command.Changes(c) {
			for _, name := range c.Forms(w) {
				if g.Files == nil {
					return false
				}
				if clean, inside, err := g.Files.Resolve(name); err == nil && !inside && strings.HasPrefix(file+"/", clean+"/") {
					return true
				}
			}
		}
	}
	return false
}

// askHeld asks the person, and records a yes that holds for longer than this command.
func (g *Gate) askHeld(ctx context.Context, p *turn.Pending, r process.Refusal, o permission.Opening) process.Answer {
	q := event.Question{
		Call: p.Call.ID, Tool: p.Tool.Spec.Name, Title: "let this command " + o.String(), Wants: o.String(), Pattern: o.Rule, Always: o.Always,
		Preview: p.Footprint.Shell,
	}
	switch {
	case o.Act == permission.ActPerson:
		q.Reason = cmp.Or(r.Program, "it") + " needs " + g.named(r.What) + ", with which it acts as you; the command starts again, and has changed no file yet"
	case r.What != o.Opens && path.IsAbs(r.What) && r.Act != process.ActLose || r.Act == process.ActChange:
		q.Reason = "it begins with " + g.named(r.What)
	}
	q.Reason = strings.TrimPrefix(q.Reason+says(p), "; ")
	a, err := g.Ask(ctx, event.Asked{Questions: []event.Question{q}})
	if err != nil || ctx.Err() != nil {
		return process.Refused
	}
	var v event.Verdict
	for _, w := range a.Verdicts {
		if w.Call == q.Call {
			v = w
		}
	}
	switch v.Scope {
	case event.Once:
		return process.Allowed
	case event.Session, event.Always:
		if v.Scope == event.Always && !q.Always {
			v.Scope = event.Session
		}
		if err := g.Grant(context.WithoutCancel(ctx), q.Pattern, v.Scope); err != nil {
			p.Note("[the user allowed it to " + o.String() + ", and that could not be kept for later: " + err.Error() + "]")
		}
		return process.Allowed
	case event.Never:
		if err := g.Grant(context.WithoutCancel(ctx), q.Pattern, v.Scope); err != nil {
			p.Note("[it could not be kept that the user never allows it to " + o.String() + ": " + err.Error() + "]")
		}
	}
	if r.Act != process.ActChange && r.Act != process.ActLose && o.Act != permission.ActPerson { // that of another command is another question
		g.kept.add(o)
	}
	return g.decline(p, o, v.Why)
}

// answered is an answer that holds for the rest of a command.
type answered struct {
	answer process.Answer
	given  bool
}

// asPerson decides about a command that needs who the person is: what they say to running it
// unconfined is what they would say if it had asked for that at its start. It is not offered
// once the command has changed something, which it would do again.
func (g *Gate) asPerson(ctx context.Context, p *turn.Pending, r process.Refusal, o permission.Opening) process.Answer {
	if p.Records != nil {
		return process.Refused
	}
	d := g.unconfined(p)
	if !command.ReadOnly(p.Footprint.Commands...) { // what only reads would read all with such a rule
		o.Rule, o.Always = d.Pattern, d.CanAlways
	}
	told := "[it needs " + r.What + ", with which it would act as the user, and no command in the sandbox gets that"
	switch {
	case d.Verdict == permission.Deny:
		p.Note(told + ": " + d.Reason + "]")
	case r.Done != "":
		p.Note(told + ", and it cannot be begun again: " + r.Done + ". Call the part that failed by itself, with \"needs\": [\"unconfined\"]]")
	case d.Verdict == permission.Allow:
		return process.AsPerson
	case !g.Person:
		return g.unmet(p, o, told)
	default:
		if a := g.askHeld(ctx, p, r, o); a != process.Allowed {
			return a
		}
		return process.AsPerson
	}
	return process.Declined
}

// unconfined returns what the policy says of a call that asks to run outside the sandbox.
func (g *Gate) unconfined(p *turn.Pending) permission.Decision {
	c := Call(p)
	c.Footprint.Unconfined = true
	return g.Decide(c)
}

// unmet tells of what nobody is there to allow.
func (g *Gate) unmet(p *turn.Pending, o permission.Opening, told string) process.Answer {
	if p.Records != nil {
		return process.Refused
	}
	g.kept.lack(p, o)
	if flag := o.Flag(); flag != "" {
		told += "; nobody is here to allow it, a run with " + flag + " may do it"
	}
	p.Note(told + "]")
	return process.Declined
}

// named returns a path as the person knows it.
func (g *Gate) named(what string) string {
	if g.Files == nil {
		return what
	}
	if rel, ok := strings.CutPrefix(what, g.Files.Root()+"/"); ok {
		return rel
	}
	return what
}

// decline tells the model of a call that the person refused an access. A check has a report
// of its own.
func (g *Gate) decline(p *turn.Pending, o permission.Opening, why string) process.Answer {
	if p.Records != nil {
		return process.Refused
	}
	told := "[the user did not allow it to " + o.String() + ". Do not try it another way"
	if why != "" {
		told += "; the user says: " + why
	}
	p.Note(told + "]")
	return process.Declined
}
