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

// AskAgain returns the request for another summary, after a poor one.
func (p Plan) AskAgain(summary, why string) (llm.Request, int64) {
	r := *p.Ask
	added := []llm.Message{
		{Role: llm.Assistant, Parts: []llm.Part{llm.TextPart(summary)}},
		{Role: llm.User, Parts: []llm.Part{llm.TextPart("Nobody can go on with these notes: " + why + ". The record will be gone, and the notes are all that is left of it. Write them again, under the headings, with the exact names and values that the next step needs.")}},
	}
	r.Messages = append(slices.Clone(r.Messages), added...)
	return r, p.Input + int64(p.conv.calib.of(countMessage(Estimate{}, added[0])+countMessage(Estimate{}, added[1])))
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
