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
	"hooks":                                    {{`{"PreToolUse": [{"hooks": [{"type": "prompt", "prompt": "is it safe?"}]}]}`, "named"}},
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
		if s := Read(with(name, `{"a": [7]}`)); len(s.Problems) == 0 && len(s.Named()) == 0 && len(s.LeftOut()) == 0 {
			t.Errorf("%s of another kind is passed over: %+v", name, s)
		}
	}
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
		return len(s.LeftOut()) == 1 && len(s.Rules) == 0 && s.Mode == ""
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
		`{"denyAll": true}`, `{"permission": {"deny": ["Bash"]}}`, `{"Permissions": {"deny": ["Bash"]}}`, `{"sandBox": {}}`, `{"hook": {}}`, `{"disabledMcpServers": ["x"]}`,
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
	if len(s.LeftOut()) != 2 || s.Mode != "" {
		t.Errorf("%+v", s)
	}
}
