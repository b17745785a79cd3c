package permission

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// SPEC 16.3: what git's configuration makes git run or read is written only with a
// yes, by every tool and in every mode, and never without a person.
func TestWhatGitRunsAsks(t *testing.T) {
	git := []tool.GitUse{
		{Path: "/w/.husky", Setting: "core.hookspath"}, {Path: "/w/.gitmore", Setting: "include.path"},
		{Path: "/w/tools/x.sh", Setting: "alias.x"}, {Path: "/home/u/hooks", Setting: "core.hookspath"},
	}
	for _, c := range []struct {
		what  string // a path that a tool writes, or a command line
		asks  string // of ask, accept-edits, auto and yolo: those that ask because of git
		says  string
		allow string // a rule that makes it unasked
		not   string // one that does not
	}{
		{".husky/pre-commit", "eay", "your next commit (core.hooksPath)", "edit(.husky/**)", "edit(**)"},
		{".husky/_/h", "eay", "core.hooksPath", "edit(.husky/_/h)", "edit(**/h)"},
		{".Husky/pre-commit", "eay", "core.hooksPath", "edit(.Husky/**)", "edit"},
		{".husky./pre-push", "eay", "core.hooksPath", "", "edit(*)"},
		{"/w/sub/../.husky/x", "eay", "core.hooksPath", "edit(.husky/x)", "edit(**/x)"},
		{".gitmore", "eay", "git's configuration", "edit(.gitmore)", "edit(.git*)"},
		{"tools/x.sh", "eay", "which git runs (alias.x)", "edit(tools/x.sh)", "edit(tools/**)"},
		{"/home/u/hooks/pre-push", "eay", "core.hooksPath", "edit(~/hooks/**)", "edit(~/**)"},
		{"sub/HEAD", "eay", "for a repository", "edit(sub/HEAD)", "edit(sub/**)"},
		{"sub/Head", "eay", "for a repository", "", "edit(**)"},
		{"$ echo ref: refs/heads/x > sub/HEAD", "ey", "for a repository", "", ""},
		{"head.go", "", "", "", ""},
		{"$ git reset HEAD a.txt", "", "", "", ""},
		{"tools/y.sh", "", "", "", ""},
		{".huskyrc", "", "", "", ""},
		{"$ echo x > .husky/pre-commit", "ey", "core.hooksPath", "edit(.husky/**)", "edit(**)"},
		{"$ cp a .husky/pre-commit", "y", "core.hooksPath", "", "edit(**)"},
		{"$ sed -i s/a/b/ tools/x.sh", "y", "alias.x", "", "edit(tools/**)"},
		{"$ tee .gitmore", "y", "include.path", "", ""},
		{"$ cat .husky/pre-commit", "", "", "", ""},
	} {
		call := func() Call {
			line, shell := strings.CutPrefix(c.what, "$ ")
			if !shell {
				return Call{Tool: "write", Family: tool.EditFamily, Footprint: tool.Footprint{Writes: []tool.Span{{Path: c.what}}, Git: git}}
			}
			cmds := must.Get(command.ParseWith(line, shellsyntax.Options{Dir: "/w", Home: "/home/u"}))(t)
			return Call{Tool: "bash", Family: tool.CommandFamily, Footprint: tool.Footprint{Shell: line, Commands: cmds, Unknown: true, Git: git}}
		}()
		policy := func(m Mode, allow string) *Policy {
			p := New(Config{Mode: m, Root: "/w", Home: "/home/u", Sandbox: whole})
			if allow != "" {
				must.Do(t, p.Add(User, []string{allow}, nil, nil))
			}
			return p
		}
		got := ""
		for letter, m := range map[string]Mode{"e": AcceptEdits, "a": Auto, "y": Yolo, "k": AskMode} {
			d := policy(m, "").Decide(call)
			if d.Verdict != Ask || d.By != "protected" {
				continue
			}
			got += letter
			if !strings.Contains(d.Reason, c.says) || d.CanAlways {
				t.Errorf("%s in %s: %q, always %t", c.what, m, d.Reason, d.CanAlways)
			}
		}
		for _, l := range c.asks {
			if !strings.ContainsRune(got, l) {
				t.Errorf("%s: asks in %q, want %q", c.what, got, c.asks)
			}
		}
		if c.asks == "" && got != "" {
			t.Errorf("%s: asks in %q", c.what, got)
		}
		if c.allow != "" && policy(AcceptEdits, c.allow).Decide(call).Verdict != Allow {
			t.Errorf("%s: the rule %s does not allow it: %+v", c.what, c.allow, policy(AcceptEdits, c.allow).Decide(call))
		}
		if c.not != "" && policy(AcceptEdits, c.not).Decide(call).Verdict == Allow {
			t.Errorf("%s: the rule %s allows it", c.what, c.not)
		}
	}
}
