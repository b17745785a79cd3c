package evidence

import (
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/normalize"
)

// Lines splits an output into lines without colours and overwritten text.
func Lines(s string) []string {
	var out []string
	for l := range strings.Lines(strings.ToValidUTF8(s, "\uFFFD")) {
		out = append(out, strings.TrimRight(normalize.Shown(strings.TrimRight(l, " \t\r\n")), " \t"))
	}
	return out
}
