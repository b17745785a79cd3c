package skills

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// SPEC 17.4: skills are found, listed with what they are for, and read when they
// are asked for; what is hostile or broken is left out and told.
func TestSkills(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	in := func(p string) string { return filepath.Join(dir, ".claude/skills", p) }
	must.Write(t, in("pdf/SKILL.md"), "---\nname: pdf-forms\ndescription: Fill in PDF forms.\n  Use it for any form.\nallowed-tools: Read, Bash(python:*)\n---\n\n# Forms\nRun scripts/fill.py; the key is hunter2.\n")
	must.Write(t, in("pdf/scripts/fill.py"), "x")
	must.Write(t, in("plain/SKILL.md"), "no front matter")
	must.Write(t, in("empty/SKILL.md"), "---\ndescription: x\n---\n")
	must.Write(t, in("hidden/SKILL.md"), "---\ndescription: x\ndisable-model-invocation: true\n---\ntext")
	must.Write(t, in("bad name/SKILL.md"), "---\ndescription: x\n---\ntext")
	must.Write(t, in("long/SKILL.md"), "---\ndescription: x\n---\n"+strings.Repeat("x", maxFile))
	must.Write(t, in("notes.md"), "no skill")
	must.Write(t, filepath.Join(out, "secret"), "---\ndescription: stolen\n---\nstolen")
	for _, n := range []string{"linked", "dir"} {
		must.Do(t, os.MkdirAll(in(n), 0o700))
	}
	must.Do(t, os.Symlink(filepath.Join(out, "secret"), in("linked/SKILL.md")))
	must.Do(t, os.MkdirAll(in("dir/SKILL.md"), 0o700))
	must.Write(t, filepath.Join(out, "skills/pdf/SKILL.md"), "---\nname: PDF-forms\ndescription: the person's own\n---\nlater")
	must.Write(t, filepath.Join(out, "skills/own/SKILL.md"), "---\ndescription: mine\n---\nown text")
	all, warnings := Load(Folder{Root: dir, Path: ".claude/skills"}, Folder{Root: dir, Path: ".agents/skills"}, Folder{Root: out, Path: "skills"}, Folder{Root: filepath.Join(dir, "none"), Path: "skills"})
	if got := strings.Join(names(all), " "); got != "hidden own pdf-forms" || !all[0].NoModel {
		t.Fatalf("%s; %q", got, warnings)
	}
	said := strings.Join(warnings, "\n")
	for _, w := range []string{"plain/SKILL.md", "empty/SKILL.md", "bad name/SKILL.md", "long/SKILL.md", "linked/SKILL.md"} {
		if !strings.Contains(said, w) {
			t.Errorf("%s is not told: %s", w, said)
		}
	}
	if all = ForModel(all); len(all) != 2 {
		t.Fatalf("%v", names(all))
	}
	tl := Tool(all, func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }, nil)
	if !strings.Contains(tl.Spec.Doc, "\n- pdf-forms: Fill in PDF forms. Use it for any form.") || strings.Contains(tl.Spec.Doc, "# Forms") || !tl.ReadOnly {
		t.Errorf("%s", tl.Spec.Doc)
	}
	if r, err := tl.Run(t.Context(), tool.Env{}, []byte(`{"name": "PDF-Forms"}`)); err != nil || !r.Error || strings.Contains(r.Text, "Run scripts") {
		t.Errorf("nobody narrows the turn: %v %s", err, r.Text)
	}
	held := &rights{}
	r, err := tl.Run(t.Context(), tool.Env{Rights: held}, []byte(`{"name": "PDF-Forms"}`))
	if got := strings.Join(held.said, "\n"); got != "the skill pdf-forms: [Read Bash(python:*)] in "+in("pdf/SKILL.md") {
		t.Error(got)
	}
	if err != nil || !strings.Contains(r.Text, "Run scripts/fill.py; the key is ***.") || !strings.Contains(r.Text, in("pdf")) || !strings.Contains(r.Text, "are run: Read, Bash(python:*). That grants nothing.") || !strings.Contains(r.Text, "scripts/") {
		t.Errorf("%v %s", err, r.Text)
	}
	if r, _ := tl.Run(t.Context(), tool.Env{}, []byte(`{"name": "nope"}`)); !r.Error || !strings.Contains(r.Text, "pdf-forms") {
		t.Errorf("%+v", r)
	}
	many := make([]Skill, 1000)
	for i := range many {
		many[i] = Skill{Name: "s", Description: strings.Repeat("d", 100)}
	}
	if n := len(Tool(many, strings.Clone, nil).Spec.Doc); n > maxList+2000 {
		t.Errorf("the list of many is %d bytes", n)
	}
}

