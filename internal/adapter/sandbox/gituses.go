package sandbox

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/plainfile"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/confine"
	"github.com/pawl-agent/pawl/internal/policy/gitconfig"
)

// A repository's configuration can run files of the workspace and read more
// configuration from there (core.hooksPath = .githooks, include.path =
// ../.gitconfig): the next git of the person would run what a command or an edit
// wrote. So these files are kept as .git/hooks and .git/config are, by the sandbox
// and by the permissions, which both ask here.

// GitUses finds what git's configuration makes git run or read. It reads a file
// again after it changed. It is safe for concurrent use.
type GitUses struct {
	env        func(string) string
	root, home string
	mu         sync.Mutex
	parsed     map[string]parsed
	// Of this look: the real paths, and the files that were looked at.
	reals  reals
	looked map[string]bool
}

// parsed is a file of configuration as it was read.
type parsed struct {
	st       os.FileInfo
	settings []gitconfig.Setting
}

const (
	maxIncludes     = 10  // how deep files of configuration are followed, as by git
	maxRepositories = 200 // submodules and linked worktrees that are looked at
)

// NewGitUses returns the uses of a workspace, whose real path is root.
func NewGitUses(env func(string) string, root string) *GitUses {
	g := &GitUses{env: env, root: root, parsed: map[string]parsed{}}
	if home := env("HOME"); home != "" {
		g.home = real(home)
	}
	return g
}

// Of returns what git runs or reads of the workspace, whether it is there or not: for
// the workspace's repository, its submodules and linked worktrees, and for the
// repositories in the workspace that hold one of these files.
func (g *GitUses) Of(files ...string) []tool.GitUse {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.reals, g.looked = reals{}, map[string]bool{}
	f := finding{g: g, words: map[string]bool{}}
	for _, r := range g.repositories(files) {
		f.top, f.seen = r.top, map[string]bool{}
		for _, c := range append(r.configs, g.personal()...) {
			f.file(c, 0)
		}
		for _, s := range gitconfig.Environment(g.env) {
			f.setting(s, r.top, 0)
		}
		for _, dir := range r.hooks {
			f.hooks(dir)
		}
		if !strings.Contains(r.folder+"/", "/.git/") { // a bare one, of any name
			for _, name := range gitconfig.Deciding {
				f.add(filepath.Join(r.folder, name), gitconfig.Repository)
			}
		}
	}
	return f.out
}

func (g *GitUses) paths(files ...string) []string {
	var out []string
	for _, u := range g.Of(files...) {
		out = append(out, u.Path)
	}
	return out
}

// personal returns the files of configuration of the machine and of the person.
func (g *GitUses) personal() []string {
	out := []string{"/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig"}
	if g.home != "" {
		out = append(out, filepath.Join(g.home, ".gitconfig"), filepath.Join(g.home, ".config", "git", "config"))
	}
	if dir := g.env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		out = append(out, filepath.Join(dir, "git", "config"))
	}
	for _, name := range []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG"} {
		if file := g.env(name); file != "" {
			out = append(out, resolveAgainst(g.root, file))
		}
	}
	return out
}

// repositoryAt is a working tree, "" for none, with the configuration that holds in it.
type repositoryAt struct {
	top     string
	configs []string
	hooks   []string // folders
	folder  string
}

// repositories returns those that hold the workspace or one of the files, with their
// submodules and linked worktrees. Without one it is what would hold in a new one.
func (g *GitUses) repositories(files []string) []repositoryAt {
	var out []repositoryAt
	looked := map[string]bool{}
	add := func(top, folder string) {
		if len(out) < maxRepositories {
			out = append(out, g.repositoryIn(g.reals.of(top), folder))
		}
	}
	for _, file := range append([]string{filepath.Join(g.root, "x")}, files...) {
		for dir := filepath.Dir(file); !looked[dir]; dir = filepath.Dir(dir) {
			looked[dir] = true
			if folder := gitFolder(dir); folder != "" {
				add(dir, folder)
				for _, l := range linkedTo(folder, maxRepositories) {
					add(l.top, l.folder)
				}
			}
		}
	}
	if dir := g.env("GIT_DIR"); dir != "" {
		add(resolveAgainst(g.root, g.env("GIT_WORK_TREE")), resolveAgainst(g.root, dir))
	}
	if len(out) == 0 {
		out = append(out, repositoryAt{top: g.root, folder: "/.git"})
	}
	return out
}

