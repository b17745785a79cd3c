// Package agents reads the kinds of agents from files: Markdown with front matter (name,
// description, tools, model, budget) and the instructions for an agent of that kind.
//
// Files of a project win over a person's own, and .pawl over .claude; a file wins over a
// built-in kind. They are only text: nothing in them is executed, and no field can widen
// what an agent may do. An invalid file is skipped with a warning; a permissionMode other
// than plan is ignored with one. A file with a limit that pawl cannot keep, or does not
// know, is invalid, and no other kind takes its name (SPEC 16.17).
package agents

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/frontmatter"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/plainfile"
	"github.com/pawl-agent/pawl/internal/policy/claudecode"
	"github.com/pawl-agent/pawl/internal/policy/hook"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// Kind describes how an agent works.
type Kind struct {
	Name        string
	Description string
	Prompt      string   // its instructions
	Tools       []string // names as the author wrote them; empty: all
	Model       string   // "": the parent's model
	Effort      string   // of reasoning; "": the parent's
	USD         float64  // the limit of one run in USD; 0: the parent's
	Steps       int      // the most model replies of one run; 0: the parent's
	Not         []string // tools that it may not use, as tool.Agent has them
	Skills      []string // whose text it gets at its start
	Memory      string   // the folder of its notes, "" for none: user, project or local, until Remember
	Background  bool     // it runs in the background, also where the model does not say so
	ReadOnly    bool     // agents of this kind change nothing
	Isolated    bool     // they work in a working tree of their own
	File        string   // "": built in
	Hooks       string   // the file whose hooks hold for it, relative to the workspace if it is there; "": none

	// Servers is the file whose MCP servers only it has, "" for none. Given are those of one
	// that a program defines, as in .mcp.json.
	Servers string
	Given   []byte

	Rules []hook.Rule          // the hooks of one that a program defines
	Keys  []claudecode.Finding // what becomes of the keys of its file
}

// HookFiles returns the files whose hooks hold for it, with others that are not "".
func (k Kind) HookFiles(others ...string) []string {
	return slices.DeleteFunc(append([]string{k.Hooks}, others...), func(f string) bool { return f == "" })
}

const (
	maxFile  = 256 << 10
	maxFiles = 200 // in one folder
)

var name = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

func Builtin() []Kind {
	return []Kind{
		{
			Name:        "explore",
			Description: "Finds out about the code: where something is, how it works, what uses it. Reads only.",
			Prompt:      "End with what was asked: facts with paths and lines, and what you looked for and did not find.",
			ReadOnly:    true,
		},
		{
			Name:        "general",
			Description: "Works on a part of the task by itself, with all tools.",
			Prompt:      "End with what you did, which files you changed, how it was checked, and what is left.",
		},
	}
}

// Folder is a folder to search.
type Folder struct {
	Path string
	// Prefix precedes the names of a plugin's agents (NAME:), and Root is the plugin's
	// folder; "" for others. In a plugin's texts ${CLAUDE_PLUGIN_ROOT} becomes Root.
	Prefix, Root string
	// In is the folder's name in the workspace, "" elsewhere.
	In string
}

