package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/sqlite"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
)

// mark is what each call of the task has of its own: the number of the call
// replaces the zeros.
const mark = "tok00000"

// task is one call each of what a coding task does.
var task = []struct{ tool, args string }{
	{"bash", `{"command":"echo step tok00000"}`},
	{"read", `{"files":[{"path":"src/main.go"}]}`},
	{"bash", `{"command":"cd src && ls -la | sort | head -5 && echo tok00000"}`},
	{"write", `{"path":"src/tok00000.txt","content":"first\nsecond tok00000\nthird\n"}`},
	{"bash", `{"command":"grep -rn tok00000 src | wc -l; false"}`},
	{"edit", `{"path":"src/tok00000.txt","old":"first","new":"last"}`},
	{"bash", `{"command":"for i in 1 2 3; do echo \"tok00000 $i\"; done 2>&1 | tee out.log | tail -2"}`},
	{"bash", `{"command":"sh ./check.sh tok00000"}`},
}

// machine is a home, a workspace, a pawl and a model.
type machine struct {
	bin, work, home string
	web             *httptest.Server

	mu      sync.Mutex
	arrived time.Time // of the first request since it was cleared
	calls   int       // that the task still has
	said    int
}

func newMachine(dir, built string) (*machine, error) {
	m := &machine{bin: built, work: filepath.Join(dir, "work"), home: filepath.Join(dir, "home")}
	if built == "" {
		m.bin = filepath.Join(dir, "pawl")
		if out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", m.bin, "./cmd/pawl").CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build: %w\n%s", err, out)
		}
	}
	for _, d := range []string{filepath.Join(m.work, "src"), m.home} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	for name, text := range map[string]string{
		"src/main.go": "package main\n\n" + strings.Repeat("// a line of a comment\n", 60) + "func main() {}\n",
		"check.sh":    "echo ok $1\n",
	} {
		if err := os.WriteFile(filepath.Join(m.work, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	m.web = httptest.NewServer(&llmtest.Server{Reply: func(int, []byte) llmtest.Turn { return m.reply() }})
	return m, nil
}

// reply is the model's next answer: a call of the task, or the end of the turn.
func (m *machine) reply() llmtest.Turn {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.arrived.IsZero() {
		m.arrived = time.Now()
	}
	if m.said >= m.calls {
		return llmtest.Say("done")
	}
	c := task[m.said%len(task)]
	t := llmtest.Use(c.tool, c.args)
	t.Text = "Next is " + mark + "."
	t.Calls[0].ID = "toolu_" + mark
	m.said++
	return t
}

// pawl runs it until its first request, and on to its end.
func (m *machine) pawl(calls int, args ...string) (first time.Duration, err error) {
	m.mu.Lock()
	m.arrived, m.calls, m.said = time.Time{}, calls, 0
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, m.bin, append([]string{"run", "-m", "anthropic/claude-bench", "--permission-mode", "yolo", "--sandbox", "off"}, args...)...)
	cmd.Dir = m.work
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + m.home, "ANTHROPIC_API_KEY=bench-key", "ANTHROPIC_BASE_URL=" + m.web.URL}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("pawl: %w\n%s", err, out.String())
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.arrived.Sub(began), nil
}

// task lets pawl work, and returns the session.
func (m *machine) task(calls int) (id string, err error) {
	if _, err := m.pawl(calls, "work"); err != nil {
		return "", err
	}
	st, err := sqlite.Open(context.Background(), m.log(), sqlite.Options{})
	if err != nil {
		return "", err
	}
	defer st.Close()
	rows, err := st.Sessions(context.Background(), "")
	if err != nil {
		return "", err
	}
	if len(rows) != 1 {
		return "", fmt.Errorf("%d sessions", len(rows))
	}
	return rows[0].ID, nil
}

// resume takes a session up and returns the time to the first request.
func (m *machine) resume(id string) (time.Duration, error) { return m.pawl(0, "--resume", id, "go on") }

// grow makes a session of many calls of the events of one with few.
func (m *machine) grow(from string, calls int) (id string, events int, err error) {
	ctx := context.Background()
	st, err := sqlite.Open(ctx, m.log(), sqlite.Options{})
	if err != nil {
		return "", 0, err
	}
	defer st.Close()
	var steps [][]event.Draft // each from its request on; the first is what comes before
	steps = append(steps, nil)
	for e, err := range st.Read(ctx, from, 0) {
		if err != nil {
			return "", 0, err
		}
		if _, ok := e.Body.(event.Requested); ok {
			steps = append(steps, nil)
		}
		steps[len(steps)-1] = append(steps[len(steps)-1], event.Draft{Cause: e.Cause, Body: e.Body})
	}
	if len(steps) < len(task)+3 {
		return "", 0, errors.New("the task's log is too short")
	}
	id = "grown00000000000"
	last := int64(0)
	add := func(ds []event.Draft) error {
		es, err := st.Append(ctx, id, last, ds...)
		if err == nil {
			last = es[len(es)-1].Seq
		}
		return err
	}
	batch := steps[0]
	for i := range calls {
		if i%compactEach == compactEach-1 {
			batch = append(batch, compaction(steps[0])...)
		}
		step := steps[1+i%len(task)]
		if i >= len(task) && i%len(task) < 2 { // the first ones have what only a first call has
			step = steps[1+len(task)+i%len(task)]
		}
		for _, d := range step {
			b, err := renamed(d.Body, fmt.Sprintf("tok%05d", i))
			if err != nil {
				return "", 0, err
			}
			batch = append(batch, event.Draft{Cause: d.Cause, Body: b})
		}
		if len(batch) >= 2000 {
			if err := add(batch); err != nil {
				return "", 0, err
			}
			batch = nil
		}
	}
	return id, int(last) + len(batch) + len(steps[len(steps)-1]), add(append(batch, steps[len(steps)-1]...))
}

// compactEach is after how many calls the conversation is made shorter: what a
// window of 200,000 tokens comes to.
const compactEach = 1000

// compaction is what is recorded then: the newest messages stay.
func compaction(head []event.Draft) (ds []event.Draft) {
	text := "[The beginning of the conversation was replaced.] " + strings.Repeat("What was done is in src. ", 200)
	ds = append(ds, event.Draft{Body: event.Compacted{
		Why: "full", By: "ledger", Older: 2*compactEach - 20, Before: 170_000, After: 4_000, Summary: text,
		Start: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.TextPart(text)}}},
	}})
	for _, d := range head {
		if b, ok := d.Body.(event.Rebased); ok {
			b.Why = "compaction"
			return append(ds, event.Draft{Body: b})
		}
	}
	return ds
}

// renamed returns b with the call's mark replaced by to.
func renamed(b event.Body, to string) (event.Body, error) {
	raw, err := event.Encode(b)
	if err != nil || !bytes.Contains(raw, []byte(mark)) {
		return b, err
	}
	return event.Decode(b.Kind(), event.VersionOf(b), bytes.ReplaceAll(raw, []byte(mark), []byte(to)))
}
