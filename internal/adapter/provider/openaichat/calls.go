package openaichat

import (
	"encoding/json"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/provider/lax"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// callPiece is a call, or a part of one.
type callPiece struct {
	Index    lax.Index     `json:"index"`
	ID       lax.Text      `json:"id"`
	Function functionPiece `json:"function"`
	// Extra is the signature of a call in Google's compatible API. It must be sent back.
	Extra json.RawMessage `json:"extra_content"`
}

// functionPiece has the arguments as a string; some hosts send an object.
type functionPiece struct {
	Name lax.Text `json:"name"`
	Args lax.Text `json:"arguments"`
}

// calls joins the pieces of the calls of one reply.
type calls struct {
	slots []slot
}

type slot struct {
	index lax.Index
	id    string
	name  string
	args  []byte
	extra json.RawMessage

	// The state of scanning arguments that are an object: each byte is read once, however
	// many pieces there are.
	depth            int
	quoted, escaped  bool
	started, settled bool // settled: the first bracket is closed, or there was none
	whole            bool // the arguments are a complete object; only blanks may follow
}

func (s *slot) write(args string) {
	s.args = append(s.args, args...)
	for i := 0; i < len(args) && !s.settled; i++ {
		c := args[i]
		switch {
		case s.escaped:
			s.escaped = false
		case s.quoted:
			s.escaped = c == '\\'
			s.quoted = c != '"'
		case c == '"':
			s.quoted = true
		case c == '{' || c == '[':
			s.depth++
			s.started = true
		case c == '}' || c == ']':
			s.depth--
		}
		if s.started && s.depth <= 0 {
			s.settled = true
			s.whole = json.Valid(s.args) && strings.HasPrefix(strings.TrimSpace(string(s.args)), "{")
		}
	}
}

// said reports whether args repeats all arguments that the slot already has.
func (s *slot) said(args string) bool {
	return s.whole && strings.TrimSpace(args) == strings.TrimSpace(string(s.args))
}

// add adds a piece, or a whole call. ok is false if the piece contains nothing new.
func (c *calls) add(p callPiece, whole bool) (d llm.Delta, ok bool) {
	at, isNew := len(c.slots), true
	if !whole {
		at, isNew = c.find(p)
	}
	if at < 0 {
		return d, false
	}
	if isNew {
		c.slots = append(c.slots, slot{index: p.Index})
	}
	s := &c.slots[at]
	if s.id == "" {
		s.id = string(p.ID)
	}
	switch name := string(p.Function.Name); {
	case name == "" || name == s.name:
	case len(s.args) == 0 && p.ID == "" && s.name != "":
		s.name += name // the name came in pieces
	case s.name == "":
		s.name = name
	}
	if lax.Present(p.Extra) {
		s.extra = p.Extra
	}
	args := string(p.Function.Args)
	if s.said(args) {
		args = ""
	}
	s.write(args)
	if !isNew && args == "" {
		return d, false
	}
	return llm.Delta{Kind: llm.DeltaCall, Index: at, ID: s.id, Name: s.name, Text: args}, true
}

// find returns the slot of a piece. An index is only a hint: hosts omit it, start at any
// number, or use the same one for all calls.
func (c *calls) find(p callPiece) (at int, isNew bool) {
	at = -1
	for i := len(c.slots) - 1; i >= 0 && at < 0; i-- {
		s := &c.slots[i]
		switch {
		case p.Index.OK && s.index.OK:
			if s.index.N == p.Index.N {
				at = i
			}
		case p.ID != "":
			if s.id == string(p.ID) {
				at = i
			}
		default:
			at = i // neither index nor id: it continues the last call
		}
	}
	begins := p.Function.Name != ""
	if at < 0 {
		if !begins && p.ID == "" && p.Function.Args == "" {
			return -1, false
		}
		return len(c.slots), true
	}
	s := &c.slots[at]
	if begins && !p.Index.OK && p.ID == "" && string(p.Function.Name) != s.name {
		return len(c.slots), true // without other evidence, another name means another call
	}
	if begins && p.ID != "" && s.id != "" && s.id != string(p.ID) {
		return len(c.slots), true // another call under the same index
	}
	if args := string(p.Function.Args); begins && p.ID == "" && s.whole && strings.HasPrefix(strings.TrimSpace(args), "{") &&
		(string(p.Function.Name) != s.name || !s.said(args)) {
		return len(c.slots), true // the previous call was complete
	}
	return at, false
}

// all returns the calls as parts, each with a unique id.
func (c *calls) all(newID func() string) []llm.Part {
	out := make([]llm.Part, 0, len(c.slots))
	used := map[string]bool{}
	for i := range c.slots {
		s := &c.slots[i]
		if s.name == "" && strings.TrimSpace(string(s.args)) == "" {
			continue // a call that was announced but never sent
		}
		id := s.id
		for id == "" || used[id] {
			id = newID()
		}
		used[id] = true
		made := llm.NewCall(id, s.name, string(s.args))
		p := llm.Part{Kind: llm.CallPart, Call: &made}
		if s.extra != nil {
			p.Wire, p.Raw = Name, s.extra
		}
		out = append(out, p)
	}
	return out
}
