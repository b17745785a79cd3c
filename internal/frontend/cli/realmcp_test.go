//go:build realmcp

package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 17.1: real servers, end to end: PAWL_MCP_BIN is a folder with the programs
// of the npm packages, and the Go SDK's own example of a server. `.ci/run` installs them.
func TestRealServers(t *testing.T) {
	bin := os.Getenv("PAWL_MCP_BIN")
	root := t.TempDir()
	dir, home := filepath.Join(root, "proj"), filepath.Join(root, "home")
	for _, d := range []string{dir, home} {
		must.Do(t, os.Mkdir(d, 0o700))
	}
	type call struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
		want string
	}
	c := func(name, args, want string) call { return call{name, json.RawMessage(args), want} }
	calls := []call{
		c("mcp__everything__echo", `{"message":"salt"}`, "salt"),
		c("mcp__everything__get-sum", `{"a":2,"b":40}`, "42"),
		c("mcp__everything__get-tiny-image", `{}`, "image"),
		c("mcp__everything__get-structured-content", `{"location":"New York"}`, "temperature"),
		c("mcp__everything__get-resource-reference", `{"resourceType":"Text","resourceId":1}`, "resource"),
		c("mcp__everything__trigger-long-running-operation", `{"duration":1,"steps":5}`, "completed"),
		c("mcp__files__write_file", `{"path":`+quoted(filepath.Join(dir, "a.txt"))+`,"content":"pepper"}`, "uccessfully"),
		c("mcp__files__read_text_file", `{"path":`+quoted(filepath.Join(dir, "a.txt"))+`}`, "pepper"),
		c("mcp__files__read_text_file", `{"path":"/etc/hostname"}`, "denied"),
		c("mcp__memory__create_entities", `{"entities":[{"name":"pawl","entityType":"agent","observations":["it is in Go"]}]}`, "pawl"),
		c("mcp__memory__read_graph", `{}`, "it is in Go"),
		c("mcp__compiled__create_entities", `{"entities":[{"name":"gopher","entityType":"animal","observations":["it is compiled"]}]}`, "gopher"),
		c("mcp__compiled__read_graph", `{}`, "it is compiled"),
		c("mcp__thinking__sequentialthinking", `{"thought":"one","nextThoughtNeeded":false,"thoughtNumber":1,"totalThoughts":1}`, "thoughtNumber"),
	}
	var script []map[string]any
	for _, c := range calls {
		script = append(script, map[string]any{"calls": []call{c}})
	}
	raw, err := json.Marshal(append(script, map[string]any{"text": "done"}))
	if err == nil {
		err = os.WriteFile(filepath.Join(root, "replies.json"), raw, 0o600)
	}
	must.Do(t, err)
	srv := httptest.NewServer(replies(filepath.Join(root, "replies.json")))
	defer srv.Close()
	env := []string{"ANTHROPIC_API_KEY=sk-ant-test-0000000000000000", "ANTHROPIC_BASE_URL=" + srv.URL, "PAWL_MODEL=anthropic/claude-script"}
	run := func(args ...string) []byte {
		t.Helper()
		p := pawl(t, dir, home, env, args...)
		var messages bytes.Buffer
		p.Stderr = &messages
		out, err := p.Output()
		if err != nil {
			t.Fatalf("pawl %q: %v\n%s%s", args, err, out, messages.Bytes())
		}
		return out
	}
	run("mcp", "add", "everything", "--", filepath.Join(bin, "mcp-server-everything"), "stdio")
	run("mcp", "add", "files", "--", filepath.Join(bin, "mcp-server-filesystem"), dir)
	run("mcp", "add", "memory", "--env", "MEMORY_FILE_PATH="+filepath.Join(root, "memory.jsonl"), "--", filepath.Join(bin, "mcp-server-memory"))
	run("mcp", "add", "compiled", "--", filepath.Join(bin, "go-memory"), "-memory", filepath.Join(root, "compiled.json"))
	run("mcp", "add", "thinking", "--", filepath.Join(bin, "mcp-server-sequential-thinking"))
	run("mcp", "test")
	var done []struct{ text, outcome string }
	changed, attached := false, false
	for line := range bytes.Lines(run("run", "--output-format", "stream-json", "--allow", "mcp__everything__*", "--allow", "mcp__files", "--allow", "mcp__memory__*", "--allow", "mcp__thinking", "--allow", "mcp__compiled__*", "look at @everything:demo://resource/static/document/features.md and go")) {
		var e struct {
			Type string `json:"type"`
			Body struct {
				Outcome  string `json:"outcome"`
				Attached string `json:"attached"`
				Path     any    `json:"path"`
				Result   struct {
					Text string `json:"text"`
				} `json:"result"`
			} `json:"body"`
		}
		if err := json.Unmarshal(line, &e); err != nil && (e.Type == "call_done" || e.Type == "file_changed") {
			t.Fatal(err)
		}
		switch e.Type {
		case "prompted":
			attached = strings.Contains(e.Body.Attached, "[resource of the MCP server everything]")
		case "call_done":
			done = append(done, struct{ text, outcome string }{e.Body.Result.Text, e.Body.Outcome})
		case "file_changed":
			changed = changed || e.Body.Path == "a.txt"
		}
	}
	if len(done) != len(calls) {
		t.Fatalf("%d calls of %d are done", len(done), len(calls))
	}
	for i, c := range calls {
		if !strings.Contains(done[i].text, c.want) {
			t.Errorf("%s: %s %.300q, want %q", c.Name, done[i].outcome, done[i].text, c.want)
		}
	}
	if !attached {
		t.Error("a resource is not attached")
	}
	if !changed {
		t.Error("what a server wrote is not recorded")
	}
}

