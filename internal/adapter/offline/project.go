package offline

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// This file finds out what kind of project the workspace is, through the
// tools alone.

// in makes a command line that runs in a folder of the workspace.
func in(dir, command string) string {
	if dir == "" || dir == "." {
		return command
	}
	return "cd " + shellsyntax.Quote(dir) + " && " + command
}

// modules returns the folders with a go.mod, the root ("") first.
func modules(h *hands) ([]string, error) {
	files, err := h.List("**/go.mod")
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, f := range files {
		if path.Base(f) != "go.mod" || skipped(f) {
			continue
		}
		d := path.Dir(f)
		if d == "." {
			d = ""
		}
		dirs = append(dirs, d)
	}
	slices.Sort(dirs)
	return dirs, nil
}

// skipped: a path that is not the project's own code.
func skipped(p string) bool {
	for part := range strings.SplitSeq(p, "/") {
		switch part {
		case "vendor", "testdata", "node_modules", ".git":
			return true
		}
	}
	return false
}

// errNoGo is the error of a go command without a toolchain.
var errNoGo = errors.New("the go command is not on PATH here, so I can neither build nor test: install Go from https://go.dev/dl, or add its bin folder to PATH")

// runGo runs a go command.
func runGo(h *hands, command string) (string, int, error) {
	out, exit, err := h.Run(command)
	if err == nil && exit == 127 {
		err = errNoGo
	}
	return out, exit, err
}

// stopWords returns why a plan ends at a call that was refused or failed.
func stopWords(err error) string {
	if errors.Is(err, errNoGo) {
		return upper(errNoGo.Error()) + "."
	}
	s := err.Error()
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return "I stopped, since a call did not go through. " + s
}

// detectTests finds the command that tests this project.
func detectTests(h *hands, build bool) (string, error) {
	dirs, err := modules(h)
	if err != nil {
		return "", err
	}
	if len(dirs) > 0 {
		if build {
			return in(dirs[0], "go build -o /dev/null ./..."), nil
		}
		return in(dirs[0], "go test ./..."), nil
	}
	listing, err := h.one("ls", map[string]any{})
	if err != nil {
		return "", err
	}
	there := map[string]bool{}
	for l := range strings.SplitSeq(listing, "\n") {
		for _, w := range strings.Fields(l) {
			there[strings.TrimSuffix(w, "/")] = true
		}
	}
	for _, k := range []struct{ file, test, build string }{
		{"Cargo.toml", "cargo test", "cargo build"},
		{"package.json", "npm test", "npm run build"},
		{"pyproject.toml", "python3 -m pytest", ""},
		{"pytest.ini", "python3 -m pytest", ""},
		{"setup.py", "python3 -m pytest", ""},
		{"Makefile", "make test", "make"},
	} {
		if there[k.file] {
			if build {
				return k.build, nil
			}
			return k.test, nil
		}
	}
	return "", nil
}
