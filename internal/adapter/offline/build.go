package offline

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/offline/repair"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// Limits of one build repair: each try costs a build.
const (
	maxBuilds    = 80
	maxPerError  = 5
	errorsListed = 10 // the compiler stops there, so counts beyond say nothing
)

type buildState int

const (
	buildClean  buildState = iota // nothing was wrong
	buildFixed                    // it builds now
	buildBroken                   // it does not
)

// builder repairs the build of one target: it handles the compiler's errors one
// kind after the other, tries small fixes beside the files, and makes what improves the
// build.
type builder struct {
	target
	h      *hands
	builds int

	done   []string
	notes  []string
	last   checked
	listed []string // what go list returned
}

// checked is the result of one check of the build. Stage 0 is go build, 1 is
// the type check of the tests, 2 is a clean build.
type checked struct {
	stage int
	errs  []repair.BuildError // those that explain the most first
	exit  int
	out   string
}

// check builds the module as it would be with a file.
func (b *builder) check(with map[string]string) (checked, error) {
	b.builds++
	out, exit, err := b.run("build", "-o /dev/null", with)
	if err != nil {
		return checked{}, err
	}
	// A package that is named, and that has tests only, is nothing to build.
	if exit != 0 && (b.only == "" || !strings.Contains(out, "no non-test Go files in ")) {
		return checked{errs: ranked(repair.ReadBuild(out, false)), exit: exit, out: out}, nil
	}
	if out, exit, err = b.run("vet", "", with); err != nil {
		return checked{}, err
	}
	if errs := ranked(repair.ReadBuild(out, true)); exit != 0 && len(errs) > 0 {
		return checked{stage: 1, errs: errs, exit: exit, out: out}, nil
	}
	return checked{stage: 2, out: out}, nil // what else vet finds is not a build error
}

// overlaid is how the compiler names the file that go_overlay lays over the workspace.
var overlaid = lazyregexp.New(`[^ \n]*pawl-overlay-[0-9]+[/\\]0\.go`)

// run runs a go command in the module, as it would be with a file.
func (b *builder) run(verb, flags string, with map[string]string) (string, int, error) {
	if b.dir != "" {
		verb += " -C " + shellsyntax.Quote(b.dir)
	}
	command := strings.Join(strings.Fields("go "+verb+" "+flags+" "+b.packages()), " ")
	if len(with) == 0 {
		return runGo(b.h, command)
	}
	out, exit, err := b.h.Overlay(command, with)
	name := strings.TrimPrefix(strings.TrimPrefix(sortedKeys(with)[0], b.dir), "/")
	return overlaid().ReplaceAllLiteralString(out, name), exit, err
}

// fix builds, repairs, builds again.
func (b *builder) fix() (buildState, error) {
	var err error
	if b.last, err = b.check(nil); err != nil || b.last.stage == 2 {
		return buildClean, err
	}
	if errs := b.last.errs; len(errs) > 0 {
		b.h.Say(fmt.Sprintf("The build is broken: %s. The first: %s: %s", plural.Of(len(errs), "error"), errs[0].Where(), errs[0].Msg))
	}
	given := map[string]bool{} // errors that no fix helped, as file and message
	for b.builds < maxBuilds && b.last.stage < 2 {
		i := slices.IndexFunc(b.last.errs, func(e repair.BuildError) bool { return !given[e.File+e.Msg] })
		if i < 0 {
			break
		}
		e := b.last.errs[i]
		ok, err := b.try(e)
		if err != nil {
			return buildBroken, err
		}
		given[e.File+e.Msg] = !ok
	}
	if b.last.stage < 2 {
		return buildBroken, nil
	}
	return buildFixed, nil
}

// explains has what a message contains, of errors that explain the most first: an
// unused import or variable is often only a consequence of a misspelt name.
var explains = []string{
	"is not in std", "provides package", "providing package", "undefined", "unknown field", "not exported",
	"declared and not used", "imported and not used", "imported as", "",
}

func ranked(errs []repair.BuildError) []repair.BuildError {
	rank := func(e repair.BuildError) int {
		return slices.IndexFunc(explains, func(part string) bool { return strings.Contains(e.Msg, part) })
	}
	slices.SortStableFunc(errs, func(a, b repair.BuildError) int { return rank(a) - rank(b) })
	return errs
}

// try tries one error's fixes in turn until the build is better: first those
// that the language server offers, then those from the compiler's message.
func (b *builder) try(e repair.BuildError) (bool, error) {
	if done, err := b.quickFix(e); done || err != nil {
		return done, err
	}
	src, fixes, err := b.fixes(e)
	if err != nil {
		return false, err
	}
	for _, f := range fixes[:min(len(fixes), maxPerError)] {
		if b.builds >= maxBuilds {
			break
		}
		after, err := b.check(map[string]string{src.path: f.text})
		if err != nil {
			return false, err
		}
		if !better(b.last, after, e) {
			continue
		}
		old, new := repair.Narrow(src.text, f.text)
		if err := b.h.Edit(src.path, old, new); err != nil {
			return false, err
		}
		b.last = after
		b.done = append(b.done, f.words)
		if f.note != "" && !slices.Contains(b.notes, f.note) {
			b.notes = append(b.notes, f.note)
		}
		return true, nil
	}
	return false, nil
}

// better reports whether a try removed error e and caused no new error where it
// changed the text.
func better(before, after checked, e repair.BuildError) bool {
	if after.stage != before.stage {
		return after.stage > before.stage
	}
	known := func(x repair.BuildError) bool {
		return slices.ContainsFunc(before.errs, func(y repair.BuildError) bool { return x.File == y.File && x.Msg == y.Msg })
	}
	same := func(c checked) (n, dir int) {
		for _, x := range c.errs {
			if x.File == e.File && x.Msg == e.Msg {
				n++
			}
			if path.Dir(x.File) == path.Dir(e.File) {
				dir++
			}
		}
		return n, dir
	}
	n1, d1 := same(before)
	n2, d2 := same(after)
	if n2 >= n1 || after.stage == 0 && d2 >= d1 && d1 < errorsListed {
		return false
	}
	return !slices.ContainsFunc(after.errs, func(x repair.BuildError) bool { return x.File == e.File && x.Line == e.Line && !known(x) })
}

// report describes what was done to the build and whether it works now.
func (b *builder) report() string {
	command := in(b.dir, "go build "+b.packages())
	if b.last.stage == 2 {
		s := "The build is repaired: " + strings.Join(b.done, "; ") + ". `" + command + "` ends with exit code 0."
		return strings.Join(append([]string{s}, b.notes...), " ")
	}
	left := "error"
	if len(b.last.errs) > 0 {
		e := b.last.errs[0]
		left = plural.Of(len(b.last.errs), "error") + " left, such as " + e.Where() + ": " + e.Msg
	} else if l := lastLine(b.last.out); l != "" {
		left = l
	}
	if len(b.done) == 0 {
		return "The build fails (exit code " + itoa(b.last.exit) + ") and I know no safe fix: " + left + "." + b.h.takeBack() + " " + beyond("")
	}
	b.h.settle()
	return "The build is better but not whole: " + strings.Join(b.done, "; ") + ". It still fails with exit code " + itoa(b.last.exit) + ", " + left + ". " + beyond("The rest is beyond the built-in model, which has no weights")
}
