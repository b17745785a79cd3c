package line

import (
	"bufio"
	"io"
	"strings"
)

// cooked is the Input of a dumb terminal: the terminal edits its lines, echoes
// them, and makes a signal of the interrupt key.
type cooked struct {
	in  *bufio.Reader
	out io.Writer
	tty *tty
}

func newCooked(in io.Reader, out io.Writer, t *tty) *cooked {
	return &cooked{in: bufio.NewReader(in), out: out, tty: t}
}

// Line is part of Input.
func (c *cooked) Line(prompt string) (string, error) {
	if _, err := io.WriteString(c.out, prompt); err != nil {
		return "", err
	}
	text, err := c.in.ReadString('\n')
	if err == io.EOF && text != "" {
		err = nil // the next read says it again
	}
	return strings.TrimRight(text, "\r\n"), err
}

// Answer is part of Input.
func (c *cooked) Answer(prompt string) (string, error) {
	c.tty.flush()
	_, _ = c.in.Discard(c.in.Buffered()) // what is buffered can be discarded
	return c.Line(prompt)
}

// Drop is part of Input.
func (c *cooked) Drop() { c.tty.flush() }
