package skills

import (
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// allowedTools is the name of the field that limits the tools of a turn.
const allowedTools = "allowed-tools"

// Allowed is the list of tools, as permission rules, to which a command or a skill limits
// the turn that uses it. It never adds a right.
type Allowed struct {
	Limited bool // there is a list, and it does not name every tool
	Rules   []string
	// Bad explains, with file and line, why the list cannot be read; then the text must
	// not be used.
	Bad error
}

// allowed returns the list in the file's front matter.
func (s file) allowed() Allowed {
	if s.unkept != nil {
		return Allowed{Limited: true, Bad: fmt.Errorf("%s: %w", s.path, s.unkept)}
	}
	v, set := s.fields[allowedTools]
	if !set {
		return Allowed{}
	}
	var texts []string
	switch v := v.(type) {
	case nil:
	case string:
		texts = []string{listed(v)}
	case []any:
		for _, e := range v {
			t, ok := e.(string)
			if !ok {
				return s.bad(fmt.Errorf("%v is not a permission rule", e))
			}
			texts = append(texts, t)
		}
	default:
		return s.bad(fmt.Errorf("it must be permission rules, separated by commas, such as Read, Bash(git add:*)"))
	}
	out := Allowed{Limited: true}
	for _, t := range texts {
		rules, all, err := permission.ParseTools(t)
		if err != nil {
			return s.bad(err)
		}
		if all {
			return Allowed{}
		}
		out.Rules = append(out.Rules, rules...)
	}
	return out
}

// told returns the list as a sentence for the model.
func (a Allowed) told() string {
	tools := strings.Join(a.Rules, ", ")
	if tools == "" {
		tools = "no tools"
	}
	return "Until this turn ends only calls of these are run: " + tools + ". That grants nothing."
}

// listed returns the items of a YAML list in a text that could not be read as YAML,
// without its marks.
func listed(s string) string {
	s = strings.TrimSpace(s)
	if in, ok := strings.CutPrefix(s, "["); ok {
		s = strings.TrimSuffix(in, "]")
	}
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimPrefix(strings.TrimSpace(l), "- ")
	}
	return strings.Join(lines, "\n")
}

// bad returns an Allowed with the error and its line.
func (s file) bad(err error) Allowed {
	n := 1
	for i, l := range strings.Split(s.raw, "\n") {
		if name, _, ok := strings.Cut(l, ":"); ok && strings.EqualFold(strings.Trim(name, ` "'`), allowedTools) {
			n = i + 1
			break
		}
	}
	return Allowed{Limited: true, Bad: fmt.Errorf("%s:%d: allowed-tools cannot be read: %w", s.path, n, err)}
}
