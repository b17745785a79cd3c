package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// SPEC 17.1: pawl mcp serve is an MCP server: a program has it do something,
// within the mode of its command line, and its session is one like any other.
func TestServeTools(t *testing.T) {
	root := t.TempDir()
	dir, home := filepath.Join(root, "proj"), filepath.Join(root, "home")
	for _, d := range []string{dir, home} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	script := filepath.Join(root, "replies.json")
	write := `{"calls": [{"name": "write", "args": {"path": "a.txt", "content": "one\n"}}]}`
	if err := os.WriteFile(script, []byte(`[`+write+`, {"text": "Not allowed."}, `+write+`, {"text": "Written."}]`), 0o600); err != nil {
		t.Fatal(err)
	}
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
		r, err := s.CallTool(context.Background(), &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
		if err != nil {
			t.Fatal(err)
		}
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
