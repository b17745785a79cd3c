package offline

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/offline/repair"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/sorting"
)

// Limits of one build repair: each try costs a build.
const (
	maxBuilds   = 80
	maxPerError = 5
)

// builder repairs the build of one target: it handles the compiler's errors one
// kind after the other, tries small fixes beside the files, and makes what improves the
// build.
type builder struct {
	target
	h      *actions
	builds int

	done   []string
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
	command := repair.In(b.dir, strings.Join(strings.Fields("go "+verb+" "+flags+" "+b.packages()), " "))
	if len(with) == 0 {
		return b.h.Run(command)
	}
	out, exit, err := b.h.Overlay(command, with)
	name := strings.TrimPrefix(strings.TrimPrefix(sortedKeys(with)[0], b.dir), "/")
	return overlaid().ReplaceAllLiteralString(out, name), exit, err
}

// fix builds, repairs, builds again. whole: it builds now.
func (b *builder) fix() (whole bool, err error) {
	if b.last, err = b.check(nil); err != nil {
		return false, err
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
			return false, err
		}
		given[e.File+e.Msg] = !ok
	}
	return b.last.stage == 2, nil
}

// ranked puts last what is not used: that is often only a consequence of a misspelt name.
func ranked(errs []repair.BuildError) []repair.BuildError {
	sorting.By(errs, func(a, b repair.BuildError) int {
		return strings.Count(a.Msg, "and not used") - strings.Count(b.Msg, "and not used")
	})
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
	left := func(c checked) (n int) {
		for _, x := range c.errs {
			if x.File == e.File && x.Msg == e.Msg {
				n++
			}
		}
		return n
	}
	if left(after) >= left(before) {
		return false
	}
	return !slices.ContainsFunc(after.errs, func(x repair.BuildError) bool { return x.File == e.File && x.Line == e.Line && !known(x) })
}

// report describes what was done to the build and whether it works now.
func (b *builder) report() string {
	command := repair.In(b.dir, "go build "+b.packages())
	if b.last.stage == 2 {
		return "The build is repaired: " + strings.Join(b.done, "; ") + ". `" + command + "` ends with exit code 0."
	}
	left := "error"
	if len(b.last.errs) > 0 {
		e := b.last.errs[0]
		left = plural.Of(len(b.last.errs), "error") + " left, such as " + e.Where() + ": " + e.Msg
	} else if l := lastLine(b.last.out); l != "" {
		left = l
	}
	if len(b.done) == 0 {
		return "The build fails (exit code " + itoa(b.last.exit) + ") and I know no safe fix: " + left + ". " + beyond("")
	}
	return "The build is better but not whole: " + strings.Join(b.done, "; ") + ". It still fails with exit code " + itoa(b.last.exit) + ", " + left + ". " + beyond("The rest is beyond the built-in model, which has no weights")
}

// quickFixes are the beginnings of titles of fixes that follow from the code
// alone. Others, such as those that invent a function, guess the intent.
var quickFixes = []string{"Add import", "Delete import", "Remove import", "Remove variable", "Remove unused", "Remove unnecessary"}

// quickFix applies what the language server offers for an error, if that
// improves the build (SPEC 12.2).
func (b *builder) quickFix(e repair.BuildError) (bool, error) {
	p := path.Join(b.dir, e.File)
	if !slices.Contains(b.h.tools, "lsp_code_action") {
		return false, nil
	}
	offered, err := b.codeAction(p, e.Line, "")
	if err != nil {
		return false, nil // it offers nothing: the compiler's message is used instead
	}
	for l := range strings.SplitSeq(offered, "\n") {
		title, kind, _ := strings.Cut(l, " (quickfix")
		if kind == "" || strings.Contains(kind, " not now: ") || !slices.ContainsFunc(quickFixes, func(q string) bool { return strings.HasPrefix(title, q) }) {
			continue
		}
		before, err := b.h.Read(p)
		if err != nil {
			return false, err
		}
		if _, err := b.codeAction(p, e.Line, title); err != nil {
			continue
		}
		now, err := b.h.Read(p)
		if err != nil {
			return false, err
		}
		after, err := b.check(nil)
		if err == nil && better(b.last, after, e) {
			b.last, b.done = after, append(b.done, "the language server's fix at "+e.Where()+": "+title)
			return true, nil
		}
		old, new := repair.Narrow(now, before)
		if err := errors.Join(err, b.h.Edit(p, old, new)); err != nil {
			return false, err
		}
	}
	return false, nil
}

// codeAction lists what a server offers for a line, or has it do one of these. If the
// server is still reading the project, the call is repeated a few times.
func (b *builder) codeAction(file string, line int, title string) (text string, err error) {
	args := map[string]any{"path": file, "line": line}
	if title != "" {
		args["title"] = title
	}
	for range 4 {
		if text, err = b.h.one("lsp_code_action", args); err == nil || !strings.Contains(text, "make the same call again") {
			break
		}
	}
	return text, err
}
