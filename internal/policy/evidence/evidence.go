// Package evidence derives from the log what is proven about a turn: which
// files it changed, and whether a check ran after the last change, with which
// exit code. It trusts no text by the model or a tool: only recorded writes and
// recorded exit codes, and of a check's output only the lines in which the
// program reports how many tests ran.
package evidence

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// Check is a check with its outcome.
type Check struct {
	OK      bool   `json:"ok"`
	Command string `json:"command"`
	Exit    int    `json:"exit_code"` // -1: it did not run to its end
	// Part: it checked only what the change can affect.
	Part bool `json:"part,omitempty"`
	// Why is why it proves nothing, whatever its exit code is: not allowed, stopped, …
	Why string `json:"why,omitempty"`
	// Own: pawl ran it, without a call by the model.
	Own bool `json:"own,omitempty"`
	// Tests is the least number of tests that ran, according to its output;
	// Untested is why none is known to have run, if it passed.
	Tests    int    `json:"tests,omitempty"`
	Untested string `json:"untested,omitempty"`
	// Built: if it passes, the project compiles.
	Built bool `json:"built,omitempty"`
	// Failures is what did not pass in a check of pawl's own.
	Failures []Failure `json:"failures,omitempty"`

	unsteady  bool   // an earlier run on the same files failed
	redefined bool   // the agent changed what it runs
	inert     bool   // see event.Checked
	unrun     bool   // so, too
	line      string // of which Command is a part, if it is one
}

// Failed reports whether it ran and did not pass.
func (c Check) Failed() bool { return !c.OK && c.Why == "" }

// Proves reports whether it passed and a test ran in it.
func (c Check) Proves() bool { return c.OK && c.Tests > 0 }

// File is a file that the turn changed. Before is empty for a new file, After
// for a deleted one.
type File struct {
	Path           string
	Before, After  tool.Hash
	Mode           uint32 // before; 0 where not known
	Added, Removed int
	// ByCheck: only checks that pawl ran wrote it.
	ByCheck bool
	// Left is the check that left it, "" if none: a new file that only checks wrote, such as
	// a program or a coverage file.
	Left    string
	product bool // only checks wrote it, including the model's
}

// Report is what is proven about a turn.
type Report struct {
	// Files whose content differs from the turn's start, in the order they
	// were first changed.
	Files []File
	// Verified is the deciding check after the last change: one that failed, or
	// one that passed and ran a test. A failing check by pawl comes first, then
	// the newest check of the whole project. Nil if nothing is proven;
	// Unverified is why.
	Verified   *Check
	Unverified string
	about      *Check // the check that Unverified is about
	part       *Check // passed, and Unverified tells of it too
	// Built is a check that passed without running a test, but shows that the
	// project compiles. It is set only if Verified is nil.
	Built *Check
	// Checks are the checks since the last change, the newest run of each, oldest first.
	Checks []Check
	// Attempts is how often the model changed something to fix what pawl told it.
	Attempts int
	// Changes counts the writes of the turn and the commands that may have
	// written. pawl's own checks do not count.
	Changes int
	// Denials are the calls that were refused and stayed undone.
	Denials []event.Blocked
	// Git is what the turn left in git and did not change in the workspace: see event.Ended.
	Git []event.GitFile
	// Obeyed is which of the changed files somebody runs or obeys by itself, as event.Ended
	// says.
	Obeyed []event.Obeyed
}

// Changed returns the files that were changed, except by pawl's own checks, and without what
// checks left.
func (r Report) Changed() []File {
	return slices.DeleteFunc(slices.Clone(r.Files), func(x File) bool { return x.ByCheck || x.Left != "" })
}

// Passed reports whether a check that passed after the last change did what a command
// would do. A check that somebody else ran, and that is not known to have run a
// test, is run again: pawl's way of running it may show more.
func (r Report) Passed(line string) bool {
	return slices.ContainsFunc(r.Checks, func(c Check) bool {
		return c.OK && !c.Part && (c.Own || c.Tests > 0 || !canTest(c.Command)) && command.Covers(cmp.Or(c.line, c.Command), line)
	})
}

// Fold collects a turn's evidence. The zero value is ready.
type Fold struct {
	turn     bool // a turn is running
	checking bool // one of pawl's checks is running
	running  string
	files    []File
	places   map[string]int // of files, by path: a turn may change 100,000
	checks   []Check
	why      string
	attempts int
	asked    bool             // pawl asked for a fix, and nothing was changed since
	last     string           // the outcome of the last check before the last change
	past     []event.Baseline // of this turn
	changes  int
	denials  []denial
	git      []event.GitFile
	obeyed   []event.Obeyed
	open     map[string]*writing // calls without a result
	mine     []string            // files of the turn that a person's running command changed

	root string
	// agents are the files that the agent changed in the session, with their
	// old contents: they may define what a check does.
	agents map[string]tool.Hash
}

