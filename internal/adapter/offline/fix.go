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
	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/plural"
)

// planFix makes a project build and its tests pass: first it repairs compiler
// errors, then failing tests. It works on the first broken module, or on the
// packages of parts if there are some.
func planFix(h *actions, parts []string) {
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

// modules returns the folders with a go.mod, the root ("") first.
func modules(h *actions) ([]string, error) {
	files, err := h.List("**/go.mod")
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, f := range files {
		if path.Base(f) != "go.mod" || skipped(f) {
			continue
		}
		dirs = append(dirs, path.Dir("/" + f)[1:])
	}
	slices.Sort(dirs)
	return dirs, nil
}

// skipped: a path that is not the project's own code.
func skipped(p string) bool {
	return has(strings.Split(p, "/"), "vendor testdata node_modules .git")
}

// stopWords returns why a plan ends at a call that was refused or failed.
func stopWords(err error) string {
	return "I stopped, since a call did not go through. " + strings.TrimSuffix(err.Error(), ".") + "."
}

// target is a module with those of its packages that are repaired.
type target struct {
	dir  string
	only string // pattern of the go command; "" is all
}

func (t target) packages() string { return cmp.Or(t.only, "./...") }

// test returns the command that tests it. A hanging test counts as failing
// after a short time limit.
func (t target) test() string {
	return repair.In(t.dir, "go test -timeout=60s "+t.packages())
}

// fixModule repairs a target, and reports it. whole: nothing was wrong, and nothing is
// said.
func fixModule(h *actions, t target) (whole bool) {
	b := &builder{h: h, target: t}
	builds, err := b.fix()
	if err != nil {
		h.Say(stopWords(err))
		if len(b.done) > 0 {
			h.Say("What I had done stays, since the build is better with it: " + strings.Join(b.done, "; ") + ".")
		}
		return false
	}
	if !builds {
		h.Say(b.report())
		return false
	}
	command, repaired := t.test(), len(b.done) > 0
	out, exit, err := h.Run(command)
	if repaired {
		h.Say(b.report())
	}
	r := repair.ReadTests(out)
	switch {
	case err != nil:
		h.Say(stopWords(err))
	case exit != 0:
		fixTests(h, t, r)
	case repaired:
		h.Say("`" + command + "` passes too: exit code 0, " + plural.Of(len(r.Passed), "package") + ".")
	default:
		return true
	}
	return false
}

// fixTests runs generate and validate, and reports the result.
func fixTests(h *actions, t target, r repair.TestRun) {
	if n := len(r.Failures); n > 0 {
		h.Say("It builds, and " + plural.Of(n, "test") + verb(n, " fails", " fail") + ". I look for the cause.")
	}
	rep, err := repair.Tests(h, repair.Options{Dir: t.dir, Packages: strings.Fields(t.only)})
	if err != nil {
		words := stopWords(err)
		if !errors.Is(err, repair.ErrHands) {
			words = "The repair could not start: " + err.Error() + "."
		}
		h.Say(words)
		return
	}
	switch rep.Outcome {
	case repair.Fixed, repair.Uncertain:
		h.Say(tellRepair(rep))
	case repair.NothingFailing:
		h.Say("Nothing fails any more: the tests pass now.")
	default:
		h.Say(tellNoRepair(rep, r))
	}
}

// tellRepair reports what was wrong, what was changed, what proves it, and how
// far that proof goes.
func tellRepair(rep repair.Report) string {
	var b strings.Builder
	e := rep.Edit
	var tests []string
	for _, t := range rep.Tests {
		pkg, name, _ := strings.Cut(t, ": ")
		tests = append(tests, name+" ("+path.Base(pkg)+")")
	}
	fmt.Fprintf(&b, "The likely cause is in `%s` (%s:%d): %s.\n\n```diff\n", e.Func, e.Path, e.Line, e.Operator)
	for _, side := range [][2]string{{"- ", e.Old}, {"+ ", e.New}} {
		for l := range strings.SplitSeq(strings.TrimRight(side[1], "\n"), "\n") {
			b.WriteString(side[0] + l + "\n")
		}
	}
	fmt.Fprintf(&b, "```\n\nNow %s: `%s` ended with exit code %d. ", clipped(tests)+verb(len(tests), " passes", " pass")+", and so does all the rest", rep.Command, rep.Exit)
	others := slices.DeleteFunc(slices.Clone(rep.Plausible), func(p repair.Edit) bool { return p == e })
	tried := plural.Of(rep.Tried, "candidate")
	if len(others) == 0 {
		b.WriteString("Of " + tried + " tried it is the only one that passes.")
	} else {
		b.WriteString("Of " + tried + " tried, " + plural.Of(len(others), "other") + verb(len(others), " passes", " pass") + " as well:\n\n```")
		for _, p := range others[:min(len(others), 3)] {
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
	switch {
	case len(rep.Plausible) < 2:
		return
	case len(rep.Differ) == 0:
		b.WriteString("\n\nI found no input on which they differ.")
		return
	}
	b.WriteString("\n\nThey differ on inputs that no test has:\n\n```")
	for _, d := range rep.Differ[:min(len(rep.Differ), 3)] {
		fmt.Fprintf(b, "\n  %s to %s", cut.Runes(d.Input, 160), d.Func)
		by := map[string][]string{} // output -> the changes that produce it
		for _, k := range sortedKeys(d.Outputs) {
			by[d.Outputs[k]] = append(by[d.Outputs[k]], k)
		}
		for _, o := range sortedKeys(by) {
			fmt.Fprintf(b, "\n    %s  with  %s", cut.Runes(o, 160), cut.Runes(strings.Join(by[o], "  or  "), 160))
		}
	}
	b.WriteString("\n```")
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

// clipped joins the first four of a list.
func clipped(list []string) string {
	if len(list) > 4 {
		list = append(list[:4:4], "…")
	}
	return strings.Join(list, ", ")
}

func sentence(s string) string {
	if s = strings.TrimSpace(s); !strings.HasSuffix(s, ".") {
		s += "."
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
