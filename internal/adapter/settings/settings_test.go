package settings

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 16.2: a project's file narrows and never widens.
func TestProjectOnlyNarrows(t *testing.T) {
	p, dir := Paths{Config: t.TempDir()}, t.TempDir()
	must.Write(t, filepath.Join(p.Config, "config.json"), `{
	// mine
	"model": "anthropic/claude-sonnet-4-5", /* with a comment */
	"permissions": {"allow": ["bash(go test *)",],},
}`)
	must.Write(t, filepath.Join(dir, ".pawl", "config.json"), `{"model":"evil/model","mode":"yolo","permissions":{"allow":["bash(*)"],"deny":["bash(make deploy)"]}}`)
	l := must.Get(Load(p, dir))(t)
	if l.User.Model != "anthropic/claude-sonnet-4-5" || len(l.User.Permissions.Allow) != 1 || l.User.Mode != "" {
		t.Errorf("user settings are %+v", l.User)
	}
	if len(l.Project.Allow) != 0 || len(l.Project.Deny) != 1 {
		t.Errorf("project rules are %+v", l.Project)
	}
	if len(l.Warnings) != 1 || !strings.Contains(l.Warnings[0], "yolo") || !strings.Contains(l.Warnings[0], "bash(*)") {
		t.Errorf("warnings are %q", l.Warnings)
	}
}

func TestBadFiles(t *testing.T) {
	p, dir := Paths{Config: t.TempDir()}, t.TempDir()
	must.Write(t, filepath.Join(p.Config, "config.json"), `{"modle": "x"}`)
	if _, err := Load(p, dir); err == nil || !strings.Contains(err.Error(), "modle") || !strings.Contains(err.Error(), "config.json") {
		t.Errorf("an unknown key in the user's file gives %v", err)
	}
	p = Paths{Config: t.TempDir()}
	must.Write(t, filepath.Join(dir, ".pawl", "config.json"), `{`)
	l, err := Load(p, dir)
	if err != nil || len(l.Unkept) != 1 {
		t.Errorf("a broken project file gives %v, %q", err, l.Unkept)
	}
	if _, err := Load(Paths{Config: filepath.Join(t.TempDir(), "none")}, t.TempDir()); err != nil {
		t.Error(err)
	}
}

// SPEC 0, 9: the numbers of the context window are keys; one that cannot be is
// an error that names it.
func TestWindowKeys(t *testing.T) {
	dir := t.TempDir()
	p := Paths{Config: dir, State: dir}
	for text, want := range map[string]string{
		`{"window": {"compact_at": 50, "tokenizer": "estimate", "status": "always", "cap_normal": 800}}`: "",
		`{"window": {"tokenizer": "words"}}`:              "window.tokenizer",
		`{"window": {"moderate": 90}}`:                    "moderate",
		`{"window": {"compact_by": 50}}`:                  "compact_by",
		`{"window": {"compact_at": 99}} // over critical`: "compact_at",
	} {
		must.Write(t, filepath.Join(dir, "config.json"), text)
		l, err := Load(p, t.TempDir())
		if want == "" && (err != nil || l.User.Window.CompactAt != 50 || l.User.Window.BPE()) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %+v, %v", text, l.User.Window, err)
		}
	}
}

func TestPaths(t *testing.T) {
	env := map[string]string{"HOME": "/home/ada"}
	get := func(k string) string { return env[k] }
	p, err := PathsFrom(get)
	if err != nil || p.Config != "/home/ada/.config/pawl" || p.State != "/home/ada/.local/state/pawl" {
		t.Errorf("%+v %v", p, err)
	}
	env["XDG_STATE_HOME"] = "/var/state"
	if p, _ = PathsFrom(get); p.State != "/var/state/pawl" {
		t.Errorf("%+v", p)
	}
	env["PAWL_HOME"] = "/opt/pawl"
	if p, _ = PathsFrom(get); p.State != "/opt/pawl" || p.Config != "/opt/pawl" {
		t.Errorf("%+v", p)
	}
}

