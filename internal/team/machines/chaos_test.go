package machines

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/pawl-agent/pawl/internal/adapter/nats/leases"
	"github.com/pawl-agent/pawl/internal/adapter/nats/natstest"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	judge "github.com/pawl-agent/pawl/internal/policy/swarm"
	"github.com/pawl-agent/pawl/internal/team/swarm"
)

// SPEC 14.6: whatever connections, servers, workers and the coordinator do, each
// task's effect is in the tree once and no reserved money is lost. PAWL_CHAOS
// says how many runs; PAWL_SEED with which seed they begin. It takes some seconds
// a run, since a lease that is lost takes its time.
//
// A worker that a busy machine lets wait for longer than its lease is lost as if it had
// been killed. Where few tasks are done for that reason, leases become longer.
func TestChaos(t *testing.T) {
	t.Parallel()
	runs, seed := 2, uint64(1)
	if n, err := strconv.Atoi(os.Getenv("PAWL_CHAOS")); err == nil {
		runs = n
	}
	if n, err := strconv.ParseUint(os.Getenv("PAWL_SEED"), 10, 64); err == nil {
		seed = n
	}
	for i := range runs {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			for lease := 1500 * time.Millisecond; !chaos(t, seed, i%2 == 1, lease); lease *= 3 {
				if t.Failed() || lease > 30*time.Second {
					t.Fatalf("seed %d: too little was done with a lease of %s", seed, lease)
				}
			}
		})
		seed++
		if t.Failed() {
			return
		}
	}
}

// chaos is one run. It reports whether at least half of the tasks were done.
func chaos(t *testing.T, seed uint64, cluster bool, lease time.Duration) bool {
	random := rand.New(rand.NewPCG(seed, 14))
	var servers []*server.Server
	if cluster {
		servers = natstest.Cluster(t, 3)
	} else {
		servers = append(servers, natstest.Server(t))
	}
	var urls []string
	for _, s := range servers {
		urls = append(urls, s.ClientURL())
	}
	all := strings.Join(urls, ",")
	r := newRemoteSwarm(t, all, lease)
	var tasks []event.Task
	for i := range 10 {
		task := makes(fmt.Sprintf("t%02d", i))
		if i > 0 && random.IntN(2) == 0 {
			task.After = []string{fmt.Sprintf("t%02d", random.IntN(i))}
		}
		tasks = append(tasks, task)
	}
	r.plan(tasks...)
	over, stop := context.WithCancel(t.Context())
	var trouble sync.WaitGroup
	defer trouble.Wait()
	defer stop()

	natstest.Double(t, over, r.dialed(all), "pawl.main.s", &trouble, random.Uint64())
	link := func() *natstest.Proxy { return natstest.NewProxy(t, servers[0].Addr().String()) }
	var ends []func()
	start := func(name string) *natstest.Proxy {
		p := link()
		ends = append(ends, r.worker(dial(t, "nats://"+p.Addr()), name, r.hand(r.spends(random.Uint64())).Do))
		return p
	}
	links := []*natstest.Proxy{start("w0"), start("w1"), start("w2")}

	// What goes wrong, and when, the seed says.
	at := time.NewTicker(time.Duration(40+random.IntN(60)) * time.Millisecond)
	defer at.Stop()
	killed, stopped, died := 0, false, 0
	ctx, cancel := context.WithCancelCause(t.Context())
	result := make(chan error, 1)
	run := func() {
		ctx, cancel = context.WithCancelCause(t.Context())
		c := ctx
		go func() { result <- r.run(c, 6) }()
	}
	run()
	for until := time.After(5 * time.Minute); ; {
		select {
		case err := <-result:
			if err == nil {
				cancel(nil)
				return r.settled()
			}
			if died == 0 || !strings.Contains(err.Error(), "killed") {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if err := r.board.Close(context.Background()); err != nil && !cluster {
				t.Logf("close: %v", err)
			}
			r.open(r.dialed(all))
			run()
		case <-at.C:
			switch k := random.IntN(10); {
			case k < 3:
				links[random.IntN(len(links))].Cut()
			case k < 5:
				links[random.IntN(len(links))].Slow(time.Duration(random.IntN(300)) * time.Millisecond)
			case k == 5 && killed < 2: // kill -9: nothing is said any more
				i := random.IntN(len(links))
				links[i].Kill()
				killed++
				links[i] = start(fmt.Sprint("new", killed))
			case k == 6 && died < 1:
				died++
				cancel(errors.New("killed"))
			case k == 7 && cluster && !stopped: // the node with the proxies stays
				stopped = true
				servers[1+random.IntN(2)].Shutdown()
			}
		case <-until:
			t.Fatalf("seed %d: it does not end: %s", seed, swarm.ReportOf(r.schedule, budget.Spent{}).Markdown())
		}
	}
}

func (r *remoteSwarm) dialed(url string) *nats.Conn { return dial(r.t, url) }

// spends is a worker's model: it asks for money a few times, and takes a while.
func (r *remoteSwarm) spends(seed uint64) func(context.Context, swarm.Job, *leases.Held) (swarm.Done, error) {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, 1))
	return func(ctx context.Context, j swarm.Job, h *leases.Held) (swarm.Done, error) {
		for range 2 {
			g, err := h.Reserve(ctx, budget.Ask{Input: 1})
			if err != nil {
				return swarm.Done{}, err
			}
			mu.Lock()
			think := time.Duration(random.IntN(60)) * time.Millisecond
			mu.Unlock()
			select {
			case <-time.After(think):
			case <-ctx.Done():
			}
			if err := h.Settle(ctx, g.ID, event.Charged{By: j.Worker, Requests: 1}); err != nil {
				return swarm.Done{}, err
			}
		}
		return appends(ctx, j, h)
	}
}

// settled looks at what is left when all is over, and reports whether at least half of
// the tasks were done.
func (r *remoteSwarm) settled() bool {
	t := r.t
	t.Helper()
	merged := map[string]int{}
	for e, err := range r.store.Read(t.Context(), "s", 0) {
		must.Do(t, err)
		if b, ok := e.Body.(event.TaskMerged); ok {
			merged[b.Task]++
		}
	}
	files := r.files()
	for _, p := range r.schedule.Tasks() {
		switch p.State {
		case judge.Merged:
			if merged[p.ID] != 1 || files[p.ID] != "once\n" {
				t.Errorf("%s was merged %d times and holds %q", p.ID, merged[p.ID], files[p.ID])
			}
		case judge.Failed, judge.Skipped: // lost with three workers in a row
			if merged[p.ID] != 0 || files[p.ID] != "" {
				t.Errorf("%s is %s, and was merged %d times", p.ID, p.State, merged[p.ID])
			}
		default:
			t.Errorf("%s is still %s", p.ID, p.State)
		}
	}
	enough := r.schedule.Count(judge.Merged) >= 5
	if !enough {
		t.Logf("with a lease of %s: %s", r.lease, swarm.ReportOf(r.schedule, budget.Spent{}).Markdown())
	}
	if err := r.board.Close(context.Background()); err != nil {
		t.Logf("close: %v", err)
	}
	r.bank.mu.Lock()
	defer r.bank.mu.Unlock()
	if len(r.bank.held) != 0 {
		t.Errorf("still set aside: %v", r.bank.held)
	}
	if r.bank.charged > r.bank.reserved {
		t.Errorf("%d charges for %d reservations", r.bank.charged, r.bank.reserved)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, line := range r.said {
		if strings.Contains(line, "not signed") {
			t.Errorf("an honest worker was refused: %s", line)
		}
	}
	return enough
}
