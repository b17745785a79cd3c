package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// history is one random life of a few files: an agent, its commands and a
// person write them; undo, redo and rewind put them back; the process dies and
// the session is opened again. Every line has its own text. A line of a person
// begins with P, and is never to be gone by what pawl does.
type history struct {
	t       *testing.T
	rnd     *rand.Rand
	life    *mortal
	disk    *disk
	store   event.Store
	s       *Session
	lines   int // so far
	calls   int
	prompts []int64
	removed map[string]bool // lines that the person took away
	trace   []string
	plans   int // that were done
	deaths  int
	redos   int
}

var paths = []string{"a", "b", "d/c", "d/e/f"}

func newHistory(t *testing.T, seed uint64, real *workspace.Workspace) *history {
	life := &mortal{fuel: -1}
	h := &history{t: t, rnd: rand.New(rand.NewPCG(seed, 1)), life: life, disk: newDisk(life), store: memory.New(time.Now), removed: map[string]bool{}}
	h.disk.real = real
	for _, p := range paths[:2] {
		h.disk.put(p, h.line("P")+h.line("P")+h.line("P"))
	}
	h.open()
	return h
}

func (h *history) open() {
	h.life.fuel, h.life.dead, h.disk.fails = -1, false, 0
	s, err := Open(context.Background(), Config{
		Store: mortalStore{h.store, h.life}, ID: "s", Dir: "/", Model: llmtest.New(), Files: h.disk,
		Permission: permission.New(permission.Config{Mode: permission.Ask4All, Root: "/", Home: "/home"}), Locks: turn.NewLocks(8),
		Mask: secrets.New(), Now: time.Now, Sleep: SleepFor, NewID: func() string { return "q" },
	})
	if err != nil {
		h.fail("open: %v", err)
	}
	h.s = s
}

func (h *history) fail(format string, args ...any) {
	h.t.Helper()
	h.t.Fatalf("%s\n%s\ndisk %v", fmt.Sprintf(format, args...), strings.Join(h.trace, "\n"), h.disk.files)
}

func (h *history) say(format string, args ...any) {
	h.trace = append(h.trace, fmt.Sprintf(format, args...))
}

func (h *history) chance(percent int) bool { return h.rnd.IntN(100) < percent }

func pick[T any](h *history, from []T) T { return from[h.rnd.IntN(len(from))] }

func (h *history) line(who string) string {
	h.lines++
	return who + strconv.Itoa(h.lines) + "\n"
}

func linesOf(s string) []string { return slices.Collect(strings.Lines(s)) } // all end in a newline

// edited is a content with a few lines put in, replaced or taken away. The
// lines of who are its own to change; others' it takes away only rarely.
func (h *history) edited(who, data string) string {
	ls := []string{}
	if data != "" {
		ls = strings.SplitAfter(data, "\n")
		ls = ls[:len(ls)-1]
	}
	for range 1 + h.rnd.IntN(2) {
		i := h.rnd.IntN(len(ls) + 1)
		if i == len(ls) || h.chance(50) {
			ls = slices.Insert(ls, i, h.line(who))
			continue
		}
		if !strings.HasPrefix(ls[i], who) && h.chance(80) {
			continue
		}
		if who == "P" && strings.HasPrefix(ls[i], "P") {
			h.removed[ls[i]] = true
		}
		if h.chance(50) {
			ls[i] = h.line(who)
		} else {
			ls = slices.Delete(ls, i, i+1)
		}
	}
	return strings.Join(ls, "")
}

// Turns.

func (h *history) rec(bs ...event.Body) error {
	var ds []event.Draft
	for _, b := range bs {
		ds = append(ds, event.Draft{Body: b})
	}
	return h.s.record(context.Background(), ds...)
}

// turn is a turn of a few calls; the session hears of it as from the loop.
func (h *history) turn() {
	if h.rec(event.Prompted{Source: event.Person, Text: "go on"}) != nil {
		return
	}
	h.prompts = append(h.prompts, h.s.Last())
	for range 1 + h.rnd.IntN(3) {
		h.calls++
		id := strconv.Itoa(h.calls)
		name := pick(h, []string{"write", "write", "bash"})
		call := llm.Call{ID: id, Name: name, Args: []byte("{}")}
		_ = h.rec(event.Replied{Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{{Kind: llm.CallPart, Call: &call}}}}},
			event.CallAsked{ID: id, Tool: name}, event.CallStarted{ID: id})
		done := event.CallDone{ID: id, Tool: name, Outcome: event.OK, Result: llm.Result{ID: id, Name: name}}
		if name == "bash" {
			done.Command = "make"
			h.command(id)
		} else {
			h.write(id)
		}
		if h.chance(20) {
			h.person()
		}
		if h.rec(done) != nil {
			return
		}
	}
	_ = h.rec(event.Ended{End: event.EndDone})
}