func (g *GitUses) repositoryIn(top, folder string) repositoryAt {
	r := repositoryAt{top: top, folder: folder}
	folders := []string{folder}
	if shared := readLine(filepath.Join(folder, "commondir")); shared != "" {
		folders = append(folders, resolveAgainst(folder, shared))
	}
	for _, f := range folders {
		r.configs = append(r.configs, filepath.Join(f, "config"), filepath.Join(f, "config.worktree"))
		r.hooks = append(r.hooks, filepath.Join(f, "hooks"))
	}
	for _, c := range r.configs {
		for _, s := range g.settings(c) {
			if s.Key == "core.worktree" && s.Value != "" {
				r.top = g.reals.of(resolveAgainst(folder, s.Value))
			}
		}
	}
	return r
}

// gitFolder returns the git folder of a working tree, or a bare repository itself; ""
// for another folder.
func gitFolder(dir string) string {
	dot := filepath.Join(dir, ".git")
	st, err := os.Stat(dot)
	switch {
	case err == nil && st.IsDir():
		return dot
	case err == nil && st.Mode().IsRegular():
		if to, ok := strings.CutPrefix(readLine(dot), "gitdir: "); ok {
			return resolveAgainst(dir, to)
		}
	case isRepository(dir):
		return dir
	}
	return ""
}

// linkedTree is a working tree with its git folder.
type linkedTree struct{ top, folder string }

// linkedTo returns the submodules and the linked worktrees that a git folder holds.
func linkedTo(folder string, most int) []linkedTree {
	var out []linkedTree
	var modules func(dir string, depth int)
	modules = func(dir string, depth int) {
		for _, e := range entries(dir) {
			at := filepath.Join(dir, e)
			switch {
			case len(out) >= most || depth > 5:
				return
			case isRepository(at):
				out = append(out, linkedTree{filepath.Dir(folder), at}) // core.worktree names the folder
				modules(filepath.Join(at, "modules"), depth+1)
			default: // a submodule's name may have slashes
				modules(at, depth+1)
			}
		}
	}
	modules(filepath.Join(folder, "modules"), 0)
	for _, e := range entries(filepath.Join(folder, "worktrees")) {
		at := filepath.Join(folder, "worktrees", e)
		if back := readLine(filepath.Join(at, "gitdir")); back != "" && len(out) < most {
			out = append(out, linkedTree{filepath.Dir(resolveAgainst(at, back)), at})
		}
	}
	return out
}

