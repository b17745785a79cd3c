package offline

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/offline/repair"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
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

// builder repairs the build of one module: it handles the compiler's errors one
// kind after the other, tries small fixes beside the files, and makes what improves the
// build.
type builder struct {
	h      *hands
	dir    string // of the module, in the workspace
	only   string // the packages to look at, as patterns of the go command; "" is all
	builds int

	done   []string
	notes  []string
	last   checked
	listed map[string][]string // what go list returned, by pattern
}

// checked is the result of one check of the build. Stage 0 is go build, 1 is
// the type check of the tests, 2 is a clean build.
type checked struct {
	stage int
	errs  []repair.BuildError
	exit  int
	out   string
}

// fix is one way to remove an error: new contents of files, and a description.
type fix struct {
	files map[string]string // by path in the workspace
	words string
	note  string
}

func (b *builder) packages() string {
	if b.only == "" {
		return "./..."
	}
	return b.only
}

// check builds the module as it would be with some files.
func (b *builder) check(with map[string]string) (checked, error) {
	b.builds++
	out, exit, err := b.run("build", "-o /dev/null", with)
	if err != nil {
		return checked{}, err
	}
	// A package that is named, and that has tests only, is nothing to build.
	if exit != 0 && (b.only == "" || !strings.Contains(out, "no non-test Go files in ")) {
		return checked{errs: repair.ReadBuild(out, false), exit: exit, out: out}, nil
	}
	if out, exit, err = b.run("vet", "", with); err != nil {
		return checked{}, err
	}
	if errs := repair.ReadBuild(out, true); exit != 0 && len(errs) > 0 {
		return checked{stage: 1, errs: errs, exit: exit, out: out}, nil
	}
	return checked{stage: 2, out: out}, nil // what else vet finds is not a build error
}

// overlaid is how the compiler names a file that go_overlay lays over the workspace.
var overlaid = lazyregexp.New(`[^ \n]*pawl-overlay-[0-9]+[/\\]([0-9]+)\.go`)

// run runs a go command in the module, as it would be with some files.
func (b *builder) run(verb, flags string, with map[string]string) (string, int, error) {
	if b.dir != "" {
		verb += " -C " + shellsyntax.Quote(b.dir)
	}
	command := strings.Join(strings.Fields("go "+verb+" "+flags+" "+b.packages()), " ")
	if len(with) == 0 {
		return runGo(b.h, command)
	}
	out, exit, err := b.h.Overlay(command, with)
	paths := sortedKeys(with)
	return overlaid().ReplaceAllStringFunc(out, func(name string) string {
		n, err := strconv.Atoi(overlaid().FindStringSubmatch(name)[1])
		if err != nil || n >= len(paths) {
			return name
		}
		return strings.TrimPrefix(strings.TrimPrefix(paths[n], b.dir), "/")
	}), exit, err
}

// fix builds, repairs, builds again.
func (b *builder) fix() (buildState, error) {
	now, err := b.check(nil)
	if err != nil {
		return buildBroken, err
	}
	b.last, b.listed = now, map[string][]string{}
	if now.stage == 2 {
		return buildClean, nil
	}
	if len(now.errs) > 0 {
		b.h.Say(fmt.Sprintf("The build is broken: %s. The first: %s: %s", count(len(now.errs), "error"), now.errs[0].Where(), now.errs[0].Msg))
	}
	given := map[string]bool{} // errors that no fix helped, as file and message
	for b.builds < maxBuilds {
		if b.last.stage == 2 {
			return buildFixed, nil
		}
		i := slices.IndexFunc(ranked(b.last.errs), func(e repair.BuildError) bool { return !given[e.File+": "+e.Msg] })
		if i < 0 {
			break
		}
		e := ranked(b.last.errs)[i]
		ok, err := b.try(e)
		if err != nil {
			return buildBroken, err
		}
		if !ok {
			given[e.File+": "+e.Msg] = true
		}
	}
	if b.last.stage == 2 {
		return buildFixed, nil
	}
	return buildBroken, nil
}

// ranked puts the errors first that explain the most: an unused import or
// variable is often only a consequence of a misspelt name.
func ranked(errs []repair.BuildError) []repair.BuildError {
	weight := func(e repair.BuildError) int {
		switch {
		case strings.Contains(e.Msg, "is not in std"), strings.Contains(e.Msg, "provides package"), strings.Contains(e.Msg, "providing package"):
			return 0
		case strings.Contains(e.Msg, "undefined") || strings.Contains(e.Msg, "unknown field") || strings.Contains(e.Msg, "not exported"):
			return 1
		case strings.Contains(e.Msg, "declared and not used"):
			return 2
		case strings.Contains(e.Msg, "imported and not used"), strings.Contains(e.Msg, "imported as"):
			return 3
		}
		return 4
	}
	out := slices.Clone(errs)
	slices.SortStableFunc(out, func(a, b repair.BuildError) int { return weight(a) - weight(b) })
	return out
}