// SPEC 17.4: a command becomes the prompt that its author means.
func TestCommands(t *testing.T) {
	for _, c := range []struct{ text, args, want string }{
		{"Fix issue #$ARGUMENTS now.", "123 high", "Fix issue #123 high now."},
		{"Review PR $1 with priority $2, $3!", `456 "very high"`, "Review PR 456 with priority very high, !"},
		{"$ARGUMENTS[0] then $ARGUMENTS[1]", "a b", "a then b"},
		{"Look at @src/main.go", "", "Look at @src/main.go"},
		{"Explain.", "this one", "Explain.\n\nARGUMENTS: this one"},
		{"Costs $10", "", "Costs $10"},
		{"Status: !`git status`\nDiff: !`git diff $1`", "HEAD", "Status: (the output of `git status`, below)\nDiff: (the output of `git diff HEAD`, below)"},
		{"$ARGUMENTS", "$1 $ARGUMENTS", "$1 $ARGUMENTS"}, // what is given is put there once
	} {
		got, lines := (Command{Text: c.text}).Prompt(c.args)
		if got != c.want {
			t.Errorf("%q with %q:\n%q, want\n%q", c.text, c.args, got, c.want)
		}
		if want := []string{"git status", "git diff HEAD"}; strings.Contains(c.text, "!`") != slices.Equal(lines, want) || !strings.Contains(c.text, "!`") && lines != nil {
			t.Errorf("%q: %q", c.text, lines)
		}
	}
	dir := t.TempDir()
	must.Write(t, filepath.Join(dir, ".claude/commands/git/commit.md"), "---\nallowed-tools: Bash(git add:*), Bash(git commit:*)\nargument-hint: [message]\ndescription: Create a git commit\n---\nCommit it.")
	must.Write(t, filepath.Join(dir, ".pawl/commands/commit.md"), "# Ours\ntext")
	must.Write(t, filepath.Join(dir, "named/fix.md"), "---\narguments: issue branch\n---\nFix $issue on $branch-old, not $issues: !`git log $branch`")
	must.Write(t, filepath.Join(dir, "s/when/SKILL.md"), "---\ndescription: It fixes.\nwhen_to_use: When it is broken.\narguments: [what]\n---\nFix $what.")
	named, _ := LoadCommands(Folder{Root: dir, Path: "named"})
	if got, lines := named[0].Prompt("7 main"); got != "Fix 7 on main-old, not $issues: (the output of `git log main`, below)" || !slices.Equal(lines, []string{"git log main"}) {
		t.Errorf("%q %q", got, lines)
	}
	when, _ := Load(Folder{Root: dir, Path: "s"})
	if got := filled(when[0].Text, "it"); got != "Fix it." || when[0].Description != "It fixes. When it is broken." {
		t.Errorf("%q %+v", got, when)
	}
	must.Write(t, filepath.Join(dir, ".claude/commands/README.md"), "no command")
	all, warnings := LoadCommands(Folder{Root: dir, Path: ".pawl/commands"}, Folder{Root: dir, Path: ".claude/commands"})
	if len(all) != 1 || all[0].Text != "# Ours\ntext" || all[0].Description != "Ours" || len(warnings) != 0 {
		t.Errorf("%+v %q", all, warnings)
	}
	all, _ = LoadCommands(Folder{Root: dir, Path: ".claude/commands"})
	text, _ := all[0].Prompt("")
	if len(all) != 1 || all[0].Description != "Create a git commit" || len(all[0].Tools.Rules) != 2 || !strings.Contains(text, "only calls of these are run: Bash(git add:*), Bash(git commit:*).") {
		t.Errorf("%+v", all)
	}
}

// rights records what a skill takes.
type rights struct{ said []string }

func (r *rights) Narrow(_ context.Context, by string, rules, not []string, file, _ string) error {
	r.said = append(r.said, fmt.Sprintf("%s: %v in %s", by, append(slices.Clip(rules), not...), file))
	return nil
}

