package permission

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Check is what is known of a call that runs one of the project's checks.
type Check struct {
	Command string
	// Own: a person's configuration names the command, so that it counts as one
	// of the project's checks whatever it is.
	Own bool
	// Said: the person gave the command for this very run, and what defines it is
	// as it was then. It needs no other yes but in plan mode, where nothing runs.
	Said bool
	// Defined are the files that say what it does.
	Defined []string
	// Untrusted is why the folder's word is not enough to run it, "" where it is
	// trusted (SPEC 16.1): a person is asked, whatever the mode and the rules.
	Untrusted string
	// Seen: the person allowed it in this session, and saw this very definition.
	Seen bool
}

// Decision.By of a check that the agent made another one, and of one whose
// folder is not trusted.
const (
	ByRedefined = "redefined"
	ByUntrusted = "untrusted"
)

// DecideCheck judges a call that pawl makes itself to check the changes: as any
// other, but for what a person's own configuration names, for one whose folder is
// not trusted, and for one that the agent made another one (SPEC 16.4). For the
// last a standing rule of the person's holds, and for both what they allowed in
// this session only where they saw this very definition.
func (p *Policy) DecideCheck(c Call, k Check) Decision {
	q := *p
	q.trusted = k.Untrusted == "" // which is of this very check, as it is now
	d := q.Decide(c)
	if d.Verdict == Deny {
		return d
	}
	var changed []string
	for _, f := range k.Defined {
		if p.Redefined(path.Base(f)) {
			changed = append(changed, f)
		}
	}
	standing := d.By == "rule" && !slices.ContainsFunc(p.rules, func(r Rule) bool { return r.From == Granted && r.Text == d.Rule })
	switch {
	case k.Untrusted != "":
		return k.ask(d, ByUntrusted, k.Untrusted, "--trust")
	case len(changed) > 0 && p.mode != Yolo && !(d.Verdict == Allow && standing):
		return k.ask(d, ByRedefined, "this session changed "+strings.Join(changed, ", ")+", which says what this check does", "")
	case d.Verdict != Ask || d.By != "mode" || p.mode == Plan:
	case k.Said, k.Own && (p.mode == AcceptEdits || p.mode == Auto):
		d.Verdict = Allow
	}
	return d
}

// ask has the person asked about a check, unless they saw it as it is now.
func (k Check) ask(d Decision, by, reason, flag string) Decision {
	if k.Seen {
		d.Verdict = Allow
		return d
	}
	d.Verdict, d.By, d.Reason, d.Flag, d.CanAlways = Ask, by, reason, flag, false
	if d.Pattern = tool.CommandFamily + "(" + k.Command + ")"; strings.ContainsAny(k.Command, "*()\n") {
		d.Pattern = ""
	}
	return d
}
