package main

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/frontend/tui/emulator"
)

// This file makes an animated picture (SVG) of what a terminal showed, without scripts
// and without addresses, that reads like the terminal did: text stays text. Where a
// person wants no motion, it is the last frame.

// frame is what the terminal showed from a moment on.
type frame struct {
	At   time.Duration
	Rows [][]emulator.Run
}

// Sizes in pixels.
const (
	cellWidth, cellHeight = 8.4, 18.0
	margin                = 16.0
	shortestPause         = 400 * time.Millisecond // to read a line
	longestPause          = 1500 * time.Millisecond
	lastPause             = 8 * time.Second
)

// drawSVG draws frames of a terminal with that many columns and rows. title and
// text are for those who cannot see it.
func drawSVG(frames []frame, columns, rows int, title, text string) string {
	width, height := float64(columns)*cellWidth+2*margin, float64(rows)*cellHeight+2*margin
	var b, defs, body strings.Builder
	known := map[string]int{}
	for i, f := range frames {
		fmt.Fprintf(&body, "<g transform=\"translate(%s)\">", number(float64(i)*width))
		for y, row := range f.Rows[:min(rows, len(f.Rows))] {
			drawn := drawRow(row)
			if drawn == "" {
				continue
			}
			n, seen := known[drawn]
			if !seen {
				n = len(known)
				known[drawn] = n
				fmt.Fprintf(&defs, "<g id=\"r%d\">%s</g>\n", n, drawn)
			}
			fmt.Fprintf(&body, "<use href=\"#r%d\" y=\"%s\"/>", n, number(float64(y)*cellHeight))
		}
		body.WriteString("</g>\n")
	}
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %s %s\" width=\"%s\" height=\"%s\" role=\"img\" aria-labelledby=\"t d\">\n", number(width), number(height), number(width), number(height))
	fmt.Fprintf(&b, "<title id=\"t\">%s</title>\n<desc id=\"d\">%s</desc>\n<style>%s%s</style>\n", escaped(title), escaped(text), look, motion(frames, width))
	fmt.Fprintf(&b, "<rect class=\"back\" width=\"100%%\" height=\"100%%\" rx=\"8\"/>\n<defs>\n%s</defs>\n", defs.String())
	fmt.Fprintf(&b, "<svg x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" overflow=\"hidden\"><g class=\"film\">\n%s</g></svg>\n</svg>\n",
		number(margin), number(margin), number(width-2*margin), number(height-2*margin), body.String())
	return b.String()
}

// look has the colours of the sixteen that pawl uses, on a dark background.
const look = `
.back{fill:#10151c}
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#dbe2ea;white-space:pre}
.b{font-weight:700}.i{font-style:italic}.u{text-decoration:underline}
.c90,.c2{fill:#8b97a6}.c91,.c31{fill:#ff8f8f}.c92,.c32{fill:#7ee29a}.c93,.c33{fill:#f0c36a}.c94,.c34{fill:#86b7ff}.c95,.c35{fill:#e29bff}.c96,.c36{fill:#74d7ec}
`

// motion shows a frame after the other, each for its time.
func motion(frames []frame, width float64) string {
	at := make([]time.Duration, len(frames)+1)
	for i := range frames {
		pause := lastPause
		if i+1 < len(frames) {
			pause = max(shortestPause, min(frames[i+1].At-frames[i].At, longestPause))
		}
		at[i+1] = at[i] + pause
	}
	total := at[len(frames)]
	var b strings.Builder
	fmt.Fprintf(&b, ".film{animation:film %ss step-end infinite}\n@keyframes film{", number(total.Seconds()))
	for i := range frames {
		fmt.Fprintf(&b, "%s%%{transform:translateX(-%spx)}", number(100*at[i].Seconds()/total.Seconds()), number(float64(i)*width))
	}
	fmt.Fprintf(&b, "}\n@media (prefers-reduced-motion:reduce){.film{animation:none;transform:translateX(-%spx)}}\n", number(float64(len(frames)-1)*width))
	return b.String()
}

func drawRow(row []emulator.Run) string {
	var b strings.Builder
	for _, r := range row {
		if strings.TrimSpace(r.Text) == "" {
			continue
		}
		lead := len(r.Text) - len(strings.TrimLeft(r.Text, " "))
		text := strings.TrimSpace(r.Text)
		trail := len(r.Text) - lead - len(text)
		fmt.Fprintf(&b, "<text x=\"%s\" y=\"14\" textLength=\"%s\"%s>%s</text>", number(float64(r.Column+lead)*cellWidth), number(float64(r.Width-lead-trail)*cellWidth), classes(r.Style), escaped(text))
	}
	return b.String()
}

func classes(style string) string {
	var out []string
	for code := range strings.SplitSeq(style, ";") {
		switch code {
		case "", "0":
		case "1":
			out = append(out, "b")
		case "3":
			out = append(out, "i")
		case "4":
			out = append(out, "u")
		default:
			out = append(out, "c"+code)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return ` class="` + strings.Join(out, " ") + `"`
}

// number is as short as a number can be.
func number(f float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", f), "0"), ".")
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return strings.ReplaceAll(b.String(), "&#xA;", "\n")
}

var (
	duration = lazyregexp.New(`,? *\(?\b[0-9]+(\.[0-9]+)? ?(ms|s|m[0-9]+s)\b\)?`) // short ones are not shown
	name     = lazyregexp.New(`pawl-demo-[0-9]+`)
	session  = lazyregexp.New(`\b[0-9a-f]{20}\b`)
	slowest  = lazyregexp.New(`"Slow":[0-9]+`) // milliseconds
	blanks   = lazyregexp.New(`\s+`)
)

// structure returns a transcript without what differs from run to run: how long
// things took, the names of folders and sessions, and where lines were broken
// for it.
func structure(text string) []string {
	text = name().ReplaceAllString(duration().ReplaceAllString(session().ReplaceAllString(slowest().ReplaceAllString(text, "Slow"), "SESSION"), ""), "pawl-demo-N")
	var out []string
	for part := range strings.SplitSeq(text, "\n\n") {
		if part = strings.TrimSpace(blanks().ReplaceAllString(part, " ")); part != "" {
			out = append(out, part)
		}
	}
	return slices.Clip(out)
}

// textOf returns the transcript of a picture that drawSVG made.
func textOf(svg string) (string, error) {
	var p struct {
		Desc string `xml:"desc"`
	}
	err := xml.Unmarshal([]byte(svg), &p)
	return p.Desc, err
}
