// Package machines runs tasks of a swarm on other machines (SPEC 14.6):
// RemoteWorkers is the side of the coordinator, Worker that of another machine.
//
// A worker is sent the files of the tree that its task begins from, and its prompt. It
// sends back one commit, in a pack, with its author. Promised: nothing of a result is
// run, written or merged here before it was checked like any other (trees.Unpack,
// Changes) and its acceptance checks succeeded here. A worker uses the model keys,
// permissions and sandbox of its own machine, and nothing of them is sent. Refused: a
// result with a secret of the worker's machine.
package machines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/nats/leases"
	"github.com/pawl-agent/pawl/internal/adapter/workspace/trees"
	"github.com/pawl-agent/pawl/internal/core/cut"
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
	Check swarm.Check

	once     sync.Once
	checking chan struct{}

	last atomic.Int64 // lease

	mu       sync.Mutex
	portable map[string]string // by commit
}

var _ swarm.Workers = (*RemoteWorkers)(nil)

// Limits of what a worker sends.
const (
	maxWords  = 4 << 10
	maxName   = 100
	maxRefers = 50
)

func (a *RemoteWorkers) Do(ctx context.Context, begin swarm.Begin, saw swarm.Saw) (swarm.Done, error) {
	a.once.Do(func() { a.checking = make(chan struct{}, runtime.NumCPU()) })
	var j swarm.Job
	var base string
	r, err := a.Board.Do(ctx, leases.Offer{Fence: a.last.Add(1), Saw: saw, Begin: func(by leases.Taker) (job leases.Job, err error) {
		if j, err = begin(by.Machine, by.Labels...); err != nil {
			if aside := (*swarm.AsideError)(nil); errors.As(err, &aside) {
				err = fmt.Errorf("%w: %s", leases.ErrAside, aside.Why)
			} else if errors.Is(err, judge.ErrElsewhere) {
				err = leases.ErrElsewhere
			}
			return job, err
		}
		job, err = a.job(ctx, j, by.Trees)
		base = job.Base
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
	if done.Commit, done.Files, err = a.accept(ctx, j, base, r); err != nil {
		return done, fmt.Errorf("the result of %s: %w", r.Machine, err)
	}
	done.Checks, err = a.check(ctx, j, done)
	return done, err
}

// job returns a task in the form for a worker that has trees of earlier swarms.
func (a *RemoteWorkers) job(ctx context.Context, j swarm.Job, trees []string) (job leases.Job, err error) {
	job = leases.Job{Worker: j.Worker, Task: j.Task, Prompt: j.Prompt, Model: a.Model}
	if err := a.pack(ctx, &job, j.Base, trees); err != nil {
		return job, swarm.Outside(event.FaultNetwork, fmt.Errorf("send the files to the workers: %w", err))
	}
	if j.Task.Agent != "" {
		job.Agent, err = a.Agent(j.Task.Agent)
	}
	return job, err
}

// pack sends the commit that a task begins from, so that its worker can fetch it. What all
// trees of the swarm have in common is sent once, and of each tree only the difference.
// What a worker has from an earlier swarm is not sent to it again.
func (a *RemoteWorkers) pack(ctx context.Context, job *leases.Job, commit string, trees []string) (err error) {
	if job.Root, err = a.portableOf(ctx, a.Base, ""); err != nil {
		return err
	}
	if job.Base, err = a.portableOf(ctx, commit, job.Root); err != nil {
		return err
	}
	tree, err := a.Trees.Tree(ctx, job.Root)
	if err != nil {
		return err
	}
	if !slices.Contains(trees, tree) {
		var has []string
		if i := slices.IndexFunc(trees, func(id string) bool { return a.Trees.Has(ctx, "tree", id) }); i >= 0 {
			has = trees[i : i+1]
		}
		if job.RootPack, err = a.keep(ctx, job.Root, has...); err != nil {
			return err
		}
	}
	if job.Base != job.Root {
		job.BasePack, err = a.keep(ctx, job.Base, job.Root)
	}
	return err
}

func (a *RemoteWorkers) portableOf(ctx context.Context, commit, on string) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if p := a.portable[commit]; p != "" {
		return p, nil
	}
	p, err := a.Trees.Portable(ctx, commit, on)
	if err != nil {
		return "", err
	}
	if a.portable == nil {
		a.portable = map[string]string{}
	}
	a.portable[commit] = p
	return p, nil
}

func (a *RemoteWorkers) keep(ctx context.Context, commit string, others ...string) (string, error) {
	what := strings.Join(append([]string{commit}, others...), " ")
	return a.Board.Keep(ctx, what, func(ctx context.Context, w io.Writer) error { return a.Trees.Pack(ctx, w, commit, others...) })
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
	return cut.Bytes(strings.ToValidUTF8(s, "\uFFFD"), most)
}

// accept checks a worker's result and returns it as a commit on the task's base.
func (a *RemoteWorkers) accept(ctx context.Context, j swarm.Job, base string, r leases.Result) (commit string, files []string, err error) {
	if r.Commit == "" {
		return j.Base, nil, nil
	}
	in, err := a.Board.Get(ctx, r.Pack, trees.MaxPack)
	if errors.Is(err, leases.ErrNetwork) {
		err = swarm.Outside(event.FaultNetwork, err)
	}
	if err != nil {
		return "", nil, err
	}
	defer in.Close()
	err = a.Trees.Unpack(ctx, in, trees.MaxPack, r.Commit, base)
	if errors.Is(err, leases.ErrNetwork) || errors.Is(err, trees.ErrKilled) { // it did not arrive
		err = swarm.Outside(event.FaultNetwork, err)
	}
	if err != nil {
		return "", nil, err
	}
	if commit, err = a.Trees.On(ctx, j.Base, r.Commit, j.Task.ID, time.Now()); err != nil {
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
	if err := swarm.Prepare(ctx, a.Check, dir, j.Task.Setup); err != nil {
		return nil, err
	}
	return swarm.Passes(ctx, a.Check, dir, j.Task.Accept)
}

// trusted returns nil if a worker reports that all checks of the task succeeded.
func trusted(t event.Task, checks []event.TaskCheck) error {
	if len(checks) != len(t.Accept) {
		return fmt.Errorf("%w: it tells of %d, the task has %d", swarm.ErrAcceptance, len(checks), len(t.Accept))
	}
	for i, k := range checks {
		if k.Command != t.Accept[i] || !k.Passed() {
			return swarm.ErrAcceptance
		}
	}
	return nil
}
