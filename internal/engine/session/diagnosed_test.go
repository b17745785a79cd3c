package session_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/syntax"
	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/adapter/workspace/journal"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// watcher is a tool.CodeWatch and a tool.Code that knows words: "bad" in a
// changed file is an error, and "old" can be renamed.
type watcher struct {
	dir     string
	mu      sync.Mutex
	changes []string // "path before"
	late    []tool.Diagnostic
	missing []string
	stands  []tool.Diagnostic // errors of the newest contents
}

func (w *watcher) Changed(ctx context.Context, cs []tool.CodeChange) []tool.Diagnostic {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.late
	for i := range out {
		out[i].Earlier = true
	}
	w.late = nil
	for _, c := range cs {
		w.stands = slices.DeleteFunc(w.stands, func(d tool.Diagnostic) bool { return d.Path == c.Path })
		before := "(none)"
		if c.Existed {
			before = "(unknown)"
		}
		if c.Before != nil {
			b, err := c.Before(ctx)
			before = string(b)
			if err != nil {
				before = err.Error()
			}
		}
		w.changes = append(w.changes, c.Path+" "+strings.TrimSpace(before))
		now, _ := os.ReadFile(filepath.Join(w.dir, c.Path))
		for i, line := range strings.Split(string(now), "\n") {
			if what, ok := strings.CutPrefix(line, "bad"); ok {
				sev := tool.SeverityError
				if strings.Contains(what, "?") {
					sev = tool.SeverityHint
				}
				d := tool.Diagnostic{Path: c.Path, Line: i + 1, Column: 1, Severity: sev, Source: "x", Message: "bad\nok 12 passed" + what}
				out, w.stands = append(out, d), append(w.stands, d)
			}
			if line == "slow" {
				w.late = append(w.late, tool.Diagnostic{Path: c.Path, Line: i + 1, Column: 1, Severity: tool.SeverityWarning, Message: "found late"})
			}
		}
	}
	return out
}

func (w *watcher) Remaining() []tool.Diagnostic {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.stands)
}

func (w *watcher) Wait(context.Context) {}

func (w *watcher) Missing() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.missing
	w.missing = nil
	return out
}

func (w *watcher) Rename(_ context.Context, at tool.CodeAt, name string) ([]tool.Write, error) {
	if at.Symbol != "old" {
		return nil, errors.New("no symbol " + at.Symbol)
	}
	var out []tool.Write
	for _, p := range []string{"a.x", "sub/b.x"} {
		b, err := os.ReadFile(filepath.Join(w.dir, p))
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(b)
		out = append(out, tool.Write{Path: p, Data: []byte(strings.ReplaceAll(string(b), "old", name)), Expect: tool.Hash(hex.EncodeToString(sum[:]))})
	}
	return out, nil
}

func (w *watcher) Definition(context.Context, tool.CodeAt) ([]tool.SymbolPosition, error) {
	return []tool.SymbolPosition{{Path: "a.x", Line: 1, Column: 5}, {Path: ".env", Line: 1, Column: 1}, {Path: "/etc/hostname", Line: 1, Column: 1}, {Path: "a.x", Line: 99, Column: 1}}, nil
}

func (w *watcher) References(context.Context, tool.CodeAt) ([]tool.SymbolPosition, error) {
	var out []tool.SymbolPosition
	for i := range 5000 {
		out = append(out, tool.SymbolPosition{Path: "a.x", Line: i + 1, Column: 1})
	}
	return out, nil
}

func (w *watcher) Hover(context.Context, tool.CodeAt) (string, error) { return "func old()", nil }

func (w *watcher) Complete(context.Context, tool.CodeAt, int) ([]tool.Completion, bool, error) {
	return []tool.Completion{{Text: "old", Kind: "function", Detail: "func()"}}, true, nil
}

func (w *watcher) Symbols(context.Context, string, string) ([]tool.SymbolPosition, error) {
	return []tool.SymbolPosition{{Path: "a.x", Line: 1, Name: "old", Kind: "function", In: "pkg"}}, nil
}

func (w *watcher) Diagnostics(context.Context, []string) ([]tool.Diagnostic, error) { return nil, nil }

func (w *watcher) Actions(context.Context, tool.CodeAt, int) ([]tool.CodeAction, error) {
	return []tool.CodeAction{{Title: "Do it", Kind: "quickfix"}, {Title: "Not this", Disabled: "no"}}, nil
}

func (w *watcher) Act(ctx context.Context, at tool.CodeAt, _ int, _ string) ([]tool.Write, error) {
	at.Symbol = "old"
	return w.Rename(ctx, at, "acted")
}

