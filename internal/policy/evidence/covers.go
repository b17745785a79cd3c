package evidence

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// Covers says whether a check that passed makes another one needless: the same
// program in the same folder, over the same things or more, with nothing on
// its command line that narrows it.
func Covers(ran, want string) bool {
	a, ok := parts(ran)
	b, okb := parts(want)
	if !ok || !okb || a.dir != b.dir || a.program != b.program {
		return false
	}
	if slices.Equal(a.narrow, b.narrow) && slices.Equal(a.about, b.about) {
		return true
	}
	if len(a.narrow) > 0 {
		return false
	}
	switch a.program {
	case "go test", "go vet", "go build":
		return packagesCover(a.about, b.about)
	case "pytest":
		return len(a.about) == 0 || covered(b.about, a.about)
	case "cargo test":
		return slices.Equal(a.about, []string{everything}) || slices.Equal(a.about, b.about) && len(b.narrow) == 0
	}
	return false
}

// everything stands among what a line is about for all there is.
const everything = "..."

// line is a check's command line taken apart.
type line struct {
	dir     string
	program string   // go test, npm run test, pytest, …
	about   []string // packages, files, targets
	narrow  []string // flags that may leave something out
}

// parts takes a check's command line apart.
func parts(text string) (line, bool) {
	if !IsCheck(text) {
		return line{}, false
	}
	cmds, err := shellsyntax.Parse(text, "/")
	if err != nil || len(cmds) == 0 {
		return line{}, false
	}
	last := cmds[len(cmds)-1]
	for _, c := range cmds[:len(cmds)-1] {
		if c.Name() != "cd" {
			return line{}, false // what comes before may make it another check
		}
	}
	if !last.Dir.Known || len(last.Assigns) > 0 || len(last.Via) > 0 {
		return line{}, false
	}
	l := line{dir: last.Dir.Text}
	words := make([]string, len(last.Words))
	for i, w := range last.Words {
		words[i] = w.Text
	}
	l.program, words = called(words)
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == "--" || w == "-args":
			l.narrow = append(l.narrow, words[i:]...)
			return l, true
		case !strings.HasPrefix(w, "-"):
			l.about = append(l.about, strings.TrimSuffix(w, "/"))
		default:
			name, _, has := strings.Cut(strings.TrimLeft(w, "-"), "=")
			takes, known := harmless(l.program, name)
			if l.program == "cargo test" && (name == "workspace" || name == "all") {
				l.about = append(l.about, everything)
			}
			if known && takes && !has {
				i++
			}
			if !known {
				l.narrow = append(l.narrow, w)
			}
		}
	}
	if strings.HasPrefix(l.program, "go ") && len(l.about) == 0 {
		l.about = []string{"."}
	}
	return l, true
}

// called names what is run, whatever way it was called, and gives the rest of
// the words.
func called(w []string) (string, []string) {
	has := func(prefix ...string) bool { return len(w) >= len(prefix) && slices.Equal(w[:len(prefix)], prefix) }
	switch {
	case has("uv", "run", "pytest"), has("python", "-m", "pytest"), has("python3", "-m", "pytest"):
		return "pytest", w[3:]
	case has("pytest"):
		return "pytest", w[1:]
	case has("python", "-m"), has("python3", "-m"):
		return "python -m " + w[2], w[3:]
	case len(w) > 2 && w[1] == "run" && slices.Contains(nodes, w[0]):
		return "run " + w[2], w[3:]
	case len(w) > 1 && slices.Contains(nodes, w[0]):
		return "run " + w[1], w[2:]
	case has("go"), has("cargo"):
		return w[0] + " " + w[1], w[2:]
	}
	return w[0], w[1:]
}

var nodes = []string{"npm", "pnpm", "yarn", "bun"}

// harmless says of a flag that it leaves nothing out, and whether a value
// follows it.
func harmless(program, name string) (takes, known bool) {
	switch program {
	case "go test", "go vet", "go build":
		switch name {
		case "v", "race", "json", "cover", "failfast", "fullpath", "x":
			return false, true
		case "count", "timeout", "p", "parallel", "shuffle":
			return true, true
		}
	case "pytest":
		switch name {
		case "v", "vv", "q", "qq", "x", "s", "l", "ra", "rA", "verbose", "quiet", "no-header", "tb", "color", "maxfail", "durations":
			return name == "maxfail" || name == "durations", true
		}
	case "cargo test", "cargo check":
		switch name {
		case "q", "quiet", "v", "verbose", "locked", "offline", "no-fail-fast", "workspace", "all", "all-targets":
			return false, true
		}
	case "run test", "run lint", "run typecheck":
		return false, name == "s" || name == "silent"
	}
	return false, false
}

// packagesCover says whether the packages of have hold all of want.
func packagesCover(have, want []string) bool {
	for _, w := range want {
		if !slices.ContainsFunc(have, func(h string) bool {
			under, all := strings.CutSuffix(h, "...")
			under = strings.TrimSuffix(under, "/")
			return h == w || all && (under == "." || w == under || strings.HasPrefix(w, under+"/"))
		}) {
			return false
		}
	}
	return true
}

func covered(want, have []string) bool {
	return len(want) > 0 && !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(have, w) })
}

// mayWrite says of a check that it may do more than check: a target of make or
// just can be anything.
func mayWrite(text string) bool {
	l, ok := parts(text)
	if !ok {
		return true
	}
	if l.program != "make" && l.program != "just" {
		return false
	}
	return !covered(l.about, []string{"test", "tests", "check", "lint", "vet", "typecheck"})
}
