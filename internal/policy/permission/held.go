package permission

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/command"
	"github.com/pawl-agent/pawl/internal/policy/host"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// Opening is an access that a running command's confinement does not cover and that a
// person can allow while the command waits (SPEC 16.14).
type Opening struct {
	// Act is what the command wants: to write a file, to reach a host or an address.
	Act string
	// Opens is what a yes allows: the folder of the file, the file itself where the folder
	// is more than one would allow, the host or the address.
	Opens string
	// Name is the host's name that leads to the address, "" for none.
	Name string
	// Rule is the rule that a session grant or a permanent grant adds, "" for none.
	Rule string
	// Always: the grant may be permanent.
	Always bool
}

func (o Opening) String() string {
	switch o.Act {
	case ActPerson:
		return "run as you, outside the sandbox"
	case ActInstall:
		return "install packages in " + o.Opens + ", from " + o.Name
	case process.ActGit:
		return "use the git repository " + o.Opens
	case process.ActHost, process.ActConnect:
		if o.Name != "" {
			return "connect to " + o.Opens + ", the address of " + o.Name
		}
		return "connect to " + o.Opens
	case process.ActRead:
		return "read " + o.Opens
	case process.ActChange:
		return "change or delete files here"
	case process.ActLose:
		return "remove or replace " + o.Opens + " and files like it, without a copy for undo"
	}
	return "change or delete files in " + o.Opens
}

// ActInstall is to install packages for a project elsewhere: to read and change its files in the
// folder Opens, and to reach the host Name.
const ActInstall = "install"

// Install returns what an access of an install from a host opens, and what is asked about it:
// of a file of the project all that the install does.
func (o Opening) Install(what, from string) (opens, asks Opening) {
	dir, _, found := strings.Cut(what, "/node_modules")
	if !found {
		dir = path.Dir(what)
	}
	file, whole := o, Opening{Act: ActInstall, Opens: dir, Name: from}
	if file.Opens == dir {
		file.Opens = what // the folder is more
	}
	if o.Act != process.ActHost && file.In(whole) {
		return file, whole
	}
	return o, o
}

// In reports whether a yes to another opening allows this one, too.
func (o Opening) In(other Opening) bool {
	rest, below := strings.CutPrefix(o.Opens, strings.TrimSuffix(other.Opens, "/")+"/")
	first, _, _ := strings.Cut(rest, "/")
	files := below && (o.Act == process.ActWrite || o.Act == process.ActRead)
	if other.Act == ActInstall {
		return o == other || o.Act == process.ActHost && o.Opens == other.Name || files && slices.Contains(command.InstallFiles, first)
	}
	return o == other || files && o.Act == other.Act
}

// Flag is what a headless run would need on its command line, "" if no flag allows it.
func (o Opening) Flag() string {
	switch {
	case o.Act == process.ActChange:
		return "--permission-mode " + string(allowing(doChange))
	case o.Rule == "":
		return ""
	}
	return "--allow " + shellsyntax.Quote(o.Rule)
}

// Held decides about an access that a command meets while it runs: a person is asked, a
// rule allows it, or it is refused. Refused without a question are protected files, keys
// and files that look like keys, pawl's own state, git's own files anywhere and what it
// runs or reads, the system's files, files that a login runs, the hidden files of a home,
// which programs write without needing to, and addresses of a cloud's metadata. The model
// can still ask for some of these by name.
func (p *Policy) Held(r process.Refusal, git []tool.GitUse) (Opening, Verdict) {
	if r.Act == process.ActLose {
		return Opening{Act: r.Act, Opens: fmt.Sprintf("%s (%.1f MB)", p.shown(r.What), float64(r.Size)/(1<<20))}, p.mode.on(doLose)
	}
	if r.Rule != "" { // a yes is about all that the rule names
		pattern := strings.TrimSuffix(r.Rule[strings.IndexByte(r.Rule, '(')+1:], ")")
		return Opening{Act: r.Act, Opens: pattern}, Ask
	}
	p = p.forCall("", git)
	if p.holdsHome {
		return Opening{}, Deny
	}
	if p.mode.Free() { // a sandbox that a person configured holds in it, and it asks nothing
		if o, v := p.In(allowing(doChange)).Held(r, git); v == Allow {
			return o, v
		}
		return Opening{}, Deny
	}
	changes := !p.mode.ReadsOnly() && !p.cfg.Sandbox.Narrow
	switch {
	case p.ofPerson(r) && changes:
		return Opening{Act: ActPerson, Opens: r.What}, Ask
	case r.Act == process.ActRead:
		return p.heldFile(readPart, r.What)
	case !changes:
		return Opening{}, Deny
	}
	switch r.Act {
	case process.ActGit:
		_, v := p.heldFile(writePart, r.What)
		return Opening{Act: r.Act, Opens: r.What}, v // without its hooks and configuration, which no rule says
	case process.ActWrite, process.ActRemove:
		if p.inside(r.What) {
			return p.heldProtected(r.What)
		}
		return p.heldFile(writePart, r.What)
	case process.ActHost, process.ActConnect:
		return p.heldHost(r)
	}
	return Opening{}, Deny
}

