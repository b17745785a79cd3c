// Package frontmatter reads Markdown files that begin with YAML between two lines
// of ---, the form of agents, skills and commands.
//
// The files come from repositories: the size of the front matter is limited,
// aliases are refused since they can expand without bound, and nothing is
// executed. Many existing files are not valid YAML, for example a description with
// colons and no quotes; these are read line by line.
package frontmatter

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
)

// maxHead is the size limit of the front matter, in bytes.
const maxHead = 64 << 10

// Errors of Parse.
var (
	ErrOpen  = errors.New("the front matter has no end: a line of --- is missing")
	ErrLarge = fmt.Errorf("the front matter is longer than %d KiB", maxHead>>10)
	ErrAlias = errors.New("the front matter uses YAML anchors, which are not read")
)

// star is a value that begins with a star and has no quotes.
var star = lazyregexp.New(`(?m)^(\s*(?:-|[\w-]+:)[ \t]+)(\*[^'"\n]*?)[ \t]*$`)

// Fields are the values of a front matter. Names are in lower case.
type Fields map[string]any

// Parse splits a file into the fields of its front matter and the text below. A
// file without front matter has no fields.
func Parse(src string) (Fields, string, error) {
	src = strings.TrimPrefix(src, "\ufeff")
	src = strings.ReplaceAll(src, "\r\n", "\n")
	rest, ok := strings.CutPrefix(src, "---\n")
	if !ok {
		return nil, src, nil
	}
	head, body, ok := cut(rest)
	switch {
	case !ok:
		return nil, src, ErrOpen
	case len(head) > maxHead:
		return nil, body, ErrLarge
	}
	if !strings.Contains(head, "&") { // there is no anchor, so *.go is a pattern and no alias
		head = star().ReplaceAllString(head, "$1'$2'")
	}
	fields, err := decode(head)
	if errors.Is(err, ErrAlias) {
		return nil, body, err
	}
	if err != nil {
		fields = lines(head)
	}
	return fields, strings.TrimPrefix(body, "\n"), nil
}

// cut splits at the line that ends the front matter.
func cut(s string) (head, body string, ok bool) {
	at := 0
	for line := range strings.Lines(s) {
		if strings.TrimRight(line, " \t\n") == "---" {
			return s[:at], s[at+len(line):], true
		}
		at += len(line)
	}
	return "", "", false
}

func decode(head string) (Fields, error) {
	file, err := parser.ParseBytes([]byte(head), 0)
	if err != nil {
		return nil, err
	}
	for _, doc := range file.Docs {
		found := aliases(false)
		if doc.Body != nil {
			ast.Walk(&found, doc.Body)
		}
		if found {
			return nil, ErrAlias
		}
	}
	var m map[string]any
	if err := yaml.Unmarshal([]byte(head), &m); err != nil {
		return nil, err
	}
	out := Fields{}
	for k, v := range m {
		out[strings.ToLower(k)] = v
	}
	return out, nil
}

type aliases bool

func (a *aliases) Visit(n ast.Node) ast.Visitor {
	switch n.Type() {
	case ast.AnchorType, ast.AliasType, ast.MergeKeyType:
		*a = true
	}
	return a
}

// lines reads "name: value" line by line. A line that is indented or has no name
// continues the value before.
func lines(head string) Fields {
	out, last := Fields{}, ""
	for line := range strings.Lines(head) {
		line = strings.TrimRight(line, " \t\n")
		name, value, ok := strings.Cut(line, ":")
		if ok && isName(name) {
			last = strings.ToLower(name)
			out[last] = strings.Trim(strings.TrimSpace(value), `"'`)
			continue
		}
		if text, is := out[last].(string); is && strings.TrimSpace(line) != "" {
			out[last] = strings.TrimSpace(text + "\n" + strings.TrimSpace(line))
		}
	}
	return out
}

func isName(s string) bool {
	for _, r := range s {
		if r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return false
		}
	}
	return s != ""
}

// Descriptive returns the keys, in lower case, that only describe a file, in the agents
// that read such files.
func Descriptive() []string {
	return []string{
		"name", "description", "title", "version", "author", "authors", "owner", "license", "metadata", "tags", "keywords", "category", "color", "icon", "emoji",
		"created", "updated", "date", "source", "repository", "homepage", "url", "lang", "language", "compatibility", "priority", "status", "examples", "when_to_use", "when-to-use",
	}
}

// Text returns a field as text, "" where it is not there.
func (f Fields) Text(name string) string {
	switch v := f[name].(type) {
	case nil, []any, map[string]any:
		return ""
	case string:
		return strings.TrimSpace(v)
	default:
		return fmt.Sprint(v)
	}
}

// List returns a field that is a list, or a text of names separated by commas. set
// is false if the field is missing.
func (f Fields) List(name string) (names []string, set bool) {
	v, set := f[name]
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if s := strings.TrimSpace(fmt.Sprint(e)); s != "" {
				names = append(names, s)
			}
		}
	case string:
		// A comma within parentheses is part of a name, as in Bash(a,b).
		depth, from := 0, 0
		add := func(s string) {
			if s = strings.Trim(strings.TrimSpace(s), `"'`); s != "" {
				names = append(names, s)
			}
		}
		v = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(v), "["), "]")
		for i, r := range v {
			switch {
			case r == '(':
				depth++
			case r == ')':
				depth--
			case r == ',' && depth <= 0:
				add(v[from:i])
				from = i + 1
			}
		}
		add(v[from:])
	}
	return names, set
}
