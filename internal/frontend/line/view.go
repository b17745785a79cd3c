package line

import (
	"fmt"
	"io"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
)

// view writes events as lines.
type view struct {
	out io.Writer

	streamed strings.Builder // what was shown of the reply on its way, raw
	text     *plain.Writer   // sanitises the stream; keeps state between deltas
	midline  bool            // the cursor stands behind text
	thinking bool
	calls    map[string]string // what open calls want, by id
}

func (v *view) show(e event.Event) {
	switch b := e.Body.(type) {
	case event.ReasoningDelta:
		if !v.thinking {
			v.thinking = true
			v.line("  (thinking)")
		}
	case event.TextDelta:
		v.stream(b.Text)
	case event.Replied:
		v.replied(b.Reply.Message.Text())
	case event.Retried:
		v.end()
		v.streamed.Reset()
		v.line("pawl: " + brief.Retry(b))
	case event.CallAsked:
		if v.calls == nil {
			v.calls = map[string]string{}
		}
		v.calls[b.ID] = brief.Call(b.Tool, b.Args)
	case event.CallDone:
		text := "  " + v.calls[b.ID]
		delete(v.calls, b.ID)
		if done := brief.Done(b); done != "" {
			text += "  → " + done
		}
		v.line(text)
	case event.Noted:
		v.line("  [" + plain.Line(b.Text) + "]")
	case event.Interrupted:
		v.line("interrupted")
	}
}

func (v *view) stream(text string) {
	if text == "" {
		return
	}
	if v.text == nil {
		v.text = plain.NewWriter(v.out)
	}
	v.streamed.WriteString(text)
	_, _ = io.WriteString(v.text, text) // a terminal that is gone ends the conversation at the next read
	v.midline = !strings.HasSuffix(text, "\n")
}

// replied shows of a whole reply what the stream did not: a model may not
// stream, and a slow reader may have missed pieces. Content never appears
// twice.
func (v *view) replied(text string) {
	shown := v.streamed.String()
	v.streamed.Reset()
	v.thinking = false
	if rest, ok := strings.CutPrefix(text, shown); ok {
		v.stream(rest)
	} else {
		v.end()
		v.stream(text)
	}
	v.streamed.Reset()
	v.end()
}

// end goes to a new line where text stands before the cursor.
func (v *view) end() {
	if v.text != nil {
		_ = v.text.Close() // see stream
	}
	if v.midline {
		fmt.Fprintln(v.out)
		v.midline = false
	}
}

func (v *view) line(text string) {
	v.end()
	fmt.Fprintln(v.out, text)
}

// closing says how a turn ended: evidence, cost, how to undo (SPEC 13.3).
func (v *view) closing(b event.Ended, proof evidence.Report, spent budget.Spent) {
	v.end()
	v.streamed.Reset()
	v.thinking = false
	if b.Error != nil && b.End != event.EndInterrupted {
		v.line(plain.Line(fmt.Sprintf("pawl: %s: %s", b.End, b.Error.Message)))
	}
	text := brief.Spending(spent)
	if e := brief.Evidence(proof); e != "" {
		text = e + "; " + text + "; /diff shows it, /undo puts it back"
	}
	v.line("pawl: " + text)
}

func (v *view) ran(b event.PersonRan) {
	v.line(strings.TrimRight(plain.Text(b.Output), "\n"))
	if b.Exit != nil && *b.Exit != 0 {
		v.line(fmt.Sprintf("exit code %d", *b.Exit))
	}
}
