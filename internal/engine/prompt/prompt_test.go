package prompt

import (
	"reflect"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/golden"
)

// SPEC 5.7
func TestSystem(t *testing.T) {
	for name, f := range map[string]Facts{
		"person":   {Dir: "/home/ada/engine", OS: "linux", Shell: "bash", Git: `branch main, 3 files changed; last commits: "1fb08337 lexer: count tabs"`, Languages: []string{"Go (412)", "shell (3)"}, Servers: []string{"gopls"}, Checks: []string{"go vet ./...", "go test ./..."}, Run: true, Date: "2026-11-21", Mode: "ask", Person: true, Confined: true, Scratch: true},
		"headless": {Dir: "/srv/app", OS: "darwin", Shell: "sh", Date: "2026-11-21", Mode: "accept-edits", Checks: []string{"make check"}, Lacking: []string{"`npm test`: jest is not installed (there is no node_modules)", "`npm run lint`: eslint is not installed"}},
	} {
		got, path := System(f), "testdata/"+name+".golden"
		golden.File(t, path, got)
		if len(got) > 4096 {
			t.Errorf("%s: %d bytes: it is paid for in every request, keep it short", name, len(got))
		}
	}
}

// SPEC 20.1, 14.1: agents have beginnings of their own, with the session's facts and rules;
// one that only reads is told nothing of changing files. A person's own prompt stays.
func TestForAgent(t *testing.T) {
	whole := System(Facts{Dir: "/w", Mode: "auto"}) + "\nThe rules."
	facts := whole[strings.Index(whole, "\nThis session"):]
	reads, works := ForAgent(whole, true), ForAgent(whole, false)
	for name, got := range map[string]string{"explore": reads, "agent": works} {
		if !strings.HasSuffix(got, facts) || strings.Contains(got, "You are pawl,") {
			t.Errorf("%s:\n%s", name, got)
		}
	}
	for _, w := range []string{"change", "commit", "Prove", "Edit files"} {
		if before, _, _ := strings.Cut(reads, "This session"); strings.Contains(before, w) {
			t.Errorf("an agent that only reads is told of %q", w)
		}
	}
	if got := ForAgent(works, true); got != reads {
		t.Errorf("an agent's agent:\n%s", got)
	}
	if got := ForAgent("Answer in rhymes.", true); got != "Answer in rhymes." {
		t.Errorf("a person's own prompt became %q", got)
	}
}

// SPEC 20.5: a session that is played again tells of the repository what the first one told.
func TestRecall(t *testing.T) {
	for _, was := range []Facts{
		{Dir: "/w"},
		{Dir: "/w", Git: `branch a: b; last commits: ["1 - Git: x"]`, Languages: []string{"Go (4)", "C++ (1)"}, Servers: []string{"gopls", "clangd"}},
		{Dir: "/w", Git: "a repository", Checks: []string{"go test ./..."}},
		{Dir: "/w", Checks: []string{"npm test", "sh -c 'a; b'"}, Run: true},
		{Dir: "/w", Lacking: []string{"`npm test`: jest is not installed", "`npm run lint`: eslint is not installed"}},
	} {
		now := Facts{Dir: "/w", Git: "branch main", Checks: []string{"make"}, Servers: []string{"pyright"}}
		if now.Recall(System(was)); !reflect.DeepEqual(now, was) {
			t.Errorf("%+v, want %+v", now, was)
		}
	}
}
