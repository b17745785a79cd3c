// Package sessionfile reads a session from a file, in the form in which `pawl
// sessions export --format jsonl` writes it: one event on each line.
package sessionfile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Limits of a file, so that none fills the memory.
const (
	maxLine   = 64 << 20 // bytes of one event
	maxEvents = 1 << 20
)

// Read passes the conversation in a file to keep, in order: prompts, replies,
// calls and their results, a person's own commands, how turns ended. It returns
// how many events were kept and how many were left out: those of other kinds, also
// of newer versions. The file may come from anybody, so nothing is kept that grants
// rights, names files of this machine or proves anything: no grants, modes, rules,
// system prompts, changes, checks, costs, or parts as a provider sent them. Times
// are never after now, and each is at least that of the event before it. mask
// removes secrets from a line. An error names the line.
func Read(in io.Reader, now time.Time, mask func([]byte) []byte, keep func(time.Time, event.Body) error) (kept, left int, err error) {
	s := bufio.NewScanner(in)
	s.Buffer(nil, maxLine)
	at, open, turn := time.Time{}, map[string]string{}, false
	for n := 1; s.Scan(); n++ {
		line := bytes.TrimSpace(s.Bytes())
		if len(line) == 0 {
			continue
		}
		if n > maxEvents {
			return kept, left, fmt.Errorf("it has more than %d events", maxEvents)
		}
		var e struct {
			Type string          `json:"type"`
			Time time.Time       `json:"time"`
			Body json.RawMessage `json:"body"`
		}
		if err := json.Unmarshal(mask(bytes.Clone(line)), &e); err != nil || e.Type == "" {
			return kept, left, fmt.Errorf("line %d is not an event as `pawl sessions export --format jsonl` writes it", n)
		}
		body, err := imported(e.Type, e.Body, open)
		if err != nil {
			return kept, left, fmt.Errorf("line %d: %w", n, err)
		}
		if body == nil {
			left++
			continue
		}
		if e.Time.After(at) {
			at = e.Time
		}
		if at.After(now) || at.IsZero() {
			at = now
		}
		switch body.(type) {
		case event.Prompted:
			turn = true
		case event.Ended:
			turn = false
		}
		if err := keep(at, body); err != nil {
			return kept, left, err
		}
		kept++
	}
	if turn { // a turn without an end would count as running
		for _, id := range slices.Sorted(maps.Keys(open)) {
			if err := keep(at, event.CallDone{ID: id, Tool: open[id], Outcome: event.Cancelled, Result: llm.Result{ID: id, Name: open[id], Text: "[Outcome unknown: it was imported without its result.]", Error: true}}); err != nil {
				return kept, left, err
			}
		}
		if err := keep(at, event.Ended{End: event.EndInterrupted}); err != nil {
			return kept, left, err
		}
	}
	if errors.Is(s.Err(), bufio.ErrTooLong) {
		return kept, left, fmt.Errorf("a line is longer than %d MB", maxLine>>20)
	}
	return kept, left, s.Err()
}

// imported returns the body to keep of an event; nil if it is left out. open has
// the tools of the calls without a result, by id.
func imported(kind string, raw json.RawMessage, open map[string]string) (event.Body, error) {
	empty := event.New(kind)
	if empty == nil {
		return nil, nil
	}
	body, err := event.Decode(kind, event.VersionOf(empty), raw)
	if err != nil {
		return nil, err
	}
	switch b := body.(type) {
	case event.Prompted:
		return event.Prompted{Source: event.Person, Text: b.Text, Images: b.Images}, nil
	case event.Replied:
		return event.Replied{Reply: reply(b.Reply), Cost: new(float64), Took: b.Took}, nil
	case event.CallAsked:
		open[b.ID] = b.Tool
		return event.Completed(event.CallAsked{ID: b.ID, Tool: b.Tool, Args: object(b.Args)}), nil
	case event.CallDone:
		if _, asked := open[b.ID]; !asked {
			return nil, nil
		}
		delete(open, b.ID)
		b.Spill = "" // a file of another machine
		return b, nil
	case event.PersonRan, event.Interrupted, event.Ended:
		return b, nil
	}
	return nil, nil
}

// reply returns a model's text, without parts for its provider and without its cost.
func reply(r llm.Reply) llm.Reply {
	out := llm.Reply{Stop: r.Stop, Refusal: r.Refusal, Message: llm.Message{Role: llm.Assistant}}
	for _, p := range r.Message.Parts {
		switch {
		case p.Kind == llm.CallPart && p.Call != nil:
			c := *p.Call
			c.Args = object(c.Args)
			out.Message.Parts = append(out.Message.Parts, llm.Part{Kind: llm.CallPart, Call: &c})
		case p.Kind == llm.Text:
			out.Message.Parts = append(out.Message.Parts, llm.TextPart(p.Text))
		}
	}
	return out
}

// object returns a call's arguments, or {} if they are not an object.
func object(args json.RawMessage) json.RawMessage {
	var o map[string]json.RawMessage
	if json.Unmarshal(args, &o) != nil || o == nil {
		return json.RawMessage("{}")
	}
	return args
}
