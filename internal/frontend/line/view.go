package line

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
)

// view writes events as lines.
type view struct {
	out      io.Writer
	midline  bool // something stands before the cursor
	counting bool // that is a count-down

	columns func() int    // of the terminal; nil, or 0: lines are not broken
	words   plain.Wrapper // what is printed word by word

	reply, thought, output stream // of the model, of a person's own command

	calls   []call // open ones, in the order they were asked
	hanging bool   // the line of the first one waits for its outcome
	asides  []string
}

// call is one that is not done.
type call struct {
	id, what string
	started  bool
	shown    bool // its line was begun
}

func newView(out io.Writer, columns func() int) *view {
	v := &view{out: out, columns: columns}
	v.reply.v, v.thought.v, v.output.v = v, v, v
	v.thought.indent = "  "
	v.output.raw = true
	return v
}

func (v *view) show(e event.Event) {
	defer v.flush()
	switch b := e.Body.(type) {
	case event.ReasoningDelta:
		v.think(b.Text)
	case event.TextDelta:
		v.thought.end()
		v.reply.add(b.Text)
	case event.OutputDelta:
		if b.Call == "" { // of a person's own command: a tool's is one line
			v.output.add(b.Text)
		}
	case event.Replied:
		v.replied(b.Reply)
	case event.Recalled:
		v.line(plain.Text(b.Text))
		if b.Key != "" {
			v.line("pawl: " + brief.Recalled(b))
		}
	case event.Retried:
		v.forget()
		v.line("pawl: " + brief.Retry(b))
	case event.Waiting:
		v.countDown(b)
	case event.CallAsked:
		v.calls = append(v.calls, call{id: b.ID, what: brief.Call(b)})
	case event.CallStarted:
		if i := v.find(b.ID); i >= 0 {
			v.calls[i].started = true
		}
		v.hang()
	case event.CallDone:
		v.done(b)
		v.flush() // what the call led to stands below it, and not below the next
		v.hang()
	case event.Checking:
		v.forget()
		v.print("  "+brief.Check(b.Command), "")
		v.hanging = true
	case event.Checked:
		v.checked(b)
	case event.Prompted:
		if b.Source == event.Autofix {
			v.line("pawl: " + brief.Mending)
		}
		if text := brief.Attached(b); text != "" {
			v.line("pawl: " + text)
		}
	case event.PersonRan:
		v.ran(b)
	case event.Warned:
		v.line("pawl: " + plain.Line(b.Text))
	case event.Stuck:
		if text := brief.Stuck(b, "/why"); text != "" {
			v.line("pawl: " + text)
		}
	case event.Progressed:
		v.aside("  (" + brief.Progressed(b) + ")")
	case event.Compacted:
		said := brief.Shorter(b)
		said[0] += "; /context shows it"
		for _, text := range said {
			v.line("pawl: " + text)
		}
	case event.Routed:
		if b.Firm { // else a question says so, where it matters
			v.line("pawl: " + brief.Route(b))
		}
	case event.Noted:
		if b.Why == "phase" || b.Why == "route" {
			return // what is told to the model of what the person sees
		}
		text := b.Text
		if first, _, long := strings.Cut(text, "\n"); long { // rules: their heading says which
			text = strings.TrimSuffix(first, ":")
		}
		v.line("  [" + plain.Line(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")) + "]")
	case event.Interrupted:
		v.forget()
		if b.By == "permission" {
			v.line("you did not allow it, so the turn ends here; say what to do instead")
		} else {
			v.line("interrupted")
		}
	}
}

// aside shows a line as soon as no line of a call waits for its outcome.
func (v *view) aside(text string) { v.asides = append(v.asides, text) }

func (v *view) flush() {
	if v.hanging {
		return
	}
	for _, text := range v.asides {
		v.line(text)
	}
	v.asides = nil
}

// think shows reasoning apart from the answer: under a heading, indented.
func (v *view) think(text string) {
	if text == "" {
		return
	}
	if !v.thought.begun() {
		v.line("(thinking)")
	}
	v.thought.add(text)
}

// countDown writes how long it takes until the next try, each time over the
// last one.
func (v *view) countDown(b event.Waiting) {
	text := fmt.Sprintf("  %-16s", brief.Waiting(b)) // blanks over a longer one
	if v.counting {
		text = "\r" + text
	} else {
		v.end()
	}
	v.print(text, "")
	v.counting = true
}

func (v *view) replied(r llm.Reply) {
	if !v.thought.begun() && !v.reply.begun() {
		for _, p := range r.Message.Parts {
			if p.Kind == llm.Reasoning {
				v.think(p.Text)
			}
		}
	}
	v.thought.end()
	if text := r.Message.Text(); text != "" {
		if _, ok := v.reply.finish(text); !ok {
			v.line("pawl: the screen missed a part of that; here it is again, whole:")
			v.line(plain.Text(text))
		}
	}
	if r.Stop == llm.StopRefusal {
		v.line(plain.Line("pawl: the model refused: " + r.Refusal))
	}
}

// A call is one line: what it wants as soon as it runs, how it went as soon as
// it is done. Results come in the order the calls were asked, so the first
// open call is the only one whose line may wait.

func (v *view) find(id string) int {
	return slices.IndexFunc(v.calls, func(c call) bool { return c.id == id })
}

func (v *view) hang() {
	if len(v.calls) == 0 || !v.calls[0].started || v.calls[0].shown || isQuestion(v.calls[0].what) {
		return
	}
	v.end()
	v.print("  "+v.calls[0].what, "")
	v.calls[0].shown, v.hanging = true, true
}

func (v *view) done(d event.CallDone) {
	what := plain.Line(d.Tool)
	i := v.find(d.ID)
	waits := i == 0 && v.hanging
	if i >= 0 {
		what = v.calls[i].what
		v.calls = slices.Delete(v.calls, i, i+1)
	}
	if isQuestion(what) && d.Outcome == event.OK {
		return // question and answer stand there
	}
	text := ""
	if done := brief.Done(d); done != "" {
		text = "  → " + done
	}
	if waits {
		v.print(text+"\n", "")
		v.hanging = false
		return
	}
	v.line("  " + what + text)
}

// checked ends the line of one of pawl's own checks, or is a line of its own
// where it did not run.
func (v *view) checked(b event.Checked) {
	text := "  → " + brief.Checked(b) + "\n"
	switch {
	case b.Command == "": // the closing line says why none ran
	case v.hanging:
		v.print(text, "")
		v.hanging = false
	default:
		v.end()
		v.print("  "+brief.Check(b.Command)+text, "")
	}
}

// asking says whether an open call is a question of the model.
func (v *view) asking() bool {
	return slices.ContainsFunc(v.calls, func(c call) bool { return isQuestion(c.what) })
}

func isQuestion(what string) bool { return strings.HasPrefix(what, "ask_user ") }

// ran ends a person's own command.
func (v *view) ran(b event.PersonRan) {
	shown, ok := v.output.finish(b.Output)
	if last := lastLine(b.Output); !ok && lastLine(shown) != last {
		// A long output is kept without its middle: that it ends the same says
		// that the screen has all of it.
		v.line("pawl: the screen missed a part of that; it ends in: " + plain.Line(last))
	}
	v.end()
	if b.Exit == nil {
		v.line("it did not end by itself")
	} else if *b.Exit != 0 {
		v.line(fmt.Sprintf("exit code %d", *b.Exit))
	}
}

func lastLine(s string) string {
	s = strings.TrimRight(s, " \r\n")
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// closing says how a turn ended: evidence, cost, how to undo (SPEC 13.3).
func (v *view) closing(b event.Ended, proof evidence.Report, spent budget.Spent) {
	v.forget()
	v.flush()
	if b.Error != nil && b.End != event.EndInterrupted && b.End != event.EndPermission {
		text := fmt.Sprintf("pawl: %s: %s", b.End, b.Error.Message)
		if b.End == event.EndStuck {
			text += "; /why has the evidence"
		}
		v.line(plain.Line(text))
	}
	text := brief.Spending(spent)
	if e := brief.Evidence(proof); e != "" {
		text = e + "; " + text + "; /diff shows it, /undo turn puts it back"
	}
	v.line("pawl: " + text)
}

// forget leaves what was on its way as it stands.
func (v *view) forget() {
	for _, s := range []*stream{&v.thought, &v.reply, &v.output} {
		s.end()
	}
	v.end()
}

// line writes a line of its own.
func (v *view) line(text string) {
	v.end()
	v.print(text+"\n", "")
}

// end goes to a new line where something stands before the cursor.
func (v *view) end() {
	v.hanging = false
	if v.midline {
		v.print("\n", "")
	}
}

// print writes a text that may end anywhere but inside a word.
func (v *view) print(text, indent string) {
	v.piece(text, indent)
	v.write(v.words.Flush(v.width()))
}

// piece writes what of a text came; a word at its end waits for what follows.
func (v *view) piece(text, indent string) {
	if text == "" {
		return
	}
	v.counting = false
	var b strings.Builder
	for l := range strings.Lines(text) {
		if !v.midline && l != "\n" {
			b.WriteString(indent)
		}
		b.WriteString(l)
		v.midline = !strings.HasSuffix(l, "\n")
	}
	v.write(v.words.Add(b.String(), v.width()))
}

// raw writes lines as they are: what is copied from them must be right.
func (v *view) raw(text string) {
	v.end()
	v.write(v.words.Flush(v.width()) + text + "\n")
}

// unbroken writes a piece of a text as it is.
func (v *view) unbroken(text string) {
	if text == "" {
		return
	}
	v.counting = false
	v.write(v.words.Flush(v.width()) + text)
	v.midline = !strings.HasSuffix(text, "\n")
	v.words = plain.Wrapper{}
}

func (v *view) width() int {
	if v.columns == nil {
		return 0
	}
	return v.columns()
}

// write is the only way to the terminal.
func (v *view) write(text string) {
	if text != "" {
		_, _ = io.WriteString(v.out, text) // a terminal that is gone ends the next read
	}
}
