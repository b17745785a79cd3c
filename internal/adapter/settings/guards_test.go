package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 16.17: the guards of the folder, of the folder that it is a copy of, and of the
// person are all read, each once.
func TestGuardsAreRead(t *testing.T) {
	home, dir, original := t.TempDir(), t.TempDir(), t.TempDir()
	p := Paths{Config: t.TempDir(), Home: home}
	must.Write(t, filepath.Join(home, ".claude", "settings.json"), `{"permissions": {"deny": ["Bash(a)"]}}`)
	must.Write(t, filepath.Join(dir, ".claude", "settings.json"), `{"permissions": {"deny": ["Bash(b)"]}}`)
	must.Write(t, filepath.Join(original, ".claude", "settings.local.json"), `{"permissions": {"deny": ["Read(/c)"]}}`)
	rules := func(l Loaded) string {
		var out []string
		for _, g := range l.Guards {
			for _, r := range g.Rules {
				out = append(out, r.Text)
			}
		}
		return strings.Join(out, " ")
	}
	l, err := Load(p, dir, original)
	if want := "bash(a) bash(b) read(" + dir + "/c)"; err != nil || rules(l) != want || len(l.Unkept) > 0 {
		t.Errorf("%v %s %v, want %s", err, rules(l), l.Unkept, want)
	}
	if l, _ := Load(p, home); rules(l) != "bash(a)" || !l.Guards[0].File.Own {
		t.Errorf("in the home: %+v", l.Guards)
	}
	// What the person's own file has stops nothing; what the folder's has does.
	must.Write(t, filepath.Join(home, ".claude", "settings.json"), `{"permissions": {"deny": ["Bsh"]}}`)
	if l, err := Load(p, dir); err != nil || len(l.Unkept) > 0 || len(l.Guards[0].Problems) != 1 {
		t.Errorf("%v %+v", err, l)
	}
	must.Write(t, filepath.Join(dir, ".pawl", "config.json"), `{"permissions": {"deny": ["bash(a | b)"]}}`)
	if l, err := Load(p, dir); err != nil || len(l.Unkept) != 1 {
		t.Errorf("%v %+v", err, l)
	}
}

// SPEC 16.17: a hook that would guard nothing stops the start, in the person's own
// configuration and in the folder's.
func TestHooksThatNeverRun(t *testing.T) {
	for text, want := range map[string]string{
		`[]`: "hooks",
		`{"Teatime": [{"hooks": [{"command": "x"}]}]}`:                                  "Teatime of hooks",
		`{"PreTooluse": [{"hooks": [{"command": "x"}]}]}`:                               "PreTooluse (did you mean PreToolUse?)",
		`{"pretooluse": []}`:                                                            "pretooluse",
		`{"PreToolUse": [{"hoks": [{"command": "x"}]}]}`:                                "hoks (did you mean hooks?)",
		`{"PreToolUse": [{"matchr": "Bash", "hooks": [{"command": "x"}]}]}`:             "matchr",
		`{"PreToolUse": [{"hooks": [{"comand": "x"}]}]}`:                                "comand",
		`{"PreToolUse": [{"hooks": [{"command": "x", "sandbx": "off"}]}]}`:              "sandbx",
		`{"PreToolUse": [{"hooks": [{"type": "agent", "prompt": "x"}]}]}`:               `type "agent"`,
		`{"PreToolUse": [{"hooks": [{"command": " "}]}]}`:                               "no command",
		`{"PreToolUse": [{"hooks": ["exit 2"]}]}`:                                       "cannot be read",
		`{"Stop": [{"hooks": [{"command": "x", "async": true}]}]}`:                      "", // it decides nothing
		`{"PostToolUse": [{"matcher": "(", "hooks": [{"command": "x"}]}]}`:              `matcher "(" cannot be read`,
		`{"TaskCompleted": [{"hooks": [{"command": "x"}]}]}`:                            "no event of this name",
		`{"PreToolUse": [{"matcher": "(", "hooks": [{"command": "x", "timeout": 5}]}]}`: "", // runs for every call
		`{"PostCompact": [{"hooks": [{"command": "x"}]}]}`:                              "", // blocks nothing
		`{"SessionEnd": [{"hooks": [{"type": "http", "url": "http://x"}]}]}`:            "",
		`{"Stop": [{"description": "d", "hooks": [{"command": "x", "once": true}]}]}`:   "",
	} {
		for _, own := range []bool{true, false} {
			p, dir := Paths{Config: t.TempDir(), Home: t.TempDir()}, t.TempDir()
			file := filepath.Join(dir, ".pawl", "config.json")
			if own {
				file = p.User()
			}
			must.Write(t, file, `{"hooks": `+text+`}`)
			l, err := Load(p, dir)
			told := strings.Join(l.Unkept, "\n")
			if own && err != nil {
				told = err.Error()
			}
			if (told == "") != (want == "") || !strings.Contains(told, want) || want != "" && !strings.Contains(told, file) {
				t.Errorf("own %v, %s: %q, want %q", own, text, told, want)
			}
		}
	}
}

// A file that cannot be read may forbid something.
func TestUnreadableGuards(t *testing.T) {
	for name, make := range map[string]func(string) error{
		"a device": func(f string) error { return os.Symlink("/dev/zero", f) },
		"a folder": func(f string) error { return os.Mkdir(f, 0o700) },
		"a ring":   func(f string) error { return os.Symlink("settings.json", f) },
		"long":     func(f string) error { return os.WriteFile(f, []byte(strings.Repeat(" ", maxConfig+1)), 0o600) },
	} {
		dir := t.TempDir()
		must.Do(t, os.Mkdir(filepath.Join(dir, ".claude"), 0o700))
		must.Do(t, make(filepath.Join(dir, ".claude", "settings.json")))
		if l, err := Load(Paths{Config: t.TempDir()}, dir); err != nil || len(l.Unkept) != 1 {
			t.Errorf("%s: %v %+v", name, err, l.Unkept)
		}
	}
}

// A line is told once for each folder, and again when it changes.
func TestTold(t *testing.T) {
	told := Told{Path: filepath.Join(t.TempDir(), "state", "told.json")}
	for i, c := range []struct {
		dir, line string
		first     bool
	}{{"/a", "x", true}, {"/a", "x", false}, {"/b", "x", true}, {"/a", "y", true}, {"/a", "y", false}, {"/b", "x", false}} {
		if told.First(c.dir, c.line) != c.first {
			t.Errorf("%d: %v", i, !c.first)
		}
	}
	if err := os.WriteFile(told.Path, []byte("{"), 0o600); err != nil || !told.First("/a", "y") || told.First("/a", "y") {
		t.Error("a damaged file")
	}
}
