package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type greet struct {
	Name string `json:"name" jsonschema:"who"`
}

func greeter() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "greeter", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "greet", Description: "greets", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *sdk.CallToolRequest, in greet) (*sdk.CallToolResult, map[string]string, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{
				&sdk.TextContent{Text: "hi " + in.Name}, &sdk.ImageContent{MIMEType: "image/png", Data: []byte("p")}, &sdk.ImageContent{MIMEType: "image/tiff", Data: []byte("t")},
			}}, nil, nil
		})
	s.AddTool(&sdk.Tool{Name: "shape", InputSchema: &jsonschema.Schema{Type: "object"}}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{StructuredContent: map[string]any{"sides": 3}}, nil
	})
	return s
}

// SPEC 16.1: a server whose files changed since the folder was trusted is not
// started, in the middle of a session either.
func TestChangedServerIsNotStarted(t *testing.T) {
	w := newFakeServers(t, map[string]func(*fakeProcess){"g": serve(greeter)})
	_ = w.Close()
	w.Servers = New(Options{
		Root: t.TempDir(), Servers: w.conf, Start: w.start, Pins: NewPins(t.TempDir()), Version: "test", Wait: time.Minute,
		Changed: func(s Server) string { return s.Name + ".js changed" },
		Confine: func(Server) process.Confine { return process.Free }, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	t.Cleanup(func() { _ = w.Close() })
	set, notes := w.offer(t)
	if len(set) != 0 || w.start.starts() != 0 || !strings.Contains(strings.Join(notes, " "), "g.js changed") {
		t.Errorf("%v, %d starts, %q", set.Names(), w.start.starts(), notes)
	}
}

// SPEC 17.1: a server's tools are called, by every transport.
func TestCall(t *testing.T) {
	streamable := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return greeter() }, nil))
	defer streamable.Close()
	old := httptest.NewServer(sdk.NewSSEHandler(func(*http.Request) *sdk.Server { return greeter() }, nil))
	defer old.Close()
	for _, srv := range []Server{
		{Name: "g", Transport: "stdio", Command: []string{"g"}},
		{Name: "g", Transport: "http", URL: streamable.URL},
		{Name: "g", Transport: "sse", URL: old.URL},
	} {
		t.Run(srv.Transport, func(t *testing.T) {
			w := newFakeServers(t, map[string]func(*fakeProcess){"g": serve(greeter)})
			w.conf = []Server{srv}
			w.open(t)
			set, notes := w.offer(t)
			if got := strings.Join(set.Names(), " "); got != "mcp__g__greet mcp__g__shape" || len(notes) != 0 {
				t.Fatalf("%s, %q", got, notes)
			}
			if set[0].ReadOnly || set[0].Spec.Doc != "The MCP server g says: greets" {
				t.Errorf("a server's word is believed: %+v", set[0].Spec)
			}
			r, err := call(t, t.Context(), set, "mcp__g__greet", `{"name":"Ann"}`)
			if err != nil || r.Error || !strings.HasPrefix(r.Text, "hi Ann\n[image of type image/tiff") || len(r.Images) != 1 {
				t.Errorf("%+v %v", r, err)
			}
			if r, err := call(t, t.Context(), set, "mcp__g__shape", `{}`); err != nil || !strings.Contains(r.Text, `"sides": 3`) {
				t.Errorf("%+v %v", r, err)
			}
			if _, err := call(t, t.Context(), set, "mcp__g__greet", `{"name":5}`); err == nil {
				t.Error("arguments are not checked")
			}
			if f, _ := set[0].Footprint(toolEnv, nil); f.Unknown != srv.Here() || !f.Unknown {
				t.Errorf("what a server on this machine writes would not be seen: %+v", f)
			}
			_ = w.Servers.Close()
		})
	}
	http.DefaultClient.CloseIdleConnections()
}

// SPEC 17.1: nothing is started before a call where the tools are known.
func TestLazy(t *testing.T) {
	w := newFakeServers(t, map[string]func(*fakeProcess){"g": serve(greeter)})
	if w.start.starts() != 0 {
		t.Fatal("opening started it")
	}
	if set, _ := w.Tools(); len(set) != 0 || w.start.starts() != 0 {
		t.Fatal("looking started it")
	}
	w.offer(t)
	w.open(t)
	set, _ := w.offer(t)
	if len(set) != 2 || w.start.starts() != 1 {
		t.Fatalf("%d tools, %d starts: what was accepted is not used", len(set), w.start.starts())
	}
	for range 3 {
		if r, err := call(t, t.Context(), set, "mcp__g__shape", `{}`); err != nil || r.Error {
			t.Fatal(r, err)
		}
	}
	if w.start.starts() != 2 {
		t.Errorf("%d starts for three calls", w.start.starts()-1)
	}
}

