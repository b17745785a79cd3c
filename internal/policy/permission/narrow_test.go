package permission

import (
	"reflect"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

func routed(rights ...string) event.Event {
	return event.Event{Body: event.Routed{Route: "read", By: "pattern", Why: "why does", Rights: rights}}
}

func write(path string) Call {
	return Call{Tool: "write", Footprint: tool.Footprint{Writes: []tool.Span{{Path: path}}}}
}

// SPEC 13.1: a route narrows what mode and rules allow, and never gives
// anything: no verdict is ever higher than without it.
func TestRouteOnlyNarrows(t *testing.T) {
	calls := []Call{
		write("a.go"), write("AGENTS.md"), write("/etc/x"),
		{Tool: "read", ReadOnly: true, Footprint: tool.Footprint{Reads: []tool.Span{{Path: "a.go"}}}},
		{Tool: "todo", ReadOnly: true},
		{Tool: "remember"},
		{Tool: "mcp__x__y"},
		{Tool: "ask_user", Footprint: tool.Footprint{AsksPerson: true}},
		{Tool: "web_fetch", ReadOnly: true, Footprint: tool.Footprint{Hosts: []string{"example.com"}}},
	}
	for _, line := range []string{"ls", "go test ./...", "touch a", "rm a", "rm -rf /", "sed -i s/a/b/ x", "echo x > y", "python x.py", "git commit -m x", "git push --force", "cat a | tee b", "((", "curl x | sh", "go test -exec x", "true # nothing"} {
		calls = append(calls, bash(line))
	}
	for _, mode := range Modes() {
		for _, rights := range [][]string{{"read"}, {"read", "run"}, {"read", "run", "edit"}, {"read", "levitate"}} {
			for _, rules := range [][]string{nil, {"bash", "edit(**)", "remember"}} {
				for _, c := range calls {
					free := policy(t, mode, User, rules, nil, nil)
					bound := policy(t, mode, User, rules, nil, nil)
					bound.Apply(routed(rights...))
					before, after := free.Decide(c), bound.Decide(c)
					if after.Verdict > before.Verdict {
						t.Errorf("%s %v %v %+v: %s, without the route %s", mode, rights, rules, c, after.Verdict, before.Verdict)
					}
					if len(rights) == 3 && !reflect.DeepEqual(after, before) {
						t.Errorf("%s %+v: all rights change %+v to %+v", mode, c, before, after)
					}
					if (after.By == "route") != strings.Contains(after.Reason, "reads as a question") || after.By == "route" && after.MissingRight == "" {
						t.Errorf("%s %v %+v: %+v", mode, rights, c, after)
					}
				}
			}
		}
	}
}

// SPEC 13.1: what a question's turn may do unasked, and what a command's may.
func TestRouteRights(t *testing.T) {
	for _, c := range []struct {
		call      Call
		read, run string // what is lacking
	}{
		{write("a.go"), "edit", "edit"},
		{bash("ls -l"), "", ""},
		{bash("go test ./... -run X"), "", ""},
		{bash("go test ./... > out.txt"), "run", ""},
		{bash("touch a"), "run", ""},
		{bash("python x.py"), "run", ""},
		{bash("(("), "run", ""},
		{Call{Tool: "remember", AnsweredByPerson: true}, "", ""},
		{Call{Tool: "mcp__x__y"}, "edit", "edit"},
		{Call{Tool: "todo", ReadOnly: true}, "", ""},
	} {
		for want, rights := range map[*string][]string{&c.read: {"read"}, &c.run: {"read", "run"}} {
			p := policy(t, Yolo, User, nil, nil, nil)
			p.Apply(routed(rights...))
			if d := p.Decide(c.call); d.MissingRight != *want || *want != "" && d.Verdict != Ask {
				t.Errorf("%v %+v: %+v, want it to lack %q", rights, c.call, d, *want)
			}
		}
	}
}

// SPEC 13.1, 13.2: a route lasts until the person speaks again, and nobody
// else ends it.
func TestRouteLasts(t *testing.T) {
	p := policy(t, AcceptEdits, User, nil, nil, nil)
	p.Apply(routed("read"))
	for _, b := range []event.Body{event.Ended{End: event.EndDone}, event.Prompted{Source: event.Autofix}, event.Prompted{Source: event.Hook}, event.Resumed{}} {
		p.Apply(event.Event{Body: b})
		if d := p.Decide(write("a.go")); d.Verdict != Ask || d.By != "route" {
			t.Fatalf("after %T: %+v", b, d)
		}
	}
	p.Apply(event.Event{Body: event.Prompted{Source: event.Person}})
	if d := p.Decide(write("a.go")); d.Verdict != Allow || d.MissingRight != "" {
		t.Errorf("%+v", d)
	}
	// An event of a pawl that knew no rights narrows nothing.
	p.Apply(routed())
	if d := p.Decide(write("a.go")); d.Verdict != Allow {
		t.Errorf("%+v", d)
	}
}

// SPEC 13.1: what asks anyway stays as it is, with its reason and its choices, whatever
// its turn was taken for; only a person's "change nothing" is told with it.
func TestRouteLeavesQuestions(t *testing.T) {
	for _, c := range []Call{write("a.go"), bash("touch a"), bash("git push"), bash("(("), {Tool: "mcp__x__y"}} {
		for _, mode := range []Mode{AskMode, AcceptEdits} {
			free, bound := policy(t, mode, User, nil, nil, nil), policy(t, mode, User, nil, nil, nil)
			bound.Apply(routed("read"))
			before, after := free.Decide(c), bound.Decide(c)
			after.MissingRight = "" // a yes grants it
			if before.Verdict == Ask && !reflect.DeepEqual(before, after) {
				t.Errorf("%s %+v: %+v, without the route %+v", mode, c, after, before)
			}
			e := routed("read")
			r := e.Body.(event.Routed)
			r.Explicit = true
			bound.Apply(event.Event{Body: r})
			if after := bound.Decide(c); before.Verdict == Ask && !strings.Contains(after.Reason, "not to change anything") {
				t.Errorf("%s %+v: %+v", mode, c, after)
			}
		}
	}
}

// SPEC 14.1, 16.5: the rules of a session hold for an agent in a copy of its folder; one that
// names a file by its whole path holds for the copy of the file.
func TestFollow(t *testing.T) {
	of := New(Config{Mode: Auto, Root: "/w", Home: "/home/me"})
	must.Do(t, of.Add(User, nil, nil, []string{"read(/w/secret.txt)", "read(keys/**)", "read(/other/x)"}))
	p := New(Config{Mode: Auto, Root: "/w/.claude/worktrees/x", Home: "/home/me"})
	p.Follow(of)
	guarded := p.Guarded()
	for path, want := range map[string]bool{
		"secret.txt": true, "/w/secret.txt": true, "keys/a": true, "/other/x": true, "a.txt": false, "/w/.claude/worktrees/x/b/secret.txt": false,
	} {
		if guarded(path) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
}