// SPEC 17.4: the forms in which people write allowed-tools; one that cannot be
// read is told with file and line, and never taken for no list.
func TestAllowedTools(t *testing.T) {
	for head, want := range map[string]string{
		"description: d": "none",
		"allowed-tools: Read, Grep, Bash(git add:*)":                "Read|Grep|Bash(git add:*)",
		"allowed-tools: Bash(git:*) Bash(jq:*) Read":                "Bash(git:*)|Bash(jq:*)|Read",
		"allowed-tools: [Read, \"Bash(npm run test:*)\", mcp__git]": "Read|Bash(npm run test:*)|mcp__git",
		"allowed-tools:\n  - Read\n  - Bash(a, b)\n  - Edit, Write": "Read|Bash(a, b)|Edit|Write",
		"Allowed-Tools: Read":                                       "Read",
		"allowed-tools:":                                            "",
		"allowed-tools: []":                                         "",
		"allowed-tools: \"\"":                                       "",
		"allowed-tools: \"*\"":                                      "none",
		"allowed-tools: *":                                          "none",
		"description: a: b\nallowed-tools: [Read, Bash(x: y)]":      "Read|Bash(x: y)",
		"description: a: b\nallowed-tools:\n- Read\n- Bash(git:*)":  "Read|Bash(git:*)",
		"description: d\nallowed-tools: Read, Bash(git":             "x.md:3: ",
		"description: d\nname: n\nallowed-tools: Read; Bash":        "x.md:4: ",
		"allowed-tools: 7":                                          "x.md:2: ",
		"allowed-tools: true":                                       "x.md:2: ",
		"allowed-tools: {Read: true}":                               "x.md:2: ",
		"allowed-tools: [Read, [Bash]]":                             "x.md:2: ",
		"allowed-tools: [Read, 3]":                                  "x.md:2: ",
		"allowed-tools: R*":                                         "x.md:2: ",
		"disallowed-tools: Bash":                                    "not bash",
		"disallowed-tools: Bash(git push:*) Write, Read(src/**)":    "not bash(git push:*)|edit|read(src/**)",
		"allowed-tools: Read, Bash\ndisallowedTools: [WebFetch]":    "Read|Bash not web_fetch",
		"allowed-tools: Read\ndisallowed-tools: \"*\"":              "",
		"allowed-tools: []\ndisallowed-tools: Read":                 "",
		"allowed-tools: *\ndisallowed-tools: PowerShell":            "none",
		"disallowed-tools: 7":                                       "x.md:2: disallowed-tools cannot be read: it must be permission rules, separated by commas, such as Read, Bash(git add:*)",
		"disallowed-tools: Bsh":                                     "x.md:2: disallowed-tools cannot be read: pawl cannot keep the rule \"Bsh\": pawl does not know the tool \"Bsh\"; write it in another form, or remove it (doc/safety.md)",
		"disallowed-tools: Edit(/gen/**)":                           "x.md:2: disallowed-tools cannot be read: \"Edit(/gen/**)\": begin a path of the project with its first folder, and others with // or ~/",
		"allowed_tools: Read":                                       "x.md: pawl does not know allowed_tools (did you mean allowed-tools?) of the front matter of a command, which may forbid something; correct or remove it",
		"AllowedTools: Read":                                        "x.md: pawl does not know allowedtools (did you mean allowed-tools?) of the front matter of a command, which may forbid something; correct or remove it",
		"tools: Read":                                               "x.md: it has tools, which pawl cannot enforce: use allowed-tools",
		"sandbox: true":                                             "x.md: pawl does not know sandbox of the front matter of a command, which may forbid something; correct or remove it",
		"user_invocable: false":                                     "x.md: pawl does not know user_invocable (did you mean user-invocable?) of the front matter of a command, which may forbid something; correct or remove it",
		"read-only: true":                                           "x.md: pawl does not know read-only of the front matter of a command, which may forbid something; correct or remove it",
		"license: MIT\ntags: []":                                    "none",
		"hooks:\n  PreToolUse: []":                                  "none",
		"hooks: {Stop: [{hooks: [{type: agent}]}]}":                 "x.md: pawl cannot keep it: the hook Stop 1 would never run: it is of the type \"agent\", and pawl runs commands and prompts",
	} {
		dir := t.TempDir()
		must.Write(t, filepath.Join(dir, "c/x.md"), "---\n"+head+"\n---\ntext")
		all, warnings := LoadCommands(Folder{Root: dir, Path: "c"})
		if len(all) != 1 || len(warnings) > 0 {
			t.Errorf("%q: %v %v", head, all, warnings)
			continue
		}
		a := all[0].Tools
		got := strings.Join(a.Rules, "|")
		switch {
		case a.Bad != nil:
			got = strings.TrimPrefix(a.Bad.Error(), filepath.Join(dir, "c")+"/")
			if strings.Contains(got, ": allowed-tools cannot be read") {
				got, _, _ = strings.Cut(got, "allowed-tools cannot be read")
			}
		case !a.Limited:
			got = "none"
		case len(a.Not) > 0:
			got = strings.TrimSpace(got + " not " + strings.Join(a.Not, "|"))
		}
		if got != want {
			t.Errorf("%q: %q, want %q", head, got, want)
		}
	}
}

