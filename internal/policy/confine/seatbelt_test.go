package confine

import (
	"regexp"
	"strings"
	"testing"
)

// seatbelt is a reading of a profile: the last rule that fits decides. It knows
// the forms that are made here.
type seatbelt []struct {
	allow bool
	ops   []string
	fits  func(path, kind string) bool
}

func readProfile(t *testing.T, profile string) seatbelt {
	t.Helper()
	var out seatbelt
	rule := regexp.MustCompile(`^\((allow|deny) ([a-z*-]+(?: [a-z*-]+)*)(?: (.*))?\)$`)
	filter := regexp.MustCompile(`\((literal|subpath|regex|vnode-type) (#?"(?:[^"\\]|\\.)*"|[A-Z-]+)\)`)
	for line := range strings.Lines(profile) {
		line = strings.TrimSpace(line)
		if m := regexp.MustCompile(`^\(if \(defined\? '[a-z-]+\) (\(.*\))\)$`).FindStringSubmatch(line); m != nil {
			line = m[1]
		}
		m := rule.FindStringSubmatch(line)
		if m == nil || strings.Contains(line, "version") {
			continue
		}
		r := struct {
			allow bool
			ops   []string
			fits  func(path, kind string) bool
		}{m[1] == "allow", strings.Fields(m[2]), func(string, string) bool { return true }}
		if fs := filter.FindAllStringSubmatch(m[3], -1); fs != nil {
			all := strings.Contains(m[3], "(require-all ")
			r.fits = func(path, kind string) bool {
				for _, f := range fs { // all of them, or one
					word := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(f[2], "#"), `"`), `"`)
					ok := false
					switch f[1] {
					case "literal":
						ok = path == word
					case "subpath":
						ok = Within(word, path)
					case "regex":
						ok = regexp.MustCompile(word).MatchString(path)
					case "vnode-type":
						ok = kind == word
					}
					if ok != all {
						return ok
					}
				}
				return all
			}
		} else if m[3] != "" {
			continue // not about files
		}
		out = append(out, r)
	}
	return out
}

func (s seatbelt) allows(op, path, kind string) bool {
	ok := false
	for _, r := range s {
		for _, o := range r.ops {
			if (o == op || o == "default" || strings.HasSuffix(o, "*") && strings.HasPrefix(op, strings.TrimSuffix(o, "*"))) && r.fits(path, kind) {
				ok = r.allow
			}
		}
	}
	return ok
}

