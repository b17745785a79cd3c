// Package autofix ends a turn that changed files with proof (SPEC 13.3): it
// runs the checks that the change can affect, then all of them, and lets the
// model fix failures, a few times.
//
// It promises that a check's output reaches the model as data, that the model is not
// asked to mend what failed in the same way before the turn or could not run, that each
// attempt lists the earlier ones, that no check runs again while its result is known,
// and that it stops when more attempts do not help. It does not judge: policy/evidence
// derives from what is recorded what is proven, and what the turn broke.
package autofix

import (
	"context"
	"slices"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/checks"
	"github.com/pawl-agent/pawl/internal/adapter/past"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/permission"
	"github.com/pawl-agent/pawl/internal/engine/verify"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
	"github.com/pawl-agent/pawl/internal/policy/normalize"
	policy "github.com/pawl-agent/pawl/internal/policy/permission"
)

// The defaults.
const (
	Attempts = 3
	Timeout  = 5 * time.Minute
)

// Config is the configuration.
type Config struct {
	// Find finds the checks for changed files: the Find method of a checks.Finder.
	Find func(changed []string) (checks.Found, error)
	// Lacks, if set, returns what a check needs and the machine does not have: such a check
	// is not started.
	Lacks func(checks.Check) string
	// Trusted, if set, returns why a check needs a person's consent, "" if its
	// folder is trusted, and a stamp of everything that defines it.
	Trusted func(checks.Check) (untrusted, stamp string)
	// Attempts is how many fixes are requested in a turn; 0 is 3, less than 0
	// none: checks are run and reported.
	Attempts int
	// Timeout is how long one check may run; 0 is five minutes.
	Timeout time.Duration
}

// New returns a function that makes the verifier of each turn.
func New(c Config) func() verify.Verifier {
	switch {
	case c.Attempts == 0:
		c.Attempts = Attempts
	case c.Attempts < 0:
		c.Attempts = 0
	}
	if c.Timeout <= 0 {
		c.Timeout = Timeout
	}
	left := map[string]bool{}
	return func() verify.Verifier { return &verifier{Config: c, ignored: left} }
}

// verifier is the verifier of one turn.
type verifier struct {
	Config
	tries    []try           // the fixes requested so far
	changes  int             // evidence.Report.Changes at the last failure
	compared map[string]bool // what was run in a copy of the files before the turn
	copy     *past.Copy      // while the checks run
	// ignored are errors by language servers that the model did not fix, in this turn
	// or an earlier one: they are reported, and no fix is requested again. Turns run
	// one after the other.
	ignored map[string]bool
}

// failing is a check that fails by the turn's doing.
type failing struct {
	event.Checked
	open []evidence.Failure // what the model is to mend
}

// try is a requested fix: what failed before it, and what it changed.
type try struct {
	failed []failing
	broken []tool.Diagnostic    // errors by language servers that the changes caused
	files  map[string]tool.Hash // their hashes at that time
	after  []string             // what was changed by then
}

func (f *verifier) Next(ctx context.Context, t *verify.TurnEnd) (string, error) {
	proof := t.Evidence()
	files := map[string]tool.Hash{}
	var paths []string
	for _, x := range proof.Changed() {
		files[x.Path] = x.After
		paths = append(paths, x.Path)
	}
	if len(paths) == 0 {
		return "", nil
	}
	var last *try
	if n := len(f.tries); n > 0 {
		last = &f.tries[n-1]
		last.after = changedFiles(last.files, files)
		if proof.Changes == f.changes || len(last.after) == 0 && last.stopped() {
			f.leave(last)
			return "", nil
		}
	}
	failed, proven, err := f.checks(ctx, t, proof, paths)
	if f.copy != nil {
		_ = f.copy.Remove() // what is left of it is in the temporary folder
		f.copy = nil
	}
	if err != nil || len(failed) == 0 && proven {
		return "", err
	}
	broken, err := f.broken(ctx, t)
	if err != nil || len(failed) == 0 && len(broken) == 0 {
		return "", err
	}
	f.changes = t.Evidence().Changes
	now := try{failed: failed, broken: broken, files: files}
	if last != nil && len(last.after) == 0 {
		f.leave(last) // it left what fails, and what fails otherwise now is not its doing
		return "", nil
	}
	again := last != nil && last.stopped() && now.stopped()
	if again || len(f.tries) >= f.Attempts {
		return "", nil
	}
	f.tries = append(f.tries, now)
	return prompt(f.tries, f.Attempts, t.Evidence()), nil
}

// leave remembers what language servers find and the model left.
func (f *verifier) leave(last *try) {
	if len(last.failed) == 0 {
		for _, d := range last.broken {
			f.ignored[diagnosticKey(d)] = true
		}
	}
}

