package agentsdk

import (
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/llm"
)

// streamed is the state of a streamed reply, in the messages of the provider's own
// streaming, for programs that asked for them. Calls are written whole, since
// their ids are not known before.
//
// A slow subscriber misses pieces. So pieces keeps what was sent, and the end of
// a reply sends what is missing: the pieces always add up to the message.
type streamed struct {
	replies int
	open    bool
	inBlock bool
	sent    []block
}

// block is a part of a reply as far as it was sent: a text, thinking, or a call,
// whose text is its input.
type block struct {
	kind, text string
	whole      object
}

// deltas has the names of a block's pieces, and of the text in them.
var deltas = map[string][2]string{"text": {"text_delta", "text"}, "thinking": {"thinking_delta", "thinking"}, "tool_use": {"input_json_delta", "partial_json"}}

// blockOf reads a block of a whole message.
func blockOf(o object) block {
	b := block{kind: o["type"].(string), whole: o}
	if b.kind == "tool_use" {
		b.text = fmt.Sprintf("%s", o["input"])
	} else {
		b.text = o[b.kind].(string)
	}
	return b
}

// empty returns the block as it begins.
func (b block) empty() object {
	if b.kind == "tool_use" {
		return object{"type": b.kind, "id": b.whole["id"], "name": b.whole["name"], "input": struct{}{}}
	}
	return object{"type": b.kind, b.kind: ""}
}

// piece writes more of a reply.
func (w *writer) piece(kind, text string) {
	p := w.stream
	if p == nil || text == "" {
		return
	}
	w.start()
	if !p.inBlock || p.sent[len(p.sent)-1].kind != kind {
		w.closeBlock()
		w.openBlock(block{kind: kind})
	}
	w.more(text)
}

func (w *writer) start() {
	p := w.stream
	if p.open {
		return
	}
	w.init()
	p.replies++
	p.open, p.inBlock, p.sent = true, false, nil
	w.streams(object{"type": "message_start", "message": object{
		"id": fmt.Sprintf("msg_%s_stream_%d", w.session, p.replies), "type": "message", "role": "assistant", "model": w.s.View().Info().Model,
		"content": []object{}, "stop_reason": nil, "stop_sequence": nil, "usage": usageOf(llm.Usage{}),
	}})
}

func (w *writer) openBlock(b block) {
	p := w.stream
	w.streams(object{"type": "content_block_start", "index": len(p.sent), "content_block": b.empty()})
	p.sent = append(p.sent, block{kind: b.kind})
	p.inBlock = true
}

// more writes more of the open block.
func (w *writer) more(text string) {
	if text == "" {
		return
	}
	last := &w.stream.sent[len(w.stream.sent)-1]
	last.text += text
	names := deltas[last.kind]
	w.streams(object{"type": "content_block_delta", "index": len(w.stream.sent) - 1, "delta": object{"type": names[0], names[1]: text}})
}

func (w *writer) closeBlock() {
	if p := w.stream; p.inBlock {
		w.streams(object{"type": "content_block_stop", "index": len(p.sent) - 1})
		p.inBlock = false
	}
}

// isPrefixOf reports whether the reply begins with what was sent, so that only the
// rest is to be sent.
func (p *streamed) isPrefixOf(blocks []object) bool {
	if len(p.sent) > len(blocks) {
		return false
	}
	for i, s := range p.sent {
		b := blockOf(blocks[i])
		open := p.inBlock && i == len(p.sent)-1
		if b.kind != s.kind || !strings.HasPrefix(b.text, s.text) || !open && b.text != s.text {
			return false
		}
	}
	return true
}

// whole ends the streamed reply: what is missing of it, its stop reason and its
// usage.
func (w *writer) whole(blocks []object, stop string, u llm.Usage) {
	p := w.stream
	if p == nil {
		return
	}
	w.start()
	if !p.isPrefixOf(blocks) { // a piece before its end was missed: the reply is sent anew
		w.retract()
		w.start()
	}
	if p.inBlock {
		last := len(p.sent) - 1
		w.more(strings.TrimPrefix(blockOf(blocks[last]).text, p.sent[last].text))
		w.closeBlock()
	}
	for _, o := range blocks[len(p.sent):] {
		b := blockOf(o)
		w.openBlock(b)
		w.more(b.text)
		w.closeBlock()
	}
	w.streams(object{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": usageOf(u)})
	w.retract()
}

// retract ends the open streamed message: it is complete, or it failed and is tried
// again.
func (w *writer) retract() {
	if p := w.stream; p != nil && p.open {
		w.closeBlock()
		p.open = false
		w.streams(object{"type": "message_stop"})
	}
}

func (w *writer) streams(event object) {
	w.stamped(object{"type": "stream_event", "parent_tool_use_id": nil, "event": event})
}
