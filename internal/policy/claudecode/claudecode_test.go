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

// guards has for each key that can forbid something a value, and what comes of it:
// "denies CALL", "asks CALL", "mode NAME", "refuses NAME", "server NAME", "sandbox",
// "must", "named" or "left out".
var guards = map[string][][2]string{
	"permissions.deny":                         {{`["Read(main.txt)", "Bash(go vet:*)"]`, "denies read main.txt"}, {`["Bash(rm:*)"]`, "denies bash rm -f x"}},
	"permissions.ask":                          {{`["Bash(git push:*)"]`, "asks bash git push"}},
	"permissions.allow":                        {{`["Bash(ls:*)"]`, "left out"}},
	"permissions.additionalDirectories":        {{`["../x"]`, "left out"}},
	"permissions.defaultMode":                  {{`"plan"`, "mode plan"}, {`"default"`, "mode ask"}, {`"dontAsk"`, "mode ask"}, {`"acceptEdits"`, "left out"}, {`"bypassPermissions"`, "left out"}},
	"permissions.disableBypassPermissionsMode": {{`"disable"`, "refuses yolo"}},
	"permissions.disableAutoMode":              {{`"disable"`, "refuses auto"}},
	"disableAutoMode":                          {{`"disable"`, "refuses auto"}},
	"hooks":                                    {{`{"PreToolUse": [{"hooks": [{"type": "agent", "prompt": "is it safe?"}]}]}`, "named"}},
	"disabledMcpjsonServers":                   {{`["shop"]`, "server shop"}, {`["shop"]`, "denies mcp__shop__buy "}},
	"deniedMcpServers":                         {{`[{"serverName": "shop"}]`, "server shop"}},
	"allowedMcpServers":                        {{`[{"serverName": "shop"}]`, "named"}},
	"availableModels":                          {{`["opus"]`, "named"}},
	"enforceAvailableModels":                   {{`true`, "named"}},
	"skillOverrides":                           {{`{"x": "off"}`, "named"}},
	"agent":                                    {{`"reader"`, "named"}},
	"autoMode":                                 {{`{"hard_deny": ["never push"]}`, "named"}},
	"sandbox.enabled":                          {{`true`, "sandbox"}},
	"sandbox.failIfUnavailable":                {{`true`, "must"}},
	"sandbox.allowUnsandboxedCommands":         {{`false`, "denies unconfined git push"}},
	"sandbox.autoAllowBashIfSandboxed":         {{`false`, "named"}},
	"sandbox.filesystem.denyRead":              {{`["keys/**"]`, "denies read keys/a"}, {`["/etc/x"]`, "denies read /etc/x"}, {`["~/x"]`, "denies read /home/me/x/y"}},
	"sandbox.filesystem.denyWrite":             {{`["gen"]`, "denies edit gen/a.go"}},
	"sandbox.filesystem.allowWrite":            {{`["/tmp"]`, "left out"}},
	"sandbox.credentials.files":                {{`[{"path": "~/.config/key", "mode": "deny"}]`, "denies read /home/me/.config/key"}},
	"sandbox.network.deniedDomains":            {{`["evil.com"]`, "denies curl evil.com"}, {`["*.evil.com"]`, "denies curl a.evil.com"}},
	"sandbox.network.allowedDomains":           {{`["x.com"]`, "left out"}},
	"sandbox.network.strictAllowlist":          {{`true`, "named"}},
}

