// Package putback shows what an undo or a redo would do, and asks the person about it:
// one preview and one set of questions for every frontend.
//
// It promises that nothing is agreed to before it was shown, and that the person is
// asked by name about each file that needs a decision (SPEC 11.2). A session executes
// what was agreed to.
package putback

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/frontend/choice"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

func Show(w io.Writer, p undo.Plan) {
	if p.Note != "" {
		fmt.Fprintln(w, plain.Text(p.Note))
	}
	last := ""
	for _, f := range p.Files {
		if passing(f) {
			continue
		}
		if of := origin(f); of != last {
			last = of
			if of != "" {
				fmt.Fprintln(w, plain.Line(of))
			}
		}
		fmt.Fprintln(w, plain.Line(verb(p, f)+f.Path+about(f)))
		if f.Diff != "" {
			fmt.Fprint(w, indent(plain.Text(f.Diff)))
		}
		for _, c := range f.Places {
			fmt.Fprint(w, indent(plain.Text(sides(f.Path, c))))
		}
	}
}

// passing reports whether a file existed only temporarily: nothing is done or shown for
// it.
func passing(f undo.File) bool { return f.Action == undo.Same && f.Now.Hash == "" }

// origin returns when the last change of a file was made, and what for, as far as that is
// known: the heading of the files that follow.
func origin(f undo.File) string {
	if f.Description == "" {
		return ""
	}
	return fmt.Sprintf("step %d: %s", f.Step, f.Description)
}

func verb(p undo.Plan, f undo.File) string {
	do := "undo: "
	if p.Kind == undo.ByRedo {
		do = "redo: "
	}
	switch {
	case f.Blocked():
		return "cannot " + do
	case f.Action == undo.Same:
		return "already done: "
	case f.Ask != "":
		return "asks first: "
	}
	return "would " + do
}

func about(f undo.File) string {
	switch {
	case f.Blocked():
		return ": " + f.Why
	case f.Ask != "":
		return ": " + f.Ask
	case f.Sets != nil && f.Count != 1:
		return fmt.Sprintf(" (%s)", plural.Of(f.Count, "file"))
	case f.Action == undo.Delete:
		return " (removes it: the agent had created it)"
	case f.Action == undo.Beside:
		return " (a later edit by someone else is kept)"
	}
	return ""
}

// Said tells what an undo does to a file, in words that follow its name.
func Said(f undo.File) string {
	switch {
	case f.Blocked():
		return "unchanged: " + f.Why
	case f.Action == undo.Same:
		return "already done"
	case f.Ask != "":
		return f.Ask
	}
	return "is undone" + about(f)
}

// sides returns both versions of a place that both sides changed.
func sides(path string, c undo.Conflict) string {
	return fmt.Sprintf("<<<<<<< %s, line %d, as it is now\n%s=======\n%s>>>>>>> as the undo would make it\n", path, c.Line, closed(c.Ours), closed(c.Theirs))
}

func closed(b []byte) string {
	s := string(b)
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	return s
}

func indent(s string) string {
	var b strings.Builder
	for l := range strings.Lines(s) {
		b.WriteString("    " + l)
	}
	return b.String()
}

