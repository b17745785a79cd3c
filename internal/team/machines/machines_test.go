package machines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pawl-agent/pawl/internal/adapter/nats/leases"
	"github.com/pawl-agent/pawl/internal/adapter/nats/natstest"
	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/adapter/workspace/trees"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	judge "github.com/pawl-agent/pawl/internal/policy/swarm"
	"github.com/pawl-agent/pawl/internal/team/swarm"
)

var plainGit = &workspace.Git{Starter: &processtest.Plain{}, Confine: process.Free}

// TestMain gives git a home without a configuration.
func TestMain(m *testing.M) {
	home, err := os.MkdirTemp("", "pawl-home-")
	if err != nil {
		panic(err)
	}
	_ = os.Setenv("HOME", home) // it exists
	code := m.Run()
	_ = os.RemoveAll(home)
	os.Exit(code)
}

// purse is a Bank that counts.
type purse struct {
	mu       sync.Mutex
	last     int
	held     map[int]bool
	reserved int
	charged  int
}

func (p *purse) Reserve(context.Context, budget.Ask) (budget.Grant, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	p.reserved++
	p.held[p.last] = true
	return budget.Grant{ID: p.last, Tokens: 1}, nil
}

func (p *purse) Settle(_ context.Context, grant int, cs ...event.Charged) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.held[grant] {
		return fmt.Errorf("nothing is held under %d", grant)
	}
	delete(p.held, grant)
	p.charged += len(cs)
	return nil
}

// remoteSwarm is a swarm whose tasks are done by workers at a NATS server.
type remoteSwarm struct {
	t        *testing.T
	url      string
	lease    time.Duration
	bank     *purse
	root     string // of the project
	trees    *trees.Store
	base     string
	store    event.Store
	log      *eventlog.Log
	schedule *judge.Schedule
	board    *leases.Board
	away     *RemoteWorkers

	mu   sync.Mutex
	said []string
}

func newRemoteSwarm(t *testing.T, url string, lease time.Duration) *remoteSwarm {
	t.Helper()
	root := t.TempDir()
	must.Write(t, filepath.Join(root, "start"), "start\n")
	ts := must.Get(trees.Open(t.Context(), plainGit, t.TempDir(), root))(t)
	base := must.Get(ts.Snapshot(t.Context()))(t)
	r := &remoteSwarm{t: t, url: url, lease: lease, bank: &purse{held: map[int]bool{}}, root: root, trees: ts, base: base, store: memory.New(time.Now)}
	r.open(dial(t, url))
	return r
}

func dial(t testing.TB, url string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond), nats.RetryOnFailedConnect(true), nats.IgnoreDiscoveredServers(),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})) // connections are cut on purpose
	must.Do(t, err)
	t.Cleanup(nc.Close)
	return nc
}

// open is what a coordinator does first, also after one that died.
func (r *remoteSwarm) open(nc *nats.Conn) {
	r.t.Helper()
	r.schedule = &judge.Schedule{}
	var err error
	r.log, err = eventlog.Open(r.t.Context(), eventlog.Config{Store: r.store, Session: "s", Now: time.Now}, r.schedule)
	must.Do(r.t, err)
	for range 20 { // a cluster may have no leader at the moment
		if r.board, err = leases.Open(r.t.Context(), nc, leases.Config{Swarm: "s", Version: "1", Lease: r.lease, Bank: r.bank, Say: r.say}); err == nil {
			break
		}
	}
	must.Do(r.t, err)
	r.away = &RemoteWorkers{Board: r.board, Trees: r.trees, Base: r.base, Check: swarm.Each(exists)}
}

func (r *remoteSwarm) say(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, line)
}

func (r *remoteSwarm) run(ctx context.Context, slots int) error {
	return swarm.Run(ctx, swarm.Config{
		Log: r.log, Schedule: r.schedule, Trees: r.trees, Slots: slots, Workers: r.away, Check: swarm.Each(exists), Now: time.Now, Lease: r.lease,
	})
}

