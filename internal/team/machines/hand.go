package machines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
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

// maxTree is the largest pack of a swarm's files that a worker accepts.
const maxTree = 8 << 30

// Worker runs tasks for swarms on other machines.
type Worker struct {
	Home string // of the trees
	// Kept is a folder for the files of swarms, which later swarms need not send again. It
	// outlives the worker. Nobody else uses it.
	Kept string
	Git  *workspace.Git
	// Work runs a job in its tree, with this machine's model, permissions and sandbox.
	// The lease pays for it.
	Work func(context.Context, swarm.Job, *leases.Held) (swarm.Done, error)
	// Check runs an acceptance check in a tree.
	Check swarm.Check
	// Secret reports whether a text holds a secret of this machine.
	Secret func([]byte) bool

	mu     sync.Mutex
	kept   *trees.Store
	stores map[string]*store // by Held.Run

	fetching sync.Mutex // of roots: two tasks need the same
}

// store holds the trees of one swarm.
type store struct {
	*trees.Store
	mu   sync.Mutex // one pack at a time: the next task needs the same
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
	if err := h.fetch(ctx, s, held); err != nil {
		return swarm.Outside(event.FaultNetwork, fmt.Errorf("fetch the files: %w", err))
	}
	tree := fmt.Sprintf("w%d", held.Fence)
	dir, err := s.Checkout(ctx, tree, job.Base)
	if err != nil {
		return swarm.Outside(event.FaultMachine, err)
	}
	defer func() { err = errors.Join(err, s.Remove(context.WithoutCancel(ctx), tree)) }()
	if err := swarm.Prepare(ctx, h.Check, dir, job.Task.Setup); err != nil {
		return err
	}
	done, err := h.Work(ctx, swarm.Job{
		Worker: job.Worker, Fence: held.Fence, Base: job.Base, Task: job.Task, Dir: dir, Prompt: job.Prompt,
		Saw: func(c judge.Call, f *judge.Failure) []string { return held.Saw(ctx, c, f) },
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
	if r.Pack, err = held.Put(ctx, func(w io.Writer) error { return s.Pack(ctx, w, commit, job.Base) }); err != nil {
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
	if h.Secret == nil {
		return nil
	}
	texts, err := s.Read(ctx, changes)
	if err != nil {
		return err
	}
	for i, c := range changes {
		if !c.Deleted && (h.Secret(texts[i]) || h.Secret([]byte(c.Path))) {
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
	kept, err := h.open(ctx)
	if err != nil {
		return nil, err
	}
	t, err := trees.Open(ctx, h.Git, filepath.Join(h.Home, name, "git"), "")
	if err != nil {
		return nil, err
	}
	if err := t.Borrow(kept); err != nil {
		return nil, err
	}
	if h.stores == nil {
		h.stores = map[string]*store{}
	}
	h.stores[name] = &store{Store: t, have: map[string]bool{}}
	return h.stores[name], nil
}

// open opens the store of kept files. Callers hold mu.
func (h *Worker) open(ctx context.Context) (_ *trees.Store, err error) {
	if h.kept == nil {
		h.kept, err = trees.Open(ctx, h.Git, h.Kept, "")
	}
	return h.kept, err
}

// Trees returns the trees of files that are here from earlier swarms, for leases.Taker.
func (h *Worker) Trees(ctx context.Context) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	kept, err := h.open(ctx)
	if err != nil {
		return nil // the task meets it
	}
	all, err := kept.Kept(ctx, leases.MostTrees)
	if err != nil {
		return nil // all is sent again
	}
	return all
}

// fetch gets the files of a task that an earlier task, or an earlier swarm, did not fetch.
func (h *Worker) fetch(ctx context.Context, s *store, held *leases.Held) error {
	if err := h.root(ctx, held); err != nil {
		return err
	}
	job := held.Job
	s.mu.Lock()
	defer s.mu.Unlock()
	if job.Base == job.Root || s.have[job.Base] {
		return nil
	}
	if err := get(ctx, held, s.Store, "", job.BasePack, job.Base, job.Root); err != nil {
		return err
	}
	s.have[job.Base] = true
	return nil
}

// root gets the files that all trees of a swarm have in common, and keeps them.
func (h *Worker) root(ctx context.Context, held *leases.Held) error {
	h.fetching.Lock()
	defer h.fetching.Unlock()
	root := held.Job.Root
	if h.kept.Has(ctx, "commit", root) {
		return nil
	}
	if held.Job.RootPack == "" {
		return fmt.Errorf("%w: the swarm sends no files, and %.40q are not here", trees.ErrRefused, root)
	}
	// What git had of a pack when a worker died is of no use; its bytes are kept beside.
	left, _ := filepath.Glob(filepath.Join(h.Kept, "store.git", "objects", "pack", "tmp_*"))
	for _, name := range left {
		_ = os.Remove(name) // the next worker tries again
	}
	if err := get(ctx, held, h.kept, h.Kept, held.Job.RootPack, root, ""); err != nil {
		return err
	}
	return h.kept.Keep(ctx, root)
}

// get fetches a pack. What came of it is kept in a folder, "" for none.
func get(ctx context.Context, held *leases.Held, s *trees.Store, dir, pack, want, on string) error {
	in, err := held.Resume(ctx, pack, dir, maxTree)
	if err != nil {
		return err
	}
	defer in.Close()
	return s.Unpack(ctx, in, maxTree, want, on)
}

// Left removes the files of a run of a swarm that has ended.
func (h *Worker) Left(run string) {
	h.mu.Lock()
	delete(h.stores, run)
	h.mu.Unlock()
	_ = os.RemoveAll(filepath.Join(h.Home, run)) // the rest is removed with Home
}
