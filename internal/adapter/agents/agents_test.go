package agents

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		must.Write(t, file, text)
	}
	return dir
}

func find(kinds []Kind, name string) Kind {
	for _, k := range kinds {
		if k.Name == name {
			return k
		}
	}
	return Kind{}
}

// SPEC 14.1: a project's kinds win over a person's, and those over pawl's own.
func TestLoad(t *testing.T) {
	project := folder(t, map[string]string{
		"reviewer.md":      "---\nname: reviewer\ndescription: Reviews: changes.\ntools: Read, Grep, Bash(git diff:*)\nmodel: inherit\nbudget: $0.5\ncolor: red\n---\nLook closely.\n",
		"sub/deep/nest.md": "---\ndescription: d\nread-only: true\n---\nx\n",
		"README.md":        "not an agent",
		"notes.txt":        "not an agent",
	})
	user := folder(t, map[string]string{
		"reviewer.md": "---\nname: Reviewer\ndescription: mine\n---\nx\n",
		"explore.md":  "---\nname: explore\ndescription: my own explorer\npermissionMode: plan\ntools: '*'\n---\nx\n",
	})
	kinds, warnings := Load(Folder{Path: project}, Folder{Path: filepath.Join(project, "missing")}, Folder{Path: user})
	if warnings != nil {
		t.Error(warnings)
	}
	if len(kinds) != 4 {
		t.Errorf("%d kinds: %+v", len(kinds), kinds)
	}
	r := find(kinds, "reviewer")
	if r.Description != "Reviews: changes." || fmt.Sprint(r.Tools) != "[Read Grep Bash(git diff:*)]" || r.Model != "" || r.USD != 0.5 || r.Prompt != "Look closely." || r.ReadOnly {
		t.Errorf("%+v", r)
	}
	if k := find(kinds, "nest"); !k.ReadOnly || k.Tools != nil {
		t.Errorf("%+v", k)
	}
	if k := find(kinds, "explore"); k.Description != "my own explorer" || !k.ReadOnly || k.Tools != nil {
		t.Errorf("%+v", k)
	}
	if k := find(kinds, "general"); k.File != "" || k.ReadOnly {
		t.Errorf("%+v", k)
	}
}

func TestWhatIsLeftOut(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no description": {"---\nname: a\n---\nx", "no description"},
		"no text":        {"---\nname: a\ndescription: d\n---\n", "no text"},
		"a path":         {"---\nname: ../a\ndescription: d\n---\nx", "must be letters"},
		"no front":       {"just text", "no description"},
		"no end":         {"---\nname: a\n", "has no end"},
		"a budget":       {"---\nname: a\ndescription: d\nbudget: much\n---\nx", "not an amount"},
		"below nothing":  {"---\nname: a\ndescription: d\nbudget: -1\n---\nx", "not an amount"},
		"infinite":       {"---\nname: a\ndescription: d\nbudget: Inf\n---\nx", "not an amount"},
		"denied tools":   {"---\nname: a\ndescription: d\ndisallowedTools: Bash(rm:*)\n---\nx", "whole tools, and not"},
		"a denied word":  {"---\nname: a\ndescription: d\ndisallowedTools: Bsh\n---\nx", "does not know the tool"},
		"a denied map":   {"---\nname: a\ndescription: d\ndisallowedTools: {Bash: true}\n---\nx", "names of tools"},
		"a map of tools": {"---\nname: a\ndescription: d\ntools: {write: false}\n---\nx", "names of tools"},
		"isolation":      {"---\nname: a\ndescription: d\nisolation: [worktree]\n---\nx", "it must be worktree"},
		"hooks":          {"---\nname: a\ndescription: d\nhooks:\n  PreTool: []\n---\nx", "pawl cannot keep it"},
		"tool":           {"---\nname: a\ndescription: d\ntool: Read\n---\nx", "tool (did you mean tools?) of the front matter of an agent"},
		"allowed tools":  {"---\nname: a\ndescription: d\nallowed_tools: Read\n---\nx", "allowed_tools"},
		"readonly":       {"---\nname: a\ndescription: d\nreadOnly: true\n---\nx", "readonly (did you mean read-only?)"},
		"permission":     {"---\nname: a\ndescription: d\npermission-mode: plan\n---\nx", "permission-mode"},
		"sandbox":        {"---\nname: a\ndescription: d\nsandbox: read-only\n---\nx", "sandbox of the front matter of an agent"},
		"budgets":        {"---\nname: a\ndescription: d\nbudgets: 1\n---\nx", "budgets"},
		"read-only":      {"---\nname: a\ndescription: d\nread-only: maybe\n---\nx", "true or false"},
		"large":          {"---\nname: a\ndescription: d\n---\n" + strings.Repeat("x", maxFile), "longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			kinds, warnings := Load(Folder{Path: folder(t, map[string]string{"a.md": c.text})})
			if len(kinds) != len(Builtin()) || len(warnings) != 1 || !strings.Contains(warnings[0], c.want) || !strings.Contains(warnings[0], "a.md") {
				t.Errorf("%d kinds, %q", len(kinds), warnings)
			}
		})
	}
	t.Run("wider rights", func(t *testing.T) {
		kinds, warnings := Load(Folder{Path: folder(t, map[string]string{"a.md": "---\nname: a\ndescription: d\npermissionMode: bypassPermissions\n---\nx"})})
		if find(kinds, "a").Name == "" || len(warnings) != 1 || !strings.Contains(warnings[0], "ignored") {
			t.Errorf("%+v %q", kinds, warnings)
		}
	})
	t.Run("its name", func(t *testing.T) { // SPEC 16.17: nothing wider takes the place of a file that is left out
		theirs := folder(t, map[string]string{"a.md": "---\nname: general\ndescription: d\nhooks: x\n---\nx", "explore.md": "---\n"})
		mine := folder(t, map[string]string{"b.md": "---\nname: General\ndescription: d\n---\nx"})
		if kinds, warnings := Load(Folder{Path: theirs}, Folder{Path: mine}); len(kinds) != 0 || len(warnings) != 2 {
			t.Errorf("%+v %q", kinds, warnings)
		}
	})
	t.Run("what weakens nothing", func(t *testing.T) {
		kinds, warnings := Load(Folder{Path: folder(t, map[string]string{"a.md": "---\nname: a\ndescription: d\nlicense: MIT\nflavour: mild\npermissionMode: auto\n---\nx"})})
		if find(kinds, "a").Name == "" || len(warnings) != 1 || !strings.Contains(warnings[0], "permissionMode \"auto\" is ignored") || !strings.Contains(fmt.Sprint(find(kinds, "a").Keys), "flavour is not known") {
			t.Errorf("%+v %q", kinds, warnings)
		}
	})
	t.Run("a link", func(t *testing.T) {
		dir := folder(t, nil)
		must.Do(t, os.Symlink("/etc/passwd", filepath.Join(dir, "a.md")))
		if kinds, _ := Load(Folder{Path: dir}); len(kinds) != len(Builtin()) {
			t.Errorf("%+v", kinds)
		}
	})
	t.Run("many", func(t *testing.T) {
		files := map[string]string{}
		for i := range maxFiles + 10 {
			files[fmt.Sprintf("a%d.md", i)] = fmt.Sprintf("---\ndescription: d\n---\nx %d", i)
		}
		kinds, warnings := Load(Folder{Path: folder(t, files)})
		if len(kinds) != maxFiles+len(Builtin()) || len(warnings) != 1 {
			t.Errorf("%d kinds, %q", len(kinds), warnings)
		}
	})
}

