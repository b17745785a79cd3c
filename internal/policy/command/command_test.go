package command

import (
	"testing"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

func parse(t *testing.T, line string) []shellsyntax.Command {
	t.Helper()
	cs, err := ParseWith(line, shellsyntax.Options{Dir: "/w", Home: "/h"})
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return cs
}

func FuzzReadOnly(f *testing.F) {
	for _, s := range []string{"ls -la", "git -C a status", "find . -exec grep x {} +", "sed -n 1p a", "awk '{print $1}' a", "go list ./...", "cp -r a b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		cs, err := Parse(line, "/w")
		if err != nil {
			return
		}
		for _, c := range cs {
			Executing(c)
			Sensitive(c)
		}
		ReadOnly(cs...)
	})
}

// SPEC 16.6: a line whose git commands only read runs under gitconfig.Env; any other keeps its
// environment.
func TestClosed(t *testing.T) {
	for line, want := range map[string]bool{
		"git status": true, "cd sub && git diff | head": true, "git log > out; make": true, "git -C a commit -m x": false, "git status; git add a": false, "ls": false,
	} {
		if got := Closed(parse(t, line)); got != want {
			t.Errorf("%s: %t", line, got)
		}
	}
}

// SPEC 16.5: the plainest scripts of sed and awk run nothing.
func TestScripts(t *testing.T) {
	for line, want := range map[string]bool{
		"sed 1,5p a": true, "sed -n '$p' a": true, "sed s/a/b/g a": true, "awk '{print $1, $2}' a": true, "awk '{ print }' a": true,
		"sed s/a/b/e a": false, "sed 's/a/b/w f' a": false, "sed 'w f' a": false, "sed '1e id' a": false, "sed -f x a": false, "sed \"$X\" a": false, "sed 's/a/b/\nw f' a": false,
		"awk '{print > \"f\"}' a": false, "awk '{system($1)}' a": false, "awk -f x a": false, "gawk '@load \"x\"' a": false,
	} {
		c := parse(t, line)[0]
		if got := len(Executing(c)) == 0; got != want {
			t.Errorf("%s: %v", line, Executing(c))
		}
	}
}
