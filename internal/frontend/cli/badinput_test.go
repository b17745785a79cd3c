package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/session/sessiontest"
	"github.com/pawl-agent/pawl/internal/frontend/headless"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
)

// outcomeOf is what a run of the real program came to.
type outcomeOf struct {
	code           int
	stdout, stderr string
	result         headless.Result
}

// runPawl runs pawl run to its end; what hangs is killed and fails.
func runPawl(t *testing.T, dir string, env []string, stdin string, args ...string) outcomeOf {
	t.Helper()
	cmd := pawl(t, dir, t.TempDir(), env, append([]string{"run"}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	must.Do(t, cmd.Start())
	guard := time.AfterFunc(patient, func() { _ = cmd.Process.Kill() })
	defer guard.Stop()
	_ = cmd.Wait() // the code says it
	o := outcomeOf{code: cmd.ProcessState.ExitCode(), stdout: out.String(), stderr: errs.String()}
	lines := strings.Split(strings.TrimSpace(o.stdout), "\n")
	_ = json.Unmarshal([]byte(lines[len(lines)-1]), &o.result) // where the format is JSON
	if strings.Contains(o.stderr, "goroutine ") || strings.Contains(o.stderr, "panic") {
		t.Errorf("it crashed: %s", o.stderr)
	}
	return o
}

// SPEC 3.2, 3.3: what a server may answer instead of a reply, and what comes
// of it: the exit code, one sentence that names what to do, no key in it.
func TestServerAnswers(t *testing.T) {
	t.Parallel()
	const key = "sk-ant-test-key-0000000000"
	good := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range llmtest.Events(0, llmtest.Say("fine")) {
			fmt.Fprintf(w, "data: %s\n\n", e)
		}
	}
	status := func(code int, head, body string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			if k, v, ok := strings.Cut(head, ": "); ok {
				w.Header().Set(k, v)
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			fmt.Fprint(w, body)
		}
	}
	anthropic := func(kind string) string {
		return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":"no %s for %s"}}`, kind, kind, key)
	}
	for name, c := range map[string]struct {
		model   string
		env     string
		answers []func(http.ResponseWriter)
		code    int
		says    string
		asked   int
	}{
		"429 Retry-After 0": {"anthropic/claude-script", "ANTHROPIC", []func(http.ResponseWriter){
			status(429, "Retry-After: 0", anthropic("rate_limit_error")), good,
		}, 0, "", 2},
		"429 for an hour": {"anthropic/claude-script", "ANTHROPIC", []func(http.ResponseWriter){
			status(429, "Retry-After: 3600", anthropic("rate_limit_error")), good,
		}, 4, "429", 1},
		"401": {"anthropic/claude-script", "ANTHROPIC", []func(http.ResponseWriter){
			status(401, "", anthropic("authentication_error")), good,
		}, 3, "set ANTHROPIC_API_KEY", 1},
		"403": {"anthropic/claude-script", "ANTHROPIC", []func(http.ResponseWriter){
			status(403, "", anthropic("permission_error")), good,
		}, 3, "another model (/model, or -m)", 1},
		"400": {"anthropic/claude-script", "ANTHROPIC", []func(http.ResponseWriter){
			status(400, "", anthropic("invalid_request_error")), good,
		}, 4, "take the last one back with /rewind", 1},
		"404": {"anthropic/claude-script", "ANTHROPIC", []func(http.ResponseWriter){
			status(404, "", anthropic("not_found_error")), good,
		}, 4, "pawl models", 1},
		"gemini's wrong key": {"gemini/gemini-2.5-flash", "GEMINI", []func(http.ResponseWriter){
			status(400, "", `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}`),
		}, 3, "set GEMINI_API_KEY", 1},
		"a redirect": {"anthropic/claude-script", "ANTHROPIC", []func(http.ResponseWriter){
			status(302, "Location: http://elsewhere.invalid/", ""), good,
		}, 4, "redirects", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			n := 0
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				mu.Lock()
				i := min(n, len(c.answers)-1)
				n++
				mu.Unlock()
				c.answers[i](w)
			}))
			t.Cleanup(web.Close)
			o := runPawl(t, t.TempDir(), []string{c.env + "_API_KEY=" + key, c.env + "_BASE_URL=" + web.URL}, "", "-m", c.model, "--output-format", "json", "hello")
			said := ""
			if o.result.Error != nil {
				said = o.result.Error.Message
			}
			if o.code != c.code || o.result.ExitCode != c.code || !strings.Contains(said, c.says) || strings.Contains(o.stdout+o.stderr, key) || strings.Contains(said, "\n") {
				t.Errorf("exit code %d, want %d: %s%s", o.code, c.code, o.stdout, o.stderr)
			}
			mu.Lock()
			defer mu.Unlock()
			if n != c.asked {
				t.Errorf("%d requests, want %d", n, c.asked)
			}
		})
	}
}

