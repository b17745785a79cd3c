package cli

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
)

// gitForms are calls of git that only read, and what each must show.
var gitForms = []struct{ line, want string }{
	{"git diff", "-two\n+three\nexit code 0"},
	{"git diff --stat", " f.txt | 2 +-\n"},
	{"git diff --cached", "+staged\nexit code 0"},
	{"git diff HEAD~1", "-one\n+three\n"},
	{"git diff HEAD~1..HEAD", "-one\n+two\n"},
	{"git diff --exit-code", "+three\nexit code 1"},
	{"git diff --word-diff", "[-two-]{+three+}"},
	{"git log -p", "-one\n+two\n"},
	{"git log --stat -1", " f.txt | 2 +-\n"},
	{"git show", "-one\n+two\n"},
	{"git show HEAD~1:f.txt", "one\nexit code 0"},
	{"git stash list -p", "+stashed\n"},
	{"git stash show -p", "+stashed\n"},
	{"git diff | head -20", "+three\nexit code 0"},
	{"git diff | cat", "+three\nexit code 0"},
	{"set -eu; git diff", "+three\nexit code 0"},
	{"git -C sub diff", "+three\n"},
	{"cd sub && git diff -- ../f.txt", "+three\n"},
	{"git --no-pager diff -- f.txt", "+three\nexit code 0"},
	{"git diff --no-index f.txt g.txt", "-three\n+staged\nexit code 1"},
	{"git diff-index -p HEAD", "+three\n"},
	{"git diff-files -p", "+three\nexit code 0"},
	{"git blame f.txt", "three\nexit code 0"},
	{"git status --short", "A  g.txt\n"},
}

// SPEC 16.6, 5.1: a git that only reads shows the same in every mode, with and without
// the sandbox, and runs no program that a configuration names.
func TestGitForms(t *testing.T) {
	t.Parallel()
	for nth, configured := range []string{"nothing", "the repository's programs", "the person's programs"} {
		dir, home, ran := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "ran")
		git := func(args ...string) {
			t.Helper()
			processtest.RunGit(t, dir, args...)
		}
		write := func(name, text string) {
			t.Helper()
			must.WriteMode(t, filepath.Join(dir, name), text, 0o700)
		}
		must.Do(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
		git("init", "-q")
		write(".gitattributes", "f.txt diff=d merge=d\n")
		for _, text := range []string{"one\n", "two\n"} {
			write("f.txt", text)
			git("add", ".")
			git("commit", "-qm", text)
		}
		write("f.txt", "stashed\n")
		git("stash", "-q")
		write("g.txt", "staged\n")
		git("add", "g.txt")
		write("f.txt", "three\n")
		if configured != "nothing" {
			trap := filepath.Join(t.TempDir(), "trap.sh")
			must.WriteMode(t, trap, "#!/bin/sh\necho \"$@\" >>"+ran+"\ncat \"$2\"\n", 0o700)
			for _, key := range []string{"diff.external", "diff.d.command", "diff.d.textconv", "merge.d.driver", "gpg.program"} {
				if configured == "the repository's programs" {
					git("config", key, trap)
				} else {
					git("config", "--file", filepath.Join(home, ".gitconfig"), key, trap)
				}
			}
		}
		for i, mode := range []string{"plan", "ask", "accept-edits", "auto", "yolo"} {
			sandbox := []string{"", "off"}[(i+nth)%2] // each with each mode, and each with each configuration
			t.Run(fmt.Sprintf("%s in %s with sandbox %q", configured, mode, sandbox), func(t *testing.T) {
				for i, text := range gitResults(t, dir, home, "--permission-mode", mode, "--sandbox", sandbox) {
					if f := gitForms[i]; !strings.Contains(text, f.want) || strings.Contains(text, "fatal:") {
						t.Errorf("%s shows %q, not %q", f.line, text, f.want)
					}
				}
				if b, err := os.ReadFile(ran); err == nil {
					t.Errorf("a program of a configuration ran: %s", b)
				}
			})
		}
	}
}

// gitResults runs all gitForms in one turn of a session, and returns their results.
func gitResults(t *testing.T, dir, home string, args ...string) []string {
	t.Helper()
	web := &llmtest.Server{Reply: func(n int, _ []byte) llmtest.Turn {
		if n > 0 {
			return llmtest.Say("done")
		}
		var calls []string
		for _, f := range gitForms {
			in, err := json.Marshal(map[string]string{"command": f.line})
			if err != nil {
				t.Error(err)
			}
			calls = append(calls, "bash", string(in))
		}
		return llmtest.Use(calls...)
	}}
	srv := httptest.NewServer(web)
	defer srv.Close()
	if args[3] == "" {
		args = args[:2]
	}
	cmd := pawl(t, dir, home, []string{"ANTHROPIC_API_KEY=test-key-000000", "ANTHROPIC_BASE_URL=" + srv.URL, "PAWL_MODEL=anthropic/claude-script"},
		append(append([]string{"run"}, args...), "look at the changes")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	bodies := web.Bodies()
	var request struct {
		Messages []struct {
			Content json.RawMessage
		}
	}
	must.Do(t, json.Unmarshal(bodies[len(bodies)-1], &request))
	var out []string
	for _, m := range request.Messages {
		var parts []struct {
			Type    string
			Content json.RawMessage
		}
		_ = json.Unmarshal(m.Content, &parts) // some are plain text
		for _, p := range parts {
			if p.Type != "tool_result" {
				continue
			}
			var text string
			var blocks []struct{ Text string }
			if json.Unmarshal(p.Content, &text) != nil {
				must.Do(t, json.Unmarshal(p.Content, &blocks))
				for _, b := range blocks {
					text += b.Text
				}
			}
			out = append(out, text)
		}
	}
	if len(out) != len(gitForms) {
		t.Fatalf("%d results of %d calls", len(out), len(gitForms))
	}
	return out
}
