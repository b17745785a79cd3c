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

// rig is a recorder on a log and a workspace, without a session.
type rig struct {
	t     *testing.T
	dir   string
	files tool.Files
	store event.Store
	log   *eventlog.Log
	rec   *changes.Recorder
	busy  bool
}

func newRig(t *testing.T) *rig {
	t.Helper()
	dir := t.TempDir()
	ws := must.Get(workspace.Open(dir, workspace.Options{}))(t)
	t.Cleanup(func() { _ = ws.Close() })
	r := &rig{t: t, dir: dir, files: ws, store: memory.New(time.Now)}
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
func (r *rig) open(cut func([]event.Draft) error) {
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

func (r *rig) write(ws ...tool.Write) error {
	_, err := r.rec.Files(r.files, &turn.Pending{Call: llm.Call{ID: "c1"}, Tool: tool.Tool{Spec: llm.ToolSpec{Name: "write"}}}).WriteAll(r.t.Context(), ws)
	return err
}

func (r *rig) read(name string) string {
	b, err := os.ReadFile(filepath.Join(r.dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return "-"
	}
	if err != nil {
		r.t.Error(err)
	}
	return string(b)
}

func (r *rig) kinds() string {
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
	r := newRig(t)
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

// interrupting are files whose writes are interrupted when they are done.
type interrupting struct {
	tool.Files
	stop context.CancelFunc
}

func (f interrupting) WriteAll(ctx context.Context, ws []tool.Write) ([]tool.Change, error) {
	cs, err := f.Files.WriteAll(ctx, ws)
	f.stop()
	return cs, err
}

// SPEC 11.1: an interrupt in the middle of a write does not keep its changes out of the log.
func TestAnInterruptedWriteIsRecorded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx, stop := context.WithCancel(t.Context())
	p := &turn.Pending{Call: llm.Call{ID: "c1"}, Tool: tool.Tool{Spec: llm.ToolSpec{Name: "write"}}}
	_, err := r.rec.Files(interrupting{r.files, stop}, p).WriteAll(ctx, []tool.Write{{Path: "a", Data: []byte("one\n")}})
	if err != nil || r.kinds() != "writing file_changed" {
		t.Errorf("%v, the log is %s", err, r.kinds())
	}
}

// SPEC 11.2: what a death between a write and its record left is found.
func TestRecover(t *testing.T) {
	t.Parallel()
	died := errors.New("died")
	for name, at := range map[string]string{"before the write": "writing", "after the write": "file_changed"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
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
}

func (j *afterDeath) Snapshot(context.Context, []string) (tool.Snapshot, error) { return j.found, nil }
func (j *afterDeath) Checkpoint(string) error                                   { return nil }
func (j *afterDeath) Lost([]string, int) []string                               { return nil }
func (j *afterDeath) Content(context.Context, tool.Hash) ([]byte, error) {
	return nil, errors.New("not kept")
}

// SPEC 11.1: where a command removes more folders than are searched for ignored files, it is
// asked about for what the others may hold.
func TestFoldersThatAreNotSearched(t *testing.T) {
	t.Parallel()
	for folders, want := range map[int]string{1998: "", 2001: "big/"} {
		r := newRig(t)
		for i := range folders {
			must.Do(t, os.MkdirAll(filepath.Join(r.dir, "big", strconv.Itoa(i)), 0o700))
		}
		rec := changes.New(r.log, &changes.Fold{}, changes.Config{
			Session: "s", Dir: r.dir, Store: r.store, Files: r.files, Now: time.Now, CatchUp: r.log.CatchUp, Journal: changes.Share(&afterDeath{}),
		})
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
		r := newRig(t)
		call := llm.Call{ID: "c1", Name: c.tool, Args: json.RawMessage(c.args)}
		err := r.log.Append(
			t.Context(), event.Draft{Body: event.Replied{Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{{Kind: llm.CallPart, Call: &call}}}}}},
			event.Draft{Body: event.Completed(event.CallAsked{ID: "c1", Tool: c.tool, Args: call.Args, Does: c.does})},
		)
		must.Do(t, err)
		fold := &changes.Fold{}
		log := must.Get(eventlog.Open(t.Context(), eventlog.Config{Store: r.store, Session: "s", Now: time.Now}, fold))(t)
		rec := changes.New(log, fold, changes.Config{
			Session: "s", Dir: r.dir, Store: r.store, Files: r.files, Now: time.Now, CatchUp: log.CatchUp,
			Journal: &afterDeath{found: tool.Snapshot{Tag: "s/c1", Effects: []tool.Effect{{Path: "made.txt", After: "h"}}}},
		})
		ds, _ := rec.Recover(t.Context(), []llm.Call{call})
		if got := len(ds) == 1; got != c.want {
			t.Errorf("%s %s that does %q: %+v, want recorded: %v", c.tool, c.args, c.does, ds, c.want)
		}
	}
}
