package line

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// keys is between the terminal and the line editor, which knows single lines
// and no paste. Pasted text (bracketed paste) becomes one entry, however many
// lines it has: a newline inside an entry is newlineMark until the entry is
// done, and a long paste is shown as a label.
//
// It reads the terminal all the time, so that it knows what was typed before a
// question was asked. It passes on one byte at a time, so that the editor keeps
// nothing between two lines.
type keys struct {
	mu     sync.Mutex
	more   chan struct{} // capacity 1: something came
	raw    []byte        // received, not examined
	ready  []byte        // for the editor
	answer []byte        // of the terminal to the editor, which waits for it; never dropped
	aside  []byte        // typed before a question was asked
	paste  []byte
	inside bool // of a paste
	err    error

	pastes []string // long ones, by label

	take   func(line string) bool // see Ahead; nil: nobody wants to know
	asking bool                   // a question is open: what is typed is its answer

	editing, yields bool // a line is edited, and ends

	// escapeTimer ends the wait for more input after an escape.
	escapeTimer func() <-chan time.Time
}

const (
	// newlineMark replaces a newline inside an entry; newlineShown is drawn for
	// it. It is a code point for private use that nobody types.
	newlineMark  = '\U000F10A0'
	newlineShown = '⏎'

	pasteBegins = "\x1b[200~"
	pasteEnds   = "\x1b[201~"

	// shortPaste is how many characters a paste may have to be shown.
	shortPaste = 1000
	// loneEscape is how long an escape may be the beginning of a key: after
	// that it was the Escape key, which has no effect here.
	loneEscape = 50 * time.Millisecond
	// typedAhead limits how much typed input is kept, in bytes.
	typedAhead = 8 << 20
)

func newKeys(in io.Reader) *keys {
	k := &keys{
		more:        make(chan struct{}, 1),
		escapeTimer: func() <-chan time.Time { return time.After(loneEscape) },
	}
	go k.pump(in)
	return k
}

// pump ends with the terminal, or with the process.
func (k *keys) pump(in io.Reader) {
	buf := make([]byte, 4096)
	for {
		n, err := in.Read(buf)
		k.mu.Lock()
		if len(k.raw)+n <= typedAhead {
			k.raw = append(k.raw, buf[:n]...)
		}
		k.err = err
		k.raw = k.withoutTaken(k.raw)
		k.mu.Unlock()
		k.wake()
		if err != nil {
			return
		}
	}
}

func (k *keys) wake() {
	select {
	case k.more <- struct{}{}:
	default:
	}
}

// Read returns the next byte for the editor.
func (k *keys) Read(p []byte) (int, error) {
	var late <-chan time.Time
	for {
		k.mu.Lock()
		for len(k.ready) == 0 && k.step(false) {
		}
		from := &k.ready
		if len(k.answer) > 0 {
			from = &k.answer
		}
		if len(*from) > 0 {
			p[0] = (*from)[0]
			*from = (*from)[1:]
			k.mu.Unlock()
			return 1, nil
		}
		err, waits := k.err, len(k.raw) > 0 && !k.inside
		k.mu.Unlock()
		if err != nil {
			return 0, err
		}
		if waits && late == nil {
			late = k.escapeTimer()
		}
		select {
		case <-k.more:
		case <-late:
			k.mu.Lock()
			k.step(true)
			k.mu.Unlock()
			late = nil
		}
	}
}

// step takes the next key or paste from raw; false: more input is needed. With
// late set nothing more belongs to it.
func (k *keys) step(late bool) bool {
	switch {
	case len(k.raw) == 0:
		return false
	case k.inside:
		return k.inPaste()
	case k.raw[0] != 0x1b:
		k.ready, k.raw = append(k.ready, k.raw[0]), k.raw[1:]
	case bytes.HasPrefix(k.raw, []byte(pasteBegins)):
		k.inside, k.raw = true, k.raw[len(pasteBegins):]
	case len(k.raw) == 1 && late:
		k.raw = nil
	case !late && strings.HasPrefix(pasteBegins, string(k.raw)):
		return false
	case len(k.raw) > 1 && (k.raw[1] == '\r' || k.raw[1] == '\n'): // Alt+Enter
		k.ready, k.raw = utf8.AppendRune(k.ready, newlineMark), k.raw[2:]
	default:
		k.ready, k.raw = append(k.ready, k.raw[0]), k.raw[1:]
	}
	return true
}

