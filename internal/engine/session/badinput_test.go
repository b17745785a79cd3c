package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store"
	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/session/sessiontest"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// SPEC 4.8, 10.4: wherever the log stops taking events, the turn ends with one
// clear error, nothing ran whose start was not stored, and what was stored can
// be taken up once there is room again.
func TestFullDisk(t *testing.T) {
	for n := 1; ; n++ {
		m := llmtest.New(
			llmtest.Use("write", args(map[string]string{"path": "a.txt", "content": "x"}), "write", args(map[string]string{"path": "b.txt", "content": "x"})),
			llmtest.Use("bash", `{"command":"echo x > c.txt"}`),
		)
		under := memory.New(time.Now)
		full := sessiontest.Fill(under, 1<<30)
		r := newRig(t, "yolo", m, func(c *session.Config) { c.Store = full })
		r.Store = under
		full.Leave(n)
		ended := followToTheEnd(t, r, n)
		all := stored(t, under, "s1")
		started := map[string]bool{}
		for _, e := range all {
			if c, ok := e.Body.(event.CallStarted); ok {
				started[c.ID] = true
			}
		}
		asked := find[event.CallAsked](all)
		for i, name := range []string{"a.txt", "b.txt", "c.txt"} {
			ran := !strings.HasPrefix(r.File(name), "error")
			if ran && (i >= len(asked) || !started[asked[i].ID]) {
				t.Errorf("full from append %d on: %s was written by a call whose start is not stored", n, name)
			}
		}
		if ended {
			return // there was room for all
		}
		if err := r.Close(); !errors.Is(err, store.ErrFull) || strings.Contains(err.Error(), "\n") || fault.CategoryOf(err) != fault.Configuration {
			t.Errorf("full from append %d on: closing says %v", n, err)
		}
		next := llmtest.New(llmtest.Say("on we go"))
		cfg := r.Cfg
		cfg.Store, cfg.Model, cfg.Permission = under, next, policy(t, "yolo", r.Dir)
		again := over(t, cfg)
		again.Run("go on", nil)
		checkFold(t, stored(t, under, "s1"))
	}
}

// followToTheEnd prompts and reads until the turn ends, or the events do.
func followToTheEnd(t *testing.T, r *rig, n int) (ended bool) {
	t.Helper()
	events := r.Events(t.Context(), r.View().Last())
	if _, err := r.Submit(t.Context(), session.Prompt{Text: "go"}); err != nil {
		if !errors.Is(err, store.ErrFull) {
			t.Errorf("full from append %d on: the prompt says %v", n, err)
		}
		return false
	}
	for e, err := range events {
		must.Do(t, err)
		if _, ok := e.Body.(event.Ended); ok {
			return true
		}
	}
	return false
}

// A reader that is far behind misses nothing that was stored, also where more
// is stored while it catches up.
func TestReaderFarBehind(t *testing.T) {
	r := newRig(t, "ask", llmtest.New())
	events := r.Events(t.Context(), 0)
	for range 9000 { // more than a reader's queue takes
		must.Done(t)(r.Submit(t.Context(), session.SetMode{Mode: "ask"}))
	}
	last := int64(0)
	for e, err := range events {
		must.Do(t, err)
		if e.Seq != last+1 {
			t.Fatalf("event %d after %d", e.Seq, last)
		}
		if last = e.Seq; last == 2 { // it is reading, and falls behind again
			for range 9000 {
				must.Done(t)(r.Submit(t.Context(), session.SetMode{Mode: "plan"}))
			}
		}
		if last == r.View().Last() {
			return
		}
	}
}

// A prompt at the very moment of closing is refused or has its end: nothing is
// written once Close has returned.
func TestPromptWhileClosing(t *testing.T) {
	for range 50 {
		r := newRig(t, "ask", llmtest.New())
		go func() { _, _ = r.Submit(context.Background(), session.Prompt{Text: "go"}) }()
		must.Do(t, r.Close())
		all := stored(t, r.Store, "s1")
		if p, e := find[event.Prompted](all), find[event.Ended](all); len(p) != len(e) {
			t.Fatalf("%d prompts, %d ends", len(p), len(e))
		}
	}
}

