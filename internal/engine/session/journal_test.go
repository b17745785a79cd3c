package session_test

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/adapter/workspace/journal"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/session/sessiontest"
)

// journaled adds a journal and the tools of background commands to a rig.
func journaled(t *testing.T, opt journal.Options) func(*session.Config) {
	return func(c *session.Config) {
		if opt.Dir == "" {
			opt.Dir = t.TempDir()
		}
		opt.Git = &workspace.Git{Starter: &processtest.Plain{}, Confine: process.Free}
		j := journal.New(c.Dir, opt)
		t.Cleanup(func() { _ = j.Close() })
		c.Journal = changes.Share(j)
		c.Tools = append(c.Tools, tools.BashOutput(), tools.BashKill())
	}
}

func bash(command string) string { return args(map[string]string{"command": command}) }

// said is a recorded change as a test writes it: what was before, what is
// after, "-" where there is nothing.
func (r *rig) said(c event.FileChanged) string {
	r.T.Helper()
	content := func(h tool.Hash, have bool) string {
		if h == "" {
			return "-"
		}
		if !have {
			return "?"
		}
		b, err := r.Store.Get(r.T.Context(), string(h))
		if err != nil {
			r.T.Errorf("%s: %v", c.Path, err)
		}
		return strings.TrimSuffix(string(b), "\n")
	}
	s := content(c.Before, c.Kept) + " > " + content(c.After, true)
	if c.Mode != c.ModeBefore && c.Mode != 0 && c.ModeBefore != 0 {
		s += fmt.Sprintf(" %o", fs.FileMode(c.Mode).Perm())
	}
	if fs.FileMode(c.Mode)&fs.ModeSymlink != 0 {
		s += " link"
	}
	if c.Unattributed {
		s += " loose"
	}
	return s
}

// SPEC 11.1, 11.2: what a command did is recorded with both contents, before
// its result, and is the command's without doubt where its words name it.
func TestCommandsAreJournaled(t *testing.T) {
	git := "git -c user.name=x -c user.email=x@x "
	for _, c := range []struct {
		name, command string
		want          map[string]string
	}{
		{"sed", "sed -i s/one/two/ a.txt", map[string]string{"a.txt": "one > two"}},
		{"sed by glob", "sed -i s/one/two/ *.txt", map[string]string{"a.txt": "one > two"}},
		{"rm", "rm a.txt", map[string]string{"a.txt": "one > -"}},
		{"mv", "mv a.txt c.txt", map[string]string{"a.txt": "one > -", "c.txt": "- > one"}},
		{"mv over one", "mv a.txt b.txt", map[string]string{"a.txt": "one > -", "b.txt": "changed > one"}},
		{"made and moved", "sed s/one/two/ a.txt > t && mv t a.txt", map[string]string{"a.txt": "one > two 644"}},
		{"moved in", "t=$(mktemp); echo two > $t; mv $t a.txt", map[string]string{"a.txt": "one > two"}},
		{"mv into a folder", "mv a.txt dir", map[string]string{"a.txt": "one > -", "dir/a.txt": "- > one"}},
		{"cp", "cp a.txt dir/z", map[string]string{"dir/z": "- > one"}},
		{"chmod", "chmod 755 a.txt", map[string]string{"a.txt": "one > one 755"}},
		{"link", "ln -s a.txt l", map[string]string{"l": "- > a.txt link"}},
		{"link in place", "ln -sf b.txt a.txt", map[string]string{"a.txt": "one > b.txt 777 link"}},
		{"redirect", "echo two > a.txt", map[string]string{"a.txt": "one > two"}},
		{"append", "echo two >> a.txt", map[string]string{"a.txt": "one > one\ntwo"}},
		{"in a folder", "cd dir && echo new > y", map[string]string{"dir/y": "- > new"}},
		{"git checkout", git + "checkout -- b.txt", map[string]string{"b.txt": "changed > committed 644"}},
		{"git stash", git + "stash -q", map[string]string{"b.txt": "changed > committed 644 loose"}},
		{"failing", "echo two > a.txt; exit 3", map[string]string{"a.txt": "one > two"}},
		{"folder removed", "rm -r dir", map[string]string{"dir/x": "ex > -", "dir/sub/y": "why > -"}},
		{"folder moved", "mv dir other", map[string]string{"dir/x": "ex > -", "dir/sub/y": "why > -", "other/x": "- > ex", "other/sub/y": "- > why"}},
		{"file becomes folder", "rm a.txt; mkdir a.txt; echo in > a.txt/f", map[string]string{"a.txt": "one > -", "a.txt/f": "- > in"}},
		{"folder becomes file", "rm -r dir; echo file > dir", map[string]string{"dir/x": "ex > -", "dir/sub/y": "why > -", "dir": "- > file"}},
		{"nothing named", "./script", map[string]string{"a.txt": "one > by the script loose"}},
		{"read and written", "cat a.txt; ./script", map[string]string{"a.txt": "one > by the script loose"}},
		{"argument of an unknown program", "./script a.txt", map[string]string{"a.txt": "one > by the script"}},
		{"ignored", "echo 1 > x.log; echo 2 > deps/new; echo 3 > kept", map[string]string{"kept": "- > 3"}},
		{"same content", "touch a.txt; cp a.txt t; mv t a.txt", map[string]string{}},
		{"unusual names", `echo 1 > ' s p'; echo 2 > -- ; echo 3 > $'new\nline'; echo 4 > ü`, map[string]string{" s p": "- > 1", "--": "- > 2", "new\nline": "- > 3", "ü": "- > 4"}},
		{"read only", "cat a.txt; ls; git status", map[string]string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "yolo", llmtest.New(llmtest.Use("bash", bash(c.command))), journaled(t, journal.Options{}))
			r.workspace()
			es := r.Run("go", nil)
			got := map[string]string{}
			done := false
			for _, e := range es {
				switch b := e.Body.(type) {
				case event.FileChanged:
					got[b.Path] = r.said(b)
					if done || b.Tool != "bash" || b.Call == "" {
						t.Errorf("%+v, behind its call: %v", b, done)
					}
				case event.CallDone:
					done = true
				}
			}
			if !maps.Equal(got, c.want) {
				t.Errorf("%s\ngot  %q\nwant %q\n%s", c.command, got, c.want, find[event.CallDone](es)[0].Result.Text)
			}
		})
	}
}

