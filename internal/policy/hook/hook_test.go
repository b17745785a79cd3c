package hook

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/policy/permission"
)

var names = map[permission.Verdict]string{permission.Deny: "deny", permission.Ask: "ask", permission.Allow: "allow"}

// SPEC 16.13: before a tool a hook that does not answer as it should denies;
// elsewhere it is reported and nothing more.
func TestRead(t *testing.T) {
	out := func(s string) Ran { return Ran{Command: "h", Out: []byte(s)} }
	decide := func(d string) Ran {
		return out(`{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": ` + d + `, "permissionDecisionReason": "because"}}`)
	}
	for _, c := range []struct {
		name   string
		ran    Ran
		before string // the verdict before a tool
		broken bool
	}{
		{"silent", Ran{}, "allow", false},
		{"spaces", out(" \n"), "allow", false},
		{"words", out("all is well\n"), "allow", false},
		{"an empty object", out("{}"), "allow", false},
		{"a field of later", out(`{"suppressOutput": true, "newer": {"a": 1}}`), "allow", false},
		{"exit 2", Ran{Exit: 2, Err: []byte("no!")}, "deny", false},
		{"exit 2 without words", Ran{Exit: 2}, "deny", false},
		{"exit 2 and JSON that allows", Ran{Exit: 2, Out: []byte(`{"decision": "approve"}`)}, "deny", false},
		{"denies", decide(`"deny"`), "deny", false},
		{"asks", decide(`"ask"`), "ask", false},
		{"allows, which lifts nothing", decide(`"allow"`), "allow", false},
		{"the older form", out(`{"decision": "block", "reason": "x"}`), "deny", false},
		{"the older form approves", out(`{"decision": "approve"}`), "allow", false},
		{"one denies, one allows", out(`{"decision": "block", "hookSpecificOutput": {"permissionDecision": "allow"}}`), "deny", false},
		{"one asks, one allows", out(`{"decision": "ask", "hookSpecificOutput": {"permissionDecision": "allow"}}`), "ask", false},
		{"ends the turn", out(`{"continue": false, "stopReason": "enough"}`), "deny", false},
		{"a request is denied", out(`{"hookSpecificOutput": {"decision": {"behavior": "deny", "message": "x"}}}`), "deny", false},

		{"exit 1", Ran{Exit: 1}, "deny", true},
		{"exit 127", Ran{Exit: 127, Err: []byte("not found")}, "deny", true},
		{"exit 1 with an answer", Ran{Exit: 1, Out: []byte(`{"decision": "approve"}`)}, "deny", true},
		{"a negative code", Ran{Exit: -1}, "deny", true},
		{"not found", Ran{Failed: "no such file"}, "deny", true},
		{"a time limit", Ran{Failed: "stopped after 60s", Out: []byte("{}")}, "deny", true},
		{"too long", Ran{Out: []byte("x"), Cut: true}, "deny", true},
		{"far too long", out(strings.Repeat("x", maxOut+1)), "deny", true},
		{"broken off", out(`{"decision": "block"`), "deny", true},
		{"two objects", out(`{"decision": "block"}{}`), "deny", true},
		{"words before an answer", out("loading\n{\"decision\": \"block\"}"), "deny", true},
		{"an answer in a list", out(`[{"decision": "block"}]`), "deny", true},
		{"a key twice", out(`{"decision": "block", "decision": "approve"}`), "deny", true},
		{"a key twice within", decide(`"deny", "permissionDecision": "allow"`), "deny", true},
		{"no decision", decide(`"maybe"`), "deny", true},
		{"an empty one", decide(`""`), "deny", true},
		{"a decision that is no text", decide(`true`), "deny", true},
		{"for another event", out(`{"hookSpecificOutput": {"hookEventName": "Stop"}}`), "deny", true},
		{"no text", out("{\xff}"), "deny", true},
		{"another encoding", out("{\x00\"\x00}\x00"), "deny", true},
		{"arguments that are none", out(`{"hookSpecificOutput": {"updatedInput": "rm"}}`), "deny", true},
		{"deep", out(`{"a":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}`), "deny", true},
	} {
		a := Read(PreToolUse, c.ran)
		if names[a.Verdict] != c.before || (a.Broken != "") != c.broken {
			t.Errorf("%s: %s, broken %q; want %s, %v", c.name, names[a.Verdict], a.Broken, c.before, c.broken)
		}
		if a.Verdict == permission.Deny && a.Reason == "" {
			t.Errorf("%s: it denies without a reason", c.name)
		}
		if c.broken { // elsewhere it is told, and holds nothing up
			for _, e := range []Event{PostToolUse, Stop, SessionStart, Notification} {
				switch a := Read(e, c.ran); {
				case a.Broken == "" && (a.Context != "" || a.PersonMessage != ""): // words are words there
				case a.Broken == "" && c.name != "for another event", a.Broken != "" && a.Verdict != permission.Allow:
					t.Errorf("%s at %s: %+v", c.name, e, a)
				}
			}
		}
	}
	if a := Read(SessionStart, Ran{Exit: 2}); a.Verdict != permission.Allow || a.Broken == "" {
		t.Errorf("nothing can be held up at a start: %+v", a)
	}
	if a := Read(Stop, Ran{Exit: 2, Err: []byte("go on")}); a.Verdict != permission.Deny || a.Reason != "go on" {
		t.Errorf("%+v", a)
	}
	if a := Read(SessionStart, out("the branch is main")); a.Context != "the branch is main" {
		t.Errorf("%+v", a)
	}
	if a := Read(PreToolUse, out(`{"hookSpecificOutput": {"updatedInput": {"command": "ls"}, "additionalContext": "c"}, "systemMessage": "s"}`)); string(a.Input) != `{"command": "ls"}` || a.Context != "c" || a.PersonMessage != "s" {
		t.Errorf("%+v", a)
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		matcher string
		names   string
		want    bool
	}{
		{"", "bash", true}, {"*", "bash", true}, {"Bash", "bash", true}, {"Write", "write", true},
		{"Write", "todo_write", false}, {"Edit|Write", "write", true}, {"mcp__.*", "mcp__a__b", true}, {"mcp__.*", "bash", false},
		{"Notebook.*", "edit", false}, {"Edit", "multi_edit MultiEdit Edit", true},
		{"(", "bash", true}, {"^(?!Bash).*", "bash", true}, // cannot be read: for all, before a tool
	} {
		if got := matches(PreToolUse, c.matcher, strings.Fields(c.names)...); got != c.want {
			t.Errorf("%q, %s: %v", c.matcher, c.names, got)
		}
	}
	if matches(PostToolUse, "(", "bash") {
		t.Error("after a tool a matcher that cannot be read is for none")
	}
}