// stopped reports whether a check ran out of time.
func (t try) stopped() bool {
	return slices.ContainsFunc(t.failed, func(x failing) bool {
		return x.Stopped || slices.ContainsFunc(x.open, func(y evidence.Failure) bool { return y.Hangs })
	})
}

// checks finds and runs the checks. proven: there are some, and all of them passed.
func (f *verifier) checks(ctx context.Context, t *verify.TurnEnd, proof evidence.Report, paths []string) (failed []failing, proven bool, err error) {
	found, err := f.Find(paths)
	switch {
	case err != nil:
		return nil, false, t.Skip(ctx, "the checks could not be looked for: "+err.Error())
	case len(found.Wide) == 0:
		return nil, false, t.Skip(ctx, found.Why)
	}
	failed, err = f.run(ctx, t, proof, found)
	proof = t.Evidence()
	proven = !slices.ContainsFunc(found.Wide, func(c checks.Check) bool { return !proof.Passed(c.Command) })
	return failed, proven, err
}

// broken returns the errors by language servers that the changes caused, except
// those that the model did not fix before.
func (f *verifier) broken(ctx context.Context, t *verify.TurnEnd) ([]tool.Diagnostic, error) {
	if t.RemainingErrors == nil {
		return nil, nil
	}
	all, err := t.RemainingErrors(ctx)
	return slices.DeleteFunc(all, func(d tool.Diagnostic) bool { return f.ignored[diagnosticKey(d)] }), err
}

func diagnosticKey(d tool.Diagnostic) string { return d.Path + "\x00" + normalize.Digest(d.Message) }

// run runs what is not proven yet, the narrow checks first: if one of them fails by
// the turn's doing, the wide ones wait. A narrow check that ran out of time leaves none
// for the wide one.
func (f *verifier) run(ctx context.Context, t *verify.TurnEnd, proof evidence.Report, found checks.Found) (failed []failing, err error) {
	var open []checks.Check
	for _, c := range found.Wide {
		if proof.Passed(c.Command) {
			continue
		}
		if f.Lacks != nil {
			if what := f.Lacks(c); what != "" {
				if err := t.Lacks(ctx, f.call(c), what); err != nil {
					return nil, err
				}
				continue
			}
		}
		open = append(open, c)
	}
	if len(open) == 0 {
		return nil, nil
	}
	narrow := slices.DeleteFunc(slices.Clone(found.Narrow), func(c checks.Check) bool {
		return proof.Passed(c.Command) || !slices.ContainsFunc(open, func(o checks.Check) bool { return o.Unit == c.Unit })
	})
	var all []verify.Check
	for _, c := range slices.Concat(narrow, open) {
		all = append(all, f.call(c))
	}
	if err := t.Consent(ctx, all); err != nil {
		return nil, err
	}
	refused := map[string]bool{} // projects that may not be checked, or take too long
	for i, group := range [][]checks.Check{narrow, open} {
		for _, c := range group {
			// What the changes can affect ran in the narrow check.
			unaffected := i > 0 && slices.ContainsFunc(found.Narrow, func(n checks.Check) bool { return n.Unit == c.Unit && !n.Direct })
			if refused[c.Unit] {
				continue
			}
			done, err := f.check(ctx, t, c)
			if err != nil {
				return nil, err
			}
			refused[c.Unit] = done.Exit == nil
			if len(done.Failed) == 0 || done.Exit == nil && !done.Stopped || done.Exit != nil && done.Why != "" {
				continue
			}
			mend, err := f.open(ctx, t, c, done, unaffected)
			if err != nil {
				return nil, err
			}
			if len(mend) > 0 {
				failed = append(failed, failing{done, mend})
			}
		}
		if len(failed) > 0 {
			return failed, nil
		}
	}
	return nil, nil
}

// check runs one check. One that passes and changes the turn's files itself, as
// a formatter does, is run once more on the result.
func (f *verifier) check(ctx context.Context, t *verify.TurnEnd, c checks.Check) (event.Checked, error) {
	done, err := t.Check(ctx, f.call(c))
	if err != nil || len(done.Changed) == 0 || done.Exit == nil || *done.Exit != 0 {
		return done, err
	}
	return t.Check(ctx, f.call(c))
}

func (f *verifier) call(c checks.Check) verify.Check {
	untrusted, stamp := "", ""
	if f.Trusted != nil {
		untrusted, stamp = f.Trusted(c)
	}
	return verify.Check{
		Check: permission.Check{Check: policy.Check{Command: c.Command, Defined: c.Defined, Untrusted: untrusted}, Stamp: stamp},
		Name:  c.Name, Timeout: f.Timeout, Idle: tool.IdleLimit, Part: c.Part, Attempt: len(f.tries), Env: c.Within(f.Timeout),
		Read: func(output string, exit int) verify.Reading {
			return verify.Reading(checks.Read(c.Kind, output, exit))
		},
	}
}