// workspace puts a few files into a rig's folder, some of them committed.
func (r *rig) workspace() {
	r.T.Helper()
	for _, d := range []string{"dir/sub", "deps"} {
		must.Do(r.T, os.MkdirAll(filepath.Join(r.Dir, d), 0o755))
	}
	r.Put("b.txt", "committed\n")
	r.Put(".gitignore", "*.log\ndeps/\n")
	processtest.Commit(r.T, r.Dir)
	r.Put("b.txt", "changed\n")
	r.Put("a.txt", "one\n")
	r.Put("dir/x", "ex\n")
	r.Put("dir/sub/y", "why\n")
	r.Put("deps/old", "old\n")
	r.Put("script", "#!/bin/sh\necho by the script > a.txt\n")
	must.Do(r.T, os.Chmod(filepath.Join(r.Dir, "script"), 0o700))
}

// SPEC 11.1: also of a command that is stopped half-way, and of one that is
// cancelled.
func TestStoppedCommandsAreJournaled(t *testing.T) {
	r := newRig(t, "yolo", llmtest.New(
		llmtest.Use("bash", `{"command":"echo two > a.txt; sleep 100; echo three > a.txt","timeout":1}`),
		llmtest.Use("bash", bash("echo four > a.txt; echo ready; sleep 100")),
	), journaled(t, journal.Options{}))
	r.Put("a.txt", "one\n")
	es := r.Run("go", func(e event.Event) {
		if b, ok := e.Body.(event.OutputDelta); ok && strings.Contains(b.Text, "ready") {
			if _, err := r.Submit(t.Context(), session.Interrupt{By: "person"}); err != nil {
				t.Error(err)
			}
		}
	})
	var got []string
	for _, c := range find[event.FileChanged](es) {
		got = append(got, r.said(c))
	}
	if !slices.Equal(got, []string{"one > two", "two > four"}) {
		t.Errorf("%q", got)
	}
	done := find[event.CallDone](es)
	if len(done) != 2 || done[0].Outcome != event.TimedOut || done[1].Outcome != event.Cancelled {
		t.Errorf("%+v", done)
	}
}

