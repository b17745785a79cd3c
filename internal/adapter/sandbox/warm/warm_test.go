package warm

import (
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// links are the links below a folder with what they say.
func links(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type()&fs.ModeSymlink != 0 {
			rel, _ := filepath.Rel(dir, name)
			out = append(out, rel)
		}
		return err
	})
	must.Do(t, err)
	return out
}

// sums are a package's text, as a lock file names it, and where a cache has it.
func sums(text string) (integrity, path string) {
	sum := sha512.Sum512([]byte(text))
	x := hex.EncodeToString(sum[:])
	return "sha512-" + base64.StdEncoding.EncodeToString(sum[:]), filepath.Join("_cacache/content-v2/sha512", x[:2], x[2:4], x[4:])
}

const cargoLock = `version = 4

[[package]]
name = "mine"
version = "0.1.0"

[[package]]
name = "Serde"
version = "1.0.1"
source = "registry+https://github.com/rust-lang/crates.io-index"
checksum = "00"

[[package]]
name = "../../x"
version = "1.0.0"
source = "registry+https://github.com/rust-lang/crates.io-index"

[[package]]
name = "abc"
version = "2.0.0+a.1"
source = "git+https://example.com/abc#00"
`

// SPEC 16.12: own caches begin with what lock files name, and with nothing else.
func TestFill(t *testing.T) {
	home, root, own := t.TempDir(), t.TempDir(), t.TempDir()
	p := Persons{NPM: filepath.Join(home, "npm"), Cargo: filepath.Join(home, "cargo"), Gradle: filepath.Join(home, "gradle")}
	one, oneAt := sums("one")
	two, twoAt := sums("two")
	_, otherAt := sums("other")
	missing, _ := sums("missing")
	for _, at := range []string{oneAt, twoAt, otherAt} {
		must.Write(t, filepath.Join(p.NPM, at), at)
	}
	const index = "index.crates.io-6f17d22bba15001f"
	for _, name := range []string{
		"registry/index/" + index + "/config.json", "registry/index/" + index + "/.cache/se/rd/serde", "registry/index/" + index + "/.cache/ot/he/other",
		"registry/cache/" + index + "/Serde-1.0.1.crate", "registry/cache/" + index + "/other-1.0.0.crate", "git/db/abc-1/HEAD", "credentials.toml", "config.toml",
	} {
		must.Write(t, filepath.Join(p.Cargo, name), name)
	}
	must.Write(t, filepath.Join(p.Gradle, "wrapper/dists/gradle-9-bin/x1/gradle-9/bin/gradle"), "x")
	must.Write(t, filepath.Join(p.Gradle, "wrapper/dists/gradle-9-bin/x1/gradle-9-bin.zip.ok"), "")
	must.Write(t, filepath.Join(p.Gradle, "wrapper/dists/gradle-9-bin/x1/gradle-9-bin.zip.lck"), "")
	must.Write(t, filepath.Join(p.Gradle, "gradle.properties"), "password=x")

	must.Write(t, filepath.Join(root, "package-lock.json"), fmt.Sprintf(`{"packages": {"node_modules/one": {"integrity": %q}, "x": {"integrity": %q}, "y": {"integrity": "sha512-Li4vLi4vLi4vLi4vLi4vLi4vLi4v"}}}`, one, missing))
	must.Write(t, filepath.Join(root, "rust", "Cargo.lock"), cargoLock)
	f := New(p, root)
	f.Fill(own, root)
	want := []string{
		"cargo/git/db/abc-1",
		"cargo/registry/cache/" + index + "/Serde-1.0.1.crate",
		"cargo/registry/index/" + index + "/.cache/se/rd/serde",
		"cargo/registry/index/" + index + "/config.json",
		"gradle/wrapper/dists/gradle-9-bin/x1/gradle-9",
		"gradle/wrapper/dists/gradle-9-bin/x1/gradle-9-bin.zip.ok",
		"npm/" + oneAt,
	}
	if got := links(t, own); !slices.Equal(got, want) {
		t.Errorf("linked:\n%q\nwant\n%q", got, want)
	}
	if b, err := os.ReadFile(filepath.Join(own, "npm", oneAt)); err != nil || string(b) != oneAt {
		t.Errorf("%q, %v", b, err)
	}

	// A lock file that changes, and one where a command runs, are read as well.
	must.Write(t, filepath.Join(root, "package-lock.json"), fmt.Sprintf(`{"packages": {"node_modules/two": {"integrity": %q}}}`, two))
	must.Do(t, os.Chtimes(filepath.Join(root, "package-lock.json"), time.Time{}, time.Unix(1, 0)))
	other, _ := sums("other")
	must.Write(t, filepath.Join(root, "a", "b", "npm-shrinkwrap.json"), fmt.Sprintf(`{"integrity": %q}`, other))
	f.Fill(own, filepath.Join(root, "a", "b"))
	for _, at := range []string{twoAt, otherAt} {
		if _, err := os.Stat(filepath.Join(own, "npm", at)); err != nil {
			t.Error(err)
		}
	}
}

