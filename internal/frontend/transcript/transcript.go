// Package transcript writes a session's events as a text to read: plain for a
// terminal, Markdown for a file. Keys are masked in the log already; control
// characters are taken out here, and what is shown of secret-looking files is
// left out of exports by Redact.
package transcript

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
)

// form is how the kinds of text are written. Every text that it is given is
// sanitised.
type form interface {
	person(text string) string          // a prompt
	command(line, output string) string // a person's own command
	agent(text string) string           // the model's words
	call(what, outcome string) string   // one line each
	block(kind, text string) string     // output, a diff
	note(text string) string            // one line
}

// Text writes for a terminal. The function it returns takes one event after
// the other.
func Text(w io.Writer) func(event.Event) error { return (&writer{w: w, form: text{}}).event }

// Markdown writes for a file: a document with the prompts as headings, calls
// as lists, and diffs and outputs as blocks.
func Markdown(w io.Writer) func(event.Event) error { return (&writer{w: w, form: markdown{}}).event }

type writer struct {
	w io.Writer
	form
	calls map[string]string // what open calls want, by id
	proof evidence.Fold
}

func (t *writer) event(e event.Event) error {
	_, err := io.WriteString(t.w, t.say(e))
	return err
}

func (t *writer) say(e event.Event) string {
	t.proof.Apply(e)
	switch b := e.Body.(type) {
	case event.Opened:
		return t.note(plain.Line(fmt.Sprintf("session %s in %s, %s", e.Session, b.Dir, e.Time.UTC().Format(time.DateTime+" MST"))))
	case event.Rebased:
		return t.note(brief.Model(b.Info))
	case event.Checked:
		if b.Command != "" {
			return t.call(brief.Check(b.Command), brief.Checked(b)) + t.output(b.Output)
		}
	case event.Phased:
		return t.phased(b)
	case event.Prompted:
		if b.Source == event.Autofix {
			return t.note(brief.Mending) + t.output(b.Text)
		}
		return t.person(plain.Text(b.Text))
	case event.Replied:
		if s := strings.TrimSpace(plain.Text(b.Reply.Message.Text())); s != "" {
			return t.agent(s)
		}
	case event.Recalled:
		text := plain.Text(b.Text)
		if b.Key != "" {
			text += "\n\n(" + brief.Recalled(b) + ")"
		}
		return t.agent(text)
	case event.CallAsked:
		if t.calls == nil {
			t.calls = map[string]string{}
		}
		t.calls[b.ID] = brief.Call(b)
	case event.CallDone:
		return t.done(b)
	case event.PersonRan:
		return t.command(plain.Text(b.Command), plain.Text(b.Output))
	case event.Answered:
		if b.Text != "" {
			return t.note("answered: " + plain.Line(b.Text))
		}
	case event.Granted:
		return t.note(plain.Line(fmt.Sprintf("allowed for %s: %s", b.Scope, b.Rule)))
	case event.Routed:
		if line := brief.Route(b); line != "" {
			return t.note(line)
		}
	case event.Undone:
		return t.note(plain.Line("put back: "+strings.Join(b.Paths, ", "))) + t.kept(b.Kept)
	case event.Redone:
		return t.note(plain.Line("done again: " + strings.Join(b.Paths, ", ")))
	case event.Interrupted:
		return t.note(b.Marker())
	case event.Ended:
		s := string(b.End)
		if b.Error != nil && b.End != event.EndInterrupted {
			s += ": " + plain.Line(b.Error.Message)
		}
		if proof := brief.Evidence(t.proof.Report()); proof != "" {
			return t.note(proof) + t.note(s)
		}
		return t.note(s)
	}
	return ""
}

// phased says that a phase began, or what plan is in force, or that the open
// phase ended.
func (t *writer) phased(b event.Phased) string {
	if len(b.Plan) > 0 {
		s := ""
		for i, p := range b.Plan {
			s += t.note(plain.Line(fmt.Sprintf("planned phase %d: %s", b.Number+i, p.Text)))
		}
		return s
	}
	switch {
	case b.Number > 0:
		return t.note(plain.Line(fmt.Sprintf("phase %d: %s", b.Number, b.Text)))
	case b.Failed:
		return t.note("the phase is given up")
	}
	return t.note("the phase is done")
}

// kept are files that hold a later change beside what was put back.
func (t *writer) kept(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	return t.note(plain.Line("with later changes kept in: " + strings.Join(paths, ", ")))
}

// output is a block of text, of which there may be none.
func (t *writer) output(s string) string {
	if s == "" {
		return ""
	}
	return t.block("", plain.Text(s))
}

func (t *writer) done(b event.CallDone) string {
	what, ok := t.calls[b.ID]
	if !ok {
		what = plain.Line(b.Tool)
	}
	delete(t.calls, b.ID)
	s := t.call(what, brief.Done(b))
	switch {
	case b.Diff != "":
		s += t.block("diff", plain.Text(b.Diff))
	case b.Result.Text == LeftOut:
		s += t.block("", LeftOut)
	case b.Command != "" && b.Result.Text != "":
		s += t.block("", plain.Text(b.Result.Text))
	}
	return s
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

// block leaves outputs out: on a terminal they bury the conversation.
func (text) block(kind, s string) string {
	if kind == "" && s != LeftOut {
		return ""
	}
	return "      " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n      ") + "\n"
}
