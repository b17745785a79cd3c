package cli

import (
	"bytes"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 14.2: with --branches each task's change is a branch on the person's commit, the
// whole is another one, and neither the files nor the index nor HEAD change.
func TestSwarmBranches(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	web := httptest.NewServer(&llmtest.Server{Reply: func(_ int, body []byte) llmtest.Turn {
		return writes(taskOf(body), bytes.Count(body, []byte(`"tool_use"`)), body)
	}})
	t.Cleanup(web.Close)
	git := func(args ...string) string {
		t.Helper()
		c := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=p", "-c", "user.email=p@x"}, args...)...)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	graph := filepath.Join(t.TempDir(), "graph.yaml")
	must.Write(t, graph, makesFiles("one")+"- {id: two, goal: write two.txt, accept: [test -f two.txt], after: [one]}\n")
	run := func() string {
		out, _ := pawl(t, dir, home, []string{"ANTHROPIC_API_KEY=test-key-000000", "ANTHROPIC_BASE_URL=" + web.URL},
			"swarm", "run", graph, "--branches", "-m", "anthropic/claude-script", "--permission-mode", "yolo").CombinedOutput()
		return string(out)
	}
	if out := run(); !strings.Contains(out, "is not the top folder of a git repository") {
		t.Error(out)
	}
	git("init", "-q", "-b", "main")
	must.Write(t, filepath.Join(dir, "old.txt"), "old\n")
	git("add", ".")
	git("commit", "-qm", "first")
	// A hook that must not run.
	must.WriteMode(t, filepath.Join(dir, ".git", "hooks", "reference-transaction"), "#!/bin/sh\ntouch "+filepath.Join(home, "ran")+"\n", 0o700)
	before := git("rev-parse", "HEAD")
	out := run()
	if !strings.Contains(out, "your files are as they were; 3 branches") {
		t.Fatal(out)
	}
	if status := git("status", "--porcelain"); status != "" || git("rev-parse", "HEAD") != before || git("branch", "--show-current") != "main" {
		t.Errorf("%q", status)
	}
	if _, err := os.Stat(filepath.Join(home, "ran")); err == nil {
		t.Error("a hook ran")
	}
	for _, b := range strings.Fields(git("for-each-ref", "--format=%(refname:short)", "refs/heads/pawl")) {
		want := map[string]string{"one": "one.txt", "two": "two.txt"}[b[strings.LastIndex(b, "/")+1:]]
		if want == "" {
			want = "one.txt\ntwo.txt"
		}
		if got := git("diff", "--name-only", before, b); got != want || git("rev-parse", b+"^") != before {
			t.Errorf("%s changes %q, want %q", b, got, want)
		}
	}
	git("fsck", "--strict", "--no-dangling")
}
