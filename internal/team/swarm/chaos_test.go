package swarm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/spending"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// memTrees are trees of files in memory, whose disk can be full.
type memTrees struct {
	mu      sync.Mutex
	commits map[string]map[string]string // by name: the files
	bases   map[string]string            // of a commit
	trees   map[string]map[string]string // by folder
	full    func() bool
}

func newMemTrees(full func() bool) *memTrees {
	return &memTrees{commits: map[string]map[string]string{"base": {}}, bases: map[string]string{}, trees: map[string]map[string]string{}, full: full}
}

func (m *memTrees) Checkout(_ context.Context, name, commit string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.full() {
		return "", syscall.ENOSPC
	}
	m.trees[name] = maps.Clone(m.commits[commit])
	return name, nil
}

func (m *memTrees) commit(files map[string]string, base string) string {
	name := fmt.Sprintf("c%d", len(m.commits))
	m.commits[name], m.bases[name] = files, base
	return name
}

func (m *memTrees) Commit(_ context.Context, name, base, _ string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.full() {
		return "", syscall.ENOSPC
	}
	if maps.Equal(m.trees[name], m.commits[base]) {
		return base, nil
	}
	return m.commit(maps.Clone(m.trees[name]), base), nil
}

func (m *memTrees) Check(_ context.Context, base, commit string) (files []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for f, text := range m.commits[commit] {
		if m.commits[base][f] != text {
			files = append(files, f)
		}
	}
	return files, nil
}

func (m *memTrees) Merge(_ context.Context, ours, theirs, _ string) (string, []string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	base, to := m.commits[m.bases[theirs]], maps.Clone(m.commits[ours])
	for f, text := range m.commits[theirs] {
		switch {
		case base[f] == text || to[f] == text:
		case base[f] != to[f]:
			return "", []string{f}, nil
		default:
			to[f] = text
		}
	}
	return m.commit(to, ours), nil, nil
}

func (m *memTrees) Remove(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.trees, name)
	return nil
}

func (m *memTrees) put(dir, name, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.trees[dir] != nil { // who is late finds its tree gone
		m.trees[dir][name] += text
	}
}

func (m *memTrees) file(dir, name string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.trees[dir][name]
}

// chaos is one seed: a swarm whose coordinator and workers die.
type chaos struct {
	t       *testing.T
	mu      sync.Mutex
	random  *rand.Rand
	store   event.Store
	trees   *memTrees
	paid    float64 // what the workers of all lives were charged
	deaths  int     // of coordinators that are still to come
	clock   time.Time
	old     []event.TaskReturned // results to be delivered again, too late
	log     *eventlog.Log
	account *spending.Account
	left    int // appends until this life ends; below forever: it does not
}

func (c *chaos) roll(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.random.IntN(n)
}

// forever is far below what a life can use up.
const forever = -1_000_000

var errKilled = errors.New("killed")

// Append is part of Log: the process may die before or after what is recorded.
// Results come twice, and old ones come again.
func (c *chaos) Append(ctx context.Context, ds ...event.Draft) error {
	c.mu.Lock()
	c.left--
	dies, after := c.left == 0, c.random.IntN(2) == 0
	dead := c.left < 0 && c.left > forever
	for _, d := range ds {
		if b, ok := d.Body.(event.TaskReturned); ok {
			c.old = append(c.old, b)
			for range c.random.IntN(3) {
				ds = append(ds, event.Draft{Body: c.old[c.random.IntN(len(c.old))]})
			}
		}
	}
	c.mu.Unlock()
	if dead || dies && !after {
		return errKilled
	}
	if err := c.log.Append(ctx, ds...); err != nil || !dies {
		return err
	}
	return errKilled
}

// dead reports whether this life is over: nothing is recorded any more.
func (c *chaos) dead() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left <= 0 && c.left > forever
}

func (c *chaos) View(look func()) { c.log.View(look) }

