package swarmrun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/adapter/workspace/trees"
	"github.com/pawl-agent/pawl/internal/core/atomicfile"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
	team "github.com/pawl-agent/pawl/internal/team/swarm"
)

// Another process gives an order about one task with a file beside the trees, and the
// process that runs the swarm answers with another file. If no process runs the swarm,
// the order is written into its log, for the next one.
const (
	ordersDir = "orders"
	orderEnd  = ".json"
	answerEnd = ".txt" // its text is why the order is refused, "" if it is done
)

// steer is At.Steer for a swarm of this machine. runs is false if no process runs it.
func steer(ctx context.Context, e *setup.Environment, l *Log, o event.TaskSteered) (runs bool, err error) {
	if err := l.Refuses(o); err != nil {
		return false, setup.Usage("%w", err)
	}
	home, err := swarmHome(e.Env, l.ID)
	if err != nil {
		return false, err
	}
	file := filepath.Join(home, ordersDir, o.ID)
	defer os.Remove(file + orderEnd)
	defer os.Remove(file + answerEnd)
	for waited := time.Duration(0); ; waited += pollEvery {
		if text, err := os.ReadFile(file + answerEnd); err == nil {
			if len(text) > 0 {
				return true, setup.Usage("%s", text)
			}
			return true, nil
		}
		held := (*event.HeldError)(nil)
		switch err := here(ctx, e, l, home, func(r *run) error { return team.Steer(ctx, r, &r.log.Schedule, o) }); {
		case !errors.As(err, &held):
			return false, err
		case waited >= endWithin:
			return false, fault.NewConfiguration("see what it does: pawl swarm attach", "the process that runs the swarm %s did not accept the command", l.ID)
		case waited == 0:
			text, err := json.Marshal(o)
			if err := errors.Join(err, os.MkdirAll(filepath.Dir(file), 0o700), atomicfile.Write(file+orderEnd, text, 0o600)); err != nil {
				return false, err
			}
		}
		if err := session.SleepFor(ctx, pollEvery); err != nil {
			return false, context.Cause(ctx)
		}
	}
}

// watchForOrders gives the orders of other processes to the swarm until ctx ends.
func (r *run) watchForOrders(ctx context.Context) {
	for session.SleepFor(ctx, pollEvery) == nil {
		all, _ := filepath.Glob(filepath.Join(r.home, ordersDir, "*"+orderEnd))
		for _, path := range all {
			var o event.TaskSteered
			text, err := os.ReadFile(path)
			if err == nil {
				err = json.Unmarshal(text, &o)
			}
			if err == nil {
				err = r.order(ctx, o)
			}
			if ctx.Err() != nil {
				return
			}
			answer := strings.TrimSuffix(path, orderEnd) + answerEnd
			why := ""
			if err != nil {
				why = err.Error()
			}
			if err := errors.Join(atomicfile.Write(answer, []byte(why), 0o600), os.Remove(path)); err != nil {
				r.say("a command could not be answered: " + err.Error())
			}
		}
	}
}

// order gives an order to the swarm that runs here, and waits until it is in the log.
func (r *run) order(ctx context.Context, o event.TaskSteered) error {
	done := make(chan error, 1)
	select {
	case r.asked <- team.Order{TaskSteered: o, Done: func(err error) { done <- err }}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return <-done
}

// diff is At.Diff in the process that runs the swarm.
func (r *run) diff(ctx context.Context, task string) (text string, err error) {
	var t swarm.TaskProgress
	r.View(func() { t, err = resultOf(&r.log, task) })
	if err != nil {
		return "", err
	}
	return r.trees.Diff(ctx, t.Lease.Base, t.Result.Commit)
}

func resultOf(l *Log, task string) (swarm.TaskProgress, error) {
	t, ok := l.Task(task)
	if !ok || t.Result.Commit == "" {
		return t, setup.Usage("task %.64q has no result that changes files; see: pawl swarm status %s", task, l.ID)
	}
	return t, nil
}

// diff is At.Diff for a swarm of this machine.
func diff(ctx context.Context, e *setup.Environment, l *Log, task string) (string, error) {
	t, err := resultOf(l, task)
	if err != nil {
		return "", err
	}
	home, err := swarmHome(e.Env, l.ID)
	if err != nil {
		return "", err
	}
	conf, paths, err := e.SettingsIn(l.Dir)
	if err != nil {
		return "", err
	}
	by, err := e.Confine(&setup.Options{}, conf, paths, l.Dir, false)
	if err != nil {
		return "", err
	}
	starter, free := by.Starter()
	defer free()
	git := &workspace.Git{Starter: starter}
	if !by.Has.Workspace {
		git.Confine = process.Free
	}
	text, err := trees.At(git, filepath.Join(home, "git")).Diff(ctx, t.Lease.Base, t.Result.Commit)
	if err != nil {
		err = fmt.Errorf("the trees of swarm %s cannot be read, perhaps since it has ended: %w", l.ID, err)
	}
	return text, err
}
