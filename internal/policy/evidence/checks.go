package evidence

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// checks are the commands whose exit code says whether a project is sound, by
// program and first words.
var checks = [][]string{
	{"go", "test"},
	{"go", "build"},
	{"go", "vet"},
	{"npm", "test"},
	{"npm", "run", "test"},
	{"npm", "run", "build"},
	{"npm", "run", "lint"},
	{"npm", "run", "typecheck"},
	{"pnpm", "test"},
	{"pnpm", "run", "test"},
	{"yarn", "test"},
	{"yarn", "run", "test"},
	{"bun", "test"},
	{"npx", "tsc"},
	{"npx", "vitest"},
	{"npx", "jest"},
	{"tsc"},
	{"vitest"},
	{"jest"},
	{"pytest"},
	{"python", "-m", "pytest"},
	{"python3", "-m", "pytest"},
	{"python", "-m", "unittest"},
	{"python3", "-m", "unittest"},
	{"uv", "run", "pytest"},
	{"tox"},
	{"mypy"},
	{"ruff", "check"},
	{"cargo", "test"},
	{"cargo", "check"},
	{"cargo", "build"},
	{"cargo", "clippy"},
	{"make"},
	{"just"},
	{"mvn", "test"},
	{"mvn", "verify"},
	{"gradle", "test"},
	{"./gradlew", "test"},
	{"dotnet", "test"},
	{"ctest"},
	{"bazel", "test"},
	{"mix", "test"},
	{"bundle", "exec", "rspec"},
	{"rspec"},
	{"phpunit"},
	{"swift", "test"},
	{"zig", "build", "test"},
}

// IsCheck says whether a command line's exit code is that of a check: the last
// command is one, it is not in the background, and nothing can hide its
// failure (a pipe into another command, `|| true`, `; echo`).
func IsCheck(line string) bool {
	if strings.Contains(line, "||") || strings.ContainsAny(line, "|&;\n") && !onlyAnd(line) {
		return false
	}
	cmds, err := shellsyntax.Parse(line, "")
	if err != nil || len(cmds) == 0 {
		return false
	}
	last := cmds[len(cmds)-1]
	if last.Background || last.Piped {
		return false
	}
	for i, w := range last.Words {
		next := ""
		if i+1 < len(last.Words) {
			next = last.Words[i+1].Text
		}
		if !w.Known || hollow(last.Words[0].Text, w.Text, next) {
			return false
		}
	}
	return slices.ContainsFunc(checks, func(c []string) bool { return startsWith(last.Words, c) })
}

// hollow says of a word on a check's command line that nothing is checked with
// it: a build of other contents than those on disk, a program that runs nothing
// or something else in place of the tests, or whose exit code says nothing of
// them.
func hollow(program, word, next string) bool {
	if !strings.HasPrefix(word, "-") {
		return false
	}
	name, value, has := strings.Cut(strings.TrimLeft(word, "-"), "=")
	if !has {
		value = next
	}
	switch name {
	case "overlay", "n", "list", "help", "h", "version", "no-run", "dry-run", "collect-only":
		return true
	case "if-present": // of npm
		return true
	}
	switch program {
	case "go":
		return slices.Contains([]string{"exec", "toolexec", "vettool", "c"}, name) || name == "run" && (value == "^$" || value == "$^")
	case "make", "just":
		return slices.Contains([]string{"touch", "question", "just-print", "recon", "ignore-errors"}, name) ||
			!strings.HasPrefix(word, "--") && program == "make" && onlyLetters(name) && strings.ContainsAny(name, "ntqi")
	case "pytest", "python", "python3", "uv":
		return slices.Contains([]string{"co", "fixtures", "markers", "setup-plan"}, name)
	}
	return false
}

func onlyLetters(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < 'a' || r > 'z' })
}

// onlyAnd says that the only operators of a line are && and redirections of
// file descriptors: the line's exit code is then the last command's, or that
// of an earlier one that failed.
func onlyAnd(line string) bool {
	line = strings.ReplaceAll(line, "&&", "")
	line = strings.ReplaceAll(line, "2>&1", "")
	return !strings.ContainsAny(line, "|&;\n")
}

func startsWith(words []shellsyntax.Word, prefix []string) bool {
	if len(words) < len(prefix) {
		return false
	}
	return slices.EqualFunc(words[:len(prefix)], prefix, func(w shellsyntax.Word, p string) bool { return w.Known && w.Text == p })
}
