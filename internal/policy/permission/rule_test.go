package permission

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// SPEC 16.5: what an allow rule covers, in ask mode. A row is a rule, "|", the
// verdict, the command.
func TestAllowRules(t *testing.T) {
	for row := range strings.SplitSeq(strings.TrimSpace(`
bash(go test *)|a go test ./...
bash(go test *)|a go test
bash(go test *)|a timeout 5 go test -v ./...
bash(go test *)|a CGO_ENABLED=0 go test ./...
bash(go test *)|a cd sub && go test ./...
bash(go test:*)|a go test ./...
Bash(go test:*)|a go test -run X ./...
bash(go test *)|? go vet ./...
bash(go test *)|? go testx
bash(go test *)|? go test -exec ./x ./...
bash(go test *)|? go test --exec=./x
bash(go test *)|? go test -toolexec=./x
bash(go test -exec *)|a go test -exec ./x ./...
bash(go test *)|? go test ./... && rm -r x
bash(go test *)|? go test ./...; rm -r x
bash(go test *)|? go test ./... | sh
bash(go test *)|? go test $(rm -r x)
bash(go test *)|? go test $X
bash(go test *)|? go test "$X"
bash(go test *)|a go test ./pkg/$X
bash(go test *)|? go test > out.txt
bash(go test *)|? go test -coverprofile=/tmp/x
bash(go test *)|? GOFLAGS=-exec=x go test
bash(go test *)|? sudo go test ./...
bash(go test *)|? env go test ./...
bash(go test *)|? xargs go test
bash(go test *)|? ./go test
bash(go test *)|a sh -c 'go test ./...'
bash(go test *)|a eval go test
bash(git *)|a git push
bash(git *)|? git -c core.pager=x log
bash(git *)|? git push --force
bash(git *)|? git push -f
bash(git *)|? git push origin +main
bash(git *)|? git rebase --exec x
bash(git *)|? git rebase -x x
bash(git *)|? git bisect run x
bash(git *)|? git submodule foreach x
bash(git *)|? git clone -u x y
bash(git -c *)|a git -c color.ui=always log
bash(git push *)|? git pull
bash(find *)|? find src -exec rm {} +
bash(find *)|? find . -delete -name x
bash(rg *)|? rg --pre=./x y
bash(sort *)|? sort -o x y
bash(tar *)|? tar cf x --checkpoint-action=exec=./x .
bash(tar *)|? tar --use-comp=x -cf y .
bash(tar *)|? tar xf x -C /etc
bash(ssh *)|? ssh -oProxyCommand=x host
bash(python *)|a python gen.py
bash(python *)|? python -c 'x'
bash(python *)|? python -m http.server
bash(python *)|? echo x | python
bash(node *)|? node --eval x
bash(perl *)|? perl -ne 'x' y
bash(make *)|a make deploy
bash(make *)|? make SHELL=./x
bash(make *)|? make -f x
bash(npm run *)|a npm run deploy
bash(npm run test:*)|a npm run test:part
bash(npm run test:*)|a npm run test
bash(npm run test:*)|? npm run testify
bash(vim *)|? vim +!x a
bash(awk *)|? awk 'BEGIN{system("x")}'
bash(sed *)|? sed 's/a/b/e' x
bash(rm *)|a rm -r build
bash(rm *)|? rm -r /tmp/x
bash(rm *)|? rm -r AGENTS.md
bash(rm -r build)|a rm -r build
bash(rm -r build)|? rm -r build src
bash(rm -r build)|? rm -r 'build x'
bash(xargs *)|? ls | xargs rm
bash(xargs rm *)|? ls | xargs rm
bash(sudo apt *)|a sudo apt install x
bash(sudo apt install x)|a sudo apt install x
bash(bash -c *)|a bash -c 'ls'
bash(bash -c *)|? bash -c 'rm -r x'
bash(FOO=1 make x)|? make y
bash|a rm -r build
bash|a ./x && python y
bash|? rm /tmp/x
bash|? echo x > AGENTS.md
bash|? echo 'unclosed
bash(*)|a ./x
edit(src/**)|a echo x > src/a/b.go
edit(src/**)|? echo x > srcs/a
edit(src/**)|? echo x > src/../a
edit(src/**)|? echo x > src/AGENTS.md
edit(*.md)|a echo x > docs/a.md
edit(*.md)|? echo x > AGENTS.md
edit(AGENTS.md)|a echo x > AGENTS.md
edit(/tmp/**)|a echo x > /tmp/x
edit(**)|? echo x > /tmp/x
edit|a echo x > a
edit|? echo x > /tmp/x
read(/etc/hosts)|a cat /etc/hosts
read(/etc/*)|a cat /etc/hosts
read(/etc/*)|? cat /etc/ssl/x
read(~/notes/**)|a cat ~/notes/a
read|? cat /srv/hosts
read(secrets.yml)|a cat secrets.yml
read(**)|? cat secrets.yml
`), "\n") {
		rule, rest, _ := strings.Cut(row, "|")
		want, line, _ := strings.Cut(rest, " ")
		d := policy(t, AskMode, User, []string{rule}, nil, nil).Decide(bash(line))
		if got := map[Verdict]string{Allow: "a", Ask: "?", Deny: "d"}[d.Verdict]; got != want {
			t.Errorf("%s: %s: got %s, want %s (%s: %s)", rule, line, got, want, d.By, d.Reason)
		}
	}
}

