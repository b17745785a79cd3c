// Package folder looks at what a folder configures that could run, and tells a
// folder from another one at the same path (SPEC 16.1). What the files mean is
// policy/trust's to say; checks are found by adapter/checks.
//
// It reads a fixed list of names, each a regular file inside the folder of a
// bounded size, and starts nothing.
package folder

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// What is read of a file, in bytes, and how many hooks of a folder are told of.
const (
	maxFile  = 1 << 20
	maxHooks = 40
)

// Look finds what the folder configures besides checks.
func Look(dir string) ([]trust.Part, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var out []trust.Part
	for _, name := range trust.Files() {
		if s, there := read(root, name); there {
			out = append(out, trust.Parts(s)...)
		}
	}
	for _, at := range trust.GitHooks {
		for _, name := range hooks(root, at) {
			if s, there := read(root, name); there {
				out = append(out, trust.Parts(s)...)
			}
		}
	}
	return out, nil
}

// Servers reads the file in which a folder names MCP servers.
func Servers(dir string) (s trust.Source, there bool) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return s, false
	}
	defer root.Close()
	return read(root, trust.ServersFile)
}

// hooks lists the files of a folder that git would run.
func hooks(root *os.Root, dir string) []string {
	f, err := root.Open(dir)
	if err != nil { // most folders have none
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(20 * maxHooks) // what could be read counts
	var out []string
	for _, e := range entries {
		st, err := e.Info()
		if err != nil || st.IsDir() || strings.HasSuffix(e.Name(), ".sample") || st.Mode().IsRegular() && st.Mode()&0o111 == 0 {
			continue
		}
		if out = append(out, path.Join(dir, e.Name())); len(out) == maxHooks {
			break
		}
	}
	slices.Sort(out)
	return out
}

func read(root *os.Root, name string) (s trust.Source, there bool) {
	s = trust.Source{Name: name, Unread: true}
	st, err := root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return s, false
	case err != nil, !st.Mode().IsRegular(), st.Size() > maxFile:
		return s, err != nil || !st.IsDir()
	}
	f, err := root.Open(name)
	if err != nil {
		return s, true
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) <= maxFile {
		s.Text, s.Unread = string(text), false
	}
	return s, true
}
