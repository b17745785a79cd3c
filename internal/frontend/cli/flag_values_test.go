package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
)

// SPEC 17.5: a wrong value of a flag is reported with exit code 2 before the
// environment is looked at: here nothing can be read, and no model is configured.
func TestWrongFlagValues(t *testing.T) {
	dir := t.TempDir()
	notAFolder := filepath.Join(dir, "file")
	must.Do(t, os.WriteFile(notAFolder, nil, 0o600))
	for line, want := range map[string]string{
		"run --permission-mode lazy hi":                       "--permission-mode: ",
		"run --effort enormous hi":                            "use minimal, low, medium, high, xhigh or max",
		"run --sandbox elsewhere hi":                          "use workspace, read-only or off",
		"run --route away hi":                                 "--route: ",
		"run --budget endless hi":                             "--budget: ",
		"run --retry-for soon hi":                             "--retry-for: ",
		"run --max-budget-usd nan hi":                         "use a number from 0 on",
		"run --max-budget-usd cheap hi":                       `"cheap" is not a number`,
		"run --max-turns -1 hi":                               "use a number from 0 on",
		"run --timeout ten hi":                                "such as 90s or 10m",
		"run --timeout -1s hi":                                "use a number from 0 on",
		"run --allow bash( hi":                                "--allow: ",
		"run --allow read --deny bash( hi":                    "--deny: ",
		"run --session-id x hi":                               "--session-id: ",
		"run --session-id abcd-efgh -c hi":                    "--fork-session",
		"run --fork-session hi":                               "--continue or --resume",
		"run --output-format xml hi":                          "use text, json, stream-json or claude-stream-json",
		"run --input-format xml":                              "use text or stream-json",
		"run --worktree=../x hi":                              "--worktree: ",
		"run --worktree":                                      "no prompt", // and no working tree is made
		"run --metrics-addr nowhere hi":                       "--metrics-addr: ",
		"run --until true --max-rounds 0 hi":                  "use a number from 1 on",
		"run --max-rounds 3 hi":                               "need --until",
		"run --until false||true hi":                          "--until: ",
		"run --json-schema {} --permission-mode lazy hi":      "--permission-mode: ",
		"repair --output-format claude-stream-json":           "is for pawl run",
		"repair --timeout -1s":                                "use a number from 0 on",
		"acp --permission-mode lazy":                          "--permission-mode: ",
		"mcp serve --budget endless":                          "--budget: ",
		"mcp add files --sandbox elsewhere -- npx":            "use workspace, read-only or off",
		"swarm run --permission-mode lazy graph.yaml":         "--permission-mode: ",
		"swarm plan --effort enormous do it":                  "use minimal, low, medium, high, xhigh or max",
		"worker --nats tls://localhost:1 --sandbox elsewhere": "use workspace, read-only or off",
		"sessions list --limit -3":                            "use a number from 0 on",
		"-p hi --permission-mode=lazy":                        "--permission-mode: ",
	} {
		var errs bytes.Buffer
		a := &App{Environment: setup.Environment{Err: &errs, Dir: notAFolder, Now: time.Now, Env: func(string) string { return "" }}, In: strings.NewReader(""), Out: &bytes.Buffer{}, Args: strings.Fields(line)}
		if code := Main(t.Context(), a); code != 2 || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: exit code %d: %s", line, code, errs.String())
		}
	}
	for _, args := range [][]string{
		{"run", "--add-dir", "nowhere", "hi"}, {"run", "--mcp-config", "nowhere.json", "hi"}, {"run", "--mcp-config", "{", "hi"}, {"run", "--plan", "nowhere.md", "hi"}, {"run", "--plugin-dir", "nowhere", "hi"}, {"run", "hi"},
	} {
		want := 2
		if args[1] == "hi" {
			want = 3 // only the model is missing
		}
		var errs bytes.Buffer
		a := &App{Environment: setup.Environment{Err: &errs, Dir: dir, Now: time.Now, Env: func(name string) string { return map[string]string{"HOME": dir}[name] }}, In: strings.NewReader(""), Out: &bytes.Buffer{}, Args: args}
		if code := Main(t.Context(), a); code != want {
			t.Errorf("%q: exit code %d: %s", args, code, errs.String())
		}
	}
	var errs bytes.Buffer // what is missing besides the model is told too
	a := &App{Environment: setup.Environment{Err: &errs, Dir: dir, Now: time.Now, Env: func(name string) string { return map[string]string{"HOME": dir}[name] }}, In: strings.NewReader(""), Out: &bytes.Buffer{}, Args: []string{"run", "look at @file, @missing.pdf:3 and @nobody"}}
	if code := Main(t.Context(), a); code != 3 || !strings.HasPrefix(errs.String(), "pawl: there is no file missing.pdf\n") {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
}
