package mcp

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
)

// SPEC 17.1: which package a command fetches follows from its form alone. What is of no
// registry, or of an unknown form, runs as it is written.
func TestLaunches(t *testing.T) {
	for command, want := range map[string]string{
		"npx -y @scope/server-x@1.2 --root .": "npm|@scope/server-x@1.2||--root .",
		"npx server":                          "npm|server||",
		"npx --yes --package=a -p b run x":    "npm|a b|run|x",
		"npm exec -y -- a@latest -- --x":      "npm|a@latest||--x",
		"pnpm dlx --package=a b":              "pnpm|a|b|",
		"pnpx a":                              "pnpm|a||",
		"bunx a 1":                            "bun|a||1",
		"bun x -p a b":                        "bun|a|b|",
		"uvx a@1.0 --b":                       "uv|a@1.0||--b",
		"uv tool run --python 3.12 --from a[cli]==1 --with b c d": "uv|a[cli]==1 b|c|d",
		"npx":                            "",
		"npx -y":                         "",
		"npx ./server":                   "",
		"npx -y github:a/b":              "",
		"npx -y https://x.example/a.tgz": "",
		"npx -c x a":                     "",
		"npx -p a ../x":                  "",
		"uvx --from git+https://x a":     "",
		"uvx --index-url https://x a":    "",
		"npm install a":                  "",
		"./npx a":                        "",
		"node npx a":                     "",
	} {
		p, ok := launches(strings.Fields(command))
		got := ""
		if ok {
			got = strings.Join([]string{p.by.manager, strings.Join(p.specs, " "), p.program, strings.Join(p.args, " ")}, "|")
		}
		if got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	p, _ := launches(strings.Fields("uvx --with b@latest a@1"))
	if args, _ := p.install("/d"); !reflect.DeepEqual(args, strings.Fields("tool install --no-progress a==1 --with b")) {
		t.Errorf("%q", args)
	}
}

// SPEC 17.1: the registries are the person's own, and named without what is secret in them.
func TestRegistries(t *testing.T) {
	home := t.TempDir()
	must.Write(t, filepath.Join(home, ".npmrc"), "registry = https://me:secret@npm.example:8443/a/\n@corp:registry=\"https://corp.example/\"\n//npm.example/:_authToken=secret\n")
	for _, c := range []struct{ command, set, want string }{
		{"npx a", "", "https://npm.example:8443/a/"},
		{"npx @corp/a", "", "https://npm.example:8443/a/ https://corp.example/"}, // what it needs is in the other
		{"npx a", "npm_config_registry=http://127.0.0.1:4873/", "http://127.0.0.1:4873/"},
		{"npx a", "npm_config_registry=file:///x", "https://npm.example:8443/a/"},
		{"uvx a", "UV_INDEX_URL=https://u:p@py.example/simple", "https://py.example/simple"},
		{"uvx a", "", "https://pypi.org/simple"},
		{"bunx a", "", "https://registry.npmjs.org/"},
	} {
		name, value, _ := strings.Cut(c.set, "=")
		p, _ := launches(strings.Fields(c.command))
		got := p.registries(func(n string) string { return map[string]string{name: value, "HOME": home}[n] })
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v: %q", c, got)
		}
	}
}

// npm installs the package in which the program "it" is a server, unless it fails.
func npm(fails bool) func(*fakeProcess) {
	return func(p *fakeProcess) {
		if fails {
			_, _ = io.WriteString(p.stderr, "npm error 404 Not Found - @x/server\n")
			return
		}
		at := filepath.Join(p.of.Dir, "node_modules")
		_ = os.MkdirAll(filepath.Join(at, "@x", "server"), 0o700)
		_ = os.MkdirAll(filepath.Join(at, ".bin"), 0o700)
		_ = os.WriteFile(filepath.Join(at, "@x", "server", "package.json"), []byte(`{"bin": {"it": "it.js"}}`), 0o600)
		_ = must.WriteProgram(filepath.Join(at, ".bin", "it"), "", 0o700)
	}
}

func launching(t *testing.T, fails bool) *fakeServers {
	t.Helper()
	w := newFakeServers(t, map[string]func(*fakeProcess){
		"npm": npm(fails),
		"it":  usual(oneTool, func(json.RawMessage, *fakeProcess) string { return "" }),
	})
	words := []string{"npx", "-y", "@x/server", "stdio"}
	w.conf = []Server{{Name: "s", File: ".mcp.json", Project: true, Transport: "stdio", Command: words, start: append([]string{"stdio", "", ""}, words...)}}
	w.packages = Packages{Dir: t.TempDir(), Root: t.TempDir(), Env: func(string) string { return "" }}
	w.confine = process.Confine{Level: process.Workspace}
	w.open(t)
	return w
}

// SPEC 17.1: a person sees whether a package was fetched, and which version.
func TestPackageState(t *testing.T) {
	w := launching(t, false)
	if got := w.packages.State(w.conf[0]); got != "@x/server is not fetched: pawl mcp fetch s" {
		t.Error(got)
	}
	npm(false)(&fakeProcess{of: process.Program{Dir: filepath.Join(w.packages.at(w.conf[0]), "files")}})
	if got := w.packages.State(w.conf[0]); got != "@x/server is fetched" {
		t.Error(got)
	}
	must.Write(t, filepath.Join(w.packages.at(w.conf[0]), "files", "node_modules", "@x", "server", "package.json"), `{"version": "1.2.3", "bin": {"it": "it.js"}}`)
	if got := w.packages.State(w.conf[0]); got != "@x/server 1.2.3 is fetched" {
		t.Error(got)
	}
	own := w.conf[0]
	if own.Project = false; w.packages.State(own) != "" {
		t.Error("the person's own server fetches by itself")
	}
}

