//go:build linux

package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/frontend/web"
)

// SPEC 21.3, 14.2: a swarm that paused is continued from a browser with a larger budget; its
// result is written, and undone from there.
func TestServeResumesASwarm(t *testing.T) {
	dir := t.TempDir()
	home, err := os.MkdirTemp("", "pawl-home-") // a socket's path must be short
	must.Do(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	for name, text := range map[string]string{
		filepath.Join(home, ".config/pawl/config.json"): `{"mode": "yolo", "sandbox": "off", "models": {"anthropic/claude-script": {"price": {"input": 1, "output": 10, "cache_read": 0.1, "cache_write": 1.25}}}}`,
		filepath.Join(dir, "graph.yaml"):                makesFiles("one", "two", "three"),
	} {
		must.Write(t, name, text)
	}
	api := httptest.NewServer(&llmtest.Server{Reply: func(_ int, body []byte) llmtest.Turn {
		turn := writes(taskOf(body), strings.Count(string(body), `"tool_result"`), body)
		turn.Usage = llm.Usage{Known: true, Input: 40_000, Output: 1000} // $0.05
		return turn
	}})
	t.Cleanup(api.Close)
	env := []string{"TERM=xterm-256color", "ANTHROPIC_API_KEY=test-key-000000", "ANTHROPIC_BASE_URL=" + api.URL, "PAWL_MODEL=anthropic/claude-script"}
	first := pawl(t, dir, home, env, "swarm", "run", "graph.yaml", "--json", "--max-budget-usd", "0.15")
	out, err := first.Output()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 9 {
		t.Fatal(err, string(out))
	}
	var swarm struct{ ID string }
	must.Do(t, json.Unmarshal(out, &swarm))
	x := onTerminalWith(t, dir, home, env, "serve", "--listen", "127.0.0.1:0", "--rights", "steer")
	x.expect("Ctrl+C: end.")
	m := servedAt.FindStringSubmatch(x.text())
	if m == nil {
		t.Fatal(x.text())
	}
	a := asked(t, "POST", m[1]+"api/pair", "", `{"code":"`+m[2]+`"}`)
	cookie, _, _ := strings.Cut(a.Header.Get("Set-Cookie"), ";")
	_ = a.Body.Close()
	get := func(method, path, body string, into any) {
		t.Helper()
		a := asked(t, method, m[1]+"api/"+path, cookie, body)
		defer a.Body.Close()
		raw, err := io.ReadAll(a.Body)
		if err != nil || a.StatusCode != 200 || into != nil && json.Unmarshal(raw, into) != nil {
			t.Fatal(path, a.StatusCode, string(raw), err)
		}
	}
	at := "s/" + swarm.ID
	var board web.Board
	if get("GET", at+"/swarm", "", &board); board.Outcome != "paused" || board.Again == "" {
		t.Fatalf("%+v", board)
	}
	var hello web.Hello
	get("GET", "hello", "", &hello)
	get("POST", at+"/swarm/resume", `{"workers":2,"usd":10}`, nil)
	events := asked(t, "GET", m[1]+"api/events?after="+hello.Cursor, cookie, "")
	defer events.Body.Close()
	ended := false
	for l := bufio.NewScanner(events.Body); !ended && l.Scan(); {
		ended = strings.Contains(l.Text(), `"closed":true`) && strings.Contains(l.Text(), swarm.ID)
	}
	board = web.Board{}
	if get("GET", at+"/swarm", "", &board); board.Outcome != "verified" || board.Again != "" || board.Error != "" {
		t.Errorf("%+v", board)
	}
	files := func() (n int) {
		all, _ := filepath.Glob(filepath.Join(dir, "*.txt"))
		return len(all)
	}
	if n := files(); n != 3 {
		t.Errorf("%d files are written", n)
	}
	var plan web.UndoPlan
	get("GET", at+"/undo", "", &plan)
	get("POST", at+"/undo", `{"hash":"`+plan.Hash+`"}`, nil)
	if n := files(); n != 0 {
		t.Errorf("%d files are there after the undo", n)
	}
	x.send("\x03")
	x.ended(0)
}
