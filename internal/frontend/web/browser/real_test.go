//go:build chromium

package browser

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// model answers like the Anthropic API. Its reply to "Write the file" is a call that
// needs consent.
func model(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body) // what is cut off has no end either
	var in struct {
		Messages []struct {
			Role    string
			Content []struct{ Type, Text string }
		}
	}
	_ = json.Unmarshal(raw, &in)
	content := in.Messages[len(in.Messages)-1].Content
	last := content[len(content)-1]
	stop, block, delta := "end_turn", object{"type": "text", "text": ""}, object{"type": "text_delta", "text": "It is **done**: <b>42</b>."}
	if last.Type == "text" && strings.Contains(last.Text, "Write the file") {
		stop, block, delta = "tool_use", object{"type": "tool_use", "id": "toolu_1", "name": "write", "input": object{}}, object{"type": "input_json_delta", "partial_json": `{"path":"answer.txt","content":"42\n"}`}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range []object{
		{"type": "message_start", "message": object{"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-script", "content": []any{}, "usage": object{"input_tokens": 10, "output_tokens": 1}}},
		{"type": "content_block_start", "index": 0, "content_block": block},
		{"type": "content_block_delta", "index": 0, "delta": delta},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": object{"stop_reason": stop}, "usage": object{"output_tokens": 20}},
		{"type": "message_stop"},
	} {
		data, _ := json.Marshal(e)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e["type"], data)
	}
}

// SPEC 21.1, 21.2, 21.4: the page with pawl itself: pair with the code in the address,
// prompt, allow a call, see the answer, undo.
func TestPawl(t *testing.T) {
	pawl := filepath.Join(t.TempDir(), "pawl")
	build := exec.Command("go", "build", "-o", pawl, "./cmd/pawl")
	build.Dir = "../../../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	onBoth(t, func(t *testing.T, s size) {
		api := httptest.NewServer(http.HandlerFunc(model))
		t.Cleanup(api.Close)
		home, folder := t.TempDir(), t.TempDir()
		env := []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=xterm", "ANTHROPIC_API_KEY=test-key-000000", "ANTHROPIC_BASE_URL=" + api.URL, "PAWL_MODEL=anthropic/claude-script"}
		first := exec.Command(pawl, "run", "-C", folder, "hello")
		first.Env = env
		if out, err := first.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}

		// it serves only on a terminal, which script makes
		serve := exec.Command("script", "-qfec", pawl+" serve --listen 127.0.0.1:0 --rights steer", "/dev/null")
		serve.Env = env
		serve.Dir = folder
		in, err := serve.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := serve.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := serve.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_, _ = io.WriteString(in, "\x03") // Ctrl+C on its terminal
			if _ = serve.Wait(); serve.ProcessState.ExitCode() != 130 {
				t.Errorf("pawl serve: %v", serve.ProcessState)
			}
		})
		address := ""
		for l := bufio.NewScanner(out); address == "" && l.Scan(); {
			address = regexp.MustCompile(`http://[\d.:]+/#code=[\w-]+`).FindString(l.Text())
		}
		if address == "" {
			t.Fatal("pawl serve printed no address")
		}
		go func() { _, _ = io.Copy(io.Discard, out) }()

		p := start(t, s)
		p.open(address)
		p.press("hello")
		p.shows(".reply", "It is done: <b>42</b>.")
		p.write(".composer textarea", "Write the file")
		p.press("Send")
		p.shows(".ask", "42")
		p.picture("real-" + s.name)
		p.press("Allow once")
		p.gone(".ask")
		p.until(`document.querySelectorAll('.reply').length === 2`)
		if raw, err := os.ReadFile(filepath.Join(folder, "answer.txt")); string(raw) != "42\n" {
			t.Errorf("the file: %q, %v", raw, err)
		}
		p.until(`document.querySelector('[aria-label="Interrupt"]').hidden`)
		p.picture("real-done-" + s.name)
		p.press("More actions")
		p.press("Undo")
		p.shows("dialog", "answer.txt")
		p.press("Undo")
		p.gone("dialog")
		p.shows(".note", "undo")
		if _, err := os.Stat(filepath.Join(folder, "answer.txt")); !os.IsNotExist(err) {
			t.Errorf("the file is still there: %v", err)
		}
		p.well()
	})
}
