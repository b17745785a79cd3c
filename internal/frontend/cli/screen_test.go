//go:build linux

package cli

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
)

// pawl opens the screen on a terminal: what was typed before it came is there,
// and the terminal is given back as it was.
//
// SPEC 18.3, 18.4
func TestScreenOnATerminal(t *testing.T) {
	x := onTerminalIn(t, t.TempDir(), t.TempDir(), "xterm-256color", func(int, []byte) llmtest.Turn {
		return llmtest.Say("a **friendly** answer")
	})
	x.send("typed ahead")
	x.expect("typed ahead") // as the terminal's own echo, or on the screen
	x.expect("ask")
	x.send("\r")
	x.expect("friendly")
	x.expect("1 model reply")
	x.send("\x04")
	x.expect("to continue this session: pawl --resume ")
	x.ended(0)
	if text := x.text(); strings.Contains(text, "\x1b[2J") || strings.Contains(text, "\x1b[?1049h") {
		t.Error("the screen was cleared or replaced")
	}
}

// The first start says what was found and what to try; a later one does not.
func TestFirstStart(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	for _, arg := range []string{"--plain", ""} {
		var args []string
		if arg != "" {
			args = append(args, arg)
		}
		x := onTerminalIn(t, dir, home, "xterm-256color", func(int, []byte) llmtest.Turn { return llmtest.Say("an answer") }, args...)
		x.expect("mode ask")
		x.send("hello\r")
		x.expect("1 model reply")
		x.send("\x04")
		x.ended(0)
		if first := arg != ""; strings.Contains(x.text(), "try: “fix the failing tests”") != first {
			t.Errorf("first %v:\n%s", first, x.text())
		}
	}
}

// SPEC 18.5: the environment's word on the theme comes before the setting's, and NO_COLOR
// before a setting.
func TestChosenTheme(t *testing.T) {
	for _, c := range []struct {
		env        map[string]string
		set, theme string
	}{
		{nil, "", "dark"}, {nil, "light", "light"}, {nil, "plain", "plain"},
		{map[string]string{"PAWL_THEME": "contrast"}, "light", "contrast"},
		{map[string]string{"NO_COLOR": "1"}, "light", "plain"},
		{map[string]string{"NO_COLOR": "1", "PAWL_THEME": "dark"}, "light", "dark"},
		{map[string]string{"PAWL_THEME": "solarized"}, "", "dark"},
		{map[string]string{"COLORFGBG": "0;15"}, "", "light"}, {map[string]string{"COLORFGBG": "0;15"}, "dark", "dark"},
	} {
		a := &App{
			Environment: setup.Environment{Env: func(name string) string {
				if name == "TERM" {
					return "xterm"
				}
				return c.env[name]
			}},
			Terminal: true,
		}
		if got := a.theme(settings.Screen{Theme: c.set}); got.Name != c.theme {
			t.Errorf("%v and %q: %s, want %s", c.env, c.set, got.Name, c.theme)
		}
	}
}
