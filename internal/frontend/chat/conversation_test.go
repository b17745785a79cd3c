package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// desk is a conversation with a scripted model.
type desk struct {
	*Conversation
	t      *testing.T
	store  event.Store
	opened int
	seen   []Change
	other  *llmtest.Model // that a session opens
}

func still() time.Time { return time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC) }

func newDesk(t *testing.T, m *llmtest.Model, extra ...tool.Tool) *desk {
	return newDeskWith(t, m, nil, extra...)
}

// newDeskWith has the tools of servers.
func newDeskWith(t *testing.T, m *llmtest.Model, outside session.Outside, extra ...tool.Tool) *desk {
	d := &desk{t: t, store: memory.New(still)}
	now := still()
	d.Conversation = Begin(t.Context(), Config{
		Now: func() time.Time { now = now.Add(time.Second); return now },
		Open: func(ctx context.Context, w slash.Want, p Person) (*Opened, error) {
			if w.Resume == "nope" {
				return nil, errors.New("no session nope")
			}
			d.opened++
			id := fmt.Sprint("s", d.opened)
			ids := 0
			s, err := session.Open(ctx, session.Config{
				Store: d.store, ID: id, Dir: t.TempDir(), Frontend: "test", Model: m, Person: true, Locks: turn.NewLocks(8),
				Tools:      append(tool.Set{tools.AskUser()}, extra...),
				Permission: permission.New(permission.Config{Mode: permission.Yolo, Root: "/w", Home: "/h"}),
				TopLevel:   session.TopLevel{Outside: outside},
				Models:     session.Models{OpenModel: func(string, string) (llm.Model, error) { return d.other, nil }},
				Now:        still, Sleep: session.SleepFor, Jitter: func() float64 { return 0 },
				NewID: func() string { ids++; return fmt.Sprint("q", ids) },
			})
			if err != nil {
				return nil, err
			}
			return &Opened{Session: s, Close: func() { _ = s.Close() }, Notes: []string{"hello"}, ResumeCommand: "pawl --resume " + id}, nil
		},
		Pawl: func(_ context.Context, out io.Writer, args ...string) error {
			_, err := fmt.Fprintln(out, "scripted/script")
			return err
		},
	}, slash.Want{})
	t.Cleanup(d.Close)
	return d
}

// until reads until is holds.
func (d *desk) until(is func() bool) {
	d.t.Helper()
	for !is() {
		changes, err := d.Next(d.t.Context())
		if err != nil {
			d.t.Fatalf("%v after %s", err, d.bodies())
		}
		d.seen = append(d.seen, changes...)
	}
}

func (d *desk) asked() bool { _, ok := d.Question(); return ok }

func (d *desk) bodies() string {
	var out []string
	for _, c := range d.seen {
		if c.What == Finished {
			out = append(out, fmt.Sprintf("%+v", c.Block.Body))
		}
	}
	return strings.Join(out, "\n")
}

// finished are the finished blocks of a kind.
func finished[B Body](d *desk) (out []B) {
	for _, c := range d.seen {
		if b, ok := c.Block.Body.(B); ok && c.What == Finished {
			out = append(out, b)
		}
	}
	return out
}

// wait is a tool that does something while it runs.
func wait(do func()) tool.Tool {
	return tool.New("wait", "wait", func(tool.Env, struct{}) (tool.Footprint, error) { return tool.Footprint{}, nil },
		func(context.Context, tool.Env, struct{}) (tool.Result, error) {
			do()
			return tool.Text("waited"), nil
		})
}

// SPEC 10.1, 18.3: what is typed while a turn runs waits in sight, and is
// delivered before the turn's next request; the log marks it.
func TestSteering(t *testing.T) {
	var d *desk
	sent := ""
	m := llmtest.New(llmtest.Use("wait", `{}`), llmtest.Say("done"))
	ready := make(chan struct{})
	d = newDesk(t, m, wait(func() {
		<-ready
		sent = d.Enter("use tabs")
		for !d.firstSent() {
			runtime.Gosched() // until the session has it
		}
		if q := d.Queue(); len(q) != 1 || q[0].Text != "use tabs" || q[0].After {
			t.Errorf("%+v", q)
		}
	}))
	close(ready)
	d.Enter("begin")
	d.until(d.Idle)
	prompts := finished[Prompt](d)
	if len(prompts) != 2 || prompts[0].Joined || !prompts[1].Joined || prompts[1].Queued != sent || prompts[1].Text != "use tabs" {
		t.Errorf("%+v", prompts)
	}
	if len(finished[TurnEnd](d)) != 1 {
		t.Errorf("it is a turn of its own:\n%s", d.bodies())
	}
	if q := d.Queue(); len(q) != 0 {
		t.Errorf("it still waits: %+v", q)
	}
	if last := fmt.Sprint(m.Requests()[1].Messages); !strings.Contains(last, "use tabs") {
		t.Errorf("the model was not told: %s", last)
	}
}

