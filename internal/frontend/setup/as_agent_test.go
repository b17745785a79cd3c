package setup

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/agents"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/agentsdk"
)

// SPEC 17.6, 16.17: a session works as a kind of agent: its text and model where the options
// name none, and the narrower of their limits. One that nobody has is refused.
func TestAsAgent(t *testing.T) {
	dir := t.TempDir()
	must.Write(t, filepath.Join(dir, ".claude/agents/reader.md"), "---\ndescription: reads\ntools: Read, Grep\nmaxTurns: 3\nbudget: $2\neffort: low\n---\nYou read.\n")
	must.Write(t, filepath.Join(dir, ".claude/agents/lost.md"), "---\ndescription: lost\nmodel: nobody/has-this\n---\nLost.\n")
	must.Write(t, filepath.Join(dir, ".claude/agents/torn.md"), "---\ndescription: torn\nmcpServers:\n  bad: 7\n---\nTorn.\n")
	env := map[string]string{"HOME": t.TempDir(), "PATH": os.Getenv("PATH")}
	e := &Environment{Env: func(name string) string { return env[name] }, Dir: dir, Now: time.Now, Version: "test", Err: io.Discard}
	e.Prepare()
	driver := agentsdk.Setup{Agents: []agents.Kind{{Name: "cat", Prompt: "You are a cat.", Model: "offline", ReadOnly: true, Not: []string{"bash"}}}}
	for name, c := range map[string]struct{ is, want Options }{
		"none":          {Options{Model: "offline"}, Options{Model: "offline"}},
		"of a file":     {Options{Agent: "reader"}, Options{SystemPrompt: "You read.", Effort: "low", MaxTurns: 3, MaxUSD: 2}},
		"it is wider":   {Options{Agent: "reader", MaxTurns: 2, MaxUSD: 1}, Options{SystemPrompt: "You read.", Effort: "low", MaxTurns: 2, MaxUSD: 1}},
		"it is less":    {Options{Agent: "Reader", MaxTurns: 9, MaxUSD: 9}, Options{SystemPrompt: "You read.", Effort: "low", MaxTurns: 3, MaxUSD: 2}},
		"a prompt":      {Options{Agent: "reader", SystemPrompt: "p"}, Options{SystemPrompt: "p", Effort: "low", MaxTurns: 3, MaxUSD: 2}},
		"of a program":  {Options{Agent: "cat", Driver: driver}, Options{SystemPrompt: "You are a cat.", Model: "offline", Mode: "plan"}},
		"another model": {Options{Agent: "cat", Driver: driver, Model: "m", Mode: "ask"}, Options{SystemPrompt: "You are a cat.", Model: "m", Mode: "ask"}},
	} {
		s := &opening{Environment: e, opt: &c.is, o: &Opened{}}
		k, err := s.asAgent()
		got := s.opt
		if err != nil || (k == nil) != (c.is.Agent == "") {
			t.Fatal(name, err)
		}
		if got.SystemPrompt != c.want.SystemPrompt || got.Model != c.want.Model || got.Effort != c.want.Effort || got.Mode != c.want.Mode || got.MaxTurns != c.want.MaxTurns || got.MaxUSD != c.want.MaxUSD {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for bad, why := range map[string]string{"nobody": "there is no agent", "lost": "nobody/has-this", "torn": "torn.md: mcpServers"} {
		if _, err := (&opening{Environment: e, opt: &Options{Agent: bad}, o: &Opened{}}).asAgent(); !errors.As(err, new(*UsageError)) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	var offered []string
	o := must.Get(e.Open(t.Context(), &Options{Agent: "reader", Model: "offline", Sandbox: "off"}, Frontend{Name: "test", Configure: func(c *session.Config) {
		for _, x := range c.Tools {
			offered = append(offered, x.Spec.Name)
		}
		c.FolderTools = func() tool.Set { return nil }
	}}))(t)
	o.Close()
	if !slices.Equal(offered, []string{"read", "grep"}) {
		t.Error(offered)
	}
}
