package tool

import (
	"encoding/json"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/cut"
)

// Kind is the kind of work that a call does, independent of the tool's name.
type Kind string

// The kinds of calls. A tool without a kind counts as Exec.
const (
	Read   Kind = "read"   // shows known contents
	Search Kind = "search" // searches for something that may not exist
	// Edit changes files, only through Env.Files, and has no other effect. So it
	// can be run on files in memory to show what a call would do.
	Edit Kind = "edit"
	Exec Kind = "exec" // runs something of unknown effect
	Wait Kind = "wait" // checks on something that runs
	Note Kind = "note" // thinks, plans, remembers or asks, and changes no file
)

// The families of permission rules, by their names in rules: a rule of read covers
// everything that shows files, one of edit everything that changes them, one of
// bash every command line, and one of web_fetch every page that is fetched.
const (
	ReadFamily    = "read"
	EditFamily    = "edit"
	CommandFamily = "bash"
	WebFamily     = "web_fetch"
)

// families are the names that rules have for a family, folded: pawl's own, and
// those of other agents.
var families = map[string]string{
	"read": ReadFamily,
	"edit": EditFamily, "write": EditFamily, "notebookedit": EditFamily, "strreplace": EditFamily,
	"bash": CommandFamily, "shell": CommandFamily, "runcommand": CommandFamily,
	"webfetch": WebFamily, "fetch": WebFamily,
}

// FamilyOf returns the family that a rule with this name covers, "" where it
// covers a single tool.
func FamilyOf(rule string) string { return families[fold(rule)] }

// Facts is what a tool declares about itself, so that permission, progress, hints,
// compaction, undo and screens need not know it by its name. They are recorded
// with each call. All are optional.
type Facts struct {
	Kind Kind
	// Aliases are the names that other agents have for it, as PlainName folds
	// them: models were trained on those too, and rules may be written with them.
	Aliases []string
	// Family is the family of permission rules that cover it; empty: only rules
	// with its own name do.
	Family string
	// Whole: it writes whole files, so the model knows their contents.
	Whole bool
	// Repeatable: its result depends only on the workspace's files and on the
	// arguments, so running it again shows whether the result still holds.
	Repeatable bool
	// Listing: its result is a list of entries rather than content.
	Listing bool
	// AnsweredByPerson: the person answers the call or confirms it, so the limits of a
	// route do not apply to it.
	AnsweredByPerson bool
	// Shows, if set, returns the arguments of a call that shows what a person
	// mentions: lines of a file (0, 0: all), or a folder; nil where the tool shows
	// no such thing.
	Shows func(m Mention) any
	// Hooks are the names that hooks written for other agents have for it, the
	// one they are told first.
	Hooks []string
	// Claim is what a program outside says of the tool's effects. It is shown in questions,
	// and decides nothing.
	Claim string
	// ListsTools: it only lists the tools of MCP servers, so that they can be called.
	ListsTools bool
	// Subject, if set, returns what the brackets of a permission rule name in a call
	// that touches no file, command or host: a kind of agent, a skill.
	Subject func(args json.RawMessage) string
	// Delegates: it starts agents. Sessions that may start none do not have it.
	Delegates bool
}

// Mention is a file or a folder that a person mentions.
type Mention struct {
	Path     string
	Dir      bool
	From, To int
}

// About is what one call is about.
type About struct {
	Kind   Kind
	Target string // the path, pattern or address that identifies it best; "" where there is none
	Title  string // the tool's name and its most informative argument, in one line
}

// About describes a call with these arguments.
func (t Tool) About(args json.RawMessage) About {
	a := AboutCall(t.Spec.Name, args)
	a.Kind = t.Does()
	return a
}

// Does returns the tool's kind, Exec where none is set.
func (t Tool) Does() Kind {
	if t.Kind == "" {
		return Exec
	}
	return t.Kind
}

// titleLimit is the longest argument in a title, in runes.
const titleLimit = 160

