package tools

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// A go command sees the files that are laid over the workspace; the workspace
// stays as it is, and nothing is left beside it. What is judged is the command.
// SPEC 5.2, 11.1
func TestGoOverlay(t *testing.T) {
	tmp := t.TempDir()
	dir, err := filepath.EvalSymlinks(t.TempDir()) // as a workspace is
	must.Do(t, err)
	t.Setenv("TMPDIR", tmp)
	for name, text := range map[string]string{"go.mod": "module m\n\ngo 1.26\n", "sub/x.go": "package x\n", "täg@1+2/y.txt": ""} {
		p := filepath.Join(dir, name)
		must.Write(t, p, text)
	}
	with := `[{"path":"sub/x.go","content":"package x\n\nconst word = \"laid over\"\n"},{"path":"sub/y.go","content":"package x\n\nvar _ int = word\n"}]`
	sh := &procShell{dir: dir, env: []string{"GOWORK=off", "GOPROXY=off", "GOTOOLCHAIN=local", "GOFLAGS="}}
	env := tool.Env{Shell: sh, Files: rootOnly{root: dir}}
	for _, command := range []string{"cd sub && go build ./...", "go build ./sub", "cd 'sub' && go build .", "cd täg@1+2 && go build ../sub"} {
		args := `{"command":` + string(quoted(command)) + `,"with":` + with + `}`
		r := procCall(t, GoOverlay(), env, args)
		if !r.Error || !strings.Contains(r.Text, "constant \"laid over\"") {
			t.Errorf("%s: %q", command, r.Text)
		}
		if !strings.Contains(r.Note, "2 instrumented files, removed again") || r.Command == "" && r.Exit == nil {
			t.Errorf("%s: note %q", command, r.Note)
		}
		f, err := GoOverlay().Footprint(tool.Env{}, json.RawMessage(args))
		if err != nil || f.Shell != command || f.Notice == "" {
			t.Errorf("%s: %+v, %v", command, f, err)
		}
		b, err := Bash().Footprint(tool.Env{}, json.RawMessage(args))
		if err != nil || !reflect.DeepEqual(b.Commands, f.Commands) || b.Unknown != f.Unknown {
			t.Errorf("%s: judged as %+v, bash as %+v", command, f, b)
		}
	}
	left, _ := filepath.Glob(tmp + "/pawl-overlay-*")
	made, _ := filepath.Glob(dir + "/sub/*")
	if len(left) != 0 || len(made) != 1 {
		t.Errorf("left %v, in the workspace %v", left, made)
	}
	sh.runs = nil
	for _, bad := range []string{
		`{"command":"rm -rf x","with":[]}`, `{"command":"echo go test ./...","with":[]}`, `{"command":"go run .","with":[]}`,
		`{"command":"cd $(rm x) && go test .","with":[]}`, `{"command":"go tests .","with":[]}`,
		`{"command":"go test .","with":[{"path":"../x.go","content":""}]}`, `{"command":"go test .","with":[{"path":"/etc/x.go","content":""}]}`,
	} {
		if r := procCall(t, GoOverlay(), env, bad); !r.Error || len(sh.runs) != 0 {
			t.Errorf("%s ran: %q", bad, r.Text)
		}
	}
}

func quoted(s string) []byte { b, _ := json.Marshal(s); return b }