// SPEC 11.1: of ignored files no copy is kept: a command that destroys one asks
// first, and where none is asked it is said what cannot be undone.
func TestIgnoredIsNotRestorable(t *testing.T) {
	run := func(mode, command string) (*rig, []event.Event) {
		r := newRig(t, mode, llmtest.New(llmtest.Use("bash", bash(command))), journaled(t, journal.Options{}))
		r.Put(".gitignore", "*.bin\nout/\n")
		r.Put("d.bin", "d\n")
		must.Do(t, os.Mkdir(filepath.Join(r.Dir, "out"), 0o700))
		r.Put("out/x", "x\n")
		r.Put("a.txt", "a\n")
		must.Do(t, os.MkdirAll(filepath.Join(r.Dir, "src/deep/er"), 0o700))
		r.Put("src/deep/er/y.bin", "y\n")
		r.Put("src/a.go", "package src\n")
		must.Do(t, os.Mkdir(filepath.Join(r.Dir, "plain"), 0o700))
		r.Put("plain/a.go", "package plain\n")
		must.Do(t, os.Symlink("../src", filepath.Join(r.Dir, "plain/link")))
		return r, r.Run("go", nil)
	}
	for _, command := range []string{
		"rm -rf src", "rm -r src/deep/", "cd src && rm -rf deep", "rm -rf s*", "rm -rf plain src", "rm -rf out/",
	} {
		r, es := run("auto", command)
		if b := find[event.Blocked](es); len(b) != 1 || !strings.Contains(b[0].Reason, "cannot be undone") || r.File("src/deep/er/y.bin") != "y\n" {
			t.Errorf("%s: %+v", command, b)
		}
	}
	for _, command := range []string{"rm -rf plain", "rm -rf nosuch", "rm plain/link", "rm src/a.go"} {
		r, es := run("auto", command) // some are asked about, for another reason
		if b := find[event.Blocked](es); len(b) != 0 && strings.Contains(b[0].Reason, "undone") || r.File("src/deep/er/y.bin") != "y\n" {
			t.Errorf("%s: %+v", command, b)
		}
	}
	if _, es := run("yolo", "rm -rf src"); !strings.Contains(find[event.CallDone](es)[0].Result.Text, "[cannot be undone: src/deep/er/y.bin: ignored files, of which no copy is kept]") {
		t.Errorf("%s", find[event.CallDone](es)[0].Result.Text)
	}
	for _, command := range []string{"rm d.bin", "rm -f ./*.bin", "rm -r out", "rm out/x", "echo > d.bin", "cp a.txt d.bin", "mv a.txt d.bin", "true && rm d.bin"} {
		r, es := run("auto", command)
		if b := find[event.Blocked](es); len(b) != 1 || !strings.Contains(b[0].Reason, "cannot be undone") || r.File("d.bin") != "d\n" || r.File("out/x") != "x\n" {
			t.Errorf("%s: %+v", command, b)
		}
	}
	for _, command := range []string{"rm a.txt", "rm -f nosuch.bin", "cp d.bin b.txt", "mkdir -p out", "touch d.bin", "echo more >> d.bin"} {
		_, es := run("auto", command) // some are asked about, for another reason
		if b := find[event.Blocked](es); len(b) != 0 && strings.Contains(b[0].Reason, "undone") {
			t.Errorf("%s: %+v", command, b)
		}
	}
	_, es := run("yolo", "rm d.bin")
	if done := find[event.CallDone](es)[0].Result.Text; !strings.Contains(done, "[cannot be undone: d.bin: ignored files, of which no copy is kept]") {
		t.Errorf("%s", done)
	}
}

// SPEC 11.1: what is not restorable is said in the result, and a command that
// names it asks first; the model is told what it could not know.
func TestNotRestorable(t *testing.T) {
	big := strings.Repeat("x", 1500_000)
	run := func(mode, command string) (*rig, []event.Event) {
		r := newRig(t, mode, llmtest.New(llmtest.Use("bash", bash(command))), journaled(t, journal.Options{}))
		r.Put("big", big)
		r.Put("small", "s\n")
		return r, r.Run("go", nil)
	}
	r, es := run("yolo", "echo > small; echo 'echo short > big' > do; sh do")
	done := find[event.CallDone](es)[0].Result.Text
	if !strings.Contains(done, "[changed while this ran: big]") || !strings.Contains(done, "[1 file that this command changed cannot be restored: big]") {
		t.Errorf("%s", done)
	}
	for _, c := range find[event.FileChanged](es) {
		if c.Kept != (c.Path != "big") || c.Path == "big" && c.Before == "" {
			t.Errorf("%+v", c)
		}
	}
	if strings.Contains(done, "small") {
		t.Errorf("the result names what the command names: %s", done)
	}
	_ = r

	for _, command := range []string{"rm big", "mv small big", "echo > big", "rm -r ."} {
		r, es = run("auto", command)
		if b := find[event.Blocked](es); len(b) != 1 || len(r.File("big")) != len(big) {
			t.Errorf("%s: %+v", command, b)
		} else if command != "rm -r ." && !strings.Contains(b[0].Reason, "no copy of big is kept") {
			t.Errorf("%s: %s", command, b[0].Reason)
		}
	}
	for _, command := range []string{"rm small", "echo >> big"} {
		_, es = run("auto", command)
		if b := find[event.Blocked](es); len(b) != 0 && strings.Contains(b[0].Reason, "no copy of") {
			t.Errorf("%s: %+v", command, b)
		}
	}
}

