package permission

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/command"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// This file decides how the processes of a call are confined (SPEC 16.12), and
// when the confinement makes a question unnecessary.

// The tools of rules about additional rights of confined commands: the hosts
// that they may reach, and which of them run outside the sandbox.
const (
	network    = "network"
	unconfined = "unconfined"
)

// Sandbox describes the confinement that the kernel offers for commands. With the zero
// value nothing is confined, and syntax alone decides.
type Sandbox struct {
	// ReadOnly and Workspace: commands can be confined at that level.
	ReadOnly, Workspace bool
	// Narrow: the person allows no more than reading.
	Narrow bool
	// Configured: a person configured it. It then applies in yolo mode too.
	Configured bool
	// Off: a person wants none.
	Off bool
	// Holds: a call that the grants do not cover can be held while somebody decides.
	Holds bool
}

// sandboxDecides reports whether a part of a command line needs no question, since the
// sandbox enforces its limits. pawl still asks where a person would rather allow than
// see a refusal, and where the sandbox does not protect: about known paths outside,
// secrets and protected files of the workspace, and permanent deletion.
func (p *Policy) sandboxDecides(u unit) bool {
	plan := p.mode.readsOnly()
	if !u.shell || u.asked || u.unconfined || !p.cfg.Sandbox.starts(p.mode) || p.wide && !plan {
		return false
	}
	switch u.kind {
	case commandUnit:
		return plan || !u.once
	case writeUnit:
		switch {
		case plan:
			return true
		case u.once, u.guard != outsideGuard && u.guard != noGuard:
			return false
		}
		return u.guard == noGuard || u.path == "" || u.given || u.maybe || p.heldAt(process.ActWrite, u)
	case readUnit:
		return u.guard == outsideGuard && (u.path == "" || u.maybe || p.readable(u.path) || plan && p.neverReadable(u.path) || p.heldAt(process.ActRead, u))
	}
	return false
}

// heldAt reports whether the kernel holds a command at a place that its words name, so that
// the person need not be asked before.
func (p *Policy) heldAt(act string, u unit) bool {
	if !p.cfg.Sandbox.Holds || u.glob || u.sensitive {
		return false
	}
	_, v := p.Held(process.Refusal{Act: act, What: u.path}, nil)
	return v != Deny
}

// confinedReading reports whether a command line runs in plan mode, in a sandbox in
// which it can change nothing and read no keys. Its words then need not be judged for
// that.
func (p *Policy) confinedReading(c Call) bool {
	return p.mode.readsOnly() && c.Footprint.Shell != "" && !c.Footprint.Unconfined && p.cfg.Sandbox.starts(p.mode) && p.open == ""
}

// neverReadable reports whether no confined command can read a path or a pattern,
// whatever a person allowed: it is among the keys of their home, which no policy may
// open.
func (p *Policy) neverReadable(file string) bool {
	at := beforeGlob(file)
	return at != "" && !p.inside(at) && !p.system.MayRead(at) && slices.ContainsFunc(p.keys, func(k string) bool { return confine.Within(k, at) })
}

// confine returns what the processes of a call may access: as little as the call's
// parts need, and outside the workspace only what a person or one of their rules names.
func (p *Policy) confine(c Call, units, granted []unit) process.Confine {
	sb := p.cfg.Sandbox
	if p.mode.free() && !sb.Configured {
		return process.Free
	}
	if p.asksUnconfined(units) {
		return process.Free
	}
	level := process.Workspace
	if p.mode.readsOnly() || sb.Narrow || !slices.ContainsFunc(units, func(u unit) bool { return !u.readOnly && u.kind != readUnit && (u.kind != hostUnit || u.shell) }) {
		level = process.ReadOnly
	}
	if level == process.ReadOnly && !sb.ReadOnly || level == process.Workspace && (!sb.Workspace || p.wide) {
		return process.Free
	}
	out := process.Confine{Level: level}
	for _, u := range granted {
		root := beforeGlob(u.path)
		switch {
		case u.kind == hostUnit:
			out.Hosts = append(out.Hosts, u.host)
		case root == "" || root == "/" || u.maybe || u.given || u.guard == noGuard || u.guard == deniedGuard:
		case u.kind == readUnit:
			out.Reads = append(out.Reads, root)
		case u.kind == writeUnit:
			out.Writes = append(out.Writes, root)
		}
	}
	for _, u := range units {
		if u.kind == readUnit && p.cfg.Spill != "" && under(u.path, p.cfg.Spill) && u.path != p.cfg.Spill {
			out.Reads = append(out.Reads, beforeGlob(u.path)) // an output that pawl stored for the model
		}
	}
	for _, r := range p.rules {
		root := p.root(r)
		switch {
		case r.List == Allows && r.Tool == network && !r.Bare:
			out.Hosts = append(out.Hosts, r.Pattern)
		case root == "":
		case r.family() == tool.ReadFamily:
			out.Reads = append(out.Reads, root)
		default:
			out.Writes = append(out.Writes, root)
		}
	}
	if level == process.ReadOnly {
		out.Hosts = nil
	}
	for _, l := range []*[]string{&out.Reads, &out.Writes, &out.Hosts} {
		slices.Sort(*l)
		*l = slices.Compact(*l)
	}
	return out
}