// write is a call of a file tool, of one file or several.
func (h *history) write(id string) {
	env := h.s.env(&turn.Pending{Call: llm.Call{ID: id}, Tool: tool.Tool{Spec: llm.ToolSpec{Name: "write"}}})
	var ws []tool.Write
	used := map[string]bool{}
	for range 1 + h.rnd.IntN(3) {
		p := pick(h, paths)
		if used[p] {
			continue
		}
		used[p] = true
		f, ok := h.disk.files[p]
		w := tool.Write{Path: p}
		if ok {
			w.Expect = hashOf(f.data)
		}
		to := pick(h, paths)
		switch {
		case ok && h.chance(15):
			w.Remove = true
		case ok && h.chance(20) && !used[to] && !h.disk.has(to):
			used[to] = true
			w.MoveTo, w.Data = to, []byte(f.data)
			if h.chance(30) {
				w.Data = []byte(h.edited("A", f.data))
			}
		default:
			w.Data = []byte(h.edited("A", f.data))
		}
		if ok && !w.Remove && h.chance(10) {
			w.Mode = pick(h, []uint32{0o644, 0o755, 0o600})
		}
		ws = append(ws, w)
	}
	h.faults()
	before := h.disk.snapshot()
	_, err := env.Files.WriteAll(context.Background(), ws)
	h.say("call %s writes %v: %v", id, ws, err)
	if err != nil && !h.life.dead && !errors.Is(err, errDisk) {
		h.fail("a write failed: %v", err)
	}
	if err != nil && !h.life.dead && !h.disk.stays && !maps.Equal(before, h.disk.files) {
		h.fail("a write that failed changed something")
	}
}

// command is a shell command: nothing but the comparison of before and after
// says what it did. A person may save a file meanwhile; who did what is then
// not known.
func (h *history) command(id string) {
	before := h.disk.snapshot()
	p := pick(h, paths)
	f, ok := h.disk.files[p]
	to := pick(h, paths)
	switch {
	case ok && h.chance(15):
		h.disk.drop(p)
	case ok && h.chance(20) && !h.disk.has(to):
		h.disk.put(to, f.data)
		h.disk.drop(p)
	default:
		h.disk.put(p, h.edited("A", f.data))
	}
	loose := h.chance(30)
	if loose {
		h.person()
	}
	var found []event.Body
	for _, p := range paths {
		old, was := before[p]
		now, is := h.disk.files[p]
		if old == now && was == is {
			continue
		}
		c := event.FileChanged{Call: id, Tool: "bash", Path: p, Kept: true, Unattributed: loose}
		if was {
			c.Before, c.ModeBefore = hashOf(old.data), old.mode
			if c.Kept = h.chance(90); c.Kept {
				_, _ = h.store.Put(context.Background(), []byte(old.data))
			}
		}
		if is {
			c.After, c.Mode = hashOf(now.data), now.mode
			_, _ = h.store.Put(context.Background(), []byte(now.data))
		}
		found = append(found, c)
	}
	h.say("command %s, loose %v: %v", id, loose, found)
	if len(found) > 0 {
		_ = h.rec(found...)
	}
}

// person edits, makes or removes a file.
func (h *history) person() {
	p := pick(h, paths)
	f, ok := h.disk.files[p]
	if ok && h.chance(10) {
		for _, l := range linesOf(f.data) {
			h.removed[l] = true
		}
		h.disk.drop(p)
		h.say("the person removes %s", p)
		return
	}
	h.disk.put(p, h.edited("P", f.data))
	if h.chance(5) {
		h.disk.chmod(p, 0o700)
	}
	h.say("the person writes %s: %q", p, h.disk.files[p].data)
}

// faults lets the next write fail, or the process die, at times.
func (h *history) faults() {
	h.disk.fails, h.disk.stays = 0, false
	switch {
	case h.chance(6):
		h.life.fuel = h.rnd.IntN(7)
	case h.chance(6):
		h.disk.fails, h.disk.stays = 1+h.rnd.IntN(3), h.chance(30)
	}
}