// SPEC 4.15, 11.1: for what cannot be taken back only this once is offered: a rule
// for it would not hold the next time either. What the journal restores may be
// allowed for always.
func TestNoRuleForTheUnrestorable(t *testing.T) {
	for command, always := range map[string]bool{
		"rm d.bin": false, "rm -f ./*.bin": false, "echo > d.bin": false, "cp small d.bin": false, "rm big": false, "mv small big": false,
		"rm d.bin && go vet ./...": false, "rm small": true, "cp small other": true,
	} {
		r := newRig(t, "ask", llmtest.New(llmtest.Use("bash", bash(command)), llmtest.Say("done")), journaled(t, journal.Options{}), func(c *session.Config) { c.Person = true })
		for name, text := range map[string]string{".gitignore": "*.bin\n", "d.bin": "d\n", "small": "s\n", "big": strings.Repeat("x", 1500_000)} {
			r.Put(name, text)
		}
		var q *event.Question
		r.Run("go", func(e event.Event) {
			if a, ok := e.Body.(event.Asked); ok {
				q = &a.Questions[0]
				go func() { _, _ = r.Submit(t.Context(), session.Answer{ID: a.ID}) }()
			}
		})
		switch {
		case q == nil:
			t.Errorf("%s: it does not ask", command)
		case q.Always != always || (q.Pattern != "") != always || strings.Contains(q.Reason, "undone") == always:
			t.Errorf("%s: %+v", command, q)
		}
	}
}

// SPEC 11.1: what a background command does is its own, by and by and at its
// end; what its words name is undone like any change.
func TestBackgroundCommandsAreJournaled(t *testing.T) {
	script := []llmtest.Turn{
		llmtest.Use("bash", `{"command":"while [ ! -e go ]; do sleep 0.01; done; echo job > t; mv t j.txt; echo said; while [ ! -e stop ]; do sleep 0.01; done; echo end > t; mv t k.txt","background":true}`),
		llmtest.Use("bash", bash("echo > go; while [ ! -e j.txt ]; do sleep 0.01; done; echo mine > m.txt")),
		llmtest.Use("bash", bash("touch stop; while [ ! -e k.txt ]; do sleep 0.01; done")),
		llmtest.Use("bash_output", `{"id":"bg1","wait":5}`),
	}
	for i := range script {
		script[i].Calls[0].ID = fmt.Sprint("c", i)
	}
	r := newRig(t, "yolo", llmtest.New(script...), journaled(t, journal.Options{}))
	es := r.Run("go", nil)
	got := map[string]string{}
	for _, c := range find[event.FileChanged](es) {
		got[c.Path] = c.Call + " " + r.said(c)
	}
	want := map[string]string{
		"go": "c1 - > ", "m.txt": "c1 - > mine", "stop": "c2 - > ",
		// Seen behind another command, and named by the background one's words.
		"j.txt": "c0 - > job", "k.txt": "c0 - > end",
	}
	if !maps.Equal(got, want) {
		t.Errorf("got  %q\nwant %q\n%+v", got, want, find[event.CallDone](es))
	}

	script = []llmtest.Turn{
		llmtest.Use("bash", `{"command":"sleep 0.05; echo job > j.txt","background":true}`),
		llmtest.Use("bash_output", `{"id":"bg1","wait":20}`),
	}
	for i := range script {
		script[i].Calls[0].ID = fmt.Sprint("c", i)
	}
	r = newRig(t, "yolo", llmtest.New(script...), journaled(t, journal.Options{}))
	es = r.Run("go", nil)
	cs := find[event.FileChanged](es)
	if len(cs) != 1 || cs[0].Call != "c0" || r.said(cs[0]) != "- > job" {
		t.Errorf("%+v", cs)
	}
}

