//go:build chaos && linux

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/pawl-agent/pawl/internal/adapter/nats/natstest"
	"github.com/pawl-agent/pawl/internal/adapter/store/sqlite"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
	"github.com/pawl-agent/pawl/internal/engine/side"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// What a run of chaos is made of.
const (
	chaosLease = 1500 * time.Millisecond
	chaosTasks = 8
	mostActs   = 60
	chaosEnd   = 8 * time.Minute // a run that takes longer is stuck
	tokensEach = 30              // of a reply of llmtest.Server
)

// SPEC 14.2, 14.6, 8.1: real processes of workers and of the coordinator are killed,
// stopped, told to end, cut off, slowed, run out of disk, lack a program, and have their
// clocks set; NATS servers stop and lose their stores; the provider is down; the budget is
// used up. Each run ends right by itself or after one resume: each task's effect comes to
// the person's files once, what reached a provider is accounted for, nothing is left.
// PAWL_CHAOS says how many runs, PAWL_SEED with which seed they begin.
func TestChaosOfProcesses(t *testing.T) {
	runs, first := 2, uint64(1)
	if n, err := strconv.Atoi(os.Getenv("PAWL_CHAOS")); err == nil {
		runs = n
	}
	if n, err := strconv.ParseUint(os.Getenv("PAWL_SEED"), 10, 64); err == nil {
		first = n
	}
	for seed := range uint64(runs) {
		seed += first
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel() // most of a run is waiting; -parallel says how many
			c := newChaos(t, seed)
			defer c.stop()
			c.run()
			t.Logf("%d things went wrong, resumed %d times", len(c.did), c.resumed)
		})
	}
}

// chaos is one run.
type chaos struct {
	t       *testing.T
	seed    uint64
	random  *rand.Rand
	dir     string // the person's folder
	base    string // of all homes
	servers []*server.Server
	web     *httptest.Server
	served  atomic.Int64 // requests that reached the provider

	coordinator  *person
	coordLink    *natstest.Proxy
	workers      []*person
	links        []*natstest.Proxy
	started      int
	trouble      sync.WaitGroup
	over         context.CancelFunc
	did          []string
	killed, died int
	stopped      bool
	acts         int
	resumed      int         // by hand, after a pause, but for the budget
	poor         bool        // the first budget is too small
	down         atomic.Bool // the provider
	port         int         // of the only server
	stores       int
}

// person is a pawl that runs, with what it said.
type person struct {
	cmd  *exec.Cmd
	out  *bytes.Buffer
	end  chan struct{}
	err  error
	home string
}

func newChaos(t *testing.T, seed uint64) *chaos {
	c := &chaos{t: t, seed: seed, random: rand.New(rand.NewPCG(seed, 41))}
	var err error
	c.base, err = os.MkdirTemp("", "pawl-chaos-")
	must.Do(t, err)
	t.Cleanup(func() {
		if !t.Failed() {
			_ = os.RemoveAll(c.base)
		}
	})
	c.dir = filepath.Join(c.base, "project")
	must.Do(t, os.MkdirAll(c.dir, 0o755))
	must.Do(t, os.WriteFile(filepath.Join(c.dir, "kept.txt"), []byte("kept\n"), 0o644))
	if c.random.IntN(2) == 0 {
		c.git("init", "-q")
		c.git("add", "-A")
		c.git("-c", "user.name=p", "-c", "user.email=p@p", "commit", "-qm", "begin")
	}
	c.plan()
	if c.random.IntN(3) == 0 {
		c.servers = natstest.Cluster(t, 3)
	} else {
		c.servers = []*server.Server{nil}
		c.serve()
		t.Cleanup(func() { c.servers[0].Shutdown() })
	}
	c.poor = c.random.IntN(4) == 0
	delays := rand.New(rand.NewPCG(seed, 42))
	var mu sync.Mutex
	c.web = httptest.NewServer(&llmtest.Server{Reply: func(_ int, body []byte) llmtest.Turn {
		if c.down.Load() {
			return llmtest.Turn{Err: errors.New("overloaded")}
		}
		c.served.Add(1)
		mu.Lock()
		wait := time.Duration(300+delays.IntN(1700)) * time.Millisecond
		mu.Unlock()
		time.Sleep(wait)
		return reply(body)
	}})
	t.Cleanup(c.web.Close)
	return c
}

func (c *chaos) git(args ...string) {
	c.t.Helper()
	processtest.RunGit(c.t, c.dir, args...)
}

// shares reports whether a task changes the file that others change as well.
func shares(id string) bool { return id < "t03" }