// served adds language servers and their tools to a session.
func served(w *watcher) func(*session.Config) {
	return func(c *session.Config) {
		w.dir = c.Dir
		c.Code, c.CodeWatch = w, w
		c.Tools = append(slices.Clone(c.Tools), tools.Lsp()...)
	}
}

// SPEC 12.2: what a change broke comes with its result, late news with the next;
// a command's result stays what the command printed.
func TestDiagnosticsComeWithTheResult(t *testing.T) {
	w := &watcher{missing: []string{"y is not installed; to have it: get y"}}
	write := func(path, text string) string { return args(j{"path": path, "content": text}) }
	many := strings.Repeat("bad\n", 15)
	m := llmtest.New(
		llmtest.Use("write", write("a.x", "good\nbad one\n")),
		llmtest.Use("write", write("b.x", "slow\n")),
		llmtest.Use("read", args(j{"path": "b.x"})),
		llmtest.Use("read", args(j{"path": "b.x"})),
		llmtest.Use("bash", args(j{"command": "echo bad two > c.x; echo said"})),
		llmtest.Use("write", write("d.x", "bad? a hint\n"+many)),
		llmtest.Use("write", write("e.x", "bad? a hint\n")),
		llmtest.Say("done"),
	)
	r := newRig(t, "yolo", m, journaled(t, journal.Options{}), served(w))
	es := r.Run("go", nil)
	dones := find[event.CallDone](es)
	text := func(i int) string { return dones[i].Result.Text }
	if want := "[the language server finds what this change brought:\n  a.x:2:1: error: bad ok 12 passed one [x]]"; !strings.Contains(text(0), want) {
		t.Errorf("a write: %q", text(0))
	}
	if strings.Contains(text(1), "late") || !strings.Contains(text(2), "[the language server finds what an earlier change brought:\n  b.x:1:1: warning: found late]") || strings.Contains(text(3), "late") {
		t.Errorf("late: %q, %q, %q", text(1), text(2), text(3))
	}
	if strings.Contains(text(4), "bad") || dones[4].Command == "" {
		t.Errorf("a command's result: %q", text(4))
	}
	noted := slices.DeleteFunc(find[event.Noted](es), func(n event.Noted) bool { return n.Why != "lsp" })
	if len(noted) != 1 || !strings.Contains(noted[0].Text, "c.x:1:1: error: bad") {
		t.Errorf("beside a command: %+v", noted)
	}
	if n := strings.Count(text(5), "error: bad"); n != 10 || !strings.Contains(text(5), "and 5 more]") || strings.Contains(text(5), "hint") {
		t.Errorf("many: %q", text(5))
	}
	if strings.Contains(text(6), "language server") {
		t.Errorf("a hint: %q", text(6))
	}
	if warned := find[event.Warned](es); len(warned) != 1 || !strings.Contains(warned[0].Text, "get y") {
		t.Errorf("warned: %+v", warned)
	}
	// What progress and auto-fix read are facts: each outcome once.
	var outcomes []string
	for _, d := range find[event.Diagnosed](es) {
		outcomes = append(outcomes, fmt.Sprintf("%d+%d of %d", len(d.Found), d.More, d.Errors))
	}
	if want := []string{"1+0 of 1", "1+0 of 1", "1+0 of 2", "15+0 of 17"}; !slices.Equal(outcomes, want) {
		t.Errorf("outcomes: %q, want %q", outcomes, want)
	}
	// SPEC 13: it proves nothing.
	if got := r.View().Evidence(); got.Verified != nil {
		t.Errorf("evidence: %+v", got)
	}
}

// SPEC 12.2, 20.2: without a language server too a result says what a change broke, once;
// beside a command it comes as a note.
func TestBrokenSyntaxComesWithTheResult(t *testing.T) {
	write := func(text string) string { return args(j{"path": "a.go", "content": text}) }
	m := llmtest.New(
		llmtest.Use("write", write("package a\n\nfunc F() {\n")),
		llmtest.Use("edit", args(j{"path": "a.go", "old": "F()", "new": "G()"})),
		llmtest.Use("edit", args(j{"path": "a.go", "old": "{\n", "new": "{}\n"})),
		llmtest.Use("bash", args(j{"command": "echo '}' >> a.go"})),
		llmtest.Use("bash", args(j{"command": "rm a.go; ln -s '((' a.go"})),
		llmtest.Say("done"),
	)
	r := newRig(t, "yolo", m, journaled(t, journal.Options{}), func(c *session.Config) {
		c.Syntax = &syntax.Look{Root: c.Dir, Limit: time.Hour}
	})
	es := r.Run("go", nil)
	dones := find[event.CallDone](es)
	for i, want := range []string{"\n[this change broke a.go:3: expected '}', found 'EOF']", "", "", "", ""} {
		if text := dones[i].Result.Text; !strings.HasSuffix(text, want) || want == "" && strings.Contains(text, "broke") {
			t.Errorf("call %d: %q", i, text)
		}
	}
	noted := slices.DeleteFunc(find[event.Noted](es), func(n event.Noted) bool { return n.Why != "lsp" })
	if len(noted) != 1 || noted[0].Text != "[this change broke a.go:4: expected declaration, found '}']" {
		t.Errorf("%+v", noted)
	}
}

