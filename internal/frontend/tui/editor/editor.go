// Package editor edits the prompt that a person is typing, and lays it out in rows. It
// knows no terminal and no session. Positions are bytes of the text.
//
// It promises that the caret is never within a character, that pasted text is returned
// unchanged, and that each change can be undone until the text is taken. In the text a
// long paste is one placeholder character, shown by its name.
package editor

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/plural"
)

// New returns an empty Editor.
func New() *Editor { return &Editor{goalColumn: -1} }

// Editor is a text with a caret, its undo steps, and the history of entered texts.
type Editor struct {
	// Indent is how many columns of the first row are not the text's.
	Indent int

	text  string
	caret int // in bytes
	// The i-th is firstPlaceholder+i in text.
	pasted       []Pasted
	recentPastes []Pasted // of texts that were taken, newest last

	undo, redo []state
	typing     bool // the last change typed a letter: the next letter belongs to the same undo step
	kills      kills
	goalColumn int // the column that up and down keep to; -1: the caret's

	history   []string // oldest first
	historyAt int      // the entry that is shown; len(history): none
	draft     string   // the text from before an entry was shown

	search *search
}

type state struct {
	text  string
	caret int
}

// Pasted is a long text, or an image, that a placeholder stands for.
type Pasted struct {
	Name, Text string
	Image      *llm.Media // nil for a text
}

const (
	firstPlaceholder = '\U000F2000' // of a private use plane: nobody types it
	maxUndo          = 500
	// A paste of more lines or bytes than these is shown by its name.
	shortLines = 8
	shortBytes = 1000
)

func isPlaceholder(r rune) bool { return r >= firstPlaceholder && r < firstPlaceholder+0x1000 }

// paste returns what a placeholder stands for, nil for other runes.
func (e *Editor) paste(r rune) *Pasted {
	if i := int(r - firstPlaceholder); isPlaceholder(r) && i < len(e.pasted) {
		return &e.pasted[i]
	}
	return nil
}

// Empty reports whether nothing was typed.
func (e *Editor) Empty() bool { return e.text == "" }

