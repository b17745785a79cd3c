package cli

import (
	"encoding/json"
	"errors"
	"math"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
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
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
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
		if want != 0 && (!strings.Contains(errs.String(), "the budget of $0.35 is used up") || !strings.Contains(errs.String(), "pawl swarm resume")) {
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
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
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
