package evidence

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// This file knows which command lines are checks.

// does is what a check's exit code 0 says of a project.
type does int

const (
	looks  does = iota // nothing is wrong with how it is written: a linter
	builds             // it compiles
	tests              // its tests pass, where there are any
	wraps              // what the project's own files make of it: anything
)

// program is a command whose exit code says whether a project is sound, by its
// first words.
type program struct {
	words    string
	does     does
	compiles bool // of one that tests: it has compiled the project as well
	forms    []form
}

// programs are all that are known. Of two that fit, the longer is meant.
var programs = []program{
	{"go test", tests, true, nil}, // see goTests
	{"go build", builds, true, nil},
	{"go vet", builds, true, nil},
	{"cargo test", tests, true, rust},
	{"cargo nextest run", tests, true, rust},
	{"cargo check", builds, true, nil},
	{"cargo build", builds, true, nil},
	{"cargo clippy", builds, true, nil},

	{"npm test", wraps, false, nil},
	{"npm t", wraps, false, nil},
	{"npm run test", wraps, false, nil},
	{"npm run build", builds, false, nil},
	{"npm run typecheck", builds, false, nil},
	{"npm run lint", looks, false, nil},
	{"bun test", tests, false, javascript},
	{"deno test", tests, false, javascript},
	{"node --test", tests, false, tap},
	{"jest", tests, false, javascript},
	{"vitest", tests, false, javascript},
	{"mocha", tests, false, javascript},
	{"tap", tests, false, tap},
	{"tape", tests, false, tap},
	{"ava", tests, false, javascript},
	{"jasmine", tests, false, javascript},
	{"playwright test", tests, false, javascript},
	{"tsc", builds, false, nil},
	{"eslint", looks, false, nil},

	{"pytest", tests, false, pytest},
	{"python -m pytest", tests, false, pytest},
	{"python -m unittest", tests, false, unittest},
	{"python manage.py test", tests, false, unittest},
	{"tox", wraps, false, nil},
	{"nox", wraps, false, nil},
	{"mypy", looks, false, nil},
	{"pyright", looks, false, nil},
	{"ruff check", looks, false, nil},

	{"make", wraps, false, nil},
	{"gmake", wraps, false, nil},
	{"just", wraps, false, nil},
	{"mvn test", tests, true, jvm},
	{"mvn verify", tests, true, jvm},
	{"gradle test", tests, true, jvm},
	{"gradle check", tests, true, jvm},
	{"dotnet test", tests, true, dotnet},
	{"dotnet build", builds, true, nil},
	{"ctest", tests, false, ctest},
	{"bazel test", tests, true, bazel},
	{"mix test", tests, true, ruby},
	{"rspec", tests, false, ruby},
	{"rake test", wraps, false, nil},
	{"rails test", tests, false, ruby},
	{"phpunit", tests, false, php},
	{"composer test", wraps, false, nil},
	{"swift test", tests, true, swift},
	{"swift build", builds, true, nil},
	{"zig build test", wraps, true, nil},
	{"zig test", tests, true, zig},
}

// spellings are other first words of the same programs.
var spellings = [][2]string{
	{"uv run", ""}, {"poetry run", ""}, {"pipenv run", ""}, {"pdm run", ""}, {"bundle exec", ""}, {"npx", ""}, {"bunx", ""}, {"pnpm exec", ""},
	{"python3", "python"}, {"py.test", "pytest"}, {"pnpm", "npm"}, {"yarn", "npm"}, {"bun run", "npm run"},
	{"./gradlew", "gradle"}, {"./mvnw", "mvn"}, {"vendor/bin/phpunit", "phpunit"}, {"./vendor/bin/phpunit", "phpunit"}, {"bin/rails", "rails"},
}

// programOf finds the program that words begin with.
func programOf(words []string) (program, bool) {
	line := strings.Join(words, " ")
	for again := true; again; {
		again = false
		for _, s := range spellings {
			if rest, ok := afterWords(line, s[0]); ok {
				line, again = strings.TrimSpace(s[1]+" "+rest), true
				break
			}
		}
	}
	var best program
	for _, p := range programs {
		if _, ok := afterWords(line, p.words); ok && len(p.words) > len(best.words) {
			best = p
		}
	}
	return best, best.words != ""
}