// putBack plans and does an undo, a redo or a rewind.
func (h *history) putBack(w undo.What) {
	ctx := context.Background()
	p, err := h.s.Changes().Plan(ctx, w)
	if errors.Is(err, undo.ErrNothing) || errors.Is(err, undo.ErrNoRedo) {
		return
	}
	if err != nil {
		h.fail("plan %+v: %v", w, err)
	}
	var c undo.Consent
	confirmed := map[string]bool{}
	for _, f := range p.Files {
		switch {
		case f.Blocked() && h.chance(70), f.Ask != "" && h.chance(40):
			c.LeaveOut = append(c.LeaveOut, f.Path)
		case f.Ask != "" && h.chance(80):
			c.Confirmed = append(c.Confirmed, f.Path)
			confirmed[f.Path] = true
		}
	}
	if h.chance(15) {
		h.person()
	}
	redone := h.redone(p)
	before := h.disk.snapshot()
	h.faults()
	u, err := h.s.Changes().Undo(ctx, p, c)
	h.say("undo %+v, consent %+v: %v", w, c, err)
	agreed := func(path, line string) bool { return confirmed[path] || redone[line] }
	h.onlyPlanned(before, p)
	switch {
	case h.life.dead: // what is between two files now is there when it is opened

		h.die(before, agreed)
		h.wholeOrNothing(before, p, u.Done)
	case errors.Is(err, errDisk) && h.disk.stays:
		// A part stands that could not be taken back. It is recorded: the rest of
		// it, or its redo, brings back what is between two files now.
		h.life.fuel = -1
		if !maps.Equal(before, h.disk.files) && w.Kind != undo.ByRedo {
			again, err := h.s.Changes().Plan(ctx, undo.What{Kind: undo.ByRedo})
			if err == nil {
				_, err = h.s.Changes().Undo(ctx, again, undo.Consent{})
			}
			if err != nil {
				h.fail("the part that stands cannot be taken back: %v", err)
			}
			h.kept(before, agreed)
		}
	case err == nil:
		h.kept(before, agreed)
		h.plans++
		for _, f := range u.Done {
			if h.hash(f.Path) != f.To {
				h.fail("%s is not what was planned", f.Path)
			}
		}
		if w.Kind != undo.ByRedo && h.chance(30) {
			h.backAgain(u, before)
		}
	case !maps.Equal(before, h.disk.files):
		h.fail("an undo that failed (%v) changed something", err)
	}
}

func (h *history) hash(path string) tool.Hash {
	if f, ok := h.disk.files[path]; ok {
		return hashOf(f.data)
	}
	return ""
}

// backAgain does again what was just undone: the same bytes.
func (h *history) backAgain(u changes.Undone, before map[string]content) {
	if !slices.ContainsFunc(u.Done, func(f undo.File) bool { return f.Action != undo.Same }) {
		return
	}
	p, err := h.s.Changes().Plan(context.Background(), undo.What{Kind: undo.ByRedo})
	if err != nil {
		h.fail("redo of %+v: %v", u.Done, err)
	}
	if !p.Sure() {
		h.fail("redo is not sure: %+v", p.Files)
	}
	h.redos++
	h.life.fuel = -1
	if _, err := h.s.Changes().Undo(context.Background(), p, undo.Consent{}); err != nil || !maps.Equal(before, h.disk.files) {
		h.fail("undone and done again: %v; before %v", err, before)
	}
	h.say("done again")
}

// redone are the lines that a redo may take away: those that the undo before
// it brought back.
func (h *history) redone(p undo.Plan) map[string]bool {
	out := map[string]bool{}
	if p.Kind != undo.ByRedo {
		return out
	}
	for e, err := range h.store.Read(context.Background(), "s", 0) {
		if err != nil {
			h.fail("%v", err)
		}
		b, ok := e.Body.(event.FileChanged)
		if !ok || b.Tool != undo.Tool || b.After == "" {
			continue
		}
		now, _ := h.store.Get(context.Background(), string(b.After))
		old, _ := h.store.Get(context.Background(), string(b.Before))
		for _, l := range linesOf(string(now)) {
			if !slices.Contains(linesOf(string(old)), l) {
				out[l] = true
			}
		}
	}
	return out
}