// SPEC 4.4: some models count their calls from 0 in every reply. Each call gets an id of
// its own, for the pairs, consent, spilled results, and what is closed after a death.
func TestIdsThatRepeat(t *testing.T) {
	call := func(name, in string) llmtest.Turn {
		return llmtest.Turn{Calls: []llm.Call{{ID: "0", Name: name, Args: json.RawMessage(in)}}}
	}
	long := tool.New("long", "says much", func(tool.Env, in) (tool.Footprint, error) { return tool.Footprint{}, nil },
		func(_ context.Context, _ tool.Env, i in) (tool.Result, error) {
			return tool.Text(strings.Repeat(i.Path, 100_000)), nil
		})
	long.ReadOnly = true
	script := []llmtest.Turn{
		call("bash", `{"command":"touch a"}`), call("bash", `{"command":"touch b"}`),
		call("long", `{"path":"x"}`), call("long", `{"path":"y"}`), llmtest.Say("done"),
	}
	m := llmtest.New(script...)
	r := newRig(t, "ask", m, func(c *session.Config) {
		c.Person = true
		c.Tools = append(tool.Set{long}, c.Tools...)
	})
	n := 0
	r.Run("go", onEvent(func(q event.Asked) {
		n++
		v := event.Verdict{Call: q.Questions[0].Call, Scope: event.Once}
		if n == 2 {
			v.Scope, v.Why = event.No, "not b"
		}
		if _, err := r.Submit(t.Context(), session.Answer{ID: q.ID, Verdicts: []event.Verdict{v}}); err != nil {
			t.Error(err)
		}
	}))
	all := stored(t, r.Store, "s1")
	checkFold(t, all)
	if strings.HasPrefix(r.File("a"), "error") || !strings.HasPrefix(r.File("b"), "error") {
		t.Error("consent for one call was taken for another of the same id")
	}
	done := find[event.CallDone](all)
	if len(done) != 4 || done[1].Outcome != event.Denied || done[2].Spill == done[3].Spill {
		t.Fatalf("%+v", done)
	}
	for i, d := range done[2:] {
		if b, err := os.ReadFile(d.Spill); err != nil || string(b) != strings.Repeat(string("xy"[i]), 100_000) {
			t.Errorf("%s has %d bytes: %v", d.Spill, len(b), err)
		}
	}
	for i, req := range m.Requests() {
		pairs(t, i, req.Messages)
	}

	// Wherever it dies, only what was open is closed.
	for n := 3; n < len(all); n++ {
		if whole(all, n) != n {
			continue
		}
		next := llmtest.New(llmtest.Say("on we go"))
		cfg := r.Cfg
		cfg.Store, cfg.Model, cfg.Permission = copied(t, all[:n]), next, policy(t, "ask", r.Dir)
		again := over(t, cfg)
		again.Run("and now?", nil)
		after := stored(t, cfg.Store, "s1")
		checkFold(t, after)
		pairs(t, n, next.Requests()[0].Messages)
		open := len(find[event.CallAsked](all[:n])) - len(find[event.CallDone](all[:n]))
		closed := find[event.CallDone](after[n:])
		if len(closed) != open {
			t.Errorf("cut at %d: %d calls closed, %d were open", n, len(closed), open)
		}
		asked := find[event.CallAsked](all[:n])
		for _, d := range closed {
			if name := asked[len(asked)-1].Tool; d.Outcome != event.UnknownDone || d.Tool != name || d.Result.Name != name {
				t.Errorf("cut at %d: %+v", n, d)
			}
		}
		_ = again.Close()
	}
}

// SPEC 4.9, 4.10, 16.8: files that are not text, links in a circle, a file
// that grows while it is read: each is a result, and nothing is damaged.
func TestOddFiles(t *testing.T) {
	binary := "\x00\x01\xff\xfeELF"
	latin := "caf\xe9 one\nlast\n"
	read := func(p string) []string {
		return []string{"read", args(map[string]any{"files": []any{map[string]string{"path": p}}})}
	}
	edit := func(p, old, now string) []string {
		return []string{"edit", args(map[string]string{"path": p, "old": old, "new": now})}
	}
	grep := func(p string) []string { return []string{"grep", args(map[string]string{"pattern": "one", "path": p})} }
	var steps []llmtest.Turn
	for _, s := range [][]string{
		read("bin"), grep("."), edit("bin", "ELF", "elf"),
		read("latin.txt"), edit("latin.txt", "one", "two"),
		read("loop"), grep("loop"), edit("loop", "one", "two"),
		{"write", args(map[string]string{"path": "loop", "content": "x"})},
		read("away"),
		{"write", args(map[string]string{"path": "away", "content": "x"})},
		read("."), read("grows.txt"),
	} {
		steps = append(steps, llmtest.Use(s...))
	}
	m := llmtest.New(steps...)
	r := newRig(t, "accept-edits", m, func(c *session.Config) {
		c.Tools = append(tool.Set{tools.Grep()}, c.Tools...)
	})
	r.Put("bin", binary)
	r.Put("latin.txt", latin)
	outside := filepath.Join(t.TempDir(), "secret.txt")
	must.Write(t, outside, "theirs")
	for name, to := range map[string]string{"loop": "pool", "pool": "loop", "away": outside} {
		must.Do(t, os.Symlink(to, filepath.Join(r.Dir, name)))
	}
	stop := grow(t, filepath.Join(r.Dir, "grows.txt"))
	es := r.Run("look at all of it", nil)
	stop()
	if end := find[event.Ended](es)[0]; end.End != event.EndDone {
		t.Fatalf("%+v", end)
	}
	done := find[event.CallDone](es)
	if len(done) != len(steps) {
		t.Fatalf("%d results of %d calls", len(done), len(steps))
	}
	for i, d := range done {
		if !json.Valid([]byte(args(d))) || strings.Contains(d.Result.Text, "\x00") {
			t.Errorf("result %d: %q", i, d.Result.Text)
		}
		if d.Tool != "grep" && d.Outcome == event.OK && (i == 7 || i == 8 || i == 10) {
			t.Errorf("call %d (%s) came to %s: %s", i, d.Tool, d.Outcome, d.Result.Text)
		}
	}
	if got := r.File("bin"); got != binary && got != strings.Replace(binary, "ELF", "elf", 1) {
		t.Errorf("bin is %q", got)
	}
	if got := r.File("latin.txt"); got != latin && got != "caf\xe9 two\nlast\n" {
		t.Errorf("latin.txt is %q: bytes that nobody named changed", got)
	}
	if b, err := os.ReadFile(outside); err != nil || string(b) != "theirs" {
		t.Errorf("the file behind the link is %q %v", b, err)
	}
	if st, err := os.Lstat(filepath.Join(r.Dir, "loop")); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
	checkFold(t, stored(t, r.Store, "s1"))
}

