// Package transcript writes a session's events as a text to read: plain for a
// terminal, Markdown for a file. Secrets are masked in the log already;
// control characters are taken out here.
package transcript

import (
	"fmt"
	"io"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// style is how one kind of text is written.
type style struct {
	person, agent, call, done, note string // formats of one string each
	block                           func(string) string
}

// Text writes for a terminal. The function it returns takes one event after
// the other.
func Text(w io.Writer) func(event.Event) error {
	return (&writer{w: w, style: style{
		person: "\n> %s\n", agent: "\n%s\n", call: "  %s\n", done: "    → %s\n", note: "  [%s]\n",
		block: func(s string) string { return strings.ReplaceAll(s, "\n", "\n> ") },
	}}).event
}

// Markdown writes for a file.
func Markdown(w io.Writer) func(event.Event) error {
	return (&writer{w: w, style: style{
		person: "\n## Prompt\n\n%s\n", agent: "\n%s\n\n", call: "- `%s`\n", done: "  - %s\n", note: "\n*%s*\n",
		block: func(s string) string { return s },
	}}).event
}

type writer struct {
	w io.Writer
	style
}

func (t *writer) event(e event.Event) error {
	format, text := "", ""
	switch b := e.Body.(type) {
	case event.Opened:
		format, text = t.note, fmt.Sprintf("session %s in %s, %s", e.Session, b.Dir, e.Time.Local().Format("2006-01-02 15:04"))
	case event.Rebased:
		format, text = t.note, brief.Model(b.Info)
	case event.Prompted:
		format, text = t.person, t.block(plain.Text(b.Text))
	case event.Replied:
		format, text = t.agent, plain.Text(b.Reply.Message.Text())
	case event.CallAsked:
		format, text = t.call, strings.ReplaceAll(brief.Call(b.Tool, b.Args), "`", "'")
	case event.CallDone:
		format, text = t.done, brief.Done(b)
	case event.PersonRan:
		format, text = t.person, "!"+t.block(plain.Text(b.Command))
	case event.FileChanged:
		format, text = t.note, plain.Line(fmt.Sprintf("%s: +%d -%d", b.Path, b.Added, b.Removed))
	case event.Interrupted:
		format, text = t.note, b.Marker()
	case event.Ended:
		format, text = t.note, string(b.End)
		if b.Error != nil {
			text += ": " + plain.Line(b.Error.Message)
		}
	}
	if text == "" {
		return nil
	}
	_, err := fmt.Fprintf(t.w, format, text)
	return err
}