// kept checks that no line of a person's is gone from the disk.
func (h *history) kept(before map[string]content, agreed func(path, line string) bool) {
	h.t.Helper()
	all := map[string]bool{}
	for _, f := range h.disk.files {
		for _, l := range linesOf(f.data) {
			all[l] = true
		}
	}
	for path, f := range before {
		for _, l := range linesOf(f.data) {
			if strings.HasPrefix(l, "P") && !h.removed[l] && !agreed(path, l) && !all[l] {
				h.fail("the line %q of %s is gone; before %v", l, path, before)
			}
		}
	}
}

// onlyPlanned checks that every file is as it was or as it was planned, and
// that nothing else was touched.
func (h *history) onlyPlanned(before map[string]content, p undo.Plan) {
	h.t.Helper()
	for _, path := range paths {
		was := tool.Hash("")
		if f, ok := before[path]; ok {
			was = hashOf(f.data)
		}
		i := slices.IndexFunc(p.Files, func(f undo.File) bool { return f.Path == path })
		if now := h.hash(path); now != was && (i < 0 || p.Files[i].Blocked() || now != p.Files[i].To) {
			h.fail("%s is neither as it was nor as planned", path)
		}
		if i >= 0 && h.hash(path) == "" && was != "" && p.Files[i].Action != undo.Delete {
			h.fail("%s was deleted; planned %+v", path, p.Files[i])
		}
	}
}

// wholeOrNothing checks that a death left all of a plan or nothing of it, once
// the session is open again.
func (h *history) wholeOrNothing(before map[string]content, p undo.Plan, do []undo.File) {
	h.t.Helper()
	done, due := 0, 0
	for _, f := range do {
		was := tool.Hash("")
		if b, ok := before[f.Path]; ok {
			was = hashOf(b.data)
		}
		switch now := h.hash(f.Path); {
		case f.To == was: // nothing to see
		case now == f.To:
			done++
		default:
			due++
		}
	}
	if done > 0 && due > 0 {
		h.fail("half an undo: %d files of it done, %d not", done, due)
	}
	if done > 0 && p.Kind != undo.ByRedo && slices.ContainsFunc(do, func(f undo.File) bool { return folded(h.s).Stand(f.Changes) }) {
		h.fail("what was undone still stands")
	}
}

// die is the death of the process, and opening the session again.
func (h *history) die(before map[string]content, agreed func(path, line string) bool) {
	h.deaths++
	_ = h.s.Close()
	h.open()
	h.say("it died and was opened again")
	h.kept(before, agreed)
	if n := len(folded(h.s).Intents()); n > 0 {
		h.fail("%d writes are still open", n)
	}
}

func notAgreed(string, string) bool { return false }

func (h *history) live(steps int) {
	for range steps {
		switch n := h.rnd.IntN(100); {
		case n < 35:
			h.turn()
		case n < 50:
			h.person()
		case n < 85:
			w := undo.What{Kind: pick(h, []undo.Kind{undo.ByChange, undo.ByTurn, undo.ByFile, undo.ByCommand, undo.ByAll, undo.ByRewind})}
			switch w.Kind {
			case undo.ByFile:
				w.Path = pick(h, paths)
			case undo.ByRewind:
				if len(h.prompts) == 0 {
					continue
				}
				w.Prompt = pick(h, h.prompts)
			}
			h.putBack(w)
		case n < 95:
			h.putBack(undo.What{Kind: undo.ByRedo})
		default:
			h.die(h.disk.snapshot(), notAgreed)
		}
		if h.life.dead {
			if h.chance(30) {
				h.person()
			}
			h.die(h.disk.snapshot(), notAgreed)
		}
	}
	_ = h.s.Close()
}

// histories is how many the normal run tries; PAWL_HISTORIES sets another
// number, which .ci/run does.
const histories = 600

