package editor

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// naive is a text as people think of it: characters and a place between them.
type naive struct {
	text   []rune
	at     int
	erased []rune
	again  bool // the last key erased to keep
}

func (n *naive) edge(by int, stop func(rune) bool) int {
	at := n.at
	for at+min(by, 0) >= 0 && at+min(by, 0) < len(n.text) && !stop(n.text[at+min(by, 0)]) {
		at += by
	}
	return at
}

func (n *naive) word(by int) int {
	was := n.at
	n.at = n.edge(by, isWordRune)
	at := n.edge(by, func(r rune) bool { return !isWordRune(r) })
	n.at = was
	return at
}

func (n *naive) line(by int) int { return n.edge(by, func(r rune) bool { return r == '\n' }) }

func (n *naive) erase(to int, keep bool) {
	from, back := n.at, to < n.at
	if back {
		from, to = to, from
	}
	if from == to {
		return
	}
	gone := append([]rune(nil), n.text[from:to]...)
	n.text = append(append([]rune(nil), n.text[:from]...), n.text[to:]...)
	n.at = from
	switch {
	case !keep:
	case !n.again:
		n.erased = gone
	case back:
		n.erased = append(gone, n.erased...)
	default:
		n.erased = append(n.erased, gone...)
	}
	n.again = keep
}

func (n *naive) insert(text []rune) {
	n.text = append(append(append([]rune(nil), n.text[:n.at]...), text...), n.text[n.at:]...)
	n.at += len(text)
}

// Keys do to the text what they do to a naive one, and whatever was typed can be
// undone to the beginning and done again to the end.
//
// SPEC 18.3
func TestLikeANaiveText(t *testing.T) {
	keys := map[string]func(*Editor, *naive){
		"left":           func(e *Editor, n *naive) { e.Left(); n.again, n.at = false, max(0, n.at-1) },
		"right":          func(e *Editor, n *naive) { e.Right(); n.again, n.at = false, min(len(n.text), n.at+1) },
		"word left":      func(e *Editor, n *naive) { e.WordLeft(); n.again, n.at = false, n.word(-1) },
		"word right":     func(e *Editor, n *naive) { e.WordRight(); n.again, n.at = false, n.word(1) },
		"backspace":      func(e *Editor, n *naive) { e.Backspace(); n.erase(max(0, n.at-1), false) },
		"delete":         func(e *Editor, n *naive) { e.Delete(); n.erase(min(len(n.text), n.at+1), false) },
		"kill word":      func(e *Editor, n *naive) { e.KillWord(); n.erase(n.word(1), true) },
		"kill word back": func(e *Editor, n *naive) { e.KillWordBack(); n.erase(n.word(-1), true) },
		"kill start":     func(e *Editor, n *naive) { e.KillStart(); n.erase(n.line(-1), true) },
		"kill line": func(e *Editor, n *naive) {
			e.KillLine()
			to := n.line(1)
			if to == n.at {
				to = min(len(n.text), to+1)
			}
			n.erase(to, true)
		},
		"yank": func(e *Editor, n *naive) {
			e.Yank()
			if n.erased != nil {
				n.again = false
				n.insert(n.erased)
			}
		},
		"home": func(e *Editor, n *naive) {
			e.Home()
			if n.again = false; n.line(-1) == n.at {
				n.at = 0
			} else {
				n.at = n.line(-1)
			}
		},
		"end": func(e *Editor, n *naive) {
			e.End()
			if n.again = false; n.line(1) == n.at {
				n.at = len(n.text)
			} else {
				n.at = n.line(1)
			}
		},
	}
	for _, c := range []string{"a", "Z", "_", "7", " ", "\n", ".", "漢", "ß", "א", "ع", "/"} {
		keys["type "+c] = func(e *Editor, n *naive) { e.Type(c); n.again = false; n.insert([]rune(c)) }
	}
	names := slices.Sorted(maps.Keys(keys)) // the same in each run of a seed
	rapid.Check(t, func(t *rapid.T) {
		e, n := New(), &naive{}
		for range rapid.IntRange(1, 80).Draw(t, "keys") {
			name := rapid.SampledFrom(names).Draw(t, "key")
			keys[name](e, n)
			if e.Text() != string(n.text) || len([]rune(e.text[:e.caret])) != n.at {
				t.Fatalf("after %s: %q at %d, want %q at %d", name, e.Text(), len([]rune(e.text[:e.caret])), string(n.text), n.at)
			}
		}
		last := e.Text()
		for range 100 {
			e.Undo()
		}
		if !e.Empty() {
			t.Fatalf("all undone, %q is left", e.Text())
		}
		for range 100 {
			e.Redo()
		}
		if e.Text() != last {
			t.Fatalf("all done again: %q, want %q", e.Text(), last)
		}
	})
}
