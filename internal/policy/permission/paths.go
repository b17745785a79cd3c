package permission

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/confine"
	"github.com/pawl-agent/pawl/internal/policy/guidance"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// protectedNames are names, at any depth, that need a question in every mode (SPEC
// 16.3).
var protectedNames = append([]string{".git"}, confine.Protected...)

// whyProtected describes why a name is protected.
func whyProtected(name string) string {
	if strings.HasPrefix(name, ".git") || slices.ContainsFunc(guidance.Names(), func(n string) bool { return strings.EqualFold(n, name) }) {
		return name + " decides what pawl or git does"
	}
	return name + " decides what an editor, a shell or another agent runs"
}

func fold(s string) string  { return confine.FoldName(s) }
func fold2(p string) string { return confine.FoldPath(p) }

// protected returns the protected name in a path.
func protected(p string) string { return protectedBy(p, false) }

// protectedBy also returns one that a pattern of the shell may match. A part of only "*" matches
// any name and so means none.
func protectedBy(p string, glob bool) string {
	for c := range strings.SplitSeq(p, "/") {
		f := fold(c)
		for _, n := range protectedNames {
			n = strings.ToLower(n)
			if f == n || glob && strings.Trim(f, "*") != "" && strings.ContainsAny(f, "*?[") && (n[0] != '.' || f[0] == '.') && globMatch(simple(f), n) {
				return n
			}
		}
	}
	if f := fold(path.Base(p)); f == "git~1" {
		return ".git"
	}
	return ""
}

// simple widens a shell pattern: a bracket expression becomes any one character.
func simple(s string) string {
	var b strings.Builder
	for {
		before, in, ok := strings.Cut(s, "[")
		_, after, closed := strings.Cut(in, "]")
		if !ok || !closed {
			return b.String() + s
		}
		b.WriteString(before + "?")
		s = after
	}
}

// gitControl reports whether writing a path would change what git runs: hooks
// and configuration, of the repository, its modules and the user.
func gitControl(abs string) bool {
	f := fold2(abs)
	parts := strings.Split(f, "/")
	for i, c := range parts {
		if c != ".git" || i+1 >= len(parts) {
			continue
		}
		for _, d := range parts[i+1:] {
			switch d {
			case "config", "config.worktree", "hooks", "attributes", "commondir", "gitdir":
				return true
			}
		}
	}
	base := path.Base(f)
	return base == ".gitconfig" || strings.HasSuffix(f, "/.config/git/config") || strings.HasSuffix(f, "/.config/git/attributes") || f == "/etc/gitconfig"
}

// keyFile reports whether a path is a file of keys or a folder of keys. Inside
// the workspace only private keys with their usual names count; other
// secret-looking files there ask.
func (p *Policy) keyFile(abs string) bool {
	f := fold2(abs)
	base, dir := path.Base(f), path.Base(path.Dir(f))
	switch {
	case strings.HasSuffix(base, ".pub"):
		return false
	case slices.Contains([]string{"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk"}, base),
		f == "/etc/shadow", f == "/etc/gshadow", f == "/etc/sudoers", strings.HasPrefix(f, "/etc/ssh/ssh_host"),
		strings.HasPrefix(f, "/proc/") && slices.Contains([]string{"environ", "mem", "auxv"}, base),
		p.cfg.State != "" && under(f, fold2(p.cfg.State)) && !(p.cfg.Spill != "" && under(f, fold2(p.cfg.Spill))):
		return true
	case p.inside(abs), dir == ".ssh" && (base == "config" || base == "authorized_keys" || strings.HasPrefix(base, "known_hosts")), dir == ".aws" && base == "config":
		return false
	case slices.Contains([]string{".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk"}, path.Ext(base)):
		return !strings.HasPrefix(f, "/etc/ssl/certs/") && !strings.HasPrefix(f, "/usr/share/")
	}
	return confine.OfKeys(f)
}

// under reports whether a path is a folder or below it.
func under(p, dir string) bool { return dir != "" && confine.Within(dir, p) }

// inside reports whether an absolute path is in the workspace.
func (p *Policy) inside(abs string) bool {
	return p.cfg.Root != "" && under(abs, p.cfg.Root)
}

// abs returns a span's path as an absolute path.
func (p *Policy) abs(s string) string {
	if path.IsAbs(s) {
		return path.Clean(s)
	}
	return path.Join(p.cfg.Root, s)
}

// readable reports whether every tool may read a path outside the workspace without a
// question: what confined commands may read (SPEC 16.18), but no keys and nothing of
// other processes.
func (p *Policy) readable(abs string) bool {
	at := beforeGlob(abs)
	switch {
	case !path.IsAbs(at), ofProcess(abs), p.keyFile(at), secrets.LooksSecret(abs), slices.ContainsFunc(p.keys, func(k string) bool { return confine.Within(k, at) }):
		return false
	case p.system.MayRead(at):
		return true
	}
	if p.cfg.Scratch != nil && p.cfg.Scratch(at, false) {
		return true
	}
	return p.cfg.Readable != nil && p.cfg.Readable().MayRead(at)
}

// scratch reports whether a path is the session's own in /tmp, or will be when it is made.
func (p *Policy) scratch(abs string) bool {
	return p.cfg.Scratch != nil && !p.keyFile(abs) && !secrets.LooksSecret(abs) && p.cfg.Scratch(abs, true)
}

// ofProcess reports whether a path tells of another process, such as its command line.
func ofProcess(abs string) bool {
	rest, ok := strings.CutPrefix(abs, "/proc/")
	part, _, _ := strings.Cut(rest, "/")
	return ok && (strings.Trim(part, "0123456789") == "" || strings.ContainsAny(part, "*?["))
}

// shown returns a path for a person: relative if it is in the workspace.
func (p *Policy) shown(abs string) string {
	if r, ok := strings.CutPrefix(abs, p.cfg.Root+"/"); ok {
		return r
	}
	if abs == p.cfg.Root {
		return "."
	}
	return abs
}

// systemPath reports whether a path belongs to the machine and not to a person.
func systemPath(abs string) bool {
	top, _, _ := strings.Cut(strings.TrimPrefix(abs, "/"), "/")
	switch top {
	case "etc", "usr", "bin", "sbin", "lib", "lib32", "lib64", "boot", "sys", "proc", "dev", "var", "opt", "run", "System", "Library", "Applications", "private", "root", "srv", "":
		return true
	}
	return false
}

// pathMatch matches a rule's path pattern: "*" and "?" match within one part,
// "**" matches any number of parts; a pattern without a slash matches at any
// depth; one that names a folder covers everything below it. foldCase matches
// widely: case is ignored, and a match of a wildcard covers everything below
// it.
func (p *Policy) pathMatch(pattern, abs string, foldCase bool) bool {
	if !strings.HasPrefix(pattern, "/") && !strings.HasPrefix(pattern, "~") && !p.inside(abs) {
		return false
	}
	if pattern = p.absPattern(pattern); pattern == "" {
		return false
	}
	return confine.MatchPath(pattern, abs, foldCase)
}

func globMatch(pat, s string) bool { return confine.Glob(pat, s) }
