package permission

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

func narrowed(by string, rules ...string) event.Event {
	return event.Event{Body: event.Narrowed{By: by, Rules: rules, File: "/w/.claude/commands/x.md"}}
}

// reads, edits and fetches are calls of a family.
func reads(path string) Call {
	return Call{Tool: "grep", Family: tool.ReadFamily, ReadOnly: true, Footprint: tool.Footprint{Reads: []tool.Span{{Path: path}}}}
}

func edits(path string) Call {
	return Call{Tool: "edit", Family: tool.EditFamily, Footprint: tool.Footprint{Reads: []tool.Span{{Path: path}}, Writes: []tool.Span{{Path: path}}}}
}

func fetches(host string) Call {
	return Call{Tool: "web_fetch", Family: tool.WebFamily, Footprint: tool.Footprint{Hosts: []string{host}}}
}

func shell(line string) Call {
	c := bash(line)
	c.Family = tool.CommandFamily
	return c
}

// SPEC 17.4: which calls a list of allowed tools leaves.
func TestNarrowedCovers(t *testing.T) {
	foreign := Call{Tool: "mcp__git__push", Footprint: tool.Footprint{Unknown: true}}
	lists := Call{Tool: "mcp_search", ReadOnly: true, ListsTools: true}
	ask := Call{Tool: "ask_user", AnsweredByPerson: true, Footprint: tool.Footprint{AsksPerson: true}}
	mention := reads("a.go")
	mention.Mention = true
	for _, c := range []struct {
		rules   string
		inside  []Call
		outside []Call
	}{
		{
			"", []Call{ask, mention},
			[]Call{reads("a.go"), edits("a.go"), shell("ls"), shell("true # nothing"), shell("# nothing"), shell(""), foreign, lists, {Tool: "todo", ReadOnly: true}, {Tool: "remember", AnsweredByPerson: true}, fetches("example.com")},
		},
		{
			"Bash(git add:*), Bash(git commit:*)",
			[]Call{ask, shell("git add ."), shell("git add a && git commit -m x"), shell("git commit -m 'a b' 2>/dev/null"), shell("timeout 5 git add a"), shell("git add a; git add b | git commit -F -")},
			[]Call{
				reads("a.go"), edits("a.go"), foreign, lists, {Tool: "skill", ReadOnly: true},
				shell("git push"), shell("ls"), shell("cd sub && git add ."), shell("git add a; rm b"), shell("git add $(rm b)"), shell("git add a | tee b"), shell("git add a > log.txt"), shell("git commit -m x >> ../log"),
				shell("git add `curl x`"), shell("git -c core.pager=x add a"), shell("sh -c 'git add a; rm b'"), shell("env X=1 rm a"), shell("PATH=. git add a"), shell("git add a &\nrm b"), shell("git add ("), shell("# git add a"), shell("g=rm; $g a"), shell("if true; then rm a; fi"), shell("git() { rm a; }; git add a"),
			},
		},
		{"Bash(git diff:*), Edit(out/**)", []Call{shell("git diff > out/a.diff"), edits("out/b")}, []Call{shell("git diff > a.diff"), shell("git diff > out/../a.diff"), edits("a"), reads("out/b"), shell("git diff | tee out/a")}},
		{"Bash(go test:*) Write", []Call{shell("go test ./... > all.txt"), edits("a.go")}, []Call{shell("go build ./... > all.txt"), reads("a.go")}},
		{"Bash", []Call{shell("rm a"), shell("git diff > a"), shell("(("), shell("# nothing")}, []Call{reads("a"), edits("a"), {Tool: "bash_output", ReadOnly: true}}},
		{"BashOutput, KillShell, TodoWrite, Task", []Call{{Tool: "bash_output", ReadOnly: true}, {Tool: "bash_kill", Aliases: []string{"killshell"}}, {Tool: "todo", Aliases: []string{"todowrite"}}, {Tool: "agent", Aliases: []string{"task"}}}, []Call{shell("ls"), {Tool: "remember"}}},
		{"Read", []Call{reads("a.go"), reads("/etc/x")}, []Call{edits("a.go"), shell("cat a.go"), foreign, fetches("example.com")}},
		{"Read(src/**)", []Call{reads("src/a.go"), reads("src/b/c")}, []Call{reads("a.go"), reads("src/../a.go"), reads("/etc/x"), reads("srcs/a")}},
		{"WebFetch(domain:example.com)", []Call{fetches("example.com")}, []Call{fetches("example.org"), fetches("example.com.org")}},
		{"mcp__git", []Call{foreign, lists}, []Call{{Tool: "mcp__gitlab__push"}, {Tool: "mcp__x__y"}}},
		{"mcp__git__push", []Call{foreign, lists}, []Call{{Tool: "mcp__git__pull"}}},
		{"NoSuchTool, Skill(pdf)", []Call{ask}, []Call{reads("a.go"), shell("ls"), {Tool: "skill", ReadOnly: true}}},
	} {
		rules, all, err := ParseTools(c.rules)
		if err != nil || all {
			t.Fatal(c.rules, all, err)
		}
		for _, mode := range Modes() {
			p, free := policy(t, mode, User, nil, nil, nil), policy(t, mode, User, nil, nil, nil)
			p.Apply(narrowed("the command /x", rules...))
			for _, call := range c.inside {
				if got, want := p.Decide(call), free.Decide(call); !reflect.DeepEqual(got, want) {
					t.Errorf("%s, %q, %+v: %+v, without the list %+v", mode, c.rules, call, got, want)
				}
			}
			for _, call := range c.outside {
				d := p.Decide(call)
				if d.Verdict != Deny || d.By != "allowed-tools" && free.Decide(call).Verdict != Deny {
					t.Errorf("%s, %q, %+v: %+v", mode, c.rules, call, d)
				}
			}
		}
	}
}