func (c *chaos) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock = c.clock.Add(time.Duration(c.random.IntN(7200)-3600) * time.Second)
	return c.clock
}

var chaosPrice = llm.Price{Input: 1, Output: 1}

// work pays for a request, writes the file of its task, or comes to harm.
func (c *chaos) work(ctx context.Context, j Job) (done Done, err error) {
	if c.roll(12) == 0 {
		return done, errKilled // before it did anything
	}
	_, settle, err := c.account.ReserveWithParent(ctx, budget.Ask{Price: &chaosPrice, Input: 1000, MaxOutput: 1000, Child: true})
	if err != nil {
		return done, err
	}
	usd := 0.001
	cs := event.Charged{USD: &usd, Usage: llm.Usage{Known: true, Input: 1000}, Requests: 1, Child: true}
	_ = c.account.Settle(context.WithoutCancel(ctx), 0, cs) // fails where the process is dead
	_ = settle(context.WithoutCancel(ctx))                  // gives back what was set aside
	done.USD, done.Tokens = &usd, 1000
	text := j.Task.ID
	if j.Task.Resolves != "" {
		text = j.Task.Resolves
	}
	switch c.roll(14) {
	case 0:
		return done, errKilled
	case 1:
		panic("boom")
	case 2:
		return done, nil // it lies
	case 3:
		return done, syscall.ENOSPC
	}
	c.trees.put(j.Dir, text, text+"\n")
	if c.roll(6) == 0 {
		c.trees.put(j.Dir, "shared", text+"\n") // conflicts with others
	}
	return done, nil
}

// payments is the log as the account writes it.
type payments struct{ *chaos }

func (c payments) Append(ctx context.Context, ds ...event.Draft) error {
	if c.dead() {
		return errKilled
	}
	err := c.log.Append(ctx, ds...)
	for _, d := range ds {
		if b, ok := d.Body.(event.Charged); ok && err == nil {
			c.mu.Lock()
			c.paid += *b.USD
			c.mu.Unlock()
		}
	}
	return err
}

// live runs a coordinator until it ends or dies.
func (c *chaos) live(s *swarm.Schedule) error {
	meter := &budget.Meter{}
	log, err := eventlog.Open(c.t.Context(), eventlog.Config{Store: c.store, Session: "s", Now: c.now}, s, meter)
	if err != nil {
		return err
	}
	c.log = log
	c.account = spending.New(spending.Config{Session: "s", Limits: budget.Limits{USD: 5}, Now: time.Now, Log: payments{c}, Meter: meter})
	c.mu.Lock()
	c.left = 2 * forever
	if c.deaths > 0 {
		c.deaths--
		c.left = 1 + c.random.IntN(30)
	}
	slots := 1 + c.random.IntN(8)
	c.mu.Unlock()
	if s.Len() == 0 {
		if err := log.Append(c.t.Context(), event.Draft{Body: event.SwarmPlanned{Goal: "all", Base: "base", Tasks: graph(4 + c.roll(12))}}); err != nil {
			return err
		}
	}
	return Run(c.t.Context(), Config{
		Log: c, Schedule: s, Trees: c.trees, Slots: slots, Now: c.now, Lease: time.Minute, Work: c.work,
		Check: Each(func(_ context.Context, dir, line string) event.TaskCheck {
			exit := 1
			if c.trees.file(dir, line) == line+"\n" {
				exit = 0
			}
			return event.TaskCheck{Command: line, Exit: &exit, Output: "no " + line}
		}),
	})
}

// runs is how many seeds are tried: PAWL_CHAOS, or few.
func runs(t *testing.T, few int) int {
	if n, err := strconv.Atoi(os.Getenv("PAWL_CHAOS")); err == nil {
		return n
	}
	if os.Getenv("PAWL_CHAOS") != "" {
		t.Fatal("PAWL_CHAOS is no number")
	}
	return few
}

