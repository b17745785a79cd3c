// Package folder finds what a folder configures that could run, and distinguishes a
// folder from another one at the same path (SPEC 16.1). policy/trust interprets the
// files; adapter/checks finds checks.
//
// It reads a fixed list of names, git's hooks, and the files that their commands run:
// each a regular file inside the folder of limited size. It starts no program.
package folder

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/pawl-agent/pawl/internal/core/frontmatter"
	"github.com/pawl-agent/pawl/internal/core/plainfile"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/policy/claudecode"
	"github.com/pawl-agent/pawl/internal/policy/guidance"
	"github.com/pawl-agent/pawl/internal/policy/hook"
	"github.com/pawl-agent/pawl/internal/policy/reach"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// Limits: the bytes that are read of a file, and the hooks that are listed in a folder.
const (
	maxFile  = 1 << 20
	maxHooks = 40
)

// Look returns the parts that the folder configures besides checks.
func Look(dir string) ([]trust.Part, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var out []trust.Part
	for _, name := range trust.Files() {
		if s, there := read(root, name); there {
			for _, p := range partsOf(root, s) {
				if p.Kind != trust.Hook {
					out = append(out, p)
				}
			}
		}
	}
	for _, s := range agentServers(root, guidance.Agents, same) {
		out = append(out, serverParts(root, s)...)
	}
	out = append(out, hookParts(root, runnable(root))...)
	for _, at := range trust.GitHooks {
		for _, name := range hooks(root, at) {
			if s, there := read(root, name); there {
				out = append(out, trust.Parts(s)...)
			}
		}
	}
	return out, nil
}

// Servers reads the file in which a folder configures MCP servers. there is false if it
// does not exist.
func Servers(dir string) (s trust.Source, there bool) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return s, false
	}
	defer root.Close()
	return read(root, trust.ServersFile)
}

// ServerParts returns the parts of the servers in files, with the current files of the
// folder that they run.
func ServerParts(dir string, files ...trust.Source) (out []trust.Part, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for _, s := range files {
		out = append(out, serverParts(root, s)...)
	}
	return out, nil
}

// AgentServers returns the MCP servers that the agents of the workspace describe.
func AgentServers(dir string) []trust.Source { return agentServersIn(dir, guidance.Agents, same) }

// OwnAgentServers returns those of the agents in a folder of dir, which is not the workspace.
func OwnAgentServers(dir, at string) []trust.Source {
	return agentServersIn(dir, []string{at}, wholePath(dir))
}

func agentServersIn(dir string, at []string, name func(string) string) []trust.Source {
	root, err := os.OpenRoot(dir)
	if err != nil { // then none of them is there
		return nil
	}
	defer root.Close()
	return agentServers(root, at, name)
}

// same names a file of the workspace, wholePath(dir) one of another folder.
func same(p string) string { return p }

func wholePath(dir string) func(string) string {
	return func(p string) string { return filepath.Join(dir, filepath.FromSlash(p)) }
}

func agentServers(root *os.Root, folders []string, name func(string) string) (out []trust.Source) {
	eachFront(root, folders, func(p string, fields frontmatter.Fields) {
		if servers, err := claudecode.Servers(fields); err == nil && servers != nil { // otherwise it is not used
			out = append(out, trust.Source{Name: name(p), Text: string(servers)})
		}
	})
	return out
}

// OwnServerPart returns the part of a person's own server that works in the folder or runs
// a file of it, with the current files that it runs. configured is its configuration.
func OwnServerPart(dir, name, configured string, command []string, cwd string) (trust.Part, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return trust.Part{}, err
	}
	defer root.Close()
	var words []string
	for _, w := range command {
		words = append(words, shellsyntax.Quote(w))
	}
	line := strings.Join(words, " ")
	reached := runs(root, cwd, line)
	return trust.Define(trust.MCP, name, []string{line}, append([]trust.Source{{Name: "its configuration", Text: configured}}, reached...)), nil
}

// partsOf returns the parts of a file. The parts of MCP servers include the files that
// the servers run.
func partsOf(root *os.Root, s trust.Source) []trust.Part {
	if s.Name != trust.ServersFile || s.Unread {
		return trust.Parts(s)
	}
	return serverParts(root, s)
}

func serverParts(root *os.Root, s trust.Source) []trust.Part {
	entries, ok := trust.ServerEntries(s, "mcpServers")
	if !ok {
		return trust.Parts(s)
	}
	var out []trust.Part
	for _, e := range entries {
		var reached []trust.Source
		if e.Line != "" {
			reached = runs(root, e.Dir, e.Line)
		}
		out = append(out, e.Part(reached))
	}
	return out
}