// A server elsewhere does not hold the workspace; one behind an address of this
// machine does.
func TestHere(t *testing.T) {
	for url, here := range map[string]bool{
		"https://mcp.example.com/x": false, "http://localhost:3000": true, "http://127.0.0.1/": true, "http://[::1]:9/": true,
		"http://LOCALHOST./": false, "http://api.localhost/": true, "http://0.0.0.0:1": true, "http://[::ffff:127.0.0.1]/": true,
	} {
		if got := (Server{Transport: "http", URL: url}).Here(); got != here {
			t.Errorf("%s: %v", url, got)
		}
	}
}

// SPEC 17.1: Claude Code's form, variables from the person's environment only.
func TestParse(t *testing.T) {
	env := map[string]string{"TOKEN": "s3cr3t-Value-123", "HOME": "/h"}
	raw := `{
	// servers
	"mcpServers": {
		"a": {"command": "npx", "args": ["-y", "${PKG:-x}", "${HOME}/d"], "env": {"API_KEY": "${TOKEN}", "DIR": "/srv/Data"}},
		"b": {"type": "http", "url": "https://b.example/${HOME}", "headers": {"Authorization": "Bearer ${TOKEN}"}, "timeout": 1000},
		"c": {"command": ["x", "y"]},
		"d": {"command": "x", "args": ["${NONE}"]},
		"e": {"type": "ws", "url": "ws://x"},
		"f": {},
		"g__h": {"command": "x"},
		"i_": {"command": "x"},
		"j": {"url": "https://u:p@x/"},
		"k": {"command": "x", "sandbox": "off", "hosts": ["evil"]},
		"l": 5,
		"m": {"url": "http://x/", "headers": {"A": "b\r\nC: d"}},
	}}`
	all := must.Get(Parse("f", []byte(raw), true, func(k string) string { return env[k] }))(t)
	byName := map[string]Server{}
	for _, s := range all {
		byName[s.Name] = s
	}
	if a := byName["a"]; strings.Join(a.Command, " ") != "npx -y x /h/d" || a.Env["API_KEY"] != env["TOKEN"] || a.Problem != "" || a.Transport != "stdio" {
		t.Errorf("%+v", a)
	}
	if b := byName["b"]; b.Headers["Authorization"] != "Bearer "+env["TOKEN"] || b.Transport != "http" || b.Timeout.Seconds() != 1 {
		t.Errorf("%+v", b)
	}
	for name, want := range map[string]string{
		"c": "", "d": "the environment has no NONE", "e": `its type "ws" is not known`, "f": "neither a command nor an address", "g__h": "is not a server name",
		"i_": "is not a server name", "j": "without credentials", "k": "", "l": "cannot be read", "m": "line end",
	} {
		if got := byName[name].Problem; want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if k := byName["k"]; k.Sandbox != "" || k.Hosts != nil {
		t.Error("a folder says how its server is confined")
	}
	for _, name := range []string{"a", "b"} {
		if s := byName[name].Secrets(); !slices.Contains(s, env["TOKEN"]) || slices.Contains(s, "/srv/Data") {
			t.Errorf("%s: %q", name, s)
		}
		if p := strings.Join(byName[name].start, " "); strings.Contains(p, env["TOKEN"]) {
			t.Error("a pin depends on a token: ", p)
		}
	}
}

// SPEC 16.16: the environment and the place of a server's process: only a folder's server,
// and one that is a part of the folder, start in the workspace.
func TestProgram(t *testing.T) {
	for _, c := range []struct {
		srv   Server
		dir   string // below the workspace with a leading "w"
		apart bool
		env   string
	}{
		{Server{}, "/neutral", true, "A=1 B=2"},
		{Server{Dir: "/data"}, "/data", true, "A=1 B=2"},
		{Server{Project: true}, "w", false, process.NoByteCode + " A=1 B=2"},
		{Server{Project: true, Dir: "sub"}, "w/sub", false, process.NoByteCode + " A=1 B=2"},
		{Server{InFolder: true, Dir: "sub"}, "w/sub", false, process.NoByteCode + " A=1 B=2"},
		{Server{InFolder: true}, "w", false, process.NoByteCode + " A=1 B=2"},
	} {
		w := newFakeServers(t, map[string]func(*fakeProcess){"g": serve(greeter)})
		srv := &w.conf[0]
		srv.Env, srv.Dir, srv.Project, srv.InFolder = map[string]string{"B": "2", "A": "1"}, c.srv.Dir, c.srv.Project, c.srv.InFolder
		w.open(t)
		w.opt.Apart, w.opt.Neutral = []string{w.opt.Root}, func(Server) (string, error) { return "/neutral", nil }
		w.offer(t)
		p := w.start.asked[0]
		if rest, ok := strings.CutPrefix(c.dir, "w"); ok {
			c.dir = w.opt.Root + rest
		}
		if strings.Join(p.Env, " ") != c.env || p.Dir != c.dir || (len(p.Apart) > 0) != c.apart || !p.Pipes || p.Confine.Level != process.Unconfined {
			t.Errorf("%+v: %+v", c, p)
		}
	}
}

// SPEC 16.13: what was accepted is on disk, for its owner only.
func TestPinFile(t *testing.T) {
	w := newFakeServers(t, map[string]func(*fakeProcess){"g": serve(greeter)})
	w.offer(t)
	files, err := os.ReadDir(w.pins.Dir)
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if st, _ := files[0].Info(); st.Mode().Perm() != 0o600 {
		t.Error(st.Mode())
	}
}

// SPEC 17.1: past a share of the window the model gets a search, and calls what
// it found; the call is one of the tool's own.
func TestSearch(t *testing.T) {
	var tools []string
	for i := range 60 {
		name := "tool" + string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		tools = append(tools, `{"name":"`+name+`","description":"`+strings.Repeat("does something ", 60)+`","inputSchema":{"type":"object"}}`)
	}
	tools = append(tools, `{"name":"create_issue","description":"makes an issue","inputSchema":{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}}`)
	w := newFakeServers(t, map[string]func(*fakeProcess){"big": usual("["+strings.Join(tools, ",")+"]", func(id json.RawMessage, _ *fakeProcess) string { return textOf(id, "made") })})
	set, _ := w.Offer(t.Context(), modelOf(100_000), true)
	if got := len(set.Specs()); got != 2 || set.Specs()[0].Name != "mcp_search" {
		t.Fatalf("%d are shown: %v", got, set.Names())
	}
	r, err := call(t, t.Context(), set, "mcp_search", `{"query":"create an issue"}`)
	if err != nil || !strings.HasPrefix(r.Text, "mcp__big__create_issue\n") || !strings.Contains(r.Text, `"title"`) {
		t.Fatal(r.Text, err)
	}
	of, in, _ := set.Meant("mcp_call", json.RawMessage(`{"name":"mcp__big__create_issue","arguments":{"title":"x"}}`))
	if of.Spec.Name != "mcp__big__create_issue" || string(in) != `{"title":"x"}` {
		t.Errorf("%s %s: rules of the tool do not hold", of.Spec.Name, in)
	}
	if r, err := call(t, t.Context(), set, "mcp_call", `{"name":"mcp__big__create_issue","arguments":{"title":"x"}}`); err != nil || r.Text != "made" {
		t.Error(r, err)
	}
	for _, in := range []string{`{"name":"mcp__big__none"}`, `{"name":"mcp_call","arguments":{"name":"mcp__big__create_issue"}}`} {
		if r, err := call(t, t.Context(), set, "mcp_call", in); err != nil || !r.Error {
			t.Error(in, r, err)
		}
	}
	if set, _ := w.Offer(t.Context(), modelOf(1_000_000), false); len(set.Specs()) != 61 {
		t.Error("a large window has room for them")
	}
}

// SPEC 17.1: the tools of a server that is still starting can be searched and called; both
// wait for it. Those of a server that does not start are refused with its reason.
func TestStillStarting(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(*fakeProcess) // what the slow server does when it goes on
		why  string
	}{
		{"it starts", usual(oneTool, func(id json.RawMessage, _ *fakeProcess) string { return textOf(id, "went") }), ""},
		{"it fails", func(p *fakeProcess) { _, _ = io.WriteString(p.stderr, "Error: no database\n") }, "The MCP server slow is not available: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				goOn := make(chan struct{})
				w := newFakeServers(t, map[string]func(*fakeProcess){
					"quick": serve(greeter),
					"slow":  func(p *fakeProcess) { <-goOn; c.end(p) },
				})
				w.opt.Wait = firstWait
				set, notes := w.offer(t)
				if got := strings.Join(set.Names(), " "); got != "mcp_search mcp_call mcp__quick__greet mcp__quick__shape" {
					t.Fatal(got)
				}
				if !strings.Contains(set[0].Spec.Doc, "slow (starting; a search waits for it)") || len(notes) != 1 || !strings.Contains(notes[0], "still starting: slow.") {
					t.Errorf("%q, %q", set[0].Spec.Doc, notes)
				}
				if _, why, ok := w.Late(t.Context(), "mcp__quick__none"); why != "" || ok {
					t.Errorf("a tool that no server has: %q", why)
				}
				began := time.Now()
				if _, why, ok := w.Late(t.Context(), "mcp__slow__go"); ok || !strings.Contains(why, "it did not answer within 30s") {
					t.Errorf("it waits for ever: %q", why)
				} else if waited := time.Since(began); waited > startTime+listTime {
					t.Error(waited)
				}
				_ = w.Close()
				w.open(t)
				w.opt.Wait = firstWait
				if set, _ = w.offer(t); len(set) != 4 {
					t.Fatal(set.Names())
				}
				var asked sync.WaitGroup
				asked.Go(func() {
					r, err := call(t, t.Context(), set, "mcp_search", `{"query":"goes"}`)
					if found := strings.HasPrefix(r.Text, "mcp__slow__go\n"); err != nil || found != (c.why == "") {
						t.Errorf("search: %q, %v", r.Text, err)
					}
				})
				asked.Go(func() {
					of, why, ok := w.Late(t.Context(), "mcp__slow__go")
					if ok != (c.why == "") || !strings.Contains(why, c.why) || ok && of.Kind != tool.Exec {
						t.Errorf("%v, %q", ok, why)
					}
				})
				synctest.Wait()
				close(goOn)
				asked.Wait()
				if name, args, ok := set[1].StandsFor(json.RawMessage(`{"name":"mcp__slow__go","arguments":{"n":1}}`)); !ok || name != "mcp__slow__go" || string(args) != `{"n":1}` {
					t.Errorf("mcp_call does not stand for it: %s %s", name, args)
				}
				_ = w.Close()
			})
		})
	}
}

