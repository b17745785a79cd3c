package confine

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Seatbelt judges an operation by the path that its file has in the kernel:
// without links, below /private and not below /System/Volumes/Data, in the
// spelling of the disk. The last rule that fits decides. It can subtract, so the
// workspace is opened as a whole and its protected names are shut again. What it
// cannot know, and what follows from that:
//   - from where a folder was moved: so protected names hold in every folder that
//     can be changed, or one could be filled elsewhere and moved to its place;
//   - how many names a file has: so no hard link is made, and none by a clone;
//   - which process a server on the loopback belongs to: so only the proxy's port
//     is open;
//   - whether input is pushed to a terminal: so terminals are not allowed devices.
//
// Its expressions have no (?:), and what is read of them outside ASCII is not
// known, so other letters are met by dots.

// seatbeltReads are the parts of macOS that a command reads: programs, what the
// loader maps (the shared cache is in a cryptex), and named files of /etc. Not
// /System as a whole: below it every file has a second name.
var seatbeltReads = []string{
	"/usr", "/bin", "/sbin", "/opt", "/nix/store",
	"/System/Library", "/System/Cryptexes", "/System/Volumes/Preboot/Cryptexes", "/private/preboot/Cryptexes", "/System/iOSSupport",
	"/Library/Apple", "/Library/Developer", "/Library/Frameworks", "/Library/Java", "/Library/Perl", "/Library/Ruby", "/Applications/Xcode.app",
	"/private/var/db/dyld", "/private/var/db/oah", "/private/var/db/timezone", "/private/var/db/xcode_select_link", "/private/var/select",
	"/private/etc/bashrc", "/private/etc/gitconfig", "/private/etc/group", "/private/etc/hosts", "/private/etc/localtime", "/private/etc/manpaths",
	"/private/etc/networks", "/private/etc/passwd", "/private/etc/paths", "/private/etc/paths.d", "/private/etc/profile", "/private/etc/protocols",
	"/private/etc/rpc", "/private/etc/services", "/private/etc/shells", "/private/etc/ssl/cert.pem", "/private/etc/ssl/certs", "/private/etc/ssl/openssl.cnf",
	"/private/etc/zprofile", "/private/etc/zshrc",
}

// seatbeltClosed is macOS' own that nothing readable may hold.
var seatbeltClosed = []string{
	"/System/Volumes/Data", "/Library/Keychains", "/private/etc/master.passwd", "/private/etc/ssh", "/private/etc/sudoers", "/private/etc/sudoers.d",
	"/private/var/db/dslocal", "/private/var/root", "/private/var/run",
}

// seatbeltDevices are the devices of a command.
var seatbeltDevices = []string{"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/dtracehelper"}

// seatbeltFacts are what programs ask the kernel for at their start. Not
// kern.procargs2, which tells the environment of other processes.
var seatbeltFacts = []string{
	"kern.argmax", "kern.hostname", "kern.maxfiles", "kern.maxfilesperproc", "kern.maxproc", "kern.ngroups", "kern.osproductversion", "kern.osrelease",
	"kern.ostype", "kern.osvariant_status", "kern.osversion", "kern.secure_kernel", "kern.usrstack64", "kern.version", "machdep.ptrauth_enabled",
	"security.mac.lockdown_mode_state", "sysctl.proc_cputype", "sysctl.proc_translated", "vm.loadavg",
}

// Seatbelt returns the policy as a profile for macOS' sandbox-exec.
func (p Policy) Seatbelt() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("(version 1)")
	line("(deny default)")
	line("(allow process-exec)")
	line("(allow process-fork)")
	line("(allow process-info* (target same-sandbox))")
	line("(allow signal (target same-sandbox))")
	for _, f := range seatbeltFacts {
		line("(allow sysctl-read (sysctl-name %s))", quoted(f))
	}
	line(`(allow sysctl-read (sysctl-name-prefix "hw.") (sysctl-name-prefix "machdep.cpu.") (sysctl-name-prefix "kern.proc.pid.") (sysctl-name-prefix "kern.proc.pgrp."))`)
	// Who a user is. No service that starts programs, holds keys or sends anything.
	line(`(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo") (global-name "com.apple.system.opendirectoryd.membership"))`)
	line("(allow file-read-metadata)")
	line("(if (defined? 'file-test-existence) (allow file-test-existence))")
	line("(if (defined? 'file-map-executable) (allow file-map-executable))") // of what can be read
	p.seatbeltReads(line)
	if p.Level >= Workspace && p.Root != "" {
		p.seatbeltWrites(line)
	}
	for _, s := range slices.Concat(p.Secrets, seatbeltClosed) {
		line("(deny file-read* file-write* %s)", below(s))
	}
	for _, r := range p.Reads { // what pawl itself kept for the model
		if within(p.Secrets, r) {
			line("(allow file-read* (literal %s))", quoted(r))
		}
	}
	for _, w := range p.Writes { // folders of pawl's own programs
		if within(p.Secrets, w) {
			line("(allow file-read* %s)", below(w))
			if p.Level >= Workspace {
				line("(allow file-write* %s)", below(w))
			}
		}
	}
	p.seatbeltRules(line)
	line("(deny file-write-setugid)")
	line("(if (defined? 'file-link) (deny file-link))")
	line("(if (defined? 'file-clone) (deny file-clone))")
	line("(deny network*)")
	line("(allow system-socket (socket-domain AF_UNIX))") // pairs, which lead nowhere else
	if p.Proxy > 0 {
		// Only the proxy, which checks the hosts. No resolver is needed here.
		line("(allow network-outbound (remote ip \"localhost:%d\"))", p.Proxy)
	}
	return b.String()
}