// SPEC 16.3, 16.12: what the profile lets be changed, by whatever spelling the
// file system takes for a protected name, and from wherever a folder is moved.
func TestSeatbeltChanges(t *testing.T) {
	f := facts
	f.Home, f.Root = "/Users/u", "/Users/u/w"
	f.State, f.Writes = []string{"/Users/u/.local/state/pawl"}, []string{"/Users/u/.cache/pawl/sandbox/x", "/private/var/folders/ab/T/pawl-sandbox-1"}
	p := New(Workspace, f).Grant(nil, []string{"/Users/u/out"}, []string{"/Users/u/.tool"})
	s := readProfile(t, p.Seatbelt())
	for _, c := range []struct {
		path string
		want bool
	}{
		{"a.go", true}, {"sub/deep/a.go", true}, {".gitignore", true}, {".github/x", true}, {"agents.md.txt", true}, {"HEAD.txt", true}, {"ahead", true},
		{"AGENTS.md", false}, {"agents.MD", false}, {"AGENT\u017f.md", false}, {"sub/CLAUDE.md", false}, {"claude.md/x", false}, {".pawl/x/y", false}, {".PAWL", false},
		{".vscode", false}, {".v\u017fcode/tasks.json", false}, {".V\u017fCODE/x", false}, {"sub/.mcp.json", false}, {".mcp.j\u017fon", false}, {".envrc", false}, {".EnvRC", false},
		{".gitmodules", false}, {".gitmodule\u017f", false}, {"HEAD", false}, {"head", false}, {"x/Head", false},
		{".git", false}, {".GIT", false}, {".GIT/hooks/pre-commit", false}, {".gIt/objects/x", false}, {".git/hooks", false}, {".git/HOOKS/x", false}, {".git/config", false},
		{".git/CONFIG", false}, {".git/config.lock", false}, {".git/info/attributes", false}, {".git/rebase-merge/git-rebase-todo", false}, {".git/modules/x/config", false},
		{".git/index", true}, {".git/index.lock", true}, {".git/HEAD.lock", true}, {".git/HEAD", true}, {".git/objects/ab/cd", true}, {".git/refs/heads/HEAD", true},
		{".git/logs/HEAD", true}, {".git/index.stash.12.lock", true}, {".git/info/refs_ab12", true}, {".git/objects/info/alternates", false}, {".git/objects/info/ALTERNATES", false},
		{"sub/.git/hooks/x", false}, {"sub/.git/index", false}, {"node_modules/p/AGENTS.md", false}, {"node_modules/p/index.js", true},
		{"/Users/u/wx/a", false}, {"/Users/u/x", false}, {"/etc/passwd", false}, {"/private/tmp/x", false}, {"/System/Volumes/Data/Users/u/w/a.go", false},
		{"/private/var/folders/ab/T/pawl-sandbox-1/x", true}, {"/private/var/folders/ab/T/pawl-sandbox-1/d/.git/hooks/x", false}, {"/private/var/folders/ab/T/pawl-sandbox-1/AGENTS.md", false},
		{"/private/var/folders/ab/T/other", false}, {"/Users/u/.cache/pawl/sandbox/x/npm/a", true}, {"/Users/u/.cache/pawl/sandbox/x/d/.claude/y", false},
		{"/Users/u/out/a", true}, {"/Users/u/out/.git/config", false}, {"/Users/u/out/.git/index", true}, {"/Users/u/out/CLAUDE.md", false}, {"/Users/u/.tool", true},
		{"/Users/u/.local/state/pawl/x", false}, {"/Users/u/.ssh/x", false},
	} {
		path := c.path
		if !strings.HasPrefix(path, "/") {
			path = f.Root + "/" + path
		}
		if got := s.allows("file-write-create", path, "REGULAR-FILE"); got != c.want {
			t.Errorf("create %s: %v, want %v", c.path, got, c.want)
		}
		if readProfile(t, New(ReadOnly, f).Seatbelt()).allows("file-write-create", path, "REGULAR-FILE") {
			t.Errorf("read-only: create %s", c.path)
		}
	}
	for _, path := range []string{f.Root, "/Users/u/out", f.Writes[0], f.Writes[1], f.Root + "/.git", f.Root + "/.git/objects", f.Root + "/AGENTS.md"} {
		if s.allows("file-write-unlink", path, "DIRECTORY") {
			t.Errorf("%s can be moved or removed", path)
		}
	}
	for path, want := range map[string]bool{"/.git/COMMIT_EDITMSG": false, "/.git/refs/x": false, "/link": true, "/CLAUDE.md": false} {
		if got := s.allows("file-write-create", f.Root+path, "SYMLINK"); got != want {
			t.Errorf("a link at %s: %v", path, got)
		}
	}
	for _, op := range []string{"file-link", "file-clone", "file-write-setugid"} {
		if s.allows(op, f.Root+"/x", "REGULAR-FILE") {
			t.Errorf("%s is allowed", op)
		}
	}
}

// SPEC 16.12: what the profile lets be read, by a file's other names too.
func TestSeatbeltReads(t *testing.T) {
	f := facts
	f.Home, f.Root, f.State = "/Users/u", "/Users/u/w", []string{"/Users/u/.local/state/pawl"}
	p := New(Workspace, f)
	p.Reads = append(p.Reads, "/Users/u/.local/state/pawl/results/7")
	p.Writes = append(p.Writes, "/Users/u/.local/state/pawl/swarm/1")
	s := readProfile(t, p.Seatbelt())
	for path, want := range map[string]bool{
		"/Users/u/w/x": true, "/usr/bin/true": true, "/System/Library/Frameworks/x": true, "/System/Volumes/Preboot/Cryptexes/OS/System/Library/dyld/x": true,
		"/private/etc/hosts": true, "/": true, "/dev/fd/3": true, "/Users/u/.cargo/bin/x": true,
		"/System/Volumes/Data/Users/u/.ssh/id": false, "/System/Volumes/Data/Users/u/w/x": false, "/Users/u/.ssh/id": false, "/Users/u/x": false, "/Users/v/x": false,
		"/private/etc/master.passwd": false, "/private/etc/sudoers": false, "/Library/Keychains/x": false, "/Users/u/Library/Keychains/x": false, "/private/var/run/x": false,
		"/Users/u/.local/state/pawl/log": false, "/Users/u/.local/state/pawl/results/7": true, "/Users/u/.local/state/pawl/results/8": false,
		"/Users/u/.local/state/pawl/swarm/1/x": true, "/Users/u/.local/state/pawl/swarm/2": false, "/dev/disk0": false, "/dev/ttys001": false, "/dev/tty": false,
	} {
		if got := s.allows("file-read-data", path, "REGULAR-FILE"); got != want {
			t.Errorf("read %s: %v, want %v", path, got, want)
		}
	}
	if !s.allows("file-write-create", "/Users/u/.local/state/pawl/swarm/1/.git/config", "REGULAR-FILE") {
		t.Error("pawl's own programs cannot write in their folder")
	}
	for _, word := range []string{"procargs2", "com.apple.SecurityServer", "trustd", "mDNSResponder", "(allow mach-lookup)", "(allow sysctl-read)", "(allow network", "(?:"} {
		if strings.Contains(p.Seatbelt(), word) {
			t.Errorf("the profile has %s", word)
		}
	}
}
