//go:build !(darwin || freebsd || linux || netbsd || openbsd)

package line

import (
	"io"
	"os"

	"golang.org/x/term"
)

// tty is the state of the terminal.
type tty struct {
	fd    int
	first *term.State // nil: none
}

func openTTY(in io.Reader) (*tty, error) {
	f, ok := in.(*os.File)
	if !ok {
		return &tty{}, nil
	}
	first, err := term.GetState(int(f.Fd()))
	return &tty{fd: int(f.Fd()), first: first}, err
}

func (t *tty) raw() error {
	if t.first == nil {
		return nil
	}
	_, err := term.MakeRaw(t.fd)
	return err
}

// quiet has no words here: the terminal is as it was found.
func (t *tty) quiet() error { return t.restore() }

func (t *tty) restore() error {
	if t.first == nil {
		return nil
	}
	return term.Restore(t.fd, t.first)
}

func (t *tty) suspend() {}
func (t *tty) flush()   {}
