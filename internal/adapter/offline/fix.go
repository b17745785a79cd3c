package offline

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/offline/repair"
	"github.com/pawl-agent/pawl/internal/core/plural"
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
			if fixModule(h, t) {
				h.Say("`" + t.test() + "` passes with exit code 0.")
			}
		}
		return
	}
	for _, dir := range dirs {
		if !fixModule(h, target{dir: dir}) {
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

func (t target) packages() string { return cmp.Or(t.only, "./...") }

// test returns the command that tests it. A hanging test counts as failing
// after a short time limit.
func (t target) test() string {
	return in(t.dir, "go test -timeout=60s "+t.packages())
}

// fixModule repairs a target, and reports it. whole: nothing was wrong, and nothing is
// said.
func fixModule(h *hands, t target) (whole bool) {
	b := &builder{h: h, target: t}
	state, err := b.fix()
	if err != nil {
		h.Say(stopWords(err) + h.takeBack())
		return false
	}
	if state == buildBroken {
		h.Say(b.report())
		return false
	}
	h.settle()
	command := t.test()
	out, exit, err := h.Run(command)
	if state == buildFixed {
		h.Say(b.report())
	}
	r := repair.ReadTests(out)
	switch {
	case err != nil:
		h.Say(stopWords(err))
	case exit != 0:
		fixTests(h, t, r)
	case state == buildFixed:
		h.Say("`" + command + "` passes too: exit code 0, " + plural.Of(len(r.Passed), "package") + ".")
	default:
		return true
	}
	return false
}

// fixTests runs generate and validate, and reports the result.
func fixTests(h *hands, t target, r repair.TestRun) {
	if n := len(r.Failures); n > 0 {
		h.Say("It builds, and " + plural.Of(n, "test") + verb(n, " fails", " fail") + ": " + names(r.Failures) + ". I look for the cause.")
	}
	rep, err := repair.Tests(h, repair.Options{Dir: t.dir, Packages: strings.Fields(t.only)})
	if err != nil {
		words := stopWords(err)
		if !errors.Is(err, repair.ErrHands) {
			words = "The repair could not start: " + err.Error() + "."
		}
		h.Say(words + h.takeBack())
		return
	}
	switch rep.Outcome {
	case repair.Fixed, repair.Uncertain:
		h.settle()
		h.Say(tellRepair(rep))
	case repair.NothingFailing:
		h.Say("Nothing fails any more: the tests pass now.")
	default:
		h.Say(tellNoRepair(rep, r) + h.takeBack())
	}
}

func names(fs []repair.Failure) string {
	var out []string
	for _, f := range fs {
		if f.Name != "" && !slices.Contains(out, f.Name) {
			out = append(out, f.Name)
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
	fmt.Fprintf(&b, "The likely cause is in `%s` (%s:%d): %s.\n\n```diff\n", e.Func, e.Path, e.Line, e.Operator)
	for _, side := range [][2]string{{"- ", e.Old}, {"+ ", e.New}} {
		for l := range strings.SplitSeq(strings.TrimRight(side[1], "\n"), "\n") {
			b.WriteString(side[0] + l + "\n")
		}
	}
	fmt.Fprintf(&b, "```\n\nNow %s: `%s` ended with exit code %d. ", testWords(rep.Tests), rep.Command, rep.Exit)
	others := slices.DeleteFunc(slices.Clone(rep.Plausible), func(p repair.Edit) bool { return p == e })
	if len(others) == 0 {
		fmt.Fprintf(&b, "Of %s tried it is the only one that passes.", plural.Of(rep.Tried, "candidate"))
	} else {
		fmt.Fprintf(&b, "Of %s tried, %s pass%s as well.\n\n```", plural.Of(rep.Tried, "candidate"), plural.Of(len(others), "other"), verb(len(others), "es", ""))
		for i, p := range others {
			if i == 3 {
				fmt.Fprintf(&b, "\n  and %d more", len(others)-i)
				break
			}
			fmt.Fprintf(&b, "\n  %s:%d  %s", p.Path, p.Line, firstLine(p.New))
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
			shown := strings.ToValidUTF8(o[skip:], "")
			if skip > 0 {
				shown = "…" + shown
			}
			fmt.Fprintf(b, "\n    %s  with  %s", clip(shown), clip(strings.Join(by[o], "  or  ")))
		}
	}
}

// sharedLead returns how many bytes sorted outputs lose at their start, so that the
// difference is visible: of a long common beginning, all but the end.
func sharedLead(outs []string) int {
	first, last := outs[0], outs[len(outs)-1]
	n := 0
	for n < min(len(first), len(last)) && first[n] == last[n] {
		n++
	}
	if n < 100 {
		return 0
	}
	return n - 40
}

func tellNoRepair(rep repair.Report, r repair.TestRun) string {
	s := fmt.Sprintf("I could not repair this (%s): %s", rep.Outcome, sentence(rep.Why))
	if rep.Tried > 0 {
		s += fmt.Sprintf(" I tried %s and changed nothing in the end.", plural.Of(rep.Tried, "candidate"))
	}
	if len(r.Failures) > 0 {
		s += " What fails: " + sentence(words(r.Failures[0]))
	}
	return s + " " + beyond("")
}

func testWords(full []string) string {
	var tests []string
	for _, t := range full {
		pkg, name, _ := strings.Cut(t, ": ")
		tests = append(tests, name+" ("+path.Base(pkg)+")")
	}
	s := strings.Join(tests[:min(len(tests), 4)], ", ")
	if n := len(tests) - 3; n > 1 {
		s = strings.Join(tests[:3], ", ") + " and " + itoa(n) + " more"
	}
	return s + verb(len(tests), " passes", " pass") + ", and so does all the rest"
}

func sentence(s string) string {
	if s = strings.TrimSpace(s); !strings.HasSuffix(s, ".") {
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

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
