package cli

import (
	"bufio"
	"bytes"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// runningSwarm is a swarm of the real program whose task "one" is done and whose task
// "two" waits for an answer that never comes.
type runningSwarm struct {
	t         *testing.T
	dir, home string
	env       []string
	run       *exec.Cmd
	said      bytes.Buffer
}

func startSwarm(t *testing.T) *runningSwarm {
	t.Helper()
	r := &runningSwarm{t: t, dir: t.TempDir(), home: t.TempDir()}
	must.Write(t, filepath.Join(r.dir, "graph.yaml"), makesFiles("one")+"- {id: two, goal: write two.txt, accept: [test -f two.txt], after: [one]}\n")
	waits, never := make(chan struct{}, 8), make(chan struct{})
	web := httptest.NewServer(&llmtest.Server{Reply: func(_ int, body []byte) llmtest.Turn {
		id := taskOf(body)
		if id == "two" {
			waits <- struct{}{}
			return llmtest.Turn{Text: "I think", Wait: never}
		}
		return writes(id, bytes.Count(body, []byte(`"tool_use"`)), body)
	}})
	t.Cleanup(web.Close)
	t.Cleanup(func() { close(never) })
	r.env = []string{"ANTHROPIC_API_KEY=test-key-000000", "ANTHROPIC_BASE_URL=" + web.URL}
	r.run = r.pawl("swarm", "run", "graph.yaml", "-m", "anthropic/claude-script", "--sandbox", "off", "--permission-mode", "yolo")
	r.run.Stdout, r.run.Stderr = &r.said, &r.said
	must.Do(t, r.run.Start())
	t.Cleanup(func() { _ = r.run.Process.Kill() })
	<-waits
	return r
}

func (r *runningSwarm) pawl(args ...string) *exec.Cmd {
	return pawl(r.t, r.dir, r.home, r.env, args...)
}

func (r *runningSwarm) says(out string, wants ...string) {
	r.t.Helper()
	for _, w := range wants {
		if !strings.Contains(out, w) {
			r.t.Errorf("%q is missing in:\n%s", w, out)
		}
	}
}

func (r *runningSwarm) trees() int {
	all, _ := filepath.Glob(filepath.Join(r.home, ".local", "share", "pawl-swarms", "*"))
	return len(all)
}

// SPEC 14.2: a second terminal follows a swarm that runs, and another ends it:
// its worker is stopped, its trees are removed, nothing is written.
func TestSwarmAttachAndCancel(t *testing.T) {
	r := startSwarm(t)
	attach := r.pawl("swarm", "attach")
	pipe := must.Get(attach.StdoutPipe())(t)
	var seen bytes.Buffer
	attach.Stderr = attach.Stdout
	must.Do(t, attach.Start())
	t.Cleanup(func() { _ = attach.Process.Kill() }) // where the test fails before
	lines := bufio.NewScanner(io.TeeReader(pipe, &seen))
	for !strings.Contains(seen.String(), "two: taken by w2") && lines.Scan() { // it follows
	}
	out, err := r.pawl("swarm", "cancel").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r.says(string(out), "is cancelled: 1 of 2 tasks were merged", "its trees are removed")
	for lines.Scan() { // to its end
	}
	if err := attach.Wait(); err != nil {
		t.Errorf("%v: %s", err, seen.String())
	}
	r.says(seen.String(), "2 tasks: the goal of the whole", "one: taken by w1", "one: done by w1", "one: merged", "two: released by w2", "swarm: cancelled")
	if err := r.run.Wait(); r.run.ProcessState.ExitCode() != 9 {
		t.Errorf("it ended as %v: %s", err, r.said.String())
	}
	r.says(r.said.String(), "cancelled: nothing was written", "**cancelled**")
	if _, err := os.Stat(filepath.Join(r.dir, "one.txt")); err == nil || r.trees() != 0 {
		t.Errorf("something was written, or %d trees are left", r.trees())
	}
	out, err = r.pawl("swarm", "resume").CombinedOutput()
	if err == nil {
		t.Error("a swarm that was cancelled goes on")
	}
	r.says(string(out), "was cancelled: run its graph again")
	out, err = r.pawl("swarm", "cancel").CombinedOutput()
	r.says(string(out), "is cancelled")
	if err != nil {
		t.Error(err)
	}
}

// A swarm whose process died is cancelled by who asks for it; its trees are kept
// where that is said.
func TestSwarmCancelAfterDeath(t *testing.T) {
	r := startSwarm(t)
	must.Do(t, r.run.Process.Kill())
	_ = r.run.Wait() // it was killed
	out, err := r.pawl("swarm", "attach").CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	r.says(string(out), "one: merged", "two: taken by w2", "w1 · write", "it does not run; to continue: pawl swarm resume")
	out, err = r.pawl("swarm", "cancel", "--keep-trees").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r.says(string(out), "is cancelled: 1 of 2 tasks were merged", "its trees are kept in ")
	if r.trees() != 1 {
		t.Errorf("%d trees", r.trees())
	}
	if out, err := r.pawl("swarm", "status").CombinedOutput(); err != nil || !strings.Contains(string(out), "cancelled") {
		t.Errorf("%v: %s", err, out)
	}
}
