package agentsdk

import (
	"fmt"

	"github.com/pawl-agent/pawl/internal/core/llm"
)

// pieces is the state of a streamed reply, in the messages of the provider's own
// streaming, for programs that asked for them. Calls are written whole, since their ids
// are not known before.
type pieces struct {
	replies int
	open    bool
	kind    string // of the open block: text, thinking; "" none
	blocks  int
}

// piece writes more of a reply.
func (w *writer) piece(kind, text string) {
	p := w.pieces
	if p == nil || text == "" {
		return
	}
	w.start()
	if p.kind != kind {
		w.closeBlock()
		p.kind = kind
		w.startBlock(object{"type": kind, kind: ""})
	}
	w.streams(object{"type": "content_block_delta", "index": p.blocks, "delta": object{"type": kind + "_delta", kind: text}})
}

func (w *writer) start() {
	p := w.pieces
	if p.open {
		return
	}
	w.init()
	p.replies++
	p.open, p.kind, p.blocks = true, "", 0
	w.streams(object{"type": "message_start", "message": object{
		"id": fmt.Sprintf("msg_%s_stream_%d", w.session, p.replies), "type": "message", "role": "assistant", "model": w.s.View().Info().Model,
		"content": []object{}, "stop_reason": nil, "stop_sequence": nil, "usage": usageOf(llm.Usage{}),
	}})
}

func (w *writer) startBlock(block object) {
	w.streams(object{"type": "content_block_start", "index": w.pieces.blocks, "content_block": block})
}

func (w *writer) closeBlock() {
	p := w.pieces
	if p.kind == "" {
		return
	}
	w.streams(object{"type": "content_block_stop", "index": p.blocks})
	p.kind = ""
	p.blocks++
}

// whole ends the streamed reply with its calls, its stop reason and its usage.
func (w *writer) whole(blocks []object, stop string, u llm.Usage) {
	p := w.pieces
	if p == nil {
		return
	}
	w.start()
	w.closeBlock()
	for _, b := range blocks {
		if b["type"] != "tool_use" {
			continue
		}
		w.startBlock(object{"type": "tool_use", "id": b["id"], "name": b["name"], "input": struct{}{}})
		w.streams(object{"type": "content_block_delta", "index": p.blocks, "delta": object{"type": "input_json_delta", "partial_json": fmt.Sprintf("%s", b["input"])}})
		p.kind = "tool_use"
		w.closeBlock()
	}
	w.streams(object{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": usageOf(u)})
	w.retract()
}

// retract ends the open streamed message: it is complete, or it failed and is tried
// again.
func (w *writer) retract() {
	if p := w.pieces; p != nil && p.open {
		w.closeBlock()
		p.open = false
		w.streams(object{"type": "message_stop"})
	}
}

func (w *writer) streams(event object) {
	w.stamped(object{"type": "stream_event", "parent_tool_use_id": nil, "event": event})
}
