package permission

import (
	"errors"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/command"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

type partKind int

const (
	toolPart partKind = iota // the tool itself, for calls without other parts
	commandPart
	readPart
	writePart
	hostPart
)

// part is one part of a call that is judged separately.
type part struct {
	kind partKind
	by   callee // the call's tool
	cmd  shellsyntax.Command
	path string // absolute; "" unknown; a pattern keeps its wildcards
	glob bool
	host string
	// derived: the path is in a command's own words; the decision about the
	// command covers it unless the path is guarded.
	derived  bool
	readOnly bool
	subject  string // see Call.Subject
	// check: the command is one of the project's checks. edits: it changes files as
	// pawl's own tools do.
	check, edits bool
	// guard is why no broad rule and no mode except yolo allows it.
	guard guard
	why   string
	// shell: it is part of a command line.
	shell bool
	// held: the sandbox holds it when it happens.
	held bool
	// unparsed: the command stands for a line that cannot be parsed.
	unparsed bool
	// confined: the call runs in the sandbox.
	confined bool
	// unconfined: the call asks to run outside the sandbox.
	unconfined bool
	// git: git runs or reads the path. A rule about it contains name.
	git       bool
	scratch   bool // the session's own in /tmp
	name      string
	sensitive bool // it can never be allowed permanently
	pattern   string
}

type guard int

const (
	noGuard guard = iota
	outsideGuard
	secretGuard
	protectedGuard // not even in yolo
)

// Decide judges a call. The lists of commands and skills are not about what a person's
// prompt mentions, nor about a line of the command itself that only reads.
func (p *Policy) Decide(c Call) Decision {
	if c.Mention || c.Written {
		if d := p.beyondTurn().inTurn(c); c.Mention || d.Verdict == Allow && d.By == event.ByReadOnly {
			return d
		}
	}
	return p.inTurn(c)
}

func (p *Policy) inTurn(c Call) Decision {
	p = p.forCall(c.Footprint.Shell, c.Footprint.Git)
	d := p.decide(c)
	if p.mode.ReadsOnly() && d.Verdict == Deny && d.By == event.ByMode {
		d.Flag = p.beyondPlan(c)
	}
	return p.withinTools(c, p.narrow(c, d))
}

// beyondPlan returns what a run would need for a call that plan mode denies:
// the strictest mode that allows it, or a rule with the mode that asks.
func (p *Policy) beyondPlan(c Call) string {
	q := *p
	for _, m := range Modes() {
		q.mode = m
		if d := q.decide(c); !m.ReadsOnly() && !m.Free() && d.Verdict == Allow && !d.Confine.Asks {
			return "--permission-mode " + string(m)
		}
	}
	q.mode = Default(true)
	if d := q.decide(c); d.Verdict == Ask && d.Flag != "" {
		return "--permission-mode ask " + d.Flag
	}
	return ""
}

func (p *Policy) decide(c Call) Decision {
	for _, r := range p.rules {
		if r.List == Denies && r.Bare && r.names(c.callee()) {
			return denied(r)
		}
	}
	if c.Footprint.AsksPerson {
		return Decision{Verdict: Allow, By: event.ByReadOnly, Reason: "it only asks you"} // and it runs nothing
	}
	cmds, err := p.commands(c.Footprint)
	switch {
	case errors.Is(err, shellsyntax.ErrForkBomb):
		d, _ := refusal("it would start itself again and again until the machine stops")
		return d
	case err != nil: // it may run anything
		cmds = []shellsyntax.Command{{Words: []shellsyntax.Word{{Text: c.Footprint.Shell}}, Code: true}}
	}
	if d, refused := p.refuse(c, cmds); refused {
		return d
	}
	return p.combine(c, p.parts(c, cmds))
}

// commands returns the parsed command line: the tool's own parse, since the tool knows
// the shell that will run it, or else the policy's.
func (p *Policy) commands(f tool.Footprint) ([]shellsyntax.Command, error) {
	if len(f.Commands) > 0 || f.Shell == "" {
		return f.Commands, nil
	}
	return command.ParseWith(f.Shell, shellsyntax.Options{Dir: p.cfg.Root, Home: p.cfg.Home, POSIX: p.cfg.POSIX})
}

// parts splits a call into its parts.
func (p *Policy) parts(c Call, cmds []shellsyntax.Command) []part {
	held := p.held(c.Footprint)
	out := p.lineParts(cmds, held)
	for _, l := range c.Footprint.Resolved {
		if u := p.landPart(l); !l.Maybe || p.asksAbout(u) || !held && (u.guard != noGuard || p.ruled(u)) {
			out = append(out, u)
		}
	}
	for _, s := range c.Footprint.Reads {
		out = append(out, p.pathPart(readPart, p.abs(s.Path), false))
	}
	for _, s := range c.Footprint.Writes {
		out = append(out, p.pathPart(writePart, p.abs(s.Path), false))
	}
	for _, h := range c.Footprint.Hosts {
		u := part{kind: hostPart, host: hostOf(h), pattern: tool.WebFamily + "(" + hostOf(h) + ")", why: "it connects to " + hostOf(h)}
		if c.Footprint.Shell != "" {
			u.host = strings.ToLower(h)
			u.pattern = network + "(" + u.host + ")"
			u.why = "what it runs may send anything to " + u.host
		}
		out = append(out, u)
	}
	if c.Footprint.Shell != "" && len(out) == 0 {
		// A comment, a [[ … ]], or a function that is never called.
		return []part{{kind: toolPart, by: callee{tool: c.Tool}, readOnly: true, why: "it runs nothing"}}
	}
	if len(out) == 0 || c.Footprint.Unknown && len(cmds) == 0 {
		u := part{kind: toolPart, readOnly: c.ReadOnly && !c.Footprint.Unknown, pattern: c.Tool, why: "it may change something"}
		out = append(out, u)
	}
	for i := range out {
		out[i].by, out[i].shell, out[i].subject = c.callee(), c.Footprint.Shell != "", c.Subject
		out[i].confined = p.confined(c.Footprint)
		out[i].unparsed = out[i].cmd.Code && len(out[i].cmd.Words) == 1 && out[i].cmd.Words[0].Text == c.Footprint.Shell
		if c.Footprint.Unconfined && out[i].kind == commandPart && p.cfg.Sandbox.ReadOnly {
			out[i].setUnconfined()
		}
	}
	return out
}

func hostOf(h string) string {
	h = strings.ToLower(h)
	if i := strings.LastIndexByte(h, ':'); i > 0 && !strings.Contains(h[i+1:], "]") && strings.Count(h, ":") == 1 {
		h = h[:i]
	}
	return strings.TrimSuffix(h, ".")
}

// pathPart judges a path that is read or written.
func (p *Policy) pathPart(w partKind, abs string, glob bool) part {
	u := part{kind: w, path: abs, glob: glob}
	name := p.shown(abs)
	if name == "." {
		name = "the whole workspace"
	}
	verb, rule := "reads ", tool.ReadFamily+"("
	if w == writePart {
		verb, rule = "changes ", tool.EditFamily+"("
	}
	u.why = "it " + verb + name
	u.pattern = rule + p.shown(abs) + ")"
	prot := protectedBy(p.shown(abs), glob)
	use, ruled := tool.GitUse{}, ""
	if w == writePart && prot == "" {
		use, ruled = p.gitUse(abs)
	}
	switch {
	case ruled != "":
		u.guard, u.sensitive, u.git, u.name = protectedGuard, true, use.Setting != tool.Instructions, ruled
		u.why = "it changes " + name + ", " + gitDoes(use.Setting)
	case w == writePart && prot != "":
		u.guard, u.sensitive = protectedGuard, true
		u.why = "it changes " + name + ", and " + whyProtected(prot)
	case w == readPart && p.cfg.Spill != "" && under(abs, p.cfg.Spill):
		u.readOnly = true
	case !p.inside(abs) && w == readPart && p.readable(abs):
		u.readOnly = true
	case !p.inside(abs) && w == writePart && p.scratch(abs):
		u.scratch = true
	case !p.inside(abs):
		u.guard = outsideGuard
		u.why = "it " + verb + abs + ", which is outside the workspace"
		u.sensitive = w == writePart && systemPath(abs) || secrets.LooksSecret(abs)
		if dir := abs[:strings.LastIndexByte(abs, '/')+1]; w == readPart && !u.sensitive && !HoldsHome(dir, p.cfg.Home) && !HoldsHome(dir, p.cfg.RealHome) {
			u.pattern = rule + dir + "**)"
		}
	case secrets.LooksSecret(abs) && !(w == readPart && secrets.EnvFile(abs)): // its values are masked
		u.guard, u.sensitive = secretGuard, true
		u.why = "it " + verb + name + ", which looks like it holds secrets"
	default:
		u.readOnly = w == readPart
	}
	if glob || strings.ContainsAny(abs, "()*?'\"\\") || !printable(abs) {
		u.pattern = ""
	}
	return u
}

// instead returns what the model can do where a path outside the workspace stays closed.
func (p *Policy) instead(u part) string {
	switch {
	case u.guard != outsideGuard || u.path == "":
		return ""
	case u.kind == writePart:
		if p.cfg.Scratch != nil {
			return "Write below the workspace, or a new file in /tmp"
		}
		return "Write below the workspace"
	case u.kind == readPart:
		return "Open to every tool are the workspace, /usr, and the toolchains, libraries and module caches that are installed"
	}
	return ""
}

// combine judges every part; the strictest answer counts.
func (p *Policy) combine(c Call, parts []part) Decision {
	out := Decision{Verdict: Allow, By: event.ByReadOnly, Reason: "it only reads", CanAlways: true}
	var reasons, patterns []string
	var granted []part
	whole := true
	started := startedParts{always: true}
	bare := p.unconfinable != "" && c.Footprint.Shell != "" && !p.mode.Free() && p.confine(c, parts, nil).Level == process.Unconfined
	for _, u := range parts {
		d := p.judge(u)
		if bare && d.Verdict == Allow && d.By != event.ByRule && !u.derived { // a folder that holds keys
			d = Decision{Verdict: Ask, By: event.BySandbox, Reason: u.why + ", and nothing confines it: " + p.unconfinable, Pattern: u.pattern, CanAlways: !u.sensitive && u.pattern != ""}
		}
		if d.Verdict == Ask || d.By == event.ByRule {
			granted = append(granted, u)
		}
		started.add(u, d)
		switch {
		case d.Verdict == Deny:
			return d
		case d.Verdict == Ask:
			if out.Verdict == Allow {
				out.Verdict, out.By, out.Rule, out.Instead = Ask, d.By, d.Rule, p.instead(u)
			}
			if !slices.Contains(reasons, d.Reason) {
				reasons = append(reasons, d.Reason)
			}
			out.CanAlways = out.CanAlways && d.CanAlways && d.Pattern != ""
			whole = whole && d.Pattern != ""
			if d.Pattern != "" && !slices.Contains(patterns, d.Pattern) {
				patterns = append(patterns, d.Pattern)
			}
		case out.Verdict == Allow && d.By != event.ByReadOnly && out.By != event.ByRule:
			out.By, out.Reason, out.Rule = d.By, d.Reason, d.Rule
		}
	}
	out.Confine = p.confine(c, parts, granted)
	if out.Confine.Level == process.Workspace && p.mode.on(doChange) == Ask {
		if out.Confine.Asks, out.Changes = started.asks(), strings.Join(started.patterns, ", "); out.Confine.Asks {
			out.Confine.Editors = p.editors(parts)
		}
	}
	if program := p.plantedFor(out); program != "" {
		out.Verdict, out.By, out.Reason, out.CanAlways = Ask, event.BySandbox, "it runs "+program+" of the workspace, and nothing confines it", false
		return out
	}
	if out.Verdict != Ask {
		out.CanAlways = out.Changes != "" && started.always
		return out
	}
	if len(reasons) > 3 {
		reasons = append(reasons[:3], "and more")
	}
	out.Reason = strings.Join(reasons, "; ")
	if whole {
		out.Pattern = strings.Join(patterns, ", ")
	}
	out.CanAlways = out.CanAlways && out.Pattern != ""
	if whole && len(patterns) > 0 {
		var flags []string
		for _, r := range patterns {
			flags = append(flags, "--allow "+shellsyntax.Quote(r))
		}
		out.Flag = strings.Join(flags, " ")
	}
	return out
}

// startedParts are the parts of a command that only the sandbox lets start. If the person is
// asked about the command itself, or allows it by a rule, its changes are part of that.
type startedParts struct {
	patterns []string // that would allow them, nil if one has none
	always   bool     // they may be permanent
	any      bool
	asked    bool
	unnamed  bool
}

func (s *startedParts) add(u part, d Decision) {
	switch {
	case u.kind == commandPart && d.Verdict == Ask:
		s.asked = true
	case d.By != event.BySandbox || u.kind != commandPart && (u.kind != writePart || u.guard != noGuard):
	case u.pattern == "":
		s.any, s.unnamed = true, true
	default:
		s.any = true
		if !slices.Contains(s.patterns, u.pattern) {
			s.patterns = append(s.patterns, u.pattern)
			s.always = s.always && !u.sensitive
		}
	}
	if s.unnamed {
		s.patterns = nil
	}
}

func (s *startedParts) asks() bool { return s.any && !s.asked }

// judge judges one part, in the order of the package comment.
func (p *Policy) judge(u part) Decision {
	for _, r := range p.rules {
		if r.List == Denies && p.denies(r, u) {
			return denied(r)
		}
	}
	if p.mode.ReadsOnly() && !u.held && !u.readOnly && (u.kind != hostPart || u.shell) && u.kind != readPart {
		return Decision{Verdict: Deny, By: event.ByMode, Reason: "plan mode only reads, and " + u.why}
	}
	ask := Decision{Verdict: Ask, Reason: u.why, Pattern: u.pattern, CanAlways: !u.sensitive && u.pattern != ""}
	if p.mayBeDenied(u) {
		ask.By, ask.Pattern, ask.CanAlways = event.ByRule, "", false
		ask.Reason = u.why + ", and a deny rule may name what it touches"
		return ask
	}
	allowed, aRule := -1, Rule{}
	asked, kRule := -1, Rule{}
	changed := ""
	for _, r := range p.rules {
		n := r.specific()
		switch {
		case r.List == Allows && n > allowed && p.allows(r, u):
			if file := p.changedSince(r, u); file != "" {
				changed = file
				continue
			}
			allowed, aRule = n, r
		case r.List == Asks && n > asked && p.denies(r, u):
			asked, kRule = n, r
		}
	}
	switch {
	case asked >= 0 && asked >= allowed:
		ask.By, ask.Rule = event.ByRule, kRule.Text
		ask.Reason = "the rule " + kRule.told() + " says to ask"
		return ask
	case allowed >= 0:
		return Decision{Verdict: Allow, By: event.ByRule, Rule: aRule.Text, Reason: "the rule " + aRule.Text + " allows it"}
	case changed != "" && !u.confined:
		ask.By, ask.Reason = event.ByRedefined, u.why+", and "+changed+", which it runs, was changed since you allowed that"
		return ask
	}
	return p.byMode(u, ask)
}

func denied(r Rule) Decision {
	return Decision{Verdict: Deny, By: event.ByRule, Rule: r.Text, Reason: "the rule " + r.told() + " denies it"}
}

// told names a rule, and where it stands if another agent's settings have it.
func (r Rule) told() string {
	if r.Origin != "" {
		return r.Text + " (" + r.Origin + ")"
	}
	return r.Text
}

// byMode decides if no rule matches.
func (p *Policy) byMode(u part, ask Decision) Decision {
	switch {
	case u.unparsed && !u.held:
		ask.By, ask.Reason = event.BySyntax, "its command line cannot be parsed, so its effect is unknown"
		return ask
	case u.unconfined && (!p.mode.Free() || p.cfg.Sandbox.Configured):
		ask.By = event.BySandbox
		return ask
	case u.scratch:
		return Decision{Verdict: Allow, By: event.ByScratch, Reason: "it is this session's own in the temporary folder"}
	case u.guard == protectedGuard:
		ask.By = event.ByProtected
		return ask
	case u.guard != noGuard && !p.mode.Free():
		ask.By = event.ByOutside
		if u.guard == secretGuard {
			ask.By = event.ByProtected
		}
		return ask
	case u.readOnly:
		return Decision{Verdict: Allow, By: event.ByReadOnly, Reason: "it only reads"}
	}
	is := func(f fact) bool { return p.mode.on(f) == Allow && !p.holdsHome }
	ok := p.mode.Free() || u.derived
	switch u.kind {
	case writePart:
		ok = ok || is(doEdit)
	case commandPart:
		ok = ok || u.confined && (u.edits && is(doEdit) || u.check && is(doCheck)) || is(doCheck) && p.trusted && u.check && len(command.Executing(u.cmd)) == 0 && !p.redefined(definitions...)
	}
	switch ask.By = event.ByMode; {
	case ok:
		return Decision{Verdict: Allow, By: event.ByMode, Reason: string(p.mode) + " mode allows it"}
	case u.held:
		return sandboxHolds
	}
	return ask
}

// sandboxHolds allows a part of a command to start: what it does is decided when it does it.
var sandboxHolds = Decision{Verdict: Allow, By: event.BySandbox, Reason: "the sandbox holds what it does"}
