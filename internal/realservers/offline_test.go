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
