// Command ratio compares a swarm of real processes with the ideal.
//
//	go run ./bench/ratio [-nats 4] [-cap 2] [-graph wide|diamond|mixed|chain|append] [-workers 16] [-tasks 60] [-replies 4] PAWL
//
// PAWL runs a swarm against a model that answers after 300 to 2,000 ms. The ideal is what
// the same answers take when each worker begins its next task at once and nothing else
// takes time. -nats starts a server and that many machines, which share the workers.
// -cap runs the swarm twice; the second time it may spend that many times what the first
// one cost. The graph append is 20 tasks that change one file, with one worker and with
// all: its figure is the requests. -mb adds that many files of 1 MB, runs the swarm twice
// in the same folder, and prints what the machines say about fetching them.
//
// It prints a line for each swarm. The figures hold on a machine with nothing else to do.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/nats/natstest"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
)

// usd is the price of a reply: 3,000 tokens in and 200 out of the model in model.
const (
	model = "anthropic/claude-sonnet-4-5"
	usd   = 3000*3e-6 + 200*15e-6
)

// bench is what the flags say.
type bench struct {
	pawl, graph    string
	nats, workers  int
	tasks, replies int
	mb             int
	spend          float64

	dir      string
	server   *httptest.Server // the model
	queue    string           // the address of the NATS server
	machines []*exec.Cmd
	requests atomic.Int64 // of the swarm
	began    atomic.Int64 // when the swarm began, in ns
}

func main() {
	var b bench
	flag.StringVar(&b.graph, "graph", "wide", "wide, diamond, mixed, chain or append")
	flag.IntVar(&b.nats, "nats", 0, "machines that work over NATS; 0 works in one process")
	flag.IntVar(&b.workers, "workers", 16, "workers, of all machines together")
	flag.IntVar(&b.tasks, "tasks", 60, "tasks")
	flag.IntVar(&b.replies, "replies", 4, "replies of a task")
	flag.IntVar(&b.mb, "mb", 0, "files of 1 MB that cannot be compressed, in the project")
	flag.Float64Var(&b.spend, "cap", 0, "what the second swarm may spend, in costs of the first")
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	var err error
	if b.pawl, err = filepath.Abs(flag.Arg(0)); err == nil {
		err = b.run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ratio:", err)
		os.Exit(1)
	}
}

