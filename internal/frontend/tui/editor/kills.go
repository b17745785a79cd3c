package editor

import "strings"

// maxKills is how many erased texts are kept.
const maxKills = 30

// kills are the erased texts, newest last. Erasures without anything between them are one
// text.
type kills struct {
	texts      []string
	lastErased bool // the last command erased
	// If size > 0, the last command inserted texts[at], which has size bytes.
	at, size int
}

// reset must be called by each command that neither erases nor yanks.
func (k *kills) reset() { k.lastErased, k.size = false, 0 }

// forNextText returns the texts without the state of the last command.
func (k *kills) forNextText() kills { return kills{texts: k.texts} }

// hasPlaceholder reports whether a long paste was erased.
func (k *kills) hasPlaceholder() bool {
	return strings.IndexFunc(strings.Join(k.texts, ""), isPlaceholder) >= 0
}

// add adds an erased text; joins: to the last one, back: before it.
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
	k.lastErased = true
}

// Yank inserts the text that was erased last.
func (e *Editor) Yank() {
	if n := len(e.kills.texts); n > 0 {
		e.beforeChange()
		e.yank(n - 1)
	}
}

// YankPop, right after Yank or itself, replaces the inserted text by the one that was
// erased before it.
func (e *Editor) YankPop() {
	k := &e.kills
	if k.size == 0 {
		return
	}
	at, size := (k.at+len(k.texts)-1)%len(k.texts), k.size
	e.beforeChange()
	e.text = e.text[:e.caret-size] + e.text[e.caret:]
	e.caret -= size
	e.yank(at)
}

func (e *Editor) yank(at int) {
	e.insert(e.kills.texts[at])
	e.kills.at, e.kills.size = at, len(e.kills.texts[at])
}