// SPEC 10.1, 11.1: a person's own command is recorded as theirs; what changed
// between commands is nobody's here.
func TestPersonsCommandIsTheirs(t *testing.T) {
	r := newRig(t, "yolo", llmtest.New(llmtest.Use("bash", bash("echo 1 > b.txt"))), journaled(t, journal.Options{}))
	r.Put("a.txt", "one\n")
	must.Done(t)(r.do(session.RunCommand{Command: "echo two > a.txt"}))
	r.Put("a.txt", "an editor's\n")
	es := r.Run("go", nil)
	all := find[event.FileChanged](r.Log())
	if len(all) != 2 || all[0].Tool != "command" || all[0].Call != "" || r.said(all[0]) != "one > two" {
		t.Errorf("%+v", all)
	}
	if cs := find[event.FileChanged](es); len(cs) != 1 || cs[0].Path != "b.txt" {
		t.Errorf("%+v", cs)
	}
}

// SPEC 11.2: what a person saves while a command runs is not taken for the
// command's, where its words say what that is.
func TestSavedMeanwhileIsUnattributed(t *testing.T) {
	r := (*rig)(nil)
	m := llmtest.New(llmtest.Use("bash", bash("echo ready; while [ ! -e go ]; do sleep 0.01; done; echo two > a.txt")))
	r = newRig(t, "yolo", m, journaled(t, journal.Options{}))
	r.Put("a.txt", "one\n")
	r.Put("mine.txt", "old\n")
	es := r.Run("go", func(e event.Event) {
		if b, ok := e.Body.(event.OutputDelta); ok && strings.Contains(b.Text, "ready") {
			r.Put("mine.txt", "my own\n")
			r.Put("go", "")
		}
	})
	got := map[string]string{}
	for _, c := range find[event.FileChanged](es) {
		got[c.Path] = r.said(c)
	}
	if got["mine.txt"] != "old > my own loose" || got["a.txt"] != "one > two" {
		t.Errorf("%q", got)
	}
}

// SPEC 11.2: a file that a person saves and the running command then moves is
// theirs where it comes to lie; what the command itself made is not.
func TestSavedAndMovedIsUnattributed(t *testing.T) {
	for command, want := range map[string]string{
		"mv a.txt c.txt": "- > my own loose",
		"sed -i s/own/new/ a.txt; mv a.txt c.txt": "- > my new",
		"mv c.txt d.txt": "",
	} {
		r := (*rig)(nil)
		m := llmtest.New(llmtest.Use("bash", bash("echo ready; while [ ! -e go ]; do sleep 0.01; done; "+command)))
		r = newRig(t, "yolo", m, journaled(t, journal.Options{}))
		r.Put("a.txt", "one\n")
		es := r.Run("go", func(e event.Event) {
			if b, ok := e.Body.(event.OutputDelta); ok && strings.Contains(b.Text, "ready") {
				r.Put("a.txt", "my own\n")
				r.Put("go", "")
			}
		})
		got := ""
		for _, c := range find[event.FileChanged](es) {
			if c.Path == "c.txt" {
				got = r.said(c)
			}
		}
		if got != want {
			t.Errorf("%s: c.txt %q, want %q", command, got, want)
		}
	}
}

// SPEC 4.8, 11.1: a pawl that is killed while a command runs says, when the
// session is taken up again, what changed since.
func TestCrashInACommand(t *testing.T) {
	state := t.TempDir()
	script := llmtest.Use("bash", bash("echo two > a.txt; echo ready; sleep 100"))
	script.Calls[0].ID = "c1"
	r := newRig(t, "yolo", llmtest.New(script), journaled(t, journal.Options{Dir: state}))
	r.Put("a.txt", "one\n")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	events := r.Events(ctx, r.View().Last())
	must.Done(t)(r.Submit(ctx, session.Prompt{Text: "go"}))
	// The log and the journal's folder as they are in the middle of it.
	log, copied := r.Store, t.TempDir()
	for e := range events {
		if b, ok := e.Body.(event.OutputDelta); ok && strings.Contains(b.Text, "ready") {
			must.Do(t, log.Fork(ctx, event.Origin{Session: "s1", At: r.View().Last()}, "s2"))
			must.Do(t, os.CopyFS(copied, os.DirFS(state)))
			break
		}
	}
	// The other process is this one's with another id: the tag must be too.
	r.Cfg.ID = "s1"
	fork := copyLog(t, log, "s2", "s1")
	must.Do(t, r.Close())
	r.Put("a.txt", "two\n")
	r.Store, r.Cfg.Store = fork, fork
	j := journal.New(r.Dir, journal.Options{Dir: copied})
	defer j.Close()
	r.Cfg.Journal = j
	r.Open()
	es := r.Log()
	var kinds []string
	for _, e := range es {
		switch b := e.Body.(type) {
		case event.FileChanged:
			kinds = append(kinds, b.Call+" "+r.said(b))
		case event.CallDone:
			kinds = append(kinds, string(b.Outcome))
		}
	}
	if !slices.Equal(kinds, []string{"c1 one > two loose", "unknown"}) {
		t.Errorf("%q", kinds)
	}
}

