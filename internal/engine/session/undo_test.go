package session_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/edits"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// wrote is a session in which the agent changed a.txt, made sub/made.txt, and
// in a second turn changed a.txt again.
func wrote(t *testing.T) *rig {
	edit := func(from, to string) string {
		return args(map[string]string{"path": "a.txt", "old": from, "new": to})
	}
	m := llmtest.New(
		llmtest.Use("read", `{"files":[{"path":"a.txt"}]}`),
		llmtest.Use("edit", edit("one", "ONE")), llmtest.Use("write", args(map[string]string{"path": "sub/made.txt", "content": "new\n"})), llmtest.Say("done"),
		llmtest.Use("edit", edit("three", "THREE")), llmtest.Say("done"),
	)
	r := newRig(t, "accept-edits", m)
	r.Put("a.txt", "one\ntwo\nthree\n")
	r.Run("first", nil)
	r.Run("second", nil)
	if r.File("a.txt") != "ONE\ntwo\nTHREE\n" {
		t.Fatal(r.File("a.txt"))
	}
	return r
}

func (r *rig) plan(w undo.Selector) undo.Plan {
	r.T.Helper()
	p, err := r.View().Changes().Plan(r.T.Context(), w)
	must.Do(r.T, err)
	return p
}

// SPEC 11.2: each unit, with its preview; the model is told.
func TestUndoUnits(t *testing.T) {
	r := wrote(t)
	p := r.plan(undo.Selector{Kind: undo.ByFile, Path: r.Dir + "/sub/../sub/made.txt"})
	if len(p.Files) != 1 || p.Files[0].Action != undo.Delete || !strings.Contains(p.Files[0].Diff, "-new") {
		t.Errorf("%+v", p)
	}
	p = r.plan(undo.Selector{Kind: undo.ByRewind, Prompt: 1})
	if len(p.Files) != 2 || !strings.Contains(p.Files[0].Diff, "+one\n") || !strings.Contains(p.Files[0].Diff, "+three\n") {
		t.Errorf("%+v", p)
	}
	if _, err := r.undo(undo.ByChange); err != nil || r.File("a.txt") != "ONE\ntwo\nthree\n" {
		t.Errorf("the last change: %v, %q", err, r.File("a.txt"))
	}
	if _, err := r.undo(undo.ByTurn); err != nil || r.File("a.txt") != "one\ntwo\nthree\n" {
		t.Errorf("the turn before: %v, %q", err, r.File("a.txt"))
	}
	if _, err := os.Stat(filepath.Join(r.Dir, "sub")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder that was made: %v", err)
	}
	for range 2 {
		if _, err := r.undo(undo.ByRedo); err != nil {
			t.Error(err)
		}
	}
	if _, err := r.undo(undo.ByRedo); !errors.Is(err, undo.ErrNoRedo) || r.File("a.txt") != "ONE\ntwo\nTHREE\n" || r.File("sub/made.txt") != "new\n" {
		t.Errorf("done again: %v, %q", err, r.File("a.txt"))
	}
	r.Run("go on", nil)
	all := r.Model.Requests()
	if last := args(all[len(all)-1].Messages); !strings.Contains(last, "has put back changes") || !strings.Contains(last, "has made again changes") {
		t.Errorf("the model was not told: %s", last)
	}
}