func (p Policy) seatbeltReads(line func(string, ...any)) {
	line(`(allow file-read* (literal "/"))`) // the loader, and every search for a working directory
	for _, l := range p.Lists {
		line("(allow file-read* (literal %s))", quoted(l))
	}
	reads := slices.DeleteFunc(slices.Clone(p.Reads), func(r string) bool { return slices.Contains(system, r) })
	for _, r := range slices.Concat(seatbeltReads, p.whole(), reads, p.Writes, p.Granted, p.Git, p.Common) {
		line("(allow file-read* %s)", below(r))
	}
	for _, d := range seatbeltDevices {
		line("(allow file-read* file-write-data file-ioctl (require-all (literal %s) (vnode-type CHARACTER-DEVICE)))", quoted(d))
	}
	line(`(allow file-read* (literal "/dev/autofs_nowait"))`)
	line(`(allow file-read* file-write-data (subpath "/dev/fd"))`) // what is open already
}

func (p Policy) seatbeltWrites(line func(string, ...any)) {
	line("(allow file-write* %s)", below(p.Root))
	guardRules(line, p.Root)
	for _, k := range p.Kept {
		line("(deny file-write* %s)", below(k))
		if rest, ok := strings.CutPrefix(k, p.Root+"/"); ok && !strings.ContainsFunc(rest, func(r rune) bool { return r > unicode.MaxASCII }) {
			line("(deny file-write* (regex %s))", matcher("^"+regexp.QuoteMeta(p.Root)+"/"+folded(rest)+"(/|$)"))
		}
		for dir := path.Dir(k); dir != "/" && dir != p.Root; dir = path.Dir(dir) {
			line("(deny file-write-unlink file-write-create (literal %s))", quoted(dir))
		}
	}
	for _, g := range p.Granted {
		line("(allow file-write* %s)", below(g))
		guardRules(line, g)
	}
	for _, g := range p.Git {
		gitRules(line, g, gitFiles[:])
	}
	for _, g := range p.Common {
		gitRules(line, g, gitShared[:])
	}
	for _, o := range p.Opened {
		line("(allow file-read* file-write* %s)", below(o))
	}
	for _, w := range p.Writes {
		if !within(p.Secrets, w) {
			line("(allow file-write* %s)", below(w))
			protectRules(line, w)
		}
	}
}

// protectRules refuses the protected names in a folder, and that it is moved,
// after which its rules would not fit.
func protectRules(line func(string, ...any), g string) {
	at := "^" + regexp.QuoteMeta(g) + "/"
	for _, n := range slices.Concat(Protected, []string{".git"}) {
		line("(deny file-write* (regex %s))", matcher(at+"(.*/)?"+folded(n)+"(/|$)"))
	}
	line("(deny file-write* (regex %s))", matcher(at+"(.*/)?"+folded("HEAD")+"$"))
	line("(deny file-write-unlink (literal %s))", quoted(g))
}

// guardRules refuses the protected names in a folder, but for what git writes.
func guardRules(line func(string, ...any), g string) {
	protectRules(line, g)
	gitRules(line, g+"/.git", gitFiles[:])
}

// gitRules opens what git writes in a git folder.
func gitRules(line func(string, ...any), folder string, files []string) {
	at := "^" + regexp.QuoteMeta(folder) + "/"
	for _, n := range gitFolders {
		line("(allow file-write* (regex %s))", matcher(at+n+"/"))
	}
	line("(allow file-write-create (regex %s))", matcher(at+"("+strings.Join(gitFolders[:], "|")+")$")) // git makes them where they are not there
	for _, n := range files {
		line("(allow file-write* (regex %s))", matcher(at+regexp.QuoteMeta(n)+"(\\.lock)?$"))
	}
	line("(allow file-write* (regex %s))", matcher(at+"index\\.stash\\.[0-9]+(\\.lock)?$"))
	line("(allow file-write* (regex %s))", matcher(at+"info/refs_[A-Za-z0-9_]+$"))
	// The person's git would write through a link, and reads alternates.
	line("(deny file-write-create (require-all (vnode-type SYMLINK) (regex %s)))", matcher(at))
	line("(deny file-write* (regex %s))", matcher(at+"objects/info/"+folded("alternates")+"(\\.lock)?$"))
}

// below returns filters that match a path, a plain file too, and all below it.
func below(p string) string { return "(literal " + quoted(p) + ") (subpath " + quoted(p) + ")" }

// quoted returns a path as a string of the profile's language.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// matcher returns a regular expression of the profile's language, in which a
// quote would end it.
func matcher(re string) string { return `#"` + strings.ReplaceAll(re, `"`, `.`) + `"` }

// folded returns an expression that matches every name that macOS' file system
// takes for this one: in any case, and with letters that fold to one of ASCII (ſ
// to s, K to k).
func folded(name string) string {
	var b strings.Builder
	for _, r := range name {
		u, l := strings.ToUpper(string(r)), strings.ToLower(string(r))
		switch {
		case l == "s":
			b.WriteString("([sS]|..?)") // two bytes, or one letter
		case l == "k":
			b.WriteString("([kK]|..?.?)")
		case u != l:
			b.WriteString("[" + u + l + "]")
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	return b.String()
}
