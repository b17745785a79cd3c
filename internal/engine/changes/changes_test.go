package changes_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/command"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// testRecorder is a recorder on a log and a workspace, without a session.
type testRecorder struct {
	t     *testing.T
	dir   string
	files tool.Files
	store event.Store
	log   *eventlog.Log
	rec   *changes.Recorder
	busy  bool
}

func newTestRecorder(t *testing.T) *testRecorder {
	t.Helper()
	dir := t.TempDir()
	ws := must.Get(workspace.Open(dir, workspace.Options{}))(t)
	t.Cleanup(func() { _ = ws.Close() })
	r := &testRecorder{t: t, dir: dir, files: ws, store: memory.New(time.Now)}
	r.open(nil)
	return r
}

// mortal is a store that a process dies of when cut returns an error.
type mortal struct {
	event.Store
	cut func([]event.Draft) error
}

func (m mortal) Append(ctx context.Context, session string, after int64, ds ...event.Draft) ([]event.Event, error) {
	if m.cut != nil {
		if err := m.cut(ds); err != nil {
			return nil, err
		}
	}
	return m.Store.Append(ctx, session, after, ds...)
}

// open opens the log anew, as after the death of a process.
func (r *testRecorder) open(cut func([]event.Draft) error) {
	r.t.Helper()
	fold := &changes.Fold{}
	var err error
	r.log, err = eventlog.Open(r.t.Context(), eventlog.Config{Store: mortal{r.store, cut}, Session: "s", Now: time.Now}, fold)
	must.Do(r.t, err)
	r.rec = changes.New(r.log, fold, changes.Config{
		Session: "s", Dir: r.dir, Store: r.store, Files: r.files, Now: time.Now, CatchUp: r.log.CatchUp,
		Exclusive: func(ctx context.Context, cannot string) (context.Context, func(), error) {
			if r.busy {
				return nil, nil, &fault.Error{Kind: fault.ErrBusy, Message: cannot + " while a turn runs"}
			}
			return ctx, func() {}, r.log.CatchUp(ctx)
		},
	})
}

// with is a recorder of a session on the same log, with a journal.
func (r *testRecorder) with(session string, j tool.Journal) *changes.Recorder {
	r.t.Helper()
	fold := &changes.Fold{}
	log := must.Get(eventlog.Open(r.t.Context(), eventlog.Config{Store: r.store, Session: "s", Now: time.Now}, fold))(r.t)
	return changes.New(log, fold, changes.Config{
		Session: session, Dir: r.dir, Store: r.store, Files: r.files, Now: time.Now, CatchUp: log.CatchUp, Journal: j, Shell: jobs{},
	})
}

func (r *testRecorder) write(ws ...tool.Write) error {
	_, err := r.rec.Files(r.files, &turn.Pending{Call: llm.Call{ID: "c1"}, Tool: tool.Tool{Spec: llm.ToolSpec{Name: "write"}}}).WriteAll(r.t.Context(), ws)
	return err
}

