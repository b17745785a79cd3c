// Package warm lets the sandbox's own caches begin with what the person's have,
// of what a project's lock files name: packages of npm, yarn and bun, crates of cargo, the
// distributions of gradle's wrapper. So `npm ci` and `cargo build` work inside
// without a network, where they would outside.
//
// It promises that the person's caches are only read, and that nothing is put
// where a command in the sandbox could have led it: own caches get symbolic
// links, each made below the own folder (os.Root), and none stands in for what
// is there already. What it links to is named by lock files alone, which came
// with the repository: names that could be anything else than a package's are
// not followed. What fails is left out: then the package is fetched, or missed,
// as without it.
package warm

import (
	"encoding/base64"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
)

// Persons are the person's caches, "" for none.
type Persons struct {
	NPM    string // what holds _cacache
	Cargo  string // CARGO_HOME
	Gradle string // GRADLE_USER_HOME
	Yarn   string // what holds v6, of yarn 1
	Berry  string // YARN_GLOBAL_FOLDER, of newer ones
	Bun    string // BUN_INSTALL_CACHE_DIR
}

// The own folders, below that of all own caches.
const (
	NPM    = "npm"
	Cargo  = "cargo"
	Gradle = "gradle"
	Yarn   = "xdg/yarn" // where yarn 1 looks by itself
	Berry  = "yarn-global"
	Bun    = "bun"
)

// Filler fills the own caches of a workspace. It is safe for concurrent use.
type Filler struct {
	persons Persons
	root    string

	mu    sync.Mutex
	begun bool
	dirs  []string        // where lock files are looked for
	seen  map[string]mark // lock files that were read
}

// mark is what a file was when it was read.
type mark struct{ size, mtime int64 }

// New returns a Filler for the caches of a workspace.
func New(p Persons, root string) *Filler {
	return &Filler{persons: p, root: root, seen: map[string]mark{}}
}

// maxLock is how large a lock file may be, bytes; maxDirs how many folders of the
// workspace are looked into.
const (
	maxLock = 64 << 20
	maxDirs = 200
)

// Fill links what lock files name that are new or changed since the last time:
// those of the workspace, of the folders in it, and of dir.
func (f *Filler) Fill(own, dir string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	first := !f.begun
	if first {
		f.begun = true
		f.dirs = append(f.dirs, f.root)
		entries, _ := os.ReadDir(f.root)
		for _, e := range entries {
			if e.IsDir() && e.Name() != "node_modules" && e.Name() != ".git" && len(f.dirs) < maxDirs {
				f.dirs = append(f.dirs, filepath.Join(f.root, e.Name()))
			}
		}
	}
	var to *os.Root
	open := func() *os.Root {
		if to == nil {
			to, _ = os.OpenRoot(own)
		}
		return to
	}
	defer func() {
		if to != nil {
			_ = to.Close()
		}
	}()
	if first && f.persons.Gradle != "" {
		f.wrapper(open)
	}
	dirs := f.dirs
	if rel, err := filepath.Rel(f.root, dir); err == nil && filepath.IsLocal(rel) {
		dirs = append(dirs[:len(dirs):len(dirs)], dir)
	}
	for _, lock := range locks {
		for _, d := range dirs {
			name := filepath.Join(d, lock.name)
			now, ok := stamp(name)
			if !ok || f.seen[name] == now {
				continue
			}
			f.seen[name] = now
			if text := read(name); text != nil && open() != nil {
				for _, fill := range lock.fills {
					fill(f.persons, to, text)
				}
			}
		}
	}
}

// locks are the lock files that are known.
var locks = []struct {
	name  string
	fills fills
}{
	{"package-lock.json", fills{npm}},
	{"npm-shrinkwrap.json", fills{npm}},
	{"Cargo.lock", fills{cargo}},
	{"yarn.lock", fills{yarn, berry}},
	{"bun.lock", fills{bun}},
}

type fills = []func(p Persons, to *os.Root, text []byte)

func stamp(name string) (mark, bool) {
	st, err := os.Lstat(name)
	if err != nil || !st.Mode().IsRegular() {
		return mark{}, false
	}
	return mark{st.Size(), st.ModTime().UnixNano()}, true
}

// read returns a regular file's text, nil where it is another thing by now.
func read(name string) []byte {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() || st.Size() > maxLock {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(f, maxLock))
	if err != nil {
		return nil
	}
	return text
}

var integrity = lazyregexp.New(`\b(sha512|sha1)-([A-Za-z0-9+/]{20,90}={0,2})`)

// npm links the contents that a lock file names by their sums: npm looks for them
// so before it asks a registry.
func npm(p Persons, to *os.Root, text []byte) {
	if p.NPM == "" {
		return
	}
	for _, m := range integrity().FindAllSubmatch(text, -1) {
		sum, err := base64.StdEncoding.DecodeString(string(m[2]))
		if err != nil || len(sum) != map[string]int{"sha512": 64, "sha1": 20}[string(m[1])] {
			continue
		}
		x := hex.EncodeToString(sum)
		name := filepath.Join("_cacache", "content-v2", string(m[1]), x[:2], x[2:4], x[4:])
		link(to, filepath.Join(p.NPM, name), filepath.Join(NPM, name))
	}
}

