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
	// A build of other contents than those on disk, or one that runs nothing,
	// says nothing of the files as they are.
	for _, w := range last.Words {
		name, _, _ := strings.Cut(strings.TrimLeft(w.Text, "-"), "=")
		if !w.Known || strings.HasPrefix(w.Text, "-") && slices.Contains([]string{"overlay", "n", "list", "help", "h", "version", "no-run", "dry-run", "collect-only"}, name) {
			return false
		}
	}
	return slices.ContainsFunc(checks, func(c []string) bool { return startsWith(last.Words, c) })
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