// Hooks returns the hooks that the folder configures for pawl, each with its part, in the
// same order.
func Hooks(dir string) ([]hook.Rule, []trust.Part, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	rules := runnable(root)
	return rules, hookParts(root, rules), nil
}

// HookParts returns the current parts of hooks of the folder, in the same order.
func HookParts(dir string, rules ...hook.Rule) ([]trust.Part, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return hookParts(root, rules), nil
}

// IdleHooks returns the hooks of the folder that pawl never runs, trusted or not. The error
// also names a file with a hook that pawl does not know.
func IdleHooks(dir string) ([]hook.Rule, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	rules, err := hookRules(root)
	return slices.DeleteFunc(rules, func(r hook.Rule) bool { return !inactive(r) }), err
}

// runnable returns the hooks that pawl runs if they are trusted. With an unknown one beside
// them pawl does not start (package claudecode).
func runnable(root *os.Root) []hook.Rule {
	rules, _ := hookRules(root)
	return slices.DeleteFunc(rules, inactive)
}

func inactive(r hook.Rule) bool { return r.InactiveBecause != "" }

// hookRules returns the hooks that the folder configures.
func hookRules(root *os.Root) (out []hook.Rule, err error) {
	for _, name := range trust.HookFiles {
		if s, there := read(root, name); there {
			rules, e := trust.Hooks(s)
			out, err = append(out, rules...), errors.Join(err, e)
		}
	}
	return append(out, frontHooks(root, guidance.Fronts(), same)...), err
}

// FrontHooks returns the hooks of the agents, skills and commands in folders of dir, which is
// not the workspace: each file is known by its whole path.
func FrontHooks(dir string, at ...string) []hook.Rule {
	root, err := os.OpenRoot(dir)
	if err != nil { // then none of them is there
		return nil
	}
	defer root.Close()
	return frontHooks(root, at, wholePath(dir))
}

// maxFronts is how many agents, skills and commands are searched for hooks. One with hooks
// that are not found is not used.
const maxFronts = 1000

// frontHooks returns the hooks of agents, skills and commands, whose files are known by name.
// A file with a hook that pawl does not know is not used.
func frontHooks(root *os.Root, folders []string, name func(string) string) (out []hook.Rule) {
	eachFront(root, folders, func(p string, fields frontmatter.Fields) {
		if rules, err := claudecode.Hooks(name(p), fields); err == nil {
			out = append(out, rules...)
		}
	})
	return out
}

// eachFront calls do for the front matter of each file in some folders.
func eachFront(root *os.Root, folders []string, do func(p string, fields frontmatter.Fields)) {
	n := 0
	for _, at := range folders {
		_ = fs.WalkDir(root.FS(), at, func(p string, d fs.DirEntry, err error) error { // most do not exist
			if err != nil || d.IsDir() || !strings.EqualFold(path.Ext(p), ".md") {
				return nil
			}
			if n++; n > maxFronts {
				return fs.SkipAll
			}
			s, _ := read(root, p)
			if fields, _, err := frontmatter.Parse(s.Text); err == nil {
				do(p, fields)
			}
			return nil
		})
	}
}

func hookParts(root *os.Root, rules []hook.Rule) (parts []trust.Part) {
	reached := map[string][]trust.Source{} // by command: one often serves many events
	for _, r := range rules {
		if r.Prompt != "" { // it runs no file
			parts = append(parts, trust.HookPart(r, nil))
			continue
		}
		if _, known := reached[r.Command]; !known {
			reached[r.Command] = runs(root, "", r.Command)
		}
		parts = append(parts, trust.HookPart(r, reached[r.Command]))
	}
	return parts
}

// runs returns the files that a command line of a folder's configuration runs, and the
// files that those load, since both decide what happens.
func runs(root *os.Root, dir, line string) []trust.Source {
	if dir != "" {
		line = "cd " + shellsyntax.Quote(dir) + "; " + line
	}
	found := reach.Of(root.FS(), reach.Ask{Lines: []string{line}, Root: root.Name(), Deep: true})
	var out []trust.Source
	for _, n := range found.Files {
		if s, there := read(root, n); there {
			out = append(out, s)
		}
	}
	return append(out, found.Sources(root.FS())...)
}

// hooks returns the paths of the files in a folder that git would run.
func hooks(root *os.Root, dir string) []string {
	f, err := root.Open(dir)
	if err != nil { // most folders have none
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(20 * maxHooks) // the entries that could be read count
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
	if text, err := plainfile.ReadIn(root, name, maxFile); err == nil {
		s.Text, s.Unread = string(text), false
	}
	return s, true
}
