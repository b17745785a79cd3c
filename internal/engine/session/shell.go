package session

import (
	"context"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/command"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// recordedShell is the shell with what the commands of a call change recorded.
// A call whose footprint is known takes no look.
type recordedShell struct {
	tool.Shell
	s *Session
	p *turn.Pending
}

// shell is the shell of a call.
func (s *Session) shell(p *turn.Pending) tool.Shell {
	if s.cfg.Shell == nil || s.watch == nil {
		return s.cfg.Shell
	}
	return &recordedShell{Shell: s.cfg.Shell, s: s, p: p}
}

// POSIX is passed on: tools ask for it.
func (r *recordedShell) POSIX() bool {
	p, ok := r.Shell.(interface{ POSIX() bool })
	return ok && p.POSIX()
}

// Run is part of tool.Shell. The look behind the command is also taken where
// it failed or was cut short: what it did stands.
func (r *recordedShell) Run(ctx context.Context, c tool.Run) (tool.Ran, error) {
	if !r.p.Footprint.Unknown {
		return r.Shell.Run(ctx, c)
	}
	s, call, named := r.s, r.p.Call.ID, r.s.place().Names(r.p.Footprint.Commands)
	if err := s.watch.before(ctx, s, call, named); err != nil {
		s.watch.abandon()
		return tool.Ran{}, err
	}
	ignored := s.ignoredOf(ctx, r.p.Footprint.Commands)
	ran, err := r.Shell.Run(ctx, c)
	ds, blind, lerr := s.watch.after(ctx, s, call, named)
	if lerr == nil {
		if lerr = s.record(context.WithoutCancel(ctx), ds...); lerr == nil {
			lerr = s.watch.recorded(s)
		}
	}
	if lerr != nil {
		return ran, lerr
	}
	r.tell(&ran, bodies(ds), blind, s.destroyed(ctx, ignored), c.Out)
	return ran, err
}

// abandon takes back what before began.
func (w *watch) abandon() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.front--
}

// tell adds the notes to what a command printed. What can not be put back is
// shown to the person too.
func (r *recordedShell) tell(ran *tool.Ran, cs []event.FileChanged, blind bool, more string, out func(string)) {
	told, lost := changeNotes(cs)
	lost += more
	if blind {
		lost += "[what this command changed could not be recorded, and may not be put back by undo]\n"
	}
	if told+lost == "" {
		return
	}
	if ran.Output != "" && !strings.HasSuffix(ran.Output, "\n") {
		ran.Output += "\n"
	}
	ran.Output += told + lost
	if lost != "" && out != nil {
		out(lost)
	}
}

// Start is part of tool.Shell.
func (r *recordedShell) Start(ctx context.Context, c tool.Run) (string, error) {
	if cmds := r.p.Footprint.Commands; len(cmds) > 0 && command.ReadOnly(cmds) {
		return r.Shell.Start(ctx, c)
	}
	s, w, named := r.s, r.s.watch, r.s.place().Names(r.p.Footprint.Commands)
	if err := w.before(ctx, s, r.p.Call.ID, named); err != nil {
		w.abandon()
		return "", err
	}
	defer w.abandon()
	id, err := r.Shell.Start(ctx, c)
	if err == nil {
		w.mu.Lock()
		w.jobs = append(w.jobs, &job{s: s, call: r.p.Call.ID, id: id, words: named})
		w.mu.Unlock()
	}
	return id, err
}

// Output is part of tool.Shell.
func (r *recordedShell) Output(ctx context.Context, id string, wait time.Duration) (tool.Ran, error) {
	ran, err := r.Shell.Output(ctx, id, wait)
	return r.harvest(ctx, id, ran, err)
}

// Kill is part of tool.Shell.
func (r *recordedShell) Kill(ctx context.Context, id string) (tool.Ran, error) {
	ran, err := r.Shell.Kill(ctx, id)
	return r.harvest(ctx, id, ran, err)
}

func (r *recordedShell) harvest(ctx context.Context, id string, ran tool.Ran, err error) (tool.Ran, error) {
	if err != nil {
		return ran, err
	}
	cs, err := r.s.watch.harvest(ctx, r.s, id)
	r.tell(&ran, cs, false, "", nil)
	return ran, err
}

// place is the workspace as command lines name its files.
func (s *Session) place() undo.Place {
	return undo.Place{Dir: s.cfg.Dir, Resolve: s.cfg.Files.Resolve}
}

// personal runs a person's own command and gives what it changed.
func (s *Session) personal(ctx context.Context, c tool.Run) (tool.Ran, []event.Draft, error) {
	cmds, err := shellsyntax.Parse(c.Command, s.cfg.Dir)
	if s.watch == nil || err == nil && command.ReadOnly(cmds) {
		ran, err := s.cfg.Shell.Run(ctx, c)
		return ran, nil, err
	}
	named := s.place().Names(cmds)
	if err := s.watch.before(ctx, s, person, named); err != nil {
		s.watch.abandon()
		return tool.Ran{}, nil, err
	}
	ran, err := s.cfg.Shell.Run(ctx, c)
	ds, _, lerr := s.watch.after(ctx, s, person, named)
	if err == nil {
		err = lerr
	}
	return ran, ds, err
}
