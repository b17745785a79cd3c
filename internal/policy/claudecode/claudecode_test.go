package claudecode

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/golden"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/hook"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// The folders of the files in these tests.
const (
	root   = "/w/shop"
	beside = "/home/me/.claude"
)

func file(text string) File {
	return File{Name: ".claude/settings.json", Text: []byte(text), Root: root, Beside: beside}
}

// with returns a file that sets one key, given with dots.
func with(key, value string) File {
	parts := strings.Split(key, ".")
	for _, p := range slices.Backward(parts) {
		value = fmt.Sprintf("{%q: %s}", p, value)
	}
	return file(value)
}

func policy(s Settings) *permission.Policy {
	p := permission.New(permission.Config{Mode: permission.Yolo, Root: root, Home: "/home/me", Refused: RefusedBy([]Settings{s}), Sandbox: permission.Sandbox{ReadOnly: true, Workspace: true}})
	p.AddRules(s.Rules)
	return p
}

// call reads "bash LINE", "unconfined LINE", "read PATH", "edit PATH", "fetch HOST",
// "curl HOST", or "TOOL SUBJECT".
func call(text string) permission.Call {
	name, arg, _ := strings.Cut(text, " ")
	c := permission.Call{Tool: name}
	switch name {
	case "bash":
		c.Family, c.Footprint.Shell = tool.CommandFamily, arg
	case "unconfined":
		c.Tool, c.Family, c.Footprint.Shell, c.Footprint.Unconfined = "bash", tool.CommandFamily, arg, true
	case "curl":
		c.Tool, c.Family, c.Footprint.Shell, c.Footprint.Hosts = "bash", tool.CommandFamily, "true", []string{arg}
	case "read":
		c.Family, c.Footprint.Reads = tool.ReadFamily, []tool.Span{{Path: arg}}
	case "edit":
		c.Family, c.Footprint.Writes = tool.EditFamily, []tool.Span{{Path: arg}}
	case "fetch":
		c.Tool, c.Family, c.Footprint.Hosts = "web_fetch", tool.WebFamily, []string{arg}
	case "ask_user":
		c.Footprint.AsksPerson = true
	default:
		c.Subject = arg
	}
	return c
}

// leftOut returns the keys that permit something, which pawl does not use.
func leftOut(s Settings) (out []string) {
	for _, f := range s.Findings {
		if f.Allows {
			out = append(out, f.Key)
		}
	}
	return out
}

// The whole table, for the eye: a changed line needs a reason.
func TestKeys(t *testing.T) {
	var b strings.Builder
	for _, name := range Keys() {
		k := keys()[name]
		switch {
		case k.inside:
			continue
		case k.use == "", k.use == Unused && k.note == "" && name != "$schema":
			t.Errorf("%s has no use, or no reason", name)
		}
		fmt.Fprintln(&b, Finding{Key: name, Use: k.use, Note: k.note})
	}
	golden.File(t, filepath.Join("testdata", "keys.golden"), b.String())
}

