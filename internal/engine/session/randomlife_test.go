package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/policy/edits"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// This file is what the two simulators share: random sessions on files in memory
// (history_test.go) and on a real folder with the real shell and journal
// (lives_test.go).

// crash lets a simulated process die after some more steps (writes of files,
// appends to the log). What the process does once it is dead comes to nothing.
// It may be used from several goroutines.
type crash struct {
	mu    sync.Mutex
	steps int // left to it; below 0: it lives on
	dead  bool
}

var errDead = errors.New("the process is dead")

func (c *crash) step() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead = c.dead || c.steps == 0; c.dead {
		return errDead
	}
	if c.steps > 0 {
		c.steps--
	}
	return nil
}

// after lets it die after so many steps.
func (c *crash) after(steps int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.steps = steps
}

func (c *crash) never() { c.after(-1) }

// now lets it die at once.
func (c *crash) now() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dead = true
}

func (c *crash) died() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dead
}

// crashStore is the store of a process that can die.
type crashStore struct {
	event.Store
	*crash
}

func (s crashStore) Append(ctx context.Context, id string, after int64, ds ...event.Draft) ([]event.Event, error) {
	if err := s.step(); err != nil {
		return nil, err
	}
	return s.Store.Append(ctx, id, after, ds...)
}

func (s crashStore) Put(ctx context.Context, data []byte) (string, error) {
	if s.died() {
		return "", errDead
	}
	return s.Store.Put(ctx, data)
}

// content is a file of a simulated folder.
type content struct {
	data string
	mode uint32
}

func (c content) link() bool { return fs.FileMode(c.mode)&fs.ModeSymlink != 0 }

// folder is where a random session plays.
type folder interface {
	files() map[string]content
	// person edits, makes or removes a file, and returns its path, "" where
	// nothing was done.
	person() string
	// faults lets the next write fail, or the process die, at times.
	faults()
	// partly reports whether an undo that failed left a part that stands.
	partly(err error) bool
	// restart lets the process die where it has not, and opens the session again.
	restart()
}

// randomSession is one random session: an agent, its commands and a person
// change files; undo, redo and rewind put them back; the process dies and the
// session is opened again. Every line has its own text. A line of a person begins
// with P, and is never to be gone by what pawl does.
type randomSession struct {
	folder
	t       *testing.T
	rnd     *rand.Rand
	store   event.Store
	crash   *crash
	s       *Session
	lines   int // so far
	calls   int
	prompts []int64
	removed map[string]bool // lines that the person took away
	risked  map[string]bool // lines saved in a file while a command that names it ran
	trace   []string

	plans, deaths, redos int // undos and redos that were done, deaths, undone and done again
}

// odds are chances, in percent.
type odds struct {
	leaveBlocked int // a file that cannot be put back is left out
	confirm      int // of a file that was not left out, the question is answered with yes
	meanwhile    int // the person saves something between the plan and the undo
	again        int // what was undone is done again at once
}

var paths = []string{"a", "b", "d/c", "d/e/f"}

func newRandomSession(t *testing.T, seed, stream uint64, store event.Store) *randomSession {
	return &randomSession{
		t: t, rnd: rand.New(rand.NewPCG(seed, stream)), store: store, crash: &crash{steps: -1},
		removed: map[string]bool{}, risked: map[string]bool{}, trace: []string{fmt.Sprintf("seed %d", seed)},
	}
}

func (r *randomSession) fail(format string, args ...any) {
	r.t.Helper()
	var log []string
	for e, err := range r.store.Read(context.Background(), "s", 0) {
		switch b := e.Body.(type) {
		case event.FileChanged:
			log = append(log, fmt.Sprintf("%d %s %s %s: %.6s %o > %.6s %o kept %v loose %v", e.Seq, b.Tool, b.Call, b.Path, b.Before, b.ModeBefore, b.After, b.Mode, b.Kept, b.Unattributed))
		case event.Undone, event.Redone, event.Warned, event.Writing:
			log = append(log, fmt.Sprintf("%d %T %+v %v", e.Seq, b, b, err))
		}
	}
	r.t.Fatalf("%s\n%s\nfiles %v\nlog\n%s", fmt.Sprintf(format, args...), strings.Join(r.trace, "\n"), r.files(), strings.Join(log, "\n"))
}