// SPEC 4.15: any matching deny wins, also against yolo and every allow.
func TestDenyRules(t *testing.T) {
	for row := range strings.SplitSeq(strings.TrimSpace(`
bash(rm *)|d rm x
bash(rm *)|d /bin/rm x
bash(rm *)|d RM x
bash(rm *)|d \rm x
bash(rm *)|d sudo rm x
bash(rm *)|d env A=b rm x
bash(rm *)|d ls | xargs rm
bash(rm *)|d find . -name x -exec rm {} +
bash(rm *)|d sh -c 'rm x'
bash(rm *)|d ls; rm x
bash(rm *)|d echo $(rm x)
bash(rm *)|? $X x
bash(rm *)|? eval "$X"
bash(git push *)|d git push origin
bash(git push *)|d git -C sub push
bash(git push *)|d git $X
bash(git push *)|a git pull
bash(curl *)|d curl x
bash(sudo *)|d sudo ls
bash|d ls
edit(secret/**)|d echo x > secret/a
edit(secret/**)|d echo x > SECRET/a
edit(secret/**)|d cp a secret/b
edit(secret/**)|d rm -r secret
edit(secret/**)|? echo x > "$X"
edit(secret/**)|? rm sec*
edit(a/b/**)|? rm -r a
read(secret/**)|d cat secret/a
read(secret/**)|d cd secret && cat a
read(secret/**)|? cat $X
read(secret/**)|? cat s*/a
read(secret/**)|a cat t*/a
write(a)|d echo x > a
`), "\n") {
		rule, rest, _ := strings.Cut(row, "|")
		want, line, _ := strings.Cut(rest, " ")
		d := policy(t, Yolo, User, []string{"bash", "edit", "read"}, nil, []string{rule}).Decide(bash(line))
		if got := map[Verdict]string{Allow: "a", Ask: "?", Deny: "d"}[d.Verdict]; got != want {
			t.Errorf("%s: %s: got %s, want %s (%s: %s)", rule, line, got, want, d.By, d.Reason)
		}
	}
}

func file(name string, w, r []string) Call {
	c := Call{Tool: name, ReadOnly: len(w) == 0}
	for _, p := range w {
		c.Footprint.Writes = append(c.Footprint.Writes, tool.Span{Path: p})
	}
	for _, p := range r {
		c.Footprint.Reads = append(c.Footprint.Reads, tool.Span{Path: p})
	}
	return c
}

