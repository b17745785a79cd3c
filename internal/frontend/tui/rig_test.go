package tui

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/session/sessiontest"
	"github.com/pawl-agent/pawl/internal/frontend/attach"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/frontend/styled"
	"github.com/pawl-agent/pawl/internal/frontend/tui/emulator"
	"github.com/pawl-agent/pawl/internal/frontend/tui/keys"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// patient is how long a test waits for what must come: far longer than it takes on
// the slowest machine.
const patient = 3 * time.Minute

// testScreen is a screen on a terminal in memory over real sessions, real files and a
// scripted model.
type testScreen struct {
	dropped   func(string) (*Picture, error)
	clipboard func(context.Context) (*Picture, error)
	before    func(context.Context, chat.Person) error // before a session is opened

	t       testing.TB
	dir     string
	mode    string
	model   *llmtest.Model
	store   event.Store
	first   string
	live    string        // the folder in which others attach, "" for none
	owner   *attach.Owner // the session is another screen's
	theme   styled.Theme
	width   int
	opened  int
	steers  bool
	vi      bool
	asks    bool       // the terminal what it can do
	sudden  func() int // another width just before a frame is written, 0 for none
	recent  int64      // how many events of a session are shown that is opened again, 0: all
	ended   chan struct{}
	symbols tool.Symbols
	opening sync.Mutex // held while a session is opened
	over    bool
	swarm   func(by string) // an interrupt of the swarm that runs in the session, nil for none
	talk    *chat.Conversation
	session *session.Session
	own     func(context.Context, []byte) string // the person's status line

	mu     sync.Mutex
	term   *emulator.Terminal
	wrote  chan struct{}
	events chan any
	exit   chan Exit
	clock  clock
	stop   context.CancelFunc
}

// clock is a clock that jumps to whatever is waited for; one that stands goes on
// only by hand.
type clock struct {
	mu     sync.Mutex
	now    time.Time
	stands bool
	waits  []chan time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// stand makes it stand from now on.
func (c *clock) stand() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stands = true
}

func (c *clock) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(chan time.Time, 1)
	if !c.stands || d <= frameTime {
		if !c.stands {
			c.now = c.now.Add(d)
		}
		out <- c.now
	} else {
		c.waits = append(c.waits, out)
	}
	return out
}

// release lets all that is waited for come.
func (c *clock) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.waits {
		w <- c.now
	}
	c.waits = nil
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newTestScreen(t testing.TB, m *llmtest.Model) *testScreen {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	r := &testScreen{
		t: t, dir: dir, mode: "ask", model: m, width: 80, theme: styled.Plain,
		wrote: make(chan struct{}, 1), events: make(chan any), exit: make(chan Exit, 1),
		clock: clock{now: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)},
	}
	r.store = memory.New(r.still)
	return r
}

// still is a clock that stands: what a call took is not what is tested.
func (r *testScreen) still() time.Time { return time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC) }

// Write is the terminal.
func (r *testScreen) Write(p []byte) (int, error) {
	r.mu.Lock()
	n, err := r.term.Write(p)
	r.mu.Unlock()
	select {
	case r.wrote <- struct{}{}:
	default:
	}
	return n, err
}

// WriteFor is a terminal whose window may change at any moment.
func (r *testScreen) WriteFor(width int, p []byte) (int, error) {
	r.mu.Lock()
	if r.sudden != nil { // the event comes later
		if w := r.sudden(); w > 0 {
			r.term.Resize(w, r.term.Height())
			go r.resized(w, r.term.Height())
		}
	}
	now := r.term.Width()
	if now == width {
		_, _ = r.term.Write(p)
	}
	r.mu.Unlock()
	select {
	case r.wrote <- struct{}{}:
	default:
	}
	return now, nil
}

