package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/folder"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
	team "github.com/pawl-agent/pawl/internal/team/swarm"
)

// How long a check may take, and how much of its output is kept.
const (
	swarmCheckTime   = 10 * time.Minute
	swarmCheckOutput = 4 << 10
)

var errSwarmRepeats = errors.New("the worker made the same call over and over with the same result")

// work lets a worker do a task, in its own session, whose money comes from the swarm.
func (r *swarmRun) work(ctx context.Context, j team.Job) (done team.Done, err error) {
	f := r.f.flags
	f.Dir, f.Resume, f.MaxUSD, f.MaxTokens, f.Budget = j.Dir, "", 0, 0, ""
	if r.away != nil {
		if err := r.takeKind(j.Dir); err != nil {
			return done, err
		}
	}
	kind, err := r.kind(j.Task)
	if err != nil {
		return done, err
	}
	f.Model = cmp.Or(j.Task.Model, kind.Model, f.Model)
	if kind.ReadOnly {
		f.Mode = string(permission.Plan)
	}
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	o, err := r.Open(ctx, &f.Options, setup.Frontend{Name: "swarm-worker", WorkerTree: true, Configure: func(c *session.Config) {
		c.Of = &event.ParentCall{Session: r.id(), Call: j.Worker, Agent: "swarm"}
		c.Parent, c.Limits, c.Agents = r.bank(), swarm.WorkerLimits(), 0
		kind.apply(c)
		if short := c.Pressure; short != nil && r.away != nil { // another machine has room
			c.Pressure = func() (what, why string) {
				if what, why = short(); what != "" {
					giveUp(fmt.Errorf("%w: %s", team.ErrUnable, why))
				}
				return what, why
			}
		}
	}})
	if err != nil {
		return done, fmt.Errorf("%w: %w", team.ErrUnable, err)
	}
	defer o.Close()
	done.Session, done.Model = o.ID(), o.View().Info().Ref()
	w := &swarmWatch{o: o, job: j, args: map[string]string{}, seen: map[string]bool{}, files: map[string]bool{}}
	out, err := o.RunPrompt(ctx, session.Prompt{Source: event.Parent, Text: j.Prompt}, session.Observer{After: o.View().Last(), See: w.see})
	spent, _ := o.View().Spent()
	done.Reply, done.Tokens = out.Reply, spent.Usage.Input+spent.Usage.Output
	if spent.Unknown == 0 && o.View().Info().Price != nil {
		done.USD = &spent.USD
	}
	if unable := context.Cause(ctx); errors.Is(unable, team.ErrUnable) {
		return done, unable
	}
	if err != nil {
		return done, err
	}
	switch out.Ended.End {
	case event.EndFailed, event.EndConfig, event.EndInterrupted, event.EndRefused:
		if why := out.Ended.Error; why != nil && out.Ended.End == event.EndConfig && done.Tokens == 0 { // no space left, no key
			return done, fmt.Errorf("%w: %s", team.ErrUnable, why.Message)
		} else if why != nil {
			return done, errors.New(why.Message)
		}
		return done, fmt.Errorf("the worker's turn ended as %s", out.Ended.End)
	}
	done.Refers = w.refers(done.Reply)
	return done, nil // the checks decide whether the task is done
}

// mostRefers is how many files of a worker others are told of.
const mostRefers = 50

// refers returns what later workers may need to know of this one's work: the files that
// it changed, with its task and the first line of its reply.
func (w *swarmWatch) refers(reply string) []swarm.Reference {
	said, _, _ := strings.Cut(strings.TrimSpace(reply), "\n")
	note := "changed by the worker of task " + w.job.Task.ID
	if said != "" {
		note += ", which says: " + clipped(said, 200)
	}
	var refs []swarm.Reference
	for _, path := range slices.Sorted(maps.Keys(w.files)) {
		if len(refs) < mostRefers {
			refs = append(refs, swarm.Reference{Value: path, Note: note})
		}
	}
	return refs
}

// swarmWatch reports a worker's calls to the swarm.
type swarmWatch struct {
	o       *setup.Opened
	job     team.Job
	args    map[string]string // of open calls
	seen    map[string]bool   // results
	changed bool              // a file, since the last call
	files   map[string]bool   // that it changed
	repeats swarm.Repeats
}

func (w *swarmWatch) see(e event.Event) error {
	switch b := e.Body.(type) {
	case event.CallAsked:
		w.args[b.ID] = string(b.Args)
	case event.FileChanged:
		w.changed, w.files[b.Path] = true, true
	case event.CallDone:
		return w.call(b)
	}
	return nil
}

func (w *swarmWatch) call(b event.CallDone) error {
	what := b.Tool + " " + w.args[b.ID]
	delete(w.args, b.ID)
	key := fmt.Sprintf("%x", sha256.Sum256([]byte(what+"\x00"+b.Result.Text)))
	c := swarm.Call{Worker: w.job.Worker, Key: key, What: clipped(what, 200), Failed: b.Result.Error || b.Outcome != event.OK, New: w.changed || !w.seen[key]}
	w.seen[key], w.changed = true, false
	var failed *swarm.Failure
	if c.Failed {
		failed = &swarm.Failure{Worker: c.Worker, Tool: b.Tool, Target: clipped(what, 200), Category: string(b.Outcome), Text: clipped(b.Result.Text, 1000)}
	}
	if tell := w.job.Saw(c, failed); tell != "" {
		if _, err := w.o.Submit(context.Background(), session.Prompt{Source: event.Parent, Text: tell}); err != nil {
			return err
		}
	}
	if w.repeats.Apply(key) {
		return errSwarmRepeats
	}
	return nil
}

func clipped(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// check runs a command line that the person wrote in the graph. It is confined to the
// tree if commands can be confined, otherwise it runs as if the person ran it.
func (r *swarmRun) check(ctx context.Context, dir, line string) event.TaskCheck {
	k := event.TaskCheck{Command: line}
	start := r.Now()
	ran, err := r.runCheck(ctx, dir, line)
	k.Took = r.Now().Sub(start)
	k.Output = ran.Output
	if err != nil {
		k.Output = err.Error()
	} else {
		k.Exit = ran.Exit
	}
	if n := len(k.Output); n > swarmCheckOutput {
		k.Output = "…" + string([]rune(k.Output[n-swarmCheckOutput:]))
	}
	return k
}

func (r *swarmRun) runCheck(ctx context.Context, dir, line string) (tool.Ran, error) {
	paths, err := settings.PathsFrom(r.Env)
	if err != nil {
		return tool.Ran{}, err
	}
	conf, err := settings.Load(paths, dir)
	if err != nil {
		return tool.Ran{}, err
	}
	by, _, err := r.Confine(&r.f.Options, conf, paths, dir, false)
	if err != nil {
		return tool.Ran{}, err
	}
	starter, stop := by.Starter()
	defer stop()
	sh := shell.New(shell.Options{
		Root: dir, Starter: starter, SpillDir: filepath.Join(paths.Spill(), r.id()), Mask: secrets.New(append(r.Secrets(), folder.Keys(dir)...)...).MaskBytes,
		Timeout: swarmCheckTime, MaxTimeout: swarmCheckTime,
	})
	defer sh.Close()
	level := process.Confine{Level: process.Workspace}
	switch {
	case !by.Confined() || !by.Has.Workspace && !by.Has.Narrow:
		level = process.Free
	case by.Has.Narrow:
		level.Level = process.ReadOnly
	}
	return sh.Run(ctx, tool.Run{Command: line, Confine: level})
}

// hashOf returns a file's hash as a write expects it.
func hashOf(data []byte) tool.Hash { return workspace.HashOf(data) }
