package skills

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pawl-agent/pawl/internal/core/sorting"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/claudecode"
)

// Skill is a text that a model reads when it needs it, or that a person sends.
type Skill struct {
	Name        string
	Description string
	Hint        string // describes the arguments that a person may add
	Text        string
	Tools       Allowed
	File        string
	NoModel     bool // only a person may use it
	NoPerson    bool // only a model may use it
	// Model and Effort are those of the turn that a person begins with it; "": the session's.
	Model, Effort string
	// Fork: it works in an agent of its own, of the kind Agent and with Model; "" for the
	// usual ones. The conversation never gets its text.
	Fork  bool
	Agent string
	Keys  []claudecode.Finding // what becomes of the keys of its file

	// asked is set when the person calls it, if only a person may. Then the model may hand
	// it to the agent.
	asked *atomic.Bool
}

// Limits of the list of skills for the model, in characters.
const (
	maxDescription = 400
	maxList        = 12_000
)

// Load reads the skills of some folders: files SKILL.md, each in its own folder. They are
// sorted by name.
func Load(folders ...Folder) (out []Skill, warnings []string) {
	known := map[string]bool{}
	for _, f := range folders {
		want := func(p string) (string, bool) {
			in := path.Dir(below(f.Path, p))
			if in == "." && f.Prefix != "" { // a plugin may name the folder of one skill
				in = path.Base(f.Path)
			}
			return path.Base(in), path.Base(p) == "SKILL.md" && in != "."
		}
		warnings = append(warnings, f.each(claudecode.Skill, want, func(s file) {
			k := Skill{
				Name: s.base, Description: line(s.fields.Text("description")+" "+s.fields.Text("when_to_use"), maxDescription), Hint: line(hint(s.fields), 60), Text: s.text, Tools: s.allowed(), File: s.path,
				NoModel: s.fields.Text("disable-model-invocation") == "true", NoPerson: s.fields.Text("user-invocable") == "false", Keys: s.keys,
				Model: claudecode.ModelOf(s.fields), Effort: s.fields.Text("effort"),
			}
			if k.Fork = claudecode.Forks(s.fields); k.Fork {
				k.Agent, k.asked = s.fields.Text("agent"), new(atomic.Bool)
			}
			if n := s.fields.Text("name"); name().MatchString(n) {
				k.Name = n
			}
			k.Name = f.Prefix + k.Name
			switch {
			case known[strings.ToLower(k.Name)], k.NoModel && k.NoPerson:
			case k.Description == "" && !k.NoModel:
				warnings = append(warnings, s.path+" was not read: it has no description, and a model would not know when to use it")
			case k.Text == "":
				warnings = append(warnings, s.path+" was not read: it has no text")
			default:
				known[strings.ToLower(k.Name)] = true
				out = append(out, k)
			}
		})...)
	}
	sorting.By(out, func(a, b Skill) int { return strings.Compare(a.Name, b.Name) })
	return out, warnings
}

type skillArgs struct {
	Name string `json:"name" doc:"the skill's name, as it is listed"`
	Args string `json:"arguments,omitempty" doc:"what a person would write behind the skill's name"`
}

// ForModel returns the skills that a model may use, some only if a person called them.
func ForModel(all []Skill) []Skill {
	return slices.DeleteFunc(slices.Clone(all), func(s Skill) bool { return s.NoModel && !s.Fork })
}

// Command returns the skill as a person's command.
func (s Skill) Command() Command {
	c := Command{Name: s.Name, Description: s.Description, Hint: s.Hint, Tools: s.Tools, File: s.File}
	if s.Fork { // its limits begin with the agent
		c.Tools, c.asked = Allowed{Bad: s.Tools.Bad}, s.asked
		c.Text = fmt.Sprintf("[The person calls the skill %s, which works in an agent of its own: call the tool skill with this name and these arguments as they are, then tell what it answers.]\n\nARGUMENTS: $ARGUMENTS", s.Name)
		return c
	}
	c.Model, c.Effort = s.Model, s.Effort
	c.Text = s.head() + "]\n\n" + strings.ReplaceAll(s.Text, "${CLAUDE_SKILL_DIR}", filepath.Dir(s.File))
	return c
}

// Forked runs a skill in an agent. text is what the agent is asked to do.
type Forked func(ctx context.Context, env tool.Env, s Skill, text string) (tool.Result, error)

// agentTime is how long a skill in an agent may take, as for an agent.
const agentTime = 24 * time.Hour

