package event

import "github.com/pawl-agent/pawl/internal/core/llm"

// Answer is the one place that says what the model answered: the text of its last reply.
// A reply that was cut at the output limit, or that paused, goes on in the next one: their
// texts are one answer, joined as they were written. The zero value is no answer yet.
type Answer struct {
	text   string
	before int  // how much of text is of the replies that the last one continues, in bytes
	goesOn bool // the next reply continues text
}

// Apply applies an event.
func (a *Answer) Apply(b Body) {
	switch b := b.(type) {
	case Replied:
		if !a.goesOn {
			a.text = ""
		}
		m := b.Reply.Message
		a.before = len(a.text)
		a.text += m.Text()
		a.goesOn = (b.Reply.Stop == llm.StopLength || b.Reply.Stop == llm.StopPaused) && len(m.Calls()) == 0
	case Prompted, Ended:
		a.goesOn = false // what follows answers something else
	}
}

// Text returns the answer, "" if the last reply has no text and continues none.
func (a *Answer) Text() string { return a.text }

// Before returns the part of the answer that the last reply continues.
func (a *Answer) Before() string { return a.text[:a.before] }
