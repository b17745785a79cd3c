package editor

import "strings"

// maxKills is how much of what was erased is kept.
const maxKills = 30

// kills is what was erased, newest last. What is erased in one go is one text.
type kills struct {
	texts []string
	joins bool                // the last thing that was done was to erase
	named map[string]register // of vi
	// The last thing that was done was to insert texts[at], which has size bytes; 0: it was not.
	at, size int
}

// register is a text of vi's registers, of whole lines or not.
type register struct {
	text  string
	lines bool
}

// rests is called for all that neither erases nor inserts what was erased.
func (k *kills) rests() { k.joins, k.size = false, 0 }

// kept is k for the next text.
func (k *kills) kept() kills { return kills{texts: k.texts, named: k.named} }

// pasted reports whether a long paste is among them.
func (k *kills) pasted() bool {
	for _, t := range k.texts {
		if strings.IndexFunc(t, isPasted) >= 0 {
			return true
		}
	}
	for _, r := range k.named {
		if strings.IndexFunc(r.text, isPasted) >= 0 {
			return true
		}
	}
	return false
}

// add keeps what was erased; back: before the caret.
func (k *kills) add(text string, joins, back bool) {
	n := len(k.texts)
	switch {
	case !joins || n == 0:
		if k.texts = append(k.texts, text); n >= maxKills {
			k.texts = k.texts[1:]
		}
	case back:
		k.texts[n-1] = text + k.texts[n-1]
	default:
		k.texts[n-1] += text
	}
	k.joins = true
}

// Yank inserts what was erased last.
func (e *Editor) Yank() {
	if n := len(e.kills.texts); n > 0 {
		e.change()
		e.yank(n - 1)
	}
}

// YankPop puts what was erased before in place of what Yank has just inserted.
func (e *Editor) YankPop() {
	k := &e.kills
	if k.size == 0 {
		return
	}
	at, size := (k.at+len(k.texts)-1)%len(k.texts), k.size
	e.change()
	e.text = e.text[:e.caret-size] + e.text[e.caret:]
	e.caret -= size
	e.yank(at)
}

func (e *Editor) yank(at int) {
	e.insert(e.kills.texts[at])
	e.kills.at, e.kills.size = at, len(e.kills.texts[at])
}
