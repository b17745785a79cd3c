package command

import (
	"slices"
	"strings"
)

// Covers reports whether a check that passed makes another one unnecessary: the same
// program in the same folder, on the same things or more, with nothing on its command
// line that limits it.
func Covers(ran, want string) bool {
	a, ok := scopeOf(ran)
	b, okb := scopeOf(want)
	if !ok || !okb || a.dir != b.dir || a.name != b.name {
		return false
	}
	if slices.Equal(a.narrow, b.narrow) && slices.Equal(a.about, b.about) {
		return true
	}
	return len(a.narrow) == 0 && a.covers != nil && a.covers(a, b)
}

// everything, in scope.about, stands for everything there is.
const everything = "..."

// scope is what a check's command line checks.
type scope struct {
	dir     string
	name    string   // the check, and the runners that may turn it into another one
	about   []string // packages, files, targets
	narrow  []string // flags that may leave something out
	targets bool
	covers  func(have, want scope) bool
}

// scopeOf parses a check's command line.
func scopeOf(text string) (scope, bool) {
	before, k, ok := LastCheck(text, "/")
	if !ok {
		return scope{}, false
	}
	for _, c := range before {
		if c.Name() != "cd" {
			return scope{}, false // the commands before it may turn it into another check
		}
	}
	if !k.Command.Dir.Known || len(k.Command.Assigns) > 0 || len(k.Command.Via) > 0 {
		return scope{}, false
	}
	s := scope{dir: k.Command.Dir.Text, name: k.through + k.line.name(), targets: k.program.targets, covers: k.line.covers}
	for i := 0; i < len(k.rest); i++ {
		switch w := k.rest[i]; {
		case w == "--" || w == "-args":
			s.narrow = append(s.narrow, k.rest[i:]...)
			return s, true
		case !strings.HasPrefix(w, "-"):
			s.about = append(s.about, strings.TrimSuffix(w, "/"))
		default:
			name, _, has := strings.Cut(strings.TrimLeft(w, "-"), "=")
			takes, known := k.line.harmless(name)
			if slices.Contains(strings.Fields(k.line.whole), name) {
				s.about = append(s.about, everything)
			}
			if known && takes && !has {
				i++
			}
			if !known {
				s.narrow = append(s.narrow, w)
			}
		}
	}
	if k.line.here && len(s.about) == 0 {
		s.about = []string{"."}
	}
	return s, true
}

// packagesCover reports whether Go packages contain all that is wanted.
func packagesCover(have, want scope) bool {
	for _, w := range want.about {
		if !slices.ContainsFunc(have.about, func(h string) bool {
			under, all := strings.CutSuffix(h, "...")
			under = strings.TrimSuffix(under, "/")
			return h == w || all && (under == "." || w == under || strings.HasPrefix(w, under+"/"))
		}) {
			return false
		}
	}
	return true
}

// filesCover is the comparison for programs that check everything if no file is named.
func filesCover(have, want scope) bool {
	return len(have.about) == 0 || among(want.about, have.about)
}

// cratesCover is the comparison for cargo.
func cratesCover(have, want scope) bool {
	return slices.Equal(have.about, []string{everything}) || slices.Equal(have.about, want.about) && len(want.narrow) == 0
}

// among reports whether something is wanted, and have contains all of it.
func among(want, have []string) bool {
	return len(want) > 0 && !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(have, w) })
}

// MayWrite reports whether a check's line may do more than check: a target of
// make or just can be anything.
func MayWrite(line string) bool {
	s, ok := scopeOf(line)
	if !ok {
		return true
	}
	return s.targets && !among(s.about, []string{"test", "tests", "check", "lint", "vet", "typecheck"})
}