// SPEC 17.4: the hints of arguments as people write them.
func TestArgumentHints(t *testing.T) {
	for written, want := range map[string]string{
		"[message]": "[message]", "[pr-number] [priority] [assignee]": "[pr-number] [priority] [assignee]", "add [tag] | remove [tag] | list": "add [tag] | remove [tag] | list",
		"[a, b]": "[a, b]", `"[quoted]"`: "[quoted]", "<file>": "<file>", "[]": "", "": "",
	} {
		dir := t.TempDir()
		must.Write(t, filepath.Join(dir, "c/x.md"), "---\nargument-hint: "+written+"\n---\ntext")
		if all, warnings := LoadCommands(Folder{Root: dir, Path: "c"}); len(all) != 1 || len(warnings) > 0 || all[0].Hint != want {
			t.Errorf("%q: %+v %v", written, all, warnings)
		}
	}
}

// SPEC 16.17, 17.4: a skill with context: fork works in an agent of its own, of its kind,
// and the conversation never gets its text: where no agent starts, it is not used. One that
// only a person may begin waits for that.
func TestForkedSkills(t *testing.T) {
	dir := t.TempDir()
	must.Write(t, filepath.Join(dir, "s/look/SKILL.md"), "---\ndescription: d\ncontext: fork\nagent: explore\nmodel: haiku\n---\nLook for $ARGUMENTS.")
	must.Write(t, filepath.Join(dir, "s/mine/SKILL.md"), "---\ndescription: d\ncontext: fork\ndisable-model-invocation: true\nallowed-tools: Read\n---\nOnly I.")
	must.Write(t, filepath.Join(dir, "s/bad/SKILL.md"), "---\ndescription: d\ncontext: fork\nhooks: {PreTool: []}\n---\nGuarded.")
	must.Write(t, filepath.Join(dir, "s/odd/SKILL.md"), "---\ndescription: d\ncontext: spoon\nmodel: haiku\n---\nOdd.")
	all, warnings := Load(Folder{Root: dir, Path: "s"})
	if len(all) != 4 || len(warnings) > 0 {
		t.Fatal(all, warnings)
	}
	var ran []string
	run := func(_ context.Context, _ tool.Env, s Skill, text string) (tool.Result, error) {
		ran = append(ran, s.Name+" as "+s.Agent+" with "+s.Model+": "+text[strings.LastIndex(text, "]")+1:])
		return tool.Text("done"), nil
	}
	tl := Tool(ForModel(all), strings.Clone, run)
	call := func(tl tool.Tool, args string) tool.Result {
		t.Helper()
		r := must.Get(tl.Run(t.Context(), tool.Env{Rights: &rights{}}, []byte(args)))(t)
		return r
	}
	if fp, err := tl.Footprint(tool.Env{}, []byte(`{"name":"look"}`)); err != nil || !fp.RunsChild {
		t.Error(fp, err)
	}
	if r := call(tl, `{"name":"look","arguments":"the cause"}`); r.Error || len(ran) != 1 || ran[0] != "look as explore with haiku: \n\nLook for the cause." {
		t.Errorf("%+v %q", r, ran)
	}
	if r := call(tl, `{"name":"mine"}`); !r.Error || len(ran) != 1 || strings.Contains(tl.Spec.Doc, "mine") {
		t.Errorf("the model begins what only a person may: %+v %q", r, ran)
	}
	mine := all[slices.IndexFunc(all, func(s Skill) bool { return s.Name == "mine" })]
	c := mine.Command()
	if text, _ := c.Prompt("now"); strings.Contains(text, "Only I.") || !strings.Contains(text, "ARGUMENTS: now") || c.Tools.Limited {
		t.Errorf("%q %+v", text, c.Tools)
	}
	if r := call(tl, `{"name":"mine"}`); r.Error || len(ran) != 2 {
		t.Errorf("%+v %q", r, ran)
	}
	for _, args := range []string{`{"name":"bad"}`, `{"name":"look"}`} {
		if r := call(Tool(ForModel(all), strings.Clone, nil), args); !r.Error || strings.Contains(r.Text, "Look for") {
			t.Errorf("%s: %+v", args, r)
		}
	}
	if r := call(tl, `{"name":"bad"}`); !r.Error || len(ran) != 2 {
		t.Errorf("a skill with a guard that is not kept runs: %+v", r)
	}
	odd := all[slices.IndexFunc(all, func(s Skill) bool { return s.Name == "odd" })]
	if fmt.Sprint(odd.Keys[0], odd.Keys[1]) != "context is not used: pawl knows fork model is used, in pawl's own way: for the turn that you begin with it; when the model reads the skill, its own turn goes on" {
		t.Error(odd.Keys)
	}
}
