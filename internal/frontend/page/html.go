package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// This file contains the page's HTML.

// markup is HTML from pawl's source code. Only constants of it become markup, so
// nothing from a session is written without being escaped.
type markup string

// escaped escapes characters that have a meaning in HTML, in elements and in quoted
// attributes.
var escaped = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "+", "&#43;", "\x00", "\uFFFD")

// put writes markup; each % in it is replaced by the next value, escaped.
func (p *writer) put(m markup, values ...any) {
	s := string(m)
	for _, v := range values {
		before, after, _ := strings.Cut(s, "%")
		p.write(before)
		p.write(escaped.Replace(fmt.Sprint(v)))
		s = after
	}
	p.write(s)
}

// when writes markup if so is true.
func (p *writer) when(so bool, m markup, values ...any) {
	if so {
		p.put(m, values...)
	}
}

func (p *writer) write(s string) {
	if p.err == nil {
		var n int
		n, p.err = p.out.WriteString(s)
		p.size += n
	}
}

func (p *writer) putHead(h head) {
	css, hash := style()
	p.put(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '%'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>% · pawl</title>
<style>`, hash, h.Title)
	p.put(css)
	p.put(`</style>
</head>
<body>
<header>
<p class="brand">pawl · a session`)
	p.when(h.HasBegun, ` · <time datetime="%">%</time>, %`, h.Began.Exact(), h.Began.Shown(), h.Took)
	p.put(`</p>
<h1><bdi>%</bdi></h1>
<dl>`, h.Title)
	for _, f := range h.Facts {
		p.put("\n<div><dt>%</dt><dd><bdi>%</bdi></dd></div>", f.Name, f.Value)
	}
	p.put("\n</dl>")
	if len(h.Prompts) > 1 {
		p.put("\n<nav aria-label=\"Prompts\"><details")
		p.when(len(h.Prompts) <= 8, " open")
		p.put("><summary>Prompts</summary>\n<ol>")
		for _, e := range h.Prompts {
			p.put("\n<li><a href=\"#p%\"><bdi>%</bdi></a></li>", e.Number, e.Text)
		}
		p.put("\n</ol>")
		p.when(h.More > 0, `<p class="dim">and % more</p>`, h.More)
		p.put("</details></nav>")
	}
	p.put("\n</header>\n<main>\n")
}

func (p *writer) putTail(version string) {
	p.when(p.turn, "</section>\n")
	p.when(p.left > 0, `<p class="note warn">The session is longer than this page: % more entries are left out. <code>pawl sessions export --format jsonl</code> has all of them.</p>
`, p.left)
	p.put(`</main>
<footer><p>Written by pawl %. Keys are masked, contents of secret-looking files are left out. This page loads nothing and runs nothing.</p></footer>
</body>
</html>
`, version)
}

func (p *writer) putPrompt(d prompt) {
	p.when(d.Close, "</section>\n")
	p.put(`<section aria-labelledby="p%">
<h2 id="p%" tabindex="-1"><span class="number">%</span> <bdi>%</bdi></h2>
`, d.Number, d.Number, d.Number, d.Title)
	if d.Long {
		p.put(`<div class="prompt" dir="auto">`)
		p.passage(d.Text)
		p.put("</div>\n")
	}
	p.put(`<p class="dim"><time datetime="%">%</time>`, d.At.Exact(), d.At.Shown())
	p.when(d.Attached != "", " · %", d.Attached)
	p.put("</p>\n")
}

// putSaid writes a prompt that is no heading of a section.
func (p *writer) putSaid(d prompt) {
	p.put(`<div class="prompt" dir="auto">`)
	p.passage(d.Text)
	p.put("</div>\n")
	p.when(d.Attached != "", "<p class=\"dim\">%</p>\n", d.Attached)
}

func (p *writer) passage(d passage) {
	p.put("%", d.Head)
	p.when(d.Gap != "", `<span class="gap">%</span>%`, d.Gap, d.Tail)
}

func (p *writer) putReply(d reply) {
	p.put("<div class=\"reply\">\n")
	p.nodes(d.Parts)
	p.when(d.Cost != "", "<p class=\"dim\">%</p>\n", d.Cost)
	p.put("</div>\n")
}

func (p *writer) fold(name string, text passage) {
	p.put(`<details class="fold"><summary>%</summary><div class="quiet" dir="auto">`, name)
	p.passage(text)
	p.put("</div></details>\n")
}

func (p *writer) putCard(c card) {
	if len(c.Diff) == 0 && c.DiffGap == "" && c.Output == nil {
		p.put(`<p class="card %">`, c.Class)
		p.title(c)
		p.put("</p>\n")
		return
	}
	p.put(`<details class="card %"`, c.Class)
	p.when(c.Open, " open")
	p.put("><summary>")
	p.title(c)
	p.put("</summary>")
	if len(c.Diff) > 0 || c.DiffGap != "" {
		p.put("\n")
		p.putDiff(c.Diff, c.DiffGap)
	}
	if c.Output != nil {
		p.put("\n" + `<pre tabindex="0" role="group" aria-label="output">`)
		p.passage(*c.Output)
		p.put("</pre>")
	}
	p.put("\n</details>\n")
}

func (p *writer) putDiff(lines []diffLine, gap string) {
	p.put(`<pre class="diff" tabindex="0" role="group" aria-label="change">`)
	for _, l := range lines {
		p.put(`<span class="l`)
		p.when(l.Class != "", " %", l.Class)
		p.put(`">%</span>`, l.Text)
	}
	p.when(gap != "", `<span class="gap">%</span>`, gap)
	p.put("</pre>")
}

