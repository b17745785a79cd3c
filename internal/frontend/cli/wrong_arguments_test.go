package cli

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
)

// A command that lacks a word, or has one too many, says how it is used, and
// ends as one that is used wrongly.
func TestWrongNumberOfArguments(t *testing.T) {
	for _, args := range [][]string{
		{"sandbox"}, {"sandbox", "--"}, {"memory", "add"}, {"swarm", "plan"}, {"swarm", "status", "a", "b"}, {"swarm", "report", "a", "b"},
		{"swarm", "attach", "a", "b"}, {"swarm", "list", "a"}, {"worker", "a"}, {"swarm", "cancel", "a", "b"}, {"lsp", "restart", "a", "b"}, {"attach", "a", "b"},
	} {
		a := &App{Environment: setup.Environment{Err: io.Discard, Dir: t.TempDir(), Env: func(string) string { return "" }}, In: strings.NewReader(""), Out: io.Discard}
		root := a.root()
		root.SetArgs(args)
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		err := root.ExecuteContext(t.Context())
		if code, _ := exitCode(err); code != 2 || !strings.Contains(err.Error(), "usage: pawl "+args[0]) {
			t.Errorf("%q: %d %v", args, code, err)
		}
	}
}

// SPEC 17.6: an unknown subcommand names what is meant, whatever else its command takes.
func TestUnknownSubcommand(t *testing.T) {
	for line, want := range map[string]string{
		"mcp lst": "did you mean list?", "plugin ad x": "did you mean add?", "hooks lst": "did you mean list?", "trust stats": "did you mean status?",
		"memory forgt 1": "did you mean forget?", "lsp restrat x y": "did you mean restart?", "swarm rn x": "did you mean run?", "config gt model": "did you mean get?",
		"sessions lst": "did you mean list?", "trust x": "the commands are revoke, status", "run -p x": "which needs no -p",
	} {
		a := &App{Environment: setup.Environment{Err: io.Discard, Dir: t.TempDir(), Env: func(string) string { return "" }}, In: strings.NewReader(""), Out: io.Discard}
		root := a.root()
		args := strings.Fields(line)
		root.SetArgs(args)
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		err := root.ExecuteContext(t.Context())
		if code, _ := exitCode(err); code != 2 || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %d %v", line, code, err)
		}
	}
}

// What gives rights or signs in is a person's: a pawl that an agent started
// refuses it, also with --yes, and does nothing else.
func TestForPersonsOnly(t *testing.T) {
	for _, line := range []string{
		"login openrouter", "logout openrouter", "acp login", "config set model x", "config unset model", "trust --yes", "serve", "serve revoke x",
		"plugin add x --yes", "plugin update --yes", "plugin trust x --yes", "plugin remove x",
		"mcp add x -- true", "mcp add-json x {}", "mcp import claude", "mcp remove x", "mcp call x y", "mcp fetch x", "mcp accept x", "mcp login x", "mcp logout x",
	} {
		home := t.TempDir()
		env := map[string]string{"PAWL_JOB": "1", "HOME": home}
		a := &App{Environment: setup.Environment{Err: io.Discard, Dir: t.TempDir(), Env: func(k string) string { return env[k] }}, In: strings.NewReader("y\n"), Out: io.Discard}
		root := a.root()
		root.SetArgs(strings.Fields(line))
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		err := root.ExecuteContext(t.Context())
		words := strings.Fields(line)
		if code, _ := exitCode(err); code != 2 || !strings.Contains(err.Error(), "only a person can use pawl "+words[0]) {
			t.Errorf("%s: %d %v", line, code, err)
		}
		if left := must.Get(os.ReadDir(home))(t); len(left) > 0 {
			t.Errorf("%s: left %v", line, left)
		}
	}
}

// SPEC 14.6, 17.6: a list that could not be fetched is an error and no empty list.
func TestNoServerIsNoList(t *testing.T) {
	for _, line := range []string{"swarm list", "swarm list --json", "swarm machines --json"} {
		var out strings.Builder
		a := &App{Environment: setup.Environment{Err: io.Discard, Dir: t.TempDir(), Env: func(string) string { return "" }}, In: strings.NewReader(""), Out: &out}
		root := a.root()
		root.SetArgs(append(strings.Fields(line), "--nats", "nats://127.0.0.1:1"))
		root.SetErr(io.Discard)
		if err := root.ExecuteContext(t.Context()); err == nil || out.Len() > 0 {
			t.Errorf("%s: %v, and printed %q", line, err, out.String())
		}
	}
}