// SPEC 17.1: servers of other agents' settings, in the shapes of their
// documentation.
func TestForeign(t *testing.T) {
	for _, c := range []struct {
		agent     Agent
		raw, want string
	}{
		{"", `{"mcpServers": {"a": {"command": "x", "args": ["y"], "env": {"K": "v"}, "sandbox": "off"}}, "other": 1}`, "a stdio x y K=v"},
		{"", `{"servers": {"a": {"type": "http", "url": "https://x/", "headers": {"K": "${env:V}"}}}}`, "a http https://x/ K:${V}"},
		{"", `{"mcp": {"a": {"type": "local", "command": ["x", "y"], "environment": {"K": "{env:V}"}}, "b": {"timeout": 5}}}`, "a stdio x y K=${V}"},
		{"", `{"mcp": {"a": {"type": "remote", "url": "https://x/", "headers": {"Authorization": "Bearer {env:V}"}}}}`, "a http https://x/ Authorization:Bearer ${V}"},
		{"", `{"mcp": {"a": {"type": "local", "command": ["x"], "enabled": false}}}`, "a stdio x off"},
		{"", `{"numStartups": 3, "projects": {"/w": {"allowedTools": [], "mcpServers": {"a": {"type": "stdio", "command": "x", "args": [], "env": {}}}}, "/v": {"mcpServers": {"b": {"command": "y"}}}}}`, "a stdio x"},
		{"", `{"mcpServers": {"a": {"serverUrl": "https://x/"}}}`, "a http https://x/"},
		{"", `{}`, ""},
		{Gemini, `{"mcpServers": {"a": {"httpUrl": "https://x/", "timeout": 5000}, "bad": 5}} // x`, "a http https://x/ 5000ms"},
		{Gemini, `{"mcpServers": {"a": {"url": "https://x/sse", "headers": {"K": "$V ${W}"}, "trust": true, "includeTools": ["*"]}}, "mcp": {"allowed": ["a"]}}`, "a sse https://x/sse K:${V} ${W}"},
		{Gemini, `{"mcpServers": {"a": {"command": "x", "args": ["--k", "$V"], "cwd": "./d"}}}`, "a stdio x --k ${V}"},
		{Codex, "model = \"m\"\n[mcp_servers.a]\ncommand = \"npx\"\nargs = [\"-y\", \"p\"]\nenv_vars = [\"L\", { name = \"R\", source = \"remote\" }]\ntool_timeout_sec = 45\nstartup_timeout_sec = 10.5\n[mcp_servers.a.env]\nK = \"v\"\n[mcp_servers.a.tools.search]\napproval_mode = \"approve\"\n", "a stdio npx -y p K=v L=${L} R=${R} 45000ms"},
		{Codex, "[mcp_servers.a]\nurl = \"https://x/\"\nbearer_token_env_var = \"T\"\nhttp_headers = { \"X\" = \"y\" }\nenv_http_headers = { \"Z\" = \"E\" }\nenabled = false\n", "a http https://x/ Authorization:Bearer ${T} X:y Z:${E} off"},
		{Codex, "model = \"m\"\n", ""},
	} {
		got, _, err := Foreign(c.agent, []byte(c.raw), "/w")
		if err != nil {
			t.Error(err)
		}
		var text []string
		for name, e := range got {
			text = append(text, name, transport(e))
			text = append(append(text, e.Command...), e.Args...)
			for _, s := range []string{e.URL, e.HTTPURL} {
				if s != "" {
					text = append(text, s)
				}
			}
			for _, k := range slices.Sorted(maps.Keys(e.Env)) {
				text = append(text, k+"="+e.Env[k])
			}
			for _, k := range slices.Sorted(maps.Keys(e.Headers)) {
				text = append(text, k+":"+e.Headers[k])
			}
			if e.Timeout != 0 {
				text = append(text, fmt.Sprintf("%dms", e.Timeout))
			}
			if e.Disabled {
				text = append(text, "off")
			}
			if e.Sandbox != "" {
				t.Error("another agent's file switches the sandbox off")
			}
		}
		if strings.Join(text, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.raw, text, c.want)
		}
	}
	for _, a := range []Agent{"", Codex} {
		if _, _, err := Foreign(a, []byte("no"), ""); err == nil {
			t.Error("it can be read")
		}
	}
}

