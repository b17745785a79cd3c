package web

import (
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// toMarkdown returns an HTML page as readable text: headings, paragraphs, lists, links,
// code, quotes and simple tables. It omits scripts, styles, form fields, navigation,
// footers and hidden elements, and everything outside the content if the page marks its
// content. base is the base URL of links.
func toMarkdown(page string, base *url.URL) string {
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil { // nested too deeply: use only the words
		return words(page)
	}
	if b := find(doc, func(n *html.Node) bool { return n.DataAtom == atom.Base && attr(n, "href") != "" }); len(b) > 0 {
		if u, err := base.Parse(attr(b[0], "href")); err == nil {
			base = u
		}
	}
	m := &markdown{base: base, links: 64 << 10}
	m.links = max(m.links, len(page))
	title := ""
	if t := find(doc, func(n *html.Node) bool { return n.DataAtom == atom.Title && n.Namespace == "" }); len(t) > 0 {
		title = strings.TrimSpace(squeeze(textOf(t[0])))
	}
	root, whole := content(doc)
	text := m.blocks(root, 0)
	if text == "" && !whole {
		text = m.blocks(doc, 0)
	}
	if title != "" && !strings.HasPrefix(text, "# ") {
		text = "# " + title + "\n\n" + text
	}
	return strings.TrimSpace(text)
}

type markdown struct {
	base   *url.URL
	links  int  // bytes that addresses may still use, so that a page cannot inflate them
	inside bool // emphasis
}

// maxNested is the most levels of quotes and lists that are indented.
const maxNested = 8

// content returns the element that contains the page's content, or the document (whole is
// true).
func content(doc *html.Node) (root *html.Node, whole bool) {
	for _, is := range []func(*html.Node) bool{
		func(n *html.Node) bool { return n.DataAtom == atom.Main || attr(n, "role") == "main" },
		func(n *html.Node) bool { return n.DataAtom == atom.Article },
	} {
		if found := find(doc, is); len(found) == 1 && strings.TrimSpace(textOf(found[0])) != "" {
			return found[0], false
		}
	}
	return doc, true
}

// find returns the elements for which is reports true, none inside another.
func find(n *html.Node, is func(*html.Node) bool) []*html.Node {
	if n.Type == html.ElementNode && is(n) {
		return []*html.Node{n}
	}
	var out []*html.Node
	for c := range n.ChildNodes() {
		out = append(out, find(c, is)...)
	}
	return out
}

// skipped reports whether an element contains no text for readers.
func skipped(n *html.Node) bool {
	if n.Type == html.CommentNode || n.Type == html.DoctypeNode {
		return true
	}
	if n.Type != html.ElementNode {
		return false
	}
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Iframe, atom.Object, atom.Embed,
		atom.Canvas, atom.Audio, atom.Video, atom.Head, atom.Nav, atom.Footer, atom.Button, atom.Input, atom.Select, atom.Textarea,
		atom.Dialog, atom.Map:
		return true
	}
	style := strings.ToLower(strings.Join(strings.Fields(attr(n, "style")), ""))
	return has(n, "hidden") || attr(n, "aria-hidden") == "true" || strings.Contains(style, "display:none") ||
		strings.Contains(style, "visibility:hidden") || strings.Contains(style, "font-size:0")
}

func isBlock(n *html.Node) bool {
	if n.Type != html.ElementNode {
		return false
	}
	switch n.DataAtom {
	case atom.Html, atom.Body, atom.P, atom.Div, atom.Section, atom.Article, atom.Main, atom.Header, atom.Aside, atom.Figure,
		atom.Figcaption, atom.Address, atom.Form, atom.Fieldset, atom.Details, atom.Summary, atom.Center, atom.Hgroup, atom.Search,
		atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Ul, atom.Ol, atom.Menu, atom.Dir, atom.Li, atom.Dl, atom.Dt, atom.Dd,
		atom.Pre, atom.Listing, atom.Blockquote, atom.Table, atom.Hr, atom.Caption, atom.Thead, atom.Tbody, atom.Tfoot, atom.Tr, atom.Td, atom.Th:
		return true
	}
	return false
}

