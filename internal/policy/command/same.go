package command

import (
	"cmp"
	"slices"
	"strings"
)

// Covers reports whether a check does all that another one would do, so that it need not run
// where the first one passed: the same in the same folder, of at least the same parts. Flags
// by which it prints more or less do not count.
func Covers(a, b string) bool {
	x, okx := plainCheck(a)
	y, oky := plainCheck(b)
	return okx && oky && x.dir == y.dir && x.name == y.name && slices.Equal(x.flags, y.flags) && (x.race || !y.race) &&
		!slices.ContainsFunc(y.parts, func(p string) bool { return !x.looksAt(p) }) &&
		(len(y.parts) > 0 || len(x.parts) == 0) && (!x.some || y.some && slices.Equal(x.parts, y.parts) && slices.Equal(x.which, y.which))
}

// plain is a check without what changes nothing of what it checks.
type plain struct {
	dir, name    string // with the runners that may turn it into another check
	flags, parts []string
	which        []string // the values of selectors
	some         bool     // flags let it run only some tests of its parts
	race         bool
	all          bool // without parts it looks at all
}

// plainCheck takes a line apart. ok is false if it is no check, or if what stands before it
// may change what it checks.
func plainCheck(line string) (p plain, ok bool) {
	before, k, ok := LastCheck(line, "/")
	if !ok || !k.Command.Dir.Known || slices.ContainsFunc(k.Command.Assigns, func(a string) bool { name, _, _ := strings.Cut(a, "="); return !slices.Contains(onlyLooks, name) }) {
		return p, false
	}
	for _, c := range before {
		if c.Name() != "cd" && (len(c.Words) == 0 || !ReadOnly(c)) {
			return p, false
		}
	}
	p = plain{dir: k.Command.Dir.Text, name: k.through + cmp.Or(k.line.called, k.line.words), all: !k.program.targets && k.Proof >= Tests && k.Output != GoOutput}
	inner := false // the arguments of what it runs
	for i := 0; i < len(k.rest); i++ {
		w := k.rest[i]
		inner = inner || w == "--" || w == "-args"
		flag, _, has := strings.Cut(w, "=")
		switch {
		case !inner && w == "-race":
			p.race = true
		case !inner && slices.Contains(changesNothing, w):
		case !inner && (flag == "-timeout" || flag == "-parallel"):
			if !has {
				i++
			}
		case !inner && slices.Contains(selects, flag):
			p.some, p.which = true, append(p.which, w)
			if flag != "-short" && !has && i+1 < len(k.rest) {
				i++
				p.which = append(p.which, k.rest[i])
			}
		case strings.HasPrefix(w, "-"):
			p.flags = append(p.flags, w)
		default:
			p.parts = append(p.parts, cmp.Or(strings.TrimRight(w, "/"), w))
		}
	}
	if len(p.parts) == 0 && strings.HasPrefix(p.name, "go ") {
		p.parts = []string{"."}
	}
	return p, true
}

// looksAt reports whether a check without selectors looks at a part.
func (p plain) looksAt(part string) bool {
	return p.all && len(p.parts) == 0 || slices.ContainsFunc(p.parts, func(of string) bool {
		if of == part {
			return true
		}
		if all, ok := strings.CutSuffix(of, "/..."); ok {
			return part == all || strings.HasPrefix(part, all+"/")
		}
		return p.all && strings.HasPrefix(part, of+"/")
	})
}

// changesNothing are flags with which every check that has them, and passes, checks the same;
// with selects it checks less, and with the variables of onlyLooks the same.
var (
	changesNothing = []string{"-v", "-vv", "-q", "-x", "-json", "-cover", "-failfast", "-count=1", "--verbose", "--quiet", "--silent", "--tb=short"}
	selects        = []string{"-run", "-skip", "-short", "-k", "-t"}
	onlyLooks      = []string{"NO_COLOR", "FORCE_COLOR", "CLICOLOR", "TERM", "COLUMNS", "LINES", "COLORTERM", "CARGO_TERM_COLOR", "PYTHONUNBUFFERED", "GOTRACEBACK", "RUST_BACKTRACE"}
)