func (c *chaos) plan() {
	var b strings.Builder
	b.WriteString("goal: append\ntasks:\n")
	for i := range chaosTasks {
		id := fmt.Sprintf("t%02d", i)
		fmt.Fprintf(&b, "- {id: %s, goal: append to %s.txt, accept: [grep -q once %s.txt]", id, id, id)
		if !shares(id) && c.random.IntN(2) == 0 {
			fmt.Fprintf(&b, ", after: [t%02d]", c.random.IntN(i))
		}
		b.WriteString("}\n")
	}
	must.Write(c.t, filepath.Join(c.base, "graph.yaml"), b.String())
}

var resolved = regexp.MustCompile(`The result of task (?:merge-\d+-)*(t\d+) conflicts`)

// reply is the model of all workers: what it does twice shows.
func reply(body []byte) llmtest.Turn {
	if bytes.Contains(body, []byte(`"tool_result"`)) {
		return llmtest.Say("done")
	}
	id := taskOf(body)
	if m := resolved.FindSubmatch(body); m != nil {
		id = string(m[1])
	}
	line := fmt.Sprintf("printf 'once\\n' >>%s.txt", id)
	if shares(id) {
		line += fmt.Sprintf("; printf '%s\\n' >>shared.txt", id)
	}
	return llmtest.Use("bash", fmt.Sprintf(`{"command":%q}`, line))
}

// pawl starts one, with a home of its own and its own way to a server.
func (c *chaos) pawl(home string, disk int, more []string, args ...string) *person {
	c.t.Helper()
	p := &person{out: &bytes.Buffer{}, end: make(chan struct{}), home: filepath.Join(c.base, home)}
	must.Do(c.t, os.MkdirAll(filepath.Join(p.home, "tmp"), 0o700))
	env := []string{
		"ANTHROPIC_API_KEY=test-key-000000", "ANTHROPIC_BASE_URL=" + c.web.URL, "TMPDIR=" + filepath.Join(p.home, "tmp"),
		withLease + "=" + chaosLease.String(),
	}
	if c.random.IntN(2) == 0 {
		env = append(env, fmt.Sprintf("%s=%d", withClock, c.random.Uint64()))
	}
	p.cmd = pawl(c.t, c.dir, p.home, append(env, more...), args...)
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	if disk > 0 { // a disk of its own, which will be full. A shell that waits forgets a signal
		script := fmt.Sprintf(`trap 'exit 130' INT TERM; mount -t tmpfs -o size=%dk,mode=700 tmpfs "$HOME" && mkdir "$HOME/tmp" && exec "$0" "$@"`, disk)
		p.cmd.Args = append([]string{"sh", "-c", script, p.cmd.Path}, args...)
		p.cmd.Path = "/bin/sh"
		p.cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
		if os.Getuid() != 0 {
			p.cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
			p.cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
			p.cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
		}
	}
	must.Do(c.t, p.cmd.Start())
	go func() {
		p.err = p.cmd.Wait()
		close(p.end)
	}()
	return p
}

// kill is kill -9, and waits for its end.
func (p *person) kill() {
	_ = p.cmd.Process.Kill()
	<-p.end
}

func (p *person) ended() bool {
	select {
	case <-p.end:
		return true
	default:
		return false
	}
}

func (p *person) code() int {
	if exit := (*exec.ExitError)(nil); errors.As(p.err, &exit) {
		return exit.ExitCode()
	}
	return 0
}

func (c *chaos) link() *natstest.Proxy { return natstest.NewProxy(c.t, c.servers[0].Addr().String()) }

// worker starts one in place i.
func (c *chaos) worker(i int) {
	l := c.link()
	disk := 0
	if i < 2 && c.random.IntN(4) == 0 { // one machine stays able: where none is, a pause is right
		disk = 200 + c.random.IntN(1500)
	}
	c.started++
	home := fmt.Sprint("worker", c.started)
	env := []string(nil)
	if i == 0 && c.random.IntN(3) == 0 {
		c.note("worker %d has no grep", i)
		env = append(env, "PATH="+c.withoutGrep())
	}
	c.workers[i], c.links[i] = c.pawl(home, disk, env, "worker", "--nats", "nats://"+l.Addr(), "--slots", "2", "--name", home, "-m", "anthropic/claude-script"), l
}

// begin starts the coordinator, or another one that goes on.
func (c *chaos) begin() {
	if c.coordLink != nil {
		c.coordLink.Kill()
	}
	c.coordLink = c.link()
	args := []string{"--nats", "nats://" + c.coordLink.Addr(), "--workers", "6", "-m", "offline", "--max-tokens-total", c.budget()}
	if _, ok := c.swarm(); ok {
		args = append([]string{"swarm", "resume"}, args...)
	} else { // it died before it had a plan
		args = append([]string{"swarm", "run", filepath.Join(c.base, "graph.yaml")}, args...)
	}
	c.coordinator = c.pawl("coordinator", 0, nil, args...)
}

