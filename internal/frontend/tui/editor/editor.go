// Package editor is the text that a person is typing: what keys do to it and
// how it is shown. It knows no terminal and no session.
//
// It promises that a caret is never within a character, that what was pasted
// comes out as it went in, and that each change can be undone until the text is
// taken. A long paste is one character with a name in the text.
package editor

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// New makes an empty one.
func New() *Editor { return &Editor{goal: -1} }

// Editor holds a text.
type Editor struct {
	text  string
	caret int // in bytes
	// Each long paste is one rune in text.
	pasted []Pasted
	known  []Pasted // of texts that were taken, newest last

	undo, redo []state
	typing     bool // the last change was a letter: the next one joins it
	kills      kills
	goal       int // the column that up and down keep to; -1: the caret's own
	selected   row // in vi's visual mode

	past  []string // entries of before, oldest first
	at    int      // of past; len(past): the text is new
	draft string   // what was typed before past was looked at

	search *search
}

type state struct {
	text  string
	caret int
}

// Pasted is a long text, or an image, that is one character in the text.
type Pasted struct {
	Name, Text string
	Image      *llm.Media // nil for a text
}

const (
	firstPasted = '\U000F2000' // of a private plane: nobody types it
	maxUndo     = 500
	// A paste of more lines or bytes than these is shown by its name.
	shortLines = 8
	shortBytes = 1000
)

func isPasted(r rune) bool { return r >= firstPasted && r < firstPasted+0x1000 }

// Empty reports whether nothing was typed.
func (e *Editor) Empty() bool { return e.text == "" }

