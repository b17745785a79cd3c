package undo

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/event"
)

// described folds when in its turn a change is made, and what for (SPEC 11.1). Both are in
// the log already: a change names its call.
type described struct {
	step  int               // replies since the turn began
	said  string            // what the model wrote beside the calls of the last reply
	calls map[string]string // what its calls say of themselves
}

func (d *described) replied(b event.Replied) {
	*d = described{step: d.step + 1, said: headline(b.Reply.Message.Text())}
}

// asked keeps the description of a call, which many models give though no tool that edits
// asks for it.
func (d *described) asked(b event.CallAsked) {
	if !bytes.Contains(b.Args, []byte(`"description"`)) && !bytes.Contains(b.Args, []byte(`"explanation"`)) {
		return
	}
	var in struct{ Description, Explanation string }
	_ = json.Unmarshal(b.Args, &in) // another type is no description
	text := headline(in.Description)
	if text == "" {
		text = headline(in.Explanation)
	}
	if text == "" {
		return
	}
	if d.calls == nil {
		d.calls = map[string]string{}
	}
	d.calls[b.ID] = text
}

// of returns what a call's changes are for: what the call says, or else the model's words.
func (d *described) of(call string) string {
	if text := d.calls[call]; text != "" {
		return text
	}
	if call == "" {
		return "" // found later: nothing says which call made it
	}
	return d.said
}

// headline returns the first line that has words.
func headline(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			return cut.Bytes(line, maxText)
		}
	}
	return ""
}