func (r *testRecorder) read(name string) string {
	b, err := os.ReadFile(filepath.Join(r.dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return "-"
	}
	if err != nil {
		r.t.Error(err)
	}
	return string(b)
}

func (r *testRecorder) kinds() string {
	var out []string
	for e, err := range r.store.Read(r.t.Context(), "s", 0) {
		if errors.Is(err, event.ErrNoSession) {
			break
		}
		must.Do(r.t, err)
		out = append(out, e.Body.Kind())
	}
	return strings.Join(out, " ")
}

// SPEC 11.1, 11.2: a write is in the log before and after it is done, and is
// taken back and done again, on a log alone.
func TestWriteAndUndo(t *testing.T) {
	t.Parallel()
	r := newTestRecorder(t)
	must.Do(t, r.log.Append(t.Context(), event.Draft{Body: event.Prompted{Source: event.Person, Text: "go"}}))
	must.Do(t, r.write(tool.Write{Path: "a", Data: []byte("one\n")}, tool.Write{Path: "d/b", Data: []byte("two\n")}))
	if got := r.kinds(); got != "prompted writing file_changed file_changed" {
		t.Error(got)
	}
	h := r.rec.History()
	if d, err := h.Diff(t.Context(), undo.Selector{Kind: undo.ByTurn}); err != nil || !strings.Contains(d, "+one") || !strings.Contains(d, "+two") {
		t.Errorf("%q, %v", d, err)
	}
	do := func(w undo.Kind) {
		t.Helper()
		p := must.Get(h.Plan(t.Context(), undo.Selector{Kind: w}))(t)
		if u, err := r.rec.Undo(t.Context(), p, undo.Consent{}); err != nil || len(u.Done) != 2 || len(u.Left) != 0 {
			t.Fatalf("%+v, %v", u, err)
		}
	}
	do(undo.ByTurn)
	if _, err := os.Stat(filepath.Join(r.dir, "d")); r.read("a") != "-" || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a is %q, d %v", r.read("a"), err)
	}
	if _, err := h.Plan(t.Context(), undo.Selector{Kind: undo.ByTurn}); !errors.Is(err, undo.ErrNothing) {
		t.Error(err)
	}
	do(undo.ByRedo)
	if r.read("a") != "one\n" || r.read("d/b") != "two\n" {
		t.Errorf("%q %q", r.read("a"), r.read("d/b"))
	}
	r.busy = true
	if _, err := h.Plan(t.Context(), undo.Selector{Kind: undo.ByTurn}); err == nil || !strings.Contains(err.Error(), "while a turn runs") {
		t.Error(err)
	}
}

// writing are files that are written otherwise.
type writing struct {
	tool.Files
	do func([]tool.Write) ([]tool.Change, error)
}

func (f writing) WriteAll(_ context.Context, ws []tool.Write) ([]tool.Change, error) { return f.do(ws) }

// SPEC 11.1: an interrupt in the middle of a write does not keep its changes out of the log,
// and of a write that failed the log knows that nothing came of it.
func TestWhatBecameOfAWrite(t *testing.T) {
	t.Parallel()
	for _, fails := range []bool{false, true} {
		r := newTestRecorder(t)
		ctx, stop := context.WithCancel(t.Context())
		files := writing{r.files, func(ws []tool.Write) ([]tool.Change, error) {
			defer stop()
			if fails {
				return nil, errors.New("no space")
			}
			return r.files.WriteAll(ctx, ws)
		}}
		_, err := r.rec.Files(files, &turn.Pending{Call: llm.Call{ID: "c1"}}).WriteAll(ctx, []tool.Write{{Path: "a", Data: []byte("one\n")}})
		want := map[bool]string{false: "writing file_changed", true: "writing writing"}[fails]
		if (err != nil) != fails || r.kinds() != want {
			t.Errorf("fails %v: %v, the log is %s", fails, err, r.kinds())
		}
	}
}

// SPEC 11.1, 11.2: an undo that a death cut short is completed, but not where somebody
// changed one of its files since.
func TestRecoverAnUndo(t *testing.T) {
	t.Parallel()
	died := errors.New("died")
	for somebody, want := range map[bool]string{false: "- - -", true: "- one mine"} {
		r := newTestRecorder(t)
		must.Do(t, r.log.Append(t.Context(), event.Draft{Body: event.Prompted{Source: event.Person, Text: "go"}}))
		for _, name := range []string{"a", "b", "c"} {
			must.Do(t, r.write(tool.Write{Path: name, Data: []byte("one")}))
		}
		ws := r.files
		r.files = writing{ws, func(all []tool.Write) ([]tool.Change, error) {
			i := slices.IndexFunc(all, func(w tool.Write) bool { return w.Path == "a" })
			must.Done(t)(ws.WriteAll(t.Context(), all[i:i+1]))
			return nil, died
		}}
		begun := false
		r.open(func([]event.Draft) error {
			if begun {
				return died
			}
			begun = true
			return nil
		})
		p := must.Get(r.rec.History().Plan(t.Context(), undo.Selector{Kind: undo.ByTurn}))(t)
		if _, err := r.rec.Undo(t.Context(), p, undo.Consent{}); !errors.Is(err, died) {
			t.Fatal(err)
		}
		if somebody {
			must.Write(t, filepath.Join(r.dir, "c"), "mine")
		}
		r.files = ws
		r.open(nil)
		ds, recorded := r.rec.Recover(t.Context(), nil)
		must.Do(t, errors.Join(r.log.Append(t.Context(), ds...), recorded()))
		if got := r.read("a") + " " + r.read("b") + " " + r.read("c"); got != want {
			t.Errorf("somebody changed c %v: %s, want %s", somebody, got, want)
		}
	}
}