// A prompt of 10 MB, by standard input or in part as an argument, is refused
// before anything is opened or asked.
func TestHugePrompt(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-m", "offline"}, {"-m", "offline", "and this"}} {
		o := runPawl(t, t.TempDir(), nil, strings.Repeat("long ", 2<<20), args...)
		if o.code != 2 || !strings.Contains(o.stderr, "4 MB") || strings.Count(o.stderr, "\n") != 1 {
			t.Errorf("exit code %d: %s", o.code, o.stderr)
		}
	}
}

// No git, and nothing else but a shell, on PATH: files and commands work, the
// git tools say what is missing.
func TestNoGit(t *testing.T) {
	t.Parallel()
	bin, dir := t.TempDir(), t.TempDir()
	for _, name := range []string{"bash", "sh"} {
		if path, err := exec.LookPath(name); err == nil {
			must.Do(t, os.Symlink(path, filepath.Join(bin, name)))
		}
	}
	must.Write(t, filepath.Join(dir, ".git", "HEAD"), "") // it looks like a repository
	must.Write(t, filepath.Join(dir, "a.txt"), "needle\n")
	srv := &llmtest.Server{Reply: func(n int, _ []byte) llmtest.Turn {
		if n == 0 {
			return llmtest.Use("git_status", `{}`, "git_diff", `{}`, "git_log", `{}`, "grep", `{"pattern":"needle"}`, "glob", `{"pattern":"*.txt"}`, "bash", `{"command":"echo ran"}`)
		}
		return llmtest.Say("done")
	}}
	web := httptest.NewServer(srv)
	t.Cleanup(web.Close)
	cmd := pawl(t, dir, t.TempDir(), []string{"ANTHROPIC_API_KEY=test-key-000000", "ANTHROPIC_BASE_URL=" + web.URL},
		"run", "-m", "anthropic/claude-script", "--permission-mode", "yolo", "--output-format", "stream-json", "go")
	for i, kv := range cmd.Env {
		if strings.HasPrefix(kv, "PATH=") {
			cmd.Env[i] = "PATH=" + bin
		}
	}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	n := 0
	for line := range strings.Lines(string(out)) {
		var e struct {
			Type string
			Body event.CallDone
		}
		if json.Unmarshal([]byte(line), &e) != nil || e.Type != "call_done" {
			continue
		}
		n++
		text := e.Body.Result.Text
		switch e.Body.Tool {
		case "git_status", "git_diff", "git_log":
			if e.Body.Outcome != event.Failed || !strings.Contains(text, "git") {
				t.Errorf("%s: %s %s", e.Body.Tool, e.Body.Outcome, text)
			}
		case "grep":
			if !strings.Contains(text, "a.txt\n1:needle") {
				t.Errorf("grep: %s", text)
			}
		case "glob":
			if text != "a.txt" {
				t.Errorf("glob: %s", text)
			}
		case "bash":
			if !strings.HasPrefix(text, "ran\n") {
				t.Errorf("bash: %s", text)
			}
		}
	}
	if n != 6 {
		t.Errorf("%d results, want 6: %s", n, out)
	}
}

