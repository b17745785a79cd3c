package attach

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/session/sessiontest"
	"github.com/pawl-agent/pawl/internal/frontend/putback"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// state is a folder whose path is short enough for a socket.
func state(t testing.TB) string {
	t.Helper()
	dir := must.Get(os.MkdirTemp("", "pawl-attach-"))(t)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// served opens a session that others may attach to.
func served(t *testing.T, dir string, m llm.Model) (session.Config, *session.Session, func()) {
	t.Helper()
	return servedTo(t, dir, m, func(int) (bool, error) { return false, nil })
}

// servedTo takes it from started who is one of pawl's own processes.
func servedTo(t *testing.T, dir string, m llm.Model, started func(int) (bool, error)) (session.Config, *session.Session, func()) {
	t.Helper()
	cfg := sessiontest.Config(t, t.TempDir(), m, nil)
	cfg.Person = true
	s := sessiontest.Open(t, cfg)
	stop := must.Get(Serve(dir, "test", s, started))(t)
	end := func() {
		_ = s.Close()
		stop()
	}
	t.Cleanup(end)
	return cfg, s, end
}

// attached opens the session of another process, which is this one in a test.
func attached(t *testing.T, dir string, cfg session.Config, steer bool) (*session.Session, *Owner) {
	t.Helper()
	o := must.Get(Dial(t.Context(), dir, cfg.ID, steer))(t)
	cfg.Owner, cfg.Model, cfg.Permission = o, llmtest.New(), permission.New(permission.Config{Root: cfg.Dir, Home: "/home/nobody"})
	return sessiontest.Open(t, cfg), o
}

// kinds collects what a session shows until it ends or a kind has come n times.
func until(t *testing.T, events func(func(event.Event, error) bool), is func(event.Event) bool) (out []event.Event) {
	t.Helper()
	for e, err := range events {
		must.Do(t, err)
		if out = append(out, e); is(e) {
			return out
		}
	}
	return out
}

func ended(e event.Event) bool {
	_, ok := e.Body.(event.Ended)
	return ok
}

// A watcher sees what the owner shows: each stored event once and in order, and
// the pieces between. One who comes in the middle of a reply gets it whole.
//
// SPEC 18.1
func TestWatch(t *testing.T) {
	dir, hold := state(t), make(chan struct{})
	m := llmtest.New(llmtest.Turn{Text: "one two three four", Piece: 4, Wait: hold}, llmtest.Turn{Text: "five 漢字 six", Piece: 1})
	cfg, s, end := served(t, dir, m)
	own, first := s.Events(t.Context(), 0), s.Events(t.Context(), 0)
	must.Done(t)(s.Submit(t.Context(), session.Prompt{Text: "say it"}))
	// The owner has shown half a reply by now.
	until(t, first, func(e event.Event) bool { _, ok := e.Body.(event.TextDelta); return ok })
	w, o := attached(t, dir, cfg, false)
	turns, oneTurn := 0, make(chan struct{})
	theirs, whole := []event.Event(nil), make(chan struct{})
	seen := w.Events(t.Context(), 0)
	go func() {
		defer close(whole)
		for e := range seen {
			if theirs = append(theirs, e); !ended(e) {
				continue
			}
			if turns++; turns == 1 {
				close(oneTurn)
			} else {
				return
			}
		}
	}()
	close(hold)
	pieces := func(es []event.Event) (text string, stored []int64) {
		for _, e := range es {
			if d, ok := e.Body.(event.TextDelta); ok {
				text += d.Text
			}
			if e.Seq != 0 {
				stored = append(stored, e.Seq)
			}
		}
		return text, stored
	}
	<-oneTurn
	must.Done(t)(s.Submit(t.Context(), session.Prompt{Text: "again"}))
	<-whole
	left := 2
	mine := until(t, own, func(e event.Event) bool {
		if ended(e) {
			left--
		}
		return left == 0
	})
	text, stored := pieces(theirs)
	if _, want := pieces(mine); !slices.Equal(stored, want) {
		t.Errorf("the watcher saw %v, the owner %v", stored, want)
	}
	if text != "five 漢字 six" {
		t.Errorf("pieces %q: those of a reply that had begun are not to come, all of the next are", text)
	}
	if got, want := w.View().Info().Ref(), s.View().Info().Ref(); got != want {
		t.Errorf("its model is %s, want %s", got, want)
	}
	if got, want := w.View().Mode(), s.View().Mode(); got != want {
		t.Errorf("its mode is %s, want %s", got, want)
	}
	end()
	until(t, w.Events(t.Context(), 0), func(event.Event) bool { return false })
	if !o.Ended() {
		t.Error("that the owner ended by itself is not known")
	}
	if _, err := os.Stat(socketPath(dir, cfg.ID)); !os.IsNotExist(err) {
		t.Errorf("the socket is left behind: %v", err)
	}
}

// Who only watches changes nothing, also where its own side does not refuse.
//
// SPEC 18.1
func TestOnlyWatches(t *testing.T) {
	dir := state(t)
	cfg, s, _ := served(t, dir, llmtest.New())
	w, o := attached(t, dir, cfg, false)
	for _, forged := range []bool{false, true} {
		o.mu.Lock()
		o.steer = forged
		o.mu.Unlock()
		for _, op := range []session.Op{session.Prompt{Text: "x"}, session.Interrupt{}, session.SetMode{Mode: "yolo"}, session.RunCommand{Command: "true"}, session.Answer{ID: "q1"}} {
			before := s.View().Last()
			if _, err := w.Submit(t.Context(), op); err == nil || !strings.Contains(err.Error(), "only watches") {
				t.Errorf("%T: %v", op, err)
			}
			if s.View().Last() != before || s.View().Mode() == permission.Yolo {
				t.Errorf("%T was done", op)
			}
		}
	}
}

// One who takes part: a prompt, an answer, an interrupt, a mode; two at once.
//
// SPEC 18.1
func TestSteer(t *testing.T) {
	dir, hold := state(t), make(chan struct{})
	defer close(hold)
	m := llmtest.New(llmtest.Use("write", `{"path":"/etc/pawl-never","content":"x"}`), llmtest.Say("so be it"), llmtest.Turn{Text: "half", Wait: hold})
	cfg, s, _ := served(t, dir, m)
	w, _ := attached(t, dir, cfg, true)
	other, _ := attached(t, dir, cfg, true)
	events := s.Events(t.Context(), 0)
	must.Done(t)(w.Submit(t.Context(), session.Prompt{ID: "w-1", Source: event.Autofix, Text: "write it"}))
	asked := event.Asked{}
	got := until(t, events, func(e event.Event) bool { b, ok := e.Body.(event.Asked); asked = b; return ok })
	if i := slices.IndexFunc(got, func(e event.Event) bool {
		b, ok := e.Body.(event.Prompted)
		return ok && b.Source == event.Person && b.ID == "w-1"
	}); i < 0 {
		t.Error("the prompt is not a person's")
	}
	until(t, other.Events(t.Context(), 0), func(e event.Event) bool { _, ok := e.Body.(event.Asked); return ok })
	if !other.Busy() {
		t.Error("a turn runs, and the other terminal does not know")
	}
	must.Done(t)(other.Submit(t.Context(), session.Answer{ID: asked.ID, Verdicts: []event.Verdict{{Call: asked.Questions[0].Call, Scope: event.No, Why: "not there"}}}))
	if _, err := w.Submit(t.Context(), session.Answer{ID: asked.ID}); err == nil {
		t.Error("a question is answered twice")
	}
	until(t, s.Events(t.Context(), 0), ended)
	if _, err := w.Submit(t.Context(), session.SetMode{Mode: "plan"}); err != nil || s.View().Mode() != permission.Plan {
		t.Errorf("the mode is %s: %v", s.View().Mode(), err)
	}
	if _, err := w.Submit(t.Context(), session.Undo{}); err == nil {
		t.Error("an undo from elsewhere")
	}
	if _, err := w.Submit(t.Context(), session.Withdraw{ID: "somebody else's"}); err == nil || !strings.Contains(err.Error(), "belongs to another terminal") {
		t.Errorf("withdrawing another one's prompt: %v", err)
	}
	began := s.View().Last()
	shown := s.Events(t.Context(), began)
	must.Done(t)(w.Submit(t.Context(), session.Prompt{Text: "hang"}))
	until(t, shown, func(e event.Event) bool { _, ok := e.Body.(event.TextDelta); return ok })
	must.Done(t)(w.Submit(t.Context(), session.Interrupt{By: "person"}))
	until(t, s.Events(t.Context(), began), ended)
}

// No owner, one that was killed, another version, a silent one, and one that sends
// anything.
//
// SPEC 18.1
func TestOwners(t *testing.T) {
	dir := state(t)
	if _, err := Dial(t.Context(), dir, "s1", false); !errors.Is(err, ErrNoOwner) {
		t.Errorf("nobody: %v", err)
	}
	cfg, s, _ := served(t, dir, llmtest.New(llmtest.Say("still here")))
	for _, line := range []string{"", "\n", "{}\n", "null\n", `{"follow":{"protocol":99}}` + "\n", `{"n":1,"op":"prompt","args":{"Text":"x"}}` + "\n", "\x00\xff", strings.Repeat("[", 1<<16) + "\n"} {
		o := must.Get(Dial(t.Context(), dir, cfg.ID, true))(t)
		_, _ = o.conn.Write([]byte(line))
		_ = o.conn.Close()
	}
	w, o := attached(t, dir, cfg, true)
	for _, m := range []fromWatcher{{N: 9, Op: "format the disk"}, {N: 8, Op: "prompt", Args: json.RawMessage(`[]`)}, {N: 7, Op: "answer", Args: json.RawMessage(`null`)}} {
		must.Do(t, writeLine(o.conn, m))
	}
	must.Done(t)(w.Submit(t.Context(), session.Prompt{Text: "x"}))
	until(t, w.Events(t.Context(), 0), ended)
	_ = o.conn.Close() // as where the owner is killed
	until(t, w.Events(t.Context(), 0), func(event.Event) bool { return false })
	if o.Ended() {
		t.Error("a killed owner is taken for one that ended")
	}
	if _, err := w.Submit(t.Context(), session.Prompt{Text: "x"}); err == nil || !strings.Contains(err.Error(), "is gone") {
		t.Errorf("to an owner that is gone: %v", err)
	}
	if _, err := s.Submit(t.Context(), session.SetMode{Mode: "plan"}); err != nil {
		t.Errorf("the owner: %v", err)
	}
	if _, err := Serve(strings.Repeat("x", 200), "test", s, nil); err == nil {
		t.Error("a socket with a path that is too long")
	}
}

// A watcher that reads nothing holds up nobody, and the end waits for it only
// for a short time.
//
// SPEC 18.1
func TestStoppedWatcher(t *testing.T) {
	dir := state(t)
	big := strings.Repeat("x", 1<<20)
	m := llmtest.New()
	m.Next = func(n int, _ *llm.Request) llmtest.Turn {
		return llmtest.Turn{Text: fmt.Sprint(n, big), Piece: 64 << 10}
	}
	cfg, s, end := served(t, dir, m)
	o := must.Get(Dial(t.Context(), dir, cfg.ID, false))(t)
	defer o.conn.Close()
	_ = o.Events(t.Context(), 0) // asked for and never read
	for range 3 {
		after := s.View().Last()
		must.Done(t)(s.Submit(t.Context(), session.Prompt{Text: "more"}))
		until(t, s.Events(t.Context(), after), ended)
	}
	began := time.Now()
	end()
	if took := time.Since(began); took > time.Minute {
		t.Errorf("the end took %s", took)
	}
}

// Every operation that has a name comes out as it went in, and every name is
// that of an operation.
func TestOperations(t *testing.T) {
	for _, op := range []session.Op{
		session.Prompt{ID: "i", Text: "t", Images: []llm.Media{{Type: "image/png", Data: []byte{1, 2}}}, Narrowed: &event.Narrowed{By: "the command /x", Rules: []string{"Read"}}}, session.Interrupt{By: "person"},
		session.Withdraw{ID: "i"}, session.Answer{ID: "q", Text: "t", Verdicts: []event.Verdict{{Call: "c", Scope: event.No, Why: "w"}}},
		session.SetMode{Mode: "plan"}, session.SetModel{Ref: "a/b"}, session.RunCommand{Command: "ls"}, session.Compact{Focus: "f"}, session.Phase{}, session.Pause{},
		session.WritePlan{Text: "p"}, session.DecidePlan{Approve: true, Mode: "ask", Why: "w", Shown: "p"}, session.Remote{Device: "d", What: "w"},
	} {
		raw := must.Get(json.Marshal(op))(t)
		of := operations[nameOf(op)]
		if of == nil {
			t.Errorf("%T has no name", op)
			continue
		}
		if got, err := read(of, raw); err != nil || !reflect.DeepEqual(got, op) {
			t.Errorf("%T: %#v, want %#v (%v)", op, got, op, err)
		}
	}
	if nameOf(session.Undo{}) != "" {
		t.Error("an undo is sent with its plan")
	}
}

// An undo of another terminal is what the owner planned for it, and nothing else.
//
// SPEC 18.1, 21.2
func TestUndoElsewhere(t *testing.T) {
	dir := state(t)
	cfg, s, _ := served(t, dir, llmtest.New(llmtest.Use("write", `{"path":"a.txt","content":"new\n"}`), llmtest.Say("done"), llmtest.Use("write", `{"path":"b.txt","content":"new\n"}`), llmtest.Say("done")))
	file := filepath.Join(cfg.Dir, "a.txt")
	w, o := attached(t, dir, cfg, true)
	turn := func() {
		t.Helper()
		after := s.View().Last()
		must.Done(t)(s.Submit(t.Context(), session.Prompt{Text: "write"}))
		until(t, s.Events(t.Context(), after), ended)
	}
	of := undo.Selector{Kind: undo.ByTurn}
	if _, err := w.PlanUndo(t.Context(), of); !errors.Is(err, undo.ErrNothing) {
		t.Errorf("nothing is done yet: %v", err)
	}
	must.Done(t)(s.Submit(t.Context(), session.SetMode{Mode: "accept-edits"}))
	turn()
	must.Done(t)(os.Stat(file))
	seer, so := attached(t, dir, cfg, false)
	for _, forged := range []bool{false, true} {
		so.mu.Lock()
		so.steer = forged
		so.mu.Unlock()
		if _, err := seer.PlanUndo(t.Context(), of); err == nil || !strings.Contains(err.Error(), "only watches") {
			t.Errorf("a plan for one who watches: %v", err)
		}
	}
	p, err := w.PlanUndo(t.Context(), of)
	if err != nil || len(p.Files) != 1 || p.Files[0].Path != "a.txt" || p.Files[0].Diff == "" {
		t.Fatal(p, err)
	}
	other := p
	other.Files = []undo.File{{Path: "evil", Action: undo.Beside, Data: []byte("x")}}
	if _, err := w.Submit(t.Context(), session.Undo{Plan: other}); err == nil {
		t.Error("a plan that nobody was shown is carried out")
	}
	if d, err := o.ask(t.Context(), doUndo, undoing{Plan: 99}); err != nil || d.Error == nil {
		t.Error("so is the number of one")
	}
	mine, _ := attached(t, dir, cfg, true)
	if _, err := mine.Submit(t.Context(), session.Undo{Plan: p}); err == nil {
		t.Error("so is one that another terminal was shown")
	}
	turn()
	if p, err = w.PlanUndo(t.Context(), of); err != nil || p.Files[0].Path != "b.txt" {
		t.Fatal(p, err)
	}
	must.Done(t)(putback.Do(t.Context(), w, p, undo.Consent{}))
	p = must.Get(w.PlanUndo(t.Context(), undo.Selector{Kind: undo.ByAll}))(t)
	must.Write(t, file, "mine\n")
	if _, err := putback.Do(t.Context(), w, p, undo.Consent{}); err == nil || !strings.Contains(err.Error(), "changed after the preview") {
		t.Errorf("a file that was changed since: %v", err)
	}
	must.Write(t, file, "new\n")
	done, err := putback.Do(t.Context(), w, p, undo.Consent{})
	if err != nil || len(done.Done) != 1 {
		t.Fatal(done, err)
	}
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is there: %v", err)
	}
}

