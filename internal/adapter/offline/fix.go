package offline

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/adapter/offline/repair"
)

// planFix makes a project build and its tests pass: first it repairs compiler
// errors, then failing tests. It works on the first broken module, or on the
// packages of parts if there are some.
func planFix(h *hands, parts []part) {
	dirs, err := modules(h)
	if err != nil {
		h.Stop(err)
		return
	}
	if len(dirs) == 0 {
		h.Decline(beyond("There is no go.mod here, and the built-in model repairs Go modules only"))
		return
	}
	if len(parts) > 0 {
		for _, t := range targets(dirs, parts) {
			if fixModule(h, t) == fixWhole {
				h.Say("`" + t.test() + "` passes with exit code 0.")
			}
		}
		return
	}
	for _, dir := range dirs {
		if fixModule(h, target{dir: dir}) != fixWhole {
			return
		}
	}
	h.Say(beyond("The build is clean and `" + target{dir: dirs[len(dirs)-1]}.test() + "` passes with exit code 0, and without a failing test the built-in model sees nothing to repair"))
}

// target is a module with those of its packages that are repaired.
type target struct {
	dir  string
	only string // patterns of the go command; "" is all
}

// test returns the command that tests it. A hanging test counts as failing
// after a short time limit.
func (t target) test() string {
	return in(t.dir, "go test -timeout=60s "+(&builder{only: t.only}).packages())
}

// fixed is the result for a module.
type fixed int

const (
	fixWhole fixed = iota // nothing was wrong
	fixTold               // it was worked on, and reported
)

func fixModule(h *hands, t target) fixed {
	b := &builder{h: h, dir: t.dir, only: t.only}
	state, err := b.fix()
	if err != nil {
		h.Say(b.stopped(err))
		return fixTold
	}
	if state == buildBroken {
		h.Say(b.report())
		return fixTold
	}
	h.settle()
	command := t.test()
	out, exit, err := h.Run(command)
	if err != nil {
		h.Say(strings.TrimSpace(b.report() + " " + stopWords(err)))
		return fixTold
	}
	r := repair.ReadTests(out)
	switch {
	case exit == 0 && state == buildFixed:
		h.Say(b.report() + fmt.Sprintf(" `%s` passes too: exit code 0, %s.", command, count(len(r.Passed), "package")))
		return fixTold
	case exit == 0:
		return fixWhole
	case state == buildFixed:
		h.Say(b.report())
	}
	fixTests(h, t, r)
	return fixTold
}

// fixTests runs generate and validate, and reports the result.
func fixTests(h *hands, t target, r repair.TestRun) {
	if n := len(r.Failures); n > 0 {
		h.Say("It builds, and " + count(n, "test") + " fail" + map[bool]string{true: "s"}[n == 1] + ": " + names(r.Failures) + ". I look for the cause.")
	}
	rep, err := repair.Tests(h, repair.Options{Dir: t.dir, Packages: strings.Fields(t.only)})
	if err != nil {
		words := stopWords(err)
		if !errors.Is(err, repair.ErrHands) {
			words = "The repair could not start: " + err.Error() + "."
		}
		h.Say(words + " " + putBackWords(h.putBack()))
		return
	}
	switch rep.Outcome {
	case repair.Fixed, repair.Uncertain:
		h.settle()
		h.Say(tellRepair(rep))
	case repair.NothingFailing:
		h.Say("Nothing fails any more: " + cmp.Or(rep.Why, "the tests pass now."))
	default:
		left := h.putBack()
		s := tellNoRepair(rep, r)
		if len(left) > 0 {
			s += " " + putBackWords(left)
		}
		h.Say(s)
	}
}

