package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/skills"
	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// This file rebuilds what Claude Code's documentation shows, in words of our own:
// someone who has such files finds that they do here what they did there. Where
// pawl differs on purpose, the test says so.

// script puts an executable below the folder of a rig.
func (r *rig) script(name, text string) {
	r.T.Helper()
	r.Put(name, text)
	must.Do(r.T, os.Chmod(filepath.Join(r.Dir, name), 0o700))
}

// putAt writes a file and the folders above it.
func putAt(t *testing.T, file, text string) {
	t.Helper()
	must.Write(t, file, text)
}

// SPEC 17.3: the validator of command lines. It knows better programs for some;
// exit code 2 stops the call, and what it writes to standard error is what the
// model reads.
func TestDocumentedCommandValidator(t *testing.T) {
	validator := `#!/bin/sh
line=$(sed -n 's/.*"command":"\([^"]*\)".*/\1/p')
case "$line" in
*"|"*) exit 0 ;;
grep*) echo "• use rg instead of grep" >&2; exit 2 ;;
find*-name*) echo "• use rg --files instead of find -name" >&2; exit 2 ;;
esac
`
	run := func(line string) llmtest.Turn { return llmtest.Use("bash", args(j{"command": line})) }
	m := llmtest.New(run("grep -r x ."), run("find . -name x"), run("echo x | grep x"), run("echo x"), llmtest.Use("write", args(j{"path": "grep.txt", "content": "grep"})), llmtest.Say("done"))
	r := newRig(t, "yolo", m, hooked(t, on("PreToolUse", "Bash", `"$CLAUDE_PROJECT_DIR"/hooks/validate.sh`)))
	must.Do(t, os.Mkdir(filepath.Join(r.Dir, "hooks"), 0o700))
	r.script("hooks/validate.sh", validator)
	dones := find[event.CallDone](r.Run("look for x", nil))
	for i, want := range []struct {
		outcome event.Outcome
		says    string
	}{{event.Denied, "• use rg instead of grep"}, {event.Denied, "• use rg --files instead of find -name"}, {event.OK, "x"}, {event.OK, "x"}, {event.OK, ""}} {
		if d := dones[i]; d.Outcome != want.outcome || !strings.Contains(d.Result.Text, want.says) {
			t.Errorf("call %d: %s %q", i, d.Outcome, d.Result.Text)
		}
	}
}

// SPEC 17.3: the guard of some files, a script for Edit|Write that compares the
// path with patterns: whichever tool changes a file, and however it is called.
func TestDocumentedProtectedFiles(t *testing.T) {
	guard := `#!/bin/sh
file=$(sed -n 's/.*"file_path":"\([^"]*\)".*/\1/p')
for pattern in .env package-lock.json .git/; do
  case "$file" in
  *"$pattern"*) echo "Blocked: $file matches '$pattern'" >&2; exit 2 ;;
  esac
done
exit 0
`
	write := func(path string) llmtest.Turn { return llmtest.Use("write", args(j{"path": path, "content": "x\n"})) }
	edit := llmtest.Use("edit", args(j{"path": "package-lock.json", "old": "one", "new": "two"}))
	patch := llmtest.Use("apply_patch", args(j{"patch": "*** Begin Patch\n*** Add File: sub/.env\n+x\n*** End Patch"}))
	m := llmtest.New(write(".env"), llmtest.Use("read", args(j{"files": []any{j{"path": "package-lock.json"}}})), edit, patch, write("a.txt"), llmtest.Say("done"))
	r := newRig(t, "yolo", m, hooked(t, on("PreToolUse", "Edit|Write", `"$CLAUDE_PROJECT_DIR"/protect-files.sh`)), func(c *session.Config) { c.Tools = append(c.Tools, tools.ApplyPatch()) })
	r.Put("package-lock.json", "one\n")
	r.script("protect-files.sh", guard)
	dones := find[event.CallDone](r.Run("change them", nil))
	for i, want := range []event.Outcome{event.Denied, event.OK, event.Denied, event.Denied, event.OK} {
		d := dones[i]
		if d.Outcome != want || want == event.Denied && !strings.Contains(d.Result.Text, "Blocked: "+r.Dir) {
			t.Errorf("call %d: %s %q", i, d.Outcome, d.Result.Text)
		}
	}
	if got := r.File("package-lock.json"); got != "one\n" {
		t.Errorf("%q", got)
	}
}

// SPEC 17.3: the validator of prompts. It refuses one with a secret by a decision
// in JSON, whose reason is for the person only; what it prints otherwise is
// context for the model.
func TestDocumentedPromptValidator(t *testing.T) {
	validator := `in=$(cat); case "$in" in
*'"prompt":"'*assword:*) echo '{"decision": "block", "reason": "Security policy violation: it holds a secret"}' ;;
*) echo "Current time: noon" ;;
esac`
	m := llmtest.New(llmtest.Say("done"))
	r := newRig(t, "yolo", m, hooked(t, on("UserPromptSubmit", "", validator)))
	_, err := r.RunPrompt(t.Context(), session.Prompt{Text: "my password: xyzzy"}, session.Observer{})
	if err == nil || !strings.Contains(err.Error(), "Security policy violation: it holds a secret") || len(m.Requests()) != 0 {
		t.Fatal(err, len(m.Requests()))
	}
	r.Run("what is the time?", nil)
	if sent := fmt.Sprint(m.Requests()[0].Messages); !strings.Contains(sent, "Current time: noon") || strings.Contains(sent, "xyzzy") || strings.Contains(sent, "Security policy") {
		t.Error(sent)
	}
}