// A workspace that cannot be written: the call says so, the run goes on, the
// result says that nothing changed. (For root every folder can be.)
func TestReadOnlyWorkspace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\n"), 0o400))
	must.Do(t, os.Chmod(dir, 0o500))
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	srv := &llmtest.Server{Reply: func(n int, _ []byte) llmtest.Turn {
		switch n {
		case 0:
			return llmtest.Use("write", `{"path":"new.txt","content":"x"}`)
		case 1:
			return llmtest.Use("read", `{"files":[{"path":"a.txt"}]}`, "edit", `{"path":"a.txt","old":"one","new":"two"}`)
		}
		return llmtest.Say("done")
	}}
	web := httptest.NewServer(srv)
	t.Cleanup(web.Close)
	o := runPawl(t, dir, []string{"ANTHROPIC_API_KEY=test-key-000000", "ANTHROPIC_BASE_URL=" + web.URL}, "", "-m", "anthropic/claude-script", "--output-format", "json", "go")
	if o.code != 0 || o.result.Outcome != "done" || o.result.Calls != 3 {
		t.Fatalf("exit code %d: %s%s", o.code, o.stdout, o.stderr)
	}
	_, err := os.Stat(filepath.Join(dir, "new.txt"))
	if written := err == nil; written != (len(o.result.Files) > 0) {
		t.Errorf("the file exists: %v; files_changed %v", written, o.result.Files)
	}
	if len(o.result.Files) == 0 && !bytes.Contains(srv.Bodies()[1], []byte("permission")) {
		t.Errorf("the model was not told why: %s", srv.Bodies()[1])
	}
}

// The disk is full at any moment of a run: one sentence, its own exit code, no call
// runs whose start could not be stored, and the session can be taken up.
func TestDiskFullMidway(t *testing.T) {
	t.Parallel()
	for n := range 100 {
		dir, under := t.TempDir(), memory.New(time.Now)
		if code := runFull(t, dir, under, n, n); code == 0 {
			return // there was room for all
		}
		started := 0
		for e, err := range under.Read(t.Context(), "s1", 0) {
			if err != nil && !errors.Is(err, event.ErrNoSession) {
				t.Fatal(err)
			}
			if _, ok := e.Body.(event.CallStarted); ok {
				started++
			}
		}
		written, err := filepath.Glob(filepath.Join(dir, "*.txt"))
		if err != nil || len(written) > started {
			t.Errorf("full from append %d on: %v were written, %d starts are stored: %v", n, written, started, err)
		}
		if code := runFull(t, dir, under, n, 1000); code != 0 {
			t.Errorf("full from append %d on: with room again, the exit code is %d", n, code)
		}
	}
	t.Error("it never ended well")
}

// runFull runs a prompt with a store that takes this many appends.
func runFull(t *testing.T, dir string, under event.Store, n, room int) (code int) {
	t.Helper()
	var out, errs bytes.Buffer
	a := &App{Environment: setup.Environment{Err: &errs, Now: time.Now}, Out: &out, Signals: func() <-chan string { return nil }}
	m := llmtest.New(llmtest.Use("write", `{"path":"a.txt","content":"x"}`, "write", `{"path":"b.txt","content":"x"}`), llmtest.Say("done"))
	cfg := sessiontest.Config(t, dir, m, nil)
	cfg.Store = sessiontest.Fill(under, room)
	s, err := session.Open(t.Context(), cfg)
	if err == nil {
		err = a.headless(t.Context(), &setup.Opened{Session: s}, "go", "", &flags{format: string(headless.JSON)})
		_ = s.Close() // it says the same again
	}
	if err == nil {
		return 0
	}
	code, said := exitCode(err)
	if text := err.Error(); said || code != headless.Full || !strings.Contains(text, "no space left") || strings.Contains(text, "\n") {
		t.Errorf("full from append %d on: exit code %d: %s %s", n, code, text, errs.String())
	}
	return code
}