// Text is what was typed, with all that was pasted.
func (e *Editor) Text() string {
	var b strings.Builder
	for _, r := range e.text {
		if isPasted(r) && int(r-firstPasted) < len(e.pasted) {
			b.WriteString(e.pasted[r-firstPasted].Text)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Images are the images in the text, in their order.
func (e *Editor) Images() []llm.Media {
	var out []llm.Media
	for _, r := range e.text {
		if isPasted(r) && int(r-firstPasted) < len(e.pasted) {
			if m := e.pasted[r-firstPasted].Image; m != nil {
				out = append(out, *m)
			}
		}
	}
	return out
}

// Pasted are the long texts that were pasted into the text, in their order.
func (e *Editor) Pasted() []string {
	var out []string
	for _, r := range e.text {
		if isPasted(r) && int(r-firstPasted) < len(e.pasted) && e.pasted[r-firstPasted].Image == nil {
			out = append(out, e.pasted[r-firstPasted].Text)
		}
	}
	return out
}

// Take returns the text and begins another one.
func (e *Editor) Take() string {
	text := e.Text()
	e.knows()
	taken := Editor{past: e.past, at: len(e.past), known: e.known, kills: e.kills.kept(), goal: -1}
	if e.kills.pasted() {
		taken.pasted = e.pasted
	}
	*e = taken
	return text
}

// Set replaces the text, which can be undone. A long text that was pasted before is one
// character again.
func (e *Editor) Set(text string) {
	e.change()
	e.text = e.folded(text)
	e.caret = len(e.text)
}

// own is a text without characters that stand for something here.
func own(text string) string {
	return strings.Map(func(r rune) rune {
		if isPasted(r) || r == utf8.RuneError {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// change is called before each change.
func (e *Editor) change() {
	e.moved()
	e.redo = nil
	e.saved()
}

// saved keeps the present state for Undo.
func (e *Editor) saved() {
	if n := len(e.undo); n > 0 && e.undo[n-1].text == e.text {
		e.undo[n-1].caret = e.caret
		return
	}
	e.undo = append(e.undo, state{e.text, e.caret})
	if len(e.undo) > maxUndo {
		e.undo = e.undo[1:]
	}
}

// Type inserts the text of a key.
func (e *Editor) Type(text string) {
	if text = own(text); text == "" {
		return
	}
	if !e.typing || strings.TrimSpace(text) == "" {
		e.change()
	}
	e.insert(text)
	e.typing = strings.TrimSpace(text) != ""
}

func (e *Editor) insert(text string) {
	e.text = e.text[:e.caret] + text + e.text[e.caret:]
	e.caret += len(text)
	e.goal = -1
}

// Paste inserts pasted text. A long text is shown as a placeholder: name returns the
// placeholder's text for the n-th paste, counted from 1.
func (e *Editor) Paste(text string, name func(n int, text string) string) {
	text = own(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"))
	if text == "" {
		return
	}
	e.change()
	if strings.Count(text, "\n") < shortLines && len(text) <= shortBytes || len(e.pasted) >= 0x1000 {
		e.insert(text)
		return
	}
	e.insert(e.stands(Pasted{Name: name(len(e.pasted)+1, text), Text: text}))
}

// Attach inserts an image. The text shows its name.
func (e *Editor) Attach(name string, m llm.Media) {
	if len(e.pasted) >= 0x1000 {
		return
	}
	e.change()
	name = fmt.Sprintf("image %d: %s", len(e.pasted)+1, own(name))
	e.insert(e.stands(Pasted{Name: name, Text: "[" + name + "]", Image: &m}))
}

// Undo takes the last change back.
func (e *Editor) Undo() {
	for n := len(e.undo); n > 0; n = len(e.undo) {
		s := e.undo[n-1]
		e.undo = e.undo[:n-1]
		if s.text != e.text {
			e.redo = append(e.redo, state{e.text, e.caret})
			e.text, e.caret = s.text, s.caret
			break
		}
	}
	e.moved()
}

// Redo makes the change again that Undo took back last.
func (e *Editor) Redo() {
	if n := len(e.redo); n > 0 {
		e.saved()
		e.text, e.caret = e.redo[n-1].text, e.redo[n-1].caret
		e.redo = e.redo[:n-1]
	}
	e.moved()
}

// The caret.

func next(s string) int {
	if s == "" {
		return 0
	}
	c, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return max(1, len(c))
}

// plainByte reports whether a byte is a character that joins no other one.
func plainByte(c byte) bool { return c >= ' ' && c < 0x7f }

// before is where the character before a place begins.
func (e *Editor) before(at int) int {
	line := strings.LastIndexByte(e.text[:at], '\n') + 1
	if line == at {
		return max(0, at-1)
	}
	if at-line > 1 && plainByte(e.text[at-1]) && plainByte(e.text[at-2]) {
		return at - 1
	}
	for i := line; ; {
		n := next(e.text[i:at])
		if i+n >= at {
			return i
		}
		i += n
	}
}

// Left and Right go by a character.
func (e *Editor) Left() {
	e.moved()
	if e.caret > 0 {
		e.caret = e.before(e.caret)
	}
}

// Right is the other way.
func (e *Editor) Right() {
	e.moved()
	e.caret += next(e.text[e.caret:])
}

func (e *Editor) moved() {
	e.typing, e.goal = false, -1
	e.kills.rests()
}

func wordly(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

func (e *Editor) wordBefore() int {
	head := strings.TrimRightFunc(e.text[:e.caret], func(r rune) bool { return !wordly(r) && !isPasted(r) })
	if r, n := utf8.DecodeLastRuneInString(head); isPasted(r) {
		return len(head) - n
	}
	return len(strings.TrimRightFunc(head, wordly))
}

func (e *Editor) wordAfter() int {
	tail := strings.TrimLeftFunc(e.text[e.caret:], func(r rune) bool { return !wordly(r) && !isPasted(r) })
	if r, n := utf8.DecodeRuneInString(tail); isPasted(r) {
		return len(e.text) - len(tail) + n
	}
	return len(e.text) - len(strings.TrimLeftFunc(tail, wordly))
}

// WordLeft and WordRight go by a word.
func (e *Editor) WordLeft() { e.moved(); e.caret = e.wordBefore() }

// WordRight is the other way.
func (e *Editor) WordRight() { e.moved(); e.caret = e.wordAfter() }

func (e *Editor) lineStart() int { return strings.LastIndexByte(e.text[:e.caret], '\n') + 1 }

func (e *Editor) lineEnd() int {
	if n := strings.IndexByte(e.text[e.caret:], '\n'); n >= 0 {
		return e.caret + n
	}
	return len(e.text)
}

// Home and End go to the ends of the line; from there to those of the text.
func (e *Editor) Home() {
	e.moved()
	if at := e.lineStart(); at != e.caret {
		e.caret = at
	} else {
		e.caret = 0
	}
}

// End is the other way.
func (e *Editor) End() {
	e.moved()
	if at := e.lineEnd(); at != e.caret {
		e.caret = at
	} else {
		e.caret = len(e.text)
	}
}

// Erasing.

// Backspace erases the character before the caret.
func (e *Editor) Backspace() { e.cut(e.before(e.caret), e.caret, false) }

// Delete erases the one at the caret.
func (e *Editor) Delete() { e.cut(e.caret, e.caret+next(e.text[e.caret:]), false) }

// KillWord, KillBack, KillLine and KillStart erase to the end of the word, to
// its beginning, to the end of the line and to its beginning; Yank brings back
// what they erased last.
func (e *Editor) KillWord() { e.cut(e.caret, e.wordAfter(), true) }

// KillBack erases the word before the caret, up to a blank.
func (e *Editor) KillBack() {
	head := strings.TrimRightFunc(e.text[:e.caret], unicode.IsSpace)
	if i := strings.LastIndexFunc(head, func(r rune) bool { return unicode.IsSpace(r) || isPasted(r) }); i >= 0 {
		r, n := utf8.DecodeRuneInString(head[i:])
		if i += n; isPasted(r) && i == len(head) {
			i -= n
		}
		head = head[:i]
	} else {
		head = ""
	}
	e.cut(len(head), e.caret, true)
}

// KillWordBack erases to the beginning of the word.
func (e *Editor) KillWordBack() { e.cut(e.wordBefore(), e.caret, true) }

// KillLine erases to the end of the line, or the newline there.
func (e *Editor) KillLine() {
	end := e.lineEnd()
	if end == e.caret && end < len(e.text) {
		end++
	}
	e.cut(e.caret, end, true)
}

// KillStart erases to the beginning of the line.
func (e *Editor) KillStart() { e.cut(e.lineStart(), e.caret, true) }

func (e *Editor) cut(from, to int, keep bool) {
	if from >= to {
		return
	}
	joins := e.kills.joins
	e.change()
	if keep {
		e.kills.add(e.text[from:to], joins, to == e.caret)
	}
	e.text = e.text[:from] + e.text[to:]
	e.caret = from
}

// Before returns the word before the caret, if it begins with a sign such as @ and
// follows a blank, without the sign; ok is false without such a word.
func (e *Editor) Before(sign byte) (word string, ok bool) {
	head := e.text[:e.caret]
	at := strings.LastIndexAny(head, " \t\n") + 1
	if at < len(head) && head[at] == sign {
		return head[at+1:], true
	}
	return "", false
}

// Line is the text where it is one line and the caret at its end.
func (e *Editor) Line() (text string, ok bool) {
	return e.text, e.caret == len(e.text) && !strings.Contains(e.text, "\n")
}

// Complete puts a text in place of the last bytes before the caret.
func (e *Editor) Complete(bytes int, text string) {
	e.change()
	at := e.caret - bytes
	e.text = e.text[:at] + own(text) + e.text[e.caret:]
	e.caret = at + len(own(text))
}
