package line

import (
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
)

// This file is the escalation of interrupts (SPEC 10.3). While a line is edited
// the interrupt key comes from Input as ErrInterrupt; while something runs, and
// on a dumb terminal, it comes as a signal. Both are handled alike.

// How long running work may take to end in order: after a signal, and after
// three interrupts in a row. Processes are killed well within the second.
const (
	signalGrace = 5 * time.Second
	abortGrace  = time.Second
)

// interruptPressed handles an interrupt; its error means to exit.
func (c *conversation) interruptPressed(input bool) error {
	switch c.chat.Press(input) {
	case lifecycle.Cancel:
		c.In.Drop() // before the prompt is back: what comes after it is for the prompt
		c.chat.Interrupt("person")
		c.cuts(nil)
	case lifecycle.Confirm:
		c.say("press Ctrl+C again to leave")
	case lifecycle.Exit:
		return errLeft
	case lifecycle.Abort:
		c.leave("SIGINT", abortGrace)
		return errEnded
	}
	return nil
}

// say shows a text while In waits.
func (c *conversation) say(text string) {
	c.mu.Lock()
	prompt := c.prompt
	c.mu.Unlock()
	if prompt != "" {
		text = "\n" + text + "\n" + prompt
	} else {
		text += "\n"
	}
	_, _ = c.Config.Out.Write([]byte(text)) // a terminal that is gone ends the next read
}

// handleSignals handles signals.
func (c *conversation) handleSignals(done <-chan struct{}) {
	for {
		select {
		case name := <-c.Signals:
			if name != "SIGINT" {
				c.leave(name, signalGrace)
			} else if c.interruptPressed(false) == errLeft {
				c.leave("", signalGrace)
			}
		case <-done:
			return
		}
	}
}

// leave ends the conversation; only the first call counts.
func (c *conversation) leave(by string, grace time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hasEnded() {
		c.stop() // a second time: wait for nothing
		return
	}
	c.by = by
	c.chat.Interrupt(by)
	time.AfterFunc(grace, c.stop)
	close(c.ended)
}

func (c *conversation) hasEnded() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// close closes the session. If the conversation was ended from outside, it
// waits only for a limited time: stored events are always safe.
func (c *conversation) close() {
	if again := c.chat.ResumeCommand(); again != "" {
		c.view.line("pawl: to continue this session: " + again)
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		c.chat.Close()
	}()
	select {
	case <-closed:
	case <-c.late.Done():
	}
}

// cuts sets the channel that an interrupt closes while a question is asked, and
// closes the previous one.
func (c *conversation) cuts(cut chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut != nil {
		close(c.cut)
	}
	c.cut = cut
}

// entry is the result of a read of In.
type entry struct {
	text string
	err  error
}

// ask reads a line. It returns errGone when the conversation ends first, and
// errCut when cut is closed first; the read then continues, and the next ask
// takes its result.
func (c *conversation) ask(prompt string, read func(string) (string, error), cut <-chan struct{}) (string, error) {
	if c.hasEnded() {
		return "", errEnded
	}
	c.view.end()
	// The editor draws one line: the rest of the prompt is printed above it.
	if at := strings.LastIndexByte(plain.Wrap(prompt, c.view.width()-1, false), '\n'); at >= 0 {
		prompt = plain.Wrap(prompt, c.view.width()-1, false)
		c.view.write(prompt[:at+1])
		prompt = prompt[at+1:]
	}
	c.waits(prompt)
	defer c.waits("")
	if c.reading == nil {
		got := make(chan entry, 1)
		go func() {
			text, err := read(prompt)
			got <- entry{text, err}
		}()
		c.reading = got
	} else {
		_, _ = c.Config.Out.Write([]byte(prompt)) // see say
	}
	select {
	case e := <-c.reading:
		c.reading = nil
		return e.text, e.err
	case <-cut:
		c.view.line("")
		return "", errCut
	case <-c.ended:
		c.view.line("")
		return "", errEnded
	}
}

func (c *conversation) waits(prompt string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.prompt = prompt
}
