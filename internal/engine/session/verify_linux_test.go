package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/workspace/journal"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// SPEC 11.1, 11.2, 19.1: what a command changed without the system telling is
// found at the turn's end: it is that command's, loose, before the turn ends,
// can be undone, and it is said once that everything is looked at from now on.
func TestUntoldChanges(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	script := func(name, text string) string {
		p := filepath.Join(outside, name)
		must.Write(t, p, text)
		return "sh " + p
	}
	// Each is a name of the same file outside the workspace, made, written through
	// and removed.
	through := func(file, text string) string {
		l := filepath.Join(outside, "l-"+filepath.Base(file))
		return "ln " + file + " " + l + "; echo " + text + " > " + l + "; rm " + l
	}
	nothing := func(i string) string { return script("n"+i, "exit 0\n") }
	r := newRig(t, "yolo", llmtest.New(
		llmtest.Use("bash", bash(nothing("1"))),
		llmtest.Use("bash", bash(nothing("2"))),
		llmtest.Use("bash", bash(script("s", through("dir/x", "two")))),
		llmtest.Use("bash", bash(nothing("3"))),
		llmtest.Say("done"),
		llmtest.Use("bash", bash(script("s2", through("a.txt", "two")))),
		llmtest.Say("done"),
	), journaled(t, journal.Options{FollowFrom: 1, Now: func() time.Time {
		return time.Now().Add(time.Hour) // a file that was changed a moment ago is looked at in any case
	}}))
	r.workspace()
	es := r.Run("go", nil)
	var calls []string
	var found []event.FileChanged
	ended := false
	for _, e := range es {
		switch b := e.Body.(type) {
		case event.CallDone:
			calls = append(calls, b.ID)
		case event.FileChanged:
			if found = append(found, b); ended {
				t.Error("it is recorded behind the turn's end")
			}
		case event.Ended:
			ended = true
		}
	}
	if len(found) != 1 || found[0].Path != "dir/x" || found[0].Call != calls[2] || r.said(found[0]) != "ex > two loose" || found[0].Tool != undo.Shell {
		t.Fatalf("%+v of calls %q", found, calls)
	}
	told := func(es []event.Event) (n int) {
		for _, w := range find[event.Warned](es) {
			if strings.Contains(w.Text, "did not report that dir/x changed") {
				n++
			}
		}
		return n
	}
	if told(es) != 1 {
		t.Errorf("it is said %d times: %+v", told(es), find[event.Warned](es))
	}
	more := r.Run("again", nil)
	if cs := find[event.FileChanged](more); len(cs) != 1 || cs[0].Path != "a.txt" || cs[0].Call == "" || told(more) != 0 {
		t.Errorf("then: %+v", cs)
	}
	p := r.plan(undo.Selector{Kind: undo.ByAll})
	var yes undo.Consent
	for _, f := range p.Files {
		yes.Confirmed = append(yes.Confirmed, f.Path)
	}
	must.Done(t)(session.DoPlan(t.Context(), r.Session, p, yes))
	for f, want := range map[string]string{"dir/x": "ex\n", "a.txt": "one\n"} {
		if b, err := os.ReadFile(filepath.Join(r.Dir, f)); err != nil || string(b) != want {
			t.Errorf("%s: %q %v", f, b, err)
		}
	}
}
