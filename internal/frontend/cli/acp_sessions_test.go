package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
)

// SPEC 17.2: an editor opens and copies sessions by the protocol. The slash commands that
// do it elsewhere are refused with that, and change nothing.
func TestEditorsSessions(t *testing.T) {
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	home := t.TempDir()
	in, w := io.Pipe()
	r, out := io.Pipe()
	a := &App{
		Environment: setup.Environment{Err: io.Discard, Dir: dir, Now: time.Now, Env: func(k string) string {
			return map[string]string{"HOME": home, "PATH": os.Getenv("PATH"), "PAWL_MODEL": "offline"}[k]
		}},
		In:      in,
		Out:     out,
		Signals: func() <-chan string { return nil },
	}
	ended := make(chan error, 1)
	go func() {
		err := a.serveEditor(t.Context(), &flags{Options: setup.Options{Sandbox: "off"}})
		_ = out.Close()
		ended <- err
	}()
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	ids := 0
	ask := func(method string, params map[string]any) (result map[string]any, seen string) {
		t.Helper()
		ids++
		b := must.Get(json.Marshal(map[string]any{"jsonrpc": "2.0", "id": ids, "method": method, "params": params}))(t)
		go func() { _, _ = w.Write(append(b, '\n')) }() // the answer is read meanwhile
		for lines.Scan() {
			var m struct {
				ID     any
				Result map[string]any
				Error  any
			}
			must.Do(t, json.Unmarshal(lines.Bytes(), &m))
			seen += lines.Text() + "\n"
			if m.ID == float64(ids) {
				if m.Error != nil {
					t.Fatalf("%s: %v", method, m.Error)
				}
				return m.Result, seen
			}
		}
		t.Fatalf("%s was not answered: %s", method, seen)
		return nil, ""
	}
	first, _ := ask("initialize", map[string]any{"protocolVersion": 1})
	if !strings.Contains(fmt.Sprint(first), "fork:map[]") {
		t.Errorf("%v", first)
	}
	at := map[string]any{"cwd": dir, "mcpServers": []any{}}
	made, _ := ask("session/new", at)
	id := made["sessionId"]
	say := func(id any, text string) string {
		_, seen := ask("session/prompt", map[string]any{"sessionId": id, "prompt": []any{map[string]any{"type": "text", "text": text}}})
		return seen
	}
	for c, want := range map[string]string{
		"/clear": "the editor opens the sessions", "/fork": "the editor opens the sessions", "/resume abc": "the editor opens the sessions",
		"/resume": "there is no other session", "/resume " + fmt.Sprint(id): "is open already",
	} {
		if seen := say(id, c); !strings.Contains(seen, want) {
			t.Errorf("%s: %s", c, seen)
		}
	}
	if seen := say(id, "/status"); !strings.Contains(seen, fmt.Sprint("session ", id)) {
		t.Errorf("another session is open: %s", seen)
	}
	say(id, "!echo one")
	copied, _ := ask("session/fork", map[string]any{"sessionId": id, "cwd": dir, "mcpServers": []any{}})
	other := copied["sessionId"]
	if other == id || other == nil {
		t.Fatal(copied)
	}
	for _, id := range []any{id, other} {
		if seen := say(id, "/status"); !strings.Contains(seen, fmt.Sprint("session ", id)) {
			t.Error(seen)
		}
	}
	_ = w.Close()
	for lines.Scan() { // to its end
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