// SPEC 16.17: what is not known where guards stand, or cannot be read, is a problem.
func TestUnknown(t *testing.T) {
	for _, text := range []string{
		`{"permissions": {"forbid": ["Bash"]}}`, `{"sandbox": {"jail": true}}`, `{"sandbox": {"network": {"deny": []}}}`, `{"sandbox": {"credentials": {"x": 1}}}`,
		`{"permissions": []}`, `{"permissions": {"deny": "Bash"}}`, `{"permissions": {"deny": [7]}}`, `{"permissions": {"defaultMode": "careful"}}`,
		`{"permissions": {"disableBypassPermissionsMode": "yes"}}`, `{"deniedMcpServers": [{"serverUrl": "https://x/*"}]}`, `{"hooks": []}`, `{`, `[]`, ``,
		`{"denyTools": ["Bash"]}`, `{"careful": {"about": ["x", "WebFetch(domain:x)"]}}`, `{"quiet": {"Edit": "off"}}`, `{"never": "mcp__shop__buy"}`, `{"permission": {"deny": ["Bash"]}}`, `{"Permissions": {"deny": ["Bash"]}}`, `{"sandBox": {}}`, `{"hook": {}}`, `{"disabledMcpServers": ["x"]}`,
		`{"hooks": {"Teatime": [{"hooks": [{"command": "x"}]}]}}`, `{"hooks": {"PreTooluse": []}}`, `{"hooks": {"PreToolUse": [{"hoks": []}]}}`,
		`{"hooks": {"PreToolUse": [{"matchr": "Bash", "hooks": []}]}}`, `{"hooks": {"PreToolUse": [{"hooks": [{"comand": "x"}]}]}}`,
	} {
		if s := Read(file(text)); len(s.Problems) == 0 || !strings.Contains(s.Problems[0], ".claude/settings.json") {
			t.Errorf("%s: %+v", text, s)
		}
	}
	if s := Read(File{Name: "x", Unread: errors.New("it is a pipe")}); len(s.Problems) != 1 || s.Problems[0] != "x: it is a pipe" {
		t.Errorf("%+v", s)
	}
	// Elsewhere an unknown key that forbids nothing is told by the doctor.
	s := Read(file(`{"colour": "red", "permissions": null}`))
	if len(s.Problems) > 0 || len(s.Findings) != 1 || len(s.Named()) != 0 {
		t.Errorf("%+v", s)
	}
	// One that may be a new switch is named before anything runs, and stops nothing.
	for _, text := range []string{`{"disableTeaBreak": true}`, `{"blockedColours": ["red"]}`, `{"denyAll": true}`, `{"excludeWeather": {"in": "Rome"}}`} {
		if s := Read(file(text)); len(s.Problems) > 0 || len(s.Named()) != 1 {
			t.Errorf("%s: %+v", text, s)
		}
	}
	// One rule that cannot be kept does not hide the others.
	s = Read(file(`{"permissions": {"deny": ["Bsh(rm)", "Bash(rm:*)"]}}`))
	if len(s.Problems) != 1 || !strings.Contains(s.Problems[0], `"Bsh(rm)"`) || len(s.Rules) != 1 {
		t.Errorf("%+v", s)
	}
}