// writing is what a running call has written until now.
type writing struct {
	asked   event.CallAsked
	wrote   bool
	own     []int // files that only it and checks wrote
	rewrote []string
}

// person is the tool under which a person's own commands are recorded, shell the one of the
// model's.
const (
	person = "command"
	shell  = "bash"
)

// Apply applies one event. A turn starts afresh; a prompt that joins the
// running turn does not.
func (f *Fold) Apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.Opened:
		f.root = b.Dir
	case event.Prompted:
		if !f.turn {
			*f = Fold{turn: true, root: f.root, agents: f.agents}
		}
		f.asked = b.Source == event.Autofix
	case event.Ended:
		f.turn, f.checking, f.open, f.git, f.obeyed = false, false, nil, b.Git, b.Obeyed
	case event.CallAsked:
		if f.open == nil {
			f.open = map[string]*writing{}
		}
		f.open[b.ID] = &writing{asked: b}
	case event.FileChanged:
		f.change(b)
	case event.Blocked:
		if b.By != event.ByStuck { // blocked because it repeated itself: no permission would help
			f.denials = append(f.denials, f.denied(b))
		}
	case event.CallDone:
		f.did(b)
		f.ran(b.ID, b)
	case event.AgentCalled:
		f.did(b.Done)
		f.ran(b.Child.Session+"/"+b.Child.Call, b.Done)
	case event.AgentEnded:
		for call := range f.open { // calls of it that have no result
			if strings.HasPrefix(call, b.Child+"/") {
				f.ran(call, event.CallDone{})
			}
		}
	case event.PersonRan:
		f.personRan(b)
	case event.Checking:
		f.checking, f.running = true, b.Command
	case event.Checked:
		f.checking = false
		f.checked(b)
	case event.Baseline:
		f.checking = false
		f.past = append(f.past, b)
	}
}

// changed drops the proof, which does not hold any longer.
func (f *Fold) changed() {
	if n := len(f.checks); n > 0 {
		f.last = outcomes(f.explained()[n-1:])[0]
	}
	f.checks, f.why = nil, ""
	f.past = slices.DeleteFunc(f.past, func(b event.Baseline) bool { return b.Again })
	f.changes++
}

// change applies a write. A write by a running command is judged with its
// result: only then is it known whether it was a check.
func (f *Fold) change(b event.FileChanged) {
	w := f.writing(b)
	if !f.checking {
		f.byAgent(b)
		f.wrote(b)
		if f.asked {
			f.asked = false
			f.attempts++
		}
	}
	switch {
	case w != nil:
		w.wrote = true
	case !f.checking:
		f.changed()
	}
	i, known := f.places[b.Path]
	if known && b.Tool == person && !f.files[i].product {
		f.mine = append(f.mine, b.Path)
	}
	if !known {
		if b.Tool == person {
			return // the person's own, and not a file that the turn changed
		}
		if i = len(f.files); f.places == nil {
			f.places = map[string]int{}
		}
		f.places[b.Path] = i
		f.files = append(f.files, File{Path: b.Path, Before: b.Before, Mode: b.ModeBefore, ByCheck: f.checking, product: f.checking || w != nil})
	}
	x := &f.files[i]
	x.After = b.After
	x.Added += b.Added
	x.Removed += b.Removed
	x.ByCheck = x.ByCheck && f.checking
	if f.checking && x.product && x.Left == "" {
		x.Left = f.running
	}
	switch {
	case w == nil:
		x.product = x.product && f.checking
	case x.product:
		w.own = append(w.own, i)
	default:
		w.rewrote = append(w.rewrote, b.Path)
	}
}

// writing returns the command that wrote a file, nil if a tool wrote it. Writes
// by an agent's command come before the event of that command.
func (f *Fold) writing(b event.FileChanged) *writing {
	if b.Does != tool.Exec {
		return nil
	}
	if b.Child == nil {
		return f.open[b.Call]
	}
	if b.Child.Call == "" {
		return nil // a background command
	}
	call := b.Child.Session + "/" + b.Child.Call
	if f.open[call] == nil {
		if f.open == nil {
			f.open = map[string]*writing{}
		}
		f.open[call] = &writing{}
	}
	return f.open[call]
}

