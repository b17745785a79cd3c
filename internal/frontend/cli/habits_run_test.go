package cli

import (
	"cmp"
	"errors"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
)

// habit is a command line of the page for those who come from another agent.
type habit struct {
	line string
	args []string
}

// habits are the command lines that the page says work.
func habits(t *testing.T) (out []habit) {
	t.Helper()
	for _, part := range taken(t) {
		for _, m := range inTicks.FindAllStringSubmatch(part, -1) {
			if !slices.ContainsFunc(out, func(o habit) bool { return o.line == m[1] }) {
				out = append(out, habit{line: m[1], args: words(t, m[1])})
			}
		}
	}
	return out
}

// habitEnds are the lines that do not end with 0 here, and what they say.
var habitEnds = map[string]struct {
	code int
	says string
}{
	`pawl run --until "go test ./..." "fix it"`: {10, "go test ./..."}, // no module is there, so it never passes
	"pawl --approval-mode default":              {8, "nobody is there to allow it"},
}

// byBrowser are the lines that wait for a person's browser.
var byBrowser = []string{"pawl login openrouter"}

// typed is what some lines read.
var typed = map[string]string{
	"pawl run --input-format stream-json --output-format stream-json": `{"type":"user","message":{"role":"user","content":"go"}}`,
	"pawl login anthropic --key":                                      "sk-ant-api03-0000000000000000000000000000",
}

// SPEC 17.6: every line of the page is run with the real program: it does what it
// is for, and a prompt reaches the model. A line that opens a conversation is run
// with a prompt behind it, since no terminal is here.
func TestHabitsRun(t *testing.T) {
	t.Parallel()
	all := habits(t)
	if len(all) < 80 {
		t.Fatalf("only %d command lines were found on the page", len(all))
	}
	for _, h := range all {
		if slices.Contains(byBrowser, h.line) {
			continue
		}
		t.Run(strings.NewReplacer(" ", "_", "/", "_").Replace(strings.TrimPrefix(h.line, "pawl ")), func(t *testing.T) {
			t.Parallel()
			w := newHabitWorld(t)
			if strings.Contains(h.line, "latest") || strings.Contains(h.line, "undo") || strings.Contains(h.line, "stats") || strings.Contains(h.line, "sessions") || slices.ContainsFunc(h.args, func(a string) bool { return a == "-c" || a == "--continue" }) {
				if code, out := w.run("", "run", "begin"); code != 0 {
					t.Fatalf("%d\n%s", code, out)
				}
			}
			if strings.Contains(h.line, "FILE") {
				_, out := w.run("", "sessions", "export", "--format", "jsonl")
				writeAt(t, filepath.Join(w.dir, "FILE"), out)
				w.home = filepath.Join(w.home, "other")
			}
			if strings.Contains(h.line, " -w ") || strings.Contains(h.line, "--worktree") {
				processtest.Commit(t, w.dir)
			}
			before := w.asked.Load()
			prompted := len(h.args) > 0 && (h.args[0] == "run" || h.args[0] == "exec" || strings.Contains(h.line, " -p") || strings.Contains(h.line, `"`))
			args := h.args
			if !prompted && h.line != "pawl --version" && (len(args) == 0 || strings.HasPrefix(args[0], "-")) {
				prompted, args = true, append(slices.Clone(args), "-p", "go")
			}
			code, out := w.run(cmp.Or(typed[h.line], "from stdin\n"), args...)
			if want, other := habitEnds[h.line]; other {
				if code != want.code || !strings.Contains(out, want.says) {
					t.Errorf("exit code %d, want %d, %q:\n%s", code, want.code, want.says, out)
				}
				return
			}
			if code != 0 && !(w.foreign.Load() > 0 && code == 4) { // only one wire is spoken here
				t.Errorf("exit code %d:\n%s", code, out)
			}
			if prompted && w.asked.Load() == before && w.foreign.Load() == 0 {
				t.Errorf("the prompt did not reach the model:\n%s", out)
			}
		})
	}
}

// habitWorld is a person's machine: a project, a home, and a model.
type habitWorld struct {
	t              *testing.T
	dir, home, url string
	asked, foreign atomic.Int64 // requests, by Anthropic's wire and by others
}

func newHabitWorld(t *testing.T) *habitWorld {
	t.Helper()
	root := t.TempDir()
	w := &habitWorld{t: t, dir: filepath.Join(root, "proj"), home: filepath.Join(root, "home")}
	model := &llmtest.Server{Reply: func(int, []byte) llmtest.Turn {
		if w.asked.Add(1) == 1 {
			return llmtest.Use("write", `{"path":"a.txt","content":"one\n"}`)
		}
		return llmtest.Say("{}")
	}}
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/v1/messages") {
			w.foreign.Add(1)
			http.Error(rw, `{"error":{"message":"not here"}}`, http.StatusBadRequest)
			return
		}
		model.ServeHTTP(rw, r)
	}))
	t.Cleanup(srv.Close)
	w.url = srv.URL
	writeAt(t, filepath.Join(w.dir, "a.go"), "package a\n")
	writeAt(t, filepath.Join(w.home, ".config/opencode/opencode.json"), `{"mcp": {"x": {"type": "local", "command": ["true"]}}}`)
	return w
}

func (w *habitWorld) run(in string, args ...string) (code int, out string) {
	w.t.Helper()
	env := []string{"PAWL_MODEL=anthropic/claude-sonnet-4-5"}
	for _, name := range []string{"ANTHROPIC", "OPENAI", "GEMINI"} {
		env = append(env, name+"_API_KEY=sk-test-0000000000000000", name+"_BASE_URL="+w.url)
	}
	c := pawl(w.t, w.dir, w.home, env, args...)
	c.Stdin = strings.NewReader(in)
	raw, err := c.CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		w.t.Fatal(err)
	}
	return code, string(raw)
}

func writeAt(t *testing.T, name, text string) {
	t.Helper()
	must.Write(t, name, text)
}