// SPEC 17.1, 16.12: a confined server's package is fetched once, after a person agreed, by a
// manager that reaches only the registry and nothing of the workspace; the server runs
// without network, or with the hosts that the person granted.
func TestFetched(t *testing.T) {
	w := launching(t, false)
	srv := w.conf[0]
	const asked = "the MCP server s (.mcp.json) runs npx -y @x/server stdio: fetch @x/server from registry.npmjs.org, once? It then runs in the sandbox, without network"
	if got := w.packages.Question(srv); got != asked {
		t.Errorf("asked: %q", got)
	}
	refused := func() {
		t.Helper()
		_, err := w.Try(t.Context(), "s")
		if err == nil || !strings.Contains(err.Error(), "its package @x/server is not fetched; to fetch it once from registry.npmjs.org, after which it runs in the sandbox without network: pawl mcp fetch s") {
			t.Errorf("%v", err)
		}
		if n := w.start.starts(); n != 0 {
			t.Fatalf("%d processes were started", n)
		}
	}
	refused()
	for _, yes := range []bool{false, true} {
		must.Do(t, w.packages.Decide(srv, yes, []string{"api.example"}))
		if got := w.packages.Question(srv); got != "" {
			t.Errorf("asked again: %q", got)
		}
		if !yes {
			refused()
		}
	}
	if set, notes := w.offer(t); len(set) != 1 || !slices.Equal(notes, []string{"the package @x/server of the MCP server s was fetched from registry.npmjs.org; a newer one: pawl mcp fetch s"}) {
		t.Fatalf("%q %q", set.Names(), notes)
	}
	if len(w.start.asked) != 2 {
		t.Fatalf("started: %v", w.start.asked)
	}
	fetch, run := w.start.asked[0], w.start.asked[1]
	files := fetch.Dir
	if c := fetch.Confine; c.Level != process.Workspace || !slices.Equal(c.Hosts, []string{"registry.npmjs.org"}) || !slices.Equal(c.Own, []string{files}) || c.Root == "" || strings.HasPrefix(w.packages.Root, c.Root) {
		t.Errorf("the fetch has the rights %+v", c)
	}
	if run.Path != filepath.Join(files, "node_modules", ".bin", "it") || !slices.Equal(run.Args, []string{"stdio"}) {
		t.Errorf("it runs %s %q", run.Path, run.Args)
	}
	if c := run.Confine; !slices.Equal(c.Reads, []string{files}) || !slices.Equal(c.Hosts, []string{"api.example"}) || len(c.Own) != 0 {
		t.Errorf("it has the rights %+v", c)
	}

	w.open(t) // another session
	if _, err := w.Try(t.Context(), "s"); err != nil || len(w.start.asked) != 3 {
		t.Errorf("%v, started: %v", err, w.start.asked)
	}
	if err := os.RemoveAll(files); err != nil { // a cache that was cleaned
		t.Fatal(err)
	}
	if _, err := w.Try(t.Context(), "s"); err != nil || len(w.start.asked) != 5 {
		t.Errorf("%v, started: %v", err, w.start.asked)
	}
	srv.Command, srv.start = []string{"npx", "-y", "@x/other"}, []string{"stdio", "", "", "npx", "-y", "@x/other"}
	if w.packages.Question(srv) == "" {
		t.Error("another package is fetched without a question")
	}
}

// SPEC 17.1: a failed fetch shows the manager's own words, and is tried again.
func TestFetchFails(t *testing.T) {
	w := launching(t, true)
	must.Do(t, w.packages.Decide(w.conf[0], true, nil))
	for n := range 2 {
		_, err := w.Try(t.Context(), "s")
		if err == nil || !strings.Contains(err.Error(), "its package @x/server cannot be fetched from registry.npmjs.org") || !strings.Contains(err.Error(), "npm error 404 Not Found") || w.start.starts() != n+1 {
			t.Errorf("%v after %d starts", err, w.start.starts())
		}
	}
}

// SPEC 17.1: nothing is fetched for a server that is not confined, for one that is installed
// in the workspace, or where a project could have put the programs.
func TestNotFetched(t *testing.T) {
	w := launching(t, false)
	must.Do(t, w.packages.Decide(w.conf[0], false, nil))
	if st := w.Status()[0]; st.State != "not started" || st.Why != "@x/server is not fetched: pawl mcp fetch s" {
		t.Errorf("after a no: %+v", st)
	}
	at := filepath.Join(w.packages.Root, "node_modules", "@x", "server")
	must.Do(t, os.MkdirAll(at, 0o700))
	must.Do(t, os.WriteFile(filepath.Join(at, "package.json"), nil, 0o600))
	if got := w.packages.Question(w.conf[0]); got != "" {
		t.Errorf("asked for what is there: %q", got)
	}
	free := launching(t, false)
	free.confine = process.Free
	free.open(t)
	if _, ok := free.packaged(free.conf[0]); ok {
		t.Error("a server that has the network is not run as it is written")
	}
	inside := launching(t, false)
	inside.packages.Dir = ""
	if err := inside.packages.Decide(inside.conf[0], true, nil); err == nil || inside.packages.Question(inside.conf[0]) != "" {
		t.Errorf("it may be fetched into the workspace: %v", err)
	}
}
