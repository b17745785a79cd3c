package tools_test

import (
	"slices"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/hook"
)

// SPEC 17.3, 4.9: hooks that were written for other agents hear of pawl's tools
// under the names that they know, as each tool declares them.
func TestHookNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tool tool.Tool
		want []string // the first is the one that they are told
	}{
		{tools.Bash(), []string{"Bash", "bash"}},
		{tools.BashKill(), []string{"KillShell", "KillBash", "bash_kill"}},
		{tools.BashOutput(), []string{"BashOutput", "bash_output"}},
		{tools.Read(), []string{"Read", "read"}},
		{tools.Ls(), []string{"LS", "ls"}},
		{tools.Glob(), []string{"Glob", "glob"}},
		{tools.Grep(), []string{"Grep", "grep"}},
		{tools.Edit(), []string{"Edit", "edit"}},
		{tools.MultiEdit(), []string{"MultiEdit", "Edit", "multi_edit"}},
		{tools.Write(), []string{"Write", "write"}},
		{tools.ApplyPatch(), []string{"Edit", "Write", "MultiEdit", "apply_patch"}},
		{tools.WebFetch(), []string{"WebFetch", "web_fetch"}},
		{tools.WebSearch(), []string{"WebSearch", "web_search"}},
		{tools.Todo(), []string{"TodoWrite", "todo"}},
		{tools.AskUser(), []string{"AskUserQuestion", "ask_user"}},
		{tools.GitLog(), []string{"git_log"}},
		{tools.Remember(), []string{"remember"}},
	} {
		if got := hook.Names(c.tool); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.tool.Spec.Name, got, c.want)
		}
	}
	// Whatever changes files and has no name of its own there is heard by what
	// guards changes.
	outside := tool.Tool{Facts: tool.Facts{Family: tool.EditFamily}}
	outside.Spec.Name = "mcp__a__stamp"
	if got := hook.Names(outside); !slices.Equal(got, []string{"Edit", "Write", "MultiEdit", "mcp__a__stamp"}) {
		t.Errorf("%q", got)
	}
}

// SPEC 4.9, 10.1: what a person mentions is shown by the tool that declares that
// it can, and a check runs by the one that runs commands, wherever in the set
// they are and whatever they are called.
func TestFoundByFacts(t *testing.T) {
	t.Parallel()
	renamed := func(tl tool.Tool, name string) tool.Tool { tl.Spec.Name = name; return tl }
	set := tool.Set{tools.Grep(), tools.BashOutput(), renamed(tools.Ls(), "list"), renamed(tools.Read(), "show"), renamed(tools.Bash(), "run")}
	if tl, ok := set.Commands(); !ok || tl.Spec.Name != "run" {
		t.Errorf("%q, %v", tl.Spec.Name, ok)
	}
	for m, want := range map[tool.Mention]string{{Path: "a"}: "show", {Path: "a", From: 2, To: 3}: "show", {Path: "d", Dir: true}: "list"} {
		if tl, args, ok := set.Showing(m); !ok || tl.Spec.Name != want || args == nil {
			t.Errorf("%+v: %q, %v", m, tl.Spec.Name, ok)
		}
	}
	if _, _, ok := (tool.Set{tools.Grep()}).Showing(tool.Mention{Path: "a"}); ok {
		t.Error("a search shows a file")
	}
	if _, ok := (tool.Set{tools.BashKill()}).Commands(); ok {
		t.Error("what ends commands runs them")
	}
}
