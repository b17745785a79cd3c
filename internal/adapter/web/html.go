package web

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// This file contains the helpers of Markdown for nodes and strings.

func code(s string) string {
	s = strings.TrimSpace(squeeze(s))
	switch {
	case s == "":
		return ""
	case strings.Contains(s, "`"):
		return "`` " + s + " ``"
	}
	return "`" + s + "`"
}

// fence returns a code block, with a fence longer than any in the code.
func fence(n *html.Node) string {
	var b strings.Builder
	raw(&b, n)
	s := strings.Trim(strings.ReplaceAll(b.String(), "\r\n", "\n"), "\n")
	if strings.TrimSpace(s) == "" {
		return ""
	}
	mark := "```"
	for strings.Contains(s, mark) {
		mark += "`"
	}
	lang := ""
	for _, c := range append([]*html.Node{n}, find(n, func(c *html.Node) bool { return c.DataAtom == atom.Code })...) {
		for class := range strings.FieldsSeq(attr(c, "class")) {
			for _, p := range []string{"language-", "lang-", "highlight-source-"} {
				if l, ok := strings.CutPrefix(class, p); ok && lang == "" && len(l) <= 20 {
					lang = strings.Trim(l, "`")
				}
			}
		}
	}
	return mark + lang + "\n" + s + "\n" + mark
}

func raw(b *strings.Builder, n *html.Node) {
	for c := range n.ChildNodes() {
		switch {
		case skipped(c):
		case c.Type == html.TextNode:
			b.WriteString(c.Data)
		case c.DataAtom == atom.Br:
			b.WriteByte('\n')
		default:
			raw(b, c)
			if isBlock(c) && !strings.HasSuffix(b.String(), "\n") {
				b.WriteByte('\n')
			}
		}
	}
}

// textOf returns the text below n without marks.
func textOf(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

// squeeze replaces each run of white space by one space. The newlines that inline writes
// for <br> come after it and survive in tidy.
func squeeze(s string) string {
	if !strings.ContainsAny(s, "\t\n\r\f") && !strings.Contains(s, "  ") {
		return s
	}
	var b strings.Builder
	space := false
	for _, r := range s {
		if r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == '\f' {
			space = true
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	if space {
		b.WriteByte(' ')
	}
	return b.String()
}

// tidy returns a paragraph with each line cleaned.
func tidy(s string) string {
	var lines []string
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimSpace(squeeze(line))
		if line != "" || len(lines) > 0 {
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

func indent(s, first, rest string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		p := rest
		if i == 0 {
			p = first
		}
		lines[i] = strings.TrimRight(p+l, " ")
	}
	return strings.Join(lines, "\n")
}

// words returns the text of a page that cannot be parsed as a tree.
func words(page string) string {
	z := html.NewTokenizer(strings.NewReader(page))
	var b strings.Builder
	quiet := ""
	for {
		switch z.Next() {
		case html.ErrorToken:
			return strings.TrimSpace(squeeze(b.String()))
		case html.StartTagToken:
			name, _ := z.TagName()
			if t := string(name); quiet == "" && (t == "script" || t == "style" || t == "template" || t == "noscript") {
				quiet = t
			}
			b.WriteByte(' ')
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == quiet {
				quiet = ""
			}
			b.WriteByte(' ')
		case html.TextToken:
			if quiet == "" {
				b.Write(z.Text())
			}
		}
	}
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}
