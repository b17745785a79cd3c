package line

import (
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
)

// This file is the interrupt ladder (SPEC 10.3). While a line is edited the
// interrupt key comes from Input as ErrInterrupt; while something runs, and on
// a dumb terminal, it comes as a signal. Both press the same ladder.

// How long what runs may take to end in order: after a signal, and after three
// interrupts at once. Processes are killed well within the second.
const (
	signalGrace = 5 * time.Second
	abortGrace  = time.Second
)

// pressed takes an interrupt; its error reports that it means to leave.
func (c *conversation) pressed(input bool) error {
	switch c.talk.Press(input) {
	case lifecycle.Cancel:
		c.In.Drop() // what was typed ahead was for what is now cancelled
		c.cuts(nil)
	case lifecycle.Confirm:
		c.say("press Ctrl+C again to leave")
	case lifecycle.Exit:
		return errLeft
	case lifecycle.Abort:
		c.leave("SIGINT", abortGrace)
		return errGone
	}
	return nil
}

// say says something beside what In waits for.
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

// watch takes signals.
func (c *conversation) watch(done <-chan struct{}) {
	for {
		select {
		case name := <-c.Signals:
			if name != "SIGINT" {
				c.leave(name, signalGrace)
			} else if c.pressed(false) == errLeft {
				c.leave("", signalGrace)
			}
		case <-done:
			return
		}
	}
}

// leave ends the conversation; only the first time counts.
func (c *conversation) leave(by string, grace time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isGone() {
		c.stop() // asked again: nothing is waited for
		return
	}
	c.by = by
	c.talk.Interrupt(by)
	time.AfterFunc(grace, c.stop)
	close(c.gone)
}

func (c *conversation) isGone() bool {
	select {
	case <-c.gone:
		return true
	default:
		return false
	}
}

// close closes the session. Where the conversation was ended from outside it
// waits only so long: what is stored is safe at any moment.
func (c *conversation) close() {
	if again := c.talk.Again(); again != "" {
		c.view.line("pawl: to go on with this session: " + again)
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		c.talk.Close()
	}()
	select {
	case <-closed:
	case <-c.late.Done():
	}
}

// cuts sets what an interrupt closes while a question is asked, and closes what
// was set before.
func (c *conversation) cuts(cut chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut != nil {
		close(c.cut)
	}
	c.cut = cut
}

// entry is what a read of In returned.
type entry struct {
	text string
	err  error
}

// ask reads a line. It returns errGone when the conversation ends first, and
// errCut when cut is closed first; the read then goes on, and the next ask
// takes what it returns.
func (c *conversation) ask(prompt string, read func(string) (string, error), cut <-chan struct{}) (string, error) {
	if c.isGone() {
		return "", errGone
	}
	c.view.end()
	// The editor draws one line: what does not fit stands above it.
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
	case <-c.gone:
		c.view.line("")
		return "", errGone
	}
}

func (c *conversation) waits(prompt string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.prompt = prompt
}
