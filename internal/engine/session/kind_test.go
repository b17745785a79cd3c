package session_test

import (
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// SPEC 14.1, 16.17: a session that works as a kind of agent has no other tools than the kind,
// wherever they come from; a person and a program see all of what is outside.
func TestAsKind(t *testing.T) {
	m, o := llmtest.New(llmtest.Turn{Text: "done"}), &offers{}
	r := newRig(t, "ask", m, func(c *session.Config) {
		c.Outside, c.Person, c.FolderTools = o, false, func() tool.Set { return tools.Lsp() }
		*c, _ = c.As(tool.Agent{Kind: "k", Tools: []string{"Read", "lsp"}})
	})
	r.Run("go", func(event.Event) {})
	var names []string
	for _, s := range m.Requests()[0].Head.Tools {
		names = append(names, s.Name)
	}
	if len(names) != 2 || names[0] != "lsp" && names[1] != "lsp" {
		t.Errorf("%q", names)
	}
	if r.View().Outside() != session.Outside(o) {
		t.Error("what is outside is hidden from the person")
	}
}
