// Package folder finds what a folder configures that could run, and
// distinguishes a folder from another one at the same path (SPEC 16.1).
// policy/trust knows what the files mean; adapter/checks finds checks.
//
// It reads a fixed list of names, each a regular file inside the folder of
// limited size, and starts nothing.
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

	"github.com/pawl-agent/pawl/internal/policy/hook"
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
			for _, p := range trust.Parts(s) {
				if p.Kind != trust.Hook {
					out = append(out, p)
				}
			}
		}
	}
	for _, r := range hookRules(root) {
		out = append(out, hookPart(root, r))
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

// Hooks finds the hooks that the folder configures for pawl, each with its
// part, in the same order. It reads at most three files if there are none.
func Hooks(dir string) ([]hook.Rule, []trust.Part, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	rules := hookRules(root)
	parts := make([]trust.Part, len(rules))
	for i, r := range rules {
		parts[i] = hookPart(root, r)
	}
	return rules, parts, nil
}

// HookPart returns the present part of a hook of the folder.
func HookPart(dir string, r hook.Rule) (trust.Part, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return trust.Part{}, err
	}
	defer root.Close()
	return hookPart(root, r), nil
}

// hookRules returns the hooks that pawl runs if they are trusted.
func hookRules(root *os.Root) []hook.Rule {
	var out []hook.Rule
	for _, name := range trust.HookFiles {
		if s, there := read(root, name); there {
			out = append(out, slices.DeleteFunc(trust.Hooks(s), func(r hook.Rule) bool { return r.Idle != "" })...)
		}
	}
	return out
}

func hookPart(root *os.Root, r hook.Rule) trust.Part {
	var named []trust.Source
	surely, maybe := trust.Named(r.Command)
	for i, n := range append(surely, maybe...) {
		st, err := root.Stat(n)
		if err == nil && st.IsDir() || i >= len(surely) && slices.Contains(surely, n) {
			continue
		}
		s, there := read(root, n)
		if !there || i >= len(surely) && !trust.Script(n, s.Text, err != nil || st.Mode()&0o111 != 0) {
			continue
		}
		named = append(named, s)
	}
	return trust.HookPart(r, named)
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
