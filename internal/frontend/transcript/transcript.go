// Package transcript writes a session's events as readable text: plain for a terminal,
// Markdown for a file. Keys are already masked in the log. Control characters are
// removed here, and Redact removes the contents of files that look secret from exports.
package transcript

import (
	"fmt"
	"io"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/redact"
)

// form defines how each kind of text is written. Its inputs are sanitised.
type form interface {
	person(text string) string          // a prompt
	command(line, output string) string // a person's own command
	agent(text string) string           // the model's text
	call(what, outcome string) string   // one line each
	block(kind, text string) string     // output, a diff
	note(text string) string            // one line
}

// Text writes for a terminal. The function that it returns takes the events one by one.
func Text(w io.Writer) func(event.Event) error { return (&writer{w: w, form: text{}}).event }

// Markdown writes for a file: a document with the prompts as headings, calls as lists,
// and diffs and outputs as blocks.
func Markdown(w io.Writer) func(event.Event) error { return (&writer{w: w, form: markdown{}}).event }

// writer draws the blocks of a timeline when they finish.
type writer struct {
	w io.Writer
	form
	timeline chat.Timeline
}

func (t *writer) event(e event.Event) error {
	s := ""
	for _, c := range t.timeline.Apply(e) {
		if c.What == chat.Finished && !c.Block.Ephemeral {
			s += t.draw(c.Block)
		}
	}
	_, err := io.WriteString(t.w, s)
	return err
}

func (t *writer) draw(b chat.Block) string {
	switch b := b.Body.(type) {
	case chat.Prompt:
		return t.prompt(b)
	case chat.Reply:
		s := b.Text
		if b.Cached != "" {
			return t.agent(s + "\n\n(" + b.Cached + ")")
		}
		if s = strings.TrimSpace(s); s != "" {
			return t.agent(s)
		}
	case chat.Call:
		s := t.call(b.Title, b.Summary)
		switch {
		case b.Diff != "":
			s += t.block("diff", b.Diff)
		case b.Output == redact.LeftOut, b.Command != "":
			s += t.output(b.Output)
		}
		return s
	case chat.Check:
		return t.call(b.Title, b.Summary) + t.output(b.Output)
	case chat.Command:
		return t.command(b.Line, b.Output)
	case chat.Question:
		if b.Answer != "" {
			return t.note(plain.Line("answered: " + b.Answer))
		}
	case chat.Aside:
		s := t.person("/btw " + b.Question)
		if b.Error != "" {
			return s + t.note("no answer: "+b.Error)
		}
		return s + t.agent(strings.TrimSpace(b.Answer)) + t.note("not a part of the conversation")
	case chat.Document:
		if b.By == "person" {
			return t.note("the plan as the person edited it:") + t.agent(strings.TrimSpace(b.Text))
		}
	case chat.Crew:
		return t.crew(b)
	case chat.Phase:
		return t.phase(b)
	case chat.Note:
		return t.remark(b)
	case chat.TurnEnd:
		return t.end(b)
	}
	return ""
}

func (t *writer) prompt(b chat.Prompt) string {
	if b.Source == event.Autofix {
		return t.note(chat.AutofixMessage) + t.output(b.Text)
	}
	s := t.person(b.Text)
	if len(b.Attached) > 0 {
		s += t.note(b.Attachments())
	}
	if b.Media != "" {
		s += t.note(b.Media)
	}
	return s
}

func (t *writer) end(b chat.TurnEnd) string {
	var s strings.Builder
	for _, line := range b.Proof {
		s.WriteString(t.note(line))
	}
	end := string(b.End)
	if b.Error != "" {
		end += ": " + b.Error
	}
	return s.String() + t.note(end)
}

// remark draws notes that stay true; it omits notes about the course of a run.
func (t *writer) remark(n chat.Note) string {
	switch n.Kind {
	case chat.OfSession, chat.OfModel, chat.OfGrant, chat.OfRoute, chat.OfUndo, chat.OfInterrupt, chat.OfPlan, chat.OfRemote:
	default:
		return ""
	}
	s := t.note(n.Text)
	for _, l := range n.More {
		s += t.note(l)
	}
	return s
}

// crew draws the tasks of a swarm. It omits agents: each has its own session, and its
// call is drawn.
func (t *writer) crew(c chat.Crew) string {
	if c.Goal == "" {
		return ""
	}
	s := t.note("swarm: " + plain.Line(c.Goal) + ": " + c.Outcome)
	for _, m := range c.Members {
		s += t.call(strings.TrimSpace(m.ID+" "+m.Title), m.State)
	}
	return s
}

// phase draws the phases that a person or a plan file defined: those of the model's own
// plan are in its calls.
func (t *writer) phase(p chat.Phase) string {
	switch {
	case p.By == "model" || p.ByNext:
		return ""
	case p.State == chat.Planned:
		return t.note(fmt.Sprintf("planned phase %d: %s", p.Number, p.Text))
	case p.State == chat.Begun:
		return t.note(fmt.Sprintf("phase %d: %s", p.Number, p.Text))
	case p.Failed:
		return t.note("the phase is given up")
	}
	return t.note("the phase is done")
}

// output returns a block of text, or "" for no text.
func (t *writer) output(s string) string {
	if s == "" {
		return ""
	}
	return t.block("", s)
}

// text is the form for a terminal.
type text struct{}

func (text) person(s string) string { return "\n> " + strings.ReplaceAll(s, "\n", "\n> ") + "\n" }
func (text) agent(s string) string  { return "\n" + s + "\n\n" }
func (text) note(s string) string   { return "  [" + s + "]\n" }

func (text) call(what, outcome string) string {
	if outcome != "" {
		outcome = "  → " + outcome
	}
	return "  " + what + outcome + "\n"
}

func (t text) command(line, output string) string {
	return t.person("!"+line) + strings.TrimRight(output, "\n") + "\n"
}

// block omits outputs: on a terminal they would bury the conversation.
func (text) block(kind, s string) string {
	if kind == "" && s != redact.LeftOut {
		return ""
	}
	return "      " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n      ") + "\n"
}
