// Package machines runs tasks of a swarm on other machines (SPEC 14.6):
// RemoteWorkers is the side of the coordinator, Worker that of another machine.
//
// A worker is sent the files of the tree that its task begins from, and its prompt. It
// sends back one commit, in a bundle, with its author. Promised: nothing of a result is
// run, written or merged here before it was checked like any other (trees.Unbundle,
// Changes) and its acceptance checks succeeded here. A worker uses the model keys,
// permissions and sandbox of its own machine, and nothing of them is sent. Refused: a
// result with a secret of the worker's machine.
package machines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/adapter/nats/leases"
	"github.com/pawl-agent/pawl/internal/adapter/workspace/trees"
	"github.com/pawl-agent/pawl/internal/core/event"
	judge "github.com/pawl-agent/pawl/internal/policy/swarm"
	"github.com/pawl-agent/pawl/internal/team/swarm"
)

// RemoteWorkers runs tasks on workers on other machines. It implements swarm.Workers.
type RemoteWorkers struct {
	Board *leases.Board
	Trees *trees.Store
	Base  string // the commit that the swarm began from
	Model string // if neither task nor worker names one
	// Agent returns a kind of agent that a task names.
	Agent func(name string) (*leases.Agent, error)
	// Check runs an acceptance check in a tree. nil: the workers' own results are
	// trusted until the merged tree is verified.
	Check func(ctx context.Context, dir, line string) event.TaskCheck

	once     sync.Once
	checking chan struct{}

	last atomic.Int64 // lease

	mu   sync.Mutex
	root *sentCommit
	sent map[string]*sentCommit // by commit
}

// sentCommit is a commit that workers can fetch.
type sentCommit struct{ commit, bundle string }

var _ swarm.Workers = (*RemoteWorkers)(nil)

// Limits of what a worker sends.
const (
	maxWords  = 4 << 10
	maxName   = 100
	maxRefers = 50
)

// Do implements swarm.Workers.
func (a *RemoteWorkers) Do(ctx context.Context, begin swarm.Begin, saw swarm.Saw) (swarm.Done, error) {
	a.once.Do(func() { a.checking = make(chan struct{}, runtime.NumCPU()) })
	// What all tasks need is sent before a worker waits for it. An error shows again when
	// one does.
	_, _, _ = a.send(ctx, a.Base)
	var j swarm.Job
	var base *sentCommit
	r, err := a.Board.Do(ctx, leases.Offer{Fence: a.last.Add(1), Saw: saw, Begin: func(machine string) (job leases.Job, err error) {
		if j, err = begin(machine); err != nil {
			if aside := (*swarm.AsideError)(nil); errors.As(err, &aside) {
				err = fmt.Errorf("%w: %s", leases.ErrAside, aside.Why)
			} else if errors.Is(err, judge.ErrElsewhere) {
				err = leases.ErrElsewhere
			}
			return job, err
		}
		job, base, err = a.job(ctx, j)
		return job, err
	}})
	if errors.Is(err, leases.ErrLost) {
		err = swarm.Outside(event.FaultLost, err)
	}
	done := reportedResult(r)
	if err != nil {
		return done, err
	}
	if r.Error != "" {
		return done, &swarm.FaultError{Of: swarm.Known(r.Fault), Err: fmt.Errorf("on %s: %s", r.Machine, clip(r.Error, maxWords))}
	}
	if done.Commit, done.Files, err = a.accept(ctx, j, base.commit, r); err != nil {
		return done, fmt.Errorf("the result of %s: %w", r.Machine, err)
	}
	done.Checks, err = a.check(ctx, j, done)
	return done, err
}

// job returns a task in the form for a worker.
func (a *RemoteWorkers) job(ctx context.Context, j swarm.Job) (leases.Job, *sentCommit, error) {
	root, base, err := a.send(ctx, j.Base)
	if err != nil {
		return leases.Job{}, nil, swarm.Outside(event.FaultNetwork, fmt.Errorf("send the files to the workers: %w", err))
	}
	job := leases.Job{Worker: j.Worker, Task: j.Task, Prompt: j.Prompt, Model: a.Model, Root: root.commit, RootBundle: root.bundle, Base: base.commit}
	if j.Task.Agent != "" {
		if job.Agent, err = a.Agent(j.Task.Agent); err != nil {
			return job, nil, err
		}
	}
	if base.commit != root.commit {
		job.BaseBundle = base.bundle
	}
	return job, base, nil
}