// SPEC 16.17: hooks that could block something are named where pawl does not run them.
func TestHooksOfSettings(t *testing.T) {
	for _, e := range slices.Concat(hook.Elsewhere(), hook.Events) {
		raw, _ := json.Marshal(map[string]any{"hooks": map[string]any{string(e): []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": "x"}}}}}})
		s := Read(file(string(raw)))
		if want := !slices.Contains(hook.Events, e) && e.CouldBlock(); (len(s.Named()) == 1) != want || len(s.Problems) > 0 {
			t.Errorf("%s: %+v", e, s)
		}
		f := file(string(raw))
		f.Own = true
		if s := Read(f); (len(s.Named()) == 1) != e.CouldBlock() || s.Findings[0].Use != Unused {
			t.Errorf("the person's own %s: %+v", e, s)
		}
	}
}

// The person's own file: its guards hold, and the rest is theirs to copy.
func TestOwnFile(t *testing.T) {
	f := file(`{"permissions": {"deny": ["Edit(/gen/**)"], "allow": ["Bash"], "defaultMode": "bypassPermissions"}}`)
	f.Own = true
	s := Read(f)
	for _, path := range []string{root + "/gen/a", beside + "/gen/a"} {
		if policy(s).Decide(call("edit "+path)).Verdict != permission.Deny {
			t.Errorf("%s: %+v", path, s.Rules)
		}
	}
	if len(leftOut(s)) != 2 || s.Mode != "" {
		t.Errorf("%+v", s)
	}
}

// Once the person agreed, their own file gives what it says, and no rule permits more than
// it did: what means something else in pawl is named.
func TestAgreed(t *testing.T) {
	f := file(`{"permissions": {
		"allow": ["Bash(npm run test:*)", "Read(~/notes/**)", "Read(//opt/x)", "Edit(/gen/**)", "WebFetch(domain:go.dev)", "mcp__shop__list", "Skill(review)", "Write",
			"Bash(echo \"*\")", "Read(a[bc])", "Edit({a,b}/**)", "NotebookEdit", "LSP", "Monitor", "Skill(review x)", "Nonsense", "Bash(a | b)", "Edit(!x)"],
		"deny": ["Bash(npm run test:prod)"], "defaultMode": "acceptEdits", "additionalDirectories": ["~/other"]},
		"model": "opus", "env": {"APP_MODE": "test", "ANTHROPIC_API_KEY": "x", "CLAUDE_CODE_X": "1", "OTEL_Y": "z"},
		"hooks": {"PreToolUse": [{"hooks": [{"command": "guard", "sandbox": "off"}]}]}, "statusLine": {"type": "command", "command": "x"}}`)
	f.Own, f.Agreed = true, true
	s := Read(f)
	want := []string{"bash(npm run test:*)", "read(~/notes/**)", "read(//opt/x)", "edit(//home/me/.claude/gen/**)", "web_fetch(go.dev)", "mcp__shop__list", "skill(review)", "edit"}
	if got := s.Taken.Allow; !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	p := policy(s)
	if err := p.Add(permission.User, s.Taken.Allow, nil, nil); err != nil || len(s.Problems) > 0 {
		t.Error(err, s.Problems)
	}
	if p.Decide(call("bash npm run test:prod")).Verdict != permission.Deny || p.Decide(call("bash npm run test:unit")).Verdict != permission.Allow {
		t.Error("a deny does not win")
	}
	if s.Taken.StatusLine != "x" || s.Taken.Mode != permission.AcceptEdits || s.Taken.Model != "opus" || len(s.Taken.Env) != 1 || s.Taken.Env["APP_MODE"] != "test" || !slices.Equal(s.Taken.Dirs, []string{"~/other"}) {
		t.Errorf("%+v", s.Taken)
	}
	if h := s.Taken.Hooks; len(h) != 1 || h[0].Free || h[0].Command != "guard" {
		t.Errorf("%+v", h)
	}
	for _, part := range []string{"permissions.allow", "used: env, hooks, model", "statusLine"} {
		if !strings.Contains(s.Summary(), part) {
			t.Errorf("%s is not in %q", part, s.Summary())
		}
	}
	for _, left := range []string{`Bash(echo "*")`, "Read(a[bc])", "Edit({a,b}/**)", "NotebookEdit", "LSP", "Monitor", "Skill(review x)", "Nonsense", "Bash(a | b)", "Edit(!x)"} {
		if !slices.ContainsFunc(s.Findings, func(f Finding) bool { return f.Key == "permissions.allow" && strings.Contains(f.Note, left) }) {
			t.Errorf("%s is not named", left)
		}
	}
	// The mode without questions is chosen each time, and a project's file gives nothing.
	bypass := with("permissions.defaultMode", `"bypassPermissions"`)
	bypass.Own, bypass.Agreed = true, true
	if s := Read(bypass); s.Taken.Mode != "" || s.Mode != "" {
		t.Errorf("%+v", s)
	}
	f.Own = false
	if s := Read(f); len(s.Taken.Allow) > 0 || s.Taken.Model != "" || s.Taken.Mode != "" || s.Taken.Env != nil || s.Taken.Hooks != nil {
		t.Errorf("%+v", s.Taken)
	}
}

// What the summary calls used is used, or says when it is.
//
// SPEC 16.17
func TestSummary(t *testing.T) {
	const hooks = `{"PreToolUse": [{"hooks": [{"type": "command", "command": "x"}]}]}`
	for _, c := range []struct{ text, want string }{
		{`{"permissions": {"deny": ["Bash(rm *)"]}, "hooks": ` + hooks + `, "enabledPlugins": {"a@b": true}, "theme": "x"}`,
			"used: permissions.deny; used if you installed it: enabledPlugins; used if you trust the folder: hooks; not used: theme (pawl doctor says why)"},
		{`{"hooks": {}, "enabledPlugins": {"a@b": false}}`, "used: enabledPlugins, hooks"},
	} {
		if _, got, _ := strings.Cut(Read(file(c.text)).Summary(), ": "); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.text, got, c.want)
		}
	}
}
