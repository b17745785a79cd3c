package window

import (
	"encoding/binary"
	"encoding/json"
	"iter"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// packedMessages is the messages of a conversation and what is known of each, as bytes:
// most messages are so short that their structs would be several times as large as their
// texts. A message is unpacked when its request is built and when the conversation is
// compacted.
type packedMessages struct{ of pages }

func (p *packedMessages) len() int { return p.of.len() }

// copied returns a copy that is not changed by what is added to the original.
func (p *packedMessages) copied() packedMessages { return packedMessages{p.of.copied()} }

func (p *packedMessages) add(m llm.Message, a about) {
	w := packer(make([]byte, 0, 64+len(m.Text())))
	w.about(a)
	w.message(m)
	p.of.add(w)
}

// from yields the messages from number i on.
func (p *packedMessages) from(i int) iter.Seq2[llm.Message, about] {
	records := p.of.from(i)
	return func(yield func(llm.Message, about) bool) {
		for s := range records {
			r := unpacker(s)
			a := r.about()
			if !yield(r.message(), a) {
				return
			}
		}
	}
}

func (p *packedMessages) at(i int) (llm.Message, about) {
	r := unpacker(p.of.at(i))
	a := r.about()
	return r.message(), a
}

func (p *packedMessages) all() (ms []llm.Message, as []about) {
	ms, as = make([]llm.Message, 0, p.len()+1), make([]about, 0, p.len()) // a caller adds the tail
	for m, a := range p.from(0) {
		ms, as = append(ms, m), append(as, a)
	}
	return ms, as
}

// unpacked is a conversation with its messages, for what looks at many of them.
type unpacked struct {
	*Conversation
	messages []llm.Message
	about    []about // of each message
}

func (c *Conversation) unpacked() unpacked {
	ms, as := c.past.all()
	return unpacked{c, ms, as}
}

func packMessages(ms []llm.Message, as []about) (p packedMessages) {
	for i, m := range ms {
		p.add(m, as[i])
	}
	return p
}

// The words that most messages and parts begin with: one byte each.
var (
	roles = []llm.Role{llm.User, llm.Assistant, llm.Tool}
	kinds = []llm.Kind{llm.Text, llm.CallPart, llm.Output, llm.Reasoning, llm.Opaque, llm.Image}
)

// packer appends values to bytes, unpacker takes them off again. A set of bits stands
// before fields that may be missing.
type (
	packer   []byte
	unpacker []byte
)

func (w *packer) number(n int) { *w = binary.AppendVarint(*w, int64(n)) }

func (w *packer) text(s string) {
	w.number(len(s))
	*w = append(*w, s...)
}

// bytes keeps nil and empty apart.
func (w *packer) bytes(b []byte) {
	if b == nil {
		w.number(-1)
		return
	}
	w.number(len(b))
	*w = append(*w, b...)
}

func (w *packer) bits(bits ...bool) {
	n := byte(0)
	for i, is := range bits {
		if is {
			n |= 1 << i
		}
	}
	*w = append(*w, n)
}

func (r *unpacker) number() int {
	n, size := binary.Varint(*r)
	*r = (*r)[size:]
	return int(n)
}

func (r *unpacker) text() string { return string(r.take(r.number())) }

func (r *unpacker) bytes() []byte {
	n := r.number()
	if n < 0 {
		return nil
	}
	return append(make([]byte, 0, n), r.take(n)...)
}

func (r *unpacker) take(n int) []byte {
	out := (*r)[:n]
	*r = (*r)[n:]
	return out
}

func (r *unpacker) bits() func() bool {
	n := r.take(1)[0]
	return func() bool {
		is := n&1 != 0
		n >>= 1
		return is
	}
}

// word writes one of a few words as its number.
func word[W ~string](w *packer, of []W, s W) {
	if i := slices.Index(of, s); i >= 0 {
		w.number(-1 - i)
		return
	}
	w.text(string(s))
}

func wordOf[W ~string](r *unpacker, of []W) W {
	n := r.number()
	if n < 0 {
		return of[-1-n]
	}
	return W(r.take(n))
}

func (w *packer) about(a about) {
	w.number(a.tokens)
	w.bits(a.more != nil, a.kind&1 != 0, a.kind&2 != 0)
	if a.more == nil {
		return
	}
	w.number(len(a.more.seen))
	for _, s := range a.more.seen {
		w.text(s.Path)
		w.number(s.From)
		w.number(s.To)
		w.text(string(s.Hash))
		w.bits(s.Dir)
	}
	w.number(len(a.more.numbers))
	for _, n := range a.more.numbers {
		w.number(n)
	}
	w.number(len(a.more.reads))
	for _, is := range a.more.reads {
		w.bits(is)
	}
}

func (r *unpacker) about() (a about) {
	a.tokens = r.number()
	bit := r.bits()
	more := bit()
	if bit() {
		a.kind |= 1
	}
	if bit() {
		a.kind |= 2
	}
	if !more {
		return a
	}
	a.more = &results{}
	for range r.number() {
		s := tool.Span{Path: r.text(), From: r.number(), To: r.number(), Hash: tool.Hash(r.text())}
		s.Dir = r.bits()()
		a.more.seen = append(a.more.seen, s)
	}
	for range r.number() {
		a.more.numbers = append(a.more.numbers, r.number())
	}
	for range r.number() {
		a.more.reads = append(a.more.reads, r.bits()())
	}
	return a
}

func (w *packer) message(m llm.Message) {
	word(w, roles, m.Role)
	w.number(len(m.Parts))
	for _, p := range m.Parts {
		w.part(p)
	}
}

func (r *unpacker) message() llm.Message {
	m := llm.Message{Role: wordOf(r, roles)}
	m.Parts = make([]llm.Part, r.number())
	for i := range m.Parts {
		m.Parts[i] = r.part()
	}
	return m
}

func (w *packer) part(p llm.Part) {
	word(w, kinds, p.Kind)
	w.bits(p.Parsed, p.Media != "", p.Data != nil, p.Call != nil, p.Result != nil, p.Wire != "", p.Raw != nil)
	w.text(p.Text)
	if p.Media != "" {
		w.text(p.Media)
	}
	if p.Data != nil {
		w.bytes(p.Data)
	}
	if p.Call != nil {
		w.call(*p.Call)
	}
	if p.Result != nil {
		w.result(*p.Result)
	}
	if p.Wire != "" {
		w.text(p.Wire)
	}
	if p.Raw != nil {
		w.bytes(p.Raw)
	}
}

func (r *unpacker) part() llm.Part {
	p := llm.Part{Kind: wordOf(r, kinds)}
	bit := r.bits()
	p.Parsed = bit()
	p.Text = r.text()
	if bit() {
		p.Media = r.text()
	}
	if bit() {
		p.Data = r.bytes()
	}
	if bit() {
		p.Call = r.call()
	}
	if bit() {
		p.Result = r.result()
	}
	if bit() {
		p.Wire = r.text()
	}
	if bit() {
		p.Raw = r.bytes()
	}
	return p
}

func (w *packer) call(c llm.Call) {
	w.text(c.ID)
	w.text(c.Name)
	w.bytes(c.Args)
	w.text(c.Sent)
	w.text(c.Bad)
}

func (r *unpacker) call() *llm.Call {
	return &llm.Call{ID: r.text(), Name: r.text(), Args: json.RawMessage(r.bytes()), Sent: r.text(), Bad: r.text()}
}

func (w *packer) result(x llm.Result) {
	w.bits(x.Error, x.Images != nil)
	w.text(x.ID)
	w.text(x.Name)
	w.text(x.Text)
	if x.Images == nil {
		return
	}
	w.number(len(x.Images))
	for _, i := range x.Images {
		w.text(i.Type)
		w.bytes(i.Data)
	}
}

func (r *unpacker) result() *llm.Result {
	bit := r.bits()
	x := &llm.Result{Error: bit(), ID: r.text(), Name: r.text(), Text: r.text()}
	if bit() {
		x.Images = make([]llm.Media, r.number())
		for i := range x.Images {
			x.Images[i] = llm.Media{Type: r.text(), Data: r.bytes()}
		}
	}
	return x
}
