// Package agentsdk lets a program hold a conversation with pawl over pipes, a
// line of JSON for each message, in the schema of Claude Code's stream-json:
// what the Claude Agent SDK and scripts around `claude -p` write and read
// (ADR 021). pawl's own stream is package headless.
//
// It promises that every turn ends with one line of type result; that every
// request of the program is answered, with an error where pawl has no such
// thing; that what the program allows runs as it was asked for, or not at all;
// and that nothing is asked of a program that did not say that it answers
// questions: then what needs a permission is denied, as in every run without a
// person.
package agentsdk

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/headless"
)

// Setup is what the program wants of the session before it is opened.
type Setup struct {
	System string // in the place of pawl's own instructions, "" for them
	Append string // behind the instructions
}

// Options of a conversation.
type Options struct {
	// Prompt, if set, is the only one: In is not read.
	Prompt, Piped string

	In  io.Reader
	Out io.Writer
	Err io.Writer // what a person should know; never part of the stream

	// Open opens the session. It is called once, at the first message that needs
	// one.
	Open func(context.Context, Setup) (*session.Session, error)
	// Ask: the program answers questions about permissions.
	Ask bool
	// Partial: replies are streamed in pieces, too.
	Partial bool

	Version string
	Timeout time.Duration // 0: none
	Now     func() time.Time
	// Signals yields the names of signals as they come; each interrupts, and ends
	// the conversation after the turn.
	Signals <-chan string
}

// talk is one conversation. All of it belongs to one goroutine: what comes from
// outside comes by channels.
type talk struct {
	Options
	ctx context.Context
	w   *writer

	setup  Setup
	s      *session.Session
	events chan eventOrError

	accepted chan error // of the prompt that is being submitted
	sending  bool
	prompts  []session.Prompt // that wait for the one before to be submitted

	submitted int             // prompts that no Prompted was seen of
	running   bool            // a turn
	calls     map[string]call // open ones, by id
	last      string          // the call that was started last
	open      map[string]ask  // questions to the program, by request
	answers   map[string]*sheet
	changes   map[int64]string // requests that wait for the end of an operation
	requests  int

	model string // that the session began with
	end   string // the signal that ends the conversation
	code  int
}

type eventOrError struct {
	e   event.Event
	err error
}

// call is what is known of an open call.
type call struct {
	tool string
	args json.RawMessage
}

// Run holds the conversation until the program closes its side and nothing runs
// any more. It returns the exit code of the last turn. An error means that the
// conversation could not go on; where a turn ran, its end is recorded.
func Run(ctx context.Context, o Options) (code int, err error) {
	// What ends ctx interrupts the turn; its end is still to be seen.
	own, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	t := &talk{
		Options: o, ctx: own, events: make(chan eventOrError), accepted: make(chan error, 1),
		calls: map[string]call{}, open: map[string]ask{}, answers: map[string]*sheet{}, changes: map[int64]string{},
	}
	t.w = newWriter(o.Out, o.Version, o.Partial)
	lines := make(chan line)
	if o.Prompt != "" {
		close(lines)
		t.prompt(session.Prompt{Text: o.Prompt, Piped: o.Piped})
	} else {
		go read(own, o.In, lines)
	}
	err = t.loop(lines, ctx.Done())
	if t.s != nil {
		err = cmp.Or(t.s.Close(), err)
	}
	return t.code, cmp.Or(t.w.err, err)
}

// loop takes what comes. The end of stopped ends the conversation.
func (t *talk) loop(lines <-chan line, stopped <-chan struct{}) error {
	var limit <-chan time.Time
	if t.Timeout > 0 {
		timer := time.NewTimer(t.Timeout)
		defer timer.Stop()
		limit = timer.C
	}
	for {
		if t.w.err != nil {
			return nil // nobody reads any more
		}
		if (lines == nil || t.end != "") && !t.busy() {
			return nil
		}
		select {
		case l, more := <-lines:
			if !more {
				lines = nil
				t.alone()
				continue
			}
			if err := t.read(l); err != nil {
				return err
			}
		case e := <-t.events:
			if e.err != nil {
				return e.err
			}
			t.see(e.e)
		case err := <-t.accepted:
			t.took(err)
		case sig := <-t.Signals:
			t.stop(sig)
		case <-limit:
			t.stop("timeout")
		case <-stopped:
			stopped = nil
			t.stop("SIGTERM")
		}
	}
}