// SPEC 4.15, 16.3: tools that are not the shell.
func TestTools(t *testing.T) {
	search := Call{Tool: "web_search", ReadOnly: true, Footprint: tool.Footprint{Hosts: []string{"api.search.brave.com"}}}
	web := Call{Tool: "web_fetch", ReadOnly: true, Footprint: tool.Footprint{Hosts: []string{"Docs.Example.com:443"}}}
	for _, c := range []struct {
		name  string
		call  Call
		want  string // ask plan accept-edits auto yolo
		rules []string
		deny  []string
	}{
		{"read", file("read", nil, []string{"a.go"}), "aaaaa", nil, nil},
		{"read outside", file("read", nil, []string{"/srv/hosts"}), "????a", nil, nil},
		{"read the spill", file("read", nil, []string{"/home/me/.local/state/pawl/spill/x"}), "aaaaa", nil, nil},
		{"read pawl's keys", file("read", nil, []string{"/home/me/.local/state/pawl/keys"}), "ddddd", nil, nil},
		{"read a key", file("read", nil, []string{"/home/me/.ssh/id_rsa"}), "ddddd", []string{"read(//**)"}, nil},
		{"read .env", file("read", nil, []string{".env"}), "aaaaa", nil, nil}, // its values are masked
		{"read secrets.yml", file("read", nil, []string{"secrets.yml"}), "????a", nil, nil},
		{"edit", file("edit", []string{"a.go"}, nil), "?daaa", nil, nil},
		{"edit outside", file("edit", []string{"/tmp/a"}, nil), "?d??a", nil, nil},
		{"edit AGENTS.md", file("edit", []string{"AGENTS.md"}, nil), "?d???", []string{"edit"}, nil},
		{"edit a hook", file("write", []string{".git/hooks/pre-commit"}, nil), "ddddd", []string{"edit(.git/**)"}, nil},
		{"edit allowed", file("multi_edit", []string{"src/a", "src/b"}, nil), "adaaa", []string{"edit(src/**)"}, nil},
		{"edit partly allowed", file("multi_edit", []string{"src/a", "b"}, nil), "?daaa", []string{"edit(src/**)"}, nil},
		{"edit denied", file("apply_patch", []string{"src/a", "b"}, nil), "ddddd", []string{"edit"}, []string{"edit(src/**)"}},
		{"tool denied", file("write", []string{"b"}, nil), "ddddd", nil, []string{"edit"}},
		{"fetch", web, "????a", nil, nil},
		{"fetch allowed", web, "aaaaa", []string{"web_fetch(docs.example.com)"}, nil},
		{"fetch allowed by domain", web, "aaaaa", []string{"WebFetch(domain:*.example.com)"}, nil},
		{"search allowed", search, "aaaaa", []string{"WebSearch"}, nil},
		{"search by its host", search, "aaaaa", []string{"web_fetch(api.search.brave.com)"}, nil},
		{"search not allowed by another host", search, "????a", []string{"web_fetch(example.com)"}, nil},
		{"search denied", search, "ddddd", nil, []string{"WebSearch"}},
		{"search is no fetch", web, "????a", []string{"WebSearch"}, nil},
		{"fetch another", web, "????a", []string{"web_fetch(example.com)"}, nil},
		{"fetch denied", web, "ddddd", nil, []string{"web_fetch(*.example.com)"}},
		{"mcp", Call{Tool: "mcp__db__query"}, "?d??a", nil, nil},
		{"mcp allowed", Call{Tool: "mcp__db__query"}, "adaaa", []string{"mcp__db"}, nil},
		{"mcp denied", Call{Tool: "mcp__db__query"}, "ddddd", nil, []string{"mcp__db__*"}},
		{"todo", Call{Tool: "todo", ReadOnly: true}, "aaaaa", nil, nil},
		{"ask_user", Call{Tool: "ask_user", Footprint: tool.Footprint{AsksPerson: true}}, "aaaaa", nil, nil},
		{"unknown footprint", Call{Tool: "x", ReadOnly: true, Footprint: tool.Footprint{Unknown: true}}, "?d??a", nil, nil},
	} {
		for i, mode := range []Mode{AskMode, Plan, AcceptEdits, Auto, Yolo} {
			d := policy(t, mode, User, c.rules, nil, c.deny).Decide(c.call)
			if got := map[Verdict]byte{Allow: 'a', Ask: '?', Deny: 'd'}[d.Verdict]; got != c.want[i] {
				t.Errorf("%s in %s: got %c, want %c (%s: %s)", c.name, mode, got, c.want[i], d.By, d.Reason)
			}
		}
	}
}