// Load returns the kinds in some folders, in order of precedence, and then the built-in
// ones. Warnings name the file and the problem.
func Load(folders ...Folder) (kinds []Kind, warnings []string) {
	known := map[string]bool{}
	add := func(k Kind) {
		if lower := strings.ToLower(k.Name); !known[lower] {
			known[lower] = true
			kinds = append(kinds, k)
		}
	}
	for _, f := range folders {
		files, err := list(f.Path)
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("cannot read the agents in %s: %v", f.Path, err))
		}
		for _, file := range files {
			k, notes, err := read(file)
			if k.Hooks != "" {
				k.Hooks = f.known(file)
			}
			if k.Servers != "" {
				k.Servers = f.known(file)
			}
			if err != nil {
				// Nothing takes its place: another kind of this name may do more.
				known[strings.ToLower(f.Prefix+cmp.Or(k.Name, stem(file)))] = true
				warnings = append(warnings, fmt.Sprintf("cannot read the agent in %s: %v", file, err))
				continue
			}
			for _, f := range k.Keys {
				if f.Guard {
					notes = append(notes, f.String())
				}
			}
			for _, n := range notes {
				warnings = append(warnings, fmt.Sprintf("the agent in %s: %s", file, n))
			}
			if f.Prefix != "" {
				k.Name, k.Prompt = f.Prefix+k.Name, strings.ReplaceAll(k.Prompt, "${CLAUDE_PLUGIN_ROOT}", f.Root)
			}
			add(k)
		}
	}
	for _, k := range Builtin() {
		add(k)
	}
	return kinds, warnings
}

// known returns the name by which the hooks and servers of a file are known.
func (f Folder) known(file string) string {
	if name, err := filepath.Rel(f.Path, file); err == nil && f.In != "" {
		return path.Join(f.In, filepath.ToSlash(name))
	}
	return file
}

// Before returns some kinds, and those of others that have other names.
func Before(first, others []Kind) []Kind {
	out := slices.Clone(first)
	for _, k := range others {
		if !slices.ContainsFunc(first, func(f Kind) bool { return strings.EqualFold(f.Name, k.Name) }) {
			out = append(out, k)
		}
	}
	return out
}

// list returns the Markdown files of a folder and its subfolders, sorted by name. If
// there are too many, it returns the first maxFiles and an error.
func list(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir() && p != dir && strings.Count(strings.TrimPrefix(p, dir), string(filepath.Separator)) > 3:
			return fs.SkipDir
		case d.Type().IsRegular() && strings.EqualFold(filepath.Ext(p), ".md") && !strings.EqualFold(d.Name(), "README.md"):
			if files = append(files, p); len(files) > maxFiles {
				return fmt.Errorf("there are more than %d files", maxFiles)
			}
		}
		return nil
	})
	if err != nil && len(files) > maxFiles {
		files = files[:maxFiles]
	}
	return files, err
}

func stem(file string) string { return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)) }

func read(file string) (k Kind, notes []string, err error) {
	src, err := plainfile.Read(file, maxFile)
	if errors.Is(err, plainfile.ErrTooLong) {
		err = fmt.Errorf("it is longer than %d KiB", maxFile>>10)
	}
	if err != nil {
		return k, nil, err
	}
	fields, body, err := frontmatter.Parse(string(src))
	if err != nil {
		return k, nil, err
	}
	k, notes, err = kind(fields, body, stem(file))
	k.File = file
	return k, notes, err
}

// Defined returns the kind that a program defines, as JSON with the keys of a file and
// prompt for its text. A limit that pawl cannot keep is an error.
func Defined(name string, raw json.RawMessage) (Kind, []string, error) {
	var given map[string]any
	if err := json.Unmarshal(raw, &given); err != nil {
		return Kind{}, nil, err
	}
	fields := frontmatter.Fields{}
	for key, value := range given {
		if key = strings.ToLower(key); value != nil && key != "prompt" {
			fields[key] = value
		}
	}
	delete(fields, "name")
	prompt, _ := given["prompt"].(string) // one without a text is refused
	k, notes, err := kind(fields, prompt, name)
	if k.Hooks != "" {
		k.Hooks = "agents." + name + " of the program"
		k.Rules, _ = claudecode.Hooks(k.Hooks, fields) // kind returned the error
	}
	if k.Servers != "" {
		k.Servers = "agents." + name + " of the program"
	}
	for _, f := range k.Keys {
		if f.Guard && err == nil {
			err = fmt.Errorf("it has %s, which pawl cannot enforce: %s", f.Key, f.Note)
		} else if f.Use == claudecode.Unused || f.Use == claudecode.Unknown {
			notes = append(notes, f.String())
		}
	}
	return k, notes, err
}

