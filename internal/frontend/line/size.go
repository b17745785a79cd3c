package line

import (
	"io"
	"os"

	"golang.org/x/term"
)

// size returns the size of the terminal in characters, or the usual size if it
// is not known.
func size(out io.Writer) (width, height int) {
	f, ok := out.(*os.File)
	if !ok {
		return 80, 24
	}
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 80, 24
	}
	return width, height
}
