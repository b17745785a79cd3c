package window

import (
	"bytes"

	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Builder makes requests from a Conversation. Each message is encoded once; the
// encoding is kept until the head or the codec's form changes.
type Builder struct {
	codec llm.Codec // nil: the model needs no bytes
	conv  *Conversation
	long  bool // the cache is to last an hour

	rebase  int           // the rebase that what is below belongs to
	version int           // of the codec, if it changes
	prefix  []byte        // head and messages, only appended to
	head    int           // the length of the head in it
	encoded int           // messages in prefix
	started bool          // a message is in prefix, so the next one needs a comma
	plain   []llm.Message // for a model without a codec, all but the step under construction
}

// Providers with cache markers look back from a marker for the entries of
// earlier requests, but only over a limited number of blocks (Anthropic: 20).
// After a longer step the end of the last request is marked again, so that its
// entry is found.
const lookback = 16

// A prefix that is full grows by a sixteenth: it lives as long as the session, and copying
// a megabyte takes less than encoding a reply.
const (
	growth      = 16
	leastGrowth = 4 << 10
)

// NewBuilder returns a builder for a model's codec; nil for a model without one.
func NewBuilder(conv *Conversation, codec llm.Codec) *Builder {
	return &Builder{codec: codec, conv: conv}
}

// Request returns the next request with all messages so far. Its body shares bytes with
// earlier requests, which stay valid.
func (b *Builder) Request(tail llm.Tail) (*llm.Request, error) {
	c := b.conv
	version := 0
	if v, ok := b.codec.(llm.Changing); ok {
		version = v.Version()
	}
	codec, long := b.codec, false
	if l, ok := b.codec.(llm.Lasting); ok && !b.long && c.Pauses() {
		codec, long = l.Long()
	}
	if b.rebase != c.rebases || b.version != version || long {
		*b = Builder{codec: codec, conv: c, rebase: c.rebases, version: version, long: b.long || long}
		if b.codec != nil {
			head, err := b.codec.Head(c.Head())
			if err != nil {
				return nil, err
			}
			b.head, b.prefix = len(head), bytes.Clone(head)
		}
	}
	r := &llm.Request{Head: c.Head(), Tail: tail}
	if b.codec == nil {
		for m := range c.past.from(len(b.plain)) {
			b.plain = append(b.plain, c.shown(m))
		}
		r.Messages = b.plain[:len(b.plain):len(b.plain)]
		if len(c.tail.Parts) > 0 {
			r.Messages = append(r.Messages, c.shown(c.tail))
		}
		return r, nil
	}
	r.Packed = c.packed()
	// All but the last message are appended for good; the last one is sent with
	// the cache marker and kept without it.
	last := c.size() - 1
	for m := range c.past.from(b.encoded) {
		if b.encoded >= last {
			break
		}
		if err := b.add(c.shown(m)); err != nil {
			return nil, err
		}
		b.encoded++
	}
	var marked []byte
	prefix := b.prefix
	if before := c.endBefore(last); before >= 0 && c.wide(before+1) {
		var err error
		if prefix, marked, err = b.remark(before, last); err != nil {
			return nil, err
		}
	}
	if last >= 0 {
		m, err := b.codec.Step([]llm.Message{c.shown(c.message(last))}, true)
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

// Long reports whether the cache of the last request is to last an hour.
func (b *Builder) Long() bool { return b.long }

// SetTail replaces the tail of the last request.
func (b *Builder) SetTail(r *llm.Request, tail llm.Tail) {
	r.Tail = tail
	if b.codec != nil {
		r.Body[len(r.Body)-1] = b.codec.Tail(tail)
	}
}

// packed returns the messages of now, to be unpacked when somebody asks for them.
func (c *Conversation) packed() func() []llm.Message {
	past, tail, info := c.past.copied(), c.tail, c.info
	return func() []llm.Message {
		ms, _ := past.all()
		if len(tail.Parts) > 0 {
			ms = append(ms, tail)
		}
		for i, m := range ms {
			ms[i] = withoutUnseen(m, info)
		}
		return ms
	}
}

// wide reports whether the messages from one on have more parts than a provider looks
// back over.
func (c *Conversation) wide(from int) bool {
	n := len(c.tail.Parts)
	for m := range c.past.from(from) {
		n += len(m.Parts)
	}
	return n > lookback
}

// remark returns the prefix before a message, and what follows it up to the last one, with
// a cache marker on that message.
func (b *Builder) remark(at, last int) (prefix, marked []byte, err error) {
	from := len(b.prefix)
	var plain []byte
	var m llm.Message
	for i := last - 1; i >= at; i-- { // from the end of the prefix back to where it begins
		m = b.conv.shown(b.conv.message(i))
		if plain, err = b.codec.Step([]llm.Message{m}, false); err != nil {
			return nil, nil, err
		}
		from -= len(plain)
		if len(plain) > 0 && from > b.head {
			from-- // its comma
		}
	}
	if marked, err = b.codec.Step([]llm.Message{m}, true); err != nil {
		return nil, nil, err
	}
	rest := b.prefix[from:]
	comma := 0
	if len(rest) > 0 && rest[0] == ',' && len(plain) > 0 {
		comma = 1
	}
	out := append([]byte(nil), rest[:comma]...)
	out = append(out, marked...)
	return b.prefix[:from], append(out, rest[comma+len(plain):]...), nil
}

func (b *Builder) add(m llm.Message) error {
	enc, err := b.codec.Step([]llm.Message{m}, false)
	if err != nil || len(enc) == 0 {
		return err
	}
	if need := len(b.prefix) + len(enc) + 1; need > cap(b.prefix) {
		b.prefix = append(make([]byte, 0, need+max(need/growth, leastGrowth)), b.prefix...)
	}
	if b.started {
		b.prefix = append(b.prefix, ',')
	}
	b.prefix = append(b.prefix, enc...)
	b.started = true
	return nil
}