func (r *randomSession) say(format string, args ...any) {
	r.trace = append(r.trace, fmt.Sprintf(format, args...))
}

func (r *randomSession) chance(percent int) bool { return r.rnd.IntN(100) < percent }

func pick[T any](r *randomSession, from []T) T { return from[r.rnd.IntN(len(from))] }

func (r *randomSession) line(who string) string {
	r.lines++
	return who + strconv.Itoa(r.lines) + "\n"
}

func linesOf(s string) []string { return slices.Collect(strings.Lines(s)) } // all end in a newline

// edited is a content with a few lines put in, replaced or taken away. The
// lines of who are its own to change; others' it takes away only rarely.
func (r *randomSession) edited(who, data string) string {
	ls := linesOf(data)
	for range 1 + r.rnd.IntN(2) {
		i := r.rnd.IntN(len(ls) + 1)
		if i == len(ls) || r.chance(50) {
			ls = slices.Insert(ls, i, r.line(who))
			continue
		}
		if !strings.HasPrefix(ls[i], who) && r.chance(80) {
			continue
		}
		if who == "P" && strings.HasPrefix(ls[i], "P") {
			r.removed[ls[i]] = true
		}
		if r.chance(50) {
			ls[i] = r.line(who)
		} else {
			ls = slices.Delete(ls, i, i+1)
		}
	}
	return strings.Join(ls, "")
}

func (r *randomSession) record(bs ...event.Body) error {
	var ds []event.Draft
	for _, b := range bs {
		ds = append(ds, event.Draft{Body: b})
	}
	return r.s.log.Append(context.Background(), ds...)
}

// prompt records a person's prompt, and reports whether that went well.
func (r *randomSession) prompt(text string) bool {
	if r.record(event.Prompted{Source: event.Person, Text: text}) != nil {
		return false
	}
	r.prompts = append(r.prompts, r.s.View().Last())
	return true
}

// asks records that the model asks for a call, as the loop does.
func (r *randomSession) asks(name string) (done event.CallDone, err error) {
	r.calls++
	id := strconv.Itoa(r.calls)
	call := llm.Call{ID: id, Name: name, Args: []byte("{}")}
	err = r.record(event.Replied{Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{{Kind: llm.CallPart, Call: &call}}}}},
		event.CallAsked{ID: id, Tool: name}, event.CallStarted{ID: id})
	return event.CallDone{ID: id, Tool: name, Outcome: event.OK, Result: llm.Result{ID: id, Name: name}}, err
}

func (r *randomSession) hash(path string) tool.Hash { return hashIn(r.files(), path) }

// hashIn is the hash of a file among others, "" for one that is not there.
func hashIn(files map[string]content, path string) tool.Hash {
	if f, ok := files[path]; ok {
		return hashOf(f.data)
	}
	return ""
}

func hashOf(s string) tool.Hash { return edits.HashOf([]byte(s)) }

func orPanic(err error) {
	if err != nil {
		panic(err)
	}
}

// changeAt is a recorded change and its sequence number.
type changeAt struct {
	event.FileChanged
	seq int64
}

// changes returns the changes that are recorded after a sequence number.
func (r *randomSession) changes(after int64) []changeAt {
	var out []changeAt
	for e, err := range r.store.Read(context.Background(), "s", after) {
		orPanic(err)
		if c, ok := e.Body.(event.FileChanged); ok {
			out = append(out, changeAt{c, e.Seq})
		}
	}
	return out
}

// putBackSomething plans and does an undo or a rewind.
func (r *randomSession) putBackSomething(kinds []undo.Kind, path func() string, o odds) (done bool) {
	w := undo.Selector{Kind: pick(r, kinds)}
	switch w.Kind {
	case undo.ByFile:
		w.Path = path()
	case undo.ByRewind:
		if len(r.prompts) == 0 {
			return false
		}
		w.Prompt = pick(r, r.prompts)
	}
	return r.putBack(w, o)
}

