package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/frontmatter"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/frontend/agentsdk"
	"github.com/pawl-agent/pawl/internal/policy/claudecode"
	"github.com/pawl-agent/pawl/internal/policy/hook"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// tableOfGuards is a table of the product with everything that a set-up of another agent,
// or a program, can say in one place.
type tableOfGuards struct {
	keys []string
	// try puts a key beside a guard. became is what becomes of the key: "stops" (nothing
	// starts), "nothing", or what is in force, left out or named. lost says that the guard
	// beside it does not hold, though nothing was stopped.
	try  func(t *testing.T, key string, value json.RawMessage) (became, lost string)
	slow bool // it runs pawl: only the values of the entries are tried
}

// SPEC 16.17: whatever a set-up or a program says, a guard beside it holds, or nothing
// starts; and what can forbid something by itself is kept, stops the start, or is named.
// The keys are those of the product's own tables: a new one needs a line in
// testdata/guards.txt, which has for each key a value and what becomes of it.
func TestNoGuardIsDropped(t *testing.T) {
	tables := map[string]tableOfGuards{
		"settings":           {keys: claudecode.Keys(), try: besideInSettings},
		"hooks":              {keys: eventNames(), try: besideInHooks},
		"hooks of a program": {keys: eventNames(), try: besideHookOfProgram, slow: true},
		"flags":              {keys: flagsOfSDK(), try: besideFlag, slow: true},
		"initialize":         {keys: agentsdk.InitializeKeys(), try: besideInInitialize, slow: true},
		"requests":           {keys: agentsdk.Requests(), try: besideRequest, slow: true},
		"all idle in a file": {keys: []string{"settings", "settings.local", "own", "agreed"}, try: besideAllIdle, slow: true},
	}
	for _, kind := range []claudecode.Front{claudecode.Skill, claudecode.Command, claudecode.Agent, claudecode.Style} {
		tables[string(kind)] = tableOfGuards{keys: kind.FrontKeys(), try: besideInFront(kind)}
	}
	for _, f := range claudecode.Foreigns {
		tables[f.Name()] = tableOfGuards{keys: f.Keys(), try: besideInForeign(f)}
	}
	entries := entriesOfGuards(t, slices.Sorted(maps.Keys(tables)))
	tried := 0
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		table, entries := tables[name], entries[name]
		for key := range entries {
			if !slices.Contains(table.keys, key) {
				t.Errorf("%s: %s has a line, and the product does not have the key", name, key)
			}
		}
		for _, key := range table.keys {
			if len(entries[key]) == 0 {
				t.Errorf("%s: %s has no line in testdata/guards.txt", name, key)
			}
			run := func(t *testing.T) {
				for _, e := range entries[key] {
					became, lost := table.try(t, key, e.value)
					if became != e.becomes {
						t.Errorf("%s: %s = %s becomes %q, want %q", name, key, e.value, became, e.becomes)
					}
					if lost != "" {
						t.Errorf("%s: beside %s = %s: %s", name, key, e.value, lost)
					}
				}
			}
			tried++
			if table.slow {
				t.Run(name+" "+key, func(t *testing.T) { t.Parallel(); run(t) })
				continue
			}
			run(t)
			for _, v := range []string{"true", "false", `"x"`, `["x"]`, `{"x": "y"}`, "7", "null", `[{"serverName": "x"}]`, `"disable"`, `{"a": [7]}`} {
				if became, lost := table.try(t, key, json.RawMessage(v)); lost != "" {
					t.Errorf("%s: beside %s = %s (%s): %s", name, key, v, became, lost)
				}
			}
		}
	}
	if tried < 700 {
		t.Errorf("only %d keys were tried", tried)
	}
}

// entryOfGuards is a value of a key, and what becomes of it.
type entryOfGuards struct {
	value   json.RawMessage
	becomes string
}