// SPEC 10.3, 18.3: an interrupt returns the waiting prompts, in order; none of them is
// lost and none of them runs.
func TestInterruptGivesBack(t *testing.T) {
	var d *desk
	m := llmtest.New(llmtest.Turn{Before: func(*llm.Request) {
		d.Enter("first")
		d.Enter("/clear")
		d.Enter("behind it")
		for q := d.Queue(); len(q) < 3 || !d.firstSent(); q = d.Queue() {
			runtime.Gosched() // until the session has the first
		}
		if q := d.Queue(); q[0].After || !q[1].After || !q[2].After {
			t.Errorf("%+v", q)
		}
		if text, ok := d.TakeBack(d.Queue()[2].ID); text != "behind it" || !ok {
			t.Errorf("%q %v", text, ok)
		}
		if a := d.Press(false); a != lifecycle.Cancel {
			t.Errorf("an interrupt is %v", a)
		}
		d.Interrupt("person")
	}, Wait: make(chan struct{})})
	d = newDesk(t, m)
	d.Enter("begin")
	d.until(d.Idle)
	back := finished[TakenBack](d)
	if len(back) != 1 || !slices.Equal(back[0].Texts, []string{"first", "/clear"}) || d.opened != 1 {
		t.Errorf("%+v, %d sessions", back, d.opened)
	}
	if p := finished[Prompt](d); len(p) != 1 {
		t.Errorf("%+v", p)
	}
	if _, ok := d.TakeBack("entry-99"); ok {
		t.Error("nothing was taken back, and it said so")
	}
}

func (c *Conversation) firstSent() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiting) > 0 && c.waiting[0].sent
}