// jobs is a shell in which one background command runs.
type jobs struct{ tool.Shell }

func (jobs) Run(context.Context, tool.Run) (tool.Ran, error) { return tool.Ran{}, nil }
func (jobs) Start(context.Context, tool.Run) (string, error) { return "1", nil }
func (jobs) Running() []tool.Job                             { return []tool.Job{{ID: "1"}} }
func (jobs) Ended() []tool.Job                               { return nil }

// SPEC 11.1: what a background command changed is recorded, also after an interrupt.
func TestBackgroundChanges(t *testing.T) {
	t.Parallel()
	r := newTestRecorder(t)
	found := &afterDeath{}
	rec := r.with("s", changes.Share(found))
	must.Done(t)(rec.Shell(&turn.Pending{Call: llm.Call{ID: "c1"}}).Start(t.Context(), tool.Run{Command: "make"}))
	found.found.Effects = []tool.Effect{{Path: "made.txt", After: "h"}}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	rec.RecordBackground(ctx)
	if r.kinds() != "file_changed" {
		t.Errorf("the log is %q", r.kinds())
	}
}

// SPEC 11.2: what a command names and changes is its own; where the workspace could not be
// looked at before it, it may be older.
func TestChangesThatMayBeOlder(t *testing.T) {
	t.Parallel()
	for _, blind := range []error{nil, errors.New("the disk does not answer")} {
		r := newTestRecorder(t)
		j := &afterDeath{first: func() error { return blind }, found: tool.Snapshot{Effects: []tool.Effect{{Path: "a", After: "h"}}}}
		must.Do(t, r.with("s", j).RunForPerson(t.Context(), tool.Run{Command: "echo x > a"}, func(tool.Ran) event.Body {
			return event.PersonRan{}
		}))
		found := 0
		for e := range r.store.Read(t.Context(), "s", 0) {
			if c, ok := e.Body.(event.FileChanged); ok {
				if found++; c.Unattributed != (blind != nil) {
					t.Errorf("%v: %+v", blind, c)
				}
			}
		}
		if found != 1 {
			t.Errorf("%v: %d changes", blind, found)
		}
	}
}

// SPEC 11.1: what a session finds of another one's command after a crash is kept for that one.
func TestAnothersChanges(t *testing.T) {
	t.Parallel()
	r := newTestRecorder(t)
	shared := changes.Share(&afterDeath{found: tool.Snapshot{Tag: "other/c1", Effects: []tool.Effect{{Path: "made.txt", After: "h"}}}})
	for _, c := range []struct {
		session string
		finds   int
	}{{"s", 0}, {"other", 1}, {"s", 0}} {
		if ds, _ := r.with(c.session, shared).Recover(t.Context(), []llm.Call{{ID: "c1"}}); len(ds) != c.finds {
			t.Errorf("%s finds %+v", c.session, ds)
		}
	}
}

// SPEC 11.2: what a death between a write and its record left is found.
func TestRecover(t *testing.T) {
	t.Parallel()
	died := errors.New("died")
	for name, at := range map[string]string{"before the write": "writing", "after the write": "file_changed"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTestRecorder(t)
			r.open(func(ds []event.Draft) error {
				if slices.ContainsFunc(ds, func(d event.Draft) bool { return d.Body.Kind() == at }) {
					return died
				}
				return nil
			})
			if err := r.write(tool.Write{Path: "a", Data: []byte("one\n")}); !errors.Is(err, died) {
				t.Fatal(err)
			}
			r.open(nil)
			ds, recorded := r.rec.Recover(t.Context(), nil)
			must.Do(t, errors.Join(r.log.Append(t.Context(), ds...), recorded()))
			want, log := "-", ""
			if at == "file_changed" {
				want, log = "one\n", "writing file_changed"
			}
			if r.read("a") != want || r.kinds() != log {
				t.Errorf("a is %q, the log %s", r.read("a"), r.kinds())
			}
			if ds, _ := r.rec.Recover(t.Context(), nil); len(ds) > 0 {
				t.Errorf("recovered twice: %+v", ds)
			}
		})
	}
}