// part is a block of text.
type part struct {
	text string
	list bool
}

// blocks returns the children of n as blocks, separated by empty lines.
func (m *markdown) blocks(n *html.Node, nested int) string {
	var out []string
	for _, p := range m.parts(n, nested) {
		out = append(out, p.text)
	}
	return strings.Join(out, "\n\n")
}

func (m *markdown) parts(n *html.Node, nested int) (out []part) {
	var run strings.Builder // inline content since the last block
	add := func(s string, list bool) {
		if s != "" {
			out = append(out, part{s, list})
		}
	}
	flush := func() {
		add(tidy(run.String()), false)
		run.Reset()
	}
	for c := range n.ChildNodes() {
		switch {
		case skipped(c):
		case isBlock(c) || c.Type == html.DocumentNode:
			flush()
			add(m.block(c, nested), isList(c))
		case c.Type == html.ElementNode && c.DataAtom != atom.A && holdsBlock(c):
			flush()
			add(m.blocks(c, nested), false)
		default:
			m.inline(&run, c)
		}
	}
	flush()
	return out
}

func isList(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir:
		return true
	}
	return false
}

func holdsBlock(n *html.Node) bool {
	for c := range n.Descendants() {
		if isBlock(c) {
			return true
		}
	}
	return false
}

func (m *markdown) block(n *html.Node, nested int) string {
	if isList(n) {
		return m.list(n, nested)
	}
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		if s := m.line(n); s != "" {
			return strings.Repeat("#", int(n.Data[1]-'0')) + " " + s
		}
		return ""
	case atom.Hr:
		return "---"
	case atom.Pre, atom.Listing:
		return fence(n)
	case atom.Blockquote:
		s := m.blocks(n, nested+1)
		if s == "" || nested >= maxNested {
			return s
		}
		return indent(s, "> ", "> ")
	case atom.Dd:
		s := m.blocks(n, nested+1)
		if s == "" || nested >= maxNested {
			return s
		}
		return indent(s, ": ", "  ")
	case atom.Table:
		return m.table(n, nested)
	}
	return m.blocks(n, nested)
}

func (m *markdown) list(n *html.Node, nested int) string {
	number := 1
	if v, err := strconv.Atoi(attr(n, "start")); err == nil && v >= 0 && v < 1e6 {
		number = v
	}
	var items []string
	loose := false
	for c := range n.ChildNodes() {
		if skipped(c) || c.Type != html.ElementNode {
			continue
		}
		var parts []part
		if c.DataAtom == atom.Li {
			parts = m.parts(c, nested+1)
		} else { // invalid in a list, but some pages do it
			parts = []part{{m.block(c, nested+1), false}}
		}
		s := ""
		for i, p := range parts {
			switch {
			case i == 0:
			case i == 1 && p.list: // a list inside an item follows its line at once
				s += "\n"
			default:
				s += "\n\n"
				loose = true
			}
			s += p.text
		}
		if s == "" {
			continue
		}
		mark := "- "
		if n.DataAtom == atom.Ol {
			mark = strconv.Itoa(number) + ". "
			number++
		}
		if nested >= maxNested {
			items = append(items, mark+s)
			continue
		}
		items = append(items, indent(s, mark, strings.Repeat(" ", len(mark))))
	}
	if loose {
		return strings.Join(items, "\n\n")
	}
	return strings.Join(items, "\n")
}

