//go:build ordinary && linux

package cli

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// ordinary is work that people do every day, each in a small project with the
// real tools. It must not notice the sandbox.
var ordinary = []struct {
	name  string
	files map[string]string
	warm  string // run outside before, as the person once did
	work  string
}{
	{
		"go with cgo and a module",
		map[string]string{
			"two.go":      "package a\n\n// int two(void) { return 2; }\nimport \"C\"\n\nfunc Two() int { return int(C.two()) }\n",
			"two_test.go": "package a\n\nimport (\n\t\"testing\"\n\n\t\"pgregory.net/rapid\"\n)\n\nfunc TestTwo(t *testing.T) {\n\trapid.Check(t, func(*rapid.T) {\n\t\tif Two() != 2 {\n\t\t\tt.Fatal()\n\t\t}\n\t})\n}\n",
		},
		"", `GOPROXY=off CGO_ENABLED=1 go build ./... && GOPROXY=off go vet ./... && GOPROXY=off go test -count=1 -v ./... | grep -q "^--- PASS: TestTwo"`,
	},
	{
		"gofmt", map[string]string{"bad.go": "package  a\n"}, "",
		`test "$(gofmt -l .)" = bad.go && gofmt -w . && test -z "$(gofmt -l .)"`,
	},
	{
		"npm ci from a warm cache",
		map[string]string{
			"package.json": `{"name": "a", "version": "1.0.0", "scripts": {"test": "node test.js"}, "dependencies": {"is-number": "7.0.0"}}`,
			"test.js":      "if (!require('is-number')(4)) process.exit(1)\n",
		},
		"npm install --silent --no-audit --no-fund --omit-lockfile-registry-resolved=false && rm -rf node_modules",
		"npm ci --no-audit --no-fund && npm test",
	},
	{
		"yarn 1 from a warm cache",
		map[string]string{
			"package.json": `{"name": "a", "version": "1.0.0", "dependencies": {"is-number": "7.0.0"}}`,
			"yarn.lock":    "",
			"test.js":      "if (!require('is-number')(4)) process.exit(1)\n",
		},
		"npm install --silent --no-audit --no-fund --no-save --prefix tool yarn@1.22.22 && node tool/node_modules/yarn/bin/yarn.js install --silent && rm -rf node_modules",
		// yarn 1 stops at an .npmrc of the person, which it may not read.
		"HOME=$PWD node tool/node_modules/yarn/bin/yarn.js install --silent --frozen-lockfile && node test.js",
	},
	{
		"yarn 4 from a warm cache",
		map[string]string{
			"package.json": `{"name": "a", "version": "1.0.0", "dependencies": {"is-number": "7.0.0"}}`,
			"yarn.lock":    "",
			".yarnrc.yml":  "nodeLinker: node-modules\nenableTelemetry: false\n",
			"test.js":      "if (!require('is-number')(4)) process.exit(1)\n",
		},
		"npm install --silent --no-audit --no-fund --no-save --prefix tool @yarnpkg/cli-dist@4.18.1 && node tool/node_modules/@yarnpkg/cli-dist/bin/yarn.js install --no-immutable && rm -rf node_modules .yarn",
		"node tool/node_modules/@yarnpkg/cli-dist/bin/yarn.js install --immutable && node test.js",
	},
	{
		"yarn 3 with its cache in the project",
		map[string]string{
			"package.json": `{"name": "a", "version": "1.0.0", "dependencies": {"is-number": "7.0.0"}}`,
			"yarn.lock":    "",
			".yarnrc.yml":  "nodeLinker: node-modules\nenableTelemetry: false\n",
			"test.js":      "if (!require('is-number')(4)) process.exit(1)\n",
		},
		"npm install --silent --no-audit --no-fund --no-save --prefix tool @yarnpkg/cli-dist@3.8.7 && YARN_GLOBAL_FOLDER=$PWD/../global node tool/node_modules/@yarnpkg/cli-dist/bin/yarn.js install --no-immutable && rm -rf node_modules ../global",
		"node tool/node_modules/@yarnpkg/cli-dist/bin/yarn.js install --immutable && node test.js",
	},
	{
		"pytest",
		map[string]string{"test_a.py": "import tempfile\n\ndef test_a(tmp_path):\n    (tmp_path / 'x').write_text('x')\n    with tempfile.TemporaryFile() as f:\n        f.write(b'x')\n"},
		"", `/usr/bin/python3 -m pytest -q | grep "1 passed"`,
	},
	{
		"cargo",
		map[string]string{
			"Cargo.toml":  "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
			"src/main.rs": "fn main() { println!(\"{}\", two()); }\n\nfn two() -> i32 { 2 }\n\n#[test]\nfn is_two() { assert_eq!(two(), 2); }\n",
		},
		"", `cargo build -q && test "$(./target/debug/a)" = 2 && cargo test -q`,
	},
	{
		"make and a C compiler",
		map[string]string{
			"Makefile": "all: a\na: a.o\n\t$(CC) -o $@ $<\ncheck: a\n\ttest \"$$(./a)\" = 2\nclean:\n\trm -f a a.o\n",
			"a.c":      "#include <stdio.h>\nint main(void) { puts(\"2\"); return 0; }\n",
		},
		"", "make -j2 && make check && make clean && test ! -e a",
	},
	{
		"git",
		map[string]string{"a.txt": "a\n"},
		"git init -q . && git config user.name ci && git config user.email ci@example.com",
		`git add . && git commit -qm one && git checkout -q -b other && echo b >a.txt && git stash -q && git stash pop -q && git commit -qam two && git checkout -q - && git merge -q other && git status --short && test "$(git log --oneline | wc -l)" = 2`,
	},
	{
		"a server on the loopback and its client",
		map[string]string{"page": "hello\n"},
		// The system chooses the port: both ways of this row share the machine's loopback.
		"", `python3 -u -m http.server -b 127.0.0.1 0 >log 2>&1 & n=0
until port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' log) && test "$port" && python3 -c "import sys, urllib.request as u; print(u.urlopen('http://127.0.0.1:' + sys.argv[1] + '/page').read())" $port 2>/dev/null | grep hello
do test $((n+=1)) -lt 100 || exit 1; sleep 0.1; done`,
	},
}

