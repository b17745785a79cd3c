package line

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/golden"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/session/sessiontest"
	"github.com/pawl-agent/pawl/internal/engine/verify"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// shown compares what a person saw with testdata/NAME.golden.
func shown(t *testing.T, name, got string) {
	t.Helper()
	got = regexp.MustCompile(`(exit code \d+), [0-9.]+(ms|s)\b`).ReplaceAllString(got, "$1, SOON")
	got = regexp.MustCompile(`(?m) \d+\.\d s$`).ReplaceAllString(got, "")        // a loaded machine
	got = regexp.MustCompile(`\b\d+ events\b`).ReplaceAllString(got, "N events") // one may still be on its way
	golden.File(t, filepath.Join("testdata", name+".golden"), got)
}

// paper is a terminal that keeps what was written. When a text appears, what
// was set for it is done.
type paper struct {
	mu   sync.Mutex
	text bytes.Buffer
	when []trigger
}

type trigger struct {
	text string
	do   func()
}

func (p *paper) Write(b []byte) (int, error) {
	p.mu.Lock()
	p.text.Write(b)
	var do []func()
	for i := 0; i < len(p.when); {
		if strings.Contains(p.text.String(), p.when[i].text) {
			do = append(do, p.when[i].do)
			p.when = append(p.when[:i], p.when[i+1:]...)
			continue
		}
		i++
	}
	p.mu.Unlock()
	for _, f := range do {
		f()
	}
	return len(b), nil
}

func (p *paper) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// on does something once, when text appears.
func (p *paper) on(text string, do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.when = append(p.when, trigger{text, do})
}

// key is what a person does at a prompt.
type key struct {
	text string
	err  error
	hold bool // nothing is entered, ever
}

func keysOf(lines ...string) []key {
	var out []key
	for _, l := range lines {
		out = append(out, key{text: l})
	}
	return out
}

// interrupt is Ctrl+C with that text in the input.
func interrupt(text string) key { return key{text: text, err: ErrInterrupt} }

// typist is an Input that follows a script and then ends.
type typist struct {
	out     io.Writer
	mu      sync.Mutex
	keys    []key
	dropped int
	yield   chan struct{} // capacity 1
}

func (p *typist) Yield() {
	select {
	case p.yield <- struct{}{}:
	default:
	}
}

func (p *typist) Line(prompt string) (string, error) {
	p.mu.Lock()
	k := key{err: io.EOF}
	if len(p.keys) > 0 {
		k, p.keys = p.keys[0], p.keys[1:]
	}
	p.mu.Unlock()
	fmt.Fprint(p.out, prompt)
	if k.hold {
		<-p.yield
		p.mu.Lock()
		p.keys = append([]key{k}, p.keys...)
		p.mu.Unlock()
		fmt.Fprintln(p.out)
		return "", ErrYield
	}
	switch k.err {
	case ErrInterrupt:
		fmt.Fprintln(p.out, k.text+"^C")
	case io.EOF:
		fmt.Fprintln(p.out, "^D")
	default:
		fmt.Fprintln(p.out, k.text)
	}
	return k.text, k.err
}

func (p *typist) Answer(prompt string) (string, error) { return p.Line(prompt) }

func (p *typist) Ahead(func(string) bool) (stop func()) { return func() {} }

func (p *typist) Prefill(string) bool { return false }

func (p *typist) Drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropped++
}

// testConversation is a conversation over real sessions, real files and a scripted model.
type testConversation struct {
	t       *testing.T
	dir     string
	paper   *paper
	typist  *typist
	store   event.Store
	model   *llmtest.Model
	signals chan string
	closed  []string // sessions that were closed
	now     time.Time
	step    time.Duration // that the clock goes on at each look
	mode    string
	opened  int
	mu      sync.Mutex
	extra   []tool.Tool
	theme   plain.Theme
	fixer   func() verify.Verifier
}

func newTestConversation(t *testing.T, m *llmtest.Model, keys ...key) *testConversation {
	t.Helper()
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	p := &paper{}
	r := &testConversation{
		t: t, dir: dir, paper: p, typist: &typist{out: p, keys: keys, yield: make(chan struct{}, 1)}, model: m, signals: make(chan string, 8),
		now: time.Date(2026, 1, 2, 3, 4, 0, 0, time.Local), step: time.Second, mode: "ask",
	}
	r.store = memory.New(r.still)
	return r
}