// table returns a table as Markdown; a table for layout, or with blocks in it, as blocks.
func (m *markdown) table(n *html.Node, nested int) string {
	if len(find(n, func(c *html.Node) bool {
		return c != n && (c.DataAtom == atom.Table || c.DataAtom == atom.Pre || c.DataAtom == atom.H1 || c.DataAtom == atom.H2)
	})) > 0 {
		return m.blocks(n, nested)
	}
	var lines []string
	if c := find(n, func(c *html.Node) bool { return c.DataAtom == atom.Caption }); len(c) > 0 {
		if s := m.line(c[0]); s != "" {
			lines = append(lines, s, "")
		}
	}
	first := true
	for _, tr := range find(n, func(c *html.Node) bool { return c.DataAtom == atom.Tr }) {
		var cells []string
		for c := range tr.ChildNodes() {
			if c.DataAtom == atom.Td || c.DataAtom == atom.Th {
				s := ""
				if !skipped(c) {
					s = m.line(c)
				}
				cells = append(cells, strings.ReplaceAll(s, "|", `\|`))
			}
		}
		if strings.Join(cells, "") == "" {
			continue
		}
		lines = append(lines, "| "+strings.Join(cells, " | ")+" |")
		if first {
			lines = append(lines, "|"+strings.Repeat(" --- |", len(cells)))
			first = false
		}
	}
	if first {
		return ""
	}
	return strings.Join(lines, "\n")
}

// line returns everything below n as one line.
func (m *markdown) line(n *html.Node) string {
	var b strings.Builder
	for c := range n.ChildNodes() {
		m.inline(&b, c)
	}
	return strings.TrimSpace(squeeze(b.String()))
}

func (m *markdown) inline(b *strings.Builder, n *html.Node) {
	if skipped(n) {
		return
	}
	if n.Type == html.TextNode {
		b.WriteString(squeeze(n.Data))
		return
	}
	children := func() {
		for c := range n.ChildNodes() {
			m.inline(b, c)
		}
	}
	switch n.DataAtom {
	case atom.Br:
		b.WriteByte('\n')
	case atom.Wbr:
	case atom.Img:
		if alt := strings.TrimSpace(squeeze(attr(n, "alt"))); alt != "" {
			b.WriteString("[image: " + alt + "]")
		}
	case atom.A:
		b.WriteString(m.link(n))
	case atom.Code, atom.Kbd, atom.Samp, atom.Tt:
		b.WriteString(code(textOf(n)))
	case atom.Strong, atom.B:
		m.marked(b, n, "**")
	case atom.Em, atom.I:
		m.marked(b, n, "*")
	case atom.Del, atom.S, atom.Strike:
		m.marked(b, n, "~~")
	default:
		if isBlock(n) {
			b.WriteByte(' ')
			children()
			b.WriteByte(' ')
			return
		}
		children()
	}
}

// marked writes emphasis, only one level: a page may nest hundreds.
func (m *markdown) marked(b *strings.Builder, n *html.Node, mark string) {
	if m.inside {
		for c := range n.ChildNodes() {
			m.inline(b, c)
		}
		return
	}
	m.inside = true
	b.WriteString(around(m.line(n), n, mark))
	m.inside = false
}

// around returns the marked text; spaces at its ends are outside the marks.
func around(s string, n *html.Node, mark string) string {
	if s == "" {
		return " "
	}
	raw := textOf(n)
	out := mark + s + mark
	if raw != "" && strings.TrimLeft(raw[:1], " \t\n\r") == "" {
		out = " " + out
	}
	if raw != "" && strings.TrimRight(raw[len(raw)-1:], " \t\n\r") == "" {
		out += " "
	}
	return out
}

func (m *markdown) link(n *html.Node) string {
	text := m.line(n)
	href := strings.TrimSpace(attr(n, "href"))
	if text == "" || href == "" || strings.HasPrefix(href, "#") || m.links <= 0 {
		return around(text, n, "")
	}
	u, err := m.base.Parse(href)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto" {
		return around(text, n, "")
	}
	u.User = nil
	to := u.String()
	if len(to) > 400 {
		return around(text, n, "")
	}
	m.links -= len(to)
	if to == text || to == "mailto:"+text {
		return around(to, n, "")
	}
	to = strings.NewReplacer("(", "%28", ")", "%29", " ", "%20").Replace(to)
	return around("["+text+"]("+to+")", n, "")
}
