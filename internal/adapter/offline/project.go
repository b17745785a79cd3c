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
		dirs = append(dirs, path.Dir("/" + f)[1:])
	}
	slices.Sort(dirs)
	return dirs, nil
}

// skipped: a path that is not the project's own code.
func skipped(p string) bool {
	return has(strings.Split(p, "/"), "vendor testdata node_modules .git")
}

// errNoGo is the error of a go command without a toolchain.
var errNoGo = errors.New("the go command is not on PATH here, so I can neither build nor test: install Go from https://go.dev/dl, or add its bin folder to PATH")

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
	return "I stopped, since a call did not go through. " + strings.TrimSuffix(err.Error(), ".") + "."
}

// detectTests finds the command that tests this project.
func detectTests(h *hands, build bool) (string, error) {
	dirs, err := modules(h)
	if err != nil {
		return "", err
	}
	if len(dirs) > 0 && build {
		return in(dirs[0], "go build -o /dev/null ./..."), nil
	}
	if len(dirs) > 0 {
		return in(dirs[0], "go test ./..."), nil
	}
	there, err := h.List("*")
	if err != nil {
		return "", err
	}
	for _, k := range []struct{ file, test, build string }{
		{"Cargo.toml", "cargo test", "cargo build"},
		{"package.json", "npm test", "npm run build"},
		{"pyproject.toml", "python3 -m pytest", ""},
		{"pytest.ini", "python3 -m pytest", ""},
		{"setup.py", "python3 -m pytest", ""},
		{"Makefile", "make test", "make"},
	} {
		if !slices.Contains(there, k.file) {
			continue
		}
		if build {
			return k.build, nil
		}
		return k.test, nil
	}
	return "", nil
}
