package permission

import (
	"maps"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// Check is what is known of a call that runs one of the project's checks.
type Check struct {
	Command string
	// NamedByPerson: the person named the command for this run, and its definition has
	// not changed since. It needs no other consent, except in plan mode, where
	// nothing runs.
	NamedByPerson bool
	// Defined are the files that define what it does.
	Defined []string
	// Untrusted is why the folder alone cannot permit the check, "" if the
	// folder is trusted (SPEC 16.1). If set, a person is asked, whatever the
	// mode and the rules are.
	Untrusted string
	// AllowedBefore: the person allowed this definition in this session.
	AllowedBefore bool
}

// DecideCheck judges a call by which pawl itself checks the changes. It is judged like
// any other call, with these exceptions: a command in a person's own configuration, a
// check in an untrusted folder, and a check that the agent redefined (SPEC 16.4). The
// tool limits of a command or a skill do not apply to it. For a redefined check the
// person's own rules still apply. For the last two exceptions, what the person allowed
// in this session applies only to the definition that they saw.
func (p *Policy) DecideCheck(c Call, k Check) Decision {
	d := p.beyondTurn().Decide(c)
	if d.Verdict == Deny {
		return d
	}
	changed := p.redefinitions(k.Defined)
	standing := d.By == event.ByRule && !slices.ContainsFunc(p.rules, func(r Rule) bool { return r.From == Granted && r.Text == d.Rule })
	switch {
	case k.Untrusted != "":
		return k.ask(d, event.ByUntrusted, k.Untrusted, "--trust")
	case len(changed) > 0 && d.Confine.Level == process.Unconfined && !p.mode.Free() && !(d.Verdict == Allow && standing):
		return k.ask(d, event.ByRedefined, "this session changed "+strings.Join(changed, ", ")+", which says what this check does", "")
	case d.Verdict != Ask || d.By != event.ByMode || p.mode.ReadsOnly():
	case k.NamedByPerson, p.mode.on(doCheck) == Allow && !p.holdsHome: // in its present state, which is trusted
		d.Verdict = Allow
	}
	if p.mode.on(doCheck) == Allow {
		d.Confine.Asks = false // what a check writes is part of it
	}
	return d
}

// redefinitions returns the changed files that define a check. What makefiles and scripts run
// by a computed name is not known: then every definition or script that was changed counts.
func (p *Policy) redefinitions(defined []string) []string {
	out := slices.DeleteFunc(slices.Clone(defined), func(f string) bool { return !p.redefined(f) })
	if len(out) == 0 && slices.ContainsFunc(defined, command.Defines) {
		out = slices.DeleteFunc(slices.Sorted(maps.Keys(p.changed)), func(f string) bool { return !command.Defines(f) })
	}
	return out
}

// ask turns d into a question about the check, or allows the check if the person
// allowed its present definition.
func (k Check) ask(d Decision, by event.BlockedBy, reason, flag string) Decision {
	if k.AllowedBefore {
		d.Verdict = Allow
		return d
	}
	d.Verdict, d.By, d.Reason, d.Flag, d.CanAlways = Ask, by, reason, flag, false
	if d.Pattern = tool.CommandFamily + "(" + k.Command + ")"; strings.ContainsAny(k.Command, "*()\n") {
		d.Pattern = ""
	}
	return d
}