func (k *keys) inPaste() bool {
	text, rest, ended := bytes.Cut(k.raw, []byte(pasteEnds))
	if !ended {
		// The end may be split: keep as much as could belong to it.
		keep := len(pasteEnds) - 1
		for !bytes.HasSuffix(k.raw, []byte(pasteEnds[:keep])) {
			keep--
		}
		k.paste = append(k.paste, k.raw[:len(k.raw)-keep]...)
		k.raw = k.raw[len(k.raw)-keep:]
		return false
	}
	k.ready = append(k.ready, k.entry(string(append(k.paste, text...)))...)
	k.inside, k.paste, k.raw = false, nil, rest
	return true
}

// typed returns the form in the line of a text that pawl inserts.
func (k *keys) typed(text string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.entry(text)
}

// entry returns the form in the line of a pasted text.
func (k *keys) entry(text string) string {
	text = printable(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text))
	text = strings.TrimRight(text, "\n")
	if utf8.RuneCountInString(text) <= shortPaste {
		return strings.ReplaceAll(text, "\n", string(newlineMark))
	}
	k.pastes = append(k.pastes, text)
	return k.label(len(k.pastes) - 1)
}

func (k *keys) label(i int) string {
	return fmt.Sprintf("[pasted text %d: %d lines, %d characters]", i+1, strings.Count(k.pastes[i], "\n")+1, utf8.RuneCountInString(k.pastes[i]))
}

// text returns an entry with its newlines and long pastes restored.
func (k *keys) text(entry string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.expanded(entry)
}

// expanded is text for callers that hold mu.
func (k *keys) expanded(entry string) string {
	var pairs []string
	for i := range k.pastes {
		pairs = append(pairs, k.label(i), k.pastes[i])
	}
	return strings.NewReplacer(append(pairs, string(newlineMark), "\n")...).Replace(entry)
}

// reply inserts a terminal's answer before everything else. The editor asks when a line
// begins.
func (k *keys) reply(s string) {
	k.mu.Lock()
	k.answer, k.editing = append(k.answer, s...), true
	k.endLine()
	k.mu.Unlock()
	k.wake()
}

// yield ends the line that is edited, or the next one.
func (k *keys) yield() {
	k.mu.Lock()
	k.yields = true
	k.endLine()
	k.mu.Unlock()
	k.wake()
}

// endLine ends a line that is to end, with the interrupt key, twice: the first one may only
// end a search in the history. Callers hold mu.
func (k *keys) endLine() {
	if k.editing && k.yields {
		k.answer = append(k.answer, "\x03\x03"...)
	}
}

// yielded reports whether yield was called since the last time, when no line is edited.
func (k *keys) yielded() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	yields := k.yields
	k.editing, k.yields, k.answer = false, false, nil
	return yields
}

// retype is as if a text were typed next.
func (k *keys) retype(text string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.raw, k.ready = slices.Concat([]byte(text), k.ready, k.raw), nil
}

// setAside keeps typed input for later; putBack restores it.
func (k *keys) setAside() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.aside = append(append(k.aside, k.ready...), k.raw...)
	k.ready, k.raw = nil, nil
	k.asking = true
}

func (k *keys) putBack() {
	k.mu.Lock()
	k.raw = append(k.aside, k.raw...)
	k.aside, k.asking = nil, false
	k.mu.Unlock()
	k.wake()
}

// drop discards typed input.
func (k *keys) drop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.raw, k.ready, k.aside, k.paste, k.inside = nil, nil, nil, nil, false
}

// printable removes control characters: the line editor echoes its input.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
