//go:build unix

package internal

import (
	"os/exec"
	"strings"
	"testing"
)

// What is given away has the licence of every module that is linked into it, and Go's.
// Issue 32.6.
func TestNotices(t *testing.T) {
	run := func(name string, args ...string) string {
		t.Helper()
		c := exec.Command(name, args...)
		c.Dir = ".."
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%s %q: %v", name, args, err)
		}
		return string(out)
	}
	_, all, _ := strings.Cut(run("bash", ".ci/notices"), "\n==== ")
	texts := map[string]string{}
	for part := range strings.SplitSeq(all, "\n==== ") {
		head, text, _ := strings.Cut(part, "\n")
		name, _, _ := strings.Cut(head, ": ")
		texts[name] += text
	}
	linked := run("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}@{{.Version}}{{end}}{{end}}", "./cmd/pawl")
	for _, name := range append(strings.Fields(linked), "Go") {
		if text := strings.ToLower(texts[name]); !strings.Contains(text, "copyright") && !strings.Contains(text, "public domain") {
			t.Errorf("%s has no licence: %q", name, text)
		}
	}
}
