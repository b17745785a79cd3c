package changes

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/command"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// recordedShell is a shell that records the background commands of a call. The
// stage around the call finds its other changes (comparison.go).
type recordedShell struct {
	tool.Shell
	r *Recorder
	p *turn.Pending
}

// Shell returns the shell of a call: its commands are confined like the call.
func (r *Recorder) Shell(p *turn.Pending) tool.Shell {
	if r.cfg.Shell == nil {
		return nil
	}
	sh := confinedShell{r.cfg.Shell, p, r}
	if r.tracker == nil {
		return sh
	}
	return &recordedShell{Shell: sh, r: r, p: p}
}

// confinedShell is a shell that confines commands as permission decided for the
// call, whatever its tool asks for.
type confinedShell struct {
	tool.Shell
	p *turn.Pending
	r *Recorder
}

func (sh confinedShell) confine(c tool.Run) tool.Run {
	c.Confine, c.Hold = sh.p.Confine, sh.p.Hold
	if hold := c.Hold; hold != nil {
		c.Hold = func(ctx context.Context, r process.Refusal) (string, process.Answer) {
			opened, a := hold(ctx, r)
			if a == process.AsPerson {
				sh.p.AsPerson()
			}
			return opened, a
		}
	}
	c.Confine.Reads = slices.Concat(c.Confine.Reads, c.Reads)
	if c.Confine.Root = c.Root; c.Root != "" { // what a copy lacks is nobody's to grant
		c.Confine.Asks, c.Hold = false, nil
	} else if c.Confine.Level == process.Workspace {
		c.Confine.Keep = sh.r.keepingOf(sh.p)
	}
	return c
}

func (sh confinedShell) Run(ctx context.Context, c tool.Run) (tool.Ran, error) {
	return sh.Shell.Run(ctx, sh.confine(c))
}

func (sh confinedShell) Start(ctx context.Context, c tool.Run) (string, error) {
	return sh.Shell.Start(ctx, sh.confine(c))
}

// POSIX forwards to the shell: tools ask for it.
func (sh confinedShell) POSIX() bool {
	p, ok := sh.Shell.(interface{ POSIX() bool })
	return ok && p.POSIX()
}

// POSIX forwards to the shell: tools ask for it.
func (sh *recordedShell) POSIX() bool {
	p, ok := sh.Shell.(interface{ POSIX() bool })
	return ok && p.POSIX()
}

func (sh *recordedShell) Start(ctx context.Context, c tool.Run) (string, error) {
	if cmds := sh.p.Footprint.Commands; len(cmds) > 0 && command.ReadOnly(cmds...) {
		return sh.Shell.Start(ctx, c)
	}
	r, t, named := sh.r, sh.r.tracker, sh.r.workspace().PathsNamedBy(sh.p.Footprint.Commands)
	if c := r.comparisonOf(sh.p); c != nil {
		c.background = true // from here on it is a background command
	} else {
		if err := t.begin(ctx, r, sh.p.Call.ID, named); err != nil {
			t.abandon()
			return "", err
		}
		defer t.abandon()
	}
	id, err := sh.Shell.Start(ctx, c)
	if err != nil {
		t.commandNotStarted(r, sh.p.Call.ID)
		return id, err
	}
	keeping := r.takeKeeping(sh.p)
	t.addJob(&job{r: r, call: sh.p.Call.ID, id: id, named: r.watched(named, keeping), keeping: keeping})
	return id, nil
}

func (sh *recordedShell) Output(ctx context.Context, id string, wait time.Duration) (tool.Ran, error) {
	ran, err := sh.Shell.Output(ctx, id, wait)
	return sh.recordJob(ctx, id, ran, err)
}

func (sh *recordedShell) Kill(ctx context.Context, id string) (tool.Ran, error) {
	ran, err := sh.Shell.Kill(ctx, id)
	return sh.recordJob(ctx, id, ran, err)
}

func (sh *recordedShell) recordJob(ctx context.Context, id string, ran tool.Ran, err error) (tool.Ran, error) {
	if err != nil {
		return ran, err
	}
	cs, named, err := sh.r.tracker.recordJob(ctx, sh.r, id)
	told, lost := sh.r.changeNotes(cs, named)
	if told+lost != "" {
		sh.p.Note(told + lost)
	}
	return ran, err
}

// workspace returns the workspace for naming files in command lines.
func (r *Recorder) workspace() undo.Workspace {
	return undo.Workspace{Dir: r.cfg.Dir, Resolve: r.cfg.Files.Resolve}
}

// RunForPerson runs a person's own command, and records its changes together with the
// draft that done makes from its output.
func (r *Recorder) RunForPerson(ctx context.Context, c tool.Run, done func(tool.Ran) event.Body) error {
	ran, ds, err := r.runTracked(ctx, c)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("run %q: %w", c.Command, err)
	}
	err = r.log.Append(context.WithoutCancel(ctx), append(ds, event.Draft{Body: done(ran)})...)
	if err == nil && r.tracker != nil {
		err = r.tracker.checkpointAfter(r)
	}
	return err
}

func (r *Recorder) runTracked(ctx context.Context, c tool.Run) (tool.Ran, []event.Draft, error) {
	c.Confine = process.Free // the person typed it
	cmds, err := command.Parse(c.Command, r.cfg.Dir)
	if r.tracker == nil || err == nil && command.ReadOnly(cmds...) {
		ran, err := r.cfg.Shell.Run(ctx, c)
		return ran, nil, err
	}
	named := r.workspace().PathsNamedBy(cmds)
	if err := r.tracker.begin(ctx, r, personCall, named); err != nil {
		r.tracker.abandon()
		return tool.Ran{}, nil, err
	}
	ran, err := r.cfg.Shell.Run(ctx, c)
	ds, _, lerr := r.tracker.end(ctx, r, personCall, named)
	if err == nil {
		err = lerr
	}
	return ran, ds, err
}

// RecordBackground records the changes by background commands of the session until now.
func (r *Recorder) RecordBackground(ctx context.Context) { r.tracker.recordSession(ctx, r) }

// Close records the changes by background commands of the session, and forgets
// the commands.
func (r *Recorder) Close() { r.tracker.closeSession(r) }