func (r *testConversation) clock() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = r.now.Add(r.step)
	return r.now
}

// still is a clock that stands: what a call took is not what is tested.
func (r *testConversation) still() time.Time { return time.Date(2026, 1, 2, 3, 4, 0, 0, time.Local) }

func (r *testConversation) put(name, text string) {
	r.t.Helper()
	must.Write(r.t, filepath.Join(r.dir, name), text)
}

func (r *testConversation) file(name string) string {
	b, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		return "error: " + err.Error()
	}
	return string(b)
}

// open opens a session as the command line does.
func (r *testConversation) open(ctx context.Context, w slash.Want, _ chat.Person) (*chat.Opened, error) {
	r.opened++
	id := fmt.Sprint("s", r.opened)
	if w.Resume != "" {
		row, err := r.store.Session(ctx, w.Resume)
		if err != nil {
			return nil, err
		}
		at := row.Last
		if w.At > 0 {
			at = w.At
		}
		if !w.Fork {
			id = row.ID
		} else if err := r.store.Fork(ctx, event.Origin{Session: row.ID, At: at}, id); err != nil {
			return nil, err
		}
	}
	mode, err := permission.ParseMode(r.mode)
	if err != nil {
		return nil, err
	}
	cfg := sessiontest.Config(r.t, r.dir, r.model, nil)
	cfg.Store, cfg.ID, cfg.Frontend, cfg.System, cfg.Person, cfg.Now, cfg.Autofix = r.store, id, "line", "be good", true, r.still, r.fixer
	cfg.OpenModel = func(ref, _ string) (llm.Model, error) {
		m := llmtest.New()
		m.InfoValue.Model = ref
		return m, nil
	}
	cfg.Tools = append(tool.Set{tools.Read(), tools.Edit(), tools.Write(), tools.Bash(), tools.Todo(), tools.AskUser()}, r.extra...)
	cfg.Permission = permission.New(permission.Config{Mode: mode, Root: r.dir, Home: "/home/nobody"})
	s, err := session.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &chat.Opened{Session: s, Close: func() {
		_ = s.Close()
		r.mu.Lock()
		r.closed = append(r.closed, id)
		r.mu.Unlock()
	}}, nil
}

func (r *testConversation) config() Config {
	return Config{
		In: r.typist, Out: r.paper, Signals: r.signals, Theme: r.theme,
		Config: chat.Config{
			Open: r.open, Now: r.clock,
			Sessions: func(ctx context.Context) ([]event.Row, error) { return r.store.Sessions(ctx, r.dir) },
			Pawl: func(_ context.Context, out io.Writer, args ...string) error {
				_, err := fmt.Fprintln(out, "scripted/script")
				return err
			},
			Rules: func() []string { return []string{"allow bash(ls *)", "deny bash(\x1b[31mrm *)"} },
		},
	}
}

// run runs the conversation and returns what was printed.
func (r *testConversation) run() (Exit, string) {
	r.t.Helper()
	exit, err := Run(r.t.Context(), r.config(), slash.Want{})
	if err != nil {
		r.t.Errorf("the conversation ended in %v; seen:\n%s", err, r.paper)
	}
	return exit, r.paper.String()
}

// events are all of a session's, of one kind.
func events[B event.Body](r *testConversation, id string) []B {
	r.t.Helper()
	var out []B
	for e, err := range r.store.Read(context.Background(), id, 0) {
		must.Do(r.t, err)
		if b, ok := e.Body.(B); ok {
			out = append(out, b)
		}
	}
	return out
}

// safe fails the test where a terminal would obey something.
func safe(t *testing.T, seen string) {
	t.Helper()
	for i, c := range seen {
		if c < ' ' && c != '\n' && c != '\t' || c >= 0x7f && c < 0xa0 || c >= 0x202a && c <= 0x202e || c >= 0x2066 && c <= 0x2069 {
			t.Errorf("%q reached the terminal in %q", c, seen[max(0, i-40):min(len(seen), i+40)])
		}
	}
}

// seen is a view over events.
type seen struct {
	*view
	timeline chat.Timeline
}

func newSeen(out io.Writer, columns func() int) *seen {
	return &seen{view: newView(out, columns)}
}

func (s *seen) show(e event.Event) {
	for _, c := range s.timeline.Apply(e) {
		s.draw(c)
	}
}