// SPEC 4.15: among allow and ask the most specific speaks.
func TestMostSpecific(t *testing.T) {
	for _, c := range []struct {
		allow, ask []string
		want       map[string]Verdict
	}{
		{[]string{"bash(git *)", "bash(git push origin main)"}, []string{"bash(git push *)"}, map[string]Verdict{
			"git pull": Allow, "git push origin dev": Ask, "git push origin main": Allow,
		}},
		// Of equal rank the stricter wins.
		{[]string{"bash(git push *)"}, []string{"bash(git push *)"}, map[string]Verdict{"git push origin dev": Ask, "git pull": Ask}},
		{[]string{"bash(make deploy)", "bash"}, []string{"bash(make deploy)"}, map[string]Verdict{"make deploy": Ask, "make clean": Allow}},
		{[]string{"bash"}, []string{"bash"}, map[string]Verdict{"make deploy": Ask}},
		{[]string{"edit(out/**)"}, []string{"edit(out/**)"}, map[string]Verdict{"echo x > out/a": Ask}},
	} {
		p := policy(t, AcceptEdits, User, c.allow, c.ask, nil)
		for line, want := range c.want {
			if d := p.Decide(bash(line)); d.Verdict != want {
				t.Errorf("%s with allow %q and ask %q: %v", line, c.allow, c.ask, d)
			}
		}
	}
}

// SPEC 4.15: what a grant adds covers the call, and its like where it is known
// that what they do can be taken back or made again; the gravest can only be
// allowed once or for the session.
func TestGrants(t *testing.T) {
	for _, c := range []struct {
		line, pattern string
		always        bool
	}{
		{"go generate ./...", "bash(go generate ./...)", true},
		{"go test ./x -run Y", "bash(go test *)", true},
		{"go mod tidy", "bash(go mod *)", true},
		{"gofmt -w a.go", "bash(gofmt *)", true},
		{"git commit -m x", "bash(git commit *)", true},
		{"git pull --rebase", "bash(git pull *)", true},
		{"gh pr view 1", "bash(gh pr view *)", true},
		{"kubectl logs x", "bash(kubectl logs *)", true},
		// What is not known to be restorable: this line and no other.
		{"git push", "bash(git push)", true},
		{"git push origin main", "bash(git push origin main)", true},
		{"git push --force", "bash(git push --force)", false},
		{"git reset --hard", "bash(git reset --hard)", true},
		{"git remote remove x", "bash(git remote remove x)", true},
		{"gh pr merge 1", "bash(gh pr merge 1)", true},
		{"gh release delete v1", "bash(gh release delete v1)", true},
		{"npm run deploy -- x", "bash(npm run deploy -- x)", true},
		{"npm publish", "bash(npm publish)", true},
		{"npm install x", "bash(npm install x)", true},
		{"cargo publish", "bash(cargo publish)", true},
		{"docker compose up", "bash(docker compose up)", true},
		{"docker exec db psql -c 'drop table x'", "bash(docker exec db psql -c 'drop table x')", true},
		{"psql -c 'drop table x'", "bash(psql -c 'drop table x')", true},
		{"sqlite3 a.db 'delete from t'", "bash(sqlite3 a.db 'delete from t')", true},
		{"redis-cli FLUSHALL", "bash(redis-cli FLUSHALL)", true},
		{"bin/rails db:reset", "bash(bin/rails db:reset)", true},
		{"aws s3 rm s3://x/y", "bash(aws s3 rm s3://x/y)", true},
		{"kubectl scale x", "bash(kubectl scale x)", true},
		{"kubectl delete pod x", "bash(kubectl delete pod x)", true},
		{"terraform apply", "bash(terraform apply)", true},
		{"rclone sync a b", "bash(rclone sync a b)", true},
		{"http POST x.com", "bash(http POST x.com)", true},
		{"mail -s x a@example.com", "bash(mail -s x a@example.com)", true},
		{"vault kv destroy x", "bash(vault kv destroy x)", true},
		{"cat ids | xargs psql -c", "", false},
		{"./gen.sh a", "bash(./gen.sh a)", true},
		{"rm -r build", "bash(rm -r build)", true},
		{"python -c 'print(1)'", "bash(python -c 'print(1)')", true},
		{"go generate ./... && ./x y", "bash(go generate ./...), bash(./x y)", true},
		{"sudo ls", "bash(sudo ls)", false},
		{"rm /etc/x", "edit(/etc/x), bash(rm /etc/x)", false},
		{"$X y", "", false},
		{"eval \"$X\"", "", false},
		{"cat /srv/include/stdio.h", "read(/srv/include/**)", true},
		{"echo x > a", "edit(a)", true},
		{"FOO=1 make deploy", "bash(FOO=1 make deploy)", true},
	} {
		p := policy(t, AskMode, User, nil, nil, nil)
		d := p.Decide(bash(c.line))
		if d.Verdict != Ask || d.Pattern != c.pattern || d.CanAlways != c.always {
			t.Errorf("%s: %v %q always %v (%s)", c.line, d.Verdict, d.Pattern, d.CanAlways, d.Reason)
			continue
		}
		if c.pattern == "" {
			continue
		}
		p.Apply(event.Event{Body: event.Granted{Rule: d.Pattern, Scope: event.Session}})
		if again := p.Decide(bash(c.line)); again.Verdict != Allow {
			t.Errorf("%s is not covered by its own grant %s: %s", c.line, d.Pattern, again.Reason)
		}
		if !strings.Contains(d.Flag, "--allow ") {
			t.Errorf("%s: flag %q", c.line, d.Flag)
		}
	}
}