// SPEC 17.1, 16.12: a project's npx server is fetched once, by the real npm from the real
// registry, after the person's word; then it runs in the sandbox and needs no registry.
func TestRealServersFetched(t *testing.T) {
	root := t.TempDir()
	dir, home := filepath.Join(root, "proj"), filepath.Join(root, "home")
	conf := `{"mcpServers": {"every": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-everything", "stdio"]}}}`
	script := `[{"calls": [{"name": "mcp__every__echo", "args": {"message": "salt"}}]}, {"text": "done"}]`
	must.Do(t, errors.Join(os.Mkdir(dir, 0o700), os.Mkdir(home, 0o700), os.WriteFile(filepath.Join(dir, ".mcp.json"), []byte(conf), 0o600), os.WriteFile(filepath.Join(root, "replies.json"), []byte(script), 0o600)))
	// It is in front of the registry, whose address need not be one that a sandbox may reach.
	front := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "https", Host: "registry.npmjs.org"})
	direct := front.Director
	front.Director = func(r *http.Request) {
		direct(r)
		r.Host = "registry.npmjs.org"
	}
	registry, model := httptest.NewServer(front), httptest.NewServer(replies(filepath.Join(root, "replies.json")))
	defer model.Close()
	env := []string{"ANTHROPIC_API_KEY=sk-ant-test-0000000000000000", "ANTHROPIC_BASE_URL=" + model.URL, "PAWL_MODEL=anthropic/claude-script", "npm_config_registry=" + registry.URL + "/"}
	run := func(ok bool, want string, args ...string) {
		t.Helper()
		out, err := pawl(t, dir, home, env, args...).CombinedOutput()
		if (err == nil) != ok || !strings.Contains(string(out), want) {
			t.Fatalf("pawl %q: %v, without %q:\n%s", args, err, want, out)
		}
	}
	run(true, "is trusted", "trust", "--yes")
	run(false, "pawl mcp fetch every", "mcp", "test")
	run(true, "ok    every", "mcp", "fetch", "every")
	registry.Close()
	run(true, "Echo: salt", "run", "--output-format", "stream-json", "--allow", "mcp__every", "go")
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}
