package cli

import (
	"encoding/json"
	"errors"
	"math"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 14.2, 8.1: a budget that is reached pauses a swarm and is named. What is merged
// can be written meanwhile. With a larger budget the swarm goes on, no task has lost a
// try, and the report says what the server counted.
func TestSwarmBudgetReachedAndRaised(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	conf := filepath.Join(home, ".config", "pawl", "config.json")
	for name, text := range map[string]string{
		conf:                             `{"models": {"anthropic/claude-script": {"price": {"input": 1, "output": 10, "cache_read": 0.1, "cache_write": 1.25}}}}`,
		filepath.Join(dir, "graph.yaml"): makesFiles("one", "two", "three", "four", "five", "six"),
	} {
		must.Write(t, name, text)
	}
	var served atomic.Int64
	web := httptest.NewServer(&llmtest.Server{Reply: func(_ int, body []byte) llmtest.Turn {
		served.Add(1)
		n := 0
		if strings.Contains(string(body), `"tool_result"`) {
			n = 1
		}
		turn := writes(taskOf(body), n, body)
		turn.Usage = llm.Usage{Known: true, Input: 40_000, Output: 1000} // $0.05
		return turn
	}})
	t.Cleanup(web.Close)
	env := []string{"ANTHROPIC_API_KEY=test-key-000000", "ANTHROPIC_BASE_URL=" + web.URL}
	run := func(want int, args ...string) (out string) {
		t.Helper()
		c := pawl(t, dir, home, env, append(append([]string{"swarm"}, args...), "-m", "anthropic/claude-script", "--sandbox", "off", "--permission-mode", "yolo", "--json")...)
		var errs strings.Builder
		c.Stderr = &errs
		b, err := c.Output()
		code := 0
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			code = exit.ExitCode()
		}
		if code != want {
			t.Fatalf("%v: exit %d, want %d: %s%s", args, code, want, b, errs.String())
		}
		if want != 0 && (!strings.Contains(errs.String(), "the budget of $0.35") || !strings.Contains(errs.String(), "pawl swarm resume")) {
			t.Errorf("%v: it does not say why, or what to do: %s", args, errs.String())
		}
		return string(b)
	}
	exists := func() (n int) {
		all, _ := filepath.Glob(filepath.Join(dir, "*.txt"))
		return len(all)
	}
	type report struct {
		Outcome, Fault string
		USD            float64
		Known          bool `json:"usd_known"`
		Counts         map[string]int
		Tasks          []struct{ Tries int }
	}
	read := func(text string) (r report) {
		t.Helper()
		must.Do(t, json.Unmarshal([]byte(text), &r))
		if usd := float64(served.Load()) * 0.05; math.Abs(r.USD-usd) > 1e-9 || !r.Known {
			t.Errorf("the report says $%.4f (known: %v), the server counted $%.4f", r.USD, r.Known, usd)
		}
		for _, k := range r.Tasks {
			if k.Tries != 0 {
				t.Errorf("a task lost %d tries", k.Tries)
			}
		}
		return r
	}
	r := read(run(9, "run", "graph.yaml", "--workers", "2", "--max-budget-usd", "0.35"))
	if r.Outcome != "paused" || r.Fault != "budget" || r.Counts["merged"] == 0 || r.Counts["merged"] == 6 || r.USD > 0.351 || exists() != 0 {
		t.Fatalf("%+v, %d files", r, exists())
	}
	r = read(run(9, "resume", "--max-budget-usd", "0.35", "--write-partial"))
	if n := exists(); n == 0 || n != r.Counts["merged"] || r.USD > 0.351 {
		t.Errorf("%d files of %d merged tasks", n, r.Counts["merged"])
	}
	r = read(run(0, "resume", "--max-budget-usd", "10", "--workers", "4"))
	if r.Outcome != "verified" || exists() != 6 {
		t.Errorf("%+v, %d files", r, exists())
	}
}

