//go:build unix

package cli

import (
	"bufio"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/store/sqlite"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 4.8, 4.11, 13.3: pawl is killed while a check runs. The check's
// processes go with it, and the session that is taken up has a closed turn with
// nothing proven.
func TestKilledDuringCheck(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(&llmtest.Server{Reply: func(n int, _ []byte) llmtest.Turn {
		if n == 0 {
			return llmtest.Use("write", `{"path":"a.c","content":"x"}`)
		}
		return llmtest.Say("All tests pass.")
	}})
	defer web.Close()
	home, dir := t.TempDir(), t.TempDir()
	fifo := filepath.Join(dir, "alive")
	must.Do(t, syscall.Mkfifo(fifo, 0o600))
	for name, text := range map[string]string{
		filepath.Join(dir, "check.sh"):                        "exec 9>alive; echo begun; sleep 1000 & wait",
		filepath.Join(home, ".config", "pawl", "config.json"): `{"checks": [{"command": "sh check.sh"}]}`,
	} {
		must.Write(t, name, text)
	}
	gone := make(chan error, 1)
	go func() { // the end of file comes when no process of the check is left
		_, err := os.ReadFile(fifo)
		gone <- err
	}()
	env := []string{"ANTHROPIC_API_KEY=test-key-000000", "ANTHROPIC_BASE_URL=" + web.URL}
	run := func(args ...string) []string {
		return append([]string{"run", "--trust", "--output-format", "stream-json", "-m", "anthropic/claude-script"}, args...)
	}
	cmd := pawl(t, dir, home, env, run("change it")...)
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // where the test fails before
	var line struct {
		Type, Session string
		Body          struct{ Text string }
	}
	read := bufio.NewScanner(out)
	read.Buffer(nil, 8<<20)
	for !strings.Contains(line.Body.Text, "begun") && read.Scan() {
		line.Body.Text = ""
		must.Do(t, json.Unmarshal(read.Bytes(), &line))
	}
	if line.Type != "output_delta" {
		t.Fatalf("the check did not begin: %+v", line)
	}
	must.Do(t, cmd.Process.Kill())
	for read.Scan() { // to its end
	}
	_ = cmd.Wait() // killed
	if err := <-gone; err != nil {
		t.Error(err)
	}

	if out, err := pawl(t, dir, home, env, run("--resume", line.Session, "go on")...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	st := must.Get(sqlite.Open(t.Context(), filepath.Join(home, ".local", "state", "pawl", "pawl.db"), sqlite.Options{}))(t)
	defer st.Close()
	var kinds []string
	for e, err := range st.Read(t.Context(), line.Session, 0) {
		must.Do(t, err)
		switch b := e.Body.(type) {
		case event.Checking, event.Checked, event.Resumed, event.Prompted:
			kinds = append(kinds, b.Kind())
		case event.Ended:
			kinds = append(kinds, string(b.End))
		}
	}
	if got := strings.Join(kinds, " "); got != "prompted checking interrupted resumed prompted done" {
		t.Errorf("the log has %s", got)
	}
}
