package window

import (
	"slices"

	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Aside returns a request for a question beside the conversation: its head and its
// messages so far, so that the provider's cache serves them, and the question behind
// them. Calls that have no result yet are left out, with the reply that asked for them.
// input is its number of tokens. Nothing is changed.
func (c *Conversation) Aside(text string) (r llm.Request, input int64) {
	msgs, _ := c.past.all()
	tail := c.tail
	if len(c.open) > 0 {
		tail = llm.Message{}
		for len(msgs) > 0 {
			last := msgs[len(msgs)-1]
			msgs = msgs[:len(msgs)-1]
			if last.Role == llm.Assistant && len(last.Calls()) > 0 {
				break
			}
		}
	}
	if len(tail.Parts) > 0 {
		msgs = append(msgs, tail)
	}
	part := llm.TextPart(text)
	if n := len(msgs) - 1; n >= 0 && msgs[n].Role != llm.Assistant {
		msgs[n].Parts = append(slices.Clone(msgs[n].Parts), part)
	} else {
		msgs = append(msgs, llm.Message{Role: llm.User, Parts: []llm.Part{part}})
	}
	for i, m := range msgs {
		msgs[i] = c.shown(m)
	}
	return llm.Request{Head: c.head, Messages: msgs}, int64(c.Tokens() + c.calib.of(countPart(c.count(), part)))
}
