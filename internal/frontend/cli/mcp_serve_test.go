package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 17.1: pawl mcp serve is an MCP server: a program has it do something,
// within the mode of its command line, and its session is one like any other.
func TestServeTools(t *testing.T) {
	root := t.TempDir()
	dir, home := filepath.Join(root, "proj"), filepath.Join(root, "home")
	for _, d := range []string{dir, home} {
		must.Do(t, os.Mkdir(d, 0o700))
	}
	script := filepath.Join(root, "replies.json")
	write := `{"calls": [{"name": "write", "args": {"path": "a.txt", "content": "one\n"}}]}`
	must.Write(t, script, `[`+write+`, {"text": "Not allowed."}, `+write+`, {"text": "Written."}]`)
	srv := httptest.NewServer(replies(script))
	defer srv.Close()
	env := []string{"ANTHROPIC_API_KEY=sk-ant-test-0000000000000000", "ANTHROPIC_BASE_URL=" + srv.URL, "PAWL_MODEL=anthropic/claude-script"}
	connect := func(args ...string) (*sdk.ClientSession, *bytes.Buffer) {
		t.Helper()
		cmd := pawl(t, dir, home, env, append([]string{"mcp", "serve"}, args...)...)
		messages := &bytes.Buffer{}
		cmd.Stderr = messages
		client := sdk.NewClient(&sdk.Implementation{Name: "program", Version: "1"}, nil)
		s, err := client.Connect(context.Background(), &sdk.CommandTransport{Command: cmd}, nil)
		if err != nil {
			t.Fatal(err, messages)
		}
		return s, messages
	}
	call := func(s *sdk.ClientSession, name, args string) string {
		t.Helper()
		r := must.Get(s.CallTool(context.Background(), &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(args)}))(t)
		return r.Content[0].(*sdk.TextContent).Text
	}
	for _, c := range []struct {
		mode, want string
		written    bool
	}{{"plan", "Not allowed.", false}, {"accept-edits", "Written.", true}} {
		s, messages := connect("--permission-mode", c.mode, "--sandbox", "off")
		if got := s.InitializeResult().ProtocolVersion; got != "2025-11-25" {
			t.Error(got)
		}
		if got := call(s, "prompt", `{"prompt":"write a.txt"}`); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q\n%s", c.mode, got, messages)
		}
		if _, err := os.Stat(filepath.Join(dir, "a.txt")); (err == nil) != c.written {
			t.Errorf("%s: %v", c.mode, err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("it does not end with its program: %v\n%s", err, messages)
		}
	}
	if out, err := pawl(t, dir, home, env, "undo", "--yes").CombinedOutput(); err != nil || !strings.Contains(string(out), "a.txt") {
		t.Errorf("%s %v", out, err)
	}
}

// SPEC 17.1, 16: the token of pawl mcp serve --http comes from a file that only its person
// reads; a missing one is made, once.
func TestServeToken(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		must.Write(t, path, text)
		must.Do(t, os.Chmod(path, mode))
		return path
	}
	made := filepath.Join(dir, "made")
	first, err := serveToken(made)
	if err != nil || len(first) < minToken {
		t.Fatalf("%q, %v", first, err)
	}
	if st, err := os.Stat(made); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st, err)
	}
	if again, err := serveToken(made); err != nil || again != first {
		t.Errorf("%q, %v: another token", again, err)
	}
	if got, err := serveToken(file("own", "sixteen-or-more-bytes\n", 0o600)); err != nil || got != "sixteen-or-more-bytes" {
		t.Errorf("%q, %v", got, err)
	}
	for name, path := range map[string]string{
		"others read it": file("shared", "sixteen-or-more-bytes", 0o644), "empty": file("empty", "", 0o600), "short": file("short", "short", 0o600),
		"two lines": file("two", "sixteen-or-more\nbytes-and-more", 0o600), "a folder": dir, "no folder": filepath.Join(dir, "none", "token"),
	} {
		if got, err := serveToken(path); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// SPEC 17.1: pawl mcp test and accept name a sign-in that a server wants, at once, and begin
// none: nobody may be at a browser.
func TestSignInIsNamed(t *testing.T) {
	var asked atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/mcp" {
			asked.Add(1) // it looks for where to sign in
		}
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="http://`+r.Host+`/meta"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer srv.Close()
	dir, home := t.TempDir(), t.TempDir()
	if out, err := pawl(t, dir, home, nil, "mcp", "add", "s", "--transport", "http", srv.URL+"/mcp").CombinedOutput(); err != nil {
		t.Fatalf("%s %v", out, err)
	}
	for _, verb := range []string{"test", "accept"} {
		out, err := pawl(t, dir, home, nil, "mcp", verb, "s").CombinedOutput()
		if err == nil || !strings.Contains(string(out), "sign in: pawl mcp login s") || asked.Load() > 0 {
			t.Errorf("%s: %s, %v, %d more requests", verb, out, err, asked.Load())
		}
	}
}