// reportedResult returns the valid parts of what a worker reports about its work.
func reportedResult(r leases.Result) swarm.Done {
	d := swarm.Done{Reply: clip(r.Reply, maxWords), Model: clip(r.Model, maxName), Tokens: max(0, r.Tokens), USD: r.USD}
	if r.Machine != "" {
		d.Session = clip(r.Session, maxName) + "@" + r.Machine
	}
	if d.USD != nil && !(*d.USD >= 0 && *d.USD < 1e9) { // also not a number
		d.USD = nil
	}
	for _, ref := range r.Refers[:min(len(r.Refers), maxRefers)] {
		d.Refers = append(d.Refers, judge.Reference{Value: clip(ref.Value, maxName*3), Note: clip(ref.Note, maxName*3)})
	}
	for _, k := range r.Checks[:min(len(r.Checks), maxRefers)] {
		k.Command, k.Output = clip(k.Command, maxWords), clip(k.Output, maxWords)
		d.Checks = append(d.Checks, k)
	}
	return d
}

func clip(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}

// send stores a commit so that workers can fetch it. What all trees of the swarm have
// in common is sent once, and of each tree only the difference.
func (a *RemoteWorkers) send(ctx context.Context, commit string) (root, base *sentCommit, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.root == nil {
		first, err := a.bundle(ctx, a.Base, "")
		if err != nil {
			return nil, nil, err
		}
		a.root, a.sent = first, map[string]*sentCommit{a.Base: first}
	}
	if a.sent[commit] == nil {
		next, err := a.bundle(ctx, commit, a.root.commit)
		if err != nil {
			return nil, nil, err
		}
		a.sent[commit] = next
	}
	return a.root, a.sent[commit], nil
}

func (a *RemoteWorkers) bundle(ctx context.Context, commit, on string) (*sentCommit, error) {
	portable, err := a.Trees.Portable(ctx, commit, on)
	if err != nil {
		return nil, err
	}
	if portable == on {
		return &sentCommit{commit: portable}, nil
	}
	file, err := a.Trees.Bundle(ctx, portable, on)
	if err != nil {
		return nil, err
	}
	defer os.Remove(file)
	name, err := a.Board.Put(ctx, file)
	return &sentCommit{portable, name}, err
}

// accept checks a worker's result and returns it as a commit on the task's base.
func (a *RemoteWorkers) accept(ctx context.Context, j swarm.Job, base string, r leases.Result) (commit string, files []string, err error) {
	if r.Commit == "" {
		return j.Base, nil, nil
	}
	in, err := a.Board.Get(ctx, r.Bundle, trees.MaxBundle)
	if err != nil {
		return "", nil, err
	}
	defer in.Close()
	tree, err := a.Trees.Unbundle(ctx, in, trees.MaxBundle, base)
	if err != nil {
		return "", nil, err
	}
	if commit, err = a.Trees.CommitOn(ctx, tree, j.Base, j.Task.ID); err != nil {
		return "", nil, err
	}
	files, err = a.Trees.Check(ctx, j.Base, commit)
	return commit, files, err
}

// check runs the acceptance checks here: a worker's report proves nothing. As many run
// at once as there are processors.
func (a *RemoteWorkers) check(ctx context.Context, j swarm.Job, done swarm.Done) (checks []event.TaskCheck, err error) {
	if a.Check == nil {
		return done.Checks, trusted(j.Task, done.Checks)
	}
	select {
	case a.checking <- struct{}{}:
		defer func() { <-a.checking }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	dir, err := a.Trees.Checkout(ctx, j.Worker, done.Commit)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.Trees.Remove(context.WithoutCancel(ctx), j.Worker)) }()
	return swarm.Passes(ctx, a.Check, dir, j.Task.Accept)
}

// trusted returns nil if a worker reports that all checks of the task succeeded.
func trusted(t event.Task, checks []event.TaskCheck) error {
	if len(checks) != len(t.Accept) {
		return fmt.Errorf("%w: it tells of %d, the task has %d", swarm.ErrAcceptance, len(checks), len(t.Accept))
	}
	for i, k := range checks {
		if k.Command != t.Accept[i] || k.Exit == nil || *k.Exit != 0 {
			return swarm.ErrAcceptance
		}
	}
	return nil
}
