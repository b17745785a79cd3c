package mcp

import (
	"io"
	"strings"
	"testing"
)

// A body that is too long is an error that names the limit of that body.
func TestLimitedBody(t *testing.T) {
	for want, max := range map[string]int64{"sent more than 1 MB": maxAuth, "sent more than 2 MB": 2 << 20} {
		whole := strings.Repeat("x", int(max))
		body := func(text string) io.Reader { return limited(io.NopCloser(strings.NewReader(text)), max) }
		if got, err := io.ReadAll(io.LimitReader(body(whole), max)); err != nil || string(got) != whole {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		if _, err := io.ReadAll(body(whole + "x")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