func (r *remoteSwarm) plan(tasks ...event.Task) {
	r.t.Helper()
	must.Do(r.t, r.log.Append(r.t.Context(), event.Draft{Body: event.SwarmPlanned{Goal: "all", Base: r.base, Tasks: tasks}}))
}

func (r *remoteSwarm) files() map[string]string {
	r.t.Helper()
	changes, err := r.trees.Changes(r.t.Context(), r.base, r.schedule.Tip())
	must.Do(r.t, err)
	out := map[string]string{}
	texts, err := r.trees.Read(r.t.Context(), changes)
	must.Do(r.t, err)
	for i, c := range changes {
		out[c.Path] = string(texts[i])
	}
	return out
}

// exists is a check whose line names a file that must be there.
func exists(_ context.Context, dir, line string) event.TaskCheck {
	exit := 0
	if _, err := os.Stat(filepath.Join(dir, line)); err != nil {
		exit = 1
	}
	return event.TaskCheck{Command: line, Exit: &exit}
}

func makes(id string, after ...string) event.Task {
	return event.Task{ID: id, Goal: "make " + id, After: after, Accept: []string{id}}
}

// worker serves with a function, and returns what ends it.
func (r *remoteSwarm) worker(nc *nats.Conn, name string, do func(context.Context, *leases.Held) leases.Result) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		_ = leases.Serve(ctx, nc, leases.WorkerConfig{Name: name, Version: "1", Slots: 2, Do: do})
	})
	end = sync.OnceFunc(func() { cancel(); done.Wait() })
	r.t.Cleanup(end)
	return end
}

// hand is a worker as pawl worker runs it, with a function for the model.
func (r *remoteSwarm) hand(work func(context.Context, swarm.Job, *leases.Held) (swarm.Done, error)) *Worker {
	return &Worker{Home: r.t.TempDir(), Kept: r.t.TempDir(), Git: plainGit, Work: work, Check: swarm.Each(exists)}
}

// appends makes the task's file, or adds to it where it is there: done twice, it
// shows.
func appends(_ context.Context, j swarm.Job, _ *leases.Held) (swarm.Done, error) {
	f, err := os.OpenFile(filepath.Join(j.Dir, j.Task.ID), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return swarm.Done{}, err
	}
	_, err = f.WriteString("once\n")
	return swarm.Done{Session: "log-" + j.Worker, Model: "a/model", USD: new(0.25), Tokens: 7}, errors.Join(err, f.Close())
}

// SPEC 14.6: a graph is worked on by other machines, each task on top of what it
// waits for, with who did it and what it cost.
func TestSwarm(t *testing.T) {
	t.Parallel()
	r := newRemoteSwarm(t, natstest.Server(t).ClientURL(), time.Minute)
	defer func() { _ = r.board.Close(context.Background()) }()
	r.plan(makes("a"), makes("b", "a"), makes("c", "a"), makes("d", "b", "c"))
	for i := range 2 {
		r.worker(dial(t, r.url), fmt.Sprint("box", i), r.hand(func(ctx context.Context, j swarm.Job, h *leases.Held) (swarm.Done, error) {
			for _, id := range j.Task.After {
				if _, err := os.Stat(filepath.Join(j.Dir, id)); err != nil {
					t.Errorf("%s began without %s", j.Task.ID, id)
				}
			}
			if !strings.Contains(j.Prompt, "make "+j.Task.ID) {
				t.Errorf("it is told %q", j.Prompt)
			}
			return appends(ctx, j, h)
		}).Do)
	}
	must.Do(t, r.run(t.Context(), 4))
	rep := swarm.ReportOf(r.schedule, budget.Spent{})
	if rep.Outcome != event.SwarmVerified || len(r.files()) != 4 {
		t.Errorf("%+v", rep)
	}
	for _, k := range rep.Tasks {
		if !strings.HasPrefix(k.Session, "log-"+k.Worker+"@box") || k.Model != "a/model" {
			t.Errorf("%s: session %q, model %q", k.ID, k.Session, k.Model)
		}
	}
}

