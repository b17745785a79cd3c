package normalize

import (
	"strings"

	"github.com/pawl-agent/pawl/internal/core/cut"
)

// OneLine cuts a text to one line of at most n bytes.
func OneLine(s string, n int) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i] + " …"
	}
	return cut.Bytes(s, n)
}
