//go:build linux

// Package machines measures a swarm of 1,000 workers at a NATS server, and at a cluster
// of three. The coordinator is this process, the servers are another, the workers (250
// machines with four slots each) a third, so that each has its own figures. Workers wait
// instead of asking a model.
//
//	go test ./bench/machines -run XXX -bench . -benchtime 1x -timeout 30m
//
// Thousand is about leases: each of the 1,000 workers holds one for PAWL_HOLD (30 s), with
// 20 calls, 20 model requests and its heartbeats, and returns it. Flood measures how many
// leases go through in a second. Result measures what a result costs the coordinator:
// fetch, check by git's rules, acceptance check, merge.
package machines

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/pawl-agent/pawl/internal/adapter/nats/leases"
	"github.com/pawl-agent/pawl/internal/adapter/nats/natstest"
	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/adapter/workspace/trees"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	judge "github.com/pawl-agent/pawl/internal/policy/swarm"
	team "github.com/pawl-agent/pawl/internal/team/machines"
	"github.com/pawl-agent/pawl/internal/team/swarm"
)

const (
	workers = 1000
	slots   = 4
	asks    = 20 // calls, and model requests, of a task
	role    = "PAWL_BENCH_ROLE"
)

func TestMain(m *testing.M) {
	starter = shell.NewStarter(shell.StarterOptions{})
	code := m.Run()
	starter.Close()
	os.Exit(code)
}

var starter *shell.Starter

func git() *workspace.Git { return &workspace.Git{Starter: starter, Confine: process.Free} }

// other is another process of this program.
type other struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// begin starts another process, and returns it with its first line.
func begin(b *testing.B, what string, env ...string) (*other, string) {
	b.Helper()
	o := &other{cmd: exec.Command(os.Args[0], "-test.run", "^TestRole$", "-test.timeout", "30m")}
	o.cmd.Env = append(append(os.Environ(), role+"="+what), env...)
	o.cmd.Stderr = os.Stderr
	out, err := o.cmd.StdoutPipe()
	must.Do(b, err)
	if o.in, err = o.cmd.StdinPipe(); err != nil {
		b.Fatal(err)
	}
	o.out = bufio.NewScanner(out)
	must.Do(b, o.cmd.Start())
	b.Cleanup(func() { _ = o.in.Close(); _ = o.cmd.Wait() })
	return o, o.line(b)
}

func (o *other) line(b *testing.B) string {
	b.Helper()
	if !o.out.Scan() {
		b.Fatalf("the other process has ended: %v", o.out.Err())
	}
	return o.out.Text()
}

// cpu is the processor time of the other process, in seconds.
func (o *other) cpu() float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", o.cmd.Process.Pid))
	_, rest, _ := strings.Cut(string(text), ") ")
	f := strings.Fields(rest)
	var ticks float64
	for i := 11; i < 15 && i < len(f); i++ { // its own, and of its children
		n, _ := strconv.ParseFloat(f[i], 64)
		ticks += n
	}
	return ticks / 100
}

// traffic is what servers took in and sent out, also to each other.
type traffic struct{ InMsgs, InBytes, OutMsgs, OutBytes int64 }

func (o *other) traffic(b *testing.B) (t traffic) {
	b.Helper()
	fmt.Fprintln(o.in, "traffic")
	must.Do(b, json.Unmarshal([]byte(o.line(b)), &t))
	return t
}

// TestRole is what the other processes do. It is not a test.
func TestRole(t *testing.T) {
	switch what := os.Getenv(role); {
	case what == "workers":
		work(t)
	case what != "":
		n, _ := strconv.Atoi(what)
		serve(t, n)
	}
}

func serve(t *testing.T, n int) {
	var all []*server.Server
	if n == 1 {
		all = []*server.Server{natstest.Server(t)}
	} else {
		all = natstest.Cluster(t, n)
	}
	var urls []string
	for _, s := range all {
		urls = append(urls, s.ClientURL())
	}
	fmt.Println(strings.Join(urls, ","))
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var sum traffic
		for _, s := range all {
			v := must.Get(s.Varz(nil))(t)
			sum.InMsgs, sum.InBytes, sum.OutMsgs, sum.OutBytes = sum.InMsgs+v.InMsgs, sum.InBytes+v.InBytes, sum.OutMsgs+v.OutMsgs, sum.OutBytes+v.OutBytes
		}
		text, _ := json.Marshal(sum)
		fmt.Println(string(text))
	}
}

func dial(t testing.TB, url string) *nats.Conn {
	nc := must.Get(nats.Connect(url, nats.MaxReconnects(-1), nats.Timeout(30*time.Second)))(t)
	return nc
}

