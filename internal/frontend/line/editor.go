package line

import (
	"errors"
	"io"
	"strings"

	"github.com/ergochat/readline"

	"github.com/pawl-agent/pawl/internal/frontend/history"
)

// editor is the Input of a terminal that understands escape codes: editing
// with the keys of readline, history, paste.
type editor struct {
	rl      *readline.Instance
	keys    *keys
	tty     *tty
	out     io.Writer
	history *history.File
	input   string // the content of the input while it is edited
	fill    string // the beginning of the next entry
}

// Codes that switch bracketed paste on and off.
const (
	pasteOn  = "\x1b[?2004h"
	pasteOff = "\x1b[?2004l"
)

func newEditor(in io.Reader, out io.Writer, t *tty, h *history.File, past []string) (*editor, error) {
	e := &editor{keys: newKeys(in), tty: t, out: out, history: h}
	rl, err := readline.NewFromConfig(&readline.Config{
		Stdin: e.keys, Stdout: screen{out, e.keys}, Stderr: out,
		FuncIsTerminal: func() bool { return true },
		FuncMakeRaw:    t.raw, FuncExitRaw: t.quiet,
		FuncGetSize:     func() (int, int) { return size(out) },
		InterruptPrompt: "\n", EOFPrompt: "\n", // none
		HistoryLimit: history.Kept, HistorySearchFold: true, DisableAutoSaveHistory: true, Undo: true,
		Painter: displayLine,
		Listener: func(line []rune, _ int, key rune) ([]rune, int, bool) {
			if key != 0 { // else it begins, with what is filled in
				e.input = string(line)
			}
			return nil, 0, false
		},
		FuncFilterInputRune: func(r rune) (rune, bool) {
			if r == readline.CharCtrlZ {
				t.suspend()
				return 0, false
			}
			return r, true
		},
	})
	if err != nil {
		return nil, err
	}
	for _, entry := range past {
		_ = rl.SaveToHistory(strings.ReplaceAll(entry, "\n", string(newlineMark))) // in memory
	}
	e.rl = rl
	return e, nil
}

// displayLine replaces marks by what is shown for them.
func displayLine(line []rune, _ int) []rune {
	out := make([]rune, len(line))
	for i, r := range line {
		if r == newlineMark {
			r = newlineShown
		}
		out[i] = r
	}
	return out
}

func (e *editor) Line(prompt string) (string, error) {
	fill := e.fill
	e.fill = ""
	line, err := e.read(prompt, fill)
	if errors.Is(err, ErrYield) {
		e.keys.retype(line)
		return "", err
	}
	if err != nil {
		return line, err
	}
	text := e.keys.text(line)
	_ = e.rl.SaveToHistory(line) // in memory
	if text != "" {
		e.history.Add(text)
	}
	return text, nil
}

func (e *editor) Answer(prompt string) (string, error) {
	e.keys.setAside()
	defer e.keys.putBack()
	line, err := e.read(prompt, "")
	_ = e.rl.SaveToHistory("") // the next entry starts at the newest one again
	return e.keys.text(line), err
}

func (e *editor) Yield() { e.keys.yield() }

func (e *editor) read(prompt, fill string) (string, error) {
	if e.keys.yielded() {
		return fill, ErrYield
	}
	e.rl.SetPrompt(prompt)
	_, _ = io.WriteString(e.out, pasteOn) // a terminal that is gone ends the read
	if fill != "" {
		e.rl.SetDefault(fill)
	}
	e.input = fill
	line, err := e.rl.ReadLine()
	yields := e.keys.yielded()
	_, _ = io.WriteString(e.out, pasteOff)
	if errors.Is(err, readline.ErrInterrupt) && yields {
		return e.input, ErrYield
	}
	if errors.Is(err, readline.ErrInterrupt) {
		return e.keys.text(e.input), ErrInterrupt
	}
	return line, err
}

func (e *editor) Drop() {
	e.tty.flush()
	e.keys.drop()
}

func (e *editor) close() {
	_ = e.rl.Close() // restore undoes what it does to the terminal
	_, _ = io.WriteString(e.out, pasteOff)
}

// screen is the terminal for the line editor's output. The editor asks for the
// position of the cursor and would wait for ever on a terminal that does not
// answer; screen answers, since a prompt always starts its line.
type screen struct {
	io.Writer
	keys *keys
}

func (s screen) Write(p []byte) (int, error) {
	switch string(p) {
	case "\x1b[6n":
		s.keys.reply("\x1b[1;1R")
		return len(p), nil
	case " \b": // before it asks
		return len(p), nil
	}
	return s.Writer.Write(p)
}
