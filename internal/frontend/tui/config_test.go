package tui

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
)

func (r *testScreen) ownFile() settings.Config {
	return settings.Config{Path: filepath.Join(r.dir, "home", "config.json")}
}

func (r *testScreen) projectFile() settings.Config {
	return settings.Config{Path: settings.Project(r.dir), Project: true}
}

func (r *testScreen) settings() ([]settings.Setting, error) {
	return settings.Listed(r.ownFile(), r.projectFile(), func(string) string { return "" })
}

// pawl stands for `pawl config`.
func (r *testScreen) pawl(_ context.Context, out io.Writer, args ...string) error {
	f := r.ownFile()
	if i := slices.Index(args, "--project"); i > 0 {
		f = r.projectFile()
	}
	words := args[slices.Index(args, "--")+1:]
	fmt.Fprintln(out, "pawl "+strings.Join(args, " "))
	if args[1] == "unset" {
		return f.Unset(words[0])
	}
	return f.Set(words[0], words[1])
}

// /config is a form: a setting is found by words, one of a few values is picked, a switch is
// switched, others are typed; what is wrong is said and changes nothing; what the project's
// file may set stands apart and is written there.
//
// SPEC 17.5, 18.3
func TestConfigForm(t *testing.T) {
	r := newTestScreen(t, llmtest.New())
	r.start("")
	r.see("mode ask; /help")
	find := func(words, row string) {
		t.Helper()
		r.press("ctrl+u")
		r.say(words)
		r.see("❯ " + row)
		r.press("enter")
	}
	r.enter("/config ")
	r.see("settings: type to search")
	find("screen.theme", "screen.theme  not set")
	r.see("❯ (not set)")
	r.enter("contrast")
	r.see("screen.theme is set; new sessions use it")
	r.see("❯ screen.theme  contrast")
	find("screen.vim", "screen.vim  not set")
	r.see("❯ screen.vim  true")
	find("screen.vim", "screen.vim  true")
	r.see("❯ screen.vim  false")
	find("lsp.enable", "lsp.enable  true (default)")
	r.see("❯ lsp.enable  false")
	find("budget.usd", "budget.usd  not set")
	r.see("budget.usd, now not set. Type a value")
	r.enter("much")
	r.see("budget.usd takes a number and not a string")
	r.press("enter")
	r.until("asked again", func(seen string) bool { return strings.Count(seen, "Type a value") == 2 })
	r.enter("7")
	r.see("❯ budget.usd  7")
	find("screen.theme", "screen.theme  contrast")
	r.see("❯ contrast")
	r.press("home")
	r.press("enter")
	r.see("❯ screen.theme  not set")
	find("only restrict deny", "permissions.deny  not set")
	r.see("permissions.deny, now not set")
	r.enter("bash(git push *)")
	r.see(`❯ permissions.deny  ["bash(git push *)"]`)
	r.press("esc")
	r.see("pawl config set --project -- permissions.deny")
	for path, want := range map[string]string{
		r.ownFile().Path:     `"screen": {"vim": false}, "lsp": {"enable": false}, "budget": {"usd": 7}`,
		r.projectFile().Path: `"permissions": {"deny": ["bash(git push *)"]}`,
	} {
		b, err := os.ReadFile(path)
		if got := strings.Join(strings.Fields(string(b)), " "); err != nil || got != "{ "+want+" }" {
			t.Errorf("%s: %s, %v", path, got, err)
		}
	}
}