func names(fs []repair.Failure) string {
	var out []string
	for _, f := range fs {
		if n := f.Name; n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	if len(out) > 4 {
		out = append(out[:4], "…")
	}
	return strings.Join(out, ", ")
}

// tellRepair reports what was wrong, what was changed, what proves it, and how
// far that proof goes.
func tellRepair(rep repair.Report) string {
	var b strings.Builder
	e := rep.Edit
	where := fmt.Sprintf("%s:%d", e.Path, e.Line)
	if e.Func != "" {
		where = "`" + e.Func + "` (" + where + ")"
	}
	fmt.Fprintf(&b, "The likely cause is in %s: %s.\n\n```diff\n", where, cmp.Or(e.Operator, "one expression was wrong"))
	for l := range strings.SplitSeq(strings.TrimRight(e.Old, "\n"), "\n") {
		fmt.Fprintf(&b, "- %s\n", l)
	}
	for l := range strings.SplitSeq(strings.TrimRight(e.New, "\n"), "\n") {
		fmt.Fprintf(&b, "+ %s\n", l)
	}
	fmt.Fprintf(&b, "```\n\nNow %s: `%s` ended with exit code %d. ", testWords(rep.Tests), rep.Command, rep.Exit)
	others := 0
	for _, p := range rep.Plausible {
		if p != e {
			others++
		}
	}
	switch {
	case others == 0:
		fmt.Fprintf(&b, "Of %s tried it is the only one that passes.", count(rep.Tried, "candidate"))
	default:
		fmt.Fprintf(&b, "Of %s tried, %s pass%s as well.", count(rep.Tried, "candidate"), count(others, "other"), map[bool]string{true: "es"}[others == 1])
		b.WriteString("\n\n```")
		shown := 0
		for _, p := range rep.Plausible {
			if p == e || shown == 3 {
				continue
			}
			shown++
			fmt.Fprintf(&b, "\n  %s:%d  %s", p.Path, p.Line, firstLine(p.New))
		}
		if others > shown {
			fmt.Fprintf(&b, "\n  and %d more", others-shown)
		}
		b.WriteString("\n```")
	}
	tellDifferences(&b, rep)
	if rep.Outcome == repair.Uncertain && rep.Why != "" {
		b.WriteString("\n\nI am not sure that it is the right one: " + sentence(rep.Why))
	}
	b.WriteString("\n\nGreen tests make a change plausible, not correct: please read it.")
	return b.String()
}

func tellDifferences(b *strings.Builder, rep repair.Report) {
	if len(rep.Differ) == 0 {
		if len(rep.Plausible) > 1 {
			b.WriteString("\n\nI found no input on which they differ.")
		}
		return
	}
	b.WriteString("\n\nThey differ on inputs that no test has:\n\n```")
	defer b.WriteString("\n```")
	for i, d := range rep.Differ {
		if i == 3 {
			fmt.Fprintf(b, "\n  and %d more", len(rep.Differ)-i)
			break
		}
		fmt.Fprintf(b, "\n  %s", clip(d.Input))
		if d.Func != "" && !strings.Contains(d.Input, d.Func[strings.LastIndexByte(d.Func, '.')+1:]) {
			fmt.Fprintf(b, " to %s", d.Func)
		}
		by := map[string][]string{} // output -> the changes that produce it
		for _, k := range sortedKeys(d.Outputs) {
			by[d.Outputs[k]] = append(by[d.Outputs[k]], k)
		}
		outs := sortedKeys(by)
		skip := sharedLead(outs)
		for _, o := range outs {
			shown := o
			if skip > 0 {
				shown = "…" + o[skip:]
			}
			fmt.Fprintf(b, "\n    %s  with  %s", clip(shown), clip(strings.Join(by[o], "  or  ")))
		}
	}
}

// sharedLead returns how many bytes long outputs may lose at their start, so
// that the difference is visible: all but the last few common ones.
func sharedLead(outs []string) int {
	if len(outs) < 2 {
		return 0
	}
	first, last := outs[0], outs[len(outs)-1] // sorted: these two differ first
	n := 0
	for n < len(first) && n < len(last) && first[n] == last[n] {
		n++
	}
	if n -= 40; n < 60 {
		return 0
	}
	for n > 0 && !utf8.RuneStart(first[n]) {
		n--
	}
	return n
}

func tellNoRepair(rep repair.Report, r repair.TestRun) string {
	why := sentence(cmp.Or(rep.Why, "no small change made the tests pass"))
	s := fmt.Sprintf("I could not repair this (%s): %s", rep.Outcome, why)
	if rep.Tried > 0 {
		s += fmt.Sprintf(" I tried %s and changed nothing in the end.", count(rep.Tried, "candidate"))
	}
	if len(r.Failures) > 0 {
		s += " What fails: " + words(r.Failures[0])
		if !strings.HasSuffix(s, ".") {
			s += "."
		}
	}
	return s + " " + beyond("")
}

func testWords(full []string) string {
	var tests []string
	for _, t := range full {
		// As "import/path: TestName".
		if pkg, name, ok := strings.Cut(t, ": "); ok {
			t = name + " (" + pkg[strings.LastIndexByte(pkg, '/')+1:] + ")"
		}
		tests = append(tests, t)
	}
	switch n := len(tests); {
	case n == 0:
		return "the tests pass"
	case n == 1:
		return tests[0] + " passes, and so does all the rest"
	case n <= 4:
		return strings.Join(tests, ", ") + " pass, and so does all the rest"
	default:
		return strings.Join(tests[:3], ", ") + " and " + itoa(n-3) + " more pass, and so does all the rest"
	}
}

func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s != "" && !strings.HasSuffix(s, ".") {
		s += "."
	}
	return upper(s)
}

// clip shortens a line for quoting, at a rune's end.
func clip(s string) string {
	if r := []rune(s); len(r) > 160 {
		return string(r[:160]) + "…"
	}
	return s
}
