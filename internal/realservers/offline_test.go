package realservers

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/offline"
	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// talk is a session of the built-in model on a rig's project, with its server.
type talk struct {
	*rig
	s *session.Session
}

func newTalk(t *testing.T, files map[string]string) *talk {
	t.Helper()
	m := offline.New()
	t.Cleanup(func() { _ = m.Close() })
	return talkOf(t, m, files, true)
}

// talkOf is a session of a model, with its project's server or without.
func talkOf(t *testing.T, m llm.Model, files map[string]string, served bool) *talk {
	t.Helper()
	r := newRig(t, project{server: "gopls", files: files})
	ws, err := workspace.Open(r.dir, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sh := shell.New(shell.Options{Root: r.dir, SpillDir: t.TempDir(), Env: func() []string { return append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off") }})
	ids := 0
	c := session.Config{
		Store: memory.New(time.Now), ID: "s", Dir: r.dir, Frontend: "test", Version: "test", Model: m,
		Tools: tool.Set{tools.Read(), tools.Grep(), tools.Glob(), tools.Ls(), tools.Edit(), tools.MultiEdit(), tools.Write(), tools.ApplyPatch(), tools.Bash(), tools.GoOverlay()},
		Files: ws, Shell: sh, Locks: turn.NewLocks(8),
		Permission: permission.New(permission.Config{Mode: permission.Yolo, Root: r.dir, Home: "/home/nobody"}),
		Mask:       secrets.New(), SpillDir: t.TempDir(), Now: time.Now, Sleep: session.SleepFor, Jitter: func() float64 { return 0 },
		NewID: func() string { ids++; return fmt.Sprint("q", ids) },
	}
	if served {
		c.Services.Code, c.Services.CodeWatch = r.Servers, r.Servers
		c.Tools = append(c.Tools, tools.Lsp()...)
	}
	s, err := session.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _, _ = s.Close(), sh.Close(), ws.Close() })
	return &talk{r, s}
}

// ask prompts, and returns what was said last and how the turn ended.
func (k *talk) ask(prompt string) (said string, end event.End) {
	k.t.Helper()
	for _, e := range k.turn(prompt) {
		switch b := e.Body.(type) {
		case event.Replied:
			if text := b.Reply.Message.Text(); text != "" {
				said = text
			}
		case event.Ended:
			end = b.End
		}
	}
	return said, end
}

// turn prompts, and returns the events of the turn.
func (k *talk) turn(prompt string) (es []event.Event) {
	k.t.Helper()
	events := k.s.Events(k.t.Context(), k.s.View().Last())
	if _, err := k.s.Submit(k.t.Context(), session.Prompt{Text: prompt}); err != nil {
		k.t.Fatal(err)
	}
	for e, err := range events {
		if err != nil {
			k.t.Fatal(err)
		}
		es = append(es, e)
		if _, ok := e.Body.(event.Ended); ok {
			return es
		}
	}
	k.t.Fatal("the events ended before the turn")
	return nil
}

func (k *talk) contains(s string, wants ...string) {
	k.t.Helper()
	for _, w := range wants {
		if !strings.Contains(s, w) {
			k.t.Errorf("%q is missing in:\n%s", w, s)
		}
	}
}

const goMod = "module example.com/x\n\ngo 1.24\n"

// SPEC 5.2, 12.2: the built-in model finds by the language server: no comment and
// no other thing of the name counts.
func TestOfflineWhere(t *testing.T) {
	t.Parallel()
	k := newTalk(t, map[string]string{
		"go.mod":  goMod,
		"a.go":    "package x\n\n// Foo is mentioned here.\nfunc Foo() int { return 1 }\n\ntype T struct{}\n\nfunc (T) Bar() int { Foo := 2; return Foo }\n",
		"b/b.go":  "package b\n\nimport \"example.com/x\"\n\nvar V = x.Foo() + x.T{}.Bar()\n",
		"c/c.go":  "package c\n\ntype U struct{}\n\nfunc (U) Bar() {}\n",
		"note.md": "onlyhere is a word\n",
	})
	said, end := k.ask("where is Foo defined and used?")
	k.contains(said, "defined at a.go:4", "func Foo() int { return 1 }", "used on 1 line", "b/b.go:5: var V = x.Foo()")
	if end != event.EndDone || strings.Contains(said, "a.go:3") || strings.Contains(said, "a.go:8") {
		t.Errorf("%s: %s", end, said)
	}
	said, _ = k.ask("who calls `Bar`?")
	k.contains(said, "2 places", "a.go:8", "c/c.go:5", "b/b.go:5")
	said, _ = k.ask("who calls `T.Bar`?")
	k.contains(said, "defined at a.go:8", "b/b.go:5")
	if strings.Contains(said, "c/c.go") {
		t.Error(said)
	}
	said, _ = k.ask("where is `onlyhere`?")
	k.contains(said, "No language server knows a symbol `onlyhere`", "note.md:1")
}

// SPEC 5.2, 12.2: it renames by the language server, over files, and the change
// is undone as one.
func TestOfflineRename(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"go.mod":      goMod,
		"a/a.go":      "package a\n\n// Foo is one.\nfunc Foo() int { return 1 }\n\ntype T struct{ Foo int }\n\nfunc (t T) Bar() int { Foo := t.Foo; return Foo }\n\nvar text = \"Foo\"\n",
		"a/a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestFoo(t *testing.T) {\n\tif Foo() != 1 || text != \"Foo\" || (T{Foo: 2}).Bar() != 2 {\n\t\tt.Error(Foo())\n\t}\n}\n",
		"b/b.go":      "package b\n\nimport \"example.com/x/a\"\n\nfunc One() int { return a.Foo() + a.T{Foo: 3}.Foo }\n",
		"c/c.go":      "package c\n\ntype Speaker interface{ Say() string }\n\ntype Dog struct{}\n\nfunc (Dog) Say() string { return \"\" }\n\ntype Other struct{}\n\nfunc (Other) Say(n int) {}\n\nvar _ Speaker = Dog{}\n",
		"d/d.go":      "package d\n\nfunc Same() {}\n",
		"e/e.go":      "package e\n\nfunc Same() {}\n",
	}
	k := newTalk(t, files)
	said, end := k.ask("rename function Foo to First")
	k.contains(said, "4 places in 3 files", "exit code 0")
	k.contains(k.read("a/a.go"), "// First is one.\nfunc First() int", "struct{ Foo int }", "Foo := t.Foo; return Foo", `"Foo"`)
	k.contains(k.read("b/b.go"), "a.First() + a.T{Foo: 3}.Foo")
	k.contains(k.read("a/a_test.go"), "if First() != 1", "t.Error(First())", "T{Foo: 2}")
	if end != event.EndDone {
		t.Error(end)
	}
	said, _ = k.ask("rename T.Foo to Num")
	k.contains(said, "exit code 0")
	k.contains(k.read("b/b.go"), "a.First() + a.T{Num: 3}.Num")
	// A method of an interface is renamed with those that satisfy it; one of those
	// alone is not.
	said, end = k.ask("rename Dog.Say to Speak")
	k.contains(said, "does not rename `Dog.Say`", "Speaker")
	if end != event.EndRefused {
		t.Error(end)
	}
	said, _ = k.ask("rename Speaker.Say to Speak")
	k.contains(said, "exit code 0")
	k.contains(k.read("c/c.go"), "interface{ Speak() string }", "func (Dog) Speak()", "func (Other) Say(n int)")
	// What cannot be done changes nothing, and is a refusal.
	before := fmt.Sprint(k.all(files))
	for prompt, want := range map[string]string{
		"rename First to T":             "does not rename",
		"rename First to func":          "keyword",
		"rename Nowhere to Somewhere":   "No language server knows",
		"rename Same to Other":          "2 things",
		"rename the method Same to New": "of that kind",
	} {
		said, end = k.ask(prompt)
		k.contains(said, want)
		if end != event.EndRefused {
			t.Errorf("%s: %s: %s", prompt, end, said)
		}
	}
	if now := fmt.Sprint(k.all(files)); now != before {
		t.Errorf("files changed:\n%s\nwere\n%s", now, before)
	}
	said, _ = k.ask("rename Same to Other in e/e.go")
	k.contains(said, "exit code 0")
	k.contains(k.read("e/e.go"), "func Other()")
	k.contains(k.read("d/d.go"), "func Same()")
	for range 4 {
		if err := k.undo(); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		if k.read(name) != text {
			t.Errorf("undone: %s is %q", name, k.read(name))
		}
	}
}

func (k *talk) all(files map[string]string) map[string]string {
	out := map[string]string{}
	for name := range files {
		out[name] = k.read(name)
	}
	return out
}

// undo takes back the last turn that changed something.
func (k *talk) undo() error {
	p, err := k.s.View().Changes().Plan(k.t.Context(), undo.Selector{Kind: undo.ByTurn})
	if err != nil {
		return err
	}
	started, err := k.s.Submit(k.t.Context(), session.Undo{Plan: p})
	if err != nil {
		return err
	}
	done, err := k.s.Await(k.t.Context(), started)
	if err == nil && done.Error != nil {
		err = fmt.Errorf("undo: %s", done.Error.Message)
	}
	return err
}

// SPEC 5.2, 12.2: it mends a build by the server's quick fixes where they follow
// from the code alone.
func TestOfflineQuickFixes(t *testing.T) {
	t.Parallel()
	k := newTalk(t, map[string]string{
		"go.mod": goMod,
		"x.go":   "package x\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc Up(s string) string {\n\tvar unused int\n\tfmt.Println(s)\n\treturn strings.ToUpper(s)\n}\n",
	})
	said, _ := k.ask("fix the build")
	k.contains(said, "the language server's fix", "exit code 0")
	k.contains(k.read("x.go"), "\"strings\"")
	if text := k.read("x.go"); strings.Contains(text, "unused") || strings.Contains(text, "\"os\"") {
		t.Error(text)
	}
}