func (b *bench) run() (err error) {
	if b.dir, err = os.MkdirTemp("", "pawl-ratio-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	b.server = httptest.NewServer(&llmtest.Server{Reply: b.reply})
	defer b.server.Close()
	if b.graph == "append" {
		if err := b.swarm("1 worker", 1); err != nil {
			return err
		}
		return b.swarm(fmt.Sprint(b.workers, " workers"), b.workers)
	}
	if b.nats > 0 {
		defer b.stop()
		if err := b.start(); err != nil {
			return err
		}
	}
	if err := b.swarm("no cap", b.workers); err != nil || b.spend == 0 && b.mb == 0 {
		return err
	}
	if b.mb > 0 {
		return b.swarm("again", b.workers)
	}
	most := b.spend * usd * float64(b.requests.Load())
	return b.swarm(fmt.Sprintf("cap $%.2f", most), b.workers, "--max-budget-usd", fmt.Sprintf("%.2f", most))
}

var task = regexp.MustCompile(`write (t[0-9]+)\.txt`)

// reply is the model: a command in each reply but the last.
func (b *bench) reply(_ int, body []byte) llmtest.Turn {
	b.requests.Add(1)
	id := "t000"
	if m := task.FindSubmatch(body); m != nil {
		id = string(m[1])
	}
	n := bytes.Count(body, []byte(`"tool_result"`))
	time.Sleep(delay(id, n))
	t := llmtest.Say("done")
	if n < b.replies-1 {
		line := fmt.Sprintf("echo %d >> %s.txt", n, id)
		if n == 0 && b.graph == "append" {
			line += fmt.Sprintf("; echo %s >> shared.txt", id)
		}
		t = llmtest.Use("bash", fmt.Sprintf(`{"command":%q}`, line))
	}
	t.Usage = llm.Usage{Known: true, Input: 3000, Output: 200}
	return t
}

// delay is how long the model takes for reply n of a task.
func delay(id string, n int) time.Duration {
	h := fnv.New32a()
	fmt.Fprintf(h, "%s/%d", id, n)
	return 300*time.Millisecond + time.Duration(h.Sum32()%1700)*time.Millisecond
}

func name(i int) string { return fmt.Sprintf("t%03d", i) }

// after are the tasks that task i waits for.
func (b *bench) after(i int) (all []int) {
	switch b.graph {
	case "chain":
		if i > 0 {
			return []int{i - 1}
		}
	case "diamond": // one, many, one, many, ...
		width := 20
		switch {
		case i == 0:
		case i%width == 0:
			for k := i - width + 1; k < i; k++ {
				all = append(all, k)
			}
		default:
			return []int{i - i%width}
		}
	case "mixed": // a third is a chain beside what is free
		if i%3 == 0 && i > 0 && i < b.tasks/2 {
			return []int{i - 3}
		}
	}
	return all
}

// ideal is how long the tasks take when a free worker begins the first task that is ready.
func (b *bench) ideal(workers int) time.Duration {
	free := make([]time.Duration, workers)
	done := map[int]time.Duration{}
	for len(done) < b.tasks {
		w := 0
		for k := range free {
			if free[k] < free[w] {
				w = k
			}
		}
		pick, at := -1, time.Duration(1<<62)
		for i := range b.tasks {
			if _, ok := done[i]; ok {
				continue
			}
			ready, ok := free[w], true
			for _, k := range b.after(i) {
				end, ended := done[k]
				ready, ok = max(ready, end), ok && ended
			}
			if ok && ready < at {
				pick, at = i, ready
			}
		}
		for n := range b.replies {
			at += delay(name(pick), n)
		}
		free[w], done[pick] = at, at
	}
	all := time.Duration(0)
	for _, end := range done {
		all = max(all, end)
	}
	return all
}

func (b *bench) command(home string, args ...string) (*exec.Cmd, error) {
	home = filepath.Join(b.dir, home)
	c := exec.Command(b.pawl, args...)
	c.Env = append(os.Environ(), "HOME="+home, "XDG_DATA_HOME=", "XDG_STATE_HOME=", "XDG_CONFIG_HOME=", "XDG_CACHE_HOME=",
		"ANTHROPIC_API_KEY=none", "ANTHROPIC_BASE_URL="+b.server.URL)
	return c, os.MkdirAll(home, 0o700)
}

// seconds is how long the swarm has been running.
func (b *bench) seconds() float64 { return time.Since(time.Unix(0, b.began.Load())).Seconds() }

// start starts a server and the machines.
func (b *bench) start() error {
	s, err := natstest.New(filepath.Join(b.dir, "nats"))
	if err != nil {
		return err
	}
	if !s.ReadyForConnections(time.Minute) {
		return errors.New("the NATS server is not ready")
	}
	b.queue = s.ClientURL()
	b.began.Store(time.Now().UnixNano())
	for i := range b.nats {
		m, err := b.command(fmt.Sprint("machine", i), "worker", "--nats", b.queue, "--slots", fmt.Sprint(b.workers/b.nats), "-m", model)
		if err != nil {
			return err
		}
		said, err := m.StderrPipe()
		if err != nil {
			return err
		}
		if err := m.Start(); err != nil {
			return err
		}
		b.machines = append(b.machines, m)
		lines := bufio.NewScanner(said)
		if !lines.Scan() { // its first words: it is ready
			return fmt.Errorf("a worker does not start: %w", lines.Err())
		}
		go func() {
			for lines.Scan() {
				if b.mb > 0 {
					fmt.Printf("%.1f s, machine %d: %s\n", b.seconds(), i, lines.Text())
				}
			}
		}()
	}
	return nil
}

func (b *bench) stop() {
	for _, m := range b.machines {
		m.Process.Signal(os.Interrupt)
		m.Wait()
	}
}

// swarm runs one and prints its figures.
func (b *bench) swarm(what string, workers int, flags ...string) error {
	requests := b.requests.Swap(0)
	if b.mb > 0 {
		requests = 0 // the same folder again
	}
	dir := filepath.Join(b.dir, fmt.Sprintf("project%d", requests))
	if err := b.fill(filepath.Join(dir, "big")); err != nil {
		return err
	}
	if b.graph == "append" {
		b.tasks = 20
	}
	var g strings.Builder
	g.WriteString("goal: write files\ntasks:\n")
	for i := range b.tasks {
		fmt.Fprintf(&g, "- {id: %s, goal: write %[1]s.txt, accept: [test -e %[1]s.txt]", name(i))
		if all := b.after(i); len(all) > 0 {
			g.WriteString(", after: [")
			for k, of := range all {
				fmt.Fprintf(&g, "%s%s", strings.Repeat(", ", min(k, 1)), name(of))
			}
			g.WriteString("]")
		}
		g.WriteString("}\n")
	}
	graph := filepath.Join(b.dir, "graph.yaml")
	if err := os.WriteFile(graph, []byte(g.String()), 0o600); err != nil {
		return err
	}
	for _, line := range []string{
		"init -q", "-c core.compression=0 add -A", "-c user.name=p -c user.email=p@p commit -q --allow-empty -m begin",
		"-c pack.compression=0 repack -adq --window=0", // as a clone has it
	} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, strings.Fields(line)...)...).CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", line, err, out)
		}
	}
	args := append([]string{"swarm", "run", graph, "--workers", fmt.Sprint(workers), "--trust", "--permission-mode", "auto", "-m", model}, flags...)
	if b.nats > 0 {
		args = append(args, "--nats", b.queue)
	}
	c, err := b.command("coordinator", args...)
	if err != nil {
		return err
	}
	c.Dir = dir
	b.began.Store(time.Now().UnixNano())
	out, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out[max(0, len(out)-2000):])
	}
	took, ideal := b.seconds(), b.ideal(workers).Seconds()
	cpu := (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
	fmt.Printf("%s, %s: %.2f s, ideal %.2f s, ratio %.3f; %d requests, %.1f s of CPU in the coordinator\n",
		b.graph, what, took, ideal, took/ideal, b.requests.Load(), cpu)
	return nil
}

// fill writes the large files of a project.
func (b *bench) fill(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	random := rand.NewChaCha8([32]byte{})
	text := make([]byte, 1<<20)
	for i := range b.mb {
		random.Read(text)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}