func (r *testScreen) open(ctx context.Context, w slash.Want, person chat.Person) (*chat.Opened, error) {
	r.opening.Lock()
	defer r.opening.Unlock()
	if r.over {
		return nil, context.Canceled
	}
	if r.owner != nil {
		return r.follow(ctx)
	}
	if r.before != nil {
		if err := r.before(ctx, person); err != nil {
			return nil, err
		}
	}
	r.opened++
	id := fmt.Sprint("s", r.opened)
	if w.Resume != "" {
		id = w.Resume
	}
	mode, err := permission.ParseMode(r.mode)
	if err != nil {
		return nil, err
	}
	cfg := sessiontest.Config(r.t, r.dir, r.model, nil)
	cfg.Store, cfg.ID, cfg.Frontend, cfg.System, cfg.Person, cfg.Now, cfg.Symbols = r.store, id, "screen", "be good", true, r.still, r.symbols
	cfg.Tools = tool.Set{tools.Read(), tools.Edit(), tools.Write(), tools.Bash(), tools.BashOutput(), tools.Todo(), tools.AskUser()}
	cfg.Permission = allowing(permission.Config{Mode: mode, Root: r.dir, Home: "/home/nobody"})
	s, err := session.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	stop := func() {}
	if r.live != "" {
		if stop, err = attach.Serve(r.live, "test", s, func(int) (bool, error) { return false, nil }); err != nil {
			return nil, err
		}
	}
	r.session = s
	var own *chat.Attached
	if r.swarm != nil {
		own = &chat.Attached{Interrupt: r.swarm, Over: func() (string, string) { return "it is over", "" }}
	}
	return &chat.Opened{Session: s, Attached: own, StatusLine: r.own, ResumeCommand: "pawl --resume " + id, Close: func() {
		_ = s.Close()
		stop()
	}}, nil
}

// beside is a screen that is attached to the session of this one.
func (r *testScreen) beside(steer bool, sudden func() int) *testScreen {
	r.t.Helper()
	w := newTestScreen(r.t, llmtest.New())
	w.dir, w.store, w.width, w.steers, w.sudden = r.dir, r.store, r.width, steer, sudden
	var err error
	if w.owner, err = attach.Dial(r.t.Context(), r.live, "s1", steer); err != nil {
		r.t.Fatal(err)
	}
	w.start("")
	return w
}

// follow opens the session of another screen.
func (r *testScreen) follow(ctx context.Context) (*chat.Opened, error) {
	cfg := sessiontest.Config(r.t, r.dir, r.model, nil)
	cfg.Store, cfg.Owner, cfg.Person, cfg.Now, cfg.NewID = r.store, r.owner, true, r.still, func() string { return "w" }
	s, err := session.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	a := &chat.Attached{Steers: r.steers, Over: func() (string, string) { return "it is over", "pawl --resume s1" }}
	return &chat.Opened{Session: s, Attached: a, ResumeCommand: "pawl attach s1", Close: func() { _ = s.Close() }}, nil
}

// start opens the screen, on a session of before where one is named.
func (r *testScreen) start(resume string) {
	r.t.Helper()
	r.term = emulator.New(r.width, 24)
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	done := make(chan struct{})
	r.ended = done
	ids := ""
	if r.owner != nil {
		ids = "w-"
	}
	talk := chat.Begin(ctx, chat.Config{CanPick: true, IDs: ids, Open: r.open, Now: r.clock.Now, Recent: r.recent, Rules: func() []string { return nil }, Sessions: twoSessions, About: func(context.Context, event.Row) (string, string) {
		return "main, done, $0.12", "> mend it\nIt is mended."
	}, Settings: r.settings, Pawl: r.pawl}, slash.Want{Resume: resume})
	r.talk = talk
	go func() {
		defer close(done)
		exit, err := Run(ctx, Config{
			Conversation: talk, Out: r, Events: r.events, Width: r.width, Height: 24, Theme: r.theme, Calm: true, Vi: r.vi, Probe: r.asks,
			FirstPrompt: r.first, Now: r.clock.Now, After: r.clock.After, Folder: "project", Dir: r.dir, Version: "test",
			Dropped: r.dropped, Clipboard: r.clipboard,
			Release: func(do func() error) error { return do() },
			Edit: func(text string) (string, error) {
				fmt.Fprint(r, "an editor\r\n")
				return text + " edited\n", nil
			},
			Files: func(begin string) []string {
				if strings.HasPrefix("calc.go", begin) {
					return []string{"calc.go"}
				}
				return nil
			},
		})
		if err != nil && ctx.Err() == nil {
			r.t.Errorf("the screen ended in %v", err)
		}
		talk.Close()
		r.exit <- exit
	}()
	r.t.Cleanup(func() {
		stop()
		<-done
		r.opening.Lock() // nothing is opened once the test is over
		r.over = true
		r.opening.Unlock()
		if err := r.term.Err(); err != nil {
			r.t.Errorf("the terminal: %v", err)
		}
	})
}