// SPEC 16.17, 17.3: with args a hook is a program and its words, and one that must not fail
// blocks where it fails.
func TestKeysOfAHook(t *testing.T) {
	rules, err := Rules("x", []byte(`{"Stop": [{"hooks": [
		{"command": "${CLAUDE_PLUGIN_ROOT}/a b.sh", "args": ["it's", "$HOME", "plain", ""], "onFailure": "block", "asyncRewake": true, "rewakeMessage": "m", "rewakeSummary": "s"},
		{"type": "mcp_tool", "server": "s", "tool": "t", "input": {"a": 1}, "onFailure": "block"}]}]}`))
	if err != nil || len(rules) != 2 {
		t.Fatal(rules, err)
	}
	if want := `''"${CLAUDE_PLUGIN_ROOT}"'/a b.sh' 'it'\''s' '$HOME' plain ''`; rules[0].Command != want || !rules[0].Closed {
		t.Errorf("%+v", rules[0])
	}
	if rules[1].InactiveBecause == "" {
		t.Errorf("%+v", rules[1])
	}
	for closed, want := range map[bool]permission.Verdict{true: permission.Deny, false: permission.Allow} {
		if got := Read(Stop, Ran{Failed: "not found", Closed: closed}).Verdict; got != want {
			t.Errorf("closed %v: %v", closed, got)
		}
	}
}
