package permission

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
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

// confine returns what the processes of a call may access: as little as the call's
// parts need, and outside the workspace only what a person or one of their rules names.
func (p *Policy) confine(c Call, parts, granted []part) process.Confine {
	sb := p.cfg.Sandbox
	if p.mode.Free() && !sb.Configured {
		return process.Free
	}
	if p.asksUnconfined(parts) {
		return process.Free
	}
	level := process.Workspace
	if p.mode.ReadsOnly() || sb.Narrow || !slices.ContainsFunc(parts, func(u part) bool { return !u.readOnly && u.kind != readPart && (u.kind != hostPart || u.shell) }) {
		level = process.ReadOnly
	}
	if level == process.ReadOnly && !sb.ReadOnly || level == process.Workspace && (!sb.Workspace || p.holdsHome) {
		return process.Free
	}
	out := process.Confine{Level: level, Rules: p.pathRules(granted)}
	for _, u := range granted {
		root := beforeGlob(u.path)
		switch {
		case u.kind == hostPart:
			out.Hosts = append(out.Hosts, u.host)
		case root == "" || root == "/" || u.guard == noGuard:
		case u.kind == readPart:
			out.Reads = append(out.Reads, root)
		case u.kind == writePart:
			out.Writes = append(out.Writes, root)
		}
	}
	for _, u := range parts {
		if u.kind == readPart && p.cfg.Spill != "" && under(u.path, p.cfg.Spill) && u.path != p.cfg.Spill {
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

// editors returns what may change files here without a question although its line has other
// programs, too: those that do only what their words say, as the edit tools do.
func (p *Policy) editors(parts []part) (out []string) {
	if p.mode.on(doEdit) != Allow || p.holdsHome {
		return nil
	}
	for _, u := range parts {
		name, _ := u.cmd.Program()
		switch {
		case u.kind == writePart && u.guard == noGuard:
			name = "" // the shell
		case u.kind != commandPart:
			continue
		case u.cmd.Evaluates, u.cmd.Code, slices.Contains([]string{".", "source", "enable"}, name):
			return nil // the shell may run any line
		case !u.edits:
			continue
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// whyUnconfinable returns why no sandbox can confine the commands of a folder, "" if one can.
func whyUnconfinable(cfg Config) string {
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
func (p *Policy) asksUnconfined(parts []part) bool {
	asked := false
	for _, u := range parts {
		if u.kind != commandPart || u.readOnly {
			continue
		}
		if !u.unconfined && !slices.ContainsFunc(p.rules, func(r Rule) bool {
			return r.List == Allows && r.Tool == unconfined && p.allows(r, u) && p.changedSince(r, u) == ""
		}) {
			return false
		}
		asked = true
	}
	return asked && !p.mode.ReadsOnly() && !p.cfg.Sandbox.Narrow
}

// setUnconfined marks a command that asks to run outside the sandbox: only a rule
// about that allows it, and a grant adds such a rule.
func (u *part) setUnconfined() {
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