// SPEC 14.6: nothing of a worker's environment is in any message or object, and
// a result with it is refused.
func TestSecretsStay(t *testing.T) {
	t.Parallel()
	r := newRemoteSwarm(t, natstest.Server(t).ClientURL(), time.Minute)
	defer func() { _ = r.board.Close(context.Background()) }()
	const secret = `hunter2-"quoted"-key`
	var mu sync.Mutex
	var wire bytes.Buffer
	if _, err := dial(t, r.url).Subscribe(">", func(m *nats.Msg) {
		mu.Lock()
		defer mu.Unlock()
		wire.WriteString(m.Subject)
		wire.Write(m.Data)
	}); err != nil {
		t.Fatal(err)
	}
	h := r.hand(func(ctx context.Context, j swarm.Job, held *leases.Held) (swarm.Done, error) {
		if j.Task.ID == "leaks" {
			return swarm.Done{}, os.WriteFile(filepath.Join(j.Dir, "leaks"), []byte("key="+secret), 0o600)
		}
		j.Saw(judge.Call{Key: "k", What: "echo " + secret}, &judge.Failure{Text: secret})
		done, err := appends(ctx, j, held)
		done.Reply, done.Refers = "it is "+secret, []judge.Reference{{Value: secret, Note: secret}}
		return done, err
	})
	h.Secret = func(b []byte) bool { return bytes.Contains(b, []byte(secret)) }
	ctx, cancel := context.WithCancel(t.Context())
	var serving sync.WaitGroup
	serving.Go(func() {
		_ = leases.Serve(ctx, dial(t, r.url), leases.WorkerConfig{Name: "box", Version: "1", Slots: 1, Do: h.Do, Mask: func(b []byte) []byte {
			return bytes.ReplaceAll(bytes.ReplaceAll(b, []byte(secret), []byte("xxx")), []byte(`hunter2-\"quoted\"-key`), []byte("xxx"))
		}})
	})
	defer serving.Wait()
	defer cancel()
	r.plan(makes("fine"), makes("leaks"))
	must.Do(t, r.run(t.Context(), 2))
	mu.Lock()
	defer mu.Unlock()
	if text := wire.String(); !strings.Contains(text, "echo xxx") || strings.Contains(text, "hunter2") {
		t.Errorf("%d bytes went over the wire, with the secret: %v", len(text), strings.Contains(text, "hunter2"))
	}
	if p, _ := r.schedule.Task("leaks"); p.State != judge.Failed || !strings.Contains(p.Result.Error, "holds a secret") {
		t.Errorf("leaks is %s: %s", p.State, p.Result.Error)
	}
	if p, _ := r.schedule.Task("fine"); p.State != judge.Merged {
		t.Errorf("fine is %s: %s", p.State, p.Result.Error)
	}
}

