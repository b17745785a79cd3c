package swarmrun

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/choice"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
	team "github.com/pawl-agent/pawl/internal/team/swarm"
)

// land writes a verified result to the person's files, as one change; with WritePart, or
// if the person says so, also what is merged of one that is not whole. If the files changed meanwhile, the
// result is merged with them and verified again. If that fails, nothing is written.
func (r *run) land(ctx context.Context) error {
	base, tip := cmp.Or(r.log.landed, r.log.Base), r.log.Tip()
	text, lines := r.log.landingText(), []string(nil)
	var checks []event.TaskCheck // of what is written
	switch {
	case r.log.written:
		r.say("the result was written to your files before")
		return nil
	case r.log.Ended != nil && r.log.Ended.Outcome == event.SwarmVerified:
		checks = r.log.Ended.Checks
		for _, c := range checks {
			lines = append(lines, c.Command)
		}
	case tip != base && (r.log.Ended == nil || r.log.Ended.Outcome == event.SwarmIncomplete) && r.wantsPart(ctx):
		text, lines = r.log.partText(), r.log.Accepted()
		var err error
		if checks, err = r.passes(ctx, tip, lines); err != nil {
			return err
		}
	default:
		return nil
	}
	if r.Branches {
		return r.branch(ctx, text)
	}
	now, err := r.trees.SnapshotOn(ctx, base)
	if err != nil {
		return err
	}
	unchanged, err := r.trees.Same(ctx, base, now)
	if err != nil {
		return err
	}
	to := tip
	if !unchanged {
		var conflicts []string
		if to, conflicts, err = r.trees.Merge(ctx, now, tip, "the result, on the files as they are now"); err != nil {
			return err
		}
		if len(conflicts) > 0 {
			return fault.NewConfiguration("undo or stash your changes of these files, then resume the swarm", "nothing was written: you changed the same lines as the swarm in %s", strings.Join(conflicts, ", "))
		}
		if checks, err = r.passes(ctx, to, lines); err != nil {
			return err
		}
	}
	ws, err := r.writes(ctx, now, to)
	if err != nil || len(ws) == 0 {
		return err
	}
	cs, err := r.o.Coordination().Apply(ctx, setup.SwarmFront, text, ws, checks...)
	if err != nil {
		return fmt.Errorf("write the result to your files: %w", err)
	}
	r.say(fmt.Sprintf("written to your files: %d changed as one; to undo it: pawl undo -s %s", len(cs), r.log.ID))
	for _, left := range brief.Left(r.o.View().Evidence()) {
		r.say(left)
	}
	return nil
}

// wantsPart reports whether a result that is not whole is written.
func (r *run) wantsPart(ctx context.Context) bool {
	if r.WritePart || r.ask == nil {
		return r.WritePart
	}
	said, _ := r.ask(ctx, fmt.Sprintf("the result is incomplete: %d of %d tasks are merged; write these to your files if they pass their checks?", r.log.Count(swarm.Merged), r.log.Len()), choice.YesNo()...)
	return said == "y" // without an answer nothing is written
}

// passes runs checks on a tree, and returns an error if it does not pass them.
func (r *run) passes(ctx context.Context, commit string, checks []string) ([]event.TaskCheck, error) {
	dir, err := r.trees.Checkout(ctx, "landing", commit)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.trees.Remove(context.WithoutCancel(ctx), "landing") }() // the next checkout removes it as well
	setups := r.log.Setups()
	ks, err := team.Passes(ctx, r.here.check, dir, append(setups, checks...))
	if err != nil && ctx.Err() == nil {
		k := ks[len(ks)-1]
		return nil, fault.NewConfiguration("undo or stash your changes, then resume the swarm", "nothing was written: together with your files, the result does not pass %s:\n%s", k.Command, k.Output)
	}
	return ks[min(len(setups), len(ks)):], err
}

// writes returns the writes that turn the files of one commit into those of another.
func (r *run) writes(ctx context.Context, from, to string) ([]tool.Write, error) {
	changes, err := r.trees.Changes(ctx, from, to)
	if err != nil {
		return nil, err
	}
	back, err := r.trees.Changes(ctx, to, from) // the new content in back is what exists now
	if err != nil {
		return nil, err
	}
	now, err := r.trees.Read(ctx, back)
	if err != nil {
		return nil, err
	}
	next, err := r.trees.Read(ctx, changes)
	if err != nil {
		return nil, err
	}
	had := make(map[string]int, len(back))
	for i, c := range back {
		had[c.Path] = i
	}
	var ws []tool.Write
	var refused []string
	dir, err := r.RealDir(r.Options.Dir)
	if err != nil {
		return nil, err
	}
	for i, c := range changes {
		file := filepath.Join(dir, c.Path)
		if permission.Protected(c.Path, file, r.o.GitUses(file)) {
			refused = append(refused, c.Path)
			continue
		}
		w := tool.Write{Path: c.Path, Data: next[i], Remove: c.Deleted, NoFollow: true}
		at, ok := had[c.Path]
		if !ok {
			return nil, fmt.Errorf("git lists %s only in one direction", c.Path)
		}
		old := back[at]
		if !old.Deleted {
			w.Expect = workspace.HashOf(now[at])
		}
		if !c.Deleted {
			if c.Exec && !old.Exec {
				w.Mode = 0o755
			} else if !c.Exec && old.Exec {
				w.Mode = 0o644
			}
		}
		ws = append(ws, w)
	}
	if len(refused) > 0 {
		return nil, fault.NewConfiguration("make these changes yourself, without the swarm", "nothing was written: the result changes files that pawl writes only with your yes: %s", strings.Join(refused, ", "))
	}
	return ws, nil
}
