package window

import (
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Builder makes requests from a Conversation. Each message is encoded once; the
// encoding is kept until the head changes.
type Builder struct {
	codec llm.Codec // nil: the model needs no bytes
	conv  *Conversation

	rebase  int    // the rebase that the bytes below belong to
	prefix  []byte // head and messages, only appended to
	encoded int    // messages in prefix
	started bool   // a message is in prefix, so the next one needs a comma
	starts  []int  // where each message begins in prefix
}

// Providers with cache markers look back from a marker for the entries of
// earlier requests, but only over a limited number of blocks (Anthropic: 20).
// After a longer step the end of the last request is marked again, so that its
// entry is found.
const lookback = 16

// NewBuilder returns a builder for a model's codec; nil for a model without one.
func NewBuilder(conv *Conversation, codec llm.Codec) *Builder {
	return &Builder{codec: codec, conv: conv}
}

// Request returns the next request with all messages so far. Its body shares bytes with
// earlier requests, which stay valid.
func (b *Builder) Request(tail llm.Tail) (*llm.Request, error) {
	msgs := b.conv.shown(b.conv.Messages())
	r := &llm.Request{Head: b.conv.Head(), Messages: msgs, Tail: tail}
	if b.codec == nil {
		return r, nil
	}
	if b.rebase != b.conv.rebases {
		head, err := b.codec.Head(b.conv.Head())
		if err != nil {
			return nil, err
		}
		*b = Builder{codec: b.codec, conv: b.conv, rebase: b.conv.rebases, prefix: append([]byte(nil), head...)}
	}
	// All but the last message are appended for good; the last one is sent with
	// the cache marker and kept without it.
	last := len(msgs) - 1
	for ; b.encoded < last; b.encoded++ {
		b.starts = append(b.starts, len(b.prefix))
		if err := b.add(msgs[b.encoded]); err != nil {
			return nil, err
		}
	}
	var marked []byte
	prefix := b.prefix
	if before := b.conv.endBefore(last); before >= 0 && wide(msgs[before+1:]) {
		var err error
		if marked, err = b.remark(msgs[before], b.starts[before]); err != nil {
			return nil, err
		}
		prefix = b.prefix[:b.starts[before]]
	}
	if last >= 0 {
		m, err := b.codec.Step(msgs[last:], true)
		if err != nil {
			return nil, err
		}
		if b.started && len(m) > 0 {
			marked = append(marked, ',')
		}
		marked = append(marked, m...)
	}
	r.Body = [][]byte{prefix[:len(prefix):len(prefix)], marked, b.codec.Tail(tail)}
	return r, nil
}

// wide reports whether a step has more parts than a provider looks back over.
func wide(step []llm.Message) bool {
	n := 0
	for _, m := range step {
		n += len(m.Parts)
	}
	return n > lookback
}

// remark returns the prefix from a message on, with a cache marker on that message.
func (b *Builder) remark(m llm.Message, from int) ([]byte, error) {
	plain, err := b.codec.Step([]llm.Message{m}, false)
	if err != nil {
		return nil, err
	}
	marked, err := b.codec.Step([]llm.Message{m}, true)
	if err != nil {
		return nil, err
	}
	rest := b.prefix[from:]
	comma := 0
	if len(rest) > 0 && rest[0] == ',' && len(plain) > 0 {
		comma = 1
	}
	out := append([]byte(nil), rest[:comma]...)
	out = append(out, marked...)
	return append(out, rest[comma+len(plain):]...), nil
}

func (b *Builder) add(m llm.Message) error {
	enc, err := b.codec.Step([]llm.Message{m}, false)
	if err != nil || len(enc) == 0 {
		return err
	}
	if b.started {
		b.prefix = append(b.prefix, ',')
	}
	b.prefix = append(b.prefix, enc...)
	b.started = true
	return nil
}
