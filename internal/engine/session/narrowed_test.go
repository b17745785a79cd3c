package session_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/skills"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// outcomes are the calls of the events, as "tool outcome".
func outcomes(es []event.Event) (out []string) {
	for _, d := range find[event.CallDone](es) {
		out = append(out, d.Tool+" "+string(d.Outcome))
	}
	return out
}

// SPEC 17.4: what a command leaves its turn holds until the turn ends, and no
// longer: after a refused call and for a prompt that joins it, in yolo mode too.
// A person's mention is shown all the same.
func TestCommandNarrowsItsTurn(t *testing.T) {
	run := func(line string) llmtest.Turn { return llmtest.Use("bash", args(map[string]string{"command": line})) }
	m := llmtest.New(llmtest.Use("write", writeIt), run("echo one; echo x > b.txt"), run("echo one"), llmtest.Say("done"), llmtest.Use("write", writeIt), llmtest.Say("done"))
	r := newRig(t, "yolo", m)
	r.Put("note.md", "the note's text")
	joined := false
	narrowed := &event.Narrowed{By: "the command /x", Rules: []string{"Bash(echo:*)"}, File: "/w/x.md"}
	var es []event.Event
	out, err := r.RunPrompt(t.Context(), session.Prompt{Text: "the command's text", Narrowed: narrowed}, session.Observer{After: r.View().Last(), See: func(e event.Event) error {
		es = append(es, e)
		if d, ok := e.Body.(event.CallDone); ok && d.Tool == "write" && !joined {
			joined = true
			_, err := r.Submit(t.Context(), session.Prompt{Text: "and see @note.md"})
			return err
		}
		return nil
	}})
	if err != nil || out.Ended.End != event.EndDone {
		t.Fatal(err, out)
	}
	if got := outcomes(es); !slices.Equal(got, []string{"write denied", "bash denied", "bash ok"}) {
		t.Error(got)
	}
	if bs := find[event.Blocked](es); len(bs) != 2 || bs[0].By != "allowed-tools" || !strings.Contains(bs[0].Reason, "the command /x allows only Bash(echo:*) (allowed-tools in /w/x.md), and write is none of them") {
		t.Errorf("%+v", bs)
	}
	if ps := find[event.Prompted](es); len(ps) != 2 || !strings.Contains(ps[1].Attached, "the note's text") {
		t.Errorf("%+v", ps)
	}
	if len(find[event.Narrowed](es)) != 1 {
		t.Error("it is not recorded once")
	}
	if got := outcomes(r.Run("again", nil)); !slices.Equal(got, []string{"write ok"}) {
		t.Errorf("the next turn: %v", got)
	}
}

// SPEC 17.4: what a command forbids its turn is denied until the turn ends.
func TestCommandForbidsInItsTurn(t *testing.T) {
	run := func(line string) llmtest.Turn { return llmtest.Use("bash", args(map[string]string{"command": line})) }
	m := llmtest.New(run("echo x > b.txt"), run("echo one"), llmtest.Use("write", writeIt), llmtest.Say("done"), run("echo x > b.txt"), llmtest.Say("done"))
	r := newRig(t, "yolo", m)
	var es []event.Event
	_, err := r.RunPrompt(t.Context(), session.Prompt{Text: "x", Narrowed: &event.Narrowed{By: "the command /x", Not: []string{"edit(b.txt)", "bash(echo one)"}}}, session.Observer{After: r.View().Last(), See: func(e event.Event) error {
		es = append(es, e)
		return nil
	}})
	if got := outcomes(es); err != nil || !slices.Equal(got, []string{"bash denied", "bash denied", "write ok"}) {
		t.Error(err, got)
	}
	if got := outcomes(r.Run("again", nil)); !slices.Equal(got, []string{"bash ok"}) {
		t.Errorf("the next turn: %v", got)
	}
}

// SPEC 17.4: a process that dies in the turn leaves nothing narrowed behind it.
func TestNarrowedEndsWithTheProcess(t *testing.T) {
	m := llmtest.New(llmtest.Use("write", writeIt), llmtest.Say("done"))
	r := newRig(t, "yolo", m)
	r.reopen(event.Prompted{Source: event.Person, Text: "x"}, event.Narrowed{By: "the command /x"})
	if got := outcomes(r.Run("again", nil)); !slices.Equal(got, []string{"write ok"}) {
		t.Error(got)
	}
}

// SPEC 17.4: a skill narrows the turn from its reading on, a second one only
// further; a list that cannot be read is no skill to use; without a list nothing
// changes.
func TestSkillNarrowsTheTurn(t *testing.T) {
	dir := t.TempDir()
	for name, list := range map[string]string{
		"edits": "allowed-tools: Write, Skill, Bash(echo:*)\n", "wide": "allowed-tools:\n  - Read\n  - Bash\n  - Skill\n",
		"none": "allowed-tools:\n", "free": "", "broken": "allowed-tools: Bash(echo\n",
	} {
		must.Write(t, filepath.Join(dir, "s", name, "SKILL.md"), "---\ndescription: d\n"+list+"---\ntext")
	}
	all, warnings := skills.Load(skills.Folder{Root: dir, Path: "s"})
	if len(all) != 5 || len(warnings) > 0 {
		t.Fatal(all, warnings)
	}
	read := func(name string) llmtest.Turn { return llmtest.Use("skill", args(map[string]string{"name": name})) }
	echo, write := llmtest.Use("bash", `{"command":"echo one"}`), llmtest.Use("write", writeIt)
	other := llmtest.Use("bash", `{"command":"true"}`)
	for name, c := range map[string]struct {
		turns []llmtest.Turn
		want  string
	}{
		"before and after": {[]llmtest.Turn{other, read("edits"), echo, write, other}, "bash ok, skill ok, bash ok, write ok, bash denied"},
		"both":             {[]llmtest.Turn{read("edits"), read("wide"), echo, write, other}, "skill ok, skill ok, bash ok, write denied, bash denied"},
		"the other way":    {[]llmtest.Turn{read("wide"), read("edits"), echo, write, other}, "skill ok, skill ok, bash ok, write denied, bash denied"},
		"nothing":          {[]llmtest.Turn{read("none"), echo, read("free")}, "skill ok, bash denied, skill denied"},
		"without a list":   {[]llmtest.Turn{read("free"), write, other}, "skill ok, write ok, bash ok"},
		"broken":           {[]llmtest.Turn{read("broken"), other}, "skill failed, bash ok"},
	} {
		t.Run(name, func(t *testing.T) {
			m := llmtest.New(append(c.turns, llmtest.Say("done"), write, llmtest.Say("done"))...)
			r := newRig(t, "yolo", m, func(c *session.Config) { c.Tools = append(c.Tools, skills.Tool(all, strings.Clone, nil)) })
			es := r.Run("go", nil)
			if got := strings.Join(outcomes(es), ", "); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			for _, d := range find[event.CallDone](es) {
				if d.Outcome == event.Failed && (strings.Contains(d.Result.Text, "text\n") || !strings.Contains(d.Result.Text, "SKILL.md:3: allowed-tools cannot be read")) {
					t.Error(d.Result.Text)
				}
			}
			if got := strings.Join(outcomes(r.Run("again", nil)), ", "); got != "write ok" {
				t.Errorf("the next turn: %s", got)
			}
		})
	}
}