// SPEC 11.2: what changes between preview and doing is never overwritten.
func TestUndoMoved(t *testing.T) {
	r := wrote(t)
	p := r.plan(undo.Selector{Kind: undo.ByAll})
	r.Put("sub/made.txt", "new\nmine\n")
	if _, err := session.DoPlan(t.Context(), r.Session, p, undo.Consent{}); err == nil || !strings.Contains(err.Error(), "sub/made.txt changed after the preview") {
		t.Error(err)
	}
	if r.File("a.txt") != "ONE\ntwo\nTHREE\n" || r.File("sub/made.txt") != "new\nmine\n" {
		t.Error("something was put back all the same")
	}
	p = r.plan(undo.Selector{Kind: undo.ByAll})
	var open *undo.OpenError
	if _, err := session.DoPlan(t.Context(), r.Session, p, undo.Consent{}); !errors.As(err, &open) || len(open.Files) != 1 || open.Files[0].Path != "sub/made.txt" {
		t.Errorf("%v", err)
	}
	u, err := session.DoPlan(t.Context(), r.Session, p, undo.Consent{LeaveOut: []string{"sub/made.txt"}})
	if err != nil || len(u.Done) != 1 || len(u.Left) != 1 || r.File("a.txt") != "one\ntwo\nthree\n" || r.File("sub/made.txt") != "new\nmine\n" {
		t.Errorf("%+v %v", u, err)
	}
	if _, err := session.DoPlan(t.Context(), r.Session, p, undo.Consent{LeaveOut: []string{"sub/made.txt"}}); err == nil {
		t.Error("a plan was done twice")
	}
	r.Put("sub/made.txt", "new\n")
	if _, err := r.undo(undo.ByAll); err != nil {
		t.Errorf("what was left out is not to be put back later: %v", err)
	}
}

// SPEC 10.2, 11.2: an undo and a redo are operations: recorded as begun and as
// ended, with what they changed between.
func TestUndoIsAnOperation(t *testing.T) {
	r := wrote(t)
	for _, c := range []struct {
		kind undo.Kind
		op   string
	}{{undo.ByAll, "undo"}, {undo.ByRedo, "redo"}} {
		after := r.View().Last()
		started := must.Get(r.Submit(t.Context(), session.Undo{Plan: r.plan(undo.Selector{Kind: c.kind})}))(t)
		done, err := r.Await(t.Context(), started)
		if err != nil || done.Op != event.OpName(c.op) || done.Outcome != event.OK {
			t.Errorf("%s: %+v %v", c.op, done, err)
		}
		var kinds []string
		for e, err := range r.Store.Read(t.Context(), r.ID(), after) {
			must.Do(t, err)
			if e.Seq > started && e.Cause != started {
				t.Errorf("%s has the cause %d", e.Body.Kind(), e.Cause)
			}
			kinds = append(kinds, e.Body.Kind())
		}
		if n := len(kinds); n < 3 || kinds[0] != "op_started" || kinds[n-1] != "op_done" {
			t.Errorf("%s: %v", c.op, kinds)
		}
	}
}

// shellDid is a change that a command made, as the journal would record it.
func (r *rig) shellDid(c event.FileChanged, before string) event.FileChanged {
	r.T.Helper()
	if c.Before != "" {
		must.Done(r.T)(r.Store.Put(r.T.Context(), []byte(before)))
	}
	c.Tool, c.Kept = "bash", true
	return c
}

// reopen appends events as if the session had recorded them, and opens it.
func (r *rig) reopen(bs ...event.Body) {
	r.T.Helper()
	last := r.View().Last()
	_ = r.Close()
	var ds []event.Draft
	for _, b := range bs {
		ds = append(ds, event.Draft{Body: b})
	}
	must.Done(r.T)(r.Store.Append(r.T.Context(), "s1", last, ds...))
	r.Open()
}