// SPEC 16.17: a limit of an agent is kept or named, and what is no number is no agent.
func TestMaxTurns(t *testing.T) {
	for value, want := range map[string]int{"3": 3, "'7'": 7, "0": -1, "-2": -1, "many": -1, "1.5": -1} {
		kinds, warnings := Load(Folder{Path: folder(t, map[string]string{"a.md": "---\nname: a\ndescription: d\nmaxTurns: " + value + "\nmemory: user\n---\nx"})})
		k := find(kinds, "a")
		if (k.Name == "") != (want < 0) || want > 0 && (k.Steps != want || !strings.Contains(fmt.Sprint(k.Keys), "memory is used, in pawl's own way")) || (len(warnings) == 1) != (want < 0) {
			t.Errorf("%s: %+v %q", value, k, warnings)
		}
	}
}

// SPEC 16.17: what an agent may not use is kept by all tools that do the same.
func TestDisallowedTools(t *testing.T) {
	kinds, warnings := Load(Folder{Path: folder(t, map[string]string{"a.md": "---\nname: a\ndescription: d\ndisallowedTools: Write, Bash, mcp__shop\nskills: [api, review]\nbackground: true\n---\nx"})})
	k := find(kinds, "a")
	if fmt.Sprint(k.Not) != "[edit bash bash_output bash_kill mcp__shop]" || fmt.Sprint(k.Skills) != "[api review]" || !k.Background || len(warnings) > 0 {
		t.Errorf("%+v %q", k, warnings)
	}
}

// SPEC 14.1: a file and a program can say that an agent works in a worktree of its own.
func TestIsolation(t *testing.T) {
	kinds, warnings := Load(Folder{Path: folder(t, map[string]string{"a.md": "---\nname: a\ndescription: d\nisolation: worktree\n---\nx"})})
	if len(warnings) > 0 || !kinds[0].Isolated || kinds[1].Isolated {
		t.Errorf("%+v %v", kinds, warnings)
	}
	if k, notes, err := Defined("a", []byte(`{"description":"d","prompt":"x","isolation":"worktree"}`)); err != nil || len(notes) > 0 || !k.Isolated {
		t.Errorf("%+v %v %v", k, notes, err)
	}
	if _, _, err := Defined("a", []byte(`{"description":"d","prompt":"x","isolation":"remote"}`)); err == nil {
		t.Error("it is not in a worktree")
	}
}