// SPEC 16.17: what each key that can forbid something comes to. A new key of the table
// needs a row here, or a line in the golden file that says why pawl has no use for it.
func TestNoGuardIsDropped(t *testing.T) {
	for name, k := range keys {
		if k.read != nil && guards[name] == nil {
			t.Errorf("%s has no row", name)
		}
	}
	for name, rows := range guards {
		for _, r := range rows {
			s := Read(with(name, r[0]))
			if len(s.Problems) > 0 || len(s.Findings) != 1 && !keys[name].inside {
				t.Errorf("%s = %s: %q, %v", name, r[0], s.Problems, s.Findings)
			}
			if got := kept(s, r[1]); !got {
				t.Errorf("%s = %s is not kept: %s; %+v", name, r[0], r[1], s)
			}
		}
		// A value of another kind is never passed over.
		if s := Read(with(name, `{"a": [7]}`)); len(s.Problems) == 0 && len(s.Named()) == 0 && len(leftOut(s)) == 0 {
			t.Errorf("%s of another kind is passed over: %+v", name, s)
		}
	}
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

func kept(s Settings, what string) bool {
	verb, arg, _ := strings.Cut(what, " ")
	switch verb {
	case "denies":
		return policy(s).Decide(call(arg)).Verdict == permission.Deny
	case "asks":
		return policy(s).Decide(call(arg)).Verdict == permission.Ask
	case "mode":
		return s.Mode == permission.Mode(arg)
	case "refuses":
		return policy(s).Refuses(permission.Mode(arg)) != nil
	case "server":
		return slices.Contains(s.Servers, arg)
	case "sandbox":
		return s.Sandbox
	case "must":
		return s.Must
	case "named":
		return len(s.Named()) == 1
	case "left":
		return len(leftOut(s)) == 1 && len(s.Rules) == 0 && s.Mode == ""
	}
	return false
}

// The whole table, for the eye: a changed line needs a reason.
func TestKeys(t *testing.T) {
	var b strings.Builder
	for _, name := range Keys() {
		k := keys[name]
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
		if !kept(s, "denies edit "+path) {
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
	if s.Taken.Mode != permission.AcceptEdits || s.Taken.Model != "opus" || len(s.Taken.Env) != 1 || s.Taken.Env["APP_MODE"] != "test" || !slices.Equal(s.Taken.Dirs, []string{"~/other"}) {
		t.Errorf("%+v", s.Taken)
	}
	if h := s.Taken.Hooks; len(h) != 1 || h[0].Free || h[0].Command != "guard" {
		t.Errorf("%+v", h)
	}
	for _, part := range []string{"permissions.allow", "used: env, hooks, model", "not used: statusLine"} {
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

// SPEC 16.17: whatever else a file has, the guards beside it hold, or the start is stopped:
// each key of the table and each event, in a project's file, in the person's own, and in
// that once they agreed.
func TestNoGuardIsDroppedBeside(t *testing.T) {
	const guard = `"permissions": {"deny": ["Bash(rm:*)"]%s}, "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "guard"}]}]%s}`
	held := 0
	holds := func(what, text string) {
		for _, f := range []File{file(text), {Name: "own", Own: true}, {Name: "own", Own: true, Agreed: true}} {
			f.Text, f.Root, f.Beside = []byte(text), root, beside
			s := Read(f)
			if len(s.Problems) > 0 {
				continue
			}
			held++
			if !kept(s, "denies bash rm -f x") {
				t.Errorf("%s: the rule does not hold, and nothing is stopped: %s", what, text)
			}
			if i := slices.IndexFunc(s.Findings, func(f Finding) bool { return f.Key == "hooks" }); i < 0 || f.Own && !f.Agreed && !s.Findings[i].Guard || f.Agreed && len(hook.Select(s.Taken.Hooks, hook.PreToolUse)) != 1 {
				t.Errorf("%s: the hook is lost: %+v", what, s)
			}
		}
	}
	values := []string{"true", "false", `"x"`, `["x"]`, `{"x": "y"}`, "7", "null", `[{"serverName": "x"}]`, `"disable"`, `{"deny": []}`}
	for name := range keys {
		below, inside := strings.CutPrefix(name, "permissions.")
		for _, v := range values {
			switch {
			case inside && below != "deny":
				holds(name, fmt.Sprintf("{"+guard+"}", fmt.Sprintf(", %q: %s", below, v), ""))
			case !strings.HasPrefix(name, "permissions") && name != "hooks":
				parts, text := strings.Split(name, "."), v
				for _, p := range slices.Backward(parts) {
					text = fmt.Sprintf("%q: %s", p, text)
					if p != parts[0] {
						text = "{" + text + "}"
					}
				}
				holds(name, fmt.Sprintf("{"+guard+", %s}", "", "", text))
			}
		}
	}
	for _, e := range slices.Concat(hook.Events, hook.Elsewhere(), []hook.Event{"Teatime"}) {
		for _, kind := range []string{"command", "prompt", "agent", "http", "tea"} {
			if e != hook.PreToolUse {
				holds(string(e), fmt.Sprintf("{"+guard+"}", "", fmt.Sprintf(`, %q: [{"hooks": [{"type": %q, "command": "x", "prompt": "x", "url": "http://x"}]}]`, e, kind)))
			}
		}
	}
	if held < 3000 { // the rest is stopped
		t.Errorf("only %d files were read", held)
	}
}
