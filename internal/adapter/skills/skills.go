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

	"github.com/pawl-agent/pawl/internal/core/tool"
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
		warnings = append(warnings, f.each(want, func(s file) {
			k := Skill{
				Name: s.base, Description: line(s.fields.Text("description"), maxDescription), Hint: line(hint(s.fields), 60), Text: s.text, Tools: s.allowed(), File: s.path,
				NoModel: s.fields.Text("disable-model-invocation") == "true", NoPerson: s.fields.Text("user-invocable") == "false",
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
	slices.SortStableFunc(out, func(a, b Skill) int { return strings.Compare(a.Name, b.Name) })
	return out, warnings
}

type skillArgs struct {
	Name string `json:"name" doc:"the skill's name, as it is listed"`
}

// ForModel returns the skills that a model may use without a person's request.
func ForModel(all []Skill) []Skill {
	return slices.DeleteFunc(slices.Clone(all), func(s Skill) bool { return s.NoModel })
}

// Command returns the skill as a person's command.
func (s Skill) Command() Command {
	c := Command{Name: s.Name, Description: s.Description, Hint: s.Hint, Tools: s.Tools, File: s.File}
	c.Text = s.head() + "]\n\n" + strings.ReplaceAll(s.Text, "${CLAUDE_SKILL_DIR}", filepath.Dir(s.File))
	return c
}

// Tool returns the tool with which a model reads a skill. Its description lists the
// skills; mask removes secrets from the list and from the texts.
func Tool(all []Skill, mask func(string) string) tool.Tool {
	var list strings.Builder
	for i, s := range all {
		l := "\n- " + s.Name + ": " + s.Description
		if list.Len()+len(l) > maxList {
			fmt.Fprintf(&list, "\nand %d more, whose names a person may tell: %s", len(all)-i, line(strings.Join(names(all[i:]), ", "), maxDescription))
			break
		}
		list.WriteString(l)
	}
	t := tool.New("skill",
		"Read a skill: instructions that the person or the project keeps for a kind of task. Read one before you begin a task that its description fits; the files it names are read and run by other calls. Skills:"+mask(list.String()),
		func(tool.Env, skillArgs) (tool.Footprint, error) { return tool.Footprint{}, nil },
		func(ctx context.Context, env tool.Env, in skillArgs) (tool.Result, error) {
			for _, s := range all {
				if strings.EqualFold(s.Name, strings.TrimSpace(in.Name)) {
					if err := s.narrow(ctx, env); err != nil {
						return tool.Errorf("the skill %s cannot be used: %v", s.Name, err), nil
					}
					return tool.Result{Text: mask(s.text()), Note: s.Name}, nil
				}
			}
			return tool.Errorf("there is no skill %q; there are: %s", line(in.Name, 80), line(strings.Join(names(all), ", "), 2000)), nil
		})
	t.Facts = tool.Facts{Kind: tool.Read, Aliases: []string{"useskill", "loadskill", "readskill"}, Hooks: []string{"Skill"}, Subject: named}
	t.ReadOnly = true
	if len(all) > 0 {
		t.Example = fmt.Sprintf(`{"name":%q}`, all[0].Name)
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
	case !s.Tools.Limited:
		return nil
	case env.Rights == nil:
		return errors.New("this session cannot hold to its allowed-tools")
	}
	return env.Rights.Narrow(ctx, "the skill "+s.Name, s.Tools.Rules, s.File)
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