// unconfined reports whether a call's processes run with all rights of the person
// although nobody requested that.
func (p *Policy) unconfined(c Call, units []unit) bool {
	return !p.mode.free() && c.Footprint.Shell != "" && p.confine(c, units, nil).Level == process.Unconfined && !p.asksUnconfined(units)
}

// askUnconfined asks about a part of an unconfined call that the mode allows, if only a sandbox would
// limit it: anything in a folder that holds keys; what runs programs of an untrusted
// folder (SPEC 16.1); and, without a sandbox, what auto allows beyond accept-edits
// (SPEC 16.12).
func (p *Policy) askUnconfined(u unit, d Decision) Decision {
	if d.Verdict != Allow || d.By == "rule" {
		return d
	}
	ask := Decision{Verdict: Ask, By: "sandbox", Pattern: u.pattern, CanAlways: !u.sensitive && u.pattern != ""}
	switch {
	case p.open != "" && u.derived:
		return d // the question about its command includes it
	case p.open != "":
		ask.Reason = u.why + ", and nothing confines it: " + p.open
	case u.kind == commandUnit && !p.trusted && (u.class == command.Checking || u.class == command.Safe && !u.readOnly && base(u.cmd) == "git"):
		ask.By = ByUntrusted
		ask.Reason = u.why + ", which runs what this folder says, as you: the folder is not trusted, and no sandbox holds it"
	case u.kind == commandUnit && u.class == command.Safe && !u.readOnly && !p.cfg.Sandbox.Off:
		ask.By, ask.Reason = "mode", u.why
	default:
		return d
	}
	return ask
}

// openTo returns why no sandbox can confine the commands of a folder, "" if one can.
func openTo(cfg Config) string {
	if cfg.Root == "" || cfg.Sandbox.Off {
		return ""
	}
	for _, home := range []string{cfg.Home, cfg.RealHome} {
		facts := confine.Facts{Root: cfg.Root, Home: home}
		for _, s := range append([]string{cfg.State}, cfg.Own...) {
			if s != "" {
				facts.State = append(facts.State, clean(s))
			}
		}
		if err := confine.New(confine.ReadOnly, facts).Apart(); err != nil {
			return err.Error()
		}
	}
	return ""
}

// asksUnconfined reports whether a command line runs outside the sandbox once it is
// allowed: a person is asked about exactly that, or one of their rules allows it for
// each command.
func (p *Policy) asksUnconfined(units []unit) bool {
	asked := false
	for _, u := range units {
		if u.kind != commandUnit || u.readOnly {
			continue
		}
		if !u.unconfined && !slices.ContainsFunc(p.rules, func(r Rule) bool { return r.List == Allows && r.Tool == unconfined && p.allows(r, u) }) {
			return false
		}
		asked = true
	}
	return asked && !p.mode.readsOnly() && !p.cfg.Sandbox.Narrow
}

// setUnconfined marks a command that asks to run outside the sandbox: only a rule
// about that allows it, and a grant adds such a rule.
func (u *unit) setUnconfined() {
	u.unconfined, u.readOnly = true, false
	if rest, ok := strings.CutPrefix(u.pattern, tool.CommandFamily+"("); ok {
		u.pattern = unconfined + "(" + rest
	} else {
		u.pattern = ""
	}
	u.why += ", outside the sandbox"
}

// root returns the file or folder outside the workspace that a rule allows as a whole,
// "" for none.
func (p *Policy) root(r Rule) string {
	if r.List != Allows || r.Bare || r.Pattern == anywhere || r.family() != tool.ReadFamily && r.family() != tool.EditFamily {
		return ""
	}
	pattern := r.Pattern
	if !strings.HasPrefix(pattern, "/") && (!strings.HasPrefix(pattern, "~/") || p.cfg.Home == "") {
		return ""
	}
	whole := strings.TrimSuffix(strings.TrimSuffix(pattern, "**"), "/")
	root := p.literal(whole)
	if strings.ContainsAny(whole, "*?") || !path.IsAbs(root) || root == "/" || p.inside(root) {
		return ""
	}
	return root
}

// beforeGlob returns the part of a path before the first wildcard.
func beforeGlob(file string) string {
	if i := strings.IndexAny(file, "*?["); i >= 0 {
		return path.Dir(file[:i] + "x")
	}
	return file
}