// entriesOfGuards reads testdata/guards.txt: [NAME, NAME…] begins the lines of tables;
// "KEY, KEY… = VALUE -> WHAT BECOMES OF IT", and "nothing: KEY KEY…" for keys that forbid
// nothing and of which nothing is kept.
func entriesOfGuards(t *testing.T, tables []string) map[string]map[string][]entryOfGuards {
	t.Helper()
	raw := must.Get(os.ReadFile("testdata/guards.txt"))(t)
	out := map[string]map[string][]entryOfGuards{}
	var now []string
	add := func(key string, e entryOfGuards) {
		for _, name := range now {
			out[name][key] = append(out[name][key], e)
		}
	}
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		names, section := strings.CutPrefix(line, "[")
		idle, nothing := strings.CutPrefix(line, "nothing:")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case section:
			now = strings.Split(strings.TrimSuffix(names, "]"), ", ")
			for _, name := range now {
				out[name] = map[string][]entryOfGuards{}
				if tables != nil && !slices.Contains(tables, name) {
					t.Errorf("testdata/guards.txt: there is no table %q", name)
				}
			}
		case nothing:
			for key := range strings.FieldsSeq(idle) {
				add(key, entryOfGuards{json.RawMessage(`"x"`), "nothing"})
			}
		default:
			key, rest, ok := strings.Cut(line, " = ")
			at := strings.LastIndex(rest, " -> ")
			if !ok || at < 0 {
				t.Fatalf("testdata/guards.txt: cannot read %s", line)
			}
			for key := range strings.SplitSeq(key, ", ") {
				add(key, entryOfGuards{json.RawMessage(rest[:at]), rest[at+4:]})
			}
		}
	}
	return out
}

// nested returns JSON with one value below a key that is given with dots.
func nested(key string, value json.RawMessage) string {
	parts, text := strings.Split(key, "."), string(value)
	for _, p := range slices.Backward(parts) {
		text = fmt.Sprintf("{%q: %s}", p, text)
	}
	return text
}

// merged adds the keys of b to those of a, at any depth.
func merged(t *testing.T, a, b string) string {
	t.Helper()
	var x, y map[string]any
	must.Do(t, json.Unmarshal([]byte(a), &x))
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Fatal(b, err)
	}
	var join func(to, from map[string]any)
	join = func(to, from map[string]any) {
		for k, v := range from {
			inner, ok1 := v.(map[string]any)
			into, ok2 := to[k].(map[string]any)
			if ok1 && ok2 {
				join(into, inner)
			} else {
				to[k] = v
			}
		}
	}
	join(x, y)
	out := must.Get(json.Marshal(x))(t)
	return string(out)
}

const (
	guardRule = `{"permissions": {"deny": ["Bash(touch:*)"]}}`
	guardHook = `{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "guard"}]}]}}`
)

// besideInSettings puts a key into settings files of all kinds. A guard that the key
// replaces as a whole is not expected there.
func besideInSettings(t *testing.T, key string, value json.RawMessage) (became, lost string) {
	text := nested(key, value)
	hooked, ruled := key != "hooks", key != "permissions" && key != "permissions.deny"
	if hooked {
		text = merged(t, guardHook, text)
	}
	if ruled {
		text = merged(t, guardRule, text)
	}
	for _, f := range []claudecode.File{{Name: ".claude/settings.json"}, {Name: "own", Own: true}, {Name: "own", Own: true, Agreed: true}} {
		f.Text, f.Root, f.Beside = []byte(text), "/w/shop", "/home/me/.claude"
		s := claudecode.Read(f)
		if !f.Own {
			became = becameOf(claudecode.Read(claudecode.File{Name: f.Name, Text: []byte(nested(key, value)), Root: f.Root}))
		}
		if len(s.Problems) > 0 {
			continue
		}
		if ruled && !slices.ContainsFunc(s.Rules, func(r permission.Rule) bool { return r.List == permission.Denies && r.Text == "bash(touch:*)" }) {
			lost = "the rule is lost"
		}
		i := slices.IndexFunc(s.Findings, func(f claudecode.Finding) bool { return f.Key == "hooks" })
		if hooked && (i < 0 || f.Own && !f.Agreed && !s.Findings[i].Guard || f.Agreed && len(hook.Select(s.Taken.Hooks, hook.PreToolUse)) != 1) {
			lost = "the hook is lost"
		}
	}
	return became, lost
}

// becameOf says what a file with one key means.
func becameOf(s claudecode.Settings) string {
	var out []string
	for _, r := range s.Rules {
		out = append(out, string(r.List)+" "+r.Text)
	}
	add := func(is bool, what string) {
		if is {
			out = append(out, what)
		}
	}
	add(s.Mode != "", "mode "+string(s.Mode))
	for _, m := range s.Refused {
		out = append(out, "refuses "+string(m))
	}
	add(len(s.Servers) > 0, "without server "+strings.Join(s.Servers, " "))
	add(len(s.Plugins) > 0, "without plugin "+strings.Join(s.Plugins, " "))
	add(s.Style != "", "style "+s.Style)
	add(s.Sandbox, "sandbox")
	add(s.Must, "must have a sandbox")
	for _, f := range s.Findings {
		add(f.Guard, "named")
		add(f.Allows, "left out")
	}
	switch {
	case len(s.Problems) > 0:
		return "stops"
	case out == nil:
		return "nothing"
	}
	return strings.Join(out, "; ")
}

