package openaichat

import (
	"encoding/json"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/provider/lax"
)

// details joins reasoning_details. The pieces of an entry arrive one by one and are sent
// back as one entry: its text joined, every other member unchanged.
type details struct {
	entries []detail
}

type detail struct {
	members []member
	spoken  string // the member whose text comes in pieces: text or summary
	said    []byte // that text so far
}

// member is a member of an entry; entries keep the order of their members.
type member struct {
	name string
	raw  json.RawMessage
}

// add adds the entries of a chunk and returns their text for people.
func (d *details) add(raws []json.RawMessage) (shown string) {
	for _, raw := range raws {
		e, ok := readDetail(raw)
		if !ok {
			continue
		}
		shown += string(e.said)
		if n := len(d.entries); n > 0 && d.entries[n-1].continues(e) {
			d.entries[n-1].join(e)
			continue
		}
		d.entries = append(d.entries, e)
	}
	return shown
}

// raw returns the joined entries as an array, nil if there are none.
func (d *details) raw() json.RawMessage {
	if len(d.entries) == 0 {
		return nil
	}
	b := []byte{'['}
	for i, e := range d.entries {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		for j, m := range e.members {
			if j > 0 {
				b = append(b, ',')
			}
			b = append(lax.AppendString(b, m.name), ':')
			if m.name == e.spoken {
				b = lax.AppendString(b, string(e.said))
			} else {
				b = append(b, m.raw...)
			}
		}
		b = append(b, '}')
	}
	return append(b, ']')
}

func readDetail(raw json.RawMessage) (e detail, ok bool) {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return e, false
	}
	for dec.More() {
		t, err := dec.Token()
		name, isName := t.(string)
		var value json.RawMessage
		if err != nil || !isName || dec.Decode(&value) != nil {
			return e, false
		}
		e.set(name, value)
	}
	switch e.text("type") {
	case "reasoning.text":
		e.spoken = "text"
	case "reasoning.summary":
		e.spoken = "summary"
	}
	e.said = []byte(e.text(e.spoken))
	return e, len(e.members) > 0
}

func (e *detail) get(name string) json.RawMessage {
	for _, m := range e.members {
		if m.name == name {
			return m.raw
		}
	}
	return nil
}

func (e *detail) set(name string, raw json.RawMessage) {
	for i := range e.members {
		if e.members[i].name == name {
			e.members[i].raw = raw
			return
		}
	}
	e.members = append(e.members, member{name, raw})
}

func (e *detail) text(name string) string {
	var s string
	if json.Unmarshal(e.get(name), &s) != nil {
		return ""
	}
	return s
}

// continues reports whether next continues e: a text or summary with the same index and
// id, not signed yet. Encrypted entries are always complete.
func (e *detail) continues(next detail) bool {
	if e.spoken == "" || e.spoken != next.spoken || string(e.get("index")) != string(next.get("index")) {
		return false
	}
	a, b := e.text("id"), next.text("id")
	return (a == b || a == "" || b == "") && (e.text("signature") == "" || len(next.said) == 0)
}

// join appends the text of the later piece and takes over its other members.
func (e *detail) join(next detail) {
	for _, m := range next.members {
		switch {
		case m.name == e.spoken:
			if e.get(m.name) == nil {
				e.set(m.name, m.raw)
			}
			e.said = append(e.said, next.said...)
		case lax.Present(m.raw) && string(m.raw) != `""`:
			e.set(m.name, m.raw)
		}
	}
}
