package realservers

import (
	"os"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/offline"
	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/session/sessiontest"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// talk is a session of the built-in model on a realProject's project, with its server.
type talk struct {
	*realProject
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
	r := newRealProject(t, project{server: "gopls", files: files})
	c := sessiontest.Config(t, r.dir, m, func() []string { return append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off") })
	c.Tools = tool.Set{tools.Read(), tools.Grep(), tools.Glob(), tools.Ls(), tools.Edit(), tools.MultiEdit(), tools.Write(), tools.ApplyPatch(), tools.Bash(), tools.GoOverlay()}
	c.Permission = permission.New(permission.Config{Mode: permission.Yolo, Root: r.dir, Home: "/home/nobody"})
	if served {
		c.Services.Code, c.Services.CodeWatch = r.Servers, r.Servers
		c.Tools = append(c.Tools, tools.Lsp()...)
	}
	return &talk{r, sessiontest.Open(t, c)}
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

func (k *talk) turn(prompt string) (es []event.Event) {
	k.t.Helper()
	events := k.s.Events(k.t.Context(), k.s.View().Last())
	must.Done(k.t)(k.s.Submit(k.t.Context(), session.Prompt{Text: prompt}))
	for e, err := range events {
		must.Do(k.t, err)
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
