package line

import (
	"context"
	"errors"
	"io"
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

// held is the terminal. While a line is read there, what else happens is kept.
type held struct {
	to   io.Writer
	on   bool
	kept []byte
}

func (h *held) Write(b []byte) (int, error) {
	if h.on {
		h.kept = append(h.kept, b...)
		return len(b), nil
	}
	return h.to.Write(b)
}

// release writes what was kept.
func (h *held) release() {
	if h.on = false; len(h.kept) > 0 {
		_, _ = h.to.Write(h.kept) // a terminal that is gone ends the next read
	}
	h.kept = nil
}

type reading struct {
	done chan struct{}
	text string
	err  error
}

// ask reads a line. It returns errEnded when the conversation ends first, errCut when cut is
// closed first, and ErrYield when something happened that is to be shown first: a turn that
// somebody began elsewhere, or an answer to what is asked.
func (c *conversation) ask(prompt string, read func(string) (string, error), cut <-chan struct{}) (string, error) {
	if c.hasEnded() {
		return "", errEnded
	}
	prompt = c.view.lastLine(prompt)
	c.waits(prompt)
	defer c.waits("")
	c.out.on = true
	defer c.out.release()
	for {
		r := &reading{done: make(chan struct{})}
		go func() {
			defer close(r.done)
			r.text, r.err = read(prompt)
		}()
		yields := c.watch(r.done, cut, prompt == more)
		select {
		case <-c.ended:
			_, _ = c.Config.Out.Write([]byte("\n"))
			return "", errEnded
		case <-cut:
			c.In.Yield()
			<-r.done
			return "", errCut
		default:
		}
		if yields {
			c.In.Yield()
			<-r.done
		}
		if errors.Is(r.err, ErrYield) && !yields {
			continue // an earlier Yield came after the line
		}
		c.fresh = c.fresh || yields
		return r.text, r.err
	}
}

// lastLine returns what the editor is to draw, which is one line: the rest of a prompt is
// printed above it.
func (v *view) lastLine(prompt string) string {
	v.end()
	text := plain.Wrap(prompt, v.width()-1, false)
	at := strings.LastIndexByte(text, '\n')
	if at < 0 {
		return prompt
	}
	v.write(text[:at+1])
	return text[at+1:]
}

// watch takes in what happens until a read is done, or is cut, which only an answer is.
// yields: something is to be shown first; blind: nothing is taken in.
func (c *conversation) watch(done, cut <-chan struct{}, blind bool) (yields bool) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		defer stop()
		select {
		case <-done:
		case <-cut:
		case <-c.ended:
		case <-ctx.Done():
		}
	}()
	for {
		q, open := c.chat.Question()
		switch {
		case blind:
			<-ctx.Done()
			return false
		case cut != nil && q.ID != c.asking, cut == nil && (open || len(c.out.kept) > 0):
			return true
		}
		changes, err := c.chat.Next(ctx)
		if ctx.Err() != nil && len(changes) == 0 {
			return false
		}
		if err != nil { // the next one returns it again
			return true
		}
		c.show(changes)
	}
}

func (c *conversation) waits(prompt string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.prompt = prompt
}
