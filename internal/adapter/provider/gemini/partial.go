package gemini

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/provider/lax"
)

// This file assembles arguments that arrive in pieces. A path in each piece tells where
// its value belongs; a string may also arrive in pieces.

// maxGap is how many items a path may add to an array at once: items arrive in order.
const maxGap = 16

// tree is the arguments received so far.
type tree struct{ root node }

// node is a value: fields or items for an object or array, else an incomplete string or a
// finished value.
type node struct {
	fields  []field
	items   []*node
	object  bool
	array   bool
	text    *strings.Builder
	more    bool // more of the text will follow
	literal string
}

type field struct {
	name string
	node *node
}

// set stores one piece. It ignores an impossible path: the check of the arguments finds
// what is missing.
func (t *tree) set(a partialArg) {
	n := &t.root
	path, ok := strings.CutPrefix(string(a.Path), "$")
	if !ok || path == "" {
		return
	}
	for depth := 0; path != ""; depth++ {
		if depth > 64 {
			return
		}
		name, index, rest, ok := step(path)
		if !ok {
			return
		}
		if n = n.child(name, index); n == nil {
			return
		}
		path = rest
	}
	switch {
	case a.String != nil:
		if n.text == nil || !n.more {
			n.text = new(strings.Builder)
		}
		n.text.WriteString(*a.String)
		n.more = a.More
	case a.Number != "":
		n.literal = a.Number.String()
	case a.Bool != nil:
		n.literal = strconv.FormatBool(*a.Bool)
	default:
		n.literal = "null"
	}
}

// step returns the first step of a path (.name, ['name'], ["name"] or [3]) and the rest.
func step(path string) (name string, index int, rest string, ok bool) {
	if after, found := strings.CutPrefix(path, "."); found {
		end := strings.IndexAny(after, ".[")
		if end < 0 {
			end = len(after)
		}
		return after[:end], -1, after[end:], end > 0
	}
	if len(path) < 3 || path[0] != '[' {
		return "", 0, "", false
	}
	if q := path[1]; q == '\'' || q == '"' {
		for i := 2; i+1 < len(path); i++ {
			if path[i] == '\\' {
				i++
				continue
			}
			if path[i] == q && path[i+1] == ']' {
				r := strings.NewReplacer(`\\`, `\`, `\'`, `'`, `\"`, `"`)
				return r.Replace(path[2:i]), -1, path[i+2:], true
			}
		}
		return "", 0, "", false
	}
	digits, rest, found := strings.Cut(path[1:], "]")
	n, err := strconv.Atoi(digits)
	if !found || err != nil || n < 0 {
		return "", 0, "", false
	}
	return "", n, rest, true
}

func (n *node) child(name string, index int) *node {
	if index < 0 {
		if n.object = true; n.array {
			return nil
		}
		for _, f := range n.fields {
			if f.name == name {
				return f.node
			}
		}
		child := new(node)
		n.fields = append(n.fields, field{name, child})
		return child
	}
	if n.array = true; n.object || index > len(n.items)+maxGap {
		return nil
	}
	for len(n.items) <= index {
		n.items = append(n.items, new(node))
	}
	return n.items[index]
}

func (t *tree) json() json.RawMessage {
	if !t.root.object {
		return json.RawMessage("{}")
	}
	return t.root.append(nil)
}

func (n *node) append(b []byte) []byte {
	switch {
	case n.object:
		b = append(b, '{')
		for i, f := range n.fields {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(lax.AppendString(b, f.name), ':')
			b = f.node.append(b)
		}
		return append(b, '}')
	case n.array:
		b = append(b, '[')
		for i, item := range n.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.append(b)
		}
		return append(b, ']')
	case n.text != nil:
		return lax.AppendString(b, n.text.String())
	case n.literal != "":
		return append(b, n.literal...)
	}
	return append(b, "null"...)
}