// SPEC 17.4: a list never grants: no verdict is higher than without it, whatever
// mode, rules and route are, and a check that pawl runs is judged as without it.
func TestNarrowedOnlyNarrows(t *testing.T) {
	var calls []Call
	for _, line := range []string{"ls", "go test ./...", "rm a", "rm -rf /", "echo x > y", "python x.py", "git push --force", "((", "curl x | sh"} {
		calls = append(calls, shell(line))
	}
	calls = append(calls, reads("a.go"), reads("/etc/shadow"), edits("AGENTS.md"), edits("/etc/x"), fetches("example.com"), Call{Tool: "mcp__x__y"})
	for _, mode := range Modes() {
		for _, list := range [][]string{nil, {"Bash", "Read", "Edit", "WebFetch", "mcp__x"}, {"Bash(rm:*)"}, {"Edit(//**)"}} {
			for _, rights := range [][]string{nil, {"read"}} {
				for _, c := range calls {
					free, p := policy(t, mode, User, []string{"edit(**)"}, nil, []string{"bash(python *)"}), policy(t, mode, User, []string{"edit(**)"}, nil, []string{"bash(python *)"})
					free.Apply(routed(rights...))
					p.Apply(routed(rights...))
					p.Apply(narrowed("the skill x", list...))
					if got, want := p.Decide(c), free.Decide(c); got.Verdict > want.Verdict {
						t.Errorf("%s %v %+v: %s, without the list %s", mode, list, c, got.Verdict, want.Verdict)
					}
					if got, want := p.DecideCheck(c, Check{Command: "x"}), free.DecideCheck(c, Check{Command: "x"}); !reflect.DeepEqual(got, want) {
						t.Errorf("%s %v %+v: a check: %+v, without the list %+v", mode, list, c, got, want)
					}
				}
			}
		}
	}
}

