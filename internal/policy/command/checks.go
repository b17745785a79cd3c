package command

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// Checks judges whether a command is one of the project's checks: tests, build, lint,
// in the forms that run nothing else (SPEC 4.15). Changed reports whether the agent
// changed a file with one of these base names or extensions: a check whose definition
// the agent changed no longer counts as one (SPEC 16.4).
type Checks struct {
	Changed func(names ...string) bool
}

// Is reports whether c is a check.
func (k Checks) Is(c shellsyntax.Command) bool {
	name, plain := c.Program()
	if !plain || len(c.Words) == 0 {
		return false
	}
	p := known(name)
	return p != nil && p.check != nil && p.check.isClosed(name, c.Words[1:]) && (p.check.changed == "" || !k.Changed(strings.Fields(p.check.changed)...))
}

// tscCheck accepts plain arguments, and -p tsconfig.json, which names no code.
func tscCheck(_ string, args []shellsyntax.Word) bool {
	if i := slices.IndexFunc(args, func(a shellsyntax.Word) bool { return a.Text == "-p" || a.Text == "--project" }); i >= 0 {
		args = append(slices.Clone(args[:i]), args[min(i+2, len(args)):]...)
	}
	_, _, why := usage{short: "bw", long: "noEmit build watch strict skipLibCheck pretty incremental emitDeclarationOnly listFiles", exact: true}.scan(args)
	return why == ""
}

// npxCheck accepts a check of the node world in the form in which it is called without
// npx.
func npxCheck(_ string, args []shellsyntax.Word) bool {
	return len(args) > 0 && known(args[0].Text).has(ofNode) && known(args[0].Text).check.isClosed(args[0].Text, args[1:])
}

// plainArgs reports whether no argument begins with a dash: all are files.
func plainArgs(args []shellsyntax.Word) bool {
	return !slices.ContainsFunc(args, func(w shellsyntax.Word) bool { return strings.HasPrefix(w.Text, "-") })
}

// pythonCheck accepts a module that runs tests.
func pythonCheck(_ string, args []shellsyntax.Word) bool {
	if len(args) < 2 || args[0].Text != "-m" {
		return false
	}
	return args[1].Text == "pytest" && pytestCheck(args[2:]) || args[1].Text == "unittest" && unittestCheck(args[2:])
}

// bundleCheck accepts rspec on files.
func bundleCheck(_ string, args []shellsyntax.Word) bool {
	return len(args) > 1 && args[0].Text == "exec" && args[1].Text == "rspec" && plainArgs(args[2:])
}