var yarned = lazyregexp.New(`(?m)^"?((?:@[\w.-]+/)?[\w-][\w.-]*)@[^\n]*:\r?\n  version "([\w.+-]+)"\r?\n  resolved "[^"#\n]*#([0-9a-f]{40})"`)

// yarn links the packages that a lock file of yarn 1 names, as it names their
// folders in its cache.
func yarn(p Persons, to *os.Root, text []byte) {
	if p.Yarn == "" {
		return
	}
	for _, m := range yarned().FindAllSubmatch(text, -1) {
		name := "npm-" + strings.ReplaceAll(string(m[1]), "/", "-") + "-" + string(m[2]) + "-" + string(m[3])
		for _, n := range []string{name, name + "-integrity"} {
			link(to, filepath.Join(p.Yarn, "v6", n), filepath.Join(Yarn, "v6", n))
		}
	}
}

var berried = lazyregexp.New(`(?m)^  resolution: "((?:@[\w-][\w.-]*/)?[\w-][\w.-]*)@npm:([0-9][0-9A-Za-z.-]*)(?:\+[^"]*)?"`)

// berry links the archives that a lock file of a newer yarn names. After a
// version they have a sum of the name and a number of the cache's own.
func berry(p Persons, to *os.Root, text []byte) {
	if p.Berry == "" {
		return
	}
	for _, m := range berried().FindAllSubmatch(text, -1) {
		slug := strings.ReplaceAll(string(m[1]), "/", "-") + "-npm-" + string(m[2])
		found, _ := filepath.Glob(filepath.Join(p.Berry, "cache", slug+"-??????????-*.zip"))
		for _, at := range found {
			link(to, at, filepath.Join(Berry, "cache", filepath.Base(at)))
		}
	}
}

var bunned = lazyregexp.New(`\["((?:@[\w-][\w.-]*/)?[\w-][\w.-]*)@([0-9][\w.+-]*)"`)

// bun links the packages that its lock file names. After a version its cache
// has its own number, and the registry's name where that is another.
func bun(p Persons, to *os.Root, text []byte) {
	if p.Bun == "" {
		return
	}
	for _, m := range bunned().FindAllSubmatch(text, -1) {
		found, _ := filepath.Glob(filepath.Join(p.Bun, string(m[1])+"@"+string(m[2])+"@@*"))
		for _, at := range found {
			if rel, err := filepath.Rel(p.Bun, at); err == nil {
				link(to, at, filepath.Join(Bun, rel))
			}
		}
	}
}

var crate = lazyregexp.New(`(?m)^name = "([A-Za-z0-9_-]+)"\r?\nversion = "([0-9A-Za-z.+-]+)"\r?\nsource = "registry\+`)

// cargo links the crates that a lock file names, their entries of the index, and
// the repositories of those that come from git.
func cargo(p Persons, to *os.Root, text []byte) {
	if p.Cargo == "" {
		return
	}
	indexes, _ := os.ReadDir(filepath.Join(p.Cargo, "registry", "index"))
	for _, index := range indexes {
		in := filepath.Join("registry", "index", index.Name())
		link(to, filepath.Join(p.Cargo, in, "config.json"), filepath.Join(Cargo, in, "config.json"))
		for _, m := range crate().FindAllSubmatch(text, -1) {
			name, version := string(m[1]), string(m[2])
			entry := filepath.Join(in, ".cache", prefix(strings.ToLower(name)), strings.ToLower(name))
			link(to, filepath.Join(p.Cargo, entry), filepath.Join(Cargo, entry))
			file := filepath.Join("registry", "cache", index.Name(), name+"-"+version+".crate")
			link(to, filepath.Join(p.Cargo, file), filepath.Join(Cargo, file))
		}
	}
	if !strings.Contains(string(text), `source = "git+`) {
		return
	}
	repositories, _ := os.ReadDir(filepath.Join(p.Cargo, "git", "db"))
	for _, r := range repositories {
		db := filepath.Join("git", "db", r.Name())
		link(to, filepath.Join(p.Cargo, db), filepath.Join(Cargo, db))
	}
}

// prefix returns the folder of a crate in an index.
func prefix(name string) string {
	switch len(name) {
	case 1, 2:
		return string('0' + rune(len(name)))
	case 3:
		return filepath.Join("3", name[:1])
	}
	return filepath.Join(name[:2], name[2:4])
}

// wrapper links the distributions that gradle's wrapper has unpacked.
func (f *Filler) wrapper(open func() *os.Root) {
	dists := filepath.Join("wrapper", "dists")
	found, _ := filepath.Glob(filepath.Join(f.persons.Gradle, dists, "*", "*", "*"))
	for _, at := range found {
		rel, err := filepath.Rel(f.persons.Gradle, at)
		if err == nil && !strings.HasSuffix(at, ".lck") && open() != nil {
			link(open(), at, filepath.Join(Gradle, rel))
		}
	}
}

// link makes a link to what is there, where there is nothing yet.
func link(to *os.Root, target, name string) {
	if _, err := os.Stat(target); err != nil {
		return
	}
	if err := to.MkdirAll(filepath.Dir(name), 0o700); err == nil {
		_ = to.Symlink(target, name)
	}
}
