package line

import (
	"bufio"
	"io"
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/frontend/tui/tty"
)

// cooked is the Input of a dumb terminal: the terminal edits its lines, echoes
// them, and turns the interrupt key into a signal. It reads the terminal all
// the time, so that it notices what is typed while nobody reads a line.
type cooked struct {
	out io.Writer
	tty *tty.Terminal

	mu    sync.Mutex
	more  chan struct{} // capacity 1: something came
	lines []string
	err   error
	take  func(line string) bool // see Input.Ahead; nil: nobody takes lines
	yield bool
}

func newCooked(in io.Reader, out io.Writer, t *tty.Terminal) *cooked {
	c := &cooked{out: out, tty: t, more: make(chan struct{}, 1)}
	go c.pump(bufio.NewReader(in))
	return c
}

// pump ends with the terminal, or with the process.
func (c *cooked) pump(in *bufio.Reader) {
	for {
		text, err := in.ReadString('\n')
		line := strings.TrimRight(text, "\r\n")
		c.mu.Lock()
		if (text != "" || err == nil) && (c.take == nil || !c.take(line)) {
			c.lines = append(c.lines, line)
		}
		c.err = err
		c.mu.Unlock()
		c.wake()
		if err != nil {
			return
		}
	}
}

func (c *cooked) wake() {
	select {
	case c.more <- struct{}{}:
	default:
	}
}

func (c *cooked) Yield() {
	c.mu.Lock()
	c.yield = true
	c.mu.Unlock()
	c.wake()
}

func (c *cooked) Line(prompt string) (string, error) {
	if _, err := io.WriteString(c.out, prompt); err != nil {
		return "", err
	}
	for {
		c.mu.Lock()
		if len(c.lines) > 0 {
			line := c.lines[0]
			c.lines = c.lines[1:]
			c.mu.Unlock()
			return line, nil
		}
		err := c.err
		if c.yield {
			c.yield, err = false, ErrYield // the terminal keeps what was typed
			_, _ = io.WriteString(c.out, "\n")
		}
		c.mu.Unlock()
		if err != nil {
			return "", err
		}
		<-c.more
	}
}

func (c *cooked) Answer(prompt string) (string, error) {
	c.Drop()
	take := c.hear(nil) // what is typed now is the answer
	defer func() { c.hear(take) }()
	return c.Line(prompt)
}

func (c *cooked) Drop() {
	c.tty.Flush()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = nil
}

func (c *cooked) Ahead(take func(string) bool) (stop func()) {
	c.hear(take)
	return func() { c.hear(nil) }
}

// hear sets who gets lines, and returns who got them before.
func (c *cooked) hear(take func(string) bool) (was func(string) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	was, c.take = c.take, take
	return was
}

func (c *cooked) Prefill(string) bool { return false }