// ran applies the result of a command. A check is evidence; any other command
// that may have changed something ends the existing evidence.
//
// Files that a check leaves behind (a cache, a coverage file) do not affect its
// proof. A check that rewrote files that the turn had changed, for example by
// formatting, does not prove the present files: it must run again.
func (f *Fold) ran(call string, b event.CallDone) {
	w := f.open[call]
	delete(f.open, call)
	lines := b.Lines()
	check := b.Command != "" && slices.ContainsFunc(lines, func(l event.Line) bool { return command.IsCheck(l.Command) })
	if w != nil && w.wrote && (!check || len(w.rewrote) > 0) {
		for _, i := range w.own {
			f.files[i].product = false
		}
		f.changed()
	} else if check && w != nil && !rewrites(b.Command) {
		last := lines[len(lines)-1].Command
		if _, before, behind, ok := around(b.Command, last, 0); ok && harmless(before) && harmless(behind) {
			for _, i := range w.own {
				f.files[i].Left = cmp.Or(f.files[i].Left, f.decides(last, true))
			}
		}
	}
	if b.Command == "" {
		return
	}
	var rewrote []string
	if w != nil {
		rewrote = w.rewrote
	}
	f.command(b.Command, lines, b.Result.Text, rewrote, b.Untouched)
}

// personRan applies a command that a person ran: its exit code proves the same,
// whoever runs it.
func (f *Fold) personRan(b event.PersonRan) {
	f.did(event.CallDone{Tool: shell, Command: b.Command, Exit: b.Exit})
	rewrote := f.mine
	f.mine = nil
	f.command(b.Command, b.Lines(), b.Output, rewrote, false)
}

// judge sets what a check with exit code 0 proves.
func (f *Fold) judge(c *Check, t Tests) {
	// It counts as built, without tests, only if that is known.
	line := cmp.Or(c.line, c.Command)
	c.Tests, c.Untested, c.Built = t.Ran, t.None, Builds(line) && t.None != notShown && t.None != notClear && t.None != othersPrint
	if t.Ran == 0 && t.None == "" { // the log of an older version
		c.Untested = notShown
	}
	if by := f.definers(line, t.Wrapped); by != "" {
		c.Tests, c.Built, c.redefined = 0, false, true
		c.Untested = "its exit code is 0, but the agent changed " + by + ", which may say what it runs"
	}
}

// checked applies one of pawl's own checks.
func (f *Fold) checked(b event.Checked) {
	if b.Command == "" {
		f.why = b.Why
		return
	}
	f.did(event.CallDone{Tool: shell, Command: b.Command, Exit: b.Exit})
	c := Check{Command: b.Command, Exit: -1, Part: b.Part, Why: b.Why, Own: true, Tests: b.Tests, inert: b.Inert, unrun: b.Unrun}
	if b.Exit != nil {
		c.Exit = *b.Exit
	} else if c.Why == "" {
		c.Why = noEnd
	}
	for _, x := range b.Failed {
		c.Failures = append(c.Failures, Failure{Failure: x})
	}
	if len(b.Changed) > 0 && c.Exit == 0 && c.Why == "" {
		c.Why = "it changed " + strings.Join(b.Changed, ", ") + " while it ran"
	}
	if c.OK = c.Exit == 0 && c.Why == ""; c.OK {
		f.judge(&c, Tests{Ran: b.Tests, None: b.Untested, Wrapped: b.Wrapped})
	}
	f.put(c, b.Exit != nil && !b.Unrun || b.Stopped || b.Took > 0)
}

// put adds a check to those since the last change, in the place of an earlier run of it. A
// check that was not started says nothing where an earlier run of it has an exit code.
func (f *Fold) put(c Check, started bool) {
	same := func(o Check) bool {
		return o.Command == c.Command || command.Covers(o.Command, c.Command) && command.Covers(c.Command, o.Command)
	}
	if !started && slices.ContainsFunc(f.checks, func(o Check) bool { return same(o) && o.Exit >= 0 && !notFound(o.Exit) }) {
		return
	}
	for _, o := range f.checks {
		switch {
		case !same(o) || !o.Failed():
		case o.Own && !c.Own && c.Failed(): // pawl's run tells what failed before, and what is flaky
			return
		default:
			c.unsteady = c.OK
		}
	}
	f.checks = append(slices.DeleteFunc(slices.Clone(f.checks), same), c)
}

// notFound reports whether an exit code is the shell's for a program that cannot be run.
func notFound(exit int) bool { return exit == 126 || exit == 127 }

// Report returns what is proven so far. A file that has its old content again
// does not count as changed.
func (f *Fold) Report() Report {
	g := *f
	g.checks = f.explained()
	r := Report{Checks: g.checks, Attempts: f.attempts, Changes: f.changes, Denials: f.undone(), Obeyed: f.obeyed}
	for _, x := range f.files {
		if !x.product || x.Before != "" {
			x.Left = ""
		}
		if x.Before != x.After {
			r.Files = append(r.Files, x)
		}
	}
	r.Git = slices.DeleteFunc(slices.Clone(f.git), func(g event.GitFile) bool { // named among the files
		return slices.ContainsFunc(r.Files, func(x File) bool { return x.Path == g.Path })
	})
	v := g.verdict()
	r.Verified, r.Built, r.Unverified, r.about, r.part = v.decides, v.built, v.why, v.about, v.part
	return r
}
