package window

import (
	"slices"

	"github.com/pawl-agent/pawl/internal/core/llm"
)

// This file removes thinking where a new prefix begins. A model may bind its thinking to
// everything before it, and then refuses it behind anything else; another model cannot
// read it.

// dropThinking removes the thinking of all messages so far.
func (c *Conversation) dropThinking() {
	if ms, as := c.past.all(); c.unthought(ms, as) {
		c.replace(ms, as)
	}
}

// unthought removes the thinking of these messages, and reports whether there was any.
// Each message stays, since others are counted by its place; one without parts is not sent.
func (c *Conversation) unthought(ms []llm.Message, as []about) bool {
	any := false
	for i, m := range ms {
		if !slices.ContainsFunc(m.Parts, isThinking) {
			continue
		}
		any = true
		for _, p := range m.Parts {
			if isThinking(p) {
				as[i].tokens -= countPart(c.count(), p)
			}
		}
		ms[i].Parts = slices.DeleteFunc(slices.Clone(m.Parts), isThinking)
	}
	return any
}

// isThinking reports whether a part is a model's own thinking. What was parsed out of a
// text is never sent.
func isThinking(p llm.Part) bool { return p.Kind == llm.Reasoning && !p.Parsed }

// replace replaces all messages but the one under construction.
func (c *Conversation) replace(ms []llm.Message, as []about) {
	c.past = packMessages(ms, as)
	c.bodyN = c.tailAbout.tokens
	for _, a := range as {
		c.bodyN += a.tokens
	}
}