// copyLog copies a session's log into its own store, under another id.
func copyLog(t *testing.T, from event.Store, id, as string) event.Store {
	t.Helper()
	to := memory.New(time.Now)
	var ds []event.Draft
	for e, err := range from.Read(t.Context(), id, 0) {
		must.Do(t, err)
		ds = append(ds, event.Draft{Cause: e.Cause, Body: e.Body})
	}
	must.Done(t)(to.Append(t.Context(), as, 0, ds...))
	return to
}

// SPEC 13.3: a check that leaves files behind stays a check; one that rewrites
// what it was to check proves nothing.
func TestCheckThatChangesFiles(t *testing.T) {
	write := llmtest.Use("write", args(map[string]string{"path": "a_test.go", "content": "package a\n"}))
	for script, verified := range map[string]bool{
		"echo ran >> coverage.out":                  true,
		"echo ran >> coverage.out; echo x > new.go": true,
		"echo >> a_test.go":                         false,
	} {
		r := newRig(t, "yolo", llmtest.New(write, llmtest.Use("bash", bash("make test")), llmtest.Use("bash", bash("make test"))), journaled(t, journal.Options{}))
		r.Put("Makefile", "test:\n\t@"+script+"\n\t@echo 1 passed in 0.01s\n")
		r.Run("go", nil)
		if v := r.View().Evidence().Verified; (v != nil) != verified {
			t.Errorf("%s: %+v", script, v)
		}
	}
}

// Sessions that share a journal: what a background command of one did while the
// other looked is recorded where it belongs, and once it has ended nothing more
// is taken for its doing.
func TestSessionsShareAJournal(t *testing.T) {
	start := llmtest.Use("bash", `{"command":"while [ ! -e go ]; do sleep 0.01; done; echo job > j.txt; touch made; while [ ! -e stop ]; do sleep 0.01; done","background":true}`)
	start.Calls[0].ID = "job"
	a := newRig(t, "yolo", llmtest.New(start, llmtest.Say("started"), llmtest.Use("bash_output", `{"id":"bg1","wait":20}`)), journaled(t, journal.Options{}))
	a.Run("start", nil)
	b := &rig{sessiontest.Of(t, a.Cfg)}
	b.Cfg.ID, b.Cfg.Model = "s2", llmtest.New(llmtest.Use("bash", bash("echo mine > m.txt")))
	b.Open()
	a.Put("go", "")
	for deadline := time.Now().Add(time.Minute); strings.HasPrefix(a.File("made"), "error"); {
		if time.Now().After(deadline) {
			t.Fatal("the background command does not get on")
		}
	}
	theirs := map[string]string{}
	for _, c := range find[event.FileChanged](b.Run("go", nil)) {
		theirs[c.Path] = b.said(c)
	}
	if want := map[string]string{"m.txt": "- > mine"}; !maps.Equal(theirs, want) {
		t.Errorf("in the other session: %q", theirs)
	}
	a.Put("stop", "")
	a.Run("wait", nil)
	a.Put("later.txt", "a person's\n")
	must.Done(t)(a.do(session.RunCommand{Command: "echo > p.txt"}))
	got := map[string]string{}
	for _, c := range find[event.FileChanged](a.Log()) {
		got[c.Path] = c.Call
	}
	// go and stop were put there by somebody while it ran: loosely its own.
	if want := map[string]string{"go": "job", "j.txt": "job", "made": "job", "stop": "job", "p.txt": ""}; !maps.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
