package session

import (
	"context"
	"errors"
	"maps"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// history is a random session on a few files in memory.
type history struct {
	*randomSession
	disk *disk
}

func newHistory(t *testing.T, seed uint64, real *workspace.Workspace) *history {
	h := &history{randomSession: newRandomSession(t, seed, 1, memory.New(time.Now))}
	h.folder, h.disk = h, newDisk(h.crash)
	h.disk.real = real
	for _, p := range paths[:2] {
		h.disk.put(p, h.line("P")+h.line("P")+h.line("P"))
	}
	h.open()
	return h
}

func (h *history) open() {
	h.crash = &crash{steps: -1}
	h.disk.crash, h.disk.fails = h.crash, 0
	s, err := Open(context.Background(), Config{
		Store: crashStore{h.store, h.crash}, ID: "s", Dir: "/", Model: llmtest.New(), Files: h.disk,
		Permission: permission.New(permission.Config{Mode: permission.AskMode, Root: "/", Home: "/home"}), Locks: turn.NewLocks(8),
		Mask: secrets.New(), Now: time.Now, Sleep: SleepFor, NewID: func() string { return "q" },
	})
	if err != nil {
		h.fail("open: %v", err)
	}
	h.s = s
}

func (h *history) files() map[string]content { return h.disk.snapshot() }

// turn is a turn of a few calls; the session hears of it as from the loop.
func (h *history) turn() {
	if !h.prompt("go on") {
		return
	}
	for range 1 + h.rnd.IntN(3) {
		name := pick(h.randomSession, []string{"write", "write", "bash"})
		done, _ := h.asks(name)
		if name == "bash" {
			done.Command = "make"
			h.command(done.ID)
		} else {
			h.write(done.ID)
		}
		if h.chance(20) {
			h.person()
		}
		if h.record(done) != nil {
			return
		}
	}
	_ = h.record(event.Ended{End: event.EndDone})
}

// write is a call of a file tool, of one file or several.
func (h *history) write(id string) {
	env := h.s.abilities.env(&turn.Pending{Call: llm.Call{ID: id}, Tool: tool.Tool{Spec: llm.ToolSpec{Name: "write"}}})
	var ws []tool.Write
	used := map[string]bool{}
	for range 1 + h.rnd.IntN(3) {
		p := pick(h.randomSession, paths)
		if used[p] {
			continue
		}
		used[p] = true
		f, ok := h.disk.files[p]
		w := tool.Write{Path: p}
		if ok {
			w.Expect = hashOf(f.data)
		}
		to := pick(h.randomSession, paths)
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
			w.Mode = pick(h.randomSession, []uint32{0o644, 0o755, 0o600})
		}
		ws = append(ws, w)
	}
	h.faults()
	before := h.disk.snapshot()
	_, err := env.Files.WriteAll(context.Background(), ws)
	h.say("call %s writes %v: %v", id, ws, err)
	if err != nil && !h.crash.died() && !errors.Is(err, errDisk) {
		h.fail("a write failed: %v", err)
	}
	if err != nil && !h.crash.died() && !h.disk.stays && !maps.Equal(before, h.disk.files) {
		h.fail("a write that failed changed something")
	}
}

// command is a shell command: nothing but the comparison of before and after
// says what it did. A person may save a file meanwhile; who did what is then
// not known.
func (h *history) command(id string) {
	before := h.disk.snapshot()
	p := pick(h.randomSession, paths)
	f, ok := h.disk.files[p]
	to := pick(h.randomSession, paths)
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
		_ = h.record(found...)
	}
}

func (h *history) person() string {
	p := pick(h.randomSession, paths)
	f, ok := h.disk.files[p]
	if ok && h.chance(10) {
		for _, l := range linesOf(f.data) {
			h.removed[l] = true
		}
		h.disk.drop(p)
		h.say("the person removes %s", p)
		return p
	}
	h.disk.put(p, h.edited("P", f.data))
	if h.chance(5) {
		h.disk.chmod(p, 0o700)
	}
	h.say("the person writes %s: %q", p, h.disk.files[p].data)
	return p
}

