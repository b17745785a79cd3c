//go:build chromium

package browser

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
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
	stream(w, stop, block, func(send func(object)) { send(delta) })
}

// stream writes a reply of one block.
func stream(w http.ResponseWriter, stop string, block object, deltas func(send func(delta object))) {
	w.Header().Set("Content-Type", "text/event-stream")
	put := func(e object) {
		data, _ := json.Marshal(e)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e["type"], data)
		_ = http.NewResponseController(w).Flush() // who has left needs none
	}
	put(object{"type": "message_start", "message": object{"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-script", "content": []any{}, "usage": object{"input_tokens": 10, "output_tokens": 1}}})
	put(object{"type": "content_block_start", "index": 0, "content_block": block})
	deltas(func(d object) { put(object{"type": "content_block_delta", "index": 0, "delta": d}) })
	put(object{"type": "content_block_stop", "index": 0})
	put(object{"type": "message_delta", "delta": object{"stop_reason": stop}, "usage": object{"output_tokens": 20}})
	put(object{"type": "message_stop"})
}

// built is pawl, which is built once.
func built(t *testing.T) string {
	t.Helper()
	path, err := buildOnce()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var buildOnce = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "pawl-built-") // of the last test, too: the system removes it
	if err != nil {
		return "", err
	}
	pawl := filepath.Join(dir, "pawl")
	build := exec.Command("go", "build", "-o", pawl, "./cmd/pawl")
	build.Dir = "../../../.."
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return pawl, nil
})

// serve runs pawl serve, on a terminal, which script makes.
func (r *real) serve(flags ...string) {
	r.t.Helper()
	serve := exec.Command("script", "-qfec", "exec "+r.pawl+" serve --listen 127.0.0.1:0 --rights steer "+strings.Join(flags, " "), "/dev/null")
	serve.Env, serve.Dir = r.env, r.folder
	in, err := serve.StdinPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	out, err := serve.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.in, r.pid = in, serve.Process.Pid
	r.t.Cleanup(func() {
		_, _ = io.WriteString(in, "\x03") // Ctrl+C on its terminal
		_ = serve.Wait()
	})
	go func() {
		defer close(r.addresses)
		for l := bufio.NewScanner(out); l.Scan(); {
			if at := regexp.MustCompile(`https?://[\d.:]+/#code=[\w-]+(&sha256=\w+)?`).FindString(l.Text()); at != "" {
				r.addresses <- at
			}
		}
	}()
	r.first = <-r.addresses
	if r.first == "" {
		r.t.Fatal("pawl serve printed no address")
	}
	r.at, _, _ = strings.Cut(r.first, "#")
}

// code returns the address with a code that nobody has used.
func (r *real) code() string {
	if r.first == "" {
		_, _ = io.WriteString(r.in, "\r") // else no address comes
		return <-r.addresses
	}
	first := r.first
	r.first = ""
	return first
}

// SPEC 21.1, 21.2, 21.4: the page with pawl itself: pair with the code in the address,
// prompt, allow a call, see the answer, undo.
func TestPawl(t *testing.T) {
	onBoth(t, func(t *testing.T, s size) {
		r := serves(t)
		folder := r.folder
		p := start(t, s)
		p.open(r.code())
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
