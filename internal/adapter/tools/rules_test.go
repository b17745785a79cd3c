package tools_test

import (
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// SPEC 4.15: a rule with another agent's name for a tool covers the tool, by the
// tool's own facts.
func TestRulesByOtherNames(t *testing.T) {
	all := []tool.Tool{
		tools.MultiEdit(), tools.BashOutput(), tools.BashKill(), tools.AskUser(), tools.Todo(), tools.WebSearch(), tools.WebFetch(), tools.Bash(), tools.Edit(), tools.Grep(),
	}
	for rule, want := range map[string]string{
		"MultiEdit": "multi_edit", "BashOutput": "bash_output", "TaskOutput": "bash_output", "KillShell": "bash_kill", "KillBash": "bash_kill",
		"AskUserQuestion": "ask_user", "TodoWrite": "todo", "WebSearch": "web_search", "google_web_search": "web_search", "ripgrep": "grep", "terminal": "bash",
	} {
		p := permission.New(permission.Config{Mode: permission.Yolo, Root: t.TempDir()})
		must.Do(t, p.Add(permission.User, nil, nil, []string{rule}))
		for _, x := range all {
			d := p.Decide(permission.Call{Tool: x.Spec.Name, Family: x.Family, Aliases: x.Aliases})
			if denied := d.Verdict == permission.Deny; denied != (x.Spec.Name == want) {
				t.Errorf("with %s denied, %s: %v", rule, x.Spec.Name, d.Verdict)
			}
		}
	}
	for rule, want := range map[string]string{"Shell(git *)": "bash(git *)", "run_command(ls)": "bash(ls)", "Fetch(example.com)": "web_fetch(example.com)", "WebFetch": "web_fetch", "NotebookEdit(a)": "edit(a)", "str_replace": "edit", "Write(a)": "edit(a)"} {
		if r, err := permission.ParseRule(permission.Denies, permission.User, rule); err != nil || r.Text != want {
			t.Errorf("%s: %q, %v", rule, r.Text, err)
		}
	}
}