// entries returns the folders in a folder.
func entries(dir string) []string {
	all, _ := os.ReadDir(dir) // none where there is none
	var out []string
	for _, e := range all {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out
}

// finding is one look at the configuration of a repository.
type finding struct {
	g     *GitUses
	top   string // of the working tree, for relative paths
	seen  map[string]bool
	words map[string]bool // that were looked at
	out   []tool.GitUse
}

func (f *finding) file(name string, depth int) {
	if f.seen[name] || depth > maxIncludes {
		return
	}
	f.seen[name] = true
	for _, s := range f.g.settings(name) {
		f.setting(s, filepath.Dir(name), depth)
	}
}

// setting keeps what a setting in a file of the folder dir names.
func (f *finding) setting(s gitconfig.Setting, dir string, depth int) {
	switch s.Use() {
	case gitconfig.Hooks:
		at := f.path(f.top, s.Value)
		f.keep(at, s.Key)
		f.hooks(at)
		// husky's own hooks run those in the folder above.
		if above, own := filepath.Split(filepath.Clean(at)); own == "_" && filepath.Base(above) == ".husky" {
			f.keep(above, s.Key)
			f.hooks(above)
		}
	case gitconfig.Include:
		at := f.path(dir, s.Value)
		f.keep(at, s.Key)
		f.file(at, depth+1)
	case gitconfig.Read:
		f.keep(f.path(f.top, s.Value), s.Key)
	case gitconfig.Run:
		words, sure := s.Names()
		for _, w := range words {
			f.word(w, s.Key, sure)
		}
	}
}

// hooks keeps where hooks that are links lead, and the files in which programs that
// install themselves as hooks read what to run.
func (f *finding) hooks(dir string) {
	all, _ := os.ReadDir(dir) // none where there is none
	for _, e := range all {
		at := filepath.Join(dir, e.Name())
		if !slices.Contains(gitconfig.HookNames, e.Name()) {
			continue
		}
		if e.Type()&os.ModeSymlink != 0 {
			f.keep(at, "hook "+e.Name())
		}
		for _, s := range f.g.parse(at, gitconfig.ReadByHook) {
			f.keep(f.path(f.top, s.Value), "hook "+e.Name())
		}
	}
}

// word keeps what a word of a command is, if it is a file, or may become one. Not the
// programs of packages, which package managers write.
func (f *finding) word(w, setting string, sure bool) {
	at := f.path(f.top, w)
	if f.words[at] || strings.HasPrefix(w, "-") || strings.HasSuffix(w, "/") {
		return
	}
	f.words[at] = true
	if slices.ContainsFunc(strings.Split(at, "/"), func(n string) bool { return n == "node_modules" || n == "vendor" }) {
		return
	}
	st, err := os.Stat(at)
	if err == nil && st.Mode().IsRegular() || os.IsNotExist(err) && sure && strings.Contains(w, "/") && !strings.ContainsAny(w, " \t|;&") && confine.Within(f.g.root, at) {
		f.keep(at, setting)
	}
}

// keep adds a path, and where it leads.
func (f *finding) keep(path, setting string) {
	for _, at := range leads(path) {
		switch {
		case at == f.g.root && setting == "core.hookspath":
			for _, name := range gitconfig.HookNames {
				f.add(filepath.Join(at, name), setting)
			}
		case !confine.Within(at, f.g.root):
			f.add(at, setting)
		}
	}
}

func (f *finding) add(path, setting string) {
	path = filepath.ToSlash(path)
	if !slices.ContainsFunc(f.out, func(u tool.GitUse) bool { return u.Path == path }) {
		f.out = append(f.out, tool.GitUse{Path: path, Setting: setting})
	}
}

// path returns a path of the configuration as git reads it.
func (f *finding) path(dir, p string) string {
	if rest, ok := strings.CutPrefix(p, "~/"); ok && f.g.home != "" {
		return filepath.Join(f.g.home, rest)
	}
	if filepath.IsAbs(p) {
		return p
	}
	return dir + "/" + p // not cleaned: ".." after a link leads elsewhere
}

// leads returns the places of a path: where it ends, and the links on its way, since
// another link in their place would lead elsewhere.
func leads(path string) []string {
	var out []string
	disk := filepath.VolumeName(path)
	dir, rest := disk+"/", strings.Split(strings.Trim(filepath.ToSlash(path[len(disk):]), "/"), "/")
	for links := 0; len(rest) > 0; rest = rest[1:] {
		next := filepath.Join(dir, rest[0])
		to, err := os.Readlink(next)
		if err != nil {
			dir = next
			continue
		}
		if links++; links > 40 {
			return out
		}
		if out = append(out, next); filepath.IsAbs(to) {
			disk = filepath.VolumeName(to)
			dir, to = disk+"/", to[len(disk):]
		}
		rest = append(append([]string{""}, strings.Split(filepath.ToSlash(to), "/")...), rest[1:]...)
	}
	return append(out, dir)
}

// settings reads a file of git's configuration; there are none in one that cannot be
// read.
func (g *GitUses) settings(file string) []gitconfig.Setting { return g.parse(file, gitconfig.Parse) }

// parse reads a file, again only if it changed. Many repositories of a look share files.
func (g *GitUses) parse(file string, read func(string) []gitconfig.Setting) []gitconfig.Setting {
	if g.looked[file] {
		return g.parsed[file].settings
	}
	g.looked[file] = true
	st, err := os.Stat(file)
	if err != nil || !st.Mode().IsRegular() {
		delete(g.parsed, file)
		return nil
	}
	if old, ok := g.parsed[file]; ok && os.SameFile(old.st, st) && old.st.ModTime().Equal(st.ModTime()) && old.st.Size() == st.Size() {
		return old.settings
	}
	delete(g.parsed, file)
	f, err := plainfile.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, 1<<20)) // what was read counts
	p := parsed{st, read(string(b))}
	g.parsed[file] = p
	return p.settings
}