// SPEC 4.8, 10.2, 11.2: no line of a person's is ever lost; each file is before
// or after, never between; undo then redo gives the same bytes; nothing that
// the agent did not create is deleted.
func TestHistories(t *testing.T) {
	n := histories
	if s := os.Getenv("PAWL_HISTORIES"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	plans, deaths, redos := 0, 0, 0
	for seed := range n {
		h := newHistory(t, uint64(seed), nil)
		h.say("seed %d", seed)
		h.live(14)
		plans, deaths, redos = plans+h.plans, deaths+h.deaths, redos+h.redos
	}
	t.Logf("%d histories: %d undos and redos done, %d deaths, %d undone and done again", n, plans, deaths, redos)
	if plans < n || deaths < n/2 || redos < n/10 {
		t.Errorf("too little happened in %d histories: %d plans, %d deaths, %d redos", n, plans, deaths, redos)
	}
}

// The same on real files, with a process that dies before or behind a write.
func TestHistoriesOnDisk(t *testing.T) {
	for seed := range 12 {
		ws, err := workspace.Open(t.TempDir(), workspace.Options{NoGit: true})
		if err != nil {
			t.Fatal(err)
		}
		h := newHistory(t, uint64(seed), ws)
		h.say("seed %d", seed)
		h.live(14)
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
	}
}

// SPEC 4.8, 11.2: the process dies at every step of a write of several files,
// of its undo and of its redo. Afterwards all of it is done or nothing, the
// session knows which, and undo still works.
func TestEveryDeath(t *testing.T) {
	ctx := context.Background()
	setUp := func() *history {
		h := newHistory(t, 1, nil)
		h.disk.put("a", "1\n2\n3\n")
		h.disk.put("b", "x\n")
		h.disk.put("gone", "g\n")
		_ = h.rec(event.Prompted{Source: event.Person})
		return h
	}
	write := func(h *history) {
		env := h.s.env(&turn.Pending{Call: llm.Call{ID: "1"}, Tool: tool.Tool{Spec: llm.ToolSpec{Name: "multi_edit"}}})
		_, _ = env.Files.WriteAll(ctx, []tool.Write{
			{Path: "a", Data: []byte("one\n2\n3\n"), Expect: hashOf("1\n2\n3\n")},
			{Path: "new/deep/c", Data: []byte("c\n")},
			{Path: "gone", Remove: true, Expect: hashOf("g\n")},
			{Path: "b", Data: []byte("x\n"), Expect: hashOf("x\n"), MoveTo: "new/b"},
		})
	}
	undone := func(h *history, w undo.Kind) {
		p, err := h.s.Changes().Plan(ctx, undo.What{Kind: w})
		if err != nil {
			h.fail("%v", err)
		}
		_, _ = h.s.Changes().Undo(ctx, p, undo.Consent{})
	}
	ends := 0
	for _, op := range []string{"write", "undo", "redo"} {
		for fuel := 0; ; fuel++ {
			h := setUp()
			start := h.disk.snapshot()
			if op != "write" {
				write(h)
				_ = h.rec(event.Ended{End: event.EndDone})
				h.disk.put("a", h.disk.files["a"].data+"mine\n") // someone's later edit
			}
			written := h.disk.snapshot()
			if op == "redo" {
				undone(h, undo.ByTurn)
			}
			before := h.disk.snapshot()
			h.life.fuel = fuel
			switch op {
			case "write":
				write(h)
			case "undo":
				undone(h, undo.ByTurn)
			case "redo":
				undone(h, undo.ByRedo)
			}
			died := h.life.dead
			h.die(h.disk.snapshot(), notAgreed)
			h.say("%s, death at %d", op, fuel)
			now := h.disk.snapshot()
			switch op {
			case "undo": // all or nothing
				if back := maps.Clone(start); !maps.Equal(now, before) {
					back["a"] = content{"1\n2\n3\nmine\n", 0o644}
					if !maps.Equal(now, back) {
						h.fail("half an undo")
					}
					undone(h, undo.ByRedo)
					if !maps.Equal(h.disk.snapshot(), written) {
						h.fail("it cannot be done again")
					}
				}
			case "redo":
				if !maps.Equal(now, before) && !maps.Equal(now, written) {
					h.fail("half a redo")
				}
			}
			if _, err := h.s.Changes().Plan(ctx, undo.What{Kind: undo.ByTurn}); err == nil {
				undone(h, undo.ByTurn)
			}
			if op == "write" && !maps.Equal(h.disk.snapshot(), start) {
				h.fail("what the write left was not put back")
			}
			if op != "write" && h.disk.files["a"].data != "1\n2\n3\nmine\n" || !died && h.disk.dirs["new"] { // a death may leave empty folders
				h.fail("undo does not work any more")
			}
			_ = h.s.Close()
			if !died {
				break
			}
			ends++
		}
	}
	if ends < 15 {
		t.Errorf("only %d deaths", ends)
	}
}

// folded is what policy/undo makes of a session's log.
func folded(s *Session) *undo.Fold {
	f := &undo.Fold{}
	for e, err := range s.cfg.Store.Read(context.Background(), s.cfg.ID, 0) {
		must(err)
		f.Apply(e)
	}
	return f
}
