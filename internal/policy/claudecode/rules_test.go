package claudecode

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// SPEC 16.17: which calls a rule of Claude Code denies in pawl. A row is a rule, "|", a
// call; "!" in front: the call is not denied.
func TestTranslate(t *testing.T) {
	for row := range strings.SplitSeq(strings.TrimSpace(`
Bash|bash ls
Bash(*)|bash ls
Bash(rm:*)|bash rm -rf build
Bash(rm:*)|bash rm
Bash(rm:*)|bash cd x && sudo /bin/rm a
Bash(rm:*)|!bash ls
Bash(rm *)|bash rm a
Bash(npm run build)|bash npm run build
Bash(npm run build)|!bash npm run test
Bash(npm run test:*)|bash npm run test:unit
Bash(ls*)|bash lsof
Bash(* --force)|bash git push --force
Bash(* --force)|!bash git push
Bash(git * main)|bash git push origin main
Bash(curl*evil.com*)|bash curl -s https://evil.com/x
Bash(curl*evil.com*)|!bash curl -s https://good.com/x
Bash(*secret*)|bash echo the secrets
Bash(git commit -m "*")|bash git commit -m "a b c"
Bash(git commit -m "fix")|bash git commit -m fix
Bash(git commit -m "fix")|!bash git commit -m other
Read|read a
Read(main.txt)|read main.txt
Read(main.txt)|read sub/main.txt
Read(main.txt)|bash cat main.txt
Read(./.env)|read .env
Read(**/*.key)|read a/b/c.key
Read(/etc/hosts)|read /w/shop/etc/hosts
Read(/etc/hosts)|!read /etc/hosts
Read(//etc/hosts)|read /etc/hosts
Read(~/x/**)|read /home/me/x/y
Read($HOME/x/**)|read /home/me/x/y
Read(../other/**)|read /w/other/a
Read(.)|read a
Read(*.{pem,key})|read a.pem
Read(*.{pem,key})|read a.key
Read(file[0-9].txt)|read file3.txt
Read(secrets/)|read secrets/a
Read(secrets/**)|!read other/a
Grep(secrets/**)|read secrets/a
Glob|glob x
Glob|!read x
NotebookRead(a.ipynb)|read a.ipynb
Edit(src/**)|edit src/a.go
Edit(src/**)|bash echo x > src/a.go
Edit(src/**)|!edit doc/a.md
Write(src/**)|edit src/a.go
MultiEdit(src/**)|edit src/a.go
NotebookEdit(src/**)|edit src/a.go
WebFetch|fetch example.com
WebFetch(domain:example.com)|fetch example.com
WebFetch(domain:*.example.com)|fetch a.example.com
WebFetch(domain:example.com)|!fetch example.org
WebFetch(domain:*)|fetch example.com
WebSearch|web_search x
mcp__shop|mcp__shop__buy
mcp__shop__*|mcp__shop__buy
mcp__shop__buy|mcp__shop__buy
mcp__shop__buy|!mcp__shop__look
mcp__shop__b*|mcp__shop__buy
Task|agent explore
Agent(Explore)|agent explore
Agent(Explore)|!agent general
Agent(general-purpose)|agent general
Agent(code-reviewer)|agent code-reviewer
Skill(deploy)|skill deploy
Skill(deploy *)|skill deploy
Skill(deploy)|!skill test
AskUserQuestion|ask_user x
TodoWrite|todo x
KillShell|bash_kill x
LSP|lsp_rename x
`), "\n") {
		rule, text, _ := strings.Cut(row, "|")
		text, allowed := strings.CutPrefix(text, "!")
		rules, err := Translate(permission.Denies, rule, file(""))
		if err != nil || len(rules) == 0 {
			t.Errorf("%s: %v %v", rule, rules, err)
			continue
		}
		d := policy(Settings{Rules: rules}).Decide(call(text))
		if (d.Verdict == permission.Deny) == allowed {
			t.Errorf("%s: %v %+v, rules %v", row, d.Verdict, d, rules)
		}
		if !allowed && !strings.Contains(d.Reason, ".claude/settings.json: "+rule) {
			t.Errorf("%s: the reason does not name the rule: %s", row, d.Reason)
		}
	}
}

// SPEC 16.17: a rule that cannot be kept is an error that names it; one about a tool that
// pawl does not have needs nothing.
func TestNotTranslated(t *testing.T) {
	for _, rule := range []string{
		"", "(", "Bsh(rm)", "*", "Bash(", "Bash()", "Bash(curl * | sh)", "Bash(a && b)", "Bash(echo > x)", "Bash(A=1 make)", "Bash('x)",
		"Read(!x)", `Read(C:\x)`, "Read(~you/x)", "Read({a,{b,c}})", "WebFetch(https://example.com/)", "WebFetch(domain:)", "WebFetch(domain:a/b)",
		"WebSearch(x)", "mcp__shop__buy(x)", "Agent(model:opus)", "TodoWrite(x)", "Read(" + strings.Repeat("{a,b}", 9) + ")",
	} {
		if rules, err := Translate(permission.Denies, rule, file("")); err == nil || !strings.Contains(err.Error(), "cannot keep the rule") {
			t.Errorf("%s: %v %v", rule, rules, err)
		}
	}
	for _, rule := range []string{"PowerShell(rm *)", "ExitPlanMode", "Monitor", "CronCreate"} {
		if rules, err := Translate(permission.Denies, rule, file("")); err != nil || len(rules) != 0 || !Absent(strings.Split(rule, "(")[0]) {
			t.Errorf("%s: %v %v", rule, rules, err)
		}
	}
}