func (h *history) faults() {
	h.disk.fails, h.disk.stays = 0, false
	switch {
	case h.chance(6):
		h.crash.after(h.rnd.IntN(7))
	case h.chance(6):
		h.disk.fails, h.disk.stays = 1+h.rnd.IntN(3), h.chance(30)
	}
}

func (h *history) partly(err error) bool { return errors.Is(err, errDisk) && h.disk.stays }

func (h *history) restart() {
	h.deaths++
	_ = h.s.Close()
	h.open()
	h.say("it died and was opened again")
	h.nothingOpen()
}

// dies is a death between two steps.
func (h *history) dies() {
	before := h.files()
	h.restart()
	h.kept(before, notAgreed)
}

func (h *history) live(steps int) {
	o := odds{leaveBlocked: 70, confirm: 80, meanwhile: 15, again: 30}
	for range steps {
		switch n := h.rnd.IntN(100); {
		case n < 35:
			h.turn()
		case n < 50:
			h.person()
		case n < 85:
			h.putBackSomething([]undo.Kind{undo.ByChange, undo.ByTurn, undo.ByFile, undo.ByCommand, undo.ByAll, undo.ByRewind}, func() string { return pick(h.randomSession, paths) }, o)
		case n < 95:
			h.putBack(undo.Selector{Kind: undo.ByRedo}, o)
		default:
			h.dies()
		}
		if h.crash.died() {
			if h.chance(30) {
				h.person()
			}
			h.dies()
		}
	}
	_ = h.s.Close()
}

// histories is how many the normal run tries; PAWL_HISTORIES sets another
// number, which .ci/run does.
const histories = 300

// SPEC 4.8, 10.2, 11.2: no line of a person's is ever lost; each file is before
// or after, never between; undo then redo gives the same bytes; nothing that
// the agent did not create is deleted.
func TestHistories(t *testing.T) {
	n := histories
	if s := os.Getenv("PAWL_HISTORIES"); s != "" {
		n = must.Get(strconv.Atoi(s))(t)
	}
	plans, deaths, redos := 0, 0, 0
	for seed := range n {
		h := newHistory(t, uint64(seed), nil)
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
		ws := must.Get(workspace.Open(t.TempDir(), workspace.Options{}))(t)
		h := newHistory(t, uint64(seed), ws)
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
		_ = h.record(event.Prompted{Source: event.Person})
		return h
	}
	write := func(h *history) {
		env := h.s.abilities.env(&turn.Pending{Call: llm.Call{ID: "1"}, Tool: tool.Tool{Spec: llm.ToolSpec{Name: "multi_edit"}}})
		_, _ = env.Files.WriteAll(ctx, []tool.Write{
			{Path: "a", Data: []byte("one\n2\n3\n"), Expect: hashOf("1\n2\n3\n")},
			{Path: "new/deep/c", Data: []byte("c\n")},
			{Path: "gone", Remove: true, Expect: hashOf("g\n")},
			{Path: "b", Data: []byte("x\n"), Expect: hashOf("x\n"), MoveTo: "new/b"},
		})
	}
	undone := func(h *history, w undo.Kind) {
		p, err := h.s.View().Changes().Plan(ctx, undo.Selector{Kind: w})
		if err != nil {
			h.fail("%v", err)
		}
		_, _ = DoPlan(ctx, h.s, p, undo.Consent{})
	}
	ends := 0
	for _, op := range []string{"write", "undo", "redo"} {
		for steps := 0; ; steps++ {
			h := setUp()
			start := h.disk.snapshot()
			if op != "write" {
				write(h)
				_ = h.record(event.Ended{End: event.EndDone})
				h.disk.put("a", h.disk.files["a"].data+"mine\n") // someone's later edit
			}
			written := h.disk.snapshot()
			if op == "redo" {
				undone(h, undo.ByTurn)
			}
			before := h.disk.snapshot()
			h.crash.after(steps)
			switch op {
			case "write":
				write(h)
			case "undo":
				undone(h, undo.ByTurn)
			case "redo":
				undone(h, undo.ByRedo)
			}
			died := h.crash.died()
			h.dies()
			h.say("%s, death at %d", op, steps)
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
			if _, err := h.s.View().Changes().Plan(ctx, undo.Selector{Kind: undo.ByTurn}); err == nil {
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