// afterWords gives what follows words at the start of a line.
func afterWords(line, words string) (string, bool) {
	rest, ok := strings.CutPrefix(line, words)
	return strings.TrimPrefix(rest, " "), ok && (rest == "" || rest[0] == ' ')
}

// IsCheck reports whether a command line's exit code is that of a check: the
// last command is one, it is not in the background, and nothing can hide its
// failure (a pipe into another command, `|| true`, `; echo`).
func IsCheck(line string) bool {
	_, _, ok := lastCheck(line)
	return ok
}

// lastCheck takes a line apart whose exit code is that of its last command, a
// check; before are the commands in front of it.
func lastCheck(line string) (before []shellsyntax.Command, last checkLine, ok bool) {
	return lastCheckIn(line, "/")
}

// lastCheckIn is lastCheck of a line that runs in a folder.
func lastCheckIn(line, dir string) (before []shellsyntax.Command, last checkLine, ok bool) {
	line = strings.TrimSpace(line)
	if !onlyAnd(line) {
		return nil, last, false
	}
	cmds, err := shellsyntax.Parse(line, dir)
	if err != nil || len(cmds) == 0 {
		return nil, last, false
	}
	last, ok = checkOf(cmds[len(cmds)-1])
	return cmds[:len(cmds)-1], last, ok
}

// checkLine is a command that is a check, with its words.
type checkLine struct {
	program
	command shellsyntax.Command
	words   []string
}

func checkOf(c shellsyntax.Command) (checkLine, bool) {
	out := checkLine{command: c}
	if c.Background || c.Piped || c.Func || c.Code || !command.Transparent(c) {
		return out, false
	}
	for _, w := range c.Words {
		if !w.Known {
			return out, false
		}
		out.words = append(out.words, w.Text)
	}
	for i, w := range out.words {
		next := ""
		if i+1 < len(out.words) {
			next = out.words[i+1]
		}
		if hollow(out.words[0], w, next) {
			return out, false
		}
	}
	for _, a := range c.Assigns {
		if name, _, _ := strings.Cut(a, "="); !command.SafeVariable(name) && name != "PYTHONPATH" {
			return out, false // it may make another program of it
		}
	}
	var ok bool
	out.program, ok = programOf(out.words)
	return out, ok
}

// hollow reports of a word on a check's command line that nothing is checked with
// it: a build of other contents than those on disk, a program that runs nothing
// or something else in place of the tests, or whose exit code says nothing of
// them.
func hollow(program, word, next string) bool {
	if program == "make" || program == "gmake" || program == "just" {
		if name, _, ok := strings.Cut(word, "="); ok && !strings.HasPrefix(word, "-") {
			return name != "V" && name != "VERBOSE" // any other may say what is run
		}
	}
	if !strings.HasPrefix(word, "-") {
		return false
	}
	name, value, has := strings.Cut(strings.TrimLeft(word, "-"), "=")
	if !has {
		value = next
	}
	switch name {
	case "overlay", "n", "list", "help", "h", "version", "no-run", "dry-run", "collect-only", "listTests":
		return true
	case "if-present", "script-shell": // of npm
		return true
	}
	switch program {
	case "go":
		return slices.Contains([]string{"exec", "toolexec", "vettool", "c"}, name) || name == "run" && (value == "^$" || value == "$^")
	case "make", "gmake", "just":
		return slices.Contains([]string{"touch", "question", "just-print", "recon", "ignore-errors", "eval", "shell", "set"}, name) ||
			!strings.HasPrefix(word, "--") && program != "just" && onlyLetters(name) && strings.ContainsAny(name, "ntqi")
	case "pytest", "py.test", "python", "python3", "uv":
		return slices.Contains([]string{"co", "fixtures", "markers", "setup-plan", "setup-only"}, name)
	case "cargo":
		return name == "config"
	}
	return false
}

func onlyLetters(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < 'a' || r > 'z' })
}

// onlyAnd reports whether the only operators of a line are && and redirections of
// file descriptors: the line's exit code is then the last command's, or that
// of an earlier one that failed.
func onlyAnd(line string) bool {
	line = strings.ReplaceAll(line, "&&", "")
	line = strings.ReplaceAll(line, "2>&1", "")
	return !strings.ContainsAny(line, "|&;\n!") &&
		!strings.Contains(strings.ReplaceAll(line, " ", ""), "()") && !strings.Contains(line, "function ") // a name of its own for something else
}