// SPEC 17.4: the command that makes a commit. Its lines of git run with the
// prompt; its tools are all that its turn has, and only its turn.
func TestDocumentedCommitCommand(t *testing.T) {
	dir := t.TempDir()
	putAt(t, filepath.Join(dir, ".claude/commands/commit.md"), "---\nallowed-tools: Bash(git add:*), Bash(git status:*), Bash(git commit:*)\nargument-hint: [message]\ndescription: Create a git commit\n---\n\n## Context\n\n- Status: !`git status`\n\n## Task\n\nMake one commit with the message: $ARGUMENTS\n")
	all, warnings := skills.LoadCommands(skills.Folder{Root: dir, Path: ".claude/commands"})
	if len(all) != 1 || len(warnings) > 0 || all[0].Hint != "[message]" {
		t.Fatalf("%+v %v", all, warnings)
	}
	c := all[0]
	run := func(line string) llmtest.Turn { return llmtest.Use("bash", args(j{"command": line})) }
	m := llmtest.New(run("git init -q . && git status"), run("git status --short"), run("git push"), run("git status; touch pwned"), run("git add $(touch pwned)"), llmtest.Use("write", writeIt), llmtest.Say("done"), run("touch later"), llmtest.Say("done"))
	r := newRig(t, "yolo", m)
	var es []event.Event
	text, lines := c.Prompt("it works")
	must.Done(t)(r.RunPrompt(t.Context(), session.Prompt{Text: text, Lines: lines, Narrowed: &event.Narrowed{By: "the command /commit", Rules: c.Tools.Rules, File: c.File}},
		session.Observer{See: func(e event.Event) error { es = append(es, e); return nil }}))
	if sent := fmt.Sprint(m.Requests()[0].Messages); !strings.Contains(sent, "with the message: it works") || !strings.Contains(sent, "$ git status\n") || !strings.Contains(sent, "not a git repository") {
		t.Error(sent)
	}
	got := strings.Join(outcomes(es), ", ")
	if want := "bash denied, bash failed, bash denied, bash denied, bash denied, write denied"; got != want {
		t.Errorf("%s, want %s", got, want) // git status fails where there is no repository: it ran
	}
	if got := strings.Join(outcomes(r.Run("go on", nil)), ", "); got != "bash ok" || r.File("later") != "" {
		t.Errorf("the next turn: %s", got)
	}
}

// SPEC 17.4: the skill that only reads: with its list of reading tools it changes
// nothing, and all tools that read are left.
func TestDocumentedReadingSkill(t *testing.T) {
	dir := t.TempDir()
	putAt(t, filepath.Join(dir, "s/safe-file-reader/SKILL.md"), "---\nname: safe-file-reader\ndescription: Read files without changing them. Use it for read-only access.\nallowed-tools: Read, Grep, Glob\n---\n\n# Safe file reader\n\nLook, and change nothing.\n")
	all, warnings := skills.Load(skills.Folder{Root: dir, Path: "s"})
	if len(all) != 1 || len(warnings) > 0 {
		t.Fatal(all, warnings)
	}
	m := llmtest.New(
		llmtest.Use("Skill", args(j{"skill": "safe-file-reader"})), llmtest.Use("skill", args(j{"name": "safe-file-reader"})),
		llmtest.Use("read", args(j{"files": []any{j{"path": "note.md"}}})), llmtest.Use("grep", args(j{"pattern": "no"})), llmtest.Use("glob", args(j{"pattern": "*.md"})),
		llmtest.Use("write", writeIt), llmtest.Use("edit", args(j{"path": "note.md", "old": "note", "new": "x"})), llmtest.Use("bash", args(j{"command": "cat note.md"})), llmtest.Say("done"))
	r := newRig(t, "yolo", m, func(c *session.Config) {
		c.Tools = append(c.Tools, skills.Tool(all, strings.Clone, nil), tools.Grep(), tools.Glob())
	})
	r.Put("note.md", "a note\n")
	dones := find[event.CallDone](r.Run("look around", nil))
	got := ""
	for _, d := range dones {
		got += d.Tool + " " + string(d.Outcome) + ", "
	}
	if !strings.HasSuffix(got, "skill ok, read ok, grep ok, glob ok, write denied, edit denied, bash denied, ") || r.File("note.md") != "a note\n" {
		t.Error(got)
	}
	if text := dones[len(dones)-1].Result.Text; !strings.Contains(text, "the skill safe-file-reader allows only Read, Grep, Glob") {
		t.Error(text)
	}
}