// Of two answers to a plan the first one counts, wherever it comes from.
//
// SPEC 21.2
func TestPlanDecidedElsewhere(t *testing.T) {
	dir := state(t)
	cfg, s, _ := served(t, dir, llmtest.New(llmtest.Say("# Plan\n\n1. Look\n2. Write\n"), llmtest.Say("carried out")))
	w, _ := attached(t, dir, cfg, true)
	must.Done(t)(s.Submit(t.Context(), session.SetMode{Mode: "plan"}))
	must.Done(t)(s.Submit(t.Context(), session.Prompt{Text: "plan it"}))
	until(t, s.Events(t.Context(), 0), ended)
	shown := s.View().Proposal().Text
	if shown == "" {
		t.Fatal("no plan")
	}
	after := s.View().Last()
	must.Done(t)(w.Submit(t.Context(), session.DecidePlan{Approve: true, Mode: "accept-edits", Shown: shown}))
	until(t, s.Events(t.Context(), after), ended)
	for _, again := range []*session.Session{s, w} {
		if _, err := again.Submit(t.Context(), session.DecidePlan{Why: "no", Shown: shown}); err == nil || !strings.Contains(err.Error(), "meanwhile") {
			t.Errorf("it is decided twice: %v", err)
		}
	}
	if s.View().Mode() != permission.AcceptEdits {
		t.Errorf("the mode is %s", s.View().Mode())
	}
}

var _ session.Owner = (*Owner)(nil)
