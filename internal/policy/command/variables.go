package command

import "strings"

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
