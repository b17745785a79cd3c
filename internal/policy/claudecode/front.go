package claudecode

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/frontmatter"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/hook"
	"github.com/pawl-agent/pawl/internal/policy/unknown"
)

// Front is a kind of file that begins with keys.
type Front string

// The kinds.
const (
	Skill   Front = "skill"
	Command Front = "command"
	Agent   Front = "agent"
	Style   Front = "output style"
)

// front is the meaning of one key, in lower case.
type front struct {
	use  Use
	note string
	// guard: it forbids or limits something. One that is not used is named before anything
	// runs; stops: the file is not used with it.
	guard, stops bool
}

// Notes of several kinds.
const (
	whenCalled  = "for the turn that you begin with it; when the model reads the skill, its own turn goes on"
	narrowTools = "use allowed-tools"
)

// fronts are the keys of each kind of file. TestNoGuardIsDropped has a value for
// each that guards something.
var fronts = sync.OnceValue(func() map[Front]map[string]front {
	prompts := map[string]front{
		"allowed-tools":            {use: Used, guard: true},
		"disable-model-invocation": {use: Used, guard: true},
		"user-invocable":           {use: Used, guard: true},
		"argument-hint":            {use: Used},
		"arguments":                {use: Used},
		"model":                    {use: Used},
		"effort":                   {use: Used},
		"context":                  {use: Unused, note: "a command works in the conversation: make it a skill"},
		"agent":                    {use: Unused, note: "it is used with context: fork, in a skill"},
		"paths":                    {use: Unused, note: "pawl offers it for all files"},
		"globs":                    {use: Unused, note: "pawl offers it for all files"},
		"alwaysapply":              {use: Unused, note: "write it into AGENTS.md"},
		"shell":                    {use: Unused, note: "pawl has one shell"},
		"once":                     {use: Unused, note: noSuch},
		"hooks":                    {use: Used, guard: true},
		"disallowed-tools":         {use: Used, guard: true},
		"disallowedtools":          {use: Used, guard: true},
		"tools":                    {use: Unused, note: narrowTools, guard: true, stops: true},
		"permissionmode":           {use: Unused, note: narrowTools, guard: true, stops: true},
	}
	skill := maps.Clone(prompts)
	skill["context"] = front{use: Used}
	skill["model"], skill["effort"] = front{use: Differently, note: whenCalled}, front{use: Differently, note: whenCalled}
	return map[Front]map[string]front{
		Command: prompts,
		Skill:   skill,
		Agent: {
			"tools":                               {use: Used, guard: true},
			"disallowedtools":                     {use: Used, guard: true},
			"disallowed-tools":                    {use: Used, guard: true},
			"maxturns":                            {use: Used, guard: true},
			"budget":                              {use: Used, guard: true},
			"read-only":                           {use: Used, guard: true},
			"permissionmode":                      {use: Differently, note: "plan holds; an agent never has more rights than who started it", guard: true},
			"model":                               {use: Used},
			"skills":                              {use: Used},
			"background":                          {use: Used},
			"mcpservers":                          {use: Used, note: "one that the file describes runs while the agent works"},
			"memory":                              {use: Differently, note: "its notes are in its prompt; it asks before it writes them, since a later session obeys them"},
			"effort":                              {use: Used},
			"temperature":                         {use: Unused, note: noSuch},
			"autocompactwindow":                   {use: Unused, note: inConfig},
			"omitclaudemd":                        {use: Unused, note: "an agent has the rules of the project"},
			"observer":                            {use: Unused, note: noSuch},
			"observermessage":                     {use: Unused, note: noSuch},
			"criticalsystemreminder_experimental": {use: Unused, note: "write it into the agent's text"},
			"initialprompt":                       {use: Unused, note: "an agent gets its prompt from who starts it"},
			"isolation":                           {use: Used, guard: true},
			"allowed-tools":                       {use: Unused, note: "use tools", guard: true, stops: true},
			"hooks":                               {use: Used, guard: true},
		},
		Style: {
			"keep-coding-instructions": {use: Differently, note: styleAdded},
			"force-for-plugin":         {use: Unused, note: "you choose the style"},
		},
	}
})

