package command

import (
	"slices"
	"strings"
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

func TestSedScripts(t *testing.T) {
	for s, want := range map[string]bool{
		"1,5p": true, "$p": true, "/a/p": true, "s/a/b/g": true, "s|a|b|;s,c,d,": true, "/a/,/b/{s/x/y/;p}": true, `s/\//x/`: true, "y/abc/xyz/": true,
		"s/a/b/e": false, "s/a/b/w f": false, "w f": false, "1e id": false, "r f": false, "1!G;h;$!d": true, "s/[/]/x/": false, "/x/w f": false,
		"s/a/b/\nw f": false, "a text w f": true, "a\\\nw f": false, ":x;N;bx": true, "e": false, "5q": true, "s/a/b/;e id": false, "s/a/b": false,
	} {
		if plainSed(s) != want {
			t.Errorf("%q: %v", s, !want)
		}
	}
}

func TestTouched(t *testing.T) {
	reads, writes := Touched(parse(t, "cat a > b; cd s; cp c* /x/d && rm e; cat $X < f"))
	if got := strings.Join(reads, " ") + " | " + strings.Join(writes, " "); got != "/w/a /w/s /w/s/* /w/* /w/s/f /w/f | /w/b /x/d /w/s/e /w/e" {
		t.Error(got)
	}
}

// SPEC 4.15, 16.5: the ways in which unittest finds a project's tests are
// checks; what leads out of the workspace or is code is none.
func TestUnittestIsACheck(t *testing.T) {
	for command, want := range map[string]bool{
		"": true, "discover": true, "discover -s tests": true, "discover -s tests -p '*_test.py'": true, "discover -p '*_test.py'": true,
		"discover -s /tmp": false, "discover -s a/../..": false, "discover -t /": false, "discover -s": false, "evil.module": false,
		"discover -s \"$X\"": false, "discover -s -p x": false, "discover -p ../x": false,
	} {
		cmds, err := Parse("python3 -m unittest "+command, "/w")
		if err != nil {
			t.Fatal(err)
		}
		if got := unittestCheck(cmds[0].Words[3:]); got != want {
			t.Errorf("%q: %v", command, got)
		}
	}
}

func FuzzEffects(f *testing.F) {
	for _, s := range []string{"ls -la", "git -C a status", "find . -exec grep x {} +", "sed -n 1p a", "awk '{print $1}' a", "go list ./...", "cp -r a b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		cs, err := Parse(line, "/w")
		if err != nil {
			return
		}
		for _, c := range cs {
			e := Effects(c)
			if e.Kind == Reads && len(e.Writes)+len(e.Removes) > 0 {
				t.Fatalf("%q reads, and writes %v %v", line, e.Writes, e.Removes)
			}
			Executing(c)
			Sensitive(c)
		}
		ReadOnly(cs...)
	})
}

// SPEC 16.5: what only reads keeps no log, fetches nothing and writes no index.
func TestClosedEnv(t *testing.T) {
	for line, want := range map[string]string{
		"npm ls":     "npm_config_logs_max=0 npm_config_update_notifier=false npm_config_offline=true npm_config_onload_script= npm_config_node_options=",
		"git status": "GIT_OPTIONAL_LOCKS=0 GIT_NO_LAZY_FETCH=1 GIT_TERMINAL_PROMPT=0 GIT_PAGER=cat",
		"pip list":   "PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1",
		"less a":     "LESSOPEN= LESSCLOSE= LESSSECURE=1",
		"go list":    "GOPROXY=off GOVCS=*:off GOFLAGS=-buildvcs=false GOTOOLCHAIN=local",
	} {
		cmds := parse(t, line)
		if !Closed(cmds) {
			t.Errorf("%s is not closed", line)
		}
		for kv := range strings.FieldsSeq(want) {
			if !slices.Contains(ClosedEnv(cmds), kv) {
				t.Errorf("%s runs without %s", line, kv)
			}
		}
	}
}