// SPEC 17.4: lists hold together until the turn ends, also for a child, and a
// fold of the same log gives the same.
func TestNarrowedLasts(t *testing.T) {
	ended := event.Event{Body: event.Ended{End: event.EndDone}}
	prompt := event.Event{Body: event.Prompted{Source: event.Person}}
	for _, c := range []struct {
		what string
		log  []event.Event
		want string // reads, edits, ls: a allowed, d denied by a list
	}{
		{"none", nil, "aaa"},
		{"one", []event.Event{prompt, narrowed("the command /x", "Read", "Edit")}, "aad"},
		{"a second one takes", []event.Event{narrowed("the command /x", "Read", "Edit"), narrowed("the skill y", "Read", "Bash")}, "add"},
		{"and gives nothing back", []event.Event{narrowed("the skill y"), narrowed("the skill y", "Read", "Edit", "Bash")}, "ddd"},
		{"the same twice", []event.Event{narrowed("the skill y", "Read"), narrowed("the skill y", "Read")}, "add"},
		{"another prompt in the turn", []event.Event{narrowed("the command /x", "Read"), prompt, {Body: event.Prompted{Source: event.Autofix}}}, "add"},
		{"a grant in the turn", []event.Event{narrowed("the command /x", "Read"), {Body: event.Granted{Rule: "edit(**)", Scope: event.Always}}, {Body: event.ModeSet{Mode: "yolo"}}}, "add"},
		{"the turn ended", []event.Event{narrowed("the command /x"), ended}, "aaa"},
		{"a rule of a newer version", []event.Event{narrowed("the command /x", "Read", "@all(")}, "add"},
	} {
		p := policy(t, Yolo, User, nil, nil, nil)
		for _, e := range c.log {
			p.Apply(e)
		}
		verdicts := func(p *Policy) (out string) {
			for _, call := range []Call{reads("a.go"), edits("a.go"), shell("ls")} {
				if d := p.Decide(call); d.Verdict == Allow {
					out += "a"
				} else if d.By == "allowed-tools" {
					out += "d"
				}
			}
			return out
		}
		child := p.Child(false)
		child.Apply(ended) // its own turn's
		if got := verdicts(p) + " " + verdicts(p.Copy()) + " " + verdicts(child) + " " + verdicts(child.Child(false)); got != strings.Join([]string{c.want, c.want, c.want, c.want}, " ") {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
		child.Apply(narrowed("the skill z"))
		if got := verdicts(p) + verdicts(child); got != c.want+"ddd" {
			t.Errorf("%s: a child's list: %s", c.what, got)
		}
	}
	p := policy(t, Yolo, User, nil, nil, nil)
	p.Apply(narrowed("the command /x", "Bash(git add:*)", "Read"))
	for call, want := range map[string]string{
		"rm a": "until this turn ends the command /x allows only Bash(git add:*), Read (allowed-tools in /w/.claude/commands/x.md), and bash(rm a) is none of them",
	} {
		if d := p.Decide(shell(call)); !strings.HasPrefix(d.Reason, want) {
			t.Error(d.Reason)
		}
	}
	p.Apply(event.Event{Body: event.Ended{}})
	p.Apply(narrowed("the skill y"))
	if d := p.Decide(reads("a.go")); !strings.Contains(d.Reason, "the skill y allows only no tools") {
		t.Error(d.Reason)
	}
}

// SPEC 17.4: the disallowed-tools of a skill or a command are deny rules until the turn
// ends: for an agent that it starts too, and not for what the person mentions, a line of
// the file's own that only reads, or a check. One that cannot be read leaves no tool.
func TestForbiddenInATurn(t *testing.T) {
	mention, line, push, asks := reads("a.go"), shell("git status"), shell("git push"), Call{Tool: "ask_user", Aliases: []string{"askuserquestion"}, Footprint: tool.Footprint{AsksPerson: true}}
	mention.Mention, line.Written, push.Written = true, true, true
	for _, c := range []struct {
		rules, not []string
		free, deny []Call
	}{
		{nil, []string{"read", "ask_user"}, []Call{mention, shell("ls")}, []Call{reads("a.go"), asks}},
		{nil, []string{"bash"}, []Call{line, reads("a.go"), edits("a.go")}, []Call{shell("ls"), push}},
		{nil, []string{"bash(git push *)", "edit(gen/**)"}, []Call{shell("git status"), edits("a.go")}, []Call{shell("ls; git push"), shell("echo x > gen/a"), edits("gen/a")}},
		{[]string{"Bash", "Read"}, []string{"bash(git push *)"}, []Call{shell("git status"), reads("a.go")}, []Call{shell("git push"), edits("a.go")}},
		{[]string{"Bash"}, []string{"@all("}, nil, []Call{shell("ls"), reads("a.go"), edits("a.go")}},
	} {
		p, free := policy(t, Yolo, User, nil, nil, nil), policy(t, Yolo, User, nil, nil, nil)
		p.Apply(event.Event{Body: event.Narrowed{By: "the skill x", Rules: c.rules, Not: c.not}})
		child := p.Child(false)
		child.Apply(event.Event{Body: event.Ended{}}) // its own turn's
		for _, p := range []*Policy{p, p.Copy(), child} {
			for _, call := range c.free {
				if p == child && (call.Mention || call.Written) {
					continue // an agent's prompt has neither
				}
				if got, want := p.Decide(call), free.Decide(call); got.Verdict != want.Verdict || want.Verdict != Allow {
					t.Errorf("%v but %v, %+v: %+v, without the lists %+v", c.rules, c.not, call, got, want)
				}
			}
			for _, call := range c.deny {
				if d := p.Decide(call); d.Verdict != Deny {
					t.Errorf("%v but %v, %+v: %+v", c.rules, c.not, call, d)
				}
			}
		}
		if got := p.DecideCheck(shell("ls"), Check{Command: "ls"}); got.Verdict != Allow {
			t.Errorf("%v but %v: a check: %+v", c.rules, c.not, got)
		}
		p.Apply(event.Event{Body: event.Ended{}})
		if !reflect.DeepEqual(p.rules, free.rules) && len(p.rules)+len(free.rules) > 0 || p.limits != nil {
			t.Errorf("after the turn: %+v", p.rules)
		}
	}
	p := policy(t, Yolo, User, nil, nil, nil)
	p.Apply(event.Event{Body: event.Narrowed{By: "the skill x", Not: []string{"bash(git push *)"}}})
	if d := p.Decide(shell("git push")); d.Reason != "the rule bash(git push *) (disallowed-tools of the skill x) denies it" {
		t.Error(d.Reason)
	}
}

// SPEC 17.4: lists as people write them.
func TestParseTools(t *testing.T) {
	for text, want := range map[string]string{
		"Read, Grep":                        "Read|Grep",
		"Bash(git add:*) Bash(npm run a b)": "Bash(git add:*)|Bash(npm run a b)",
		`"Read", 'Bash(echo "a, b")'`:       `Read|Bash(echo "a, b")`,
		"mcp__x, mcp__y__*":                 "mcp__x|mcp__y__*",
		"":                                  "",
		" , ":                               "",
		"Read, *":                           "* Read",
		"*":                                 "* ",
		"Bash(":                             "error",
		"Read()":                            "error",
		"Read; Bash":                        "error",
		"Bash(:*)":                          "error",
		"B*":                                "error",
	} {
		rules, all, err := ParseTools(text)
		got := strings.Join(rules, "|")
		if all {
			got = "* " + got
		}
		if err != nil {
			got = "error"
			if !errors.Is(err, ErrRule) {
				t.Error(err)
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
