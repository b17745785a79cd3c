package claudecode

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/command"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// form is how the brackets of a rule are read.
type form int

const (
	absent   form = iota // pawl has no such tool, so the rule holds
	whole                // the tool as a whole
	commands             // a command line
	files                // a path
	hosts                // domain:HOST
	subjects             // a kind of agent, a skill
)

// covered is what a tool of Claude Code is in pawl.
type covered struct {
	form form
	// as are pawl's names for it. Brackets with a path always mean the first.
	as []string
	// bare are its names in a rule without brackets, if those are others.
	bare []string
}

// tools are the tools of Claude Code, by folded name. Those that pawl does not have are
// in the table, too: a rule about one holds, and a rule about an unknown name stops.
var tools = sync.OnceValue(func() map[string]covered {
	out := map[string]covered{}
	for _, row := range []struct {
		names string
		covered
	}{
		{"Bash", covered{form: commands, as: []string{"bash"}}},
		{"Read/NotebookRead", covered{form: files, as: []string{"read"}}},
		{"Glob", covered{form: files, as: []string{"read"}, bare: []string{"glob"}}},
		{"Grep", covered{form: files, as: []string{"read"}, bare: []string{"grep"}}},
		{"LS", covered{form: files, as: []string{"read"}, bare: []string{"ls"}}},
		{"Edit/Write/MultiEdit/NotebookEdit", covered{form: files, as: []string{"edit"}}},
		{"WebFetch", covered{form: hosts, as: []string{"web_fetch"}}},
		{"WebSearch", covered{form: whole, as: []string{"web_search"}}},
		{"Agent/Task", covered{form: subjects, as: []string{"agent"}}},
		{"Skill", covered{form: subjects, as: []string{"skill"}}},
		{"TodoWrite/TodoRead/TaskCreate/TaskUpdate", covered{form: whole, as: []string{"todo"}}},
		{"AskUserQuestion", covered{form: whole, as: []string{"ask_user"}}},
		{"BashOutput/TaskOutput", covered{form: whole, as: []string{"bash_output"}}},
		{"KillShell/KillBash/TaskStop", covered{form: whole, as: []string{"bash_kill"}}},
		{"LSP", covered{form: whole, as: []string{"lsp", "lsp_rename", "lsp_code_action"}}},
		{"PowerShell/Monitor/ExitPlanMode/EnterPlanMode/ToolSearch/TaskGet/TaskList/SlashCommand/Cd/EnterWorktree/ExitWorktree/ListMcpResources/ListMcpResourcesTool/ReadMcpResource/ReadMcpResourceTool/StructuredOutput/SendMessage/SendUserMessage/SendUserFile/TeamCreate/TeamDelete/Workflow/RemoteTrigger/CronCreate/CronDelete/CronList/ScheduleWakeup/PushNotification/Artifact/REPL/Config/Sleep/Brief/WaitForMcpServers/Computer", covered{}},
	} {
		for name := range strings.SplitSeq(row.names, "/") {
			out[tool.PlainName(name)] = row.covered
		}
	}
	return out
})

// Absent reports whether Claude Code has a tool of this name that pawl has not.
func Absent(name string) bool {
	c, known := tools()[tool.PlainName(name)]
	return known && c.form == absent
}

func (f File) source() permission.Source {
	if f.Own {
		return permission.User
	}
	return permission.Project
}

// Translate returns the rules of pawl that keep a rule of Claude Code: none if pawl has
// no such tool. The rules may cover more than the rule does, and never less; an error
// means that this is not possible.
func Translate(list permission.List, text string, f File) ([]permission.Rule, error) {
	bad := func(err error) error {
		return fmt.Errorf("pawl cannot keep the rule %q: %w; write it in another form, or remove it (doc/safety.md)", text, err)
	}
	name, spec, brackets := strings.Cut(strings.TrimSpace(text), "(")
	name = strings.TrimSpace(name)
	if brackets {
		var closed bool
		if spec, closed = strings.CutSuffix(strings.TrimSpace(spec), ")"); !closed {
			return nil, bad(errors.New("the bracket is not closed"))
		}
		spec = strings.NewReplacer(`\(`, "(", `\)`, ")").Replace(strings.TrimSpace(spec))
		if spec == "" {
			return nil, bad(errors.New("nothing is between the brackets"))
		}
	}
	texts, err := translate(name, spec, f)
	if err != nil {
		return nil, bad(err)
	}
	var out []permission.Rule
	for _, t := range texts {
		r, err := permission.ParseRule(list, f.source(), t)
		if err != nil {
			return nil, bad(err)
		}
		r.Origin = f.Name + ": " + strings.TrimSpace(text)
		out = append(out, r)
	}
	return out, nil
}

// Forbidden returns the deny rules that keep an item of a file's disallowed-tools. What a
// path there is relative to is said nowhere, if it is not below the workspace.
func Forbidden(text string) ([]permission.Rule, error) {
	if _, spec, _ := strings.Cut(text, "("); strings.HasPrefix(spec, "..") || strings.HasPrefix(spec, "/") && !strings.HasPrefix(spec, "//") {
		return nil, fmt.Errorf("%q: begin a path of the project with its first folder, and others with // or ~/", text)
	}
	return Translate(permission.Denies, text, File{})
}