// putBack plans and does an undo, a redo or a rewind, and checks what came of it.
func (r *randomSession) putBack(w undo.Selector, o odds) (done bool) {
	ctx := context.Background()
	p, err := r.s.View().Changes().Plan(ctx, w)
	if errors.Is(err, undo.ErrNothing) || errors.Is(err, undo.ErrNoRedo) {
		return false
	}
	if err != nil {
		r.fail("plan %+v: %v", w, err)
	}
	var c undo.Consent
	confirmed := map[string]bool{}
	for _, f := range p.Files {
		switch {
		case f.Blocked() && r.chance(o.leaveBlocked), f.Ask != "" && r.chance(40):
			c.LeaveOut = append(c.LeaveOut, f.Path)
		case f.Ask != "" && r.chance(o.confirm):
			c.Confirmed = append(c.Confirmed, f.Path)
			confirmed[f.Path] = true
		}
	}
	if r.chance(o.meanwhile) {
		r.person()
	}
	redone := r.broughtBack(p)
	before := r.files()
	r.faults()
	u, err := DoPlan(ctx, r.s, p, c)
	r.say("undo %+v, consent %+v: %v", w, c, err)
	for _, f := range p.Files {
		r.say("  %s %s %s%s", f.Action, f.Path, f.Why, f.Ask)
	}
	agreed := func(path, line string) bool { return confirmed[path] || redone[line] }
	r.onlyPlanned(before, p, confirmed)
	switch {
	case r.crash.died(): // what is between two files now is there when it is opened
		r.restart()
		r.onlyPlanned(before, p, confirmed)
		r.kept(before, agreed)
		r.wholeOrNothing(before, p, u.Done)
	case err == nil:
		r.kept(before, agreed)
		r.plans++
		for _, f := range u.Done {
			if r.hash(f.Path) != f.To {
				r.fail("%s is not what was planned", f.Path)
			}
		}
		if w.Kind != undo.ByRedo && r.chance(o.again) {
			r.doneAgain(u, before)
		}
		return true
	case r.partly(err):
		// A part stands that could not be taken back. It is recorded: the rest of
		// it, or its redo, brings back what is between two files now.
		r.crash.never()
		if !maps.Equal(before, r.files()) && w.Kind != undo.ByRedo {
			again, err := r.s.View().Changes().Plan(ctx, undo.Selector{Kind: undo.ByRedo})
			if err == nil {
				_, err = DoPlan(ctx, r.s, again, undo.Consent{})
			}
			if err != nil {
				r.fail("the part that stands cannot be taken back: %v", err)
			}
			r.kept(before, agreed)
		}
	case !maps.Equal(before, r.files()):
		r.fail("an undo that failed (%v) changed something", err)
	}
	return false
}

// doneAgain does again what was just undone: the same bytes.
func (r *randomSession) doneAgain(u changes.Undone, before map[string]content) {
	if !slices.ContainsFunc(u.Done, func(f undo.File) bool { return f.Action != undo.Same }) {
		return
	}
	r.crash.never()
	p, err := r.s.View().Changes().Plan(context.Background(), undo.Selector{Kind: undo.ByRedo})
	if err != nil || !p.NeedsNoConsent() {
		r.fail("redo of %+v: %v %+v", u.Done, err, p.Files)
	}
	r.redos++
	if _, err := DoPlan(context.Background(), r.s, p, undo.Consent{}); err != nil || !maps.Equal(before, r.files()) {
		r.fail("undone and done again: %v; before %v", err, before)
	}
	r.say("done again")
}

// broughtBack are the lines that a redo may take away: those that the undo
// before it brought back.
func (r *randomSession) broughtBack(p undo.Plan) map[string]bool {
	out := map[string]bool{}
	if p.Kind != undo.ByRedo {
		return out
	}
	for _, c := range r.changes(0) {
		if c.Tool != undo.Tool || c.After == "" {
			continue
		}
		now, _ := r.store.Get(context.Background(), string(c.After))
		old, _ := r.store.Get(context.Background(), string(c.Before))
		for _, l := range linesOf(string(now)) {
			if !slices.Contains(linesOf(string(old)), l) {
				out[l] = true
			}
		}
	}
	return out
}