// SPEC 4.15: a grant may be on a tool, also on one from outside.
func TestGrantsATool(t *testing.T) {
	p := policy(t, AskMode, User, nil, nil, nil)
	c := Call{Tool: "mcp__tracker__close", Footprint: tool.Footprint{Unknown: true}}
	d := p.Decide(c)
	if d.Verdict != Ask || d.Pattern != c.Tool || !d.CanAlways {
		t.Fatalf("%v %q always %v", d.Verdict, d.Pattern, d.CanAlways)
	}
	p.Apply(event.Event{Body: event.Granted{Rule: d.Pattern, Scope: event.Always}})
	if again := p.Decide(c); again.Verdict != Allow {
		t.Error(again.Reason)
	}
	if other := p.Decide(Call{Tool: "mcp__tracker__delete", Footprint: tool.Footprint{Unknown: true}}); other.Verdict != Ask {
		t.Error(other.Reason)
	}
}

func TestModes(t *testing.T) {
	for s, want := range map[string]Mode{"acceptEdits": AcceptEdits, "bypassPermissions": Yolo, "default": AskMode, "PLAN": Plan, "accept_edits": AcceptEdits, "auto": Auto} {
		if m, err := ParseMode(s); m != want || err != nil {
			t.Error(s, m, err)
		}
	}
	if _, err := ParseMode("x"); err == nil || !strings.Contains(err.Error(), `"x"`) {
		t.Error(err)
	}
	p := policy(t, AskMode, User, nil, nil, nil)
	p.Apply(event.Event{Body: event.Opened{Mode: "auto"}})
	p.Apply(event.Event{Body: event.ModeSet{Mode: "plan"}})
	p.Apply(event.Event{Body: event.ModeSet{Mode: "what a newer pawl knows"}})
	if p.Mode() != Plan {
		t.Error(p.Mode())
	}
}

func TestRuleErrors(t *testing.T) {
	for _, s := range []string{"", "()", "bash(", "bash()", "bash(x", "(x)", "ba sh(", "bash('x)", "bash(* x)", "web_fetch(http://x)", "edi*", "a(b)c", "edit(.git/hooks/pre-commit)", "Write(sub/.GIT/config)"} {
		p := New(Config{Mode: AskMode, Root: root})
		err := p.Add(User, []string{s}, nil, nil)
		if !errors.Is(err, ErrRule) {
			t.Errorf("%q: %v", s, err)
		}
		if len(p.Rules()) != 0 {
			t.Errorf("%q left rules behind", s)
		}
	}
	p := New(Config{Mode: AskMode, Root: root})
	if err := p.Add(Flag, []string{"Bash(git log:*) Edit,Read(src/**)"}, nil, nil); err != nil || len(p.Rules()) != 3 {
		t.Error(err, p.Rules())
	}
}