func (c *chaos) note(format string, args ...any) { c.did = append(c.did, fmt.Sprintf(format, args...)) }

// run runs until the swarm has ended, after one resume if it paused.
func (c *chaos) run() {
	var over context.Context
	over, c.over = context.WithCancel(context.Background())
	nc, err := nats.Connect(c.servers[0].ClientURL(), nats.MaxReconnects(-1), nats.Timeout(patient), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	must.Do(c.t, err)
	c.t.Cleanup(nc.Close)
	natstest.Double(c.t, over, nc, "pawl.main.*", &c.trouble, c.random.Uint64())
	c.workers, c.links = make([]*person, 3), make([]*natstest.Proxy, 3)
	c.begin()
	for i := range c.workers {
		c.worker(i)
	}
	at := time.NewTicker(time.Duration(150+c.random.IntN(600)) * time.Millisecond)
	defer at.Stop()
	for until := time.After(chaosEnd); ; {
		select {
		case <-c.coordinator.end:
			switch code := c.coordinator.code(); {
			case code == 0:
				c.settled()
				return
			case code == 9 && (c.poor || c.resumed == 0):
				if !c.poor {
					c.resumed++
				}
				c.note("it was resumed: %s", lastOf(c.coordinator.out))
				c.poor = false
				c.begin()
			case code == 3 && c.died < 6: // no server answered, or it has no leader yet
				c.died++
				c.note("coordinator gave up: %s", lastOf(c.coordinator.out))
				c.begin()
			default:
				c.fail("the coordinator ended with %d: %s", code, c.coordinator.out)
			}
		case <-at.C:
			if c.acts++; c.acts < mostActs { // then it must end by itself
				c.act()
			}
		case <-until:
			c.fail("it does not end: %s", c.coordinator.out)
		}
	}
}

func lastOf(b *bytes.Buffer) string {
	s := b.String()
	return s[max(0, len(s)-300):]
}

// act does one of what can go wrong, as the seed says.
func (c *chaos) act() {
	for i, w := range c.workers { // one that could not even start, or ended by itself
		if w.ended() && c.killed < 12 {
			c.killed++
			c.note("worker %d ended with %d: %s", i, w.code(), lastOf(w.out))
			c.worker(i)
		}
	}
	i := c.random.IntN(len(c.workers))
	switch k := c.random.IntN(38); {
	case k < 4:
		c.note("cut worker %d", i)
		c.links[i].Cut()
	case k < 8:
		c.links[i].Slow(time.Duration(c.random.IntN(300)) * time.Millisecond)
	case k == 8: // past the lease: of acknowledgements too
		c.note("slow worker %d", i)
		c.links[i].Slow(2 * chaosLease)
	case k == 9:
		c.note("cut coordinator")
		c.coordLink.Cut()
	case k == 10:
		c.coordLink.Slow(time.Duration(c.random.IntN(500)) * time.Millisecond)
	case k < 13 && c.killed < 3:
		c.killed++
		c.note("kill worker %d", i)
		c.workers[i].kill()
		c.links[i].Kill()
		c.worker(i)
	case k < 15 && c.died < 3:
		c.died++
		c.note("kill coordinator")
		c.coordinator.kill()
		c.begin()
	case k == 15 && len(c.servers) == 3 && !c.stopped: // the one with the proxies stays
		c.stopped = true
		c.note("stop a server")
		c.servers[1+c.random.IntN(2)].Shutdown()
	case k >= 30:
		c.more(k, i)
	}
}

// fail ends the run. What each process said, and where it is, is beside its home.
func (c *chaos) fail(format string, args ...any) {
	c.t.Helper()
	for _, w := range append(slices.Clone(c.workers), c.coordinator) {
		_ = w.cmd.Process.Signal(syscall.SIGQUIT) // its goroutines
		select {
		case <-w.end:
		case <-time.After(patient):
			w.kill()
		}
		_ = os.WriteFile(w.home+".log", w.out.Bytes(), 0o600)
	}
	c.t.Fatalf("seed %d: %s\n%s\n%s", c.seed, fmt.Sprintf(format, args...), strings.Join(c.did, "\n"), c.base)
}

// swarm reads the coordinator's log.
func (c *chaos) swarm() (s swarmState, ok bool) {
	path := filepath.Join(c.base, "coordinator", ".local", "state", "pawl", "pawl.db")
	if _, err := os.Stat(path); err != nil {
		return s, false
	}
	st, err := sqlite.Open(c.t.Context(), path, sqlite.Options{})
	if err != nil {
		c.fail("%v", err)
	}
	defer st.Close()
	rows, err := st.Sessions(c.t.Context(), "")
	if err != nil {
		c.fail("%v", err)
	}
	for _, r := range rows {
		s = swarmState{merged: map[string]int{}, id: r.ID}
		for e, err := range st.Read(c.t.Context(), r.ID, 0) {
			if err != nil {
				c.fail("%v", err)
			}
			s.apply(e)
		}
		if s.Len() > 0 {
			return s, true
		}
	}
	return s, false
}

// swarmState is what the log of a swarm says.
type swarmState struct {
	swarm.Schedule
	meter  budget.Meter
	beside side.Fold
	merged map[string]int
	id     string
}

func (s *swarmState) apply(e event.Event) {
	s.Schedule.Apply(e)
	s.meter.Apply(e)
	s.beside.Apply(e)
	if b, ok := e.Body.(event.TaskMerged); ok {
		s.merged[b.Task]++
	}
}

// settled looks at what is left when all is over.
func (c *chaos) settled() {
	s, ok := c.swarm()
	if !ok || s.Ended == nil || s.Ended.Outcome != event.SwarmVerified {
		c.fail("it ended as %+v", s.Ended)
	}
	shared := []string{}
	for _, p := range s.Tasks() {
		for _, f := range p.Failed {
			c.fail("%s lost a try: %s by %s: %s %v", p.ID, f.Outcome, f.Worker, f.Error, f.Checks)
		}
		if p.State != swarm.Merged || p.Resolves == "" && s.merged[p.ID] > 1 {
			c.fail("%s is %s, and was merged %d times", p.ID, p.State, s.merged[p.ID])
		}
		if p.Resolves == "" {
			if shares(p.ID) {
				shared = append(shared, p.ID)
			}
			c.holds(p.ID+".txt", "once\n", true)
		}
	}
	c.holds("kept.txt", "kept\n", true)
	text, _ := os.ReadFile(filepath.Join(c.dir, "shared.txt"))
	if lines := strings.Fields(string(text)); !slices.Equal(slices.Sorted(slices.Values(lines)), shared) {
		c.fail("shared.txt holds %q, not %q", lines, shared)
	}
	if left := s.beside.Lost(); len(left) > 0 {
		c.fail("%d reservations are open: %+v", len(left), left[0].Body)
	}
	spent, served := s.meter.Session(), c.served.Load()*tokensEach
	known := spent.Usage.Input + spent.Usage.CacheRead + spent.Usage.CacheWrite + spent.Usage.Output
	if spent.Tokens() < served || known > served || spent.Unknown == 0 && known*100 < served*99 {
		c.fail("%d tokens were served; %d are accounted for, of which %d are known, with %d requests of unknown cost", served, spent.Tokens(), known, spent.Unknown)
	}
	c.stop()
	c.gone()
	undo := c.pawl("coordinator", 0, nil, "undo", "-s", s.id) // by its name: clocks say what is newest
	<-undo.end
	if undo.code() != 0 {
		c.fail("undo: %s", undo.out)
	}
	for _, p := range s.Tasks() {
		c.holds(p.ID+".txt", "", false)
	}
	c.holds("shared.txt", "", false)
	c.holds("kept.txt", "kept\n", true)
}

// holds looks whether a file of the person is there with a text, or is not there.
func (c *chaos) holds(name, text string, there bool) {
	got, err := os.ReadFile(filepath.Join(c.dir, name))
	if there && (err != nil || string(got) != text) || !there && !errors.Is(err, fs.ErrNotExist) {
		c.fail("%s holds %q, %v", name, got, err)
	}
}

// stop ends what runs: politely first, as a person does.
func (c *chaos) stop() {
	if c.over == nil {
		return
	}
	c.over()
	c.over = nil
	c.trouble.Wait()
	all := slices.DeleteFunc(append(slices.Clone(c.workers), c.coordinator), func(p *person) bool { return p == nil })
	for _, w := range all {
		_ = w.cmd.Process.Signal(os.Interrupt)
	}
	late := time.After(patient)
	for _, w := range all {
		select {
		case <-w.end:
		case <-late:
			_ = w.cmd.Process.Signal(syscall.SIGQUIT) // its goroutines
			select {
			case <-w.end:
			case <-time.After(patient):
				w.kill()
			}
			c.t.Errorf("seed %d: %s did not end when it was told to: %s", c.seed, w.home, w.out)
		}
	}
}

// gone looks whether a process works in one of our folders still.
func (c *chaos) gone() {
	var left []string
	for until := time.Now().Add(patient); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		left = left[:0]
		all, _ := filepath.Glob("/proc/[0-9]*")
		for _, p := range all {
			if dir, err := os.Readlink(filepath.Join(p, "cwd")); err == nil && strings.HasPrefix(dir, c.base) {
				line, _ := os.ReadFile(filepath.Join(p, "cmdline"))
				left = append(left, strings.ReplaceAll(string(line), "\x00", " "))
			}
		}
		if len(left) == 0 {
			return
		}
	}
	c.fail("processes are left: %q", left)
}
