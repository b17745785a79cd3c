package agentsdk

import (
	"errors"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
)

// This file takes the prompts of the program, one after the other.

// queued is a prompt of the program. Of one that joins, the turn that runs has the result.
type queued struct {
	session.Prompt
	joins bool
}

// waits reports whether a prompt comes after something that is not finished: each prompt
// has a turn, and a result, of its own.
func (t *conversation) waits(p queued) bool {
	return t.sending || t.reloading || t.compacting > 0 || !p.joins && (t.running || t.submitted > 0)
}

// next submits the prompts whose time has come.
func (t *conversation) next() {
	for len(t.prompts) > 0 && !t.waits(t.prompts[0]) {
		p := t.prompts[0]
		t.prompts = t.prompts[1:]
		t.submit(p.Prompt)
	}
}

// prompt takes a prompt, and submits it when its time has come.
func (t *conversation) prompt(p queued) {
	if t.signal == "" {
		t.prompts = append(t.prompts, p)
		t.next()
	}
}

// submit submits a prompt. Its hooks may take long: only the next prompt waits for them.
func (t *conversation) submit(p session.Prompt) {
	s, err := t.session()
	if err != nil {
		t.refused(err)
		return
	}
	if name, focus, ok := slash.Cut(p.Text); ok && name == compact && !verbatim(p) {
		t.compact(s, focus)
		return
	}
	t.sending = true
	t.submitted++
	if t.setup.Answer != nil {
		form := t.setup.Answer.Fresh()
		t.forms = append(t.forms, form)
		p.Answer = form
	}
	custom := t.custom()
	go func() {
		var err error
		if !verbatim(p) {
			p, err = slash.Expand(t.ctx, s, custom, p)
		}
		if err == nil {
			_, err = s.Submit(t.ctx, p)
		}
		t.accepted <- err
	}()
}

// verbatim reports whether a prompt is data as a whole: nothing in it is expanded.
func verbatim(p session.Prompt) bool { return len(p.Pasted) == 1 && p.Pasted[0] == p.Text }

// custom lists what a prompt may call.
func (t *conversation) custom() []slash.Custom {
	if t.Custom == nil {
		return nil
	}
	return t.Custom(t.setup)
}

// submitDone handles the result of submitting a prompt.
func (t *conversation) submitDone(err error) {
	t.sending = false
	if err != nil {
		t.submitted--
		if len(t.forms) > 0 {
			t.forms = t.forms[:len(t.forms)-1]
		}
		t.refused(err)
	}
	t.next()
}

// compact is pawl's only slash command that a program may send: the others are prompts.
const compact = "compact"

// compact shortens the conversation; its end is a result.
func (t *conversation) compact(s *session.Session, focus string) {
	cause, err := s.Submit(t.ctx, session.Compact{Focus: focus})
	if err != nil {
		t.refused(err)
		return
	}
	t.compacting++
	t.operations[cause] = t.compacted
}

// compacted writes the result of a compaction that a prompt asked for.
func (t *conversation) compacted(done event.OpDone) {
	t.compacting--
	switch err := done.Err(); {
	case err != nil:
		t.refused(err)
	case done.Outcome == event.NothingDone:
		t.w.commandOutput("Nothing to leave out yet: the conversation is as short as it can be.")
	default:
		t.w.commandOutput("Compacted.")
	}
	t.next()
}

// refused ends a prompt that could not start a turn. The result of a turn that runs
// comes first.
func (t *conversation) refused(err error) {
	t.refusals = append(t.refusals, err)
	if t.running || t.submitted > 0 {
		return
	}
	late := t.refusals
	t.refusals = nil
	for _, err := range late {
		t.failed(err)
	}
}

func (t *conversation) failed(err error) {
	t.code = 1
	if fault.CategoryOf(err) == fault.Configuration {
		t.code = 3
	}
	if no := (*slash.NoCommand)(nil); errors.As(err, &no) {
		t.code = 2
	}
	t.w.failed(err.Error())
}
