//go:build unix

package shell

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
)

// SPEC 16.16: what leads to a folder of others goes, in whatever form a variable names
// it; all else stays as it is.
func TestApart(t *testing.T) {
	t.Parallel()
	top := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	ws := filepath.Join(top, "w s") // a name with a blank, as in PATH of some systems
	for _, dir := range []string{ws + "/bin", top + "/other"} {
		must.Do(t, os.MkdirAll(dir, 0o700))
	}
	must.Do(t, os.Symlink(ws+"/bin", top+"/link"))
	for in, want := range map[string]string{
		"PATH=W/bin:/usr/bin":                           "PATH=/usr/bin",
		"PATH=:/usr/bin:.:bin":                          "PATH=/usr/bin",
		"PATH=T/link:/usr/bin:T/other":                  "PATH=/usr/bin:T/other",
		"PATH=W/gone/../bin":                            "",
		"PATH=/usr/bin:/Program Files/x":                "PATH=/usr/bin:/Program Files/x",
		"PATH=W-not/bin":                                "PATH=W-not/bin",
		"NODE_PATH=W":                                   "",
		"PYTHONPATH=lib:/x":                             "PYTHONPATH=/x",
		"PERL5LIB=lib":                                  "",
		"RUBYLIB=W/a:/b":                                "RUBYLIB=/b",
		"VIRTUAL_ENV=T/link":                            "",
		"NODE_OPTIONS=--import=file://T/link/x.mjs":     "",
		"NODE_OPTIONS=--max-old-space-size=100":         "NODE_OPTIONS=--max-old-space-size=100",
		"RUSTFLAGS=-L T/link":                           "",
		"PWD=/x":                                        "",
		"http_proxy=http://u@proxy:8080":                "http_proxy=http://u@proxy:8080",
		"LANG=C":                                        "LANG=C",
		"EMPTY=":                                        "EMPTY=",
		"npm_config_registry=https://r.example.org/a:b": "npm_config_registry=https://r.example.org/a:b",
	} {
		at := strings.NewReplacer("W", ws, "T", top)
		if strings.HasPrefix(in, "PWD") || strings.HasPrefix(in, "RUST") || strings.HasPrefix(in, "EMPTY") || strings.HasPrefix(in, "VIRTUAL") || strings.HasPrefix(in, "PY") || strings.HasPrefix(in, "PATH") || strings.HasPrefix(in, "NODE") {
			name, value, _ := strings.Cut(in, "=")
			in = name + "=" + at.Replace(value)
			if n, v, ok := strings.Cut(want, "="); ok {
				want = n + "=" + at.Replace(v)
			}
		} else {
			in = strings.Replace(in, "=W/", "="+ws+"/", 1)
		}
		if got := strings.Join(Apart([]string{in}, []string{ws}), " "); got != want {
			t.Errorf("%s becomes %q, want %q", in, got, want)
		}
	}
}

// SPEC 16.16: a program that lies in the folder of others is not started, by no name.
func TestNoProgramOfOthers(t *testing.T) {
	t.Parallel()
	ws, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	bin := t.TempDir()
	must.WriteMode(t, ws+"/evil", "#!/bin/sh\ntouch "+ws+"/ran\n", 0o700)
	must.Do(t, os.Symlink(ws+"/evil", bin+"/linked"))
	s := newStarter(t, StarterOptions{Env: func() []string { return []string{"PATH=" + ws + "::" + bin + ":" + os.Getenv("PATH")} }})
	for _, path := range []string{"evil", "./evil", ws + "/evil", bin + "/linked", "linked", "../" + filepath.Base(ws) + "/evil"} {
		_, err := process.Output(t.Context(), s, process.Program{Path: path, Dir: ws, Apart: []string{ws}, Confine: process.Free})
		if err == nil || !strings.Contains(err.Error(), "workspace") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := os.Stat(ws + "/ran"); err == nil {
		t.Error("it ran")
	}
	_, err = process.Output(t.Context(), s, process.Program{Path: "none-such", Apart: []string{ws}, Confine: process.Free})
	if !errors.Is(err, exec.ErrNotFound) {
		t.Error(err)
	}
	if out, err := process.Output(t.Context(), s, process.Program{Path: "sh", Args: []string{"-c", "echo $PATH"}, Dir: "/", Apart: []string{ws}, Confine: process.Free}); err != nil || strings.Contains(string(out), ws) {
		t.Errorf("%s %v", out, err)
	}
}

// SPEC 16.16: git and the shell are not found where others write, nor by a relative entry of
// the search path.
func TestProgramsApart(t *testing.T) {
	ws, own := t.TempDir(), t.TempDir()
	for _, name := range []string{filepath.Join(ws, "git"), filepath.Join(own, "git"), filepath.Join(ws, "only")} {
		must.WriteMode(t, name, "#!/bin/sh\n", 0o700)
	}
	must.Do(t, os.Symlink(filepath.Join(ws, "only"), filepath.Join(own, "linked")))
	t.Chdir(ws)
	s := NewStarter(StarterOptions{Apart: []string{ws}, Env: func() []string { return []string{"PATH=" + ws + "::.:" + own} }})
	defer s.Close()
	if got, err := s.program("git"); got != filepath.Join(own, "git") {
		t.Errorf("git is %s: %v", got, err)
	}
	for _, name := range []string{"only", "linked"} {
		if got, err := s.program(name); err == nil {
			t.Errorf("found %s as %s", name, got)
		}
	}
}