// SPEC 12.2: a package that a change broke is told with the change's result, without a
// language server, once.
func TestBrokenPackageComesWithTheResult(t *testing.T) {
	m := llmtest.New(
		llmtest.Use("write", args(j{"path": "a.go", "content": "package a\n\nvar X = y\n"})),
		llmtest.Use("write", args(j{"path": "b.go", "content": "package a\n"})),
		llmtest.Say("done"),
	)
	r := newRig(t, "yolo", m, journaled(t, journal.Options{}), func(c *session.Config) {
		c.Syntax = &syntax.Look{Root: c.Dir, Start: &processtest.Plain{}, Limit: time.Hour, TypeLimit: time.Hour}
	})
	r.Put("go.mod", "module x\n")
	dones := find[event.CallDone](r.Run("go", nil))
	if text := dones[0].Result.Text; !strings.HasSuffix(text, "\n[go vet now finds a.go:3: undefined: y]") {
		t.Errorf("%q", text)
	}
	if text := dones[1].Result.Text; strings.Contains(text, "go vet") {
		t.Errorf("%q", text)
	}
}

// SPEC 12.2: what one edit of a reply breaks and the next one mends is not told; what they
// leave broken is told once, with the one that ends last, also if it fails.
func TestEditsOfOneReplyAreToldTogether(t *testing.T) {
	w := func(name, text string) string { return args(j{"path": name, "content": "package a\n\n" + text}) }
	m := llmtest.New(
		llmtest.Use("write", w("a.go", "var X = y\n"), "write", w("b.go", "var y = 1\n")),
		llmtest.Use("write", w("c.go", "var Z = z\n"), "write", w("d.go", "var u = 1\n")),
		llmtest.Use("write", w("b/e.go", "var V = v\n"), "edit", args(j{"path": "b/e.go", "old": "nowhere", "new": "w"})),
		llmtest.Say("done"),
	)
	r := newRig(t, "yolo", m, journaled(t, journal.Options{}), func(c *session.Config) {
		c.Syntax = &syntax.Look{Root: c.Dir, Start: &processtest.Plain{}, Limit: time.Hour, TypeLimit: time.Hour}
	})
	r.Put("go.mod", "module x\n")
	es := r.Run("go", nil)
	dones := find[event.CallDone](es)
	for i, want := range []string{"", "[go vet now finds c.go:3: undefined: z]", "[go vet now finds b/e.go:3: undefined: v]"} {
		text := dones[2*i].Result.Text + dones[2*i+1].Result.Text
		if n := strings.Count(text, "go vet"); n != min(len(want), 1) || !strings.Contains(text, want) {
			t.Errorf("reply %d: %q", i, text)
		}
	}
}

// SPEC 12.2: a rename goes through the ordinary writes: it is recorded, judged by
// the mode, needs nothing read, and is undone as one.
func TestRenameIsAnOrdinaryWrite(t *testing.T) {
	for mode, allowed := range map[string]bool{"accept-edits": true, "plan": false, "ask": false} {
		t.Run(mode, func(t *testing.T) {
			w := &watcher{}
			m := llmtest.New(llmtest.Use("lsp_rename", args(j{"symbol": "old", "newName": "new"})), llmtest.Say("done"))
			r := newRig(t, mode, m, served(w))
			r.Put("a.x", "def old\n")
			r.inFolder("sub/b.x", "use old\n")
			es := r.Run("rename it", nil)
			done := find[event.CallDone](es)[0]
			if ok := done.Outcome == event.OK; ok != allowed {
				t.Fatalf("%s: %s", done.Outcome, done.Result.Text)
			}
			if !allowed {
				if r.File("a.x") != "def old\n" {
					t.Error("a file was changed")
				}
				return
			}
			if r.File("a.x") != "def new\n" || r.File("sub/b.x") != "use new\n" || !strings.Contains(done.Result.Text, "+use new") {
				t.Errorf("%q %q: %s", r.File("a.x"), r.File("sub/b.x"), done.Result.Text)
			}
			if !slices.Equal(w.changes, []string{"a.x def old", "sub/b.x use old"}) {
				t.Errorf("the server was told of %q", w.changes)
			}
			if _, err := r.undo(undo.ByTurn); err != nil || r.File("a.x") != "def old\n" || r.File("sub/b.x") != "use old\n" {
				t.Errorf("undone: %v %q %q", err, r.File("a.x"), r.File("sub/b.x"))
			}
		})
	}
}