// SPEC 18.1: a conversation begins with its session, what a command writes is a
// block, and what cannot be done is said.
func TestCommands(t *testing.T) {
	d := newDesk(t, llmtest.New(llmtest.Say("hi")))
	d.until(d.Idle)
	if s := finished[Start](d); len(s) != 1 || s[0].ID != "s1" || s[0].Notes[0] != "hello" {
		t.Fatalf("%+v", s)
	}
	for _, in := range []string{"/mode plan", "/model", "/nope", "!", "/mode nope", "   "} {
		d.Enter(in)
	}
	d.until(d.Idle)
	var said []string
	for _, o := range finished[Output](d) {
		said = append(said, o.Command+": "+o.Text)
	}
	for _, n := range finished[Note](d) {
		if n.Kind == OfFailure {
			said = append(said, n.Text)
		}
	}
	got := strings.Join(said, "|")
	for _, want := range []string{"/mode plan: mode plan\n", "/model: in use: model scripted/script", "scripted/script\n", "unknown command /nope", "no command: write one", `"nope"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	for _, c := range d.seen {
		if n, ok := c.Block.Body.(Note); ok && n.Kind == OfMode && !c.Reported {
			t.Error("the mode is told twice")
		}
	}
	d.Enter("hello")
	d.until(d.Idle)
	d.Enter("/clear")
	d.until(d.Idle)
	if s := finished[Start](d); len(s) != 2 || d.Session().ID() != "s2" || d.ResumeCommand() != "pawl --resume s2" {
		t.Errorf("%+v", s)
	}
	d.Enter("/resume nope")
	d.until(d.Idle)
	d.Enter("quit")
	err := error(nil)
	for err == nil {
		_, err = d.Next(t.Context())
	}
	if !errors.Is(err, ErrLeft) {
		t.Errorf("%v", err)
	}
}

// What comes from a browser while a command runs is shown, and what its turn comes to.
func TestNotesBesideACommand(t *testing.T) {
	for _, body := range []event.Body{event.RemoteAct{What: "mode auto", Device: "phone"}, event.Stuck{Level: "stop", Rule: "same call", Text: "the same call"}} {
		d := newDesk(t, llmtest.New())
		d.until(d.Idle)
		d.markReported(d.Session(), true)
		d.mu.Lock()
		f, seq := d.follower, d.follower.seen+1
		d.mu.Unlock()
		changes, err := d.fold(f, received{Event: event.Event{Seq: seq, Body: body}}, true)
		if err != nil || len(changes) == 0 || changes[0].Reported {
			t.Errorf("%T: %+v, %v", body, changes, err)
		}
	}
}

// What a person sets by a key while a command runs is none of what the command reports.
func TestModeBesideACommand(t *testing.T) {
	d := newDesk(t, llmtest.New())
	d.until(d.Idle)
	d.markReported(d.Session(), true)
	d.SetMode("plan")
	reported := true
	d.until(func() bool {
		at := slices.IndexFunc(d.seen, func(c Change) bool { n, ok := c.Block.Body.(Note); return ok && n.Kind == OfMode })
		if at >= 0 {
			reported = d.seen[at].Reported
		}
		return at >= 0
	})
	if reported {
		t.Error("it is not shown")
	}
}

// A question of the model is answered through the conversation, and the answer
// is an event; a command at a question does not answer it.
func TestQuestion(t *testing.T) {
	d := newDesk(t, llmtest.New(llmtest.Use("ask_user", `{"question":"tabs?","options":["yes","no"]}`), llmtest.Say("ok")))
	d.Enter("begin")
	d.until(d.asked)
	q, _ := d.Question()
	f := d.Ask(q)
	if h := f.Read("/status"); h != SlashCommand {
		t.Errorf("a command is %s", h)
	}
	d.Enter("/mode plan")
	d.until(d.TurnDone)
	if h := f.Read(" 2 "); h != Complete || f.Answer().Text != "no" {
		t.Errorf("%s %+v", h, f.Answer())
	}
	d.Answer(q.ID, f.Answer())
	d.until(d.Idle)
	if got := finished[Question](d); len(got) != 1 || got[0].Answer != "no" || d.asked() {
		t.Errorf("%+v", got)
	}
	if d.Session().View().Mode() != permission.Plan {
		t.Errorf("the mode is %s", d.Session().View().Mode())
	}
}

// SPEC 10.3: what runs is cancelled, and the question that it put ends with it,
// also one of a slash command; nothing runs: the next interrupt leaves, unless
// something was entered between.
func TestPress(t *testing.T) {
	d := newDesk(t, llmtest.New(llmtest.Use("ask_user", `{"question":"tabs?"}`)))
	d.until(d.Idle)
	press := func(input bool, want lifecycle.Action) {
		t.Helper()
		if a := d.Press(input); a != want {
			t.Errorf("%v, want %v", a, want)
		}
	}
	press(true, lifecycle.Clear)
	press(false, lifecycle.Confirm)
	press(false, lifecycle.Exit)
	d.Enter("begin")
	d.until(d.asked)
	press(false, lifecycle.Cancel)
	d.Interrupt("person")
	d.until(d.Idle)
	if e := finished[TurnEnd](d); d.asked() || len(e) != 1 || e[0].End != event.EndInterrupted {
		t.Errorf("%+v", e)
	}
	press(false, lifecycle.Confirm)
	d.Enter("/rewind")
	d.until(d.asked)
	press(false, lifecycle.Cancel)
	d.Interrupt("person")
	d.until(d.Idle)
	if n := finished[Note](d); d.asked() || n[len(n)-1].Text != ErrCancelled.Error() {
		t.Errorf("%+v", n)
	}
	press(false, lifecycle.Confirm)
	d.Typed()
	press(false, lifecycle.Confirm)
	d.Interrupt("SIGTERM") // nothing runs: nothing happens
	d.until(d.Idle)
}

// What is closed while its session is being opened leaves no session open, and
// what waits for a turn is not done after the end.
func TestCloseEarly(t *testing.T) {
	opening, closed, goOn := make(chan struct{}), make(chan struct{}), make(chan struct{})
	c := Begin(t.Context(), Config{Now: still, Open: func(ctx context.Context, _ slash.Want, _ Person) (*Opened, error) {
		close(opening)
		<-goOn
		s, err := session.Open(context.WithoutCancel(ctx), session.Config{
			Store: memory.New(still), ID: "s", Dir: t.TempDir(), Model: llmtest.New(), Locks: turn.NewLocks(1),
			Permission: permission.New(permission.Config{Mode: permission.Yolo, Root: "/w", Home: "/h"}), Now: still,
		})
		return &Opened{Session: s, Close: func() { _ = s.Close(); close(closed) }}, err
	}}, slash.Want{})
	<-opening
	c.Close()
	close(goOn)
	<-closed

	d := newDesk(t, llmtest.New(llmtest.Turn{Wait: make(chan struct{})}))
	d.until(d.Idle)
	d.Enter("begin")
	d.until(func() bool { return len(finished[Prompt](d)) > 0 })
	d.Enter("/clear")
	d.Close()
	if d.opened != 1 {
		t.Errorf("%d sessions were opened", d.opened)
	}
}

// A session that cannot be opened ends the conversation with the reason.
func TestCannotOpen(t *testing.T) {
	c := Begin(t.Context(), Config{Now: still, Open: func(ctx context.Context, _ slash.Want, p Person) (*Opened, error) {
		answer, err := p.Ask(ctx, "which? ")
		if err != nil {
			return nil, err
		}
		return nil, errors.New("no " + answer)
	}}, slash.Want{})
	defer c.Close()
	for {
		if q, ok := c.Question(); ok {
			f := c.Ask(q)
			if f.Prompt() != "which? " || f.Read("") != Complete || f.Read("that one") != Complete {
				t.Errorf("%+v", q)
			}
			c.Answer(q.ID, f.Answer())
		}
		if _, err := c.Next(t.Context()); err != nil {
			if err.Error() != "no that one" {
				t.Error(err)
			}
			return
		}
	}
}