// Text returns the text, with all pastes in it.
func (e *Editor) Text() string {
	var b strings.Builder
	for _, r := range e.text {
		if p := e.paste(r); p != nil {
			b.WriteString(p.Text)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Images returns the images in the text, in their order.
func (e *Editor) Images() []llm.Media {
	var out []llm.Media
	for _, r := range e.text {
		if p := e.paste(r); p != nil && p.Image != nil {
			out = append(out, *p.Image)
		}
	}
	return out
}

// Pasted returns the long pastes in the text, in their order.
func (e *Editor) Pasted() []string {
	var out []string
	for _, r := range e.text {
		if p := e.paste(r); p != nil && p.Image == nil {
			out = append(out, p.Text)
		}
	}
	return out
}

// Take returns the text and begins another one.
func (e *Editor) Take() string {
	text := e.Text()
	e.rememberPastes()
	taken := Editor{history: e.history, historyAt: len(e.history), recentPastes: e.recentPastes, kills: e.kills.forNextText(), goalColumn: -1}
	if e.kills.hasPlaceholder() {
		taken.pasted = e.pasted
	}
	*e = taken
	return text
}

// Set replaces the text, as a change. A long text in it that was pasted before becomes a
// placeholder again.
func (e *Editor) Set(text string) {
	e.beforeChange()
	e.text = e.foldPastes(text)
	e.caret = len(e.text)
}

// Prepend puts a text before the present one, in lines of its own.
func (e *Editor) Prepend(text string) {
	rest := e.text
	e.Set(text)
	if rest != "" {
		e.text += "\n" + rest
	}
}

// sanitize replaces invalid UTF-8, and the runes of placeholders.
func sanitize(text string) string {
	return strings.Map(func(r rune) rune {
		if isPlaceholder(r) || r == utf8.RuneError {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// beforeChange must be called before each change: Undo goes back to the present state.
func (e *Editor) beforeChange() {
	e.moved()
	e.redo = nil
	e.pushUndo()
}

// pushUndo adds the present state to those that Undo goes back to.
func (e *Editor) pushUndo() {
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
	if text = sanitize(text); text == "" {
		return
	}
	if !e.typing || strings.TrimSpace(text) == "" {
		e.beforeChange()
	}
	e.insert(text)
	e.typing = strings.TrimSpace(text) != ""
}

func (e *Editor) insert(text string) {
	e.text = e.text[:e.caret] + text + e.text[e.caret:]
	e.caret += len(text)
	e.goalColumn = -1
}

// Paste inserts pasted text. A long text is shown as a placeholder.
func (e *Editor) Paste(text string) {
	text = sanitize(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"))
	if text == "" {
		return
	}
	e.beforeChange()
	if strings.Count(text, "\n") < shortLines && len(text) <= shortBytes || len(e.pasted) >= 0x1000 {
		e.insert(text)
		return
	}
	name := fmt.Sprintf("pasted text %d: %s", len(e.pasted)+1, plural.Of(strings.Count(strings.TrimRight(text, "\n"), "\n")+1, "line"))
	if mb := float64(len(text)) / 1e6; mb >= 0.1 {
		name += fmt.Sprintf(", %.1f MB", mb)
	}
	e.insert(e.addPaste(Pasted{Name: name, Text: text}))
}

// Attach inserts an image or a document. The text shows its name.
func (e *Editor) Attach(name string, m llm.Media) {
	if len(e.pasted) >= 0x1000 {
		return
	}
	e.beforeChange()
	name = fmt.Sprintf("%s %d: %s", m.Kind().Name(), len(e.pasted)+1, sanitize(name))
	e.insert(e.addPaste(Pasted{Name: name, Text: "[" + name + "]", Image: &m}))
}

// Undo undoes the last change.
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

// Redo repeats the change that Undo undid last.
func (e *Editor) Redo() {
	if n := len(e.redo); n > 0 {
		e.pushUndo()
		e.text, e.caret = e.redo[n-1].text, e.redo[n-1].caret
		e.redo = e.redo[:n-1]
	}
	e.moved()
}

// The caret.

// clusterLen returns the length of the grapheme cluster at the start of s.
func clusterLen(s string) int {
	if s == "" {
		return 0
	}
	c, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return max(1, len(c))
}

// plainByte reports whether a byte is a character that joins no other one.
func plainByte(c byte) bool { return c >= ' ' && c < 0x7f }

// before returns where the character before a position begins.
func (e *Editor) before(at int) int {
	line := strings.LastIndexByte(e.text[:at], '\n') + 1
	if line == at {
		return max(0, at-1)
	}
	if at-line > 1 && plainByte(e.text[at-1]) && plainByte(e.text[at-2]) {
		return at - 1
	}
	for i := line; ; {
		n := clusterLen(e.text[i:at])
		if i+n >= at {
			return i
		}
		i += n
	}
}

// Left moves the caret by a character.
func (e *Editor) Left() {
	e.moved()
	if e.caret > 0 {
		e.caret = e.before(e.caret)
	}
}

// Right moves the caret by a character.
func (e *Editor) Right() {
	e.moved()
	e.caret += clusterLen(e.text[e.caret:])
}

// moved must be called when the caret moves: an undo step and an erasure end.
func (e *Editor) moved() {
	e.typing, e.goalColumn = false, -1
	e.kills.reset()
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

func (e *Editor) wordBefore() int {
	head := strings.TrimRightFunc(e.text[:e.caret], func(r rune) bool { return !isWordRune(r) && !isPlaceholder(r) })
	if r, n := utf8.DecodeLastRuneInString(head); isPlaceholder(r) {
		return len(head) - n
	}
	return len(strings.TrimRightFunc(head, isWordRune))
}

func (e *Editor) wordAfter() int {
	tail := strings.TrimLeftFunc(e.text[e.caret:], func(r rune) bool { return !isWordRune(r) && !isPlaceholder(r) })
	if r, n := utf8.DecodeRuneInString(tail); isPlaceholder(r) {
		return len(e.text) - len(tail) + n
	}
	return len(e.text) - len(strings.TrimLeftFunc(tail, isWordRune))
}

// WordLeft moves the caret by a word.
func (e *Editor) WordLeft() { e.moved(); e.caret = e.wordBefore() }

// WordRight moves the caret by a word.
func (e *Editor) WordRight() { e.moved(); e.caret = e.wordAfter() }

func (e *Editor) lineStart() int { return strings.LastIndexByte(e.text[:e.caret], '\n') + 1 }

func (e *Editor) lineEnd() int {
	if n := strings.IndexByte(e.text[e.caret:], '\n'); n >= 0 {
		return e.caret + n
	}
	return len(e.text)
}

// Home moves the caret to the beginning of the line; from there to that of the text.
func (e *Editor) Home() {
	e.moved()
	if at := e.lineStart(); at != e.caret {
		e.caret = at
	} else {
		e.caret = 0
	}
}

// End moves the caret to the end of the line; from there to that of the text.
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

// Delete erases the character at the caret.
func (e *Editor) Delete() { e.cut(e.caret, e.caret+clusterLen(e.text[e.caret:]), false) }

// KillWord erases to the end of the word. Yank inserts what the Kill methods erased.
func (e *Editor) KillWord() { e.cut(e.caret, e.wordAfter(), true) }

// KillBack erases the word before the caret, up to a blank.
func (e *Editor) KillBack() {
	head := strings.TrimRightFunc(e.text[:e.caret], unicode.IsSpace)
	if i := strings.LastIndexFunc(head, func(r rune) bool { return unicode.IsSpace(r) || isPlaceholder(r) }); i >= 0 {
		r, n := utf8.DecodeRuneInString(head[i:])
		if i += n; isPlaceholder(r) && i == len(head) {
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

// cut erases a range; keep: so that Yank can insert it.
func (e *Editor) cut(from, to int, keep bool) {
	if from >= to {
		return
	}
	joins := e.kills.lastErased
	e.beforeChange()
	if keep {
		e.kills.add(e.text[from:to], joins, to == e.caret)
	}
	e.text = e.text[:from] + e.text[to:]
	e.caret = from
}

// Mention returns the word before the caret without its sign, if the word begins with
// sign, such as @.
func (e *Editor) Mention(sign byte) (word string, ok bool) {
	head := e.text[:e.caret]
	at := strings.LastIndexAny(head, " \t\n") + 1
	if at < len(head) && head[at] == sign {
		return head[at+1:], true
	}
	return "", false
}

// LineAtEnd returns the text; ok is true if it is one line with the caret at its end.
func (e *Editor) LineAtEnd() (text string, ok bool) {
	return e.text, e.caret == len(e.text) && !strings.Contains(e.text, "\n")
}

// Complete replaces the last bytes before the caret by text.
func (e *Editor) Complete(bytes int, text string) {
	e.beforeChange()
	at := e.caret - bytes
	e.text = e.text[:at] + sanitize(text) + e.text[e.caret:]
	e.caret = at + len(sanitize(text))
}