// SPEC 16.12: packages of yarn 1 and bun are linked as their lock files name them.
func TestFillYarnAndBun(t *testing.T) {
	home, root, own := t.TempDir(), t.TempDir(), t.TempDir()
	p := Persons{Yarn: filepath.Join(home, "yarn"), Bun: filepath.Join(home, "bun")}
	const sum = "574c8138ce1d2b5861f0b44579dbadd60c6615b2"
	for _, name := range []string{"yarn/v6/npm-ms-2.1.3-" + sum + "-integrity", "yarn/v6/npm-@a-b-1.0.0-" + sum, "yarn/v6/npm-other-1.0.0-" + sum, "bun/ms@2.1.3@@@1", "bun/@a/b@1.0.0@@npm.example.org@@@1", "bun/other@1.0.0@@@1", "secret"} {
		must.Write(t, filepath.Join(home, name, "package.json"), "{}")
	}
	must.Write(t, filepath.Join(root, "yarn.lock"), "# yarn lockfile v1\n\n\"@a/b@^1.0.0\":\n  version \"1.0.0\"\n  resolved \"https://r/b.tgz#"+sum+"\"\n\nms@2, ms@2.1.3:\n  version \"2.1.3\"\n  resolved \"https://r/ms.tgz#"+sum+"\"\n  integrity sha512-x\n\n../../x@1:\n  version \"1.0.0\"\n  resolved \"https://r/x.tgz#"+sum+"\"\n")
	must.Write(t, filepath.Join(root, "bun.lock"), `{"packages": {"ms": ["ms@2.1.3", "", {}, "sha512-x"], "@a/b": ["@a/b@1.0.0", "", {}, ""], "x": ["../../secret@1", ""], "y": ["*@1.0.0"], "z": ["@../secret@1.0.0"]}}`)
	New(p, root).Fill(own, root)
	want := []string{"bun/@a/b@1.0.0@@npm.example.org@@@1", "bun/ms@2.1.3@@@1", "xdg/yarn/v6/npm-@a-b-1.0.0-" + sum, "xdg/yarn/v6/npm-ms-2.1.3-" + sum + "-integrity"}
	if got := links(t, own); !slices.Equal(got, want) {
		t.Errorf("linked:\n%q\nwant\n%q", got, want)
	}
}

// SPEC 16.12: archives of newer yarns are linked as their lock file names them,
// whatever number the cache has, and no others.
func TestFillBerry(t *testing.T) {
	home, root, own := t.TempDir(), t.TempDir(), t.TempDir()
	for _, name := range []string{
		"ms-npm-2.1.3-81ff3cfac1-10c0.zip", "ms-npm-2.1.3-81ff3cfac1-8.zip", "@a-b-npm-1.0.0-0123456789-10c0.zip", "built-npm-1.0.0-0123456789-10c0.zip",
		"ms-npm-2.1.30-81ff3cfac1-10c0.zip", "other-npm-1.0.0-0123456789-10c0.zip", "ms-npm-2.1.3-beta-1-81ff3cfac1-10c0.zip",
	} {
		must.Write(t, filepath.Join(home, "cache", name), "PK")
	}
	must.Write(t, filepath.Join(home, "secret.zip"), "PK")
	must.Write(t, filepath.Join(root, "yarn.lock"), `# This file is generated by running "yarn install"
__metadata:
  version: 8

"ms@npm:2, ms@npm:^2.1.3":
  version: 2.1.3
  resolution: "ms@npm:2.1.3"
  checksum: 10c0/d924b57e7312b3b63ad21fc5b3dc0af5e78d61a1fc7cfb5457edaf26326bf62be5307cc87ffb6862ef1c2b33b0233cdb5d4f01c4c958cc0d660948b65a287a48
  languageName: node

"@a/b@npm:1.0.0":
  resolution: "@a/b@npm:1.0.0"
"built@npm:1.0.0":
  resolution: "built@npm:1.0.0+5.build"
"ms@patch:ms@npm%3A2.1.3#x":
  resolution: "ms@patch:ms@npm%3A2.1.3#x::version=2.1.3"
"x@npm:1":
  resolution: "../secret@npm:1.0.0"
"y@npm:1":
  resolution: "*@npm:1.0.0"
"z@npm:1":
  resolution: "other@npm:*"
`)
	New(Persons{Berry: home}, root).Fill(own, root)
	want := []string{
		"yarn-global/cache/@a-b-npm-1.0.0-0123456789-10c0.zip", "yarn-global/cache/built-npm-1.0.0-0123456789-10c0.zip",
		"yarn-global/cache/ms-npm-2.1.3-81ff3cfac1-10c0.zip", "yarn-global/cache/ms-npm-2.1.3-81ff3cfac1-8.zip",
	}
	if got := links(t, own); !slices.Equal(got, want) {
		t.Errorf("linked:\n%q\nwant\n%q", got, want)
	}
}

// What a command in the sandbox did to the own caches leads nothing outside them,
// and what is there stays. Lock files that are no files are not read.
func TestFillStaysInside(t *testing.T) {
	home, root, own, out := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	p := Persons{NPM: filepath.Join(home, "npm")}
	one, oneAt := sums("one")
	must.Write(t, filepath.Join(p.NPM, oneAt), "theirs")
	must.Write(t, filepath.Join(root, "package-lock.json"), one)
	must.Do(t, os.Symlink(out, filepath.Join(own, "npm")))
	New(p, root).Fill(own, root)
	if es, err := os.ReadDir(out); err != nil || len(es) > 0 {
		t.Errorf("it wrote outside: %v, %v", es, err)
	}
	must.Do(t, os.Remove(filepath.Join(own, "npm")))
	must.Write(t, filepath.Join(own, "npm", oneAt), "mine")
	New(p, root).Fill(own, root)
	if b, err := os.ReadFile(filepath.Join(own, "npm", oneAt)); err != nil || string(b) != "mine" {
		t.Errorf("%q, %v", b, err)
	}
	must.Do(t, os.Remove(filepath.Join(root, "package-lock.json")))
	must.Write(t, filepath.Join(out, "lock"), one)
	must.Do(t, os.Symlink(filepath.Join(out, "lock"), filepath.Join(root, "package-lock.json")))
	fresh := t.TempDir()
	New(p, root).Fill(fresh, root)
	if got := links(t, fresh); len(got) > 0 {
		t.Errorf("a link was read as a lock file: %q", got)
	}
}