func eventNames() (out []string) {
	for _, e := range slices.Concat(hook.Events, hook.Elsewhere(), []hook.Event{"Teatime"}) {
		out = append(out, string(e))
	}
	return out
}

// besideInHooks puts a hook of an event into settings files. The value is the kind of the
// hook.
func besideInHooks(t *testing.T, event string, kind json.RawMessage) (became, lost string) {
	hooks := json.RawMessage(fmt.Sprintf(`[{"hooks": [{"type": %s, "command": "x", "prompt": "x", "url": "http://x"}]}]`, kind))
	if event == string(hook.PreToolUse) { // the other guard is the rule
		return besideInSettings(t, "hooks", json.RawMessage(nested(event, hooks)))
	}
	return besideInSettings(t, "hooks."+event, hooks)
}

// besideInFront puts a key into the front matter of a file that has another guard.
func besideInFront(kind claudecode.Front) func(*testing.T, string, json.RawMessage) (became, lost string) {
	beside := map[claudecode.Front]string{claudecode.Skill: "allowed-tools", claudecode.Command: "allowed-tools", claudecode.Agent: "disallowedtools"}[kind]
	return func(t *testing.T, key string, value json.RawMessage) (became, lost string) {
		var v any
		must.Do(t, json.Unmarshal(value, &v))
		fields := frontmatter.Fields{key: v}
		if beside != "" && beside != key {
			fields[beside] = "Read"
		}
		found, err := kind.Read(fields)
		if err != nil {
			return "stops", ""
		}
		if beside != "" && !slices.ContainsFunc(found, func(f claudecode.Finding) bool { return f.Key == beside && f.Use == claudecode.Used }) {
			lost = "the guard is lost"
		}
		i := slices.IndexFunc(found, func(f claudecode.Finding) bool { return f.Key == key })
		switch {
		case i < 0:
			return "not told", lost
		case found[i].Guard:
			return "named", lost
		case found[i].Use == claudecode.Unused:
			return "nothing", lost
		}
		return "used", lost
	}
}

// besideInForeign puts a key beside one that is not known and may forbid something.
func besideInForeign(f claudecode.Foreign) func(*testing.T, string, json.RawMessage) (became, lost string) {
	return func(t *testing.T, key string, value json.RawMessage) (became, lost string) {
		all := map[string]any{}
		if key != "it" {
			must.Do(t, json.Unmarshal([]byte(merged(t, `{"sandbox_rules": "x"}`, nested(key, value))), &all))
		}
		s := f.Read(all)
		if !slices.ContainsFunc(s.Named(), func(f claudecode.Finding) bool { return f.Key == "sandbox_rules" || f.Key == "it" }) {
			lost = "a guard is not named"
		}
		at := func(f claudecode.Finding) bool { return f.Key == key || strings.HasPrefix(f.Key, key+".") }
		if slices.ContainsFunc(s.Named(), at) {
			return "named", lost
		}
		if !slices.ContainsFunc(s.Findings, at) {
			return "not told", lost
		}
		return "nothing", lost
	}
}

// runBeside runs pawl as the SDK does, with lines on standard input; the model runs touch,
// which a guard denies.
func runBeside(t *testing.T, files map[string]string, lines []string, args ...string) (o outcomeOf, lost string) {
	t.Helper()
	at := t.TempDir()
	script, dir := filepath.Join(at, "replies.json"), filepath.Join(at, "proj")
	files["replies.json"] = `[{"calls":[{"name":"bash","args":{"command":"touch made.txt","description":"make it"}}]},{"text":"{}"}]`
	files["proj/x"] = ""
	for name, text := range files {
		must.Write(t, filepath.Join(at, name), text)
	}
	srv := httptest.NewServer(replies(script))
	defer srv.Close()
	env := []string{"HOME=" + at + "/home", "ANTHROPIC_API_KEY=sk-ant-test-0000000000000000", "ANTHROPIC_BASE_URL=" + srv.URL, "PAWL_MODEL=anthropic/claude-opus-4-8"}
	o = runPawl(t, dir, env, strings.Join(append(lines, `{"type":"user","message":{"role":"user","content":"go"}}`), "\n")+"\n",
		append([]string{"--output-format", "stream-json", "--verbose", "--input-format", "stream-json"}, args...)...)
	if _, err := os.Stat(filepath.Join(dir, "made.txt")); err == nil {
		lost = fmt.Sprintf("the command ran: %+v", o)
	}
	return o, lost
}

