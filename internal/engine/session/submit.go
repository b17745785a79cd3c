package session

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/hooks"
	"github.com/pawl-agent/pawl/internal/engine/mention"
	"github.com/pawl-agent/pawl/internal/engine/operations"
	"github.com/pawl-agent/pawl/internal/policy/undo"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// Submit executes or starts an operation and does not wait for its end. cause is the
// sequence number of its first event; it is 0 for a prompt that waits for a running
// operation. Later events have that cause: the turn of a prompt, and the OpDone that
// ends a SetModel, Compact, Undo or RunCommand. An error means that nothing was done.
func (s *Session) Submit(ctx context.Context, op Op) (cause int64, err error) {
	if s.mirrors() {
		return s.submitToOwner(ctx, op)
	}
	return op.submit(ctx, s)
}

// submit starts a turn, or lets the prompt join the running one.
func (p Prompt) submit(ctx context.Context, s *Session) (int64, error) {
	cannot := ""
	if p.Until != nil { // it is the whole turn's
		cannot = "a goal cannot be set"
	}
	r, err := s.start(ctx, p, cannot)
	if r == nil || err != nil {
		return 0, err
	}
	return r.Cause(), nil
}

// start starts a prompt's turn, or has it wait: see operations.Start.
func (s *Session) start(ctx context.Context, p Prompt, cannot string) (*operations.Run, error) {
	p.Source = cmp.Or(p.Source, event.Person)
	var err error
	info := s.info()
	if p.OwnModel() {
		if p.model, err = s.modelOf(p); err != nil {
			return nil, err
		}
		info, cannot = p.model.Info(), "a command with a model or an effort of its own is not sent"
	}
	if err = Refuse(info, p.Images); err != nil {
		return nil, err
	}
	if p.Narrowed != nil {
		if err = hooks.Kept(s.cfg.Hooks, p.Narrowed.Hooks); err != nil {
			return nil, err
		}
	}
	p = s.attach(ctx, p)
	if p.Source == event.Person || p.Source == event.Parent {
		if p.hooks, err = s.hooks.Prompt(ctx, p.Text); err != nil {
			return nil, err
		}
	}
	if p, err = s.fitPrompt(ctx, p); err != nil {
		return nil, err
	}
	if ctx.Err() != nil { // interrupted before it began
		return nil, context.Cause(ctx)
	}
	alone := func(r *operations.Run) { s.turn(r, Prompt{}) } // where it has waited, it joins what waits with it
	return s.ops.Start(ctx, operations.Prompt{ID: p.ID, Drafts: s.promptDrafts(p), Lines: p.Lines, Turn: alone}, cannot, func(r *operations.Run) { s.turn(r, p) })
}

// attach reads what a person's prompt mentions. Piped and pasted text is data: mentions
// in it are ignored.
func (s *Session) attach(ctx context.Context, p Prompt) Prompt {
	if p.Source == event.Person {
		other, _ := whole(s.cfg.Outside).(mention.Resources)
		p.attached = mention.Reader{
			Resources: other,
			Symbols:   s.cfg.Symbols, MaxBytes: window.Bytes(eventlog.Query(s.log, s.conv.PromptCap)),
			Files: s.cfg.Files, Tools: s.cfg.Tools, Env: s.abilities.env, Decide: s.consent.Mentioned, Masked: s.results().Masked,
		}.Attach(ctx, window.Typed(p.Text, p.Pasted))
	}
	if len(p.Pasted) > 0 || p.Piped != "" {
		p.typed = strings.TrimSpace(window.Typed(p.Text, p.Pasted))
	}
	if p.Piped != "" {
		p.Text = strings.TrimRight(p.Text, "\n") + "\n\n" + p.Piped
		p.Pasted = append(slices.Clone(p.Pasted), p.Piped)
	}
	return p
}