// grow appends to a file until it is told to stop.
func grow(t *testing.T, path string) (stop func()) {
	t.Helper()
	f := must.Get(os.Create(path))(t)
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for n := 0; n < 4<<20; n += 64 {
			select {
			case <-done:
				return
			default:
			}
			if _, err := f.WriteString(strings.Repeat("one more line of a log that grows\n", 2)); err != nil {
				return
			}
		}
	}()
	return func() { close(done); <-gone; _ = f.Close() }
}

// SPEC 4.6, 4.15, 16.8: what a write is refused for is not shown where it may
// not be read: neither outside the workspace nor where a rule denies it.
func TestRefusalShowsNoSecret(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.txt")
	must.Write(t, outside, "theirs\n")
	write := func(p string) llmtest.Turn {
		return llmtest.Use("write", args(map[string]string{"path": p, "content": "x"}))
	}
	for _, person := range []bool{false, true} {
		m := llmtest.New(write(outside), write("away"), write("denied.txt"),
			llmtest.Use("edit", args(map[string]string{"path": outside, "old": "nothing", "new": "x"})))
		r := newRig(t, "accept-edits", m, func(c *session.Config) {
			c.Person = person
			must.Do(t, c.Permission.Add(permission.User, nil, nil, []string{"read(denied.txt)"}))
		})
		r.Put("denied.txt", "secret\n")
		must.Do(t, os.Symlink(outside, filepath.Join(r.Dir, "away")))
		es := r.Run("look", func(e event.Event) {
			if q, ok := e.Body.(event.Asked); ok {
				_, _ = r.Submit(t.Context(), session.Answer{ID: q.ID, Verdicts: []event.Verdict{{Call: q.Questions[0].Call, Scope: event.Once}}})
			}
		})
		done := find[event.CallDone](es)
		if len(done) != 4 {
			t.Fatalf("%+v", done)
		}
		for i, d := range done {
			if strings.Contains(d.Result.Text, "theirs") || strings.Contains(d.Result.Text, "secret\n") || d.Outcome == event.OK {
				t.Errorf("person %v: call %d came to %s: %s", person, i, d.Outcome, d.Result.Text)
			}
		}
		if n := len(find[event.Blocked](es)); !person && n != 3 {
			t.Errorf("%d calls are listed as denied, want 3: %+v", n, find[event.Blocked](es))
		}
	}
}

// A provider that does not take the key ends the turn as a matter of
// configuration (exit code 3).
func TestWrongKey(t *testing.T) {
	r := newRig(t, "ask", llmtest.New(llmtest.Turn{Err: fault.NewProvider("p", 401, "p answered 401: wrong key", nil)}))
	es := r.Run("hello", nil)
	end := find[event.Ended](es)[0]
	if end.End != event.EndConfig || end.Error == nil || end.Error.Category != string(fault.Provider) {
		t.Errorf("%+v", end)
	}
}

// SPEC 10.3: what an interrupt cancels says how long it ran, and a command's
// whole group is gone when the turn has ended.
func TestInterruptLeavesNoProcess(t *testing.T) {
	r := newRig(t, "yolo", llmtest.New(llmtest.Use("bash", `{"command":"sleep 1000 & echo $! > child; echo $$ > parent; echo started; sleep 1000; true"}`)))
	es := r.Run("hang", func(e event.Event) {
		if b, ok := e.Body.(event.OutputDelta); ok && strings.Contains(b.Text, "started") {
			if _, err := r.Submit(t.Context(), session.Interrupt{By: "person"}); err != nil {
				t.Error(err)
			}
		}
	})
	if d := find[event.CallDone](es)[0]; d.Outcome != event.Cancelled || d.Took <= 0 {
		t.Errorf("%+v", d)
	}
	for _, name := range []string{"child", "parent"} {
		var pid int
		must.Done(t)(fmt.Sscan(r.File(name), &pid))
		if processtest.Alive(pid) {
			t.Errorf("process %d (%s) is still there", pid, name)
		}
	}
}
