package skills

import (
	"path"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/arguments"
	"github.com/pawl-agent/pawl/internal/core/frontmatter"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
)

// Command is a stored prompt that a person sends by its name.
type Command struct {
	Name        string
	Description string
	Hint        string // describes the arguments
	Tools       Allowed
	Text        string
	File        string
}

// LoadCommands reads the commands of some folders: Markdown files, each named like its
// command.
func LoadCommands(folders ...Folder) (out []Command, warnings []string) {
	known := map[string]bool{}
	for _, f := range folders {
		want := func(p string) (string, bool) {
			return stem(p), strings.EqualFold(path.Ext(p), ".md") && !strings.EqualFold(path.Base(p), "README.md")
		}
		warnings = append(warnings, f.each(want, func(s file) {
			c := Command{Name: f.Prefix + s.base, Description: line(s.fields.Text("description"), maxDescription), Hint: line(hint(s.fields), 60), Text: s.text, Tools: s.allowed(), File: s.path}
			if c.Description == "" {
				first, _, _ := strings.Cut(c.Text, "\n")
				c.Description = line(strings.TrimLeft(first, "# "), 80)
			}
			switch {
			case c.Text == "":
				warnings = append(warnings, s.path+" was not read: it has no text")
			case !known[c.Name]:
				known[c.Name] = true
				out = append(out, c)
			}
		})...)
	}
	return out, warnings
}

// hint returns the description of a command's arguments. [message] is a list in YAML; it
// is returned as it was written.
func hint(f frontmatter.Fields) string {
	const field = "argument-hint"
	if names, _ := f.List(field); f.Text(field) == "" && len(names) > 0 {
		return "[" + strings.Join(names, ", ") + "]"
	}
	return f.Text(field)
}

var (
	placeholder = lazyregexp.New(`\$ARGUMENTS(\[\d\])?|\$[1-9]\d*`)
	shellLine   = lazyregexp.New("!`([^`\n]+)`")
)

// Prompt returns the prompt of a command. The person's arguments replace $ARGUMENTS, $1
// to $9 or $ARGUMENTS[0], or are appended. The command lines in the text (!`…`) are
// returned as lines, which pawl runs with the prompt like calls of its turn.
func (c Command) Prompt(args string) (text string, lines []string) {
	var runs []string
	text = shellLine().ReplaceAllStringFunc(c.Text, func(s string) string {
		cmd := s[2 : len(s)-1]
		runs = append(runs, cmd)
		return "(the output of `" + cmd + "`, below)"
	})
	given, words := false, arguments.Split(args, " \t\n")
	fill := func(s string) string {
		n := 0
		if s != "$ARGUMENTS" && len(s) > 2 && s[1] != 'A' {
			return s // $10 is an amount
		}
		given = true
		switch {
		case s == "$ARGUMENTS":
			return args
		case strings.HasPrefix(s, "$ARGUMENTS["):
			n, _ = strconv.Atoi(s[len("$ARGUMENTS[") : len(s)-1])
			n++
		default:
			n, _ = strconv.Atoi(s[1:])
		}
		if n > len(words) {
			return ""
		}
		return words[n-1]
	}
	text = placeholder().ReplaceAllStringFunc(text, fill)
	for i := range runs {
		runs[i] = placeholder().ReplaceAllStringFunc(runs[i], fill)
	}
	if !given && args != "" {
		text += "\n\nARGUMENTS: " + args
	}
	if c.Tools.Limited {
		text += "\n\n(" + c.Tools.told() + ")"
	}
	return text, runs
}