// SPEC 16.2
func TestProjectOnlyNarrows(t *testing.T) {
	p := policy(t, AskMode, Project, []string{"bash", "edit"}, []string{"bash(ls *)"}, []string{"read(secret/**)"})
	if len(p.ignored) != 2 || len(p.Rules()) != 2 {
		t.Error(p.ignored, p.Rules())
	}
	if !slices.ContainsFunc(p.Explain(), func(s string) bool { return strings.Contains(s, "not in force: allow bash") }) {
		t.Error(p.Explain())
	}
	if d := p.Decide(bash("./x")); d.Verdict != Ask {
		t.Error(d)
	}
}

var (
	someRules = []string{"bash", "bash(git *)", "bash(rm *)", "bash(rm -r build)", "bash(go test *)", "edit", "edit(src/**)", "edit(AGENTS.md)", "edit(/tmp/**)", "read", "read(/etc/**)", "read(secret/**)", "web_fetch(*.x.com)", "mcp__a"}
	someLines = []string{"ls", "\f", "rm -r build", "git push", "git log; rm x", "echo x > src/a", "cat /etc/hosts", "cat secret/x", "go test -exec x", "echo x > AGENTS.md", "$X y", "cat $X", "rm -rf /", "curl x | sh", "echo 'open", "find . -exec rm {} +", "cp a /tmp/b", "cat s*/x", "sh -c 'rm x'"}
)

func rulesGen(name string, rt *rapid.T) []string {
	return rapid.SliceOfN(rapid.SampledFrom(someRules), 0, 4).Draw(rt, name)
}

// SPEC 4.15, 16.2: a deny rule never widens, a project's rules never widen,
// and what cannot be parsed is never allowed.
func TestRulesNeverWiden(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		mode := rapid.SampledFrom(Modes()).Draw(rt, "mode")
		allow, ask, deny := rulesGen("allow", rt), rulesGen("ask", rt), rulesGen("deny", rt)
		line := rapid.SampledFrom(someLines).Draw(rt, "line")
		p := policy(t, mode, User, allow, ask, deny)
		before := p.Decide(bash(line)).Verdict
		more := policy(t, mode, User, allow, ask, append(deny, rulesGen("more", rt)...))
		if after := more.Decide(bash(line)).Verdict; after > before {
			rt.Fatalf("%s: a deny rule made %v into %v", line, before, after)
		}
		project := policy(t, mode, User, allow, ask, deny)
		must.Do(rt, project.Add(Project, rulesGen("pa", rt), rulesGen("pk", rt), rulesGen("pd", rt)))
		if after := project.Decide(bash(line)).Verdict; after > before {
			rt.Fatalf("%s: a project's rule made %v into %v", line, before, after)
		}
		if line == "echo 'open" && before == Allow {
			rt.Fatal("what cannot be parsed was allowed")
		}
	})
}

func FuzzDecide(f *testing.F) {
	for _, l := range someLines {
		f.Add(l, "bash(git *)")
	}
	f.Fuzz(func(t *testing.T, line, rule string) {
		p := New(Config{Mode: Auto, Root: root, Home: home})
		if err := p.Add(User, []string{rule}, nil, nil); err == nil {
			// A rule in its normal form is the same rule.
			for _, r := range p.Rules() {
				again, err := ParseRules(Allows, User, r.Text)
				if err != nil || len(again) != 1 || again[0].Text != r.Text {
					t.Fatalf("%q: %v %v", r.Text, again, err)
				}
			}
		}
		d := p.Decide(Call{Tool: "bash", Footprint: tool.Footprint{Shell: line}})
		if d.Pattern != "" {
			if _, err := ParseRules(Allows, User, d.Pattern); err != nil {
				t.Fatalf("the pattern %q of %q cannot be read: %v", d.Pattern, line, err)
			}
		}
	})
}