// busy reports whether a turn runs, or is about to.
func (t *talk) busy() bool {
	return t.running || t.sending || t.submitted > 0 || len(t.prompts) > 0 || len(t.changes) > 0
}

// stop ends the conversation after what runs, which is interrupted.
func (t *talk) stop(by string) {
	t.end, t.prompts = by, nil
	t.code = headless.CodeOf(event.EndInterrupted, by)
	if t.s != nil {
		_, _ = t.s.Submit(t.ctx, session.Interrupt{By: by})
	}
}

// session returns the session, and opens it where it is not yet.
func (t *talk) session() (*session.Session, error) {
	if t.s != nil {
		return t.s, nil
	}
	s, err := t.Open(t.ctx, t.setup)
	if err != nil {
		return nil, err
	}
	t.s = s
	t.model = s.View().Info().Ref()
	t.w.opened(s)
	go func() {
		for e, err := range s.Events(t.ctx, 0) {
			select {
			case t.events <- eventOrError{e, err}:
			case <-t.ctx.Done():
				return
			}
		}
	}()
	return s, nil
}

// prompt submits a prompt. Hooks may take their time about it: nothing waits for
// that but the next prompt.
func (t *talk) prompt(p session.Prompt) {
	if t.end != "" {
		return
	}
	if t.sending {
		t.prompts = append(t.prompts, p)
		return
	}
	s, err := t.session()
	if err != nil {
		t.refused(err)
		return
	}
	t.sending = true
	t.submitted++
	go func() {
		_, err := s.Submit(t.ctx, p)
		t.accepted <- err
	}()
}

// took is told what became of a prompt.
func (t *talk) took(err error) {
	t.sending = false
	if err != nil {
		t.submitted--
		t.refused(err)
	}
	if len(t.prompts) > 0 {
		p := t.prompts[0]
		t.prompts = t.prompts[1:]
		t.prompt(p)
	}
}

// refused ends a prompt that no turn could be made of.
func (t *talk) refused(err error) {
	t.code = 1
	if fault.CategoryOf(err) == fault.Configuration {
		t.code = 3
	}
	text := err.Error()
	if f := (*fault.Error)(nil); errors.As(err, &f) && f.Hint != "" {
		text += " (" + f.Hint + ")"
	}
	t.w.failed(text)
}

// see takes an event. What was before this process tells only what the session is
// made of.
func (t *talk) see(e event.Event) {
	if e.Seq > 0 && e.Seq <= t.w.began {
		t.w.made(e.Body)
		return
	}
	switch b := e.Body.(type) {
	case event.Prompted:
		if b.Source == event.Person {
			t.submitted = max(t.submitted-1, 0)
		}
		if !t.running {
			t.running = true
			t.w.begins(t.Now())
		}
	case event.CallAsked:
		t.calls[b.ID] = call{b.Tool, b.Args}
	case event.CallStarted:
		t.last = b.ID
	case event.CallDone:
		delete(t.calls, b.ID)
	case event.Asked:
		t.ask(b)
	case event.Interrupted:
		t.withdraw()
	case event.OpDone:
		t.changed(e.Cause, b)
	case event.Ended:
		t.running = false
		t.withdraw()
		if t.end == "" {
			t.code = headless.CodeOf(b.End, "")
		}
	}
	t.w.event(e)
	if b, ok := e.Body.(event.Ended); ok {
		t.w.result(b, t.Now())
	}
}

// say tells a person something that is no part of the stream.
func (t *talk) say(format string, a ...any) { fmt.Fprintf(t.Err, "pawl: "+format+"\n", a...) }