// afterDeath is a journal that finds what ran when an earlier process died.
type afterDeath struct {
	tool.Journal
	found tool.Snapshot
	first func() error // of the first look, which finds nothing
}

func (j *afterDeath) Snapshot(ctx context.Context, _ []string) (tool.Snapshot, error) {
	if first := j.first; first != nil {
		j.first = nil
		return tool.Snapshot{}, first()
	}
	l := j.found
	j.found = tool.Snapshot{}
	return l, ctx.Err()
}
func (j *afterDeath) Checkpoint(string) error     { return nil }
func (j *afterDeath) Lost([]string, int) []string { return nil }
func (j *afterDeath) Content(context.Context, tool.Hash) ([]byte, error) {
	return nil, errors.New("not kept")
}

// SPEC 11.1: where a command removes more folders than are searched for ignored files, it is
// asked about for what the others may hold.
func TestFoldersThatAreNotSearched(t *testing.T) {
	t.Parallel()
	for folders, want := range map[int]string{1998: "", 2001: "big/"} {
		r := newTestRecorder(t)
		for i := range folders {
			must.Do(t, os.MkdirAll(filepath.Join(r.dir, "big", strconv.Itoa(i)), 0o700))
		}
		rec := r.with("s", changes.Share(&afterDeath{}))
		cmds := must.Get(command.ParseWith("rm -r big", shellsyntax.Options{Dir: r.dir}))(t)
		p := &turn.Pending{Footprint: tool.Footprint{Unknown: true, Shell: "rm -r big", Commands: cmds}}
		if got := rec.Unrestorable(t.Context(), p, process.Confine{}); got != want {
			t.Errorf("%d folders: %q, want %q", folders, got, want)
		}
	}
}

// SPEC 11.1, 4.9: what ran when pawl died is found by what the call was recorded
// to do, whatever its tool is called and whatever its arguments look like.
func TestRecoverByKind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tool, args string
		does       tool.Kind
		want       bool
	}{
		{"bash", `{"command":"x"}`, tool.Exec, true},
		{"bash", `{"cmd":"x"}`, "", true}, // of a log without facts
		{"mcp__site__build", `{"page":"a"}`, tool.Exec, true},
		{"run_it", `{}`, tool.Exec, true},
		{"bash", `{"command":"x"}`, tool.Read, false}, // a tool of that name that only reads
		{"grep", `{"pattern":"\"command\""}`, tool.Search, false},
		{"mcp__site__stamp", `{"path":"a"}`, tool.Edit, false},
		{"read", `{"files":[{"path":"a"}]}`, "", false},
	} {
		r := newTestRecorder(t)
		call := llm.Call{ID: "c1", Name: c.tool, Args: json.RawMessage(c.args)}
		err := r.log.Append(
			t.Context(), event.Draft{Body: event.Replied{Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{{Kind: llm.CallPart, Call: &call}}}}}},
			event.Draft{Body: event.Completed(event.CallAsked{ID: "c1", Tool: c.tool, Args: call.Args, Does: c.does})},
		)
		must.Do(t, err)
		rec := r.with("s", &afterDeath{found: tool.Snapshot{Tag: "s/c1", Effects: []tool.Effect{{Path: "made.txt", After: "h"}}}})
		ds, _ := rec.Recover(t.Context(), []llm.Call{call})
		if got := len(ds) == 1; got != c.want {
			t.Errorf("%s %s that does %q: %+v, want recorded: %v", c.tool, c.args, c.does, ds, c.want)
		}
	}
}