// try tries one error's fixes in turn until the build is better: first those
// that the language server offers, then those from the compiler's message.
func (b *builder) try(e repair.BuildError) (bool, error) {
	if done, err := b.quickFix(e); done || err != nil {
		return done, err
	}
	fixes, err := b.fixes(e)
	if err != nil {
		return false, err
	}
	for n, f := range fixes {
		if n == maxPerError || b.builds >= maxBuilds {
			break
		}
		after, err := b.check(f.files)
		if err != nil {
			return false, err
		}
		if !better(b.last, after, e) {
			continue
		}
		for _, p := range sortedKeys(f.files) {
			old, new := repair.Narrow(b.h.seen[p], f.files[p])
			if err := b.h.Edit(p, old, new); err != nil {
				return false, err
			}
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
	known := map[string]bool{}
	for _, x := range before.errs {
		known[x.File+x.Msg] = true
	}
	for _, x := range after.errs {
		if x.File == e.File && x.Line == e.Line && !known[x.File+x.Msg] {
			return false
		}
	}
	return true
}

// fixes returns the ways to remove an error, likeliest first; nil if the error
// cannot be repaired without knowing the intent.
func (b *builder) fixes(e repair.BuildError) ([]fix, error) {
	if strings.HasPrefix(e.File, "/") || strings.HasPrefix(e.File, "..") {
		return nil, nil // not the project's
	}
	f, err := b.load(e.File)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return nil, nil
	}
	switch {
	case strings.HasSuffix(e.Msg, "imported and not used") || strings.Contains(e.Msg, " imported as ") && strings.HasSuffix(e.Msg, "and not used"):
		return f.dropImport(e), nil
	case strings.HasPrefix(e.Msg, "declared and not used: "):
		return f.blank(e, strings.TrimPrefix(e.Msg, "declared and not used: ")), nil
	case f.importsAt(e):
		return b.importPath(f, e)
	case strings.HasPrefix(e.Msg, "undefined: "):
		return b.undefined(f, e, strings.TrimPrefix(e.Msg, "undefined: "))
	case strings.HasPrefix(e.Msg, "name ") && strings.Contains(e.Msg, " not exported by package "):
		name, pkg, _ := strings.Cut(strings.TrimPrefix(e.Msg, "name "), " not exported by package ")
		return b.undefined(f, e, pkg+"."+name)
	case strings.Contains(e.Msg, " undefined (type "), strings.HasPrefix(e.Msg, "unknown field "):
		return b.member(f, e)
	}
	return nil, nil
}

// source is a parsed file of the module.
type source struct {
	path string // in the workspace
	file string // in the module, as the compiler prints it
	text string
	fset *token.FileSet
	ast  *ast.File
}

// load reads and parses a file of the module; nil where it does not parse.
func (b *builder) load(file string) (*source, error) {
	p := path.Join(b.dir, file)
	text, ok := b.h.seen[p]
	if !ok {
		var err error
		if text, err = b.h.Read(p); err != nil {
			return nil, err
		}
	}
	return parse(p, file, text), nil
}

func parse(p, file, text string) *source {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || f == nil {
		return nil
	}
	return &source{path: p, file: file, text: text, fset: fset, ast: f}
}

// stopped returns why the repair ended in the middle, and puts back.
func (b *builder) stopped(err error) string {
	if len(b.h.order) == 0 {
		return stopWords(err)
	}
	return stopWords(err) + " " + putBackWords(b.h.putBack())
}

// report describes what was done to the build and whether it works now.
func (b *builder) report() string {
	command := in(b.dir, "go build "+b.packages())
	if b.last.stage == 2 {
		s := "The build is repaired: " + strings.Join(b.done, "; ") + ". `" + command + "` ends with exit code 0."
		for _, n := range b.notes {
			s += " " + n
		}
		return s
	}
	left := "error"
	if len(b.last.errs) > 0 {
		e := ranked(b.last.errs)[0]
		left = count(len(b.last.errs), "error") + " left, such as " + e.Where() + ": " + e.Msg
	} else if l := lastLine(b.last.out); l != "" {
		left = l
	}
	if len(b.done) == 0 {
		words := ""
		if len(b.h.order) > 0 {
			words = putBackWords(b.h.putBack()) + " "
		}
		return "The build fails (exit code " + itoa(b.last.exit) + ") and I know no safe fix: " + left + ". " + words + beyond("")
	}
	b.h.settle()
	return "The build is better but not whole: " + strings.Join(b.done, "; ") + ". It still fails with exit code " + itoa(b.last.exit) + ", " + left + ". " + beyond("The rest is beyond the built-in model, which has no weights")
}
