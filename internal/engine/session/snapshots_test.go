package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/sqlite"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/progress"
)

// checkSnapshots checks that a session that is taken up from a snapshot is in
// the state, to the last field of every fold, of one whose log was folded from
// the beginning: at some places, right there and at the end.
func checkSnapshots(t failer, cfg session.Config, log []event.Event, places ...int) {
	t.Helper()
	another := session.Fresh(cfg)
	fresh := func() *session.Folded {
		f, err := another()
		if err != nil {
			t.Errorf("the folds cannot be written: %v", err)
		}
		return f
	}
	whole := fresh()
	if whole == nil || whole.Folds == nil {
		return
	}
	whole.Apply(log...)
	if _, err := whole.Bytes(); err != nil {
		t.Errorf("%d events: %v", len(log), err)
		return
	}
	forked, wholeFork := slices.Clone(log), fresh()
	for i := range forked {
		forked[i].Session = "another"
	}
	wholeFork.Apply(forked...)
	if _, err := wholeFork.Bytes(); err != nil {
		t.Errorf("%d events of a fork: %v", len(log), err)
		return
	}
	for _, n := range places {
		before, after := fresh(), fresh()
		before.Apply(log[:n]...)
		data, err := before.Bytes()
		if err == nil {
			err = after.Set(data)
		}
		if err != nil {
			t.Errorf("after %d of %d events: %v", n, len(log), err)
			return
		}
		same(t, fmt.Sprintf("read after event %d of %d", n, len(log)), before, after)
		if again, err := after.Bytes(); err != nil || !bytes.Equal(again, data) {
			t.Errorf("read and written again at event %d of %d it is other bytes (%v)", n, len(log), err)
		}
		fork := fresh() // which begins with the same events
		if err := fork.Set(data); err != nil {
			t.Errorf("after %d of %d events: %v", n, len(log), err)
			return
		}
		fork.Apply(forked[n:]...)
		if _, err := fork.Bytes(); err != nil {
			t.Errorf("a fork after %d of %d events: %v", n, len(log), err)
			return
		}
		same(t, fmt.Sprintf("event %d of a fork, gone on with from %d", len(log), n), wholeFork, fork)
		after.Apply(log[n:]...)
		if _, err := after.Bytes(); err != nil {
			t.Errorf("after %d of %d events: %v", n, len(log), err)
			return
		}
		same(t, fmt.Sprintf("event %d, gone on with from %d", len(log), n), whole, after)
	}
}

// same compares all of the folds, also what a snapshot passes over.
func same(t failer, where string, want, got *session.Folded) {
	t.Helper()
	for i := range want.Roots {
		if !reflect.DeepEqual(want.Roots[i], got.Roots[i]) {
			t.Errorf("%s: %T is\n%+v\nand from the beginning\n%+v", where, got.Roots[i], got.Roots[i], want.Roots[i])
		}
	}
}

// words is what the fields of a random event may be: few, so that events are
// about the same calls, files and turns.
var words = map[string][]string{
	"ID": {"c1", "c2", "c3"}, "Call": {"c1", "c2", "c3", ""}, "Tool": {"bash", "edit", "read", "agent", "command", "undo", "redo"}, "Name": {"bash", "edit", "read"},
	"Path": {"a.go", "src/b.go", "Makefile", "src/deep/c_test.go", "AGENTS.md"}, "Target": {"a.go", "src/b.go", ""},
	"Command": {"", "go test ./...", "echo a > src/b.go", "make check && rm a.go", "cd src; grep -n x b.go | head", "sleep 1", "if"},
	"Outcome": {"ok", "ok", "failed", "denied", "cancelled", "timeout", "unknown"}, "Does": {"read", "search", "edit", "exec", "wait", "note"},
	"Source": {"person", "person", "autofix", "hook", "parent"}, "Why": {"start", "compaction", "rules", "status.moderate", "hint.slices", "plan", "stuck", "budget", "full"},
	"Rule": {"bash(go test *)", "edit(src/**)", "identical", "read"}, "Scope": {"session", "always", "once", "no"}, "Mode": {"ask", "plan", "yolo", "odd"},
	"Level": {"recovery", "block", "halt"}, "By": {"person", "model", "timeout", "pattern", "stuck", "child"}, "What": {"budget.usd", "budget.tokens", "journal", "turn", "file"},
	"Before": {"", "h1", "h2", "h3"}, "After": {"", "h1", "h2", "h3"}, "Hash": {"h1", "h2", "h3"}, "End": {"done", "failed", "interrupted", "stuck", "budget"},
	"Kind": {"text", "call", "result", "image", "reasoning"}, "Role": {"user", "assistant", "tool"}, "Child": {"k1", "k2"}, "Op": {"command", "undo"},
	"Route": {"read", "edit", "run"}, "Status": {"pending", "in_progress", "completed"},
}

