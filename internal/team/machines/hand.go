package machines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/pawl-agent/pawl/internal/adapter/nats/leases"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/adapter/workspace/trees"
	"github.com/pawl-agent/pawl/internal/core/event"
	judge "github.com/pawl-agent/pawl/internal/policy/swarm"
	"github.com/pawl-agent/pawl/internal/team/swarm"
)

// maxTree is the largest bundle of a swarm's files that a worker accepts.
const maxTree = 8 << 30

// Worker runs tasks for swarms on other machines.
type Worker struct {
	Home string // of the trees
	Git  *workspace.Git
	// Work runs a job in its tree, with this machine's model, permissions and sandbox.
	// The lease pays for it.
	Work func(context.Context, swarm.Job, *leases.Held) (swarm.Done, error)
	// Check runs an acceptance check in a tree.
	Check func(ctx context.Context, dir, line string) event.TaskCheck
	// Secret reports whether a text holds a secret of this machine.
	Secret func([]byte) bool

	mu     sync.Mutex
	stores map[string]*store // by Held.Run
}

// store holds the trees of one swarm.
type store struct {
	*trees.Store
	mu   sync.Mutex // one bundle at a time: the next task needs the same
	have map[string]bool
}

// Do runs a task. It returns no error: a failure is part of the result.
func (h *Worker) Do(ctx context.Context, held *leases.Held) (r leases.Result) {
	defer func() {
		if p := recover(); p != nil {
			r.Error = fmt.Sprintf("the worker broke: %v", p)
		}
	}()
	if err := h.do(ctx, held, &r); err != nil {
		r.Error, r.Fault = cmp.Or(err.Error(), "no reason"), swarm.FaultOf(err)
	}
	return r
}

func (h *Worker) do(ctx context.Context, held *leases.Held, r *leases.Result) (err error) {
	job := held.Job
	s, err := h.store(ctx, held.Run())
	if err != nil {
		return swarm.Outside(event.FaultMachine, err)
	}
	if err := s.fetch(ctx, held); err != nil {
		return swarm.Outside(event.FaultNetwork, fmt.Errorf("fetch the files: %w", err))
	}
	tree := fmt.Sprintf("w%d", held.Fence)
	dir, err := s.Checkout(ctx, tree, job.Base)
	if err != nil {
		return swarm.Outside(event.FaultMachine, err)
	}
	defer func() { err = errors.Join(err, s.Remove(context.WithoutCancel(ctx), tree)) }()
	done, err := h.Work(ctx, swarm.Job{
		Worker: job.Worker, Fence: held.Fence, Base: job.Base, Task: job.Task, Dir: dir, Prompt: job.Prompt,
		Saw: func(c judge.Call, f *judge.Failure) string { return held.Saw(ctx, c, f) },
	}, held)
	r.Reply, r.Session, r.Model, r.USD, r.Tokens, r.Refers = done.Reply, done.Session, done.Model, done.USD, done.Tokens, done.Refers
	if err != nil {
		return err
	}
	commit, err := s.Commit(ctx, tree, job.Base, job.Task.ID)
	if err != nil {
		return swarm.Outside(event.FaultMachine, err)
	}
	if err := h.checkResult(ctx, s, job.Base, commit); err != nil {
		return err
	}
	if r.Checks, err = swarm.Passes(ctx, h.Check, dir, job.Task.Accept); err != nil {
		return err
	}
	if commit == job.Base {
		return nil
	}
	file, err := s.Bundle(ctx, commit, job.Base)
	if err != nil {
		return err
	}
	defer os.Remove(file)
	if r.Bundle, err = held.Put(ctx, file); err != nil {
		return swarm.Outside(event.FaultNetwork, fmt.Errorf("send the result: %w", err))
	}
	r.Commit = commit
	return nil
}

// checkResult refuses, before it is sent, a result that the coordinator would refuse or that
// contains a secret of this machine.
func (h *Worker) checkResult(ctx context.Context, s *store, base, commit string) error {
	changes, err := s.Changes(ctx, base, commit)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if c.Deleted || h.Secret == nil {
			continue
		}
		text, err := s.Read(ctx, c)
		if err != nil {
			return err
		}
		if h.Secret(text) || h.Secret([]byte(c.Path)) {
			return fmt.Errorf("%w: %s holds a secret of the worker's machine", trees.ErrRefused, c.Path)
		}
	}
	return nil
}

func (h *Worker) store(ctx context.Context, name string) (*store, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.stores[name]; s != nil {
		return s, nil
	}
	t, err := trees.Open(ctx, h.Git, filepath.Join(h.Home, name, "git"), "")
	if err != nil {
		return nil, err
	}
	if h.stores == nil {
		h.stores = map[string]*store{}
	}
	h.stores[name] = &store{Store: t, have: map[string]bool{}}
	return h.stores[name], nil
}

// fetch gets the files of a task that an earlier task did not fetch.
func (s *store) fetch(ctx context.Context, held *leases.Held) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	job := held.Job
	if err := s.get(ctx, held, job.RootBundle, job.Root, ""); err != nil {
		return err
	}
	if job.Base == job.Root {
		return nil
	}
	return s.get(ctx, held, job.BaseBundle, job.Base, job.Root)
}

func (s *store) get(ctx context.Context, held *leases.Held, bundle, want, on string) error {
	if s.have[want] {
		return nil
	}
	in, err := held.Get(ctx, bundle, maxTree)
	if err != nil {
		return err
	}
	defer in.Close()
	got, err := s.Unbundle(ctx, in, maxTree, on)
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("%w: the bundle holds %s and not %s", trees.ErrRefused, got, want)
	}
	s.have[want] = true
	return nil
}

// Left removes the files of a run of a swarm that has ended.
func (h *Worker) Left(run string) {
	h.mu.Lock()
	delete(h.stores, run)
	h.mu.Unlock()
	_ = os.RemoveAll(filepath.Join(h.Home, run)) // the rest is removed with Home
}