// promptDrafts returns a prompt as it is recorded. A key in it is masked (SPEC
// 16.7), and the person is told, since the model will not see it either.
func (s *state) promptDrafts(p Prompt) []event.Draft {
	// The log keeps text: other bytes would come back as others.
	text := strings.ToValidUTF8(p.Text, "\uFFFD")
	prompt := event.Prompted{ID: p.ID, Source: p.Source, Text: text, Typed: strings.ToValidUTF8(p.typed, "\uFFFD"), Images: p.Images}
	var out, behind []event.Draft
	if s.log.Masked(prompt).(event.Prompted).Text != text || p.masked {
		out = append(out, event.Draft{Body: event.Warned{What: event.WarnedSecret, Text: "the prompt contains what looks like a key: it is masked, so the model does not see it"}})
	}
	if a := p.attached; a != nil {
		for _, note := range a.Notes {
			out = append(out, event.Draft{Body: event.Warned{What: event.WarnedMention, Text: note}})
			a.Text += "[" + note + "]\n"
		}
		prompt.Images = append(slices.Clone(prompt.Images), a.Images...)
		if a.Text != "" {
			prompt.Attached = "[What the prompt mentions with @, as it is now:]\n" + strings.ToValidUTF8(a.Text, "\uFFFD")
		}
		if len(a.Seen) > 0 {
			behind = []event.Draft{{Body: event.FileSeen{Spans: a.Seen}}}
		}
	}
	if p.Narrowed != nil {
		behind = append(behind, event.Draft{Body: *p.Narrowed})
	}
	if p.Source == event.Person {
		behind = append(behind, s.planNotes()...)
	}
	return append(append(append(out, event.Draft{Body: prompt}), behind...), p.hooks...)
}

func (op SetModel) submit(ctx context.Context, s *Session) (int64, error) {
	started := event.OpStarted{Op: event.OpModel, Text: op.Ref}
	return s.ops.Operate(ctx, started, "the model cannot be changed", "the model is changed", func(ctx context.Context) error {
		effort := cmp.Or(op.Effort, s.cfg.Effort)
		m, err := s.openModel(op.Ref, effort)
		if err != nil {
			return err
		}
		s.log.View(func() { s.cfg.Effort = effort })
		return s.switchModel(ctx, m, event.RebasedModel)
	})
}

// switchModel continues with another model: a rebase, after first.
func (s *Session) switchModel(ctx context.Context, m llm.Model, why event.RebasedWhy, first ...event.Draft) error {
	var old llm.Model
	drafts := first
	s.log.View(func() {
		old, s.model = s.model, m
		drafts = append(drafts, s.rebase(why)...)
	})
	if err := s.log.Append(ctx, drafts...); err != nil {
		s.log.View(func() { s.model = old })
		return err
	}
	s.log.View(s.setBuilder)
	return nil
}

func (op Undo) submit(ctx context.Context, s *Session) (int64, error) {
	if _, _, err := changes.Choose(op.Plan, op.Consent); err != nil {
		return 0, err
	}
	started := event.OpStarted{Op: event.OpUndo, Text: op.Plan.Text}
	if op.Plan.Kind == undo.ByRedo {
		started.Op = event.OpRedo
	}
	return s.ops.Operate(ctx, started, "nothing can be undone", "changes are being shown or undone", func(ctx context.Context) error {
		done, err := s.changes.Undo(ctx, op.Plan, op.Consent)
		if op.Done != nil {
			op.Done(done, err)
		}
		return err
	})
}

// personTimeout is how long a person's own command may run: they can interrupt
// it.
const personTimeout = 10 * time.Minute

// submit runs a person's command. An interrupted one is recorded with its output and
// no exit code.
func (op RunCommand) submit(ctx context.Context, s *Session) (int64, error) {
	if s.cfg.Shell == nil {
		return 0, fault.NewConfiguration("", "this session has no shell")
	}
	started := event.OpStarted{Op: event.OpCommand, Text: op.Command}
	return s.ops.Operate(ctx, started, "a command cannot be run", "a command runs", func(ctx context.Context) error {
		if s.cfg.Locks != nil { // no other session of the workspace writes meanwhile
			ticket := s.cfg.Locks.Reserve(tool.Footprint{Unknown: true})
			defer ticket.Release()
			if err := ticket.Wait(ctx); err != nil {
				return context.Cause(ctx)
			}
		}
		run := tool.Run{
			Command: op.Command, Timeout: personTimeout,
			Out: func(out string) { s.log.Publish(event.OutputDelta{Text: out}) },
		}
		err := s.changes.RunForPerson(ctx, run, func(ran tool.Ran) event.Body {
			return event.PersonRan{Command: op.Command, Output: s.shorten(ctx, ran), Exit: ran.Exit, Checks: ran.Checks}
		})
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return err
	})
}
