package acp

import (
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
)

// live is how much of the output of a call is shown while it runs, in editors without a
// terminal for it.
const live = 4 << 10

// drawCall shows a call of the model, a check of the project or a command of the person as a
// call.
func (t *openSession) drawCall(ch chat.Change) {
	id := ch.Block.ID
	c := t.about(ch.Block)
	old, known := t.calls[id]
	if !known || old.status != c.status && ch.What != chat.Finished {
		t.send(t.a.call(c, !known))
		t.calls[id] = c
	}
	if ch.More != "" {
		t.output(id, ch.More)
	}
	if ch.What != chat.Finished {
		return
	}
	c.content = t.result(id, ch.Block)
	t.send(t.a.call(c, false))
	delete(t.calls, id)
	delete(t.terminals, id)
}

// about returns what is known of a block that runs.
func (t *openSession) about(b chat.Block) callState {
	switch c := b.Body.(type) {
	case chat.Call:
		out := callOf(b.ID, t.dir, c)
		if !b.Open {
			out.status = statusOf(c.Outcome)
		}
		return out
	case chat.Check:
		return callState{id: b.ID, title: c.Title, kind: "execute", status: finished(b.Open, c.Exit)}
	case chat.Command:
		return callState{id: b.ID, title: "!" + c.Line, kind: "execute", status: finished(b.Open, c.Exit)}
	}
	panic("no block that runs")
}

// statusOf returns the state of a call that is done.
func statusOf(o event.Outcome) string {
	switch o {
	case event.OK, event.NothingDone:
		return "completed"
	case event.Cancelled:
		return "cancelled"
	}
	return "failed"
}

func finished(open bool, exit *int) string {
	switch {
	case open:
		return "in_progress"
	case exit != nil && *exit == 0:
		return "completed"
	}
	return "failed"
}

// output shows more output of a running call: in a terminal, or the end of it as text.
func (t *openSession) output(id, more string) {
	if t.a.terminals {
		t.terminal(id)
		t.send(t.a.moreOutput(id, more))
		return
	}
	kept := t.calls[id]
	tail := more
	if kept.content != nil {
		tail = kept.tail + more
	}
	if len(tail) > live {
		tail = tail[len(tail)-live:]
		tail = tail[strings.IndexByte(tail, '\n')+1:]
	}
	kept.tail = tail
	kept.content = []object{plainContent(strings.ToValidUTF8(tail, ""))}
	t.calls[id] = kept
	t.send(t.a.call(callState{id: id, content: kept.content}, false))
}

// terminal shows a terminal in a call, once.
func (t *openSession) terminal(id string) {
	if t.terminals[id] {
		return
	}
	t.terminals[id] = true
	for _, u := range t.a.showTerminal(id, t.dir) {
		t.send(u)
	}
}

// result returns what is shown of something that is done: its diff, or its output, and its
// images. The output of a command is in its terminal already, if there is one.
func (t *openSession) result(id string, b chat.Block) []object {
	var out, images []object
	var exit *int
	output, runs, failed := "", true, false
	switch c := b.Body.(type) {
	case chat.Call:
		output, runs, exit = c.Output, c.Kind == tool.Exec, c.Exit
		failed = c.Outcome != event.OK && c.Outcome != event.NothingDone
		if c.Diff != "" {
			out = append(out, t.a.diffs(t.dir, c.Diff)...)
		}
		for _, m := range c.Images {
			one := object{"type": "image", "mimeType": m.Type, "data": m.Data}
			switch m.Kind() {
			case llm.Audio:
				one["type"] = "audio"
			case llm.PDF:
				one = object{"type": "resource", "resource": object{"uri": "pawl:document.pdf", "mimeType": m.Type, "blob": m.Data}}
			}
			images = append(images, object{"type": "content", "content": one})
		}
	case chat.Check:
		output, exit = c.Output, c.Exit
	case chat.Command:
		output, exit = c.Output, c.Exit
	}
	switch {
	case runs && t.a.terminals && (output != "" || t.terminals[id]):
		if !t.terminals[id] {
			t.terminal(id)
			t.send(t.a.moreOutput(id, output))
		}
		t.send(t.a.exited(id, exit))
		out = append([]object{terminal(id)}, out...)
	case output != "" && (len(out) == 0 || failed):
		out = append(out, plainContent(output))
	}
	return append(append([]object{}, out...), images...)
}
