package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/jsonc"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
)

// This file handles the pins of MCP servers (SPEC 16.13). The model reads a server's
// descriptions like instructions, and a server can change them at any time. A pin
// records what a person accepted; anything that differs is not offered until a person
// accepts it.

// Server describes how an MCP server is started, and what it offers.
type Server struct {
	Name string
	// Start is how it is started or reached: the command, its arguments, and
	// the names and values of its environment as configured; or its address.
	Start []string
	// Instructions is the server's text for every conversation.
	Instructions string
	Items        []Item
}

// Item is something that a server offers.
type Item struct {
	Kind string // tool, prompt, resource
	Name string
	// Said is everything about the item that the model or a person may read, as JSON:
	// title, description, schemas, annotations.
	Said json.RawMessage
}

// Key identifies an item of a server.
func (i Item) Key() string { return i.Kind + ":" + i.Name }

// Pin is what was accepted of a server.
type Pin struct {
	Server       string            `json:"server"`
	Start        string            `json:"start"`
	Instructions string            `json:"instructions"`
	Items        map[string]Pinned `json:"items"` // by Item.Key
}

// Pinned is an accepted item: its hash, and its description for comparison.
type Pinned struct {
	Hash string `json:"hash"`
	Said string `json:"said"`
}

// Limits of a server's descriptions.
const (
	maxItems = 2000
	maxSaid  = 64 << 10 // of one item
	keptSaid = 4 << 10  // for comparison by people
)

// Names form mcp__server__tool, so different pairs must never form the same name.
var (
	serverName = lazyregexp.New(`^[A-Za-z0-9](?:_?[A-Za-z0-9-])*$`)
	itemName   = lazyregexp.New(`^[A-Za-z0-9_.-]{1,64}$`)
)

// PinOf returns the pin of a server's present state. An item that cannot be
// pinned is not in it, so it is never offered; bad has these items and the
// reasons.
func PinOf(s Server) (p Pin, bad map[string]string, err error) {
	switch {
	case len(s.Name) > 64 || !serverName().MatchString(s.Name):
		return Pin{}, nil, fmt.Errorf("%q is not a server name: use at most 64 letters, digits, - and single _", s.Name)
	case len(s.Items) > maxItems:
		return Pin{}, nil, fmt.Errorf("%s offers %d things, more than %d", s.Name, len(s.Items), maxItems)
	}
	p = Pin{Server: s.Name, Start: hashOf(s.Start...), Instructions: hashOf(s.Instructions), Items: map[string]Pinned{}}
	bad = map[string]string{}
	named := map[string]int{} // a reader may confuse names that differ only in case
	for _, i := range s.Items {
		named[strings.ToLower(i.Key())]++
	}
	for _, i := range s.Items {
		key := i.Key()
		pinned, why := pin(i)
		if named[strings.ToLower(key)] > 1 {
			why = "two have this name"
		}
		if why != "" {
			bad[key] = why
		} else {
			p.Items[key] = pinned
		}
	}
	return p, bad, nil
}

func pin(i Item) (p Pinned, why string) {
	switch {
	case i.Kind == "tool" && !itemName().MatchString(i.Name):
		return p, "a name is at most 64 letters, digits, _, . and -"
	case len(i.Said) > maxSaid:
		return p, fmt.Sprintf("its descriptions have %d bytes, more than %d", len(i.Said), maxSaid)
	}
	said, err := jsonc.Canonical(i.Said)
	if err != nil {
		return p, "its description cannot be read: " + err.Error()
	}
	return Pinned{Hash: hashOf(i.Kind, i.Name, string(said)), Said: cut.Bytes(string(said), keptSaid)}, ""
}

func hashOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d %s\n", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Pinning tells which parts of a server may be used.
type Pinning struct {
	// Refused is why no part of the server may be used, "" if some may.
	Refused string
	// New: nothing of the server was accepted yet.
	New     bool
	Offered map[string]bool // by Item.Key
	// Changes are what a person is shown before accepting.
	Changes []Change
}

// Change is a difference between a server and its pin.
type Change struct {
	What string // start, instructions, or an item's key
	How  string // new, changed, gone, refused: …
	Was  string // the earlier text, if it was pinned
	Is   string
}

// Pinned compares a server with its pin, nil if there is none. Unchanged items
// may be used, new and changed ones may not. A server that is started
// differently, or has other instructions, counts as another server. Removed
// items are reported.
func (p *Pin) Pinned(s Server) Pinning {
	now, bad, err := PinOf(s)
	if err != nil {
		return Pinning{Refused: err.Error()}
	}
	out := Pinning{Offered: map[string]bool{}, New: p == nil}
	for _, key := range slices.Sorted(maps.Keys(bad)) {
		out.Changes = append(out.Changes, Change{What: key, How: "refused: " + bad[key]})
	}
	if p == nil {
		out.Refused = "it was not accepted yet"
		for _, key := range slices.Sorted(maps.Keys(now.Items)) {
			out.Changes = append(out.Changes, Change{What: key, How: "new", Is: now.Items[key].Said})
		}
		return out
	}
	switch {
	case p.Server != now.Server:
		out.Refused = "what was accepted is of " + p.Server
	case p.Start != now.Start:
		out.Refused = "its command is not the accepted one"
		out.Changes = append(out.Changes, Change{What: "start", How: "changed", Is: strings.Join(s.Start, " ")})
	case p.Instructions != now.Instructions:
		out.Refused = "its instructions are not the accepted ones"
		out.Changes = append(out.Changes, Change{What: "instructions", How: "changed", Is: cut.Bytes(s.Instructions, keptSaid)})
	}
	for _, key := range slices.Sorted(maps.Keys(now.Items)) {
		was, known := p.Items[key]
		switch is := now.Items[key]; {
		case !known:
			out.Changes = append(out.Changes, Change{What: key, How: "new", Is: is.Said})
		case was.Hash != is.Hash:
			out.Changes = append(out.Changes, Change{What: key, How: "changed", Was: was.Said, Is: is.Said})
		default:
			out.Offered[key] = out.Refused == ""
		}
	}
	for _, key := range slices.Sorted(maps.Keys(p.Items)) {
		if _, there := now.Items[key]; !there && bad[key] == "" {
			out.Changes = append(out.Changes, Change{What: key, How: "gone", Was: p.Items[key].Said})
		}
	}
	return out
}