// SPEC 16.17: a server with a limit that pawl cannot keep, or with a key that may be a
// misspelt one, is not used and not copied.
func TestLimitsOfServers(t *testing.T) {
	for keys, want := range map[string]string{
		`"disable": true`: "disable (did you mean disabled?)", `"Disabled ": true`: "Disabled ", `"sandbx": "workspace"`: "sandbx (did you mean sandbox?)",
		`"excludeTools": ["x"]`: "excludeTools, which pawl cannot enforce", `"includeTools": ["x"]`: "includeTools", `"disabledTools": ["x"]`: "disabledTools",
		`"tools": ["x"]`: "tools", `"tools": {"x": {"approval_mode": "prompt"}}`: "tools", `"blockedTools": []`: "blockedTools", `"readOnly": true`: "readOnly",
		`"argz": ["--read-only"]`: "argz (did you mean args?)", `"network": "none"`: "network",
		`"tools": ["*"]`: "", `"tools": {"x": {"approval_mode": "approve"}}`: "", `"excludeTools": []`: "", `"DISABLED": true`: "", `"alwaysAllow": ["x"], "description": "d"`: "",
	} {
		text := `{"mcpServers": {"a": {"command": "x", ` + keys + `}}}`
		for _, project := range []bool{true, false} {
			all, err := Parse("f", []byte(text), project, os.Getenv)
			if err != nil || len(all) != 1 || (all[0].Problem == "") != (want == "") || !strings.Contains(all[0].Problem, want) {
				t.Errorf("%s: %+v, %v", keys, all, err)
			}
		}
		found, refused, err := Foreign("", []byte(text), "")
		if err != nil || (want == "") != (len(found) == 1) || (want == "") == (len(refused) == 1) {
			t.Errorf("%s: %v, %v, %v", keys, found, refused, err)
		}
	}
	all, err := Parse("f", []byte(`{"mcpServers": {"a": {"command": "x", "enabled": false}}}`), false, os.Getenv)
	if err != nil || !all[0].Disabled || all[0].Problem != "" {
		t.Errorf("%+v, %v", all, err)
	}
}

// SPEC 17.1: one server as JSON, as Claude Code's add-json takes it.
func TestParseEntry(t *testing.T) {
	for raw, ok := range map[string]bool{
		`{"type":"http","url":"https://x/"}`: true, `{"command":"x"}`: true, `{"type":"ws","url":"wss://x"}`: false, `{}`: false, `[]`: false, `{"command":"x","sandbox":"off"}`: false,
		`{"command":"x","sandbox":"read-only"}`: false, `{"command":"x","excludeTools":["a"]}`: false, `{"command":"x","disable":true}`: false, `{"command":"x","enabled":false}`: true,
	} {
		if e, err := ParseEntry([]byte(raw)); (err == nil) != ok || e.Sandbox != "" {
			t.Errorf("%s: %+v %v", raw, e, err)
		}
	}
}