// SPEC 4.10, 11.2: modes and symlinks come back, also where a file took the
// link's place.
func TestUndoModesAndLinks(t *testing.T) {
	r := newRig(t, "yolo", llmtest.New())
	h := func(s string) event.FileChanged { return event.FileChanged{Before: edits.HashOf([]byte(s))} }
	script, link, fresh := h("#!/bin/sh\n"), h("script"), event.FileChanged{Path: "fresh", After: edits.HashOf([]byte("script")), Mode: uint32(fs.ModeSymlink)}
	script.Path, script.After, script.ModeBefore, script.Mode = "script", script.Before, 0o755, 0o644
	link.Path, link.After, link.ModeBefore, link.Mode = "link", edits.HashOf([]byte("x\n")), uint32(fs.ModeSymlink), 0o644
	r.Put("script", "#!/bin/sh\n")
	must.Do(t, errors.Join(os.Chmod(filepath.Join(r.Dir, "script"), 0o644), os.Symlink("script", filepath.Join(r.Dir, "fresh"))))
	r.Put("link", "x\n")
	must.Do(t, os.Chmod(filepath.Join(r.Dir, "link"), 0o644))
	r.reopen(event.Prompted{Source: event.Person}, r.shellDid(script, "#!/bin/sh\n"), r.shellDid(link, "script"), r.shellDid(fresh, ""), event.Ended{})
	before := r.plan(undo.Selector{Kind: undo.ByCommand})
	if _, err := r.undo(undo.ByCommand); err != nil {
		t.Fatalf("%v\n%+v", err, before)
	}
	if st, err := os.Stat(filepath.Join(r.Dir, "script")); err != nil || st.Mode().Perm() != 0o755 || r.File("script") != "#!/bin/sh\n" {
		t.Errorf("%v %v", st, err)
	}
	if to, err := os.Readlink(filepath.Join(r.Dir, "link")); err != nil || to != "script" {
		t.Errorf("the link is %q, %v", to, err)
	}
	if _, err := os.Lstat(filepath.Join(r.Dir, "fresh")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the link that was made: %v", err)
	}
	if _, err := r.undo(undo.ByRedo); err != nil || r.File("link") != "x\n" {
		t.Errorf("%v %q", err, r.File("link"))
	}
	if to, err := os.Readlink(filepath.Join(r.Dir, "fresh")); err != nil || to != "script" {
		t.Errorf("done again, the link is %q, %v", to, err)
	}
}

// SPEC 11.2: what changed while a command ran is put back only on a word for
// that file.
func TestUndoUnattributed(t *testing.T) {
	r := newRig(t, "yolo", llmtest.New())
	r.Put("a.txt", "mine\n")
	c := event.FileChanged{Path: "a.txt", Before: edits.HashOf([]byte("old\n")), After: edits.HashOf([]byte("mine\n")), Unattributed: true, Call: "1"}
	r.reopen(event.Prompted{Source: event.Person}, r.shellDid(c, "old\n"), event.CallDone{ID: "1", Tool: "bash", Command: "make", Outcome: event.OK}, event.Ended{})
	p := r.plan(undo.Selector{Kind: undo.ByCommand})
	if p.NeedsNoConsent() || !strings.Contains(p.Files[0].Ask, `while "make" ran`) {
		t.Errorf("%+v", p)
	}
	if _, err := session.DoPlan(t.Context(), r.Session, p, undo.Consent{}); err == nil || r.File("a.txt") != "mine\n" {
		t.Errorf("%v %q", err, r.File("a.txt"))
	}
	if _, err := session.DoPlan(t.Context(), r.Session, p, undo.Consent{Confirmed: []string{"a.txt"}}); err != nil || r.File("a.txt") != "old\n" {
		t.Errorf("%v %q", err, r.File("a.txt"))
	}
}

// SPEC 10.2: every prompt can be gone back to, and a fork before it has all
// calls with their results.
func TestPoints(t *testing.T) {
	r := wrote(t)
	points, err := r.View().Changes().Points(t.Context())
	if err != nil || len(points) != 2 || points[0].Text != "first" || strings.Join(points[0].Files, " ") != "a.txt sub/made.txt" || points[1].Text != "second" {
		t.Fatalf("%+v %v", points, err)
	}
	must.Do(t, r.Store.Fork(t.Context(), event.Origin{Session: "s1", At: points[1].Before()}, "s2"))
	cfg := r.Cfg
	cfg.ID, cfg.Model = "s2", llmtest.New(llmtest.Say("hello"))
	f := over(t, cfg)
	defer f.Close()
	f.Run("another second", nil)
	sent := f.Model.Requests()[0].Messages
	pairs(t, 0, sent)
	if text := args(sent); strings.Contains(text, `"second"`) || !strings.Contains(text, "first") {
		t.Error(text)
	}
	if ps, err := f.View().Changes().Points(t.Context()); err != nil || len(ps) != 2 || ps[1].Text != "another second" {
		t.Errorf("%+v %v", ps, err)
	}
	if ps, err := r.View().Changes().Points(t.Context()); err != nil || len(ps) != 2 || ps[1].Text != "second" {
		t.Errorf("the old session: %+v %v", ps, err)
	}
}