// SPEC 13.3, 16.2: checks and limits are the user's to set, and are looked at.
func TestChecks(t *testing.T) {
	for text, want := range map[string]string{
		`{"autofix": {"attempts": 0, "timeout_seconds": 600}, "checks": [{"command": "make x", "paths": ["a/**"], "in": "~/a"}]}`: "",
		`{"autofix": {"attempts": -1}}`:                         "autofix.attempts is -1",
		`{"autofix": {"timeout_seconds": 601}}`:                 "autofix.timeout_seconds is 601",
		`{"checks": [{"name": "x"}]}`:                           "checks[0] has no command",
		`{"checks": [{"command": "x", "paths": ["a", "[a"]}]}`:  "checks[0]: \"[a\" is not a valid pattern",
		`{"checks": [{"command": "x", "pathes": ["a", "[a"]}]}`: "pathes",
	} {
		p, dir := Paths{Config: t.TempDir()}, t.TempDir()
		must.Write(t, filepath.Join(p.Config, "config.json"), text)
		_, err := Load(p, dir)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	p, dir := Paths{Config: t.TempDir()}, t.TempDir()
	must.Write(t, filepath.Join(dir, ".pawl", "config.json"), `{"checks": [{"command": "rm -rf ~"}], "autofix": {"enable": false}}`)
	l, err := Load(p, dir)
	if err != nil || len(l.User.Checks) != 0 || l.User.Autofix.Enable != nil || len(l.Warnings) != 1 || !strings.Contains(l.Warnings[0], "rm -rf") {
		t.Errorf("%+v, %v", l, err)
	}
}

// SPEC 18.5: a theme that does not exist is refused, and a project cannot set one.
func TestScreenSettings(t *testing.T) {
	p, dir := Paths{Config: t.TempDir()}, t.TempDir()
	must.Write(t, filepath.Join(p.Config, "config.json"), `{"screen": {"theme": "contrast", "calm": true}}`)
	must.Write(t, filepath.Join(dir, ".pawl", "config.json"), `{"screen": {"plain": true}}`)
	l, err := Load(p, dir)
	if err != nil || !reflect.DeepEqual(l.User.Screen, Screen{Theme: "contrast", Calm: true}) || len(l.Warnings) != 1 {
		t.Errorf("%+v, %v, %v", l.User.Screen, l.Warnings, err)
	}
	for _, bad := range []string{"solarized", "Dark", " dark", "none"} {
		must.Write(t, filepath.Join(p.Config, "config.json"), `{"screen": {"theme": "`+bad+`"}}`)
		if _, err := Load(p, dir); err == nil || !strings.Contains(err.Error(), "screen.theme") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// SPEC 14.5: a store that does not exist is refused.
func TestSwarmSettings(t *testing.T) {
	p, dir := Paths{Config: t.TempDir()}, t.TempDir()
	for _, bad := range []string{"redis", "JSON", " nats", "none"} {
		must.Write(t, filepath.Join(p.Config, "config.json"), `{"swarm": {"notes": "`+bad+`"}}`)
		if _, err := Load(p, dir); err == nil || !strings.Contains(err.Error(), "it must be sqlite, json or nats") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	must.Write(t, filepath.Join(p.Config, "config.json"), `{"swarm": {"worker_steps": -1}}`)
	if _, err := Load(p, dir); err == nil || !strings.Contains(err.Error(), "must not be negative") {
		t.Error(err)
	}
}

// SPEC 17.5, 18.2: an error in the configuration names file, line and what was
// probably meant.
func TestErrorsNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"{\n  // the model\n  \"modle\": \"x\"\n}":                     `:3: unknown key "modle", did you mean "model"?`,
		"{\"budget\": {\n\"usdd\": 1}}":                                `:2: unknown key "usdd", did you mean "usd"?`,
		"{\"checks\": [\n{\"command\": \"x\"},\n{\"comand\": \"y\"}]}": `:3: unknown key "comand", did you mean "command"?`,
		"{\"models\": {\"a/b\": {\n\"windwo\": 1}}}":                   `:2: unknown key "windwo", did you mean "window"?`,
		"{\"store\": {\"zzz\": 1}}":                                    `:1: unknown key "zzz", there are durability`,
		"{\n\"model\": \"x\"\n\"mode\": \"ask\"}":                      ":3: invalid character '\"' after object key:value pair",
		"{\n\"model\": 3}":                                             ":2: model takes a string in quotes and not a number",
		"{\"budget\": {\n\n\"usd\": \"x\"}}":                           ":3: budget.usd takes a number and not a string",
		"{\"route_model\": 1}":                                         ":1: route_model takes true or false and not a number",
		"[]":                                                           ":1: the file holds an object in braces, and not a array",
		"{\n\"model\": \"x\"":                                          ":2: it ends before",
		"":                                                             ":1: the file is empty",
		"{}\n}":                                                        ":2: there is text after",
		"{\"model\": \"x\",}\n/* done */":                              "",
	} {
		p := Paths{Config: t.TempDir()}
		must.Write(t, filepath.Join(p.Config, "config.json"), text)
		_, err := Load(p, t.TempDir())
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), filepath.Join(p.Config, "config.json")+want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// SPEC 4.15: what was granted together is revoked one by one, as it is listed.
func TestRevokeOneOfSeveral(t *testing.T) {
	g := Grants{Path: filepath.Join(t.TempDir(), "grants.json")}
	must.Write(t, g.Path, `{"/w": ["edit(x.md), bash(rm -rf build)", "read(/a b/**)"]}`) // as an older pawl wrote it
	for _, c := range []struct {
		rule  string
		found bool
		left  []string
	}{
		{"bash(rm -rf other)", false, []string{"edit(x.md)", "bash(rm -rf build)", "read(/a b/**)"}},
		{"bash(rm -rf build)", true, []string{"edit(x.md)", "read(/a b/**)"}},
		{"Edit(x.md), read(/a b/**)", true, nil},
	} {
		found, err := g.Revoke("/w", c.rule)
		left := rulesOf(g)
		if err != nil || found != c.found || !slices.Equal(left, c.left) {
			t.Errorf("%s: %v %v, left %q", c.rule, found, err, left)
		}
	}
	must.Do(t, g.Add("/w", "edit(y), bash(z *)", time.Unix(1, 0)))
	if left := rulesOf(g); !slices.Equal(left, []string{"edit(y)", "bash(z *)"}) {
		t.Errorf("%q", left)
	}
}

func rulesOf(g Grants) (out []string) {
	grants, _ := g.List("/w")
	for _, g := range grants {
		out = append(out, g.Rule)
	}
	return out
}

// SPEC 4.15: a permanent permission is stored with the time of the person's last yes.
func TestGrantsHaveTheirTime(t *testing.T) {
	g := Grants{Path: filepath.Join(t.TempDir(), "grants.json")}
	must.Write(t, g.Path, `{"/w": ["bash(old)"], "/v": [{"rule": "edit(a)", "agreed": "2026-01-02T03:04:05.000000006Z"}]}`)
	for i, rule := range []string{"bash(make *)", "unconfined(make deploy), bash(make *)", "bash(make *)"} {
		must.Do(t, g.Add("/w", rule, time.Unix(int64(i), 7)))
	}
	must.Done(t)(g.Revoke("/v", "bash(none)"))
	want := map[string]int64{"bash(old)": time.Time{}.UnixNano(), "unconfined(make deploy)": 1e9 + 7, "bash(make *)": 2e9 + 7}
	grants, err := g.List("/w")
	for _, g := range grants {
		if g.Agreed.UnixNano() != want[g.Rule] {
			t.Errorf("%+v", g)
		}
	}
	if other, _ := g.List("/v"); err != nil || len(grants) != len(want) || len(other) != 1 || other[0].Agreed.Nanosecond() != 6 {
		t.Errorf("%+v, %+v, %v", grants, other, err)
	}
}

// SPEC 16.2, 16.17: a project's file can not delay its reader, whatever it is, and what
// it may forbid is not passed over.
func TestProjectFileOfAnyKind(t *testing.T) {
	for name, make := range map[string]func(file string) error{
		"a device": func(f string) error { return os.Symlink("/dev/zero", f) },
		"a pipe":   func(f string) error { return exec.Command("mkfifo", f).Run() },
		"a folder": func(f string) error { return os.Mkdir(f, 0o700) },
		"long":     func(f string) error { return errors.Join(os.WriteFile(f, nil, 0o600), os.Truncate(f, maxConfig+1)) },
		"a ring":   func(f string) error { return os.Symlink("config.json", f) },
	} {
		dir := t.TempDir()
		must.Do(t, os.Mkdir(filepath.Join(dir, ".pawl"), 0o700))
		must.Do(t, make(filepath.Join(dir, ".pawl", "config.json")))
		l, err := Load(Paths{Config: t.TempDir(), State: t.TempDir()}, dir)
		if err != nil || len(l.Unkept) != 1 || len(l.Project.Deny) != 0 {
			t.Errorf("%s: %+v %v", name, l, err)
		}
	}
}

// SPEC 4.15: the file of permanent permissions is the person's alone.
func TestGrantsArePrivate(t *testing.T) {
	g := Grants{Path: filepath.Join(t.TempDir(), "state", "grants.json")}
	must.Do(t, g.Add("/w", "bash(ls)", time.Time{}))
	for path, want := range map[string]os.FileMode{g.Path: 0o600, filepath.Dir(g.Path): 0o700} {
		if st, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, st.Mode(), err)
		}
	}
}