func random(r *rand.Rand, v reflect.Value, field string, depth int) {
	switch t := v.Type(); {
	case t == reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte([]string{`{"command":"go test ./..."}`, `{"path":"a.go","old":"x","new":"y"}`, `{"files":[{"path":"src/b.go","from":1,"to":9}]}`, `{}`}[r.IntN(4)]))
		return
	case t == reflect.TypeFor[time.Time]():
		return
	}
	switch v.Kind() {
	case reflect.String:
		from := words[field]
		if from == nil {
			from = []string{"", "one", "FAIL: it failed\nexit code 1", "ok  pkg 0.1s", "another text that is long enough to be shared", "# Plan: it\n## Phase 1: do it"}
		}
		v.SetString(from[r.IntN(len(from))])
	case reflect.Bool:
		v.SetBool(r.IntN(3) == 0)
	case reflect.Int, reflect.Int64, reflect.Uint32:
		n := r.IntN(12)
		if v.Type().PkgPath() != "" && v.Type() != reflect.TypeFor[time.Duration]() {
			n %= 3 // a level
		}
		if v.CanInt() {
			v.SetInt(int64(n))
		} else {
			v.SetUint(uint64(n))
		}
	case reflect.Float64:
		v.SetFloat(r.Float64())
	case reflect.Pointer:
		if r.IntN(2) == 0 && depth < 6 {
			v.Set(reflect.New(v.Type().Elem()))
			random(r, v.Elem(), field, depth+1)
		}
	case reflect.Slice:
		n := r.IntN(3)
		if n == 0 || depth >= 6 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			random(r, v.Index(i), field, depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				random(r, v.Field(i), f.Name, depth+1)
			}
		}
	}
}

// often are the kinds of which a session mostly consists.
var often = []string{"prompted", "requested", "replied", "call_asked", "call_asked", "call_started", "call_done", "call_done", "file_seen", "file_changed", "file_changed", "ended", "undone", "redone", "granted", "revoked"}

// randomLog is a log of events of all kinds in any order, as it is read from a store.
func randomLog(t failer, r *rand.Rand, n int) (log []event.Event) {
	t.Helper()
	kinds := slices.DeleteFunc(event.Kinds(), func(k string) bool {
		return slices.Contains([]string{"text_delta", "reasoning_delta", "call_delta", "output_delta", "progressed", "waiting"}, k)
	})
	at := time.Unix(1_800_000_000, 0).UTC()
	for i := range n {
		kind := kinds[r.IntN(len(kinds))]
		if r.IntN(4) > 0 {
			kind = often[r.IntN(len(often))]
		}
		if i == 0 {
			kind = "opened"
		}
		b := reflect.New(reflect.TypeOf(event.New(kind))).Elem()
		random(r, b, "", 0)
		raw, err := event.Encode(b.Interface().(event.Body))
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			return log
		}
		body, err := event.Decode(kind, event.VersionOf(b.Interface().(event.Body)), raw)
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			return log
		}
		at = at.Add(time.Duration(r.IntN(5)) * time.Second)
		log = append(log, event.Event{Session: "s1", Seq: int64(i + 1), Cause: int64(r.IntN(i + 1)), Time: at, Body: body})
	}
	return log
}