// unittestCheck accepts all tests, or those of a folder of the workspace, by a pattern
// of names.
func unittestCheck(args []shellsyntax.Word) bool {
	if len(args) == 0 {
		return true
	}
	if args[0].Text != "discover" || len(args)%2 == 0 {
		return false
	}
	for i := 1; i < len(args); i += 2 {
		v := args[i+1]
		switch args[i].Text {
		case "-s":
			if !v.Known || strings.HasPrefix(v.Text, "-") || path.IsAbs(v.Text) || slices.Contains(strings.Split(v.Text, "/"), "..") {
				return false
			}
		case "-p":
			if !v.Known || strings.HasPrefix(v.Text, "-") || strings.Contains(v.Text, "/") {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// goCheck accepts go test, build, vet and fmt with flags from a closed list.
func goCheck(_ string, args []shellsyntax.Word) bool {
	if len(args) == 0 {
		return false
	}
	switch args[0].Text {
	case "test", "build", "vet", "fmt":
	default:
		return false
	}
	for i := 1; i < len(args); i++ {
		t := args[i].Text
		if !strings.HasPrefix(t, "-") {
			if strings.Contains(t, "@") {
				return false
			}
			continue
		}
		name, v, has := strings.Cut(strings.TrimLeft(t, "-"), "=")
		switch name {
		case "args":
			return true // the rest are arguments of the test itself
		case "v", "race", "short", "failfast", "cover", "json", "x", "n", "a", "msan", "asan", "trimpath", "benchmem", "fullpath", "artifacts", "c", "work":
		case "run", "skip", "bench", "benchtime", "count", "cpu", "parallel", "p", "timeout", "shuffle", "tags", "covermode", "coverpkg", "fuzz", "fuzztime", "fuzzminimizetime", "vet", "list", "buildvcs", "o", "coverprofile", "cpuprofile", "memprofile", "blockprofile", "mutexprofile", "outputdir", "trace", "pkgdir", "installsuffix":
			if !has {
				i++
			}
		case "mod":
			if !has && i+1 < len(args) {
				i++
				v = args[i].Text
			}
			if v != "readonly" && v != "vendor" {
				return false
			}
		case "overlay":
			// Other contents for this one build, from a file of the workspace: this
			// does no more than an edit of the files would.
			if !has {
				if i++; i < len(args) {
					v = args[i].Text
				}
			}
			if v == "" || !filepath.IsLocal(v) {
				return false
			}
		default:
			// vet's analyzers are switched on by name, and take no value.
			if args[0].Text != "vet" || has && v != "true" && v != "false" || name == "vettool" || name == "C" || name == "exec" || name == "toolexec" || name == "overlay" || name == "modfile" || strings.HasSuffix(name, "flags") {
				return false
			}
		}
	}
	return true
}

// checkName reports whether a script or target is a check by its name.
func checkName(s string) bool {
	base, _, _ := strings.Cut(s, ":")
	switch base {
	case "test", "tests", "check", "lint", "build", "typecheck", "vet", "fmt", "format-check":
		return true
	}
	return false
}

func nodeCheck(name string, args []shellsyntax.Word) bool {
	i := 0
	flag := func() bool {
		switch args[i].Text {
		case "-s", "--silent", "--if-present", "-r", "--recursive":
			return true
		}
		return false
	}
	for i < len(args) && flag() {
		i++
	}
	if i >= len(args) {
		return false
	}
	switch t := args[i].Text; {
	case t == "run" || t == "run-script":
		if i++; i >= len(args) || !checkName(args[i].Text) {
			return false
		}
	case t == "test" || t == "t" && known(name).has(shortens):
	case checkName(t) && known(name).has(runsScripts):
	default:
		return false
	}
	for i++; i < len(args); i++ {
		if args[i].Text == "--" {
			return true
		}
		if strings.HasPrefix(args[i].Text, "-") && !flag() {
			return false
		}
	}
	return true
}

func pytestCheck(args []shellsyntax.Word) bool {
	for i := 0; i < len(args); i++ {
		t := args[i].Text
		if !strings.HasPrefix(t, "-") {
			continue
		}
		name, _, has := strings.Cut(t, "=")
		switch name {
		case "-k", "-m", "-n", "-r", "--maxfail", "--durations", "--tb", "--timeout", "--cov", "--cov-report", "--ignore", "--deselect", "--color":
			if !has {
				i++
			}
		case "-v", "-vv", "-vvv", "-q", "-qq", "-x", "-s", "-l", "--lf", "--ff", "--last-failed", "--failed-first", "--verbose", "--quiet", "--exitfirst", "--no-header", "--no-summary", "--collect-only", "--co", "--showlocals", "--no-cov", "-rA", "-ra", "-rf", "-rs", "--nf", "--sw", "--stepwise":
		default:
			return false
		}
	}
	return true
}

func cargoCheck(_ string, args []shellsyntax.Word) bool {
	if len(args) == 0 {
		return false
	}
	switch args[0].Text {
	case "test", "check", "build", "clippy", "fmt", "nextest":
	default:
		return false
	}
	for i := 1; i < len(args); i++ {
		t := args[i].Text
		if t == "--" {
			return args[0].Text == "test" || !slices.ContainsFunc(args[i:], func(w shellsyntax.Word) bool { return strings.Contains(w.Text, "config") })
		}
		if !strings.HasPrefix(t, "-") {
			continue
		}
		name, _, has := strings.Cut(t, "=")
		switch name {
		case "-p", "--package", "--test", "--bin", "--example", "--bench", "--features", "-F", "-j", "--jobs", "--profile", "--exclude", "--message-format", "--color", "--target":
			if !has {
				i++
			}
		case "--all", "--workspace", "--lib", "--bins", "--tests", "--examples", "--benches", "--all-targets", "--all-features", "--no-default-features", "--release", "-r", "-v", "-vv", "-q", "--verbose", "--quiet", "--no-run", "--no-fail-fast", "--locked", "--offline", "--frozen", "--check", "--doc", "--keep-going":
		default:
			return false
		}
	}
	return true
}

// noTarget reports whether make is called without a target: it makes the first one.
func noTarget(args []shellsyntax.Word) bool {
	return !slices.ContainsFunc(args, func(w shellsyntax.Word) bool {
		t := strings.TrimRight(w.Text, "0123456789")
		return t != "" && t != "-j" && t != "-k" && t != "-s" && t != "-B"
	})
}

// targets accepts only targets that are checks by name, and the given flags; a number
// may follow a flag.
func targets(args []shellsyntax.Word, flags ...string) bool {
	n := 0
	for _, a := range args {
		t := a.Text
		switch {
		case slices.ContainsFunc(flags, func(f string) bool { return strings.TrimRight(t, "0123456789") == f }):
		case t != "" && strings.Trim(t, "0123456789") == "":
		case checkName(t) && !strings.Contains(t, "="):
			n++
		default:
			return false
		}
	}
	return n > 0
}
