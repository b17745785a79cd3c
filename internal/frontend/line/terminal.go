package line

import (
	"io"
	"os"

	"github.com/pawl-agent/pawl/internal/frontend/history"
	"github.com/pawl-agent/pawl/internal/frontend/tui/tty"
)

// Terminal is the Input of a real terminal. Close restores the terminal's state.
type Terminal struct {
	Input
	tty *tty.Terminal
	end func()
}

// NewTerminal opens the terminal that in and out are; path is the file in which
// entries are kept, "" keeps none. A terminal that is called dumb (TERM=dumb,
// or none) edits lines by itself and gets no escape codes.
func NewTerminal(in *os.File, out io.Writer, path string) (*Terminal, error) {
	t, err := tty.Open(in, nil)
	if err != nil {
		return nil, err
	}
	if name := os.Getenv("TERM"); name == "" || name == "dumb" {
		return &Terminal{Input: newCooked(in, out, t), tty: t, end: func() {}}, nil
	}
	h, past, err := history.Open(path)
	if err != nil {
		return nil, err
	}
	end := func() { _, _ = io.WriteString(out, pasteOff) } // Close does the rest
	return &Terminal{Input: newPrompt(in, out, t, h, past), tty: t, end: end}, nil
}

// Close restores the terminal. It may be called while a line is read, and more than once.
func (t *Terminal) Close() error {
	t.end()
	return t.tty.Close()
}