// SPEC 14.2: whatever dies, comes twice or comes too late, each task's effect is
// in the merged tree exactly once or not at all, in agreement with what the log
// says, and no money is lost: what was charged is charged once, and what was set
// aside is given back.
func TestChaos(t *testing.T) {
	whole, seeds := 0, runs(t, 200)
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) { // rests take no time
			c := &chaos{t: t, random: rand.New(rand.NewPCG(7, uint64(seed))), store: memory.New(time.Now), clock: time.Unix(1_800_000_000, 0)}
			c.trees = newMemTrees(func() bool { return c.roll(60) == 0 })
			c.deaths = c.random.IntN(4)
			var s *swarm.Schedule
			for life := 0; ; life++ {
				s = &swarm.Schedule{}
				err := c.live(s)
				if err == nil && s.Paused == nil {
					break
				}
				if err != nil && !errors.Is(err, errKilled) && !errors.Is(err, syscall.ENOSPC) || life > 20 {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
			c.judge(seed, s)
			if s.Ended.Outcome == event.SwarmVerified {
				whole++
			}
		})
	}
	t.Logf("%d of %d swarms came to a good end", whole, seeds)
	if whole < seeds/4 {
		t.Errorf("only %d of %d swarms came to a good end: the others prove little", whole, seeds)
	}
}

func (c *chaos) judge(seed int, s *swarm.Schedule) {
	c.t.Helper()
	if s.Ended == nil || s.Count(swarm.Taken)+s.Count(swarm.Ready)+s.Count(swarm.Returned) > 0 {
		c.t.Fatalf("seed %d: it has not ended: %+v", seed, s.Ended)
	}
	files := c.trees.commits[s.Tip()]
	want := map[string]bool{"shared": true}
	for _, p := range s.Tasks() {
		id := p.ID
		if p.Resolves != "" {
			id = p.Resolves
		}
		if p.State == swarm.Merged {
			want[id] = true
			if files[id] != id+"\n" {
				c.t.Errorf("seed %d: %s is merged, and its file is %q", seed, id, files[id])
			}
		}
	}
	for f := range files {
		if !want[f] {
			c.t.Errorf("seed %d: %s is in the tree and was not merged", seed, f)
		}
	}
	// A fold of the log says the same, each task was merged once, and results
	// count once however often they come.
	var again swarm.Schedule
	merged, charged := map[string]int{}, 0.0
	for e, err := range c.store.Read(c.t.Context(), "s", 0) {
		must.Do(c.t, err)
		again.Apply(e)
		switch b := e.Body.(type) {
		case event.TaskMerged:
			merged[b.Task]++
		case event.Charged:
			charged += *b.USD
		}
	}
	if again.Tip() != s.Tip() || !slices.Equal(states(&again), states(s)) {
		c.t.Errorf("seed %d: the log says something else than the coordinator knew", seed)
	}
	for id, n := range merged {
		if n != 1 {
			c.t.Errorf("seed %d: %s was merged %d times", seed, id, n)
		}
	}
	spent, _ := c.account.Spent()
	if diff := charged - c.paid; diff > 1e-9 || diff < -1e-9 || spent.USD-charged > 1e-9 || charged-spent.USD > 1e-9 {
		c.t.Errorf("seed %d: %v was paid, %v is in the log, %v counts", seed, c.paid, charged, spent.USD)
	}
	// All that is left can be set aside: nothing is held any more.
	rest := int64((5 - spent.USD) * 1e6 * 0.99)
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	if _, settle, err := c.account.ReserveWithParent(ctx, budget.Ask{Price: &chaosPrice, Input: rest, MaxOutput: 1}); err != nil {
		c.t.Errorf("seed %d: money is lost: %v", seed, err)
	} else {
		_ = settle(ctx)
	}
}

func states(s *swarm.Schedule) (out []string) {
	for _, p := range s.Tasks() {
		out = append(out, p.ID+" "+string(p.State)+" "+p.Commit)
	}
	return out
}

func (m *memTrees) Diff(context.Context, string, string) (string, error) { return "", nil }
