package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/sandbox/warm"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// This file has the table of toolchains' caches. Commands write to the sandbox's own
// caches, since a person's builds must not trust what a sandbox wrote. The person's caches
// are used, too: go commands read theirs by a program (goCache); for npm, yarn, bun, cargo
// and gradle's wrapper, package warm copies what lock files name; a few are read in place.
// The other caches begin empty.

// caches are the settings that point to the sandbox's own caches.
var caches = []string{
	"GOCACHE=go-build", "XDG_CACHE_HOME=xdg", "CCACHE_DIR=ccache", "SCCACHE_DIR=sccache",
	"npm_config_cache=" + warm.NPM, "YARN_GLOBAL_FOLDER=" + warm.Berry, "PNPM_HOME=pnpm", "BUN_INSTALL_CACHE_DIR=" + warm.Bun, "DENO_DIR=deno",
	"PIP_CACHE_DIR=pip", "UV_CACHE_DIR=uv",
	"CARGO_HOME=" + warm.Cargo, "GRADLE_USER_HOME=" + warm.Gradle,
	"PNPM_CONFIG_STORE_DIR=pnpm-store", // pnpm 11 and newer; else it makes one in the workspace
	"COMPOSER_CACHE_DIR=composer", "BUNDLE_USER_CACHE=bundle",
	// Where the go command counts its own use. Without it, each of its runs is
	// refused a few writes in the user's configuration.
	"TEST_TELEMETRY_DIR=go-telemetry",
}

// copying are the settings by which tools copy files out of their caches. Otherwise they
// try hard links first, which are refused: some tools then warn, some fail.
var copying = []string{"UV_LINK_MODE=copy", "PNPM_CONFIG_PACKAGE_IMPORT_METHOD=copy"}

// inPlace are the person's caches that are read in place, since their use does not change
// them. The folder is below home, or below the cache folder.
var inPlace = []struct{ set, home, cache string }{
	{"GRADLE_RO_DEP_CACHE", ".gradle/caches", ""},
	{"PLAYWRIGHT_BROWSERS_PATH", "", "ms-playwright"},
	{"COREPACK_HOME", "", "node/corepack"},
}

// personCaches returns the person's caches that commands read, and adds those read in
// place to f.
func personCaches(env func(string) string, f *confine.Facts) warm.Persons {
	cache := UserCache(env, f.Home)
	there := func(set, home, below string) string {
		dir := env(set)
		switch {
		case filepath.IsAbs(dir):
		case home != "" && f.Home != "":
			dir = filepath.Join(f.Home, home)
		case below != "" && cache != "":
			dir = filepath.Join(cache, below)
		default:
			return ""
		}
		return folderAt(dir)
	}
	read := func(dir string) {
		if dir = real(dir); holdsNoKeys(*f, dir) {
			f.Reads = append(f.Reads, dir)
		}
	}
	for _, c := range inPlace {
		if dir := there(c.set, c.home, c.cache); dir != "" {
			read(dir)
		}
	}
	p := warm.Persons{NPM: there("npm_config_cache", ".npm", ""), Cargo: there("CARGO_HOME", ".cargo", ""), Gradle: there("GRADLE_USER_HOME", ".gradle", "")}
	if p.Yarn = there("YARN_CACHE_FOLDER", "", "yarn"); p.Yarn == "" && os.Getuid() == 0 {
		p.Yarn = folderAt("/usr/local/share/.cache/yarn") // root's
	}
	p.Berry = there("YARN_GLOBAL_FOLDER", ".yarn/berry", "")
	p.Bun = there("BUN_INSTALL_CACHE_DIR", ".bun/install/cache", "")
	below := func(dir string, names ...string) {
		for _, name := range names {
			if dir != "" {
				read(filepath.Join(dir, name))
			}
		}
	}
	below(p.Cargo, "bin", "env", "git", "registry") // beside them is a file with keys
	below(p.NPM, "_cacache/content-v2")
	below(p.Yarn, "v6")
	below(p.Berry, "cache")
	below(p.Bun, "")
	below(p.Gradle, "wrapper")
	return p
}

// folderAt returns a folder's real path, "" if there is none.
func folderAt(dir string) string {
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return ""
	}
	return real(dir)
}

// ownCaches makes the folder of the sandbox's own caches, lets it be changed,
// and returns the settings that lead to it and to those that are read in place.
func ownCaches(f *confine.Facts, env func(string) string, own string) ([]string, error) {
	if err := os.MkdirAll(own, 0o700); err != nil {
		return nil, fmt.Errorf("make the sandbox's caches: %w", err)
	}
	own = real(own)
	f.Writes = append(slices.Clone(f.Writes), own)
	var set []string
	for _, c := range caches {
		name, folder, _ := strings.Cut(c, "=")
		set = append(set, name+"="+filepath.Join(own, folder))
	}
	set = append(set, copying...)
	registries, err := packageSettings(f, env, own)
	if err != nil {
		return nil, err
	}
	set = append(set, registries...)
	if env("YARN_CACHE_FOLDER") != "" { // not otherwise: newer yarns would not look into the project's .yarn/cache
		set = append(set, "YARN_CACHE_FOLDER="+filepath.Join(own, warm.Yarn))
	}
	cache := UserCache(env, f.Home)
	for _, c := range inPlace {
		dir := filepath.Join(cache, c.cache)
		if c.home != "" {
			dir = filepath.Join(f.Home, c.home)
		}
		if env(c.set) == "" && slices.Contains(f.Reads, dir) {
			set = append(set, c.set+"="+dir)
		}
	}
	return set, nil
}