// kind reads a kind of agent; otherwise is its name if the fields have none.
func kind(fields frontmatter.Fields, body, otherwise string) (k Kind, notes []string, err error) {
	k = Kind{
		Name: cmp.Or(fields.Text("name"), otherwise), Description: fields.Text("description"), Prompt: strings.TrimSpace(body),
		Model: claudecode.ModelOf(fields), Effort: fields.Text("effort"),
	}
	switch {
	case !name().MatchString(k.Name):
		return k, nil, fmt.Errorf("the name %.80q must be letters, digits, -, _ or a dot", k.Name)
	case k.Description == "":
		return k, nil, errors.New("it has no description: a model would not know when to use it")
	case k.Prompt == "":
		return k, nil, errors.New("it has no text: an agent of this kind would be told nothing")
	}
	if k.Keys, err = claudecode.Agent.Read(fields); err != nil {
		return k, nil, err
	}
	for _, key := range []string{"tools", "disallowedtools", "disallowed-tools"} {
		switch fields[key].(type) {
		case nil, string, []any:
		default: // in another agent's form, which would be read as no limit
			return k, nil, fmt.Errorf("%s must be names of tools", key)
		}
		if key == "tools" {
			continue
		}
		names, _ := fields.List(key)
		for _, n := range names {
			not, err := claudecode.Without(n)
			if err != nil {
				return k, nil, fmt.Errorf("%s: %w", key, err)
			}
			k.Not = append(k.Not, not...)
		}
	}
	if rules, _ := claudecode.Hooks("", fields); len(rules) > 0 { // Read returned the error
		k.Hooks = "hooks" // named by where the file is
	}
	if k.Given, err = claudecode.Servers(fields); err != nil {
		return k, nil, err
	}
	if k.Given != nil {
		k.Servers = "servers" // named by where the file is
	}
	k.Skills, _ = fields.List("skills")
	if k.Memory = fields.Text("memory"); k.Memory != "" && !slices.Contains([]string{"user", "project", "local"}, k.Memory) {
		notes = append(notes, fmt.Sprintf("memory is %.40q, and not user, project or local: it has no notes", k.Memory))
		k.Memory = ""
	}
	k.Background = fields.Text("background") == "true"
	if s := fields.Text("maxturns"); s != "" {
		if k.Steps, err = strconv.Atoi(s); err != nil || k.Steps <= 0 {
			return k, nil, fmt.Errorf("maxTurns is %.40q: it must be a number of model replies", s)
		}
	}
	if names, set := fields.List("tools"); set && len(names) > 0 && !slices.Contains(names, "*") {
		k.Tools = names
	}
	if s := strings.TrimPrefix(fields.Text("budget"), "$"); s != "" {
		if k.USD, err = strconv.ParseFloat(s, 64); err != nil || k.USD <= 0 || k.USD > 1e6 {
			return k, nil, fmt.Errorf("the budget %.40q is not an amount in USD", s)
		}
	}
	if at, set := fields["isolation"]; set && at != "worktree" {
		return k, nil, fmt.Errorf("isolation is %.40q: it must be worktree", fmt.Sprint(at))
	} else {
		k.Isolated = set
	}
	if s := fields.Text("read-only"); s != "" {
		if k.ReadOnly, err = strconv.ParseBool(s); err != nil {
			return k, nil, fmt.Errorf("read-only is %.40q: it must be true or false", s)
		}
	}
	if mode, err := permission.ParseMode(fields.Text("permissionmode")); err == nil && mode.ReadsOnly() {
		k.ReadOnly = true
	} else if mode := fields.Text("permissionmode"); mode != "" {
		notes = append(notes, fmt.Sprintf("permissionMode %.40q is ignored: an agent has the rights of who started it, or fewer", mode))
	}
	return k, notes, nil
}
