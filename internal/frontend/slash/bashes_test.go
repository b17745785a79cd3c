package slash

import (
	"testing"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// The address of a server is that of this machine as people open it, and no other's.
//
// SPEC 18.2, 16.11
func TestURL(t *testing.T) {
	for printed, want := range map[string]string{
		"":          "",
		"listening": "",
		"  ➜  Local:   http://localhost:5173/\n":                       "http://localhost:5173/",
		"Serving HTTP on 0.0.0.0 port 8123 (http://0.0.0.0:8123/) ...": "http://localhost:8123/",
		"on http://[::]:80.":                                   "http://localhost:80",
		"ready at https://127.0.0.1:8443/a?b=c, go":            "https://127.0.0.1:8443/a?b=c",
		"(http://[::ffff:127.0.0.1]:8123/) ...":                "http://127.0.0.1:8123/",
		"Network: http://10.0.0.7:3000/":                       "",
		"see https://go.dev/doc or http://[::1]:1":             "http://[::1]:1",
		"http://localhost.evil.example:1/":                     "",
		"http://localhost@evil.example/":                       "",
		"url='http://0.0.0.0'":                                 "http://localhost",
		"http://127.0.0.1:1/\x1b]8;;http://evil.example\x1b\\": "http://127.0.0.1:1/",
	} {
		if got := URL(tool.Job{Tail: func() string { return printed }}); got != want {
			t.Errorf("%q: %q, want %q", printed, got, want)
		}
	}
}