// Read returns what becomes of the keys of a file. An error means that the file cannot be
// used: it has a guard that is not kept, or a key that may be one.
func (f Front) Read(fields frontmatter.Fields) (out []Finding, err error) {
	known := unknown.Keys{Others: frontmatter.Descriptive()}
	for name, k := range fronts()[f] {
		if k.guard {
			known.Guards = append(known.Guards, name)
		} else {
			known.Others = append(known.Others, name)
		}
	}
	slices.Sort(known.Guards)
	guards, others := known.Of(maps.Keys(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		k, in := fronts()[f][name]
		k = f.beside(name, k, fields)
		switch {
		case !in:
		case k.stops:
			return nil, fmt.Errorf("it has %s, which pawl cannot enforce: %s", name, k.note)
		default:
			out = append(out, Finding{Key: name, Use: k.use, Note: k.note, Guard: k.guard && k.use == Unused})
		}
	}
	for _, name := range others {
		out = append(out, Finding{Key: name, Use: Unknown, Note: "pawl has no such key"})
	}
	if _, err := Hooks("", fields); err != nil {
		return nil, fmt.Errorf("pawl cannot keep it: %w", err)
	}
	return out, known.Error("the front matter of "+f.article(), guards)
}

// Hooks returns the hooks of an agent, a skill or a command, which hold while it is used.
// file is its path in the folder. A guard that pawl would never run is an error.
func Hooks(file string, fields frontmatter.Fields) ([]hook.Rule, error) {
	raw, err := json.Marshal(fields["hooks"])
	if err != nil {
		return nil, fmt.Errorf("hooks: %w", err)
	}
	rules, err := hook.Rules(file, raw)
	for i := range rules {
		rules[i].Free, rules[i].Scope = false, file // only a person's own hook leaves the sandbox
	}
	return rules, errors.Join(err, hook.Dropped(rules))
}

// Servers returns the MCP servers that an agent's file describes, as in .mcp.json; nil if it
// only names some of the session, which it has anyway.
func Servers(fields frontmatter.Fields) ([]byte, error) {
	all := map[string]any{}
	var add func(v any) error
	add = func(v any) error {
		switch v := v.(type) {
		case nil, string:
			return nil
		case []any:
			for _, one := range v {
				if err := add(one); err != nil {
					return err
				}
			}
			return nil
		case map[string]any:
			for name, server := range v {
				_, twice := all[name]
				_, described := server.(map[string]any)
				switch {
				case server == nil:
				case !described || twice:
					return fmt.Errorf("mcpServers: %.64q must be described once, as in .mcp.json", name)
				default:
					all[name] = server
				}
			}
			return nil
		}
		return fmt.Errorf("mcpServers: %.64q is neither the name of a server nor its description", fmt.Sprint(v))
	}
	if err := add(fields["mcpservers"]); err != nil || len(all) == 0 {
		return nil, err
	}
	return json.Marshal(map[string]any{"mcpServers": all})
}

// beside returns what a key means next to the others of the file.
func (f Front) beside(name string, k front, fields frontmatter.Fields) front {
	forks := f == Skill && Forks(fields)
	switch {
	case name == "model" && ModelOf(fields) == "", forks && (name == "model" || name == "effort" || name == "agent"):
		return front{use: Used}
	case f == Skill && name == "context" && !forks:
		return front{use: Unused, note: "pawl knows fork"}
	}
	return k
}

func (f Front) article() string {
	if strings.ContainsRune("aeo", rune(f[0])) {
		return "an " + string(f)
	}
	return "a " + string(f)
}

// ModelOf returns the model that a file asks for; "" for the session's.
func ModelOf(fields frontmatter.Fields) string {
	if m := fields.Text("model"); !strings.EqualFold(m, "inherit") && !strings.EqualFold(m, "default") {
		return m
	}
	return ""
}

// Forks reports whether a skill runs in an agent.
func Forks(fields frontmatter.Fields) bool { return fields.Text("context") == "fork" }

// Without returns the tools of pawl that a name forbids an agent: all that do what it
// names. A name that nobody knows is an error: it would forbid nothing.
func Without(name string) ([]string, error) {
	name = strings.TrimSpace(name)
	c, known := tools()[tool.PlainName(name)]
	switch {
	case strings.ContainsAny(name, "()*"):
		return nil, fmt.Errorf("pawl forbids an agent whole tools, and not %q", name)
	case strings.HasPrefix(name, "mcp__"):
		return []string{name}, nil
	case !known:
		return nil, fmt.Errorf("pawl does not know the tool %q, so it would forbid nothing", name)
	case c.form == commands:
		return []string{"bash", "bash_output", "bash_kill"}, nil
	case c.bare != nil:
		return c.bare, nil
	}
	return c.as, nil
}

// FrontKeys returns the keys of a kind of file, for tests.
func (f Front) FrontKeys() []string { return slices.Sorted(maps.Keys(fronts()[f])) }
