package line

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/ergochat/readline"
)

// Terminal is the Input of a real terminal, with editing and a history that is
// kept in a file.
type Terminal struct{ rl *readline.Instance }

// NewTerminal opens the terminal; history "" keeps none.
func NewTerminal(in io.Reader, out io.Writer, history string) (*Terminal, error) {
	if history != "" {
		// The file is made here so that it is nobody else's to read.
		if err := os.MkdirAll(filepath.Dir(history), 0o700); err != nil {
			return nil, err
		}
		f, err := os.OpenFile(history, os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, err
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	rl, err := readline.NewFromConfig(&readline.Config{
		Stdin: in, Stdout: out, Stderr: out, HistoryFile: history, HistorySearchFold: true,
		InterruptPrompt: "\n", EOFPrompt: "\n", Undo: true, DisableAutoSaveHistory: true,
	})
	if err != nil {
		return nil, err
	}
	return &Terminal{rl: rl}, nil
}

// Line is part of Input.
func (t *Terminal) Line(prompt string) (string, error) {
	t.rl.SetPrompt(prompt)
	line, err := t.rl.ReadLine()
	if errors.Is(err, readline.ErrInterrupt) {
		return line, ErrInterrupt
	}
	if err == nil && line != "" && prompt == entryPrompt {
		_ = t.rl.SaveToHistory(line) // a history that cannot be written is not worth an error
	}
	return line, err
}

// Close gives the terminal back.
func (t *Terminal) Close() error { return t.rl.Close() }