// SPEC 14.6: what a lying worker sends is refused, with why, and nothing of it is
// in the result.
func TestLies(t *testing.T) {
	t.Parallel()
	r := newRemoteSwarm(t, natstest.Server(t).ClientURL(), time.Minute)
	defer func() { _ = r.board.Close(context.Background()) }()
	h := r.hand(nil)
	// made does the task in an honest tree, after which a lie is told of it.
	made := func(ctx context.Context, held *leases.Held, change func(dir string) error) leases.Result {
		h.Work = func(_ context.Context, j swarm.Job, _ *leases.Held) (swarm.Done, error) {
			return swarm.Done{}, change(j.Dir)
		}
		return h.Do(ctx, held)
	}
	put := func(name string) func(string) error {
		return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600) }
	}
	lies := map[string]struct {
		why string
		do  func(ctx context.Context, held *leases.Held) leases.Result
	}{
		"says-it-passes": {"acceptance check", func(ctx context.Context, held *leases.Held) leases.Result {
			task := held.Job.Task
			held.Job.Task.Accept = nil
			res := made(ctx, held, put("another"))
			res.Checks = []event.TaskCheck{{Command: task.Accept[0], Exit: new(0)}}
			return res
		}},
		"changed-nothing": {"acceptance check", func(context.Context, *leases.Held) leases.Result { return leases.Result{Reply: "done"} }},
		"no-such-pack": {"message not found", func(context.Context, *leases.Held) leases.Result {
			return leases.Result{Commit: strings.Repeat("a", 40), Pack: strings.Repeat("b", 64)}
		}},
		"a-path-as-pack": {"not the name of a file", func(context.Context, *leases.Held) leases.Result {
			return leases.Result{Commit: "x", Pack: "../../etc/passwd"}
		}},
		"the-base-as-result": {"refused", func(_ context.Context, held *leases.Held) leases.Result {
			return leases.Result{Commit: held.Job.Base, Pack: held.Job.RootPack}
		}},
		"garbage": {"its objects are not taken", func(ctx context.Context, held *leases.Held) leases.Result {
			name, err := held.Put(ctx, func(w io.Writer) error { _, err := io.WriteString(w, "garbage"); return err })
			if err != nil {
				t.Error(err)
			}
			return leases.Result{Commit: strings.Repeat("a", 40), Pack: name}
		}},
		"a-link": {"symbolic link", func(ctx context.Context, held *leases.Held) leases.Result {
			return made(ctx, held, func(dir string) error { return os.Symlink("/etc/passwd", filepath.Join(dir, "a-link")) })
		}},
		"gains-money": {"", func(ctx context.Context, held *leases.Held) leases.Result {
			res := made(ctx, held, put("gains-money"))
			res.USD, res.Tokens = new(-5.0), -7
			return res
		}},
		"breaks": {"boom", func(ctx context.Context, held *leases.Held) leases.Result {
			return made(ctx, held, func(string) error { panic("boom") })
		}},
	}
	var tasks []event.Task
	for id := range lies {
		tasks = append(tasks, makes(id))
	}
	r.plan(tasks...)
	r.worker(dial(t, r.url), "liar", func(ctx context.Context, held *leases.Held) leases.Result {
		return lies[held.Job.Task.ID].do(ctx, held)
	})
	must.Do(t, r.run(t.Context(), 1))
	for id, lie := range lies {
		p, _ := r.schedule.Task(id)
		if lie.why == "" && p.State != judge.Merged || lie.why != "" && (p.State != judge.Failed || !strings.Contains(p.Result.Error, lie.why)) {
			t.Errorf("%s is %s: %s", id, p.State, p.Result.Error)
		}
	}
	if got := r.files(); len(got) != 1 {
		t.Errorf("what was refused is in the result: %v", got)
	}
	for _, p := range r.schedule.Tasks() {
		if u := p.Result.USD; u != nil && *u < 0 || p.Result.Tokens < 0 {
			t.Errorf("%s: %v USD and %d tokens were spent", p.ID, *u, p.Result.Tokens)
		}
	}
}

