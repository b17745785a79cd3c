package cli

import (
	"bytes"
	"io"
	"os"
	"time"
)

// patience is how long a pipe that is given besides a prompt argument may stay silent
// before the run continues without it: the caller may hold a pipe open and never write
// to it.
const patience = 3 * time.Second

// inputWaits reports whether standard input is read although a prompt was
// given: it is a file, or a pipe with data.
func (a *App) inputWaits() bool {
	f, ok := a.In.(*os.File)
	if !ok {
		return a.In != nil
	}
	st, err := f.Stat()
	if err != nil || st.Mode()&os.ModeCharDevice != 0 {
		return false
	}
	if st.Mode().IsRegular() {
		return true
	}
	first := make(chan []byte, 1)
	go func() {
		b := make([]byte, 1)
		n, _ := f.Read(b) // an error counts as empty input
		first <- b[:n]
	}()
	select {
	case b := <-first:
		a.In = io.MultiReader(bytes.NewReader(b), f)
		return len(b) > 0
	case <-time.After(patience):
		return false
	}
}

// keyboard reports whether standard input is a terminal: a run must not wait for it.
func keyboard(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return in == nil
	}
	st, err := f.Stat()
	return err != nil || st.Mode()&os.ModeCharDevice != 0
}