// work is all workers. Those of results have trees; others wait and return nothing.
func work(t *testing.T) {
	hold := must.Get(time.ParseDuration(os.Getenv("PAWL_BENCH_HOLD")))(t)
	n, _ := strconv.Atoi(os.Getenv("PAWL_BENCH_WORKERS"))
	dir := os.Getenv("PAWL_BENCH_TREES")
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var all sync.WaitGroup
	for i := range n / slots {
		do := func(ctx context.Context, h *leases.Held) leases.Result { return wait(ctx, h, hold) }
		if dir != "" {
			hand := &team.Worker{Home: filepath.Join(dir, fmt.Sprint("m", i)), Git: git(), Check: swarm.Each(exists), Work: func(_ context.Context, j swarm.Job, _ *leases.Held) (swarm.Done, error) {
				return swarm.Done{}, os.WriteFile(filepath.Join(j.Dir, j.Task.ID), bytes.Repeat([]byte(j.Task.ID+"\n"), 200), 0o600)
			}}
			do = hand.Do
		}
		all.Go(func() {
			err := leases.Serve(ctx, dial(t, os.Getenv("PAWL_BENCH_URL")), leases.WorkerConfig{Name: fmt.Sprint("m", i), Version: "1", Slots: slots, Do: do})
			if err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		})
	}
	fmt.Println("begun")
	_, _ = io.Copy(io.Discard, os.Stdin)
	stop()
	all.Wait()
}

// wait is a task: calls and model requests, spread over its time.
func wait(ctx context.Context, h *leases.Held, hold time.Duration) leases.Result {
	for range asks {
		time.Sleep(time.Duration(rand.Int64N(int64(hold/asks*2) + 1)))
		h.Saw(ctx, judge.Call{Key: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", What: "bash go test ./..."}, nil)
		g, err := h.Reserve(ctx, budget.Ask{Input: 1})
		if err == nil {
			err = h.Settle(ctx, g.ID, event.Charged{})
		}
		if err != nil {
			return leases.Result{Error: err.Error()}
		}
	}
	return leases.Result{Reply: "it is done", Model: "a/b", Session: "s"}
}

func exists(_ context.Context, dir, line string) event.TaskCheck {
	exit := 0
	if _, err := os.Stat(filepath.Join(dir, line)); err != nil {
		exit = 1
	}
	return event.TaskCheck{Command: line, Exit: &exit}
}

// bank grants all.
type bank struct{ last atomic.Int64 }

func (k *bank) Reserve(context.Context, budget.Ask) (budget.Grant, error) {
	return budget.Grant{ID: int(k.last.Add(1)), Tokens: 1}, nil
}
func (k *bank) Settle(context.Context, int, ...event.Charged) error { return nil }

// self is the processor time of this process and its children, in seconds, and its memory
// now in MB.
func self() (cpu float64, mb uint64) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			cpu += float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
		}
	}
	text, _ := os.ReadFile("/proc/self/statm")
	if f := strings.Fields(string(text)); len(f) > 1 {
		pages, _ := strconv.ParseUint(f[1], 10, 64)
		mb = pages * uint64(os.Getpagesize()) >> 20
	}
	return cpu, mb
}

// figures are those of a part of a run.
type figures struct {
	b      *testing.B
	server *other
	began  time.Time
	cpu    float64
	theirs float64
	seen   traffic
}

func measure(b *testing.B, server *other) *figures {
	f := &figures{b: b, server: server, began: time.Now(), theirs: server.cpu(), seen: server.traffic(b)}
	f.cpu, _ = self()
	return f
}

func (f *figures) report(what string, tasks int) {
	took := time.Since(f.began).Seconds()
	cpu, mb := self()
	now, n := f.server.traffic(f.b), float64(tasks)
	load, _ := os.ReadFile("/proc/loadavg")
	fmt.Printf("%s: %d tasks in %.1f s; a task: %.0f messages and %.1f KB in, %.1f KB out; coordinator %.2f ms of a processor a task (%.0f %% of one), %d MB; servers %.2f ms a task (%.0f %%); load %.5s\n",
		what, tasks, took, float64(now.InMsgs-f.seen.InMsgs)/n, float64(now.InBytes-f.seen.InBytes)/n/1e3, float64(now.OutBytes-f.seen.OutBytes)/n/1e3,
		(cpu-f.cpu)/n*1e3, (cpu-f.cpu)/took*100, mb, (f.server.cpu()-f.theirs)/n*1e3, (f.server.cpu()-f.theirs)/took*100, load)
}

