// Package window turns a session's events into the next request: a fold that
// keeps the conversation as messages, and a builder that encodes each part
// once and appends it, so that every request is a prefix of the next
// (SPEC 9.4).
//
// It promises that every call in a request has exactly one result behind it,
// and that folding the same events gives the same bytes. It refuses to look at
// anything but events: a resumed session and a live one build alike.
package window

import (
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Conversation folds events into messages. The zero value is an empty one.
type Conversation struct {
	head     llm.Head
	info     llm.Info
	rebases  int
	messages []llm.Message
	// tail is the message under construction: results of the running step and
	// what was appended behind them. It joins messages when the next request
	// goes out, so that all of a step is one message.
	tail llm.Message
	open []string // ids of calls without a result, in order
}

// Apply takes one event.
func (c *Conversation) Apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.Rebased:
		c.head, c.info = b.Head, b.Info
		c.rebases++
	case event.Prompted:
		c.close()
		m := llm.Message{Role: llm.User}
		for _, i := range b.Images {
			m.Parts = append(m.Parts, llm.Part{Kind: llm.Image, Media: i.Type, Data: i.Data})
		}
		c.push(append2(m, llm.TextPart(b.Text)))
	case event.Noted:
		c.note(b.Text)
	case event.Stuck:
		if b.Level != "halt" {
			c.note("[" + b.Text + "]")
		}
	case event.Interrupted:
		c.note(b.Marker())
	case event.PersonRan:
		c.note(personRan(b))
	case event.Requested:
		c.close()
	case event.Replied:
		c.close()
		c.push(b.Reply.Message)
		for _, call := range b.Reply.Message.Calls() {
			c.open = append(c.open, call.ID)
		}
	case event.CallDone:
		c.result(b.Result)
	}
}

func append2(m llm.Message, ps ...llm.Part) llm.Message {
	m.Parts = append(m.Parts, ps...)
	return m
}

func (c *Conversation) push(m llm.Message) {
	if len(m.Parts) > 0 {
		c.messages = append(c.messages, m)
	}
}

// note appends a text to the step that is under construction, or behind the
// last message where none is.
func (c *Conversation) note(text string) {
	if c.tail.Role == "" {
		c.tail.Role = llm.User
	}
	c.tail.Parts = append(c.tail.Parts, llm.TextPart(text))
}

func (c *Conversation) result(r llm.Result) {
	if len(c.open) == 0 {
		return // a result for a call that no reply here asked for: never sent
	}
	c.open = c.open[1:]
	c.tail.Role = llm.Tool
	p := llm.Part{Kind: llm.Output, Result: &r}
	// Results come before notes: providers want them right behind the calls.
	i := 0
	for i < len(c.tail.Parts) && c.tail.Parts[i].Kind == llm.Output {
		i++
	}
	c.tail.Parts = append(c.tail.Parts[:i:i], append([]llm.Part{p}, c.tail.Parts[i:]...)...)
}

func (c *Conversation) close() {
	m := c.tail
	c.tail = llm.Message{}
	c.push(m)
}

// Open lists the calls that have no result yet, in the order asked.
func (c *Conversation) Open() []string { return c.open }

// Head is the frozen head, Info the model it was frozen for.
func (c *Conversation) Head() llm.Head { return c.head }

// Info is the model of the last rebase.
func (c *Conversation) Info() llm.Info { return c.info }

// Rebased says whether there is a head yet.
func (c *Conversation) Rebased() bool { return c.rebases > 0 }

// Messages gives the conversation as the next request would carry it, the step
// under construction included. Callers must not change it.
func (c *Conversation) Messages() []llm.Message {
	ms := c.messages
	if len(c.tail.Parts) > 0 {
		ms = append(ms, c.tail)
	}
	return ms[:len(ms):len(ms)]
}

func personRan(b event.PersonRan) string {
	var s strings.Builder
	fmt.Fprintf(&s, "The user ran this command:\n$ %s\n", b.Command)
	s.WriteString(b.Output)
	if !strings.HasSuffix(b.Output, "\n") && b.Output != "" {
		s.WriteByte('\n')
	}
	if b.Exit != nil {
		fmt.Fprintf(&s, "exit code %d", *b.Exit)
	}
	return s.String()
}