// Tool returns the tool with which a model reads a skill. Its description lists the
// skills; mask removes secrets from the list and from the texts. A skill that forks is
// given to run, nil if the session starts no agents.
func Tool(all []Skill, mask func(string) string, run Forked) tool.Tool {
	listed := slices.DeleteFunc(slices.Clone(all), func(s Skill) bool { return s.NoModel })
	var list strings.Builder
	for i, s := range listed {
		l := "\n- " + s.Name + ": " + s.Description
		if list.Len()+len(l) > maxList {
			fmt.Fprintf(&list, "\nand %d more, whose names a person may tell: %s", len(listed)-i, line(strings.Join(names(listed[i:]), ", "), maxDescription))
			break
		}
		list.WriteString(l)
	}
	find := func(name string) int {
		return slices.IndexFunc(all, func(s Skill) bool { return strings.EqualFold(s.Name, strings.TrimSpace(name)) })
	}
	t := tool.New("skill",
		"Read a skill: instructions that the person or the project keeps for a kind of task. Read one before you begin a task that its description fits; the files it names are read and run by other calls. Skills:"+mask(list.String()),
		func(_ tool.Env, in skillArgs) (tool.Footprint, error) {
			i := find(in.Name)
			return tool.Footprint{RunsChild: i >= 0 && all[i].Fork}, nil
		},
		func(ctx context.Context, env tool.Env, in skillArgs) (tool.Result, error) {
			i := find(in.Name)
			if i < 0 {
				return tool.Errorf("there is no skill %q; there are: %s", line(in.Name, 80), line(strings.Join(names(listed), ", "), 2000)), nil
			}
			s := all[i]
			switch {
			case s.NoModel && !s.asked.Load():
				return tool.Errorf("only a person may begin the skill %s: they type /%s", s.Name, s.Name), nil
			case s.Fork && run == nil:
				return tool.Errorf("the skill %s cannot be used: it works in an agent, and this session starts none", s.Name), nil
			}
			if err := s.narrow(ctx, env); err != nil {
				return tool.Errorf("the skill %s cannot be used: %v", s.Name, err), nil
			}
			if s.Fork {
				return run(ctx, env, s, mask(filled(s.text(), in.Args)))
			}
			return tool.Result{Text: mask(filled(s.text(), in.Args)), Note: s.Name}, nil
		})
	t.Facts = tool.Facts{Kind: tool.Read, Aliases: []string{"useskill", "loadskill", "readskill"}, Hooks: []string{"Skill"}, Subject: named}
	t.ReadOnly = true
	if slices.ContainsFunc(all, func(s Skill) bool { return s.Fork }) {
		t.Timeout = agentTime
	}
	if len(listed) > 0 {
		t.Example = fmt.Sprintf(`{"name":%q}`, listed[0].Name)
	}
	return t
}

// named returns the name of the skill that a call reads.
func named(args json.RawMessage) string {
	var in skillArgs
	_ = json.Unmarshal(args, &in) // other arguments read nothing
	return strings.TrimSpace(in.Name)
}

// narrow limits the turn to the tools that the skill names; called before the skill is
// read.
func (s Skill) narrow(ctx context.Context, env tool.Env) error {
	switch {
	case s.Tools.Bad != nil:
		return s.Tools.Bad
	case s.Fork:
		s.Tools.Hooks = "" // they hold in its agent
	}
	n := s.Tools.Narrowed("the skill "+s.Name, s.File)
	switch {
	case n == nil:
		return nil
	case env.Rights == nil:
		return errors.New("this session cannot hold to its limits")
	}
	return env.Rights.Narrow(ctx, n.By, n.Rules, n.Not, n.File, n.Hooks)
}

// text returns a skill as the model reads it.
func (s Skill) text() string {
	out := s.head()
	if s.Tools.Limited {
		out += " " + s.Tools.told()
	}
	return out + "]\n\n" + strings.ReplaceAll(s.Text, "${CLAUDE_SKILL_DIR}", filepath.Dir(s.File))
}

func (s Skill) head() string {
	dir := filepath.Dir(s.File)
	out := fmt.Sprintf("[The skill %s. Files that it names are relative to %s.", s.Name, dir)
	if files := beside(dir); len(files) > 0 {
		out += " Beside it: " + strings.Join(files, ", ") + "."
	}
	return out
}

// beside returns at most 20 names of other files and folders in a skill's folder.
func beside(dir string) (out []string) {
	entries, _ := os.ReadDir(dir) // a folder that cannot be listed is left out
	for _, e := range entries {
		n := e.Name()
		if e.IsDir() {
			n += "/"
		}
		if n != "SKILL.md" && len(out) < 20 {
			out = append(out, n)
		}
	}
	return out
}

func names(all []Skill) (out []string) {
	for _, s := range all {
		out = append(out, s.Name)
	}
	return out
}
