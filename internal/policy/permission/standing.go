package permission

import (
	"cmp"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// This file binds a standing rule to what it was given for (SPEC 4.15): a rule that lets a
// command run where nothing confines it holds only while the files that the command is
// made of are as they were when the person agreed. In the sandbox a changed script has no
// more rights than the agent, so there a rule holds as it is.

// Ran is a file that a command line is made of: a program, a script, a makefile.
type Ran struct {
	Path    string // for people
	Changed time.Time
	// Loaded: by a script in a language other than the shell's. Without a sandbox each test
	// loads what was just edited; who lets a command out of the sandbox is asked again.
	Loaded bool
}

// moment is a time in nanoseconds: of a fold's state only plain values are stored.
type moment int64

func at(t time.Time) moment {
	if t.IsZero() {
		return 0
	}
	return moment(t.UnixNano())
}

// AgreedAt returns the rule as a person gave it at a time, in an earlier session.
func (r Rule) AgreedAt(t time.Time) Rule { r.agreed = at(t); return r }

// slack is how much older than it is the kernel may record a change.
const slack = moment(20 * time.Millisecond)

// forCall returns the policy for one call, with what its command line runs, and what git runs
// or reads because of its configuration.
func (p *Policy) forCall(line string, git []tool.GitUse) *Policy {
	q := *p
	q.git, q.runs = git, nil
	if p.cfg.Runs != nil && line != "" {
		q.runs = sync.OnceValue(func() []Ran { return p.cfg.Runs(line) })
	}
	return &q
}

// changedSince returns a file that a command runs outside the sandbox and that was changed
// since the person gave the rule, "" for none. A rule of the configuration or the command
// line is given for what is there when the session begins. One without a pattern is given
// for everything.
func (p *Policy) changedSince(r Rule, u part) string {
	agreed := cmp.Or(r.agreed, p.began)
	if p.runs == nil || agreed == 0 || p.mode.Free() || r.Bare || u.kind != commandPart || u.readOnly || r.Tool != unconfined && u.confined {
		return ""
	}
	for _, f := range p.runs() {
		if at(f.Changed) > agreed-slack && (!f.Loaded || r.Tool == unconfined) {
			return f.Path
		}
	}
	return ""
}

// plantedFor returns a file of the workspace that a line runs outside the sandbox although by
// its words it only reads: a search path leads there (SPEC 16.16). "" if there is none.
func (p *Policy) plantedFor(d Decision) string {
	if d.Verdict != Allow || d.By != event.ByReadOnly || d.Confine.Level != process.Unconfined || p.runs == nil || p.mode.Free() {
		return ""
	}
	for _, f := range p.runs() {
		return f.Path
	}
	return ""
}
