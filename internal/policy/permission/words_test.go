package permission

import "testing"

// SPEC 18.4: an answer says in words what it covers.
func TestInWords(t *testing.T) {
	for rule, want := range map[string]string{
		"":                                  "",
		"edit(calc.go)":                     "edits in calc.go",
		"edit(.)":                           "edits in this folder",
		"read(/etc/ssl/**)":                 "reads in /etc/ssl",
		"bash(npm test *)":                  "commands that begin with `npm test`",
		"bash(rm -rf build)":                "`rm -rf build`",
		"bash(go test *), bash(cat 'a, b')": "commands that begin with `go test` and `cat 'a, b'`",
		"unconfined(git push *)":            "commands that begin with `git push` outside the sandbox",
		"edit(a b/c.txt), read(x), edit(y)": "edits in a b/c.txt, reads in x and edits in y",
		"web_fetch(example.com)":            "pages of example.com",
		"network(registry.npmjs.org)":       "connections to registry.npmjs.org",
		"mcp__fs__write_file":               "each call of mcp__fs__write_file",
	} {
		if got := InWords(rule); got != want {
			t.Errorf("%q: %q, want %q", rule, got, want)
		}
	}
}