// SPEC 14.2: a swarm whose time is up pauses, says so, and goes on when it is resumed.
func TestSwarmTimeIsUp(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	must.Write(t, filepath.Join(dir, "graph.yaml"), makesFiles("one", "two"))
	goOn := make(chan struct{})
	web := httptest.NewServer(&llmtest.Server{Reply: func(_ int, body []byte) llmtest.Turn {
		<-goOn
		n := 0
		if strings.Contains(string(body), `"tool_result"`) {
			n = 1
		}
		return writes(taskOf(body), n, body)
	}})
	t.Cleanup(web.Close)
	run := func(want int, args ...string) string {
		t.Helper()
		c := pawl(t, dir, home, []string{"ANTHROPIC_API_KEY=test-key-000000", "ANTHROPIC_BASE_URL=" + web.URL},
			append(append([]string{"swarm"}, args...), "-m", "anthropic/claude-script", "--sandbox", "off", "--permission-mode", "yolo", "--json")...)
		out, err := c.CombinedOutput()
		if c.ProcessState.ExitCode() != want {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
		return string(out)
	}
	out := run(9, "run", "graph.yaml", "--timeout", "1s")
	if !strings.Contains(out, `"fault":"time"`) || !strings.Contains(out, "longer than the 1s of --timeout; to continue: pawl swarm resume") {
		t.Errorf("%s", out)
	}
	close(goOn)
	if out := run(0, "resume"); !strings.Contains(out, `"outcome":"verified"`) || !strings.Contains(out, `"tries":0`) {
		t.Errorf("%s", out)
	}
}

// SPEC 14.2, 8.1: after failures, retries, a refusal of the provider and a kill of the
// coordinator, the report, the account that status reads and `pawl stats` say what the
// server counted, to the cent; of what was in flight they say that it is not known.
func TestSwarmMoneyAgrees(t *testing.T) {
	for name, kills := range map[string]bool{"nothing is killed": false, "the coordinator is killed": true} {
		t.Run(name, func(t *testing.T) { swarmMoney(t, kills) })
	}
}

func swarmMoney(t *testing.T, kills bool) {
	dir, home := t.TempDir(), t.TempDir()
	conf := filepath.Join(home, ".config", "pawl", "config.json")
	for name, text := range map[string]string{
		conf:                             `{"models": {"anthropic/claude-script": {"price": {"input": 1, "output": 10, "cache_read": 0.1, "cache_write": 1.25}}}}`,
		filepath.Join(dir, "graph.yaml"): makesFiles("one", "two", "three", "four"),
	} {
		must.Write(t, name, text)
	}
	var served, two, three, four atomic.Int64
	waits, never := make(chan struct{}), make(chan struct{})
	web := httptest.NewServer(&llmtest.Server{Reply: func(_ int, body []byte) llmtest.Turn {
		id, n := taskOf(body), strings.Count(string(body), `"tool_result"`)
		turn := writes(id, n, body)
		switch {
		case id == "two" && two.Add(1) == 1:
			turn = llmtest.Say("I did it") // it did not
		case id == "three" && three.Add(1) == 1:
			return llmtest.Turn{Err: errors.New("try later")}
		case id == "four" && n == 1 && kills && four.Add(1) == 1:
			close(waits)
			return llmtest.Turn{Text: "I think", Wait: never}
		}
		served.Add(1)
		turn.Usage = llm.Usage{Known: true, Input: 40_000, Output: 1000} // $0.05
		return turn
	}})
	t.Cleanup(web.Close)
	t.Cleanup(func() { close(never) })
	command := func(args ...string) *exec.Cmd {
		return pawl(t, dir, home, []string{"ANTHROPIC_API_KEY=test-key-000000", "ANTHROPIC_BASE_URL=" + web.URL}, args...)
	}
	run := []string{"-m", "anthropic/claude-script", "--sandbox", "off", "--permission-mode", "yolo", "--json", "--workers", "4", "--max-budget-usd", "100"}
	read := func(into any, args ...string) {
		t.Helper()
		c := command(args...)
		var errs strings.Builder
		c.Stderr = &errs
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%v: %v: %s%s", args, err, out, errs.String())
		}
		if err := json.Unmarshal(out, into); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	args := []string{"swarm", "run", "graph.yaml"}
	if kills {
		c := command(append(args, run...)...)
		must.Do(t, c.Start())
		<-waits
		_ = c.Process.Kill()
		_ = c.Wait()
		args = []string{"swarm", "resume"}
	}
	type report struct {
		ID, Outcome string
		USD         float64
		Known       bool     `json:"usd_known"`
		Most        *float64 `json:"usd_most"`
	}
	var r, status report
	read(&r, append(args, run...)...)
	read(&status, "swarm", "status", "--json")
	counted := float64(served.Load()) * 0.05
	usd := counted
	cent := func(a, b float64) bool { return math.Abs(a-b) < 0.005 }
	if kills && r.Most != nil && r.USD < usd && usd <= *r.Most { // other replies were on their way when it was killed: "up to"
		usd = r.USD
	}
	if r.Outcome != "verified" || !cent(r.USD, usd) || r.Known == kills || r.Most == nil || kills == cent(*r.Most, r.USD) {
		t.Errorf("the report says %+v, the server counted $%.4f", r, usd)
	}
	if status.USD != r.USD || status.Known != r.Known {
		t.Errorf("the status says %+v, the report %+v", status, r)
	}
	for _, args := range [][]string{{"stats", "--json"}, {"stats", "--json", r.ID}} {
		var s struct {
			Models []struct{ USD float64 }
			All    struct {
				USD     float64
				Unknown int
			}
		}
		read(&s, args...)
		models := 0.0
		for _, m := range s.Models {
			models += m.USD
		}
		// A worker may have written a reply down that its coordinator had not heard of when it was killed.
		if s.All.USD < usd-0.005 || s.All.USD > counted+0.005 || !cent(models, s.All.USD) || (s.All.Unknown > 0) != kills {
			t.Errorf("pawl %v says %+v, the report $%.4f, the server counted $%.4f", args, s, usd, counted)
		}
	}
}
