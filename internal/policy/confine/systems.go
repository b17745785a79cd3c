package confine

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Rights is what a rule of Linux allows for everything below a path.
type Rights int

const (
	Read   Rights = iota // read and run
	All                  // read, run and change
	Device               // read, write, and the ioctls of devices
)

// Rule is a path and the rights below it.
type Rule struct {
	Path   string
	Rights Rights
}

func (r Rule) String() string {
	return [...]string{"read  ", "change", "device"}[r.Rights] + " " + r.Path
}

// Linux returns the policy as rules of Landlock, which can only add rights
// along a path. The workspace has no right to be changed: the sandbox makes
// those changes itself, as Change judges them.
func (p Policy) Linux() []Rule {
	var out []Rule
	for _, r := range slices.Concat(p.whole(), p.Reads) {
		out = append(out, Rule{r, Read})
	}
	for _, g := range slices.Concat(p.Granted, p.Git, p.Common) {
		out = append(out, Rule{g, Read})
	}
	for _, w := range p.Writes {
		r := Rule{w, All}
		if p.Level < Workspace {
			r.Rights = Read
		}
		out = append(out, r)
	}
	for _, d := range devices {
		out = append(out, Rule{d, Device})
	}
	return out
}

// Seatbelt returns the policy as a profile for macOS' sandbox-exec. Later rules win.
func (p Policy) Seatbelt() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("(version 1)")
	line("(deny default)")
	line("(allow process-fork process-exec)")
	line("(allow process-info* signal (target same-sandbox))")
	line("(allow sysctl-read)")
	line("(allow ipc-posix-sem)")
	line("(allow file-read-metadata)")
	for _, l := range p.Lists {
		line("(allow file-read* (literal %s))", quoted(l))
	}
	reads := slices.Concat(p.whole(), p.Reads, p.Writes, p.Granted, p.Git, p.Common, []string{"/System", "/Library/Developer", "/Applications/Xcode.app", "/private/var/db/dyld", "/private/var/db/timezone"})
	for _, r := range reads {
		if r != "" && !strings.HasPrefix(r, "/proc") && !strings.HasPrefix(r, "/sys/") {
			line("(allow file-read* (subpath %s))", quoted(r))
		}
	}
	for _, d := range devices {
		line("(allow file-read* file-write-data file-ioctl (subpath %s))", quoted(d))
	}
	if p.Level >= Workspace && p.Root != "" {
		line("(allow file-write* (subpath %s))", quoted(p.Root))
		for _, g := range p.Guards {
			guardRules(line, g)
		}
		for _, g := range p.Granted {
			line("(allow file-write* (subpath %s))", quoted(g))
			guardRules(line, g)
		}
		for _, g := range p.Git {
			gitRules(line, g, gitFiles[:])
		}
		for _, g := range p.Common {
			gitRules(line, g, gitShared[:])
		}
		for _, o := range p.Opened {
			line("(allow file-read* file-write* (subpath %s))", quoted(o))
		}
		for _, w := range p.Writes {
			line("(allow file-write* (subpath %s))", quoted(w))
		}
	}
	for _, s := range p.Secrets {
		line("(deny file-read* file-write* (subpath %s))", quoted(s))
	}
	line("(deny network*)")
	if p.Loopback {
		// Seatbelt does not know which process owns a server on the loopback.
		line("(allow network-bind network-inbound (local ip \"localhost:*\"))")
		line("(allow network-outbound (remote ip \"localhost:*\"))")
	}
	if p.Level >= Hosts && len(p.Hosts) > 0 && p.Proxy > 0 {
		// Only the proxy, which checks the hosts. No resolver is needed here.
		line("(allow network-outbound (remote ip \"localhost:%d\"))", p.Proxy)
	}
	return b.String()
}

// guardRules refuses the protected names in a folder, but for what git writes.
func guardRules(line func(string, ...any), g string) {
	at := "^" + regexp.QuoteMeta(g) + "/"
	for _, n := range protected {
		line("(deny file-write* (regex %s))", matcher(at+"(.*/)?"+folded(n)+"(/|$)"))
	}
	line("(deny file-write* (regex %s))", matcher(at+"(.*/)?"+folded(".git")+"(/|$)"))
	line("(deny file-write* (regex %s))", matcher(at+"(.*/)?HEAD$"))
	for _, n := range gitFolders {
		line("(allow file-write* (regex %s))", matcher(at+"\\.git/"+n+"/"))
	}
	for _, n := range gitFiles {
		line("(allow file-write* (regex %s))", matcher(at+"\\.git/"+regexp.QuoteMeta(n)+"(\\.lock)?$"))
	}
	line("(allow file-write* (regex %s))", matcher(at+"\\.git/index\\.stash\\.[0-9]+(\\.lock)?$"))
	line("(deny file-write-data file-write-unlink (regex %s))", matcher(at+"\\.git/HEAD$"))
	line("(deny file-write-create (require-all (vnode-type SYMLINK) (regex %s)))", matcher(at+"(.*/)?\\.git/"))
	line("(deny file-write* (regex %s))", matcher(at+"\\.git/objects/info/alternates$"))
	// The folder itself must not be moved, or its rules no longer match.
	line("(deny file-write-unlink (literal %s))", quoted(g))
}

// gitRules opens what git writes in a git folder outside the workspace.
func gitRules(line func(string, ...any), folder string, files []string) {
	at := "^" + regexp.QuoteMeta(folder) + "/"
	for _, n := range gitFolders {
		line("(allow file-write* (regex %s))", matcher(at+n+"/"))
	}
	for _, n := range files {
		line("(allow file-write* (regex %s))", matcher(at+regexp.QuoteMeta(n)+"(\\.lock)?$"))
	}
}

// quoted returns a path as a string of the profile's language.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// matcher returns a regular expression of the profile's language, in which a
// quote would end it.
func matcher(re string) string { return `#"` + strings.ReplaceAll(re, `"`, `.`) + `"` }

// folded returns an expression that matches a name in any case, since macOS'
// file systems ignore case.
func folded(name string) string {
	var b strings.Builder
	for _, r := range name {
		if u, l := strings.ToUpper(string(r)), strings.ToLower(string(r)); u != l {
			b.WriteString("[" + u + l + "]")
		} else {
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	return b.String()
}
