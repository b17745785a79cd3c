package setup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/folder"
	"github.com/pawl-agent/pawl/internal/adapter/mcp"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/core/gitrepo"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/hook"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// This file decides how a program starts that belongs to the person and not to the
// folder (SPEC 16.16). Such a program runs with all rights of the person, in folders that
// nobody trusts; so nothing of a folder may take its place.
//
//   - MCP servers and credential programs start in a neutral folder, and find nothing
//     through the workspace.
//   - Hooks work in the workspace, as in Claude Code: they look at files by relative
//     paths. One that is confined has the rights of a command there, and keeps the
//     person's search path. One that is not confined is a part of trust there, finds
//     nothing through variables, and may say that it does not need the folder (ADR 043).
//   - Language servers are confined, and need the folder. Where there is no sandbox, those
//     that run no code of the folder start like MCP servers; the others are part of trust.
//   - Programs that pawl starts by a bare name (git, the shell, the editor) are not found
//     through the workspace.

// apartFrom returns the folders through which the person's programs find nothing: the
// workspace, and the repository around it. A workspace that contains the home is not
// somebody else's repository, and the person's programs are in it.
func apartFrom(dir, home string) []string {
	if home != "" && shell.LeadsInto(dir, home) {
		return nil
	}
	out := []string{dir}
	for up := filepath.Dir(dir); up != filepath.Dir(up) && !(home != "" && shell.LeadsInto(up, home)); up = filepath.Dir(up) {
		if gitrepo.Is(up) {
			return append(out, up)
		}
	}
	return out
}

// apart is apartFrom, of some folders and of the one in which pawl was started: the search
// path of the person may lead there.
func (e *Environment) apart(dirs ...string) []string {
	if here, err := filepath.EvalSymlinks(e.Dir); err == nil {
		dirs = append(dirs, here)
	}
	var out []string
	for i, dir := range dirs {
		if dir != "" && !slices.Contains(dirs[:i], dir) {
			out = append(out, apartFrom(dir, e.Env("HOME"))...)
		}
	}
	return out
}

// OwnStarter returns a starter of the person's own programs, which are not confined.
func (e *Environment) OwnStarter() *shell.Starter {
	return shell.NewStarter(shell.StarterOptions{Apart: e.apart()})
}

// FindProgram finds a program of the person by its name, but none that the current folder
// puts in its place. env is the environment with which it starts.
func (e *Environment) FindProgram(name string) (path string, env []string, err error) {
	apart := e.apart()
	env = shell.Apart(os.Environ(), apart)
	path, err = shell.Find(name, env, apart)
	return path, env, err
}

// neutral returns the folder in which a program of the person starts: one of pawl's own,
// where servers may leave files. A confined server cannot read pawl's folders, and a
// state folder in the workspace is not pawl's alone: the root of the file system has
// nothing that a program would look for.
func neutral(state, dir string) func(confined bool) string {
	return func(confined bool) string {
		root := filepath.VolumeName(dir) + string(filepath.Separator)
		if confined || shell.LeadsInto(dir, state) {
			return root
		}
		at := filepath.Join(state, "servers")
		if err := os.MkdirAll(at, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return root // pawl's state cannot be written here
		}
		return at
	}
}

// dependentHooks returns the hooks of the person and of plugins that start in the
// workspace with all rights of the person, each with its part: the folder must be trusted.
func (t *Trust) dependentHooks(rules []hook.Rule, by Confinement) (out []hook.Rule) {
	if len(apartFrom(t.Dir, t.home)) == 0 {
		return nil
	}
	for _, r := range rules {
		if r.InactiveBecause == "" && r.Prompt == "" && !r.Apart && (r.Free || by.server().Level == process.Unconfined) {
			out = append(out, r)
		}
	}
	return out
}

// ownHookParts returns the parts of those hooks, in their order.
func (t *Trust) ownHookParts() ([]trust.Part, error) { return folder.HookParts(t.Dir, t.ownHooks...) }

// inFolder returns why a person's own server depends on the workspace, "" if it does not:
// it is configured to work there, or to run a file there. Such a server starts if the
// folder is trusted, like the folder's own.
func inFolder(s mcp.Server, folders []string) string {
	if s.Project || s.Transport != "stdio" || len(s.Command) == 0 || len(folders) == 0 {
		return ""
	}
	in := func(p string) bool {
		return slices.ContainsFunc(folders, func(f string) bool { return shell.LeadsInto(f, p) })
	}
	switch program := s.Command[0]; {
	case s.Dir != "" && (!filepath.IsAbs(s.Dir) || in(s.Dir)):
		return "it works in " + s.Dir
	case strings.ContainsRune(program, filepath.Separator) && (!filepath.IsAbs(program) || in(program)):
		return "it runs " + program
	}
	for _, a := range s.Command[1:] {
		if _, value, ok := strings.Cut(a, "="); ok && !filepath.IsAbs(a) {
			a = value
		}
		if st, err := os.Stat(a); in(a) && err == nil && st.Mode().IsRegular() {
			return "it is given " + a
		}
	}
	for name, value := range s.Env {
		if n := strings.ToUpper(name); !strings.HasSuffix(n, "PATH") && !strings.HasSuffix(n, "LIB") && !strings.HasSuffix(n, "OPTIONS") && !strings.HasSuffix(n, "PRELOAD") {
			continue
		}
		if slices.ContainsFunc(strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(": =", r) }), in) {
			return "its " + name + " leads here"
		}
	}
	return ""
}

// ownServers reads the person's own servers for a folder.
func (e *Environment) ownServers(paths settings.Paths, dir string) ([]mcp.Server, error) {
	raw, err := settings.ReadServers(paths.MCP())
	if err != nil || raw == nil {
		return nil, err
	}
	return mcp.Parse(paths.MCP(), raw, false, e.withFolder(dir))
}

// withFolder returns the environment of servers, in which they can name the workspace.
func (e *Environment) withFolder(dir string) func(string) string {
	return func(name string) string {
		if name == "PAWL_PROJECT_DIR" || name == "CLAUDE_PROJECT_DIR" {
			return dir
		}
		return e.Env(name)
	}
}

// dependent marks the person's own servers that depend on the workspace, and returns them.
func (t *Trust) dependent(list []mcp.Server) (out []mcp.Server) {
	apart := apartFrom(t.Dir, t.home)
	for i, s := range list {
		if s.Disabled || s.Problem != "" || inFolder(s, apart) == "" {
			continue
		}
		list[i].InFolder = true
		out = append(out, list[i])
	}
	return out
}

// inert gives the person's own servers that depend on the workspace a problem, unless the
// folder is trusted.
func (t *Trust) inert(list []mcp.Server) {
	t.dependent(list)
	for i, s := range list {
		if s.InFolder && s.Problem == "" && !t.trustsServer(s) {
			list[i].Problem = inFolder(s, apartFrom(t.Dir, t.home)) + ", and this folder is not trusted; to trust it: pawl trust"
		}
	}
}

// ownServerParts returns the parts of the person's own servers that depend on the
// workspace.
func (t *Trust) ownServerParts() (parts []trust.Part, err error) {
	for _, s := range t.own {
		p, err := folder.OwnServerPart(t.Dir, serverPart(s), s.Configured(), s.Command, s.Dir)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}
