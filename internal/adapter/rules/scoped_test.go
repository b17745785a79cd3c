package rules

import (
	"path/filepath"
	"strings"
	"testing"
)

// SPEC 11.3: the rules of Claude Code and Cursor are read from where they are, each for the
// files that it names, and the person's own first.
func TestRulesOfOtherAgents(t *testing.T) {
	dir := tree(t, map[string]string{
		"home/.claude/CLAUDE.md": "MINE @more.md", "home/.claude/more.md": "MORE", "home/.claude/rules/all.md": "MINE ALWAYS",
		"home/.claude/rules/py.md": "---\npaths: '**/*.py'\n---\nMINE PY",
		"ws/.git/":                 "", "ws/CLAUDE.md": "PROJECT", "ws/CLAUDE.local.md": "LOCAL", "ws/GEMINI.md": "NOT READ",
		"ws/.claude/rules/style.md":      "STYLE",
		"ws/.claude/rules/web/react.md":  "---\npaths:\n  - **/never.x\n  - \"src/**/*.{ts,tsx}\"\n  - lib/*.js\n---\nREACT",
		"ws/.claude/rules/braces.md":     "---\npaths: \"{a,b}/*.go, *.rs\"\n---\nBRACES",
		"ws/.claude/rules/note.txt":      "NO RULE",
		"ws/.claude/rules/out.md":        "->../../../out.md",
		"out.md":                         "OUT",
		"ws/.cursor/rules/always.mdc":    "---\ndescription: x\nglobs:\nalwaysApply: true\n---\nALWAYS",
		"ws/.cursor/rules/sql.mdc":       "---\ndescription:\nglobs: *.sql,db/**\nalwaysApply: false\n---\nSQL",
		"ws/.cursor/rules/asked.mdc":     "---\ndescription: how to release\nalwaysApply: false\n---\nRELEASE",
		"ws/.cursor/rules/by-hand.mdc":   "---\nalwaysApply: false\n---\nBY HAND",
		"ws/sub/CLAUDE.local.md":         "SUB LOCAL",
		"ws/sub/.claude/CLAUDE.md":       "SUB",
		"ws/node_modules/x/CLAUDE.md":    "OTHERS",
		"ws/.claude/rules/bad/broken.md": "---\npaths: x",
	})
	o := Options{Root: filepath.Join(dir, "ws"), Home: filepath.Join(dir, "home"), Config: filepath.Join(dir, "none")}
	s := load(t, o)
	want := "~/.claude/rules/all.md ~/.claude/CLAUDE.md CLAUDE.md .claude/rules/style.md .cursor/rules/always.mdc .cursor/rules/asked.mdc CLAUDE.local.md"
	if got := paths(s); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for text, in := range map[string]bool{"MORE": true, "Read this file before a task about: how to release": true, "RELEASE": false, "BY HAND": false, "REACT": false, "NO RULE": false, "OUT": false, "NOT READ": false, "paths:": false} {
		if strings.Contains(s.Text, text) != in {
			t.Errorf("%s: %v, %q", text, !in, s.Text)
		}
	}
	if len(s.Warnings) != 2 || !warned(s, ".claude/rules/out.md was not read: it points outside") || !warned(s, "broken.md was not read: the front matter has no end") {
		t.Errorf("%q", s.Warnings)
	}
	for file, want := range map[string]string{
		"src/a/b.tsx": "REACT", "src/b.ts": "REACT", "lib/x.js": "REACT", "lib/x/y.js": "", "a/x.go": "BRACES", "c/x.go": "", "deep/er/x.rs": "BRACES",
		"q.sql": "SQL", "x/q.sql": "SQL", "db/any/thing": "SQL", "x.py": "MINE PY", "sub/x.txt": "SUB, SUB LOCAL", "node_modules/x/i.md": "", "style.css": "",
	} {
		var got []string
		for _, s := range Below(t.Context(), o, file) {
			if !strings.HasPrefix(s.Note(), "[The rules ") {
				t.Errorf("%s: %q", file, s.Note())
			}
			_, text, _ := strings.Cut(s.Text, "\n\n")
			got = append(got, text)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

// The home as the workspace has its rules once.
func TestHomeIsTheWorkspace(t *testing.T) {
	dir := tree(t, map[string]string{".claude/CLAUDE.md": "MINE", ".claude/rules/a.md": "A", ".claude/rules/b.md": "---\npaths: '*.go'\n---\nB"})
	o := Options{Root: dir, Home: dir}
	if s := load(t, o); paths(s) != ".claude/CLAUDE.md .claude/rules/a.md" {
		t.Errorf("%q", paths(s))
	}
	if n := Below(t.Context(), o, "x.go"); len(n) != 1 {
		t.Errorf("%+v", n)
	}
}
