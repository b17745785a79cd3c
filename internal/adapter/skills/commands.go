package skills

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/pawl-agent/pawl/internal/core/arguments"
	"github.com/pawl-agent/pawl/internal/core/frontmatter"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/policy/claudecode"
)

// Command is a stored prompt that a person sends by its name.
type Command struct {
	Name        string
	Description string
	Hint        string // describes the arguments
	Tools       Allowed
	Model       string // of its turn; "": the session's
	Effort      string // of reasoning in its turn; "": the session's
	Text        string
	File        string
	Keys        []claudecode.Finding // what becomes of the keys of its file

	asked *atomic.Bool // see Skill
}

// LoadCommands reads the commands of some folders: Markdown files, each named like its
// command.
func LoadCommands(folders ...Folder) (out []Command, warnings []string) {
	known := map[string]bool{}
	for _, f := range folders {
		want := func(p string) (string, bool) {
			return stem(p), strings.EqualFold(path.Ext(p), ".md") && !strings.EqualFold(path.Base(p), "README.md")
		}
		warnings = append(warnings, f.each(claudecode.Command, want, func(s file) {
			c := Command{Name: f.Prefix + s.base, Description: line(s.fields.Text("description"), maxDescription), Hint: line(hint(s.fields), 60), Text: s.text, Tools: s.allowed(), Model: claudecode.ModelOf(s.fields), Effort: s.fields.Text("effort"), File: s.path, Keys: s.keys}
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

var word = lazyregexp.New(`\$[A-Za-z_][A-Za-z0-9_]*`)

// numbered returns a text in which the arguments that its file names are $1 to $9.
func numbered(text string, fields frontmatter.Fields) string {
	names, _ := fields.List("arguments")
	if len(names) == 1 {
		names = strings.Fields(names[0])
	}
	return word().ReplaceAllStringFunc(text, func(w string) string {
		if i := slices.Index(names, w[1:]); i >= 0 && i < 9 {
			return "$" + strconv.Itoa(i+1)
		}
		return w
	})
}

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
	if c.asked != nil {
		c.asked.Store(true)
	}
	fill, given := filler(args)
	text = placeholder().ReplaceAllStringFunc(text, fill)
	for i := range runs {
		runs[i] = placeholder().ReplaceAllStringFunc(runs[i], fill)
	}
	if !*given && args != "" {
		text += "\n\nARGUMENTS: " + args
	}
	if c.Tools.Limited {
		text += "\n\n(" + c.Tools.told() + ")"
	}
	return text, runs
}

// filled returns a text with the arguments that a model gives, if it gives some.
func filled(text, args string) string {
	if args == "" {
		return text
	}
	fill, given := filler(args)
	if text = placeholder().ReplaceAllStringFunc(text, fill); !*given {
		text += "\n\nARGUMENTS: " + args
	}
	return text
}

// filler returns what replaces a placeholder, and whether it has replaced one.
func filler(args string) (fill func(string) string, given *bool) {
	given = new(bool)
	words := arguments.Split(args, " \t\n")
	return func(s string) string {
		n := 0
		if s != "$ARGUMENTS" && len(s) > 2 && s[1] != 'A' {
			return s // $10 is an amount
		}
		*given = true
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
	}, given
}