// coordinator is a Board at servers with workers.
func coordinator(b *testing.B, servers, n int, hold time.Duration, dir string) (*leases.Board, *other) {
	b.Helper()
	srv, url := begin(b, strconv.Itoa(servers))
	board := must.Get(leases.Open(b.Context(), dial(b, url), leases.Config{Swarm: "s", Version: "1", Lease: 30 * time.Second, Bank: &bank{}, Say: func(string) {}}))(b)
	b.Cleanup(func() { _ = board.Close(context.Background()) })
	begin(b, "workers", "PAWL_BENCH_URL="+url, "PAWL_BENCH_HOLD="+hold.String(), "PAWL_BENCH_WORKERS="+strconv.Itoa(n), "PAWL_BENCH_TREES="+dir)
	return board, srv
}

func task(id string) event.Task {
	return event.Task{ID: id, Goal: "write " + id, Accept: []string{id}}
}

// leasesOf has n tasks done at once, and returns how many failed.
func leasesOf(b *testing.B, board *leases.Board, first, n, atOnce int) (failed int64) {
	var all sync.WaitGroup
	var bad atomic.Int64
	free := make(chan struct{}, atOnce)
	for i := range n {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			r, err := board.Do(b.Context(), leases.Offer{Fence: int64(first + i), Begin: given(leases.Job{Worker: fmt.Sprint("w", i), Prompt: strings.Repeat("p", 4000), Task: task("t")})})
			if err != nil || r.Error != "" {
				bad.Add(1)
			}
		})
	}
	all.Wait()
	return bad.Load()
}

func BenchmarkThousand(b *testing.B) {
	hold := 30 * time.Second
	if d, err := time.ParseDuration(os.Getenv("PAWL_HOLD")); err == nil {
		hold = d
	}
	for _, servers := range []int{1, 3} {
		b.Run(fmt.Sprint("servers-", servers), func(b *testing.B) {
			board, srv := coordinator(b, servers, workers, hold, "")
			for i := range b.N {
				f := measure(b, srv)
				bad := leasesOf(b, board, 1+i*workers, workers, workers)
				f.report(fmt.Sprintf("%d workers hold a lease for %v at %d servers, %d failed", workers, hold, servers, bad), workers)
			}
		})
	}
}

func BenchmarkFlood(b *testing.B) {
	for _, servers := range []int{1, 3} {
		b.Run(fmt.Sprint("servers-", servers), func(b *testing.B) {
			const n = 3000
			board, srv := coordinator(b, servers, workers, 0, "")
			for i := range b.N {
				f := measure(b, srv)
				bad := leasesOf(b, board, 1+i*n, n, workers)
				f.report(fmt.Sprintf("leases without waiting at %d servers, %d failed", servers, bad), n)
			}
		})
	}
}

func BenchmarkResult(b *testing.B) {
	const n = 200
	dir := b.TempDir()
	root := filepath.Join(dir, "project")
	for i := range 200 {
		path := filepath.Join(root, fmt.Sprintf("d%d", i%20), fmt.Sprintf("f%d", i))
		must.Do(b, os.MkdirAll(filepath.Dir(path), 0o700))
		must.Do(b, os.WriteFile(path, bytes.Repeat([]byte(path), 100), 0o600))
	}
	ts := must.Get(trees.Open(b.Context(), git(), filepath.Join(dir, "git"), root))(b)
	base := must.Get(ts.Snapshot(b.Context()))(b)
	board, srv := coordinator(b, 1, 8, 0, filepath.Join(dir, "hands"))
	away := &team.RemoteWorkers{Board: board, Trees: ts, Base: base, Check: swarm.Each(exists)}
	for i := range b.N {
		f := measure(b, srv)
		tip := base
		var mu sync.Mutex
		var all sync.WaitGroup
		free := make(chan struct{}, 2*runtime.NumCPU())
		for k := range n {
			free <- struct{}{}
			all.Go(func() {
				defer func() { <-free }()
				id := fmt.Sprintf("t%d-%d", i, k)
				mu.Lock()
				from := tip
				mu.Unlock()
				done, err := away.Do(b.Context(), func(string, ...string) (swarm.Job, error) {
					return swarm.Job{Worker: "w" + id, Fence: int64(1 + i*n + k), Base: from, Task: task(id)}, nil
				}, func(judge.Call, *judge.Failure) []string { return nil })
				if err != nil {
					b.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				merged, conflicts, err := ts.Merge(b.Context(), tip, done.Commit, id)
				if err != nil || len(conflicts) > 0 {
					b.Error(conflicts, err)
				}
				tip = merged
			})
		}
		all.Wait()
		f.report("results of a project of 200 files, fetched, checked and merged", n)
	}
}

// given is an Offer.Begin that gives a job to whoever asks.
func given(j leases.Job) func(leases.Taker) (leases.Job, error) {
	return func(leases.Taker) (leases.Job, error) { return j, nil }
}
