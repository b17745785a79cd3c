package cli

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/frontend/setup"
)

// `pawl --help` is one screen, names every command and says what each flag is.
func TestHelpIsOneScreen(t *testing.T) {
	a := &App{Environment: setup.Environment{Env: func(string) string { return "" }}}
	root := a.root()
	var b strings.Builder
	rootHelp(&b, root)
	if n := strings.Count(b.String(), "\n"); n > 44 {
		t.Errorf("%d lines:\n%s", n, b.String())
	}
	for l := range strings.Lines(b.String()) {
		if len([]rune(l)) > 81 {
			t.Errorf("too wide: %s", l)
		}
	}
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() && !strings.Contains(b.String(), "  "+c.Name()) && !strings.Contains(b.String(), ", "+c.Name()) && !strings.Contains(b.String(), "Also: "+c.Name()) {
			t.Errorf("%s is not named:\n%s", c.Name(), b.String())
		}
	}
	for _, names := range helpCommands {
		for _, n := range strings.Fields(names.commands) {
			if c, _, _ := root.Find([]string{n}); c.Name() != n {
				t.Errorf("there is no %s", n)
			}
		}
	}
	for _, n := range strings.Fields(helpFlags) {
		if root.Flags().Lookup(n) == nil {
			t.Errorf("there is no --%s", n)
		}
	}
}

// The manual has every command, flag and exit code, and no line that roff would
// take for a request.
func TestManual(t *testing.T) {
	a := &App{Environment: setup.Environment{Env: func(string) string { return "" }}}
	root := a.root()
	var b strings.Builder
	manual(&b, root)
	for _, want := range []string{".TH PAWL 1", ".SS pawl sessions search WORDS", `\-\-permission\-mode`, ".B 124", ".SS pawl config set KEY VALUE", `\-m, \-\-model VALUE`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q", want)
		}
	}
	known := map[string]bool{".TH": true, ".SH": true, ".SS": true, ".TP": true, ".B": true, ".I": true, ".PP": true, ".br": true}
	for l := range strings.Lines(b.String()) {
		if word, _, _ := strings.Cut(strings.TrimSpace(l), " "); strings.HasPrefix(l, ".") && !known[word] || strings.HasPrefix(l, "'") {
			t.Errorf("roff would take this as a request: %s", l)
		}
	}
	for in, want := range map[string]string{".x": `\&.x`, "'x": `\&'x`, `a\b`: `a\eb`, "-": `\-`, "…": `\[u2026]`} {
		if got := roff(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// A boolean flag is shown by its name.
func TestHelpOfBooleans(t *testing.T) {
	a := &App{Environment: setup.Environment{Env: func(string) string { return "" }}}
	for _, args := range [][]string{{"run", "--help"}, {"doctor", "--help"}, {"help", "flags"}} {
		root := a.root()
		wrapHelp(root, func() int { return 0 })
		var b strings.Builder
		root.SetOut(&b)
		root.SetArgs(args)
		if err := root.Execute(); err != nil || strings.Contains(b.String(), "true|false") || !strings.Contains(b.String(), "--offline ") && !strings.Contains(b.String(), "--autofix ") {
			t.Errorf("%q, %v:\n%s", args, err, b.String())
		}
	}
}