func (p *writer) title(c card) {
	p.put(`<span class="sign" aria-hidden="true">%</span><span class="words">%: </span><code><bdi>%</bdi></code>`, c.Sign, c.State, c.Title)
	p.when(c.Said != "", ` <span class="said"><bdi>%</bdi></span>`, c.Said)
}

func (p *writer) putNote(n note) {
	p.put(`<div class="note %"><p><bdi>%</bdi></p>`, n.Class, n.Text)
	for _, s := range n.More {
		p.put(`<p class="more"><bdi>%</bdi></p>`, s)
	}
	if len(n.Evidence) > 0 {
		p.put("<details><summary>Evidence</summary><ul>")
		for _, s := range n.Evidence {
			p.put("<li><bdi>%</bdi></li>", s)
		}
		p.put("</ul></details>")
	}
	p.put("</div>\n")
}

func (p *writer) putPlan(steps []step) {
	p.put(`<ul class="plan" role="list" aria-label="Plan">`)
	for _, s := range steps {
		p.put(`<li><span aria-hidden="true">%</span><span class="words">%: </span><bdi>%</bdi></li>`, s.Sign, s.State, s.Text)
	}
	p.put("</ul>\n")
}

func (p *writer) putEnd(d end) {
	p.put(`<div class="end %"><p><strong>%</strong></p>`, d.Class, d.Text)
	for _, line := range d.Proof {
		p.put(`<p><bdi>%</bdi></p>`, line)
	}
	p.put(`<p class="dim">%</p>`, d.Spent)
	p.when(!p.single, `<details><summary>The way it took: % steps</summary><p class="path">%</p></details>`, d.States, strings.Join(d.Path, " → "))
	p.put("</div>\n")
}

func (p *writer) nodes(ns []node) {
	for _, n := range ns {
		p.node(n)
	}
}

func (p *writer) node(n node) {
	switch n.Kind {
	case "p":
		p.put(`<p dir="auto">`)
		p.rows(n.Lines, "<br>")
		p.put("</p>\n")
	case "h":
		level := cmp.Or(map[int]markup{3: "h3", 4: "h4", 5: "h5"}[n.Level], "h6")
		p.put("<" + level + ` dir="auto">`)
		p.rows(n.Lines, "")
		p.put("</" + level + ">\n")
	case "pre":
		p.put(`<pre tabindex="0" role="group" aria-label="code %">`, n.Info)
		p.rows(n.Lines, "\n")
		p.put("</pre>\n")
	case "hr":
		p.put("<hr>\n")
	case "gap":
		p.put("<p class=\"gap\">%</p>\n", n.Info)
	case "quote":
		p.put("<blockquote>")
		p.nodes(n.Parts)
		p.put("</blockquote>\n")
	case "list":
		p.put(`<ul role="list">`)
		for _, e := range n.Parts {
			p.put("<li>")
			p.when(e.Sign != "", `<span class="sign">%</span>`, e.Sign)
			p.put("<div>")
			p.nodes(e.Parts)
			p.put("</div></li>")
		}
		p.put("</ul>\n")
	case "table":
		p.put(`<div class="wide" tabindex="0" role="group" aria-label="table"><table><thead><tr>`)
		p.cells(n.Head, `<th scope="col"`, "</th>")
		p.put("</tr></thead><tbody>")
		for _, r := range n.Rows {
			p.put("<tr>")
			p.cells(r, "<td", "</td>")
			p.put("</tr>")
		}
		p.put("</tbody></table></div>\n")
	}
}

func (p *writer) cells(rs []row, open, shut markup) {
	for _, r := range rs {
		p.put(open)
		p.when(r.Right, ` class="right"`)
		p.put(">")
		p.spans(r.Spans)
		p.put(shut)
	}
}

func (p *writer) rows(rs []row, between markup) {
	for i, r := range rs {
		p.when(i > 0, between)
		p.spans(r.Spans)
	}
}

func (p *writer) spans(ss []span) {
	for _, s := range ss {
		if to := address(s.Link); to != "" {
			p.put(`<a href="%" rel="noopener noreferrer nofollow" title="%">`, to, s.Link)
			p.span(s)
			p.put("</a>")
		} else {
			p.span(s)
		}
	}
}

func (p *writer) span(s span) {
	switch {
	case s.Code:
		p.put("<code>%</code>", s.Text)
	case s.Bold:
		p.put("<strong>%</strong>", s.Text)
	case s.Italic:
		p.put("<em>%</em>", s.Text)
	case s.Class != "":
		p.put(`<span class="%">%</span>`, s.Class, s.Text)
	default:
		p.put("%", s.Text)
	}
}

// address returns a link's address with every byte valid in addresses, or "" if it may
// lead to anything but a page or a mail address.
func address(link string) string {
	scheme, _, found := strings.Cut(link, ":")
	if !found || !slices.Contains([]string{"http", "https", "mailto"}, strings.ToLower(scheme)) {
		return ""
	}
	var b strings.Builder
	for i := range len(link) {
		c := link[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("!#$&*+,/:;=?@[]-._~%", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	return b.String()
}
