package sandbox

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/sandbox/gocache"
	"github.com/pawl-agent/pawl/internal/adapter/sandbox/warm"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// goCache returns the setting that makes go commands start pawl, which reads the
// person's build cache and writes the sandbox's own.
func goCache(f *confine.Facts, self string, env func(string) string, own string) []string {
	if self == "" {
		return nil
	}
	persons := goBuild(env, f.Home)
	if st, err := os.Stat(self); err != nil || !st.Mode().IsRegular() { // replaced by a newer one
		return nil
	}
	set := gocache.Setting(real(self), real(persons), filepath.Join(real(own), "go-build"))
	if set == "" {
		return nil
	}
	f.Reads = append(slices.Clone(f.Reads), real(self))
	return []string{set}
}

// homeParts returns what can be read of a workspace that is the home folder or contains
// it: folders that can be listed, and the files and folders that are not hidden. Programs
// keep keys in hidden files under many names; other people's homes are not read.
func homeParts(root, home string, state []string) (lists, parts []string) {
	if home == "" || !confine.Within(root, home) {
		return nil, nil
	}
	for dir := home; ; dir = filepath.Dir(dir) {
		lists = append(lists, dir)
		if dir == root || dir == "/" {
			break
		}
	}
	entries, err := os.ReadDir(home)
	if err != nil {
		return lists, nil
	}
	for _, e := range entries {
		name := filepath.Join(home, e.Name())
		usual := e.Name()[0] != '.' || e.Name() == ".git" || e.Name() == ".gitignore" || e.Name() == ".gitattributes"
		if usual && (e.IsDir() || e.Type().IsRegular()) && !slices.ContainsFunc(state, func(s string) bool { return confine.Within(name, s) || confine.Within(s, name) }) {
			parts = append(parts, name)
		}
	}
	return lists, parts
}

// UserCache returns the user's cache folder, "" for none.
func UserCache(env func(string) string, home string) string {
	if dir := env("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".cache")
}

// goBuild returns the person's own build cache, as the go command finds it.
func goBuild(env func(string) string, home string) string {
	switch dir := env("GOCACHE"); {
	case filepath.IsAbs(dir):
		return dir
	case runtime.GOOS == "darwin" && home != "":
		return filepath.Join(home, "Library", "Caches", "go-build")
	}
	return filepath.Join(UserCache(env, home), "go-build")
}

// locate returns the input of a policy, the folder of the sandbox's own caches for the
// workspace ("" for none), and the person's caches that are read. It creates nothing.
func locate(env func(string) string, root string, state ...string) (f confine.Facts, own string, caches warm.Persons) {
	f.Root = root
	if home := env("HOME"); home != "" {
		if real, err := filepath.EvalSymlinks(home); err == nil {
			f.Home = real
		}
	}
	for _, s := range state {
		f.State = append(f.State, real(s))
	}
	f.Lists, f.Parts = homeParts(root, f.Home, f.State)
	var top string
	if f.Git, f.Common, top = repository(root, f.Home); top != "" {
		with := f
		if with.Reads = []string{top}; confine.New(confine.ReadOnly, with).Validate() == nil { // it holds no keys
			f.Reads = append(f.Reads, top)
		}
	}
	set, goEnv := env, goSettings(env, f.Home)
	env = func(name string) string { return cmp.Or(set(name), goEnv[name]) }
	for _, name := range []string{"GOMODCACHE", "GOROOT", "GOCACHE", "RUSTUP_HOME", "PYENV_ROOT", "NVM_DIR", "VOLTA_HOME", "JAVA_HOME", "VIRTUAL_ENV"} {
		if v := env(name); filepath.IsAbs(v) {
			f.Reads = append(f.Reads, real(v))
		}
	}
	for p := range strings.SplitSeq(env("GOPATH"), ":") {
		if filepath.IsAbs(p) {
			f.Reads = append(f.Reads, real(filepath.Join(p, "pkg/mod")))
		}
	}
	caches = personCaches(env, &f)
	user := UserCache(env, f.Home)
	if user == "" {
		return f, "", caches
	}
	f.Reads = append(f.Reads, real(goBuild(env, f.Home)))
	sum := sha256.Sum256([]byte(root))
	return f, ownFolder(filepath.Join(user, "pawl", "sandbox"), hex.EncodeToString(sum[:8])), caches
}

// goSettings returns what "go env -w" set of the folders that are read.
func goSettings(env func(string) string, home string) map[string]string {
	file := env("GOENV")
	switch {
	case file != "":
	case runtime.GOOS == "darwin":
		file = filepath.Join(home, "Library", "Application Support", "go", "env")
	default:
		file = filepath.Join(cmp.Or(env("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "go", "env")
	}
	out := map[string]string{}
	data, _ := os.ReadFile(file) // most have none
	for line := range strings.Lines(string(data)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && slices.Contains([]string{"GOMODCACHE", "GOPATH", "GOROOT"}, name) {
			out[name] = value
		}
	}
	return out
}

// ownFolder returns the folder of a workspace's caches. A part of its name is by
// chance, so that no repository can bring a link to what a command will make there.
func ownFolder(dir, workspace string) string {
	entries, _ := os.ReadDir(dir) // none: it is the first workspace
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), workspace+"-") {
			return filepath.Join(dir, e.Name())
		}
	}
	return filepath.Join(dir, workspace+"-"+strings.ToLower(rand.Text()[:16]))
}

// withToolchains adds the installations of the programs in PATH. It reads many files.
func withToolchains(f confine.Facts, env func(string) string) confine.Facts {
	f.Reads = append(slices.Clone(f.Reads), installed(f, filepath.SplitList(env("PATH")))...)
	return f
}

// holdsNoKeys reports whether a folder that the environment names can be read.
func holdsNoKeys(f confine.Facts, dir string) bool {
	p := confine.New(confine.ReadOnly, f)
	return dir != "/" && len(p.Grant([]string{dir}, nil, nil).Reads) > len(p.Reads)
}

// real returns a path without symbolic links, as far as it exists.
func real(p string) string {
	p = filepath.Clean(p)
	if r, err := filepath.EvalSymlinks(p); err == nil {
		return r
	}
	if dir := filepath.Dir(p); dir != p {
		return filepath.Join(real(dir), filepath.Base(p))
	}
	return p
}

// reals are the real paths of many paths that share their folders, as of one moment.
type reals map[string]string

// of is real, which looks at each folder once.
func (r reals) of(p string) string {
	p = filepath.Clean(p)
	out, ok := r[p]
	dir := filepath.Dir(p)
	if ok || dir == p {
		return cmp.Or(out, p)
	}
	out = filepath.Join(r.of(dir), filepath.Base(p))
	if _, err := os.Readlink(out); err == nil {
		out = real(p)
	}
	r[p] = out
	return out
}
