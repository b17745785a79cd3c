package checks

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/command"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// Definition describes what a check does: for each file, the hash of the part that
// defines the check. An unreadable file has an empty hash.
type Definition map[string]string

// Unread returns the files that cannot be read, sorted.
func (d Definition) Unread() []string {
	var out []string
	for name, hash := range d {
		if hash == "" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Changed returns the files whose definition changed, or that were added or removed,
// sorted. A file that could not be read counts as changed.
func (d Definition) Changed(now Definition) []string {
	var out []string
	for name, hash := range d {
		if is, ok := now[name]; !ok || is != hash || hash == "" {
			out = append(out, name)
		}
	}
	for name := range now {
		if _, ok := d[name]; !ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Goal returns a person's goal, a command line that must pass, as one of their own
// checks, with its current definition.
func (f *Finder) Goal(line string) (c Check, definition Definition, err error) {
	err = f.inTree(func(t *tree) {
		c = f.ownCheck(t, Configured{Name: "goal", Command: line})
		c.Env, c.Dir = t.goEnv, t.folderOf(line)
	})
	definition = Definition{}
	for _, s := range f.sources(c, c.Defined) {
		definition[s.Name] = trust.Define(trust.Check, s.Name, nil, []trust.Source{s}).Hash
	}
	return c, definition, err
}

// folderOf returns the folder in which the last command of a line runs; "." if the line
// does not show it.
func (t *tree) folderOf(line string) string {
	_, last, ok := command.LastCheck(line, "/")
	if !ok || !last.Command.Dir.Known {
		return "."
	}
	dir := strings.TrimPrefix(path.Clean(last.Command.Dir.Text), "/")
	if st, err := t.root.Stat(dir); err != nil || !st.IsDir() {
		return "."
	}
	return dir
}

func appendNames(names, more []string) []string {
	for _, n := range more {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}