// initialized is a line that denies touch, with more keys.
func initialized(t *testing.T, more string) string {
	return fmt.Sprintf(`{"type":"control_request","request_id":"1","request":%s}`, merged(t, `{"subtype":"initialize","disallowedTools":["Bash(touch:*)"]}`, more))
}

// anyway is a mode in which the command would run if nothing denied it.
const anyway = "--permission-mode=bypassPermissions"

func flagsOfSDK() (out []string) {
	for _, row := range agentsdk.Table {
		out = append(out, strings.Fields(row.Flags)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// besideFlag runs pawl with a flag; the value true is none.
func besideFlag(t *testing.T, flag string, value json.RawMessage) (became, lost string) {
	arg, text := "--"+flag, ""
	if json.Unmarshal(value, &text) == nil {
		arg += "=" + text
	}
	args := []string{anyway, arg}
	if flag == "permission-mode" {
		args = args[1:]
	}
	o, lost := runBeside(t, map[string]string{}, []string{initialized(t, "{}")}, args...)
	switch {
	case o.code == 2 && strings.Contains(o.stderr, "--"+flag):
		return "stops", lost
	case o.code != 0 && !strings.Contains(o.stdout, `"type":"assistant"`):
		return "does not start", lost // there is no session that goes on
	case o.code != 0 || !strings.Contains(o.stdout, `"subtype":"success"`):
		return fmt.Sprintf("fails: %+v", o), lost
	case strings.Contains(o.stderr, "--"+flag+" is not used: "):
		return "told", lost
	}
	return "used", lost
}

// besideInInitialize puts a key into initialize.
func besideInInitialize(t *testing.T, key string, value json.RawMessage) (became, lost string) {
	o, lost := runBeside(t, map[string]string{}, []string{initialized(t, nested(key, value))}, anyway)
	return answeredBeside(o, "1", key+" of initialize is not used: "), lost
}

// answeredBeside says how a request was answered.
func answeredBeside(o outcomeOf, id, told string) string {
	success := strings.Contains(o.stdout, fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":%q`, id)) ||
		strings.Contains(o.stdout, fmt.Sprintf(`{"response":{"request_id":%q,"response":`, id))
	switch {
	case !success && strings.Contains(o.stdout, `"type":"assistant"`):
		return "refused"
	case !success:
		return "stops"
	case strings.Contains(o.stderr, told):
		return "told"
	}
	return "used"
}

func besideHookOfProgram(t *testing.T, event string, _ json.RawMessage) (became, lost string) {
	o, lost := runBeside(t, map[string]string{}, []string{initialized(t, fmt.Sprintf(`{"hooks":{%q:[{"hookCallbackIds":["h"]}]}}`, event))}, anyway)
	return answeredBeside(o, "1", "pawl has no event for these hooks of the program, which can block nothing: "+event), lost
}

// besideRequest sends a request before the prompt.
func besideRequest(t *testing.T, subtype string, value json.RawMessage) (became, lost string) {
	request := merged(t, fmt.Sprintf(`{"subtype":%q}`, subtype), string(value))
	o, lost := runBeside(t, map[string]string{}, []string{initialized(t, "{}"), fmt.Sprintf(`{"type":"control_request","request_id":"2","request":%s}`, request)}, anyway)
	return answeredBeside(o, "2", "\x00"), lost
}

// besideAllIdle puts every key that forbids nothing into one file, with the guard.
func besideAllIdle(t *testing.T, file string, _ json.RawMessage) (became, lost string) {
	text := guardRule
	for key, e := range entriesOfGuards(t, nil)["settings"] {
		if e[0].becomes == "nothing" {
			text = merged(t, text, nested(key, e[0].value))
		}
	}
	files := map[string]string{}
	switch file {
	case "own", "agreed":
		files["home/.claude/settings.json"] = text
	default:
		files["proj/.claude/"+file+".json"] = text
	}
	if file == "agreed" {
		files["home/.config/pawl/config.json"] = `{"claude_settings": true}`
	}
	o, lost := runBeside(t, files, nil, anyway)
	if o.code != 0 || !strings.Contains(o.stdout, `"permission_denials":[{`) {
		return fmt.Sprintf("fails: %+v", o), lost
	}
	return "denied", lost
}