// SPEC 19.3: a session that is taken up from a snapshot is, in every field of
// every fold, the one whose log was folded from its beginning; for any events in
// any order.
func TestSnapshotsOfRandomLogs(t *testing.T) {
	rounds, long := 60, 120
	if testing.Short() {
		rounds = 10
	}
	base := permission.New(permission.Config{Mode: permission.AcceptEdits, Root: "/work", Home: "/home/nobody"})
	must.Do(t, base.Add(permission.User, []string{"bash(git status)"}, []string{"web_fetch"}, []string{"bash(rm *)"}))
	cfg := session.Config{ID: "s1", Program: "test", Permission: base, Tuning: session.Tuning{Progress: progress.Default()}}
	for i := range rounds {
		r := rand.New(rand.NewPCG(16, uint64(i)))
		log := randomLog(t, r, 2+r.IntN(long))
		checkSnapshots(t, cfg, log, r.IntN(len(log)), 1+r.IntN(len(log)), len(log))
		if t.Failed() {
			t.Fatalf("round %d", i)
		}
	}
}

// SPEC 9.4, 19.3: a session of a real store that is taken up from a snapshot
// asks the model what one asks that is folded from the beginning, byte for byte,
// has the same rights and has spent the same.
func TestTakenUpFromASnapshot(t *testing.T) {
	st := must.Get(sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "log.db"), sqlite.Options{}))(t)
	t.Cleanup(func() { _ = st.Close() })
	var script []llmtest.Turn
	for i := range 30 {
		script = append(script, llmtest.Use("bash", fmt.Sprintf(`{"command":"echo %d"}`, i)))
	}
	m := llmtest.New(append(script, llmtest.Say("done"))...)
	m.CodecValue = plainCodec{}
	r := newRig(t, "yolo", m, func(c *session.Config) {
		c.Model = llmtest.Scripted{Model: m}
		c.Store, c.Program, c.SnapshotEvery = st, "test", 40
	})
	base := r.Cfg.Permission.Copy()
	must.Done(t)(r.Submit(t.Context(), session.Grant{Rule: "bash(git push *)", Scope: event.Session}))
	r.Run("echo a lot", nil)
	must.Do(t, r.Close())
	at, _, err := st.Snapshot(t.Context(), r.Cfg.ID, "folds")
	if err != nil || at < 40 {
		t.Fatalf("the newest snapshot is of event %d: %v", at, err)
	}

	type found struct {
		asked  []byte
		grants []string
		spent  budget.Spent
		mode   permission.Mode
		opened int64
	}
	take := func(program string) (f found) {
		m := llmtest.New(llmtest.Say("yes"))
		m.CodecValue, m.InfoValue = plainCodec{}, r.Model.InfoValue
		cfg := r.Cfg
		id := "fork-" + program
		must.Do(t, st.Fork(t.Context(), event.Origin{Session: r.Cfg.ID, At: r.View().Last()}, id))
		read := &counted{Store: st}
		cfg.ID, cfg.Store, cfg.Program, cfg.Model, cfg.Permission = id, read, program, llmtest.Scripted{Model: m}, base.Copy()
		s := over(t, cfg)
		defer s.Close()
		f.opened = read.after
		f.grants, f.mode = s.View().Grants(), s.View().Mode()
		f.spent, _ = s.View().Spent()
		s.Run("go on", nil)
		f.asked = bytes.Join(m.Requests()[0].Body, nil)
		return f
	}
	whole, short := take(""), take("test")
	if whole.opened != 0 || short.opened != at {
		t.Errorf("folded from event %d and %d on, want 0 and %d", whole.opened, short.opened, at)
	}
	if !bytes.Equal(whole.asked, short.asked) || len(whole.asked) == 0 {
		t.Errorf("from a snapshot it asks\n%s\nand else\n%s", short.asked, whole.asked)
	}
	if !slices.Equal(whole.grants, short.grants) || len(short.grants) != 1 || whole.mode != short.mode || !reflect.DeepEqual(whole.spent, short.spent) {
		t.Errorf("from a snapshot %+v, else %+v", short, whole)
	}
}

// counted is a store that knows after which event it was read first.
type counted struct {
	*sqlite.Store
	once  sync.Once
	after int64
}

func (c *counted) Read(ctx context.Context, id string, after int64) iter.Seq2[event.Event, error] {
	c.once.Do(func() { c.after = after })
	return c.Store.Read(ctx, id, after)
}