func (r *testScreen) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.term.Text()
}

func (r *testScreen) screen() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.term.Screen()
}

// until waits until what is seen is so.
func (r *testScreen) until(what string, is func(text string) bool) {
	r.t.Helper()
	late := time.After(patient)
	for !is(r.text()) {
		select {
		case <-r.wrote:
		case <-late:
			r.t.Fatalf("%s: it does not come to that; seen:\n%s", what, r.text())
		}
	}
}

// see waits for a text.
func (r *testScreen) see(text string) {
	r.t.Helper()
	r.until(text, func(seen string) bool { return strings.Contains(seen, text) })
}

// rest waits for the end of what runs.
func (r *testScreen) rest(turns int) {
	r.t.Helper()
	r.until("rest", func(seen string) bool {
		return strings.Count(seen, "model repl") >= turns && !strings.Contains(r.screen(), "esc interrupts")
	})
}

func (r *testScreen) send(e any) {
	r.t.Helper()
	select {
	case r.events <- e:
	case <-time.After(patient):
		r.t.Fatalf("nobody takes %v; seen:\n%s", e, r.text())
	}
}

// press presses keys by name.
func (r *testScreen) press(names ...string) {
	r.t.Helper()
	for _, n := range names {
		k := keys.Press{Name: n}
		if len([]rune(n)) == 1 {
			k.Text = n
		}
		r.send(k)
	}
}

// pass lets time pass once all that was sent is dealt with: the screen takes the
// next thing only then.
func (r *testScreen) pass(d time.Duration) {
	r.t.Helper()
	r.send(keys.Focus{In: true})
	r.clock.pass(d)
}

// say types a text.
func (r *testScreen) say(text string) {
	r.t.Helper()
	for _, c := range text {
		r.press(string(c))
	}
}

// begin starts, and enters a prompt.
func (r *testScreen) begin() {
	r.t.Helper()
	r.start("")
	r.enter("go")
}

// asked begins, until a question has been seen for a while.
func (r *testScreen) asked() {
	r.t.Helper()
	r.clock.stand()
	r.begin()
	r.see("y  yes")
	r.passed(time.Second)
	r.see("press a key")
}

// enter types a text and presses Enter.
func (r *testScreen) enter(text string) {
	r.t.Helper()
	r.say(text)
	r.press("enter")
}

// passed is pass, and then the screen sees that time has passed.
func (r *testScreen) passed(d time.Duration) {
	r.t.Helper()
	r.pass(d)
	r.send(keys.Focus{In: true})
}

// unmade ends the test where the call that asks has made its file.
func (r *testScreen) unmade(why string) {
	r.t.Helper()
	if _, err := os.Stat(filepath.Join(r.dir, "new.txt")); err == nil {
		r.t.Fatal(why)
	}
}

func (r *testScreen) resize(width, height int) {
	r.t.Helper()
	r.mu.Lock()
	r.term.Resize(width, height)
	r.mu.Unlock()
	r.send(Resize{width, height})
}

// resized tells the screen of another size, if it still runs.
func (r *testScreen) resized(width, height int) {
	select {
	case r.events <- Resize{width, height}:
	case <-r.ended:
	}
}

// left waits for the screen's end.
func (r *testScreen) left() Exit {
	r.t.Helper()
	select {
	case e := <-r.exit:
		return e
	case <-time.After(patient):
		r.t.Fatalf("it does not end; seen:\n%s", r.text())
		return Exit{}
	}
}

// allowing returns a policy that runs without a question what only prints and ends.
func allowing(cfg permission.Config) *permission.Policy {
	p := permission.New(cfg)
	if err := p.Add(permission.User, []string{"bash(seq *)", "bash(exit *)"}, nil, nil); err != nil {
		panic(err)
	}
	return p
}

// twoSessions are the sessions of the folder.
func twoSessions(context.Context) ([]event.Row, error) {
	return []event.Row{{ID: "s1", Title: "begin", Dir: "/work/it"}, {ID: "s9", Title: "mend the parser", Dir: "/work/it"}}, nil
}
