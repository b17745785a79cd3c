package evidence

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// This file reads what a command line that somebody ran says: each of its checks by its own
// exit code.

// command applies a command line that has ended, with the exit codes of its checks. rewrote
// are files of the turn that it changed.
func (f *Fold) command(whole string, lines []event.Line, output string, rewrote []string, untouched bool) {
	if readOnly(whole) {
		return
	}
	at := 0
	for _, l := range lines {
		if !command.IsCheck(l.Command) {
			continue
		}
		n, before, _, ok := around(whole, l.Command, at)
		if at = n; !untouched && (!ok || !harmless(before)) {
			f.changed() // also what the journal does not reach may be changed
		}
		f.ranCheck(whole, l, output, rewrote)
	}
	if behind, err := command.Parse(whole, "/"); !untouched && (err != nil || !harmless(behind[min(at, len(behind)):])) {
		f.changed()
	}
}

// around returns the commands of a line up to one of its checks, that one included, without
// the first ones, those behind it, and the number of the first of these.
func around(whole, check string, from int) (n int, before, behind []shellsyntax.Command, ok bool) {
	all, err := command.Parse(whole, "/")
	upTo, err2 := command.Parse(check, "/")
	n = len(upTo)
	if err != nil || err2 != nil || n < from || n > len(all) {
		return n, nil, nil, false
	}
	return n, all[from:n], all[n:], true
}

// ranCheck applies a check of a line.
func (f *Fold) ranCheck(whole string, l event.Line, output string, rewrote []string) {
	line := l.Command
	if l.Exit == nil {
		f.put(Check{Command: f.decides(line, false), Exit: -1, Why: noEnd}, true)
		return
	}
	c := Check{OK: *l.Exit == 0, Command: f.decides(line, l.Own), line: line, Exit: *l.Exit}
	if c.OK {
		c.Why = f.elsewhere(line)
		if len(rewrote) > 0 && !writesBefore(line) {
			c.Why = "it changed " + strings.Join(rewrote, ", ") + " while it ran"
		}
		c.OK = c.Why == ""
		f.judge(&c, CountIn(whole, line, output))
	} else if c.Exit == timedOut && f.limited(line) {
		c.Exit, c.Why = -1, "it was stopped by timeout"
	}
	f.put(c, true)
}

// timedOut is the exit code of timeout for a command that it stopped.
const timedOut = 124

// limited reports whether a line's check runs under timeout.
func (f *Fold) limited(line string) bool {
	_, last, _ := command.LastCheck(line, f.base())
	return slices.Contains(last.Command.Wrappers, "timeout")
}

// writesBefore reports whether what a line rewrote, it rewrote before its check: something
// stands there that may, and the check runs nothing but tests.
func writesBefore(line string) bool {
	before, last, ok := command.LastCheck(line, "/")
	return ok && last.Proof == command.Tests && last.Output != command.ScriptsOutput && slices.ContainsFunc(before, func(c shellsyntax.Command) bool {
		_, check := command.CheckOf(c)
		return !check && !command.ReadOnly(c)
	})
}

// decides returns what of a line with a check its exit code is of, and where that ran; own: it
// is the check's.
func (f *Fold) decides(line string, own bool) string {
	part := command.Decides(line)
	_, whole, _ := command.LastCheck(line, f.base())
	before, alone, _ := command.LastCheck(part, f.base())
	at := alone.Command.Dir.Text
	if own || !slices.ContainsFunc(before, func(c shellsyntax.Command) bool { return c.Name() != "cd" }) {
		part, at = alone.Command.String(), f.base()
	}
	if in := whole.Command.Dir; in.Known && in.Text != at {
		part = "cd " + shellsyntax.Quote(cmp.Or(f.relative(in.Text, "."), in.Text)) + " && " + part
	}
	return part
}

// harmless reports whether commands are nothing but checks, and what only reads.
func harmless(cmds []shellsyntax.Command) bool {
	return !slices.ContainsFunc(cmds, func(c shellsyntax.Command) bool {
		k, ok := command.CheckOf(c)
		return (!ok || k.MayWrite()) && !command.ReadOnly(c) && !prints(c)
	})
}

// prints reports whether a command is an echo, or evaluates a variable for one: whatever the
// words are, no file changes by it.
func prints(c shellsyntax.Command) bool {
	return len(c.Redirects) == 0 && !c.Func && !c.Code && (c.Name() == "echo" || c.Evaluates && len(c.Words) == 0)
}

// rewrites reports whether a check is told to write what it compares with, or to mend.
func rewrites(line string) bool {
	return slices.ContainsFunc(strings.Fields(line), func(w string) bool {
		w = strings.TrimLeft(w, "-")
		return w == "u" || w == "fix" || w == "w" || w == "write" || strings.HasPrefix(w, "update") || strings.Contains(w, "snapshot-update")
	})
}

func readOnly(line string) bool {
	cmds, err := command.Parse(line, "/")
	return err == nil && command.ReadOnly(cmds...)
}
