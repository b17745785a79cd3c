package window

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/pawl-agent/pawl/internal/core/llm"
)

// A summary that a session can go on with has at least this many words, where it stands
// for that many tokens, and names at least this many of the words of what was done.
const (
	leastWords  = 12
	leastTokens = 1500
	leastFacts  = 2
	maxFacts    = 400
)

// Poor returns why a summary is not one to go on with, "" if it is.
func (p Plan) Poor(summary string) string {
	words := len(strings.Fields(summary))
	if p.size >= leastTokens && words < leastWords && len(summary) < 6*leastWords { // not all languages have spaces
		return fmt.Sprintf("they stand for about %d tokens and have %d words", p.conv.calib.of(p.size), words)
	}
	named, low := 0, strings.ToLower(summary)
	for _, f := range p.facts {
		if strings.Contains(low, f) {
			named++
		}
	}
	if named < min(leastFacts, len(p.facts)) {
		some := p.facts[max(0, len(p.facts)-8):]
		return "they name nothing of what was done: no file, command or name, such as " + strings.Join(some, ", ")
	}
	return ""
}

// AskAgain returns the request for another summary, after a poor one. It has what a poor one
// lacks, what the agent said and did, and not what it read: that was most of the first
// request, and would be paid for twice.
func (p Plan) AskAgain(summary, why string) (llm.Request, int64) {
	return p.request(fmt.Sprintf("%sWhat the agent said and did:\n<record>\n%s</record>\n\nThe notes that you wrote about it:\n<poor>\n%s\n</poor>\n\nNobody can go on with these: %s. The record will be gone, and the notes are all that is left of it. Write them again, under the headings, with the exact names and values that the next step needs.",
		p.about, p.recorded(p.room/2, said), clip(summary, 2000), why))
}

// said returns a message in the form of the second request: of a result only its last line,
// which says how it ended.
func said(m llm.Message, most int) string {
	m.Parts = slices.Clone(m.Parts)
	for i, p := range m.Parts {
		if p.Kind == llm.Output && p.Result != nil {
			r := *p.Result
			text := strings.TrimSpace(r.Text)
			if last := lastLine(text); strings.HasPrefix(last, "[r") { // its handle
				text = strings.TrimSpace(strings.TrimSuffix(text, last))
			}
			r.Text = clip(lastLine(text), 120)
			m.Parts[i].Result = &r
		}
	}
	return record(m, most)
}

// texts returns how many of the messages from this one on are words of the model.
func (c unpacked) texts(from int) (n int) {
	for _, m := range c.messages[from:] {
		if m.Role == llm.Assistant && strings.TrimSpace(m.Text()) != "" {
			n++
		}
	}
	return n
}

// facts returns the words of what the calls of the oldest messages worked on, in lower
// case: parts of paths, commands, patterns.
func (c unpacked) facts(older int) []string {
	known := map[string]bool{}
	var out []string
	for _, m := range c.messages[:older] {
		for _, call := range m.Calls() {
			for _, w := range strings.FieldsFunc(strings.ToLower(worked(call.Args)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
				if len(w) >= 4 && !known[w] && len(out) < maxFacts {
					known[w] = true
					out = append(out, w)
				}
			}
		}
	}
	return out
}