func translate(name, spec string, f File) ([]string, error) {
	if strings.HasPrefix(name, "mcp__") {
		if spec != "" && spec != "*" {
			return nil, errors.New("a rule about an MCP tool has no brackets")
		}
		return []string{name}, nil
	}
	c, known := tools()[tool.PlainName(name)]
	if !known {
		return nil, fmt.Errorf("pawl does not know the tool %q", name)
	}
	if c.form == absent {
		return nil, nil
	}
	if spec == "" || spec == "*" || c.form == files && spec == "**" {
		if c.bare != nil {
			return c.bare, nil
		}
		return c.as, nil
	}
	var patterns []string
	var err error
	switch c.form {
	case commands:
		patterns, err = commandPattern(spec)
	case files:
		patterns, err = pathPatterns(spec, f)
	case hosts:
		patterns, err = hostPattern(spec)
	case subjects:
		patterns, err = subjectPatterns(spec)
	default:
		err = fmt.Errorf("a rule about %s has no brackets", name)
	}
	var out []string
	for _, p := range patterns {
		if p == "*" {
			return c.as, err
		}
		out = append(out, c.as[0]+"("+p+")")
	}
	return out, err
}

// commandPattern returns the pattern of one command. Quotes around a star would make it
// literal in pawl, and they do not in Claude Code.
func commandPattern(spec string) ([]string, error) {
	if strings.ContainsAny(spec, "|;&<>`\n\r") || strings.Contains(spec, "$(") {
		return nil, errors.New("pawl judges each command of a line by itself, so a rule is about one command without | ; & < >")
	}
	if strings.Contains(spec, "*") {
		spec = strings.NewReplacer(`"`, "", "'", "", `\`, "").Replace(spec)
	}
	if first, _, _ := strings.Cut(spec, " "); command.Assignment(first) {
		return nil, errors.New("it begins with a variable, and pawl compares the command behind it")
	}
	if strings.Trim(spec, "*: ") == "" {
		return []string{"*"}, nil
	}
	return []string{spec}, nil
}

func hostPattern(spec string) ([]string, error) {
	host, ok := strings.CutPrefix(spec, "domain:")
	if !ok {
		return nil, errors.New("it must be WebFetch(domain:HOST)")
	}
	return []string{strings.TrimSpace(host)}, nil
}

// subjectPatterns returns the names of an agent or a skill: what follows a name are its
// arguments, and a rule about some of them is one about all.
func subjectPatterns(spec string) ([]string, error) {
	name, _, _ := strings.Cut(strings.TrimSuffix(spec, ":*"), " ")
	if param, _, more := strings.Cut(name, ":"); more {
		switch param {
		case "model", "isolation", "run_in_background", "subagent_type", "mode", "name":
			return nil, errors.New("pawl compares the name, and not other arguments")
		}
	}
	name = strings.TrimPrefix(name, "/")
	if tool.PlainName(name) == "generalpurpose" {
		return []string{name, "general"}, nil
	}
	return []string{name}, nil
}

// maxForms is how many paths the braces of one rule may stand for.
const maxForms = 64

// pathPatterns returns the paths of a rule, as pawl writes them: // is the file system, /
// the folder of the project, ~/ the home, and anything else is below the workspace.
func pathPatterns(spec string, f File) ([]string, error) {
	switch {
	case strings.HasPrefix(spec, "!"):
		return nil, errors.New("pawl has no exceptions to a rule")
	case strings.Contains(spec, `\`):
		return nil, errors.New(`a path has no \`)
	case strings.HasPrefix(spec, "~") && spec != "~" && !strings.HasPrefix(spec, "~/"):
		return nil, errors.New("only your own home, ~/, can be named")
	}
	for _, home := range []string{"$HOME/", "${HOME}/"} {
		if rest, ok := strings.CutPrefix(spec, home); ok {
			spec = "~/" + rest
		}
	}
	forms, err := braces(spec)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, p := range forms {
		p = wild(p)
		switch {
		case strings.HasPrefix(p, "//"), p == "~", strings.HasPrefix(p, "~/"):
			out = append(out, p)
		case strings.HasPrefix(p, "/"):
			out = append(out, below(f.Root, p))
			if f.Own {
				out = append(out, below(f.Beside, p))
			}
		case path.Clean(p) == ".":
			out = append(out, below(f.Root, "**"))
		case strings.HasPrefix(path.Clean(p), ".."):
			out = append(out, path.Join("/", f.Root, p))
		default:
			out = append(out, p)
		}
	}
	return out, nil
}

// braces returns the paths that {a,b} stands for, and the path as it is written: which of
// them was meant is not known.
func braces(p string) ([]string, error) {
	out, done := []string{p}, []string{p}
	for len(out) > 0 {
		one := out[0]
		out = out[1:]
		before, rest, open := strings.Cut(one, "{")
		in, after, closed := strings.Cut(rest, "}")
		if !open || !closed || strings.Contains(in, "{") {
			if open && closed {
				return nil, errors.New("braces stand within braces")
			}
			done = append(done, one)
			continue
		}
		for alternative := range strings.SplitSeq(in, ",") {
			out = append(out, before+alternative+after)
		}
		if len(out)+len(done) > maxForms {
			return nil, errors.New("its braces stand for too many paths")
		}
	}
	if len(done) == 2 && done[0] == done[1] {
		done = done[:1]
	}
	return done, nil
}

// wild replaces [abc] by ?, which matches more.
func wild(p string) string {
	for {
		before, rest, open := strings.Cut(p, "[")
		in, after, closed := strings.Cut(rest, "]")
		if !open || !closed || strings.Contains(in, "/") {
			return p
		}
		p = before + "?" + after
	}
}