// Closed returns why no rule and no yes opens an access that a command was refused, as in
// "which the rule read(x) denies", "" if one may.
func (p *Policy) Closed(r process.Refusal) string {
	u := part{path: p.abs(r.What)}
	switch r.Act {
	case process.ActRead:
		u.kind = readPart
	case process.ActWrite, process.ActRemove:
		u.kind = writePart
	case process.ActHost, process.ActConnect:
		u.kind, u.host = hostPart, r.What
	default:
		return ""
	}
	u = u.ofCommand()
	if i := slices.IndexFunc(p.rules, func(rule Rule) bool { return rule.List == Denies && p.denies(rule, u) }); i >= 0 {
		return "the rule " + p.rules[i].told() + " denies"
	}
	if u.kind != hostPart && p.cfg.State != "" && under(u.path, p.cfg.State) {
		return "no rule opens"
	}
	return ""
}

// heldProtected decides about a protected file of the workspace. Git's own files stay closed.
func (p *Policy) heldProtected(file string) (Opening, Verdict) {
	u := p.pathPart(writePart, file, false).ofCommand()
	if u.guard != protectedGuard || u.git || strings.HasPrefix(protected(p.shown(file)), ".git") || path.Clean(file) != file {
		return Opening{}, Deny
	}
	o, d := Opening{Act: process.ActWrite, Opens: file}, p.judge(u)
	o.offers(d)
	return o, d.Verdict
}

// heldFile decides about a file outside the workspace, and offers the folder above it where
// that is not more than one would allow.
func (p *Policy) heldFile(kind partKind, file string) (Opening, Verdict) {
	judge := func(path string) Decision {
		u := p.landPart(tool.ResolvedPath{Path: path, Named: path, Write: kind == writePart}).ofCommand()
		if kind == readPart && u.pattern != "" {
			u.pattern = tool.ReadFamily + "(" + p.shown(path) + ")" // what is opened, no more
		}
		return p.judge(u)
	}
	if !p.mayOpen(file) {
		return Opening{}, Deny
	}
	o := Opening{Act: process.ActWrite, Opens: file}
	if kind == readPart {
		o.Act = process.ActRead
	}
	d := judge(file)
	switch {
	case d.Verdict != Ask:
		return o, d.Verdict
	case d.By != event.ByRule && d.Pattern == "": // no rule can name it
		return Opening{}, Deny
	}
	o.offers(d)
	folder := path.Dir(file)
	if strings.Count(folder, "/") < 2 || !p.mayOpen(folder) {
		return o, Ask
	}
	// With a rule about something in it, the folder is more than the file's yes.
	if d := judge(folder); d.Verdict == Ask && d.By != event.ByRule {
		o.Opens = folder
		o.offers(d)
	}
	return o, Ask
}

func (p *Policy) heldHost(r process.Refusal) (Opening, Verdict) {
	g, err := host.ParseGrant(strings.ToLower(r.What))
	if err != nil || strings.Contains(r.What, "*") {
		return Opening{}, Deny
	}
	o := Opening{Act: r.Act, Opens: g.String(), Name: r.Name}
	u := part{kind: hostPart, host: o.Opens, pattern: network + "(" + o.Opens + ")"}
	d := p.judge(u.ofCommand())
	if d.Verdict == Ask && g.LinkLocal() {
		return Opening{}, Deny // only a rule that names it opens it
	}
	o.offers(d)
	return o, d.Verdict
}

// offers sets what a grant would add. A rule that asks asks again each time.
func (o *Opening) offers(d Decision) {
	if d.By != event.ByRule {
		o.Rule, o.Always = d.Pattern, d.CanAlways
	}
}

// ofCommand returns the part as part of a command line.
func (u part) ofCommand() part {
	u.by, u.shell = callee{tool: tool.CommandFamily, family: tool.CommandFamily}, true
	return u
}

// mayOpen reports whether a person can be asked to let a confined process change or create a
// file. Not one that is hidden in a home, which may run when the person logs in, or a program
// there.
func (p *Policy) mayOpen(file string) bool {
	inHome := func(name string) bool {
		return slices.ContainsFunc([]string{p.cfg.Home, p.cfg.RealHome}, func(home string) bool {
			return home != "" && strings.HasPrefix(fold2(file), fold2(home+"/"+name))
		})
	}
	switch {
	case p.usedByGit(file),
		!path.IsAbs(file), path.Clean(file) != file, file == "/", p.inside(file), HoldsHome(file, p.cfg.Home),
		gitControl(file), p.keyFile(file), secrets.LooksSecret(file), protected(file) != "",
		slices.Contains(strings.Split(fold2(file), "/"), ".git"),
		p.cfg.State != "" && (under(file, p.cfg.State) || under(p.cfg.State, file)),
		p.cfg.Root != "" && under(p.cfg.Root, file),
		systemPath(file) && (p.cfg.Home == "" || !under(file, p.cfg.Home)),
		inHome("."), inHome("bin/"), inHome("go/bin/"):
		return false
	}
	return len(p.system.Grant(nil, nil, []string{file}).Opened) > len(p.system.Opened)
}
