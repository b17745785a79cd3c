package command

import (
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// SafeVariable reports whether no program obeys a variable, since its name is one
// letter or in small letters, or whether it only changes how output looks or how a
// build is made, but never what runs.
func SafeVariable(name string) bool {
	switch name {
	case "CGO_ENABLED", "GOOS", "GOARCH", "GOARM", "GOAMD64", "GOMAXPROCS", "GOGC", "GOMEMLIMIT", "GOTRACEBACK", "GO111MODULE",
		"CI", "TZ", "LANG", "LANGUAGE", "TERM", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "COLORTERM",
		"NODE_ENV", "RUST_BACKTRACE", "RUST_LOG", "CARGO_TERM_COLOR", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED",
		"DEBIAN_FRONTEND", "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS", "DEBUG", "VERBOSE", "HUSKY":
		return true
	}
	return strings.HasPrefix(name, "LC_") || len(name) == 1 && name != "_" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") == "" && name != "histchars"
}

// LoadedVariable reports whether a variable changes what later commands of the line do
// even if it is not exported again: it is in the environment already, or the shell
// itself obeys it.
func LoadedVariable(name string) bool {
	if shellsyntax.UsedByBash(name) {
		return true
	}
	switch name {
	case "USER", "EDITOR", "VISUAL", "PAGER", "LESSOPEN", "LESSCLOSE", "MANPAGER", "BROWSER", "CC", "CXX", "LD", "AR", "MAKEFLAGS", "MAKE",
		"PERL5OPT", "PERL5LIB", "RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "CLASSPATH", "RUSTC", "RUSTC_WRAPPER", "RIPGREP_CONFIG_PATH",
		"XDG_CONFIG_HOME":
		return true
	}
	for _, p := range [...]string{"LD_", "DYLD_", "GIT_", "GO", "CGO_", "PYTHON", "NODE_", "NPM_", "npm_", "CARGO", "RUST", "BASH_", "SSH_", "LESS", "GREP_", "GCC_", "CMAKE_", "PYTEST_", "DOCKER_"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}
