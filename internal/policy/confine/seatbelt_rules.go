package confine

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/pawl-agent/pawl/internal/core/process"
)

// seatbeltRules keeps the rules about paths. Nobody is asked while a command runs, so what
// asks is denied. The system does not tell where a file is moved to, so what a rule names
// is not moved, nor is a folder above it.
func (p Policy) seatbeltRules(line func(string, ...any)) {
	for _, r := range p.Rules {
		if r.List == process.AllowsPath {
			continue
		}
		parts := strings.Split(strings.TrimSuffix(r.Pattern, "/"), "/")
		covered := matcher(expression(parts) + "(/|$)")
		if r.Write {
			line("(deny file-write* (regex %s))", covered)
		} else {
			line("(deny file-read-data (require-all (vnode-type REGULAR-FILE) (regex %s)))", covered)
			line("(deny file-write-unlink (regex %s))", covered)
		}
		for i := 2; i < len(parts); i++ {
			if parts[i-1] != "**" {
				line("(deny file-write-unlink (regex %s))", matcher(expression(parts[:i])+"$"))
			}
		}
	}
}

// expression returns a regular expression for a pattern, as MatchPath takes it with wide.
func expression(parts []string) string {
	for len(parts) > 1 && parts[len(parts)-1] == "**" {
		parts = parts[:len(parts)-1] // the folder itself counts as well
	}
	var b strings.Builder
	b.WriteString("^")
	for i, part := range parts {
		switch {
		case i == 0: // before the first slash
		case part == "**":
			b.WriteString("(/.*)?")
		default:
			b.WriteString("/")
			for _, c := range part {
				switch {
				case c == '*':
					b.WriteString("[^/]*")
				case c == '?':
					b.WriteString("[^/][^/]?[^/]?[^/]?") // a letter has up to four bytes
				case c == QuotedStar:
					b.WriteString(regexp.QuoteMeta("*"))
				case c > unicode.MaxASCII:
					b.WriteString("..?.?.?")
				default:
					b.WriteString(folded(string(c)))
				}
			}
		}
	}
	return b.String()
}