// With --worker-checks a worker's word is taken only for the task's own checks.
func TestWordOfWorkers(t *testing.T) {
	t.Parallel()
	zero, one := 0, 1
	task := event.Task{Accept: []string{"a", "b"}}
	ok := []event.TaskCheck{{Command: "a", Exit: &zero}, {Command: "b", Exit: &zero}}
	must.Do(t, trusted(task, ok))
	for what, checks := range map[string][]event.TaskCheck{
		"none": nil, "one": ok[:1], "more": append(ok[:2:2], ok[0]), "another": {ok[0], ok[0]},
		"failed": {ok[0], {Command: "b", Exit: &one}}, "not run": {ok[0], {Command: "b"}},
	} {
		if err := trusted(task, checks); !errors.Is(err, swarm.ErrAcceptance) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// SPEC 14.6: what a machine has of an earlier swarm is not sent to it again, and of a newer
// tree only what is new.
func TestFilesAreSentOnce(t *testing.T) {
	t.Parallel()
	r := newRemoteSwarm(t, natstest.Server(t).ClientURL(), time.Minute)
	closeBoard := func() {
		if err := r.board.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	closeBoard()
	h := r.hand(appends)
	var jobs []leases.Job
	do := func(ctx context.Context, held *leases.Held) leases.Result {
		jobs = append(jobs, held.Job) // one at a time
		return h.Do(ctx, held)
	}
	swarmOf := func(id string) {
		t.Helper()
		ctx, end := context.WithCancel(t.Context())
		var serving sync.WaitGroup
		serving.Go(func() {
			_ = leases.Serve(ctx, dial(t, r.url), leases.WorkerConfig{Name: "box", Version: "1", Do: do, Trees: h.Trees, Left: h.Left})
		})
		r.store = memory.New(time.Now)
		r.open(dial(t, r.url))
		r.plan(makes(id))
		must.Do(t, r.run(t.Context(), 1))
		if p, _ := r.schedule.Task(id); p.State != judge.Merged {
			t.Fatalf("%s is %s: %s", id, p.State, p.Result.Error)
		}
		end()
		serving.Wait()
		closeBoard()
	}
	swarmOf("a")
	swarmOf("b")
	if len(jobs) != 2 || jobs[0].RootPack == "" || jobs[1].RootPack != "" || jobs[0].Root != jobs[1].Root {
		t.Fatalf("%+v", jobs)
	}
	must.Write(t, filepath.Join(r.root, "more"), "more\n")
	r.base = must.Get(r.trees.Snapshot(t.Context()))(t)
	// The worker starts again, and so does its machine.
	h = &Worker{Home: t.TempDir(), Kept: h.Kept, Git: plainGit, Work: appends, Check: swarm.Each(exists)}
	swarmOf("c")
	if jobs[2].RootPack == "" || jobs[2].Root == jobs[0].Root {
		t.Errorf("%+v", jobs[2])
	}
	old := must.Get(r.trees.Tree(t.Context(), jobs[0].Root))(t)
	if at := slices.Index(h.Trees(t.Context()), old); at != 1 {
		t.Errorf("the earlier tree is number %d of those that are here", at)
	}
	// A swarm that says that the files are here is not believed.
	held := &leases.Held{Job: jobs[0]}
	held.Job.Root, held.Job.RootPack = strings.Repeat("1", 40), ""
	if err := h.root(t.Context(), held); !errors.Is(err, trees.ErrRefused) {
		t.Errorf("%v", err)
	}
}

// SPEC 14.6: a machine that cannot begin tasks (no key, a full disk) fails none of them:
// they go to others for free.
func TestUnableMachines(t *testing.T) {
	t.Parallel()
	r := newRemoteSwarm(t, natstest.Server(t).ClientURL(), time.Minute)
	defer func() { _ = r.board.Close(context.Background()) }()
	r.plan(makes("a"), makes("b"), makes("c"))
	r.worker(dial(t, r.url), "broken", r.hand(func(context.Context, swarm.Job, *leases.Held) (swarm.Done, error) {
		return swarm.Done{}, swarm.Outside(event.FaultMachine, errors.New("no key"))
	}).Do)
	var once sync.Once
	if err := swarm.Run(t.Context(), swarm.Config{
		Log: r.log, Schedule: r.schedule, Trees: r.trees, Slots: 3, Workers: workersAfter{r.away, func() {
			once.Do(func() { r.worker(dial(t, r.url), "sound", r.hand(appends).Do) })
		}}, Check: swarm.Each(exists), Now: time.Now, Lease: r.lease,
	}); err != nil {
		t.Fatal(err)
	}
	for _, p := range r.schedule.Tasks() {
		if p.State != judge.Merged || p.Tries != 0 {
			t.Errorf("%s is %s after %d tries: %+v", p.ID, p.State, p.Tries, p.Failed)
		}
	}
}

// workersAfter calls a function after the first result.
type workersAfter struct {
	swarm.Workers
	after func()
}

func (w workersAfter) Do(ctx context.Context, b swarm.Begin, s swarm.Saw) (swarm.Done, error) {
	defer w.after()
	return w.Workers.Do(ctx, b, s)
}