// AboutCall returns the About for a call of a tool of which only the name is known.
func AboutCall(name string, args json.RawMessage) About {
	out := About{Kind: Exec, Title: name}
	var a map[string]json.RawMessage
	if json.Unmarshal(args, &a) != nil {
		return out
	}
	text := func(keys ...string) string {
		for _, k := range keys {
			var s string
			if raw, given := a[k]; given && json.Unmarshal(raw, &s) == nil && s != "" {
				return s
			}
		}
		return ""
	}
	out.Target = text("pattern", "path", "url")
	tells := text("command", "pattern", "path", "url", "question", "note", "id", "rev", "description")
	if p := text("path"); p != "" && tells == text("pattern") {
		tells += " in " + p
	}
	for _, k := range [...]string{"files", "edits"} {
		var files []struct {
			Path string `json:"path"`
		}
		if raw, given := a[k]; !given || json.Unmarshal(raw, &files) != nil || len(files) == 0 {
			continue
		}
		var paths []string
		for _, f := range files {
			if len(paths) == 0 || paths[len(paths)-1] != f.Path {
				paths = append(paths, f.Path)
			}
		}
		out.Target, tells = paths[0], strings.Join(paths, ", ")
		break
	}
	if first, _, more := strings.Cut(tells, "\n"); more {
		tells = first + " …"
	}
	out.Title = strings.TrimSpace(name + " " + cut.Runes(tells, titleLimit))
	return out
}

// IsMeant reports whether a name that forbids something means the tool: its own name, its
// family, or its MCP server.
func (t Tool) IsMeant(name string) bool {
	family := FamilyOf(name)
	return PlainName(t.Spec.Name) == PlainName(name) || family != "" && t.Family == family || strings.HasPrefix(name, "mcp__") && strings.HasPrefix(t.Spec.Name, name+"__")
}

// Resolve returns the tool for a name: its own name, in any case and with any
// separators, or one of its aliases.
func (s Set) Resolve(name string) (Tool, bool) {
	if t, ok := s.Find(name); ok {
		return t, true
	}
	plain := PlainName(name)
	for _, t := range s {
		if PlainName(t.Spec.Name) == plain {
			return t, true
		}
	}
	for _, t := range s {
		for _, a := range t.Aliases {
			if a == plain {
				return t, true
			}
		}
	}
	return Tool{}, false
}

// Meant returns the tool and the arguments that a call really uses. If the tool
// stands for other tools (Tool.StandsFor), they are those of the other call.
func (s Set) Meant(name string, args json.RawMessage) (t Tool, meant json.RawMessage, ok bool) {
	if t, ok = s.Resolve(s.ofSeveral(name, args)); !ok || t.StandsFor == nil {
		return t, args, ok
	}
	if name, inner, stands := t.StandsFor(args); stands {
		if of, known := s.Find(name); known && of.StandsFor == nil {
			return of, inner, true
		}
	}
	return t, args, true
}

// Commands returns the tool that runs command lines.
func (s Set) Commands() (Tool, bool) {
	for _, t := range s {
		if t.Family == CommandFamily {
			return t, true
		}
	}
	return Tool{}, false
}

// Showing returns the tool that shows what a person mentions, and the arguments
// of the call.
func (s Set) Showing(m Mention) (Tool, any, bool) {
	for _, t := range s {
		if t.Shows == nil {
			continue
		}
		if args := t.Shows(m); args != nil {
			return t, args, true
		}
	}
	return Tool{}, nil, false
}

// PlainName folds what models vary in a tool's name: case, separators, a
// namespace in front. Names of tools from outside (mcp__server__tool) keep
// their separators, since two of them may differ in nothing else.
func PlainName(s string) string {
	if strings.HasPrefix(s, "mcp__") {
		return s
	}
	if i := strings.LastIndexAny(s, ".:/"); i >= 0 {
		s = s[i+1:]
	}
	return fold(s)
}

func fold(s string) string { return separators.Replace(strings.ToLower(s)) }

var separators = strings.NewReplacer("_", "", "-", "", " ", "")
