package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/jsonc"
)

// This file is the pins of MCP servers (SPEC 16.13): what a server says of its
// tools reaches the model as if it were instructions, and a server can say
// something else tomorrow. A pin holds what a person accepted; what differs
// from it is not offered until a person accepts that.

// Server is what an MCP server is started by and what it says of itself.
type Server struct {
	Name string
	// Start is what starts it or where it is: the command and its arguments and
	// the names and values of its environment as configured, or its address.
	Start []string
	// Instructions are what it tells every conversation.
	Instructions string
	Items        []Item
}

// Item is something that a server offers and describes.
type Item struct {
	Kind string // tool, prompt, resource
	Name string
	// Said is all that it says of it and the model or a person may read, as
	// JSON: title, description, schemas, annotations.
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

// Pinned is an item as it was accepted: its hash, and what it said, for a
// person to compare.
type Pinned struct {
	Hash string `json:"hash"`
	Said string `json:"said"`
}

// What a server may say, at most.
const (
	maxItems = 2000
	maxSaid  = 64 << 10 // of one item
	keptSaid = 4 << 10  // for people to compare
)

// Names that are joined to mcp__server__tool: two of them never make the same.
var (
	serverName = regexp.MustCompile(`^[A-Za-z0-9](?:_?[A-Za-z0-9-])*$`)
	itemName   = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)
)

// PinOf makes the pin of a server as it is. An item that can not be pinned is
// not in it and so is never offered: bad says which, and why.
func PinOf(s Server) (p Pin, bad map[string]string, err error) {
	switch {
	case len(s.Name) > 64 || !serverName.MatchString(s.Name):
		return Pin{}, nil, fmt.Errorf("%q can not be a server's name: letters, digits, - and single _, at most 64", s.Name)
	case len(s.Items) > maxItems:
		return Pin{}, nil, fmt.Errorf("%s offers %d things, more than %d", s.Name, len(s.Items), maxItems)
	}
	p = Pin{Server: s.Name, Start: hashOf(s.Start...), Instructions: hashOf(s.Instructions), Items: map[string]Pinned{}}
	bad = map[string]string{}
	named := map[string]int{} // names that differ by case only are one to who reads
	for _, i := range s.Items {
		named[strings.ToLower(i.Key())]++
	}
	for _, i := range s.Items {
		key := i.Key()
		pinned, why := pin(i)
		if named[strings.ToLower(key)] > 1 {
			why = "its name is given to two"
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
	case i.Kind == "tool" && !itemName.MatchString(i.Name):
		return p, "it can not be a tool's name: letters, digits, _, . and -, at most 64"
	case len(i.Said) > maxSaid:
		return p, fmt.Sprintf("it says %d bytes of itself, more than %d", len(i.Said), maxSaid)
	}
	said, err := jsonc.Canonical(i.Said)
	if err != nil {
		return p, "what it says of itself can not be read: " + err.Error()
	}
	return Pinned{Hash: hashOf(i.Kind, i.Name, string(said)), Said: cutBytes(string(said), keptSaid)}, ""
}

func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

func hashOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d %s\n", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Pinning is what of a server may be used.
type Pinning struct {
	// Refused says why nothing of it may be used, "" where something may.
	Refused string
	// New: nothing was accepted of it yet.
	New     bool
	Offered map[string]bool // by Item.Key
	// Changes are what a person is to be shown before they accept.
	Changes []Change
}

// Change is how a server differs from its pin.
type Change struct {
	What string // start, instructions, or an item's key
	How  string // new, changed, gone, refused: …
	Was  string // what it said, where it was pinned
	Is   string
}

// Pinned judges a server as it is by its pin, nil where there is none. What is
// as it was may be used; what is new or changed may not; a server that is
// started in another way, or tells every conversation something else, is
// another server. What is gone is told.
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
		out.Refused = "nothing of it was accepted yet"
		for _, key := range slices.Sorted(maps.Keys(now.Items)) {
			out.Changes = append(out.Changes, Change{What: key, How: "new", Is: now.Items[key].Said})
		}
		return out
	}
	switch {
	case p.Server != now.Server:
		out.Refused = "the pin is of " + p.Server
	case p.Start != now.Start:
		out.Refused = "it is started in another way than was accepted"
		out.Changes = append(out.Changes, Change{What: "start", How: "changed", Is: strings.Join(s.Start, " ")})
	case p.Instructions != now.Instructions:
		out.Refused = "its instructions are others than were accepted"
		out.Changes = append(out.Changes, Change{What: "instructions", How: "changed", Is: cutBytes(s.Instructions, keptSaid)})
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
