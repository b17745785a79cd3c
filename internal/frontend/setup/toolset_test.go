package setup

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/agents"
	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/prompt"
)

// SPEC 4.12: a limit that is set holds for that tool and no other.
func TestLimited(t *testing.T) {
	set := toolSet(offer{person: true})
	before := toolSet(offer{person: true})
	limited(set, map[string]time.Duration{"web_fetch": 30 * time.Second, "bash": time.Hour, "nothing": 1})
	for i := range set {
		want := before[i].Timeout
		switch set[i].Spec.Name {
		case "web_fetch":
			want = 30 * time.Second
		case "bash":
			want = time.Hour
		}
		if set[i].Timeout != want {
			t.Errorf("%s: %v, want %v", set[i].Spec.Name, set[i].Timeout, want)
		}
	}
}

// SPEC 4.9, 20.1: a family is offered the form of edit that it was trained on, and can
// call the others.
func TestEditForms(t *testing.T) {
	for family, want := range map[string]string{"gpt": "write apply_patch", "claude": "edit write", "gemini": "edit write", "other": "edit write", "": "edit write"} {
		set := toolSet(offer{}).For(llm.Info{Family: family})
		var offered, all []string
		for _, s := range set.Specs() {
			if f, _ := set.Find(s.Name); f.Does() == tool.Edit {
				offered = append(offered, s.Name)
			}
		}
		for _, s := range set {
			if s.Does() == tool.Edit {
				all = append(all, s.Spec.Name)
			}
		}
		if got := strings.Join(offered, " "); got != want || len(all) != 4 {
			t.Errorf("%s is offered %q of %q, want %q", family, got, all, want)
		}
	}
	// GPT calls it with the patch alone: the table of families has the argument's name.
	var schema struct{ Properties map[string]any }
	if err := json.Unmarshal(tools.ApplyPatch().Spec.Schema, &schema); err != nil || len(schema.Properties) != 1 || schema.Properties["patch"] == nil {
		t.Errorf("apply_patch: %v, %v", err, schema.Properties)
	}
}

// SPEC 20.3: what a command does has no text in the list of tools, but can be called, and is
// offered where it is chosen by name.
func TestByShell(t *testing.T) {
	all := toolSet(offer{git: true})
	for _, name := range []string{"ls", "git_status", "git_log", "git_diff"} {
		if found, ok := all.Resolve(name); !ok || !found.Hidden {
			t.Errorf("%s: there %v, hidden %v", name, ok, found.Hidden)
		}
		chosen, err := only(toolSet(offer{git: true}), []string{"read", name})
		if err != nil || len(chosen.Specs()) != 2 {
			t.Errorf("%s: %v, %v", name, chosen.Specs(), err)
		}
	}
}

// SPEC 20.2, 20.3: the first request is at most 12 KB with all that a run can use, and has
// nothing that this one cannot.
func TestFirstRequest(t *testing.T) {
	state := workspace.State{Branch: "main", Changed: 3, Commits: []string{"1fb08337 lexer: count tabs as one column each", "40df44bf lexer: read", "f601bb41 begin"}}
	for name, c := range map[string]struct {
		o       offer
		without []string // tools and arguments
	}{
		"headless":      {offer{model: llm.Info{Family: "claude"}, kinds: agents.Builtin(), git: true}, []string{"ask_user", "remember", "needs", "apply_patch", "ls", "git_status", "git_log", "git_diff"}},
		"person":        {offer{model: llm.Info{Family: "claude"}, kinds: agents.Builtin(), git: true, person: true}, []string{"apply_patch"}},
		"no repository": {offer{model: llm.Info{Family: "gemini"}, kinds: agents.Builtin(), person: true}, []string{"git_status", "git_log", "git_diff", "apply_patch"}},
		"gpt":           {offer{model: llm.Info{Family: "gpt"}, kinds: agents.Builtin(), git: true, person: true}, []string{"edit", "multi_edit"}},
		"unknown model": {offer{git: true}, []string{"agent", "ask_user"}},
	} {
		system := prompt.System(prompt.Facts{
			Dir: "/home/ada/work/engine", OS: "linux", Shell: "bash", Git: gitLine(state), Date: "2026-11-21", Mode: "accept-edits",
			Languages: []string{"Go (412)", "Python (40)", "shell (3)"}, Servers: []string{"gopls", "pyright"}, Checks: []string{"go vet ./...", "go test ./..."},
			Person: c.o.person, Confined: true, Scratch: true,
		})
		size := len(system)
		for _, spec := range toolSet(c.o).For(llm.Info{Provider: "anthropic", Family: c.o.model.Family}).Specs() {
			size += len(`{"name":"","description":"","input_schema":},`) + len(spec.Name+spec.Doc) + len(spec.Schema)
			for _, w := range c.without {
				if spec.Name == w || strings.Contains(string(spec.Schema), `"`+w+`":{`) {
					t.Errorf("%s: %s is offered", name, w)
				}
			}
		}
		t.Logf("%s: %d bytes", name, size)
		if size > 12<<10 {
			t.Errorf("%s: %d bytes", name, size)
		}
	}
}