// SPEC 16.12, 16.13: ordinary work goes on in the sandbox as outside, by pawl
// sandbox and by a call of the model, which goes from permission to the starter.
func TestOrdinaryWork(t *testing.T) {
	bin := pawlProgram(t)
	folders, err := goFolders()
	must.Do(t, err)
	for _, c := range ordinary {
		for _, way := range []string{"sandbox", "run"} {
			t.Run(c.name+" by pawl "+way, func(t *testing.T) {
				t.Parallel()
				top, err := filepath.EvalSymlinks(t.TempDir())
				must.Do(t, err)
				dir := filepath.Join(top, "project")
				for name, text := range c.files {
					writeFile(t, filepath.Join(dir, name), text)
				}
				if c.files["two.go"] != "" {
					moduleOf(t, dir)
				}
				// The person's home with its toolchains; pawl's own files elsewhere.
				env := append(os.Environ(), "PAWL_HOME="+filepath.Join(top, "pawl"), "XDG_CACHE_HOME="+filepath.Join(top, "cache"),
					"GOCACHE="+folders["GOCACHE"], "ANTHROPIC_API_KEY=test-key-000000", "PAWL_MODEL=anthropic/claude-script")
				if c.warm != "" {
					cmd := exec.Command("sh", "-c", c.warm)
					cmd.Dir, cmd.Env = dir, env
					if out, err := cmd.CombinedOutput(); err != nil {
						t.Fatalf("%s: %v\n%s", c.warm, err, out)
					}
				}
				// That it is confined is seen in the same command, by what its words
				// do not show.
				writeFile(t, filepath.Join(dir, "confined.sh"), "! (echo x >../outside) 2>/dev/null && ! (echo evil >.git/hooks/pre-commit) 2>/dev/null\n")
				line := "{ " + c.work + "\n} && bash confined.sh && echo worked-$((40+2))"
				args := []string{"sandbox", "--", "bash", "-c", line}
				web := &llmtest.Server{Reply: func(n int, _ []byte) llmtest.Turn {
					if n > 0 {
						return llmtest.Say("done")
					}
					call, err := json.Marshal(map[string]any{"command": line, "timeout": 300})
					if err != nil {
						t.Error(err)
					}
					return llmtest.Use("bash", string(call))
				}}
				if way == "run" {
					srv := httptest.NewServer(web)
					defer srv.Close()
					env = append(env, "ANTHROPIC_BASE_URL="+srv.URL)
					args = []string{"run", "--permission-mode", "auto", "--no-autofix", "do the work"}
				}
				cmd := exec.Command(bin, args...)
				cmd.Dir, cmd.Env = dir, env
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Errorf("%v\n%s", err, out)
				}
				if way == "run" {
					if bodies := web.Bodies(); len(bodies) > 1 {
						out = bodies[1][bytes.LastIndex(bodies[1], []byte("tool_result")):]
					}
				}
				if !bytes.Contains(out, []byte("worked-42")) {
					t.Errorf("it did not work: %s", out)
				}
				if _, err := os.Stat(filepath.Join(top, "outside")); err == nil {
					t.Error("it was not confined")
				}
			})
		}
	}
}

// moduleOf makes a folder a module with the dependencies of this one, which are
// in the module cache.
func moduleOf(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join("../../..", name))
		must.Do(t, err)
		writeFile(t, filepath.Join(dir, name), strings.Replace(string(text), "module github.com/pawl-agent/pawl", "module example.com/a", 1))
	}
}

// pawlProgram builds the real program.
func pawlProgram(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "pawl")
	if out, err := exec.Command("go", "build", "-o", bin, "../../../cmd/pawl").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	must.Write(t, name, text)
}