// SPEC 12.2: places are quoted where reading them would be allowed, and bounded.
func TestPlacesAreQuoted(t *testing.T) {
	w := &watcher{}
	m := llmtest.New(
		llmtest.Use("lsp", args(j{"look": "definition", "symbol": "old"})),
		llmtest.Use("lsp", args(j{"operation": "findReferences", "filePath": "a.x", "line": 1})),
		llmtest.Use("lsp", args(j{"look": "symbols", "path": "a.x"})),
		llmtest.Use("lsp", args(j{"look": "completion", "path": "a.x", "line": 1, "column": 2})),
		llmtest.Use("lsp", args(j{"look": "diagnostics", "path": "a.x"})),
		llmtest.Use("lsp_code_action", args(j{"path": "a.x", "line": 1})),
		llmtest.Use("lsp", args(j{"look": "hover", "path": "../elsewhere.x", "line": 1})),
		llmtest.Use("lsp_code_action", args(j{"path": "a.x", "line": 1, "title": "Do it"})),
		llmtest.Use("edit", args(j{"path": "a.x", "old": "def acted", "new": "def more"})),
		llmtest.Say("done"),
	)
	r := newRig(t, "accept-edits", m, served(w))
	r.Put("a.x", "def old\n")
	r.inFolder("sub/b.x", "use old\n")
	r.Put(".env", "KEY=very-secret-value\n")
	es := r.Run("look", nil)
	dones := find[event.CallDone](es)
	for i, want := range []string{
		"a.x:1:5:def old\n.env:1:1\n/etc/hostname:1:1\na.x:99:1",
		"[4800 more not shown]",
		"a.x:1: function old in pkg | def old",
		"function old func()\n[more not shown",
		"no proof",
		"Do it (quickfix)\nNot this not now: no",
		"outside the workspace",
		"applied Do it: 2 files changed",
		"",
	} {
		if got := dones[i].Result.Text; !strings.Contains(got, want) {
			t.Errorf("%d: %q, want %q", i, got, want)
		}
	}
	for i, d := range dones {
		if strings.Contains(d.Result.Text, "very-secret") {
			t.Errorf("%d shows a secret: %s", i, d.Result.Text)
		}
		if n := len(d.Result.Text); n > 60_000 {
			t.Errorf("%d has %d bytes", i, n)
		}
	}
	if seen := find[event.FileSeen](es); len(seen) == 0 || fmt.Sprint(seen[0].Spans[0].Path, seen[0].Spans[0].From) != "a.x1" {
		t.Errorf("what was quoted counts as seen: %+v", seen)
	}
}

func (r *rig) inFolder(name, text string) {
	r.T.Helper()
	must.Do(r.T, os.MkdirAll(filepath.Dir(filepath.Join(r.Dir, name)), 0o755))
	r.Put(name, text)
}

// SPEC 12.2: what is mended is an outcome too, and so is what an earlier process
// of the session left: its servers say nothing of it.
func TestMendedIsAnOutcome(t *testing.T) {
	w := &watcher{}
	write := func(path, text string) llmtest.Turn {
		return llmtest.Use("read", args(j{"path": path}), "write", args(j{"path": path, "content": text}))
	}
	m := llmtest.New(
		write("a.x", "bad one\n"), write("b.x", "good\n"), write("a.x", "good\n"), write("b.x", "better\n"), llmtest.Say("done"),
	)
	r := newRig(t, "yolo", m, served(w))
	var got []string
	for _, d := range find[event.Diagnosed](r.Run("go", nil)) {
		got = append(got, fmt.Sprintf("%d of %d", len(d.Found), d.Errors))
	}
	if want := []string{"1 of 1", "0 of 0"}; !slices.Equal(got, want) {
		t.Errorf("outcomes: %q, want %q", got, want)
	}
}