// Agree asks about a plan that was shown; and is what else the yes does, "" for nothing. ok is
// false if the person declines.
func Agree(p undo.Plan, and string, ask choice.Asker) (c undo.Consent, ok bool, err error) {
	if p.NeedsNoConsent() {
		ok, err = yes("do it"+and+"?", ask)
		return c, ok, err
	}
	certain, each := false, ""
	if asks := asking(p.Files); len(asks) > 1 {
		q := plain.Line(fmt.Sprintf("%d of these need a decision: %s; undo them too?", len(asks), strings.Join(asks, ", ")))
		if each, err = ask(q, choice.Option{Key: "y", Text: "yes, all of them"}, choice.Option{Key: "o", Text: "one by one"}, choice.Option{Key: "n", Text: "no"}); err != nil || each == "" {
			return c, false, err
		}
	}
	for _, f := range p.Files {
		switch {
		case f.Blocked():
			c.LeaveOut = append(c.LeaveOut, f.Path)
		case f.Ask != "" && each == "y":
			c.Confirmed = append(c.Confirmed, f.Path)
		case f.Ask != "" && each == "n":
			c.LeaveOut = append(c.LeaveOut, f.Path)
		case f.Ask != "":
			ok, err := yes(plain.Line(fmt.Sprintf("%s: %s; undo it?", f.Path, f.Ask)), ask)
			if err != nil {
				return c, false, err
			}
			if ok {
				c.Confirmed = append(c.Confirmed, f.Path)
			} else {
				c.LeaveOut = append(c.LeaveOut, f.Path)
			}
		default:
			certain = true
		}
	}
	switch {
	case !certain && len(c.Confirmed) == 0:
		return c, false, nil
	case !certain && len(c.LeaveOut) == 0, each == "y" && len(c.LeaveOut) == 0:
		return c, true, nil // every file was agreed to
	}
	q := "do the rest" + and + "?"
	if len(c.LeaveOut) > 0 {
		q = plain.Line("leave " + strings.Join(c.LeaveOut, ", ") + " as it is, and do the rest" + and + "?")
	}
	ok, err = yes(q, ask)
	return c, ok, err
}

// PassOver asks, if nothing of a plan can be done but for what the person leaves, whether to
// look at what was changed before it. before is then for undo.Selector.Before, 0 if the person
// declines.
func PassOver(p undo.Plan, left []string, ask choice.Asker) (before int64, err error) {
	if p.Kind != undo.ByChange && p.Kind != undo.ByTurn && p.Kind != undo.ByCommand {
		return 0, nil
	}
	for _, f := range p.Files {
		if !f.Blocked() && !passing(f) && !slices.Contains(left, f.Path) {
			return 0, nil
		}
		for _, c := range f.Changes {
			if before == 0 || c < before {
				before = c
			}
		}
	}
	if before == 0 {
		return 0, nil
	}
	if ok, err := yes("skip it, and undo the change before it?", ask); !ok {
		return 0, err
	}
	return before, nil
}

// asking returns the files that need a decision.
func asking(files []undo.File) []string {
	var out []string
	for _, f := range files {
		if f.Ask != "" && !f.Blocked() {
			out = append(out, f.Path)
		}
	}
	return out
}

// Settled returns the consent when no person can answer: uncertain files are left out,
// except the paths in include.
func Settled(p undo.Plan, include []string) undo.Consent {
	var c undo.Consent
	named := map[string]bool{}
	for _, path := range include {
		named[path] = true
	}
	for _, f := range p.Files {
		switch {
		case f.Blocked():
			c.LeaveOut = append(c.LeaveOut, f.Path)
		case f.Ask != "" && named[f.Path]:
			c.Confirmed = append(c.Confirmed, f.Path)
		case f.Ask != "":
			c.LeaveOut = append(c.LeaveOut, f.Path)
		}
	}
	return c
}

func yes(q string, ask choice.Asker) (bool, error) {
	in, err := ask(q, choice.YesNo()...)
	return in == "y", err
}

// Verb returns what an undo, or a redo, did to a file.
func Verb(s undo.Kind) string {
	if s == undo.ByRedo {
		return "redone"
	}
	return "undone"
}

// Done lists what was done, each line with the verb.
func Done(w io.Writer, verb string, u changes.Undone) {
	for _, f := range u.Done {
		if passing(f) {
			continue
		}
		line := verb + ": " + f.Path
		switch f.Action {
		case undo.Delete:
			line += " (removed)"
		case undo.Beside:
			line += " (a later edit by someone else is kept)"
		case undo.Same:
			line = f.Path + " was already so"
		}
		fmt.Fprintln(w, plain.Line(line))
	}
	for _, f := range u.Left {
		why := f.Why + f.Ask
		if why == "" {
			why = "it must be done together with " + strings.Join(f.With, ", ")
		}
		fmt.Fprintln(w, plain.Line("left as it is: "+f.Path+": "+why))
	}
}
