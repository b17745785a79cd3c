package command

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// Piped returns the check of a line that ends by piping its output through filters:
// "go test ./..." of "go test ./... 2>&1 | tail -5". bash knows the exit code of each
// command of a pipe, so the check's own can be had. A filter shows lines that it reads, and
// no others: what it leaves counts as the check's output.
func Piped(line string) (check string, ok bool) {
	end, ok := shellsyntax.EndOf(strings.TrimSpace(line))
	if !ok || end.Filters == "" {
		return "", false
	}
	front := end.Front
	if !IsCheck(front) {
		return "", false
	}
	whole, err := Parse(line, "/")
	if err != nil || slices.ContainsFunc(whole, func(c shellsyntax.Command) bool { return c.Func }) {
		return "", false
	}
	cmds, err := Parse(end.Filters, "/")
	if err != nil || !ReadOnly(cmds...) || slices.ContainsFunc(cmds, func(c shellsyntax.Command) bool { return !shows(c) }) {
		return "", false
	}
	return strings.TrimSpace(strings.TrimSuffix(front, "2>&1")), true
}

// shows reports whether a command reads the pipe, and no file, and prints lines of it.
func shows(c shellsyntax.Command) bool {
	if len(c.Words) == 0 || len(c.Redirects) > 0 {
		return false
	}
	var options string
	var words []string
	for _, w := range c.Words[1:] {
		switch o, ok := strings.CutPrefix(w.Text, "-"); {
		case ok:
			options += o
		case strings.Trim(w.Text, "+0123456789") != "": // not the number of lines
			words = append(words, w.Text)
		}
	}
	switch c.Name() {
	case "tail", "head", "cat", "sort", "uniq":
		return len(words) == 0
	case "grep", "egrep", "fgrep":
		return len(words) <= 1 && !strings.ContainsAny(options, "-rRfe") // the pattern alone: no option reads a file
	}
	return false
}
