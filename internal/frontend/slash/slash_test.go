package slash

import (
	"strings"
	"testing"
)

// SPEC 10.1
func TestParse(t *testing.T) {
	for in, want := range map[string]struct {
		name, args string
		ok         bool
	}{
		"/help": {"help", "", true}, " /mode  plan ": {"mode", "plan", true}, "/mode\tplan": {"mode", "plan", true},
		"/": {"", "", true}, "/resume a b": {"resume", "a b", true},
		"help": {}, "/etc/hosts is wrong": {}, "// a comment": {}, "/help\nand more": {}, "": {}, "say /help": {},
	} {
		name, args, ok := Parse(in)
		if ok != want.ok || ok && (name != want.name || args != want.args) {
			t.Errorf("%q: %q %q %v, want %+v", in, name, args, ok, want)
		}
	}
}

func TestFind(t *testing.T) {
	for in, want := range map[string]string{
		"help": "help", "h": "help", "": "help", "?": "help", "mode": "mode", "model": "model", "perm": "permissions", "exit": "quit", "q": "quit",
	} {
		c, err := Find(in)
		if err != nil || c.Name != want {
			t.Errorf("/%s is /%s, %v; want /%s", in, c.Name, err, want)
		}
	}
	for in, want := range map[string]string{"mod": "/model or /mode", "nope": "/help lists all", "helpme": "unknown command"} {
		if _, err := Find(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("/%s: %v", in, err)
		}
	}
}

func TestEveryCommandSaysWhatItDoes(t *testing.T) {
	names := map[string]bool{}
	for _, c := range All() {
		if c.Name == "" || c.Doc == "" || (c.Run == nil) == (c.Prompt == nil) || names[c.Name] {
			t.Errorf("%+v", c)
		}
		names[c.Name] = true
	}
}

func TestParseUntil(t *testing.T) {
	for in, want := range map[string][2]string{
		"go test ./...": {"go test ./..."}, "'go test ./...' mend it": {"go test ./...", "mend it"}, `"npm test"`: {"npm test"},
		"'it''s' x": {"'it''s' x"}, "  make check ": {"make check"},
	} {
		command, prompt, err := parseUntil(in)
		if err != nil || command != want[0] || prompt != want[1] {
			t.Errorf("%q: %q %q %v, want %q", in, command, prompt, err, want)
		}
	}
	for _, in := range []string{"", " ", "'go test"} {
		if _, _, err := parseUntil(in); err == nil {
			t.Errorf("%q is taken", in)
		}
	}
}
