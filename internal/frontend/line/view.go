package line

import (
	"fmt"
	"io"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// view writes the blocks of a timeline as lines. It never changes written
// lines, except the countdown on the last line.
type view struct {
	out      io.Writer
	midline  bool // the cursor is not at the start of a line
	counting bool // the line is a countdown

	columns func() int    // of the terminal; nil, or 0: lines are not broken
	words   plain.Wrapper // text that is printed word by word

	text  string // the block whose text was written last
	begun bool   // text of a reply was written there

	lost    brief.Lost // by the turn
	theme   plain.Theme
	verbose bool // thinking is shown whole

	calls   []call // open calls, in the order of the calls
	checks  string // the check that runs, "" for none
	hanging bool   // the line of the first one, or of the check, waits for its outcome
	asides  []string
}

func newView(out io.Writer, columns func() int) *view { return &view{out: out, columns: columns} }

// opened resets the state for another session.
func (v *view) opened() {
	v.forget()
	*v = view{out: v.out, columns: v.columns, theme: v.theme, verbose: v.verbose, midline: v.midline}
}

func (v *view) draw(c chat.Change) {
	if c.Past || c.Reported { // it is shown above, or a command's output reports it
		return
	}
	defer v.flush()
	switch b := c.Block.Body.(type) {
	case chat.Prompt:
		if b.Source != event.Autofix && !b.Joined {
			v.lost.Forget()
		}
	case chat.Note:
		if c.What == chat.Finished && b.Kind == chat.OfWarning {
			v.lost.Add(b.Text)
		}
	}
	whole := c.What == chat.Finished
	switch b := c.Block.Body.(type) {
	case chat.Thinking:
		v.thinking(c)
	case chat.Reply:
		v.reply(c, b)
	case chat.Command:
		v.ran(c, b)
	case chat.Call:
		v.call(c, b)
	case chat.Check:
		v.check(c, b)
	case chat.Retry:
		v.retry(c, b)
	case chat.Phase:
		if text := b.String(); text != "" {
			v.aside("pawl: " + text)
		}
	case chat.Prompt:
		if b.Source == event.Autofix {
			v.line("pawl: " + chat.AutofixMessage)
		}
		switch {
		case b.Joined:
			v.line("  (told the model: " + cut.Runes(plain.Line(b.Text), 100) + ")")
		case c.Elsewhere:
			v.line("> " + strings.ReplaceAll(b.Text, "\n", "\n> "))
		}
		if text := b.Attachments(); text != "" {
			v.line("pawl: " + text)
		}
	case chat.Note:
		v.note(b)
	case chat.Start:
		v.start(c, b)
	case chat.Output:
		v.output(c)
	case chat.Patch:
		v.raw(strings.TrimSuffix(plain.Diff(b.Text, v.theme), "\n"))
	case chat.Aside:
		v.drawAside(c, b)
	case chat.Document:
		if b.By == "person" {
			v.line("the plan as you edited it:\n" + indent(b.Text))
		}
	case chat.Act:
		v.act(b)
	case chat.Queued:
		v.aside("  (waits: " + cut.Runes(plain.Line(b.Text), 100) + ")")
	case chat.TurnEnd:
		if whole {
			v.turnEnd(b)
		}
	}
}

func (v *view) note(b chat.Note) {
	switch b.Kind {
	case chat.OfWarning, chat.OfRefusal, chat.OfFailure, chat.OfPlan, chat.OfRemote:
		v.line("pawl: " + b.Text)
	case chat.OfStuck:
		v.line("pawl: " + b.Text + " (evidence: /why)")
	case chat.OfCompaction:
		v.line("pawl: " + b.Text + "; /context shows it")
		for _, l := range b.More {
			v.line("pawl: " + l)
		}
	case chat.OfRoute:
		if b.Explicit { // otherwise a question shows it, if it matters
			v.line("pawl: " + b.Text)
		}
	case chat.OfTold:
		v.line("  [" + b.Text + "]")
	case chat.OfRequest:
		v.line("  (" + b.Text + ")")
	case chat.OfProgress:
		v.aside("  (" + b.Text + ")")
	case chat.OfInterrupt:
		if b.By == event.InterruptedByPermission {
			v.line("you did not allow it, so the turn ends here; say what to do instead")
		} else {
			v.line("interrupted")
		}
	}
}

// start shows which session was opened and, for a continued one, its last
// prompt and answer.
func (v *view) start(c chat.Change, b chat.Start) {
	if c.What == chat.Added {
		v.opened()
		for _, n := range b.Notes {
			v.line("pawl: " + n)
		}
		v.line("pawl: " + b.Head(max(0, v.width()-len("pawl: "))))
		for _, w := range b.Welcome {
			v.line(w)
		}
	}
	if c.What == chat.Finished && b.Prompt != "" && !b.Fork { // a fork's former prompts are shown above
		prompt := "> " + strings.ReplaceAll(strings.TrimSpace(b.Prompt), "\n", "\n> ")
		v.line("it ended with:\n" + indent(prompt+"\n"+strings.TrimSpace(b.Answer)))
	}
}

// output shows a slash command's output, which consists of complete lines.
func (v *view) output(c chat.Change) {
	if c.What == chat.Added {
		v.end()
	}
	v.printUnwrapped(plain.Wrap(c.More, v.width(), true))
}

// aside shows a line as soon as no line of a call waits for its outcome.
func (v *view) aside(text string) { v.asides = append(v.asides, text) }

func (v *view) flush() {
	if v.hanging || len(v.calls) > 0 && v.calls[0].Started && v.calls[0].Kind == tool.Note && !v.calls[0].AsksPerson {
		return
	}
	asides := v.asides
	v.asides = nil
	for _, text := range asides {
		v.line(text)
	}
}

// continueBlock moves to where the text of a block continues, and reports whether it
// starts anew there.
func (v *view) continueBlock(id string) (anew bool) {
	if v.text == id {
		return false
	}
	v.end()
	v.text = id
	return true
}

// thinking says that the model reasons. The reasoning itself, which a screen reader would
// read out before the answer, is shown only if it is asked for: indented, below that line.
func (v *view) thinking(c chat.Change) {
	if c.More != "" && !(c.What == chat.Finished && v.begun && v.text != c.Block.ID) {
		if v.continueBlock(c.Block.ID) {
			v.line("(thinking)")
		}
		if v.verbose {
			v.piece(c.More, "  ")
		}
	}
	if c.What == chat.Finished {
		v.leave(c.Block.ID)
	}
}

func (v *view) reply(c chat.Change, b chat.Reply) {
	if c.More != "" {
		v.continueBlock(c.Block.ID)
		v.begun = true
		v.piece(c.More, "")
	}
	if c.What != chat.Finished {
		return
	}
	v.leave(c.Block.ID)
	v.begun = false
	if c.Missed {
		v.line("pawl: the screen missed a part of this; here is all of it:")
		v.line(b.Text)
	}
	if b.Cached != "" {
		v.line("pawl: " + b.Cached)
	}
}

// ran shows the output of a person's own command, unchanged.
func (v *view) ran(c chat.Change, b chat.Command) {
	if c.More != "" {
		v.continueBlock(c.Block.ID)
		v.printUnwrapped(c.More)
	}
	if c.What != chat.Finished {
		return
	}
	v.leave(c.Block.ID)
	switch {
	case c.Block.Ephemeral:
		return
	case c.Missed:
		out := strings.TrimRight(b.Output, " \n")
		v.line("pawl: the screen missed a part of this; it ends with: " + plain.Line(out[strings.LastIndexByte(out, '\n')+1:]))
	}
	v.end()
	if b.Exit == nil {
		v.line("it was stopped")
	} else if *b.Exit != 0 {
		v.line(fmt.Sprintf("exit code %d", *b.Exit))
	}
}

// leave ends the text of a block if it was written last.
func (v *view) leave(id string) {
	if v.text == id {
		v.text = ""
		v.end()
	}
}

// retry shows why a request is retried, and counts down to the next attempt,
// each time over the last count.
func (v *view) retry(c chat.Change, b chat.Retry) {
	switch {
	case b.Failed && (c.What == chat.Added || b.Next == ""):
		v.line("pawl: " + b.Text)
	case b.Next != "" && (b.Left > 0 || v.counting):
		text := fmt.Sprintf("  %-30s", b.Next) // blanks over a longer one
		if v.counting {
			text = "\r" + text
		} else {
			v.end()
		}
		v.print(text)
		v.counting = true
	}
}

// A call is one line: its title as soon as it runs, its outcome as soon as it
// is done. Results come in the order of the calls, so only the line of the
// first open call may wait. A call that thinks, plans or asks is done at once,
// or its question is shown.

// turnEnd shows how a turn ended: evidence, cost, how to undo (SPEC 13.3).
func (v *view) turnEnd(b chat.TurnEnd) {
	v.forget()
	v.flush()
	if b.Error != "" && b.End != event.EndPermission {
		text := "pawl: " + brief.Ending(b.End, b.Error)
		if b.End == event.EndStuck {
			text += "; /why has the evidence"
		}
		v.line(text)
	}
	for _, line := range b.Told() {
		v.line("pawl: " + line)
	}
	text := brief.Spending(b.Spent)
	if lost := v.lost.String(); lost != "" {
		text += "; " + lost
	}
	v.line("pawl: " + text)
}

// forget leaves unfinished output as it is.
func (v *view) forget() {
	v.text, v.begun = "", false
	v.end()
}

// line writes a separate line.
func (v *view) line(text string) {
	v.end()
	v.print(text + "\n")
}

// end starts a new line if the cursor is not at the start of one.
func (v *view) end() {
	v.hanging = false
	if v.midline {
		v.print("\n")
	}
}

// print writes a text that may end anywhere except inside a word.
func (v *view) print(text string) {
	v.piece(text, "")
	v.write(v.words.Flush(v.width()))
}

// piece writes a piece of a text; a word at its end waits for the rest if it may not fit.
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
	v.write(v.words.Add(b.String(), v.width()) + v.words.Early(v.width()))
}

// raw writes lines unchanged, so that they can be copied.
func (v *view) raw(text string) {
	v.end()
	v.write(v.words.Flush(v.width()) + text + "\n")
}

// printUnwrapped writes a piece of a text without wrapping it.
func (v *view) printUnwrapped(text string) {
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