// kept checks that no line of a person's is gone from the files, unless it was
// agreed to. One that was saved in a file while a command that names the file
// ran can be had again.
func (r *randomSession) kept(before map[string]content, agreed func(path, line string) bool) {
	r.t.Helper()
	all := map[string]bool{}
	for _, f := range r.files() {
		for _, l := range linesOf(f.data) {
			all[l] = true
		}
	}
	for path, f := range before {
		if f.link() {
			continue
		}
		for _, l := range linesOf(f.data) {
			if !strings.HasPrefix(l, "P") || r.removed[l] || agreed(path, l) || all[l] {
				continue
			}
			if !r.risked[l] {
				r.fail("the line %q of %s is gone; before %v", l, path, before)
			}
			if data, err := r.store.Get(context.Background(), string(hashOf(f.data))); err != nil || string(data) != f.data {
				r.fail("the line %q of %s cannot be had again: %v", l, path, err)
			}
		}
	}
}

func notAgreed(string, string) bool { return false }

// onlyPlanned checks that every file is as it was or as it was planned and
// confirmed, and that nothing was deleted which the agent did not create.
func (r *randomSession) onlyPlanned(before map[string]content, p undo.Plan, confirmed map[string]bool) {
	r.t.Helper()
	now := r.files()
	all := maps.Clone(before)
	maps.Copy(all, now)
	created := map[string]bool{}
	for _, c := range r.changes(0) {
		if c.Before == "" && c.Tool != undo.Tool {
			created[c.Path] = true
		}
	}
	for path := range all {
		if hashIn(now, path) == hashIn(before, path) {
			continue
		}
		i := slices.IndexFunc(p.Files, func(f undo.File) bool { return f.Path == path })
		if i < 0 || p.Files[i].Blocked() || hashIn(now, path) != p.Files[i].To || p.Files[i].Ask != "" && !confirmed[path] {
			r.fail("%s is neither as it was nor as planned; before %v", path, before)
		}
		if _, is := now[path]; !is && (p.Files[i].Action != undo.Delete || p.Kind != undo.ByRedo && !created[path]) {
			r.fail("%s was deleted; planned %+v", path, p.Files[i])
		}
	}
}

// wholeOrNothing checks that a death left all of a plan or nothing of it, once
// the session is open again.
func (r *randomSession) wholeOrNothing(before map[string]content, p undo.Plan, do []undo.File) {
	r.t.Helper()
	done, due := 0, 0
	now := r.files()
	for _, f := range do {
		switch {
		case f.To == hashIn(before, f.Path): // nothing to see
		case f.To == hashIn(now, f.Path):
			done++
		default:
			due++
		}
	}
	if done > 0 && due > 0 {
		r.fail("half an undo: %d files of it done, %d not", done, due)
	}
	if done > 0 && p.Kind != undo.ByRedo && slices.ContainsFunc(do, func(f undo.File) bool { return folded(r.s).InEffect(f.Changes) }) {
		r.fail("what was undone still stands")
	}
}

// nothingOpen checks that the session knows what became of every write.
func (r *randomSession) nothingOpen() {
	r.t.Helper()
	if n := len(folded(r.s).Intents()); n > 0 {
		r.fail("%d writes are still open", n)
	}
}

// folded is what policy/undo makes of a session's log.
func folded(s *Session) *undo.Fold {
	f := &undo.Fold{}
	for e, err := range s.cfg.Store.Read(context.Background(), s.cfg.ID, 0) {
		orPanic(err)
		f.Apply(e)
	}
	return f
}

// DoPlan does a plan and waits for its end.
func DoPlan(ctx context.Context, s *Session, p undo.Plan, c undo.Consent) (out changes.Undone, err error) {
	var failed error
	done, err := s.Do(ctx, Undo{Plan: p, Consent: c, Done: func(u changes.Undone, e error) { out, failed = u, e }})
	if err == nil && (done.Error != nil) != (failed != nil) {
		err = fmt.Errorf("the log has %v, its caller was told %v", done.Error, failed)
	}
	return out, errors.Join(err, failed)
}
