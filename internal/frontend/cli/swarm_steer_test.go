package cli

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/nats/natstest"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 14.2: people steer single tasks of a swarm from another process: a running agent is
// told something, a task gets another goal, one is left out, a result is looked at and
// accepted; what makes no sense is refused, and a swarm that does not run learns of it later.
func TestSwarmIsSteered(t *testing.T) {
	r := &runningSwarm{t: t, dir: t.TempDir(), home: t.TempDir()}
	graph := makesFiles("one", "two", "three")
	must.Write(t, filepath.Join(r.dir, "graph.yaml"), graph)
	waits, goOn := make(chan string, 16), make(chan struct{})
	told, never := make(chan string, 16), make(chan struct{})
	web := httptest.NewServer(&llmtest.Server{Reply: func(_ int, body []byte) llmtest.Turn {
		id, n := taskOf(body), bytes.Count(body, []byte(`"tool_use"`))
		if id == "one" && n == 0 {
			waits <- id
			<-goOn
		}
		if id == "two" && !bytes.Contains(body, []byte("in green")) || id == "three" {
			waits <- id
			return llmtest.Turn{Text: "I think", Wait: never}
		}
		if bytes.Contains(body, []byte("be quick about it")) {
			told <- string(body)
		}
		return writes(id, n, body)
	}})
	t.Cleanup(web.Close)
	t.Cleanup(func() { close(never) })
	r.env = []string{"ANTHROPIC_API_KEY=test-key-000000", "ANTHROPIC_BASE_URL=" + web.URL}
	start := func(args ...string) {
		r.run = r.pawl(append(append([]string{"swarm"}, args...), "-m", "anthropic/claude-script", "--sandbox", "off", "--permission-mode", "yolo")...)
		r.run.Stdout, r.run.Stderr = &r.said, &r.said
		must.Do(t, r.run.Start())
		t.Cleanup(func() { _ = r.run.Process.Kill() })
	}
	does := func(want string, args ...string) {
		t.Helper()
		out, err := r.pawl(append([]string{"swarm"}, args...)...).CombinedOutput()
		if !strings.Contains(string(out), want) {
			t.Errorf("%q: %v: %s", args, err, out)
		}
	}
	start("run", "graph.yaml", "--review")
	for range 3 {
		<-waits
	}
	does("task one: the message is sent", "message", "one", "be", "quick about it")
	does("no task \"oen\"", "message", "oen", "x")
	does("there is no result to accept", "accept", "one")
	does("task two: it has another goal", "edit", "two", "write two.txt in green")
	does("task three: it is cancelled", "cancel", "--task", "three")
	close(goOn)
	<-told
	for _, id := range []string{"one", "two"} {
		for { // until the result is there
			out, _ := r.pawl("swarm", "status").CombinedOutput()
			if strings.Contains(string(out), "accept or retry "+id) {
				break
			}
			if r.run.ProcessState != nil {
				t.Fatalf("it ended: %s", r.said.String())
			}
		}
	}
	does("+x", "diff", "one")
	does("has no result that changes files", "diff", "three")
	must.Do(t, r.run.Process.Kill())
	_ = r.run.Wait()
	does("task one: its result is merged; no process runs the swarm: pawl swarm resume", "accept", "one")
	start("resume")
	does("task two: its result is merged", "accept", "two")
	if err := r.run.Wait(); err != nil {
		t.Errorf("%v: %s", err, r.said.String())
	}
	for name, want := range map[string]bool{"one.txt": true, "two.txt": true, "three.txt": false} {
		if _, err := os.Stat(filepath.Join(r.dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	does("has ended: verified", "retry", "two")
	if out, err := exec.Command("ls", "-A", filepath.Join(r.home, ".local", "share", "pawl-swarms")).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("left: %s %v", out, err)
	}
}

// SPEC 14.6: the changes of a task are shown on a machine that has neither the swarm's log
// nor its trees.
func TestSwarmDiffElsewhere(t *testing.T) {
	url := natstest.Server(t).ClientURL()
	web := httptest.NewServer(&llmtest.Server{Reply: func(_ int, body []byte) llmtest.Turn {
		return writes(taskOf(body), bytes.Count(body, []byte(`"tool_use"`)), body)
	}})
	t.Cleanup(web.Close)
	dir, home := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "graph.yaml"), []byte(makesFiles("one")), 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(dir, home string, args ...string) *exec.Cmd {
		return pawl(t, dir, home, []string{"ANTHROPIC_API_KEY=test-key-000000", "ANTHROPIC_BASE_URL=" + web.URL}, args...)
	}
	for _, c := range []*exec.Cmd{
		at(t.TempDir(), t.TempDir(), "worker", "--nats", url, "-m", "anthropic/claude-script", "--sandbox", "off"),
		at(dir, home, "swarm", "run", "graph.yaml", "--nats", url, "-m", "anthropic/claude-script", "--sandbox", "off", "--review"),
	} {
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	}
	var r struct{ ID string }
	for out := []byte(nil); !bytes.Contains(out, []byte(`"review":true`)); {
		out, _ = at(dir, home, "swarm", "status", "--json").Output()
		_ = json.Unmarshal(out, &r) // there is none yet
	}
	for task, want := range map[string]string{"one": "+x", "two": "has no result that changes files"} {
		out, err := at(t.TempDir(), t.TempDir(), "swarm", "diff", task, "--nats", url, "--swarm", r.ID).CombinedOutput()
		if !strings.Contains(string(out), want) || (err == nil) != (task == "one") {
			t.Errorf("%s: %s%v", task, out, err)
		}
	}
}
