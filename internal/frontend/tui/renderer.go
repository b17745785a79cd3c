package tui

import (
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/took"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/markdown"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/styled"
)

// renderer turns a timeline's changes into lines: the finished ones, in their final
// order, and those of blocks that are still open. It uses no terminal and no clock.
type renderer struct {
	width int
	links bool
	whole bool // nothing is folded

	finished       []styled.Line // not yet returned by takeFinished
	lastKind       cardKind      // the last card's
	hasCards       bool
	foldedID       string        // of the reasoning that was folded last
	stream         *textStream   // the text that still grows, at the end
	queue          []chat.Change // changes that wait for stream to end
	open           []*openBlock  // in the order they appeared
	plan           []tool.Item
	planChanged    bool // in this turn
	linesSincePlan int  // lines written after the plan
	lost           brief.Lost
	retryID        string // of the failed tries that were written last
	head           string // the head line, if nothing was written since
	// folds: a part of the block that is being drawn was left out. folded is the last such
	// block, nil for none.
	folds           bool
	folded          *chat.Change
	pendingCommands []string // a person's own commands that have not started
	// previews are the titles of this turn's calls whose change a question showed.
	previews []string
}

// cardKind is the kind of a card. A blank line separates cards of different kinds.
type cardKind byte

const (
	noCard cardKind = iota
	aPrompt
	aReply
	aCall
	aNote
	anOutput
	aTurnEnd
)

// textStream is a block's text, drawn while it arrives.
type textStream struct {
	id   string
	md   *markdown.Stream // nil: plain text
	wrap bool             // lines are broken between words
	rest string           // an unfinished line
}

// openBlock is a block that is not finished.
type openBlock struct {
	chat.Block
	tail    []string // the last lines of its output
	partial string   // an unfinished line
	lines   int
}

// tailLines is how many lines of a running command's output are shown.
const tailLines = 5

// apply draws a change.
func (p *renderer) apply(ch chat.Change) {
	if ch.Reported {
		return
	}
	if s, ok := ch.Block.Body.(chat.Start); ok {
		if ch.What == chat.Added {
			p.start(s)
		}
		return
	}
	p.track(ch)
	p.write(ch)
}

// track updates the open blocks.
func (p *renderer) track(ch chat.Change) {
	i := slices.IndexFunc(p.open, func(l *openBlock) bool { return l.ID == ch.Block.ID })
	switch {
	case ch.What == chat.Finished && i >= 0:
		p.open = slices.Delete(p.open, i, i+1)
		return
	case ch.What == chat.Finished:
		return
	case i < 0:
		p.open = append(p.open, &openBlock{Block: ch.Block})
		i = len(p.open) - 1
	}
	l := p.open[i]
	l.Block = ch.Block
	switch ch.Block.Body.(type) {
	case chat.Call, chat.Check:
		l.appendOutput(ch.More)
	}
}

// appendOutput adds to the block's output, of which only the end is kept.
func (l *openBlock) appendOutput(more string) {
	for part := range strings.Lines(more) {
		text, ended := strings.CutSuffix(part, "\n")
		if l.partial += text; len(l.partial) > 4<<10 {
			l.partial = l.partial[len(l.partial)-2<<10:]
		}
		if ended {
			l.tail = append(l.tail, l.partial)
			l.partial = ""
			l.lines++
		}
		if len(l.tail) > tailLines {
			l.tail = slices.Delete(l.tail, 0, len(l.tail)-tailLines)
		}
	}
}

// write writes what of a change is final. While the text of an earlier block still grows,
// the change waits.
func (p *renderer) write(ch chat.Change) {
	if p.stream != nil && p.stream.id != ch.Block.ID {
		if ch.What == chat.Finished || ch.More != "" || isQuestion(ch) {
			p.queue = append(p.queue, ch)
		}
		return
	}
	switch b := ch.Block.Body.(type) {
	case chat.Reply:
		if ch.More != "" {
			p.foldOpenThinking()
		}
		p.streamText(ch, aReply, asMarkdown)
		if ch.What == chat.Finished {
			p.replied(ch, b)
		}
	case chat.Command:
		p.command(ch, b)
	case chat.Output:
		if p.stream == nil && ch.More != "" && b.Command != "" {
			p.entered(b.Command)
		}
		p.streamText(ch, anOutput, asSentences)
	case chat.Question:
		p.question(ch, b)
	case chat.Retry: // what is shown while no try comes is final
		if b.Next == "" && p.retryID != ch.Block.ID && !ch.Block.Ephemeral {
			p.retryID = ch.Block.ID
			p.beginCard(aNote)
			p.wrapped(styled.Warn, "! "+b.Text)
		}
	default:
		if ch.What == chat.Finished {
			p.card(ch)
		}
	}
	if p.folds {
		p.folds, p.folded = false, &ch
	}
	p.flushQueue(ch)
}

// entered shows the slash command whose output follows.
func (p *renderer) entered(command string) {
	p.beginCard(aPrompt)
	p.put(styled.Of(styled.Accent, promptSign).Add(styled.Person, command).Cut(p.width))
	p.lastKind = anOutput
}

// foldOpenThinking folds the open reasoning when the reply begins: its block ends only
// with the reply's.
func (p *renderer) foldOpenThinking() {
	for _, l := range p.open {
		if _, ok := l.Body.(chat.Thinking); ok && p.foldedID != l.ID {
			p.foldThinking(l.ID)
		}
	}
}

func (p *renderer) foldThinking(id string) {
	p.foldedID = id
	p.beginCard(aCall)
	p.put(styled.Of(styled.Dim, "∴ thought"))
}

func isQuestion(ch chat.Change) bool {
	_, ok := ch.Block.Body.(chat.Question)
	return ok && ch.What == chat.Added
}

// flushQueue writes the changes that waited for the end of the text of ch.
func (p *renderer) flushQueue(ch chat.Change) {
	if ch.What != chat.Finished || p.stream != nil {
		return
	}
	queue := p.queue
	p.queue = nil
	for _, ch := range queue {
		p.write(ch)
	}
}

// textKind is how a text is laid out.
type textKind byte

const (
	asIs        textKind = iota // a command's output, unwrapped so that it can be copied
	asSentences                 // pawl's text, wrapped between words
	asMarkdown
)

// streamText writes a block's text as it arrives.
func (p *renderer) streamText(ch chat.Change, s cardKind, how textKind) {
	if ch.More != "" {
		if p.stream == nil {
			p.beginCard(s)
			p.stream = &textStream{id: ch.Block.ID, wrap: how == asSentences}
			if how == asMarkdown {
				p.stream.md = markdown.New(markdown.Options{Width: p.width, Links: p.links})
			}
		}
		p.stream.add(p, ch.More)
	}
	if ch.What == chat.Finished && p.stream != nil {
		p.stream.end(p)
		p.stream = nil
	}
}

func (f *textStream) add(p *renderer, more string) {
	if f.md != nil {
		p.put(f.md.Write(more)...)
		return
	}
	text := f.rest + more
	at := strings.LastIndexByte(text, '\n') + 1
	f.rest = text[at:]
	for l := range strings.Lines(text[:at]) {
		f.line(p, strings.TrimSuffix(l, "\n"))
	}
}

// line writes a whole line. Its continuation rows are indented two columns deeper.
func (f *textStream) line(p *renderer, text string) {
	l := styled.Of(styled.Text, text)
	if !f.wrap {
		p.put(l)
		return
	}
	in := len(text) - len(strings.TrimLeft(text, " "))
	if in += 2; in > p.width/3 {
		in = 2
	}
	p.put(l.Wrap(p.width, styled.Of(styled.Text, strings.Repeat(" ", in)))...)
}

func (f *textStream) end(p *renderer) {
	if f.md != nil {
		p.put(f.md.Close()...)
	} else if f.rest != "" {
		f.line(p, f.rest)
	}
}

// pending returns the unfinished end of the growing text.
func (p *renderer) pending() []styled.Line {
	switch {
	case p.stream == nil:
		return nil
	case p.stream.md != nil:
		return p.stream.md.Pending()
	case p.stream.rest == "":
		return nil
	}
	return []styled.Line{styled.Of(styled.Text, p.stream.rest)}
}

// beginCard begins a card. A blank line separates it from a card of another kind.
func (p *renderer) beginCard(s cardKind) {
	p.head = ""
	if p.hasCards && (s != p.lastKind || s == aPrompt) {
		p.finished = append(p.finished, nil)
	}
	p.lastKind = s
}

func (p *renderer) put(ls ...styled.Line) {
	p.finished = append(p.finished, ls...)
	p.linesSincePlan += len(ls)
	p.hasCards = p.hasCards || len(ls) > 0
}

// takeFinished returns the finished lines.
func (p *renderer) takeFinished() []styled.Line {
	out := p.finished
	p.finished = nil
	return out
}

// resize sets the width of later lines.
func (p *renderer) resize(width int) {
	p.width = width
	if p.stream != nil && p.stream.md != nil {
		p.stream.md.Resize(width)
	}
}

// start begins another session: the open blocks of the previous one are dropped.
func (p *renderer) start(s chat.Start) {
	if p.stream != nil {
		p.stream.end(p)
		p.stream = nil
	}
	p.queue, p.open, p.plan, p.previews = nil, nil, nil, nil
	p.lost.Forget()
	s.ID = "" // else two sessions of the same model and mode say the same twice
	head, above := s.Head(max(0, p.width-len("pawl  "))), p.head
	if p.beginCard(aNote); len(s.Notes) > 0 {
		above = ""
	}
	for _, n := range s.Notes {
		p.put(styled.Of(styled.Warn, "! "+n).Wrap(p.width, styled.Of(styled.Text, "  "))...)
	}
	if p.head = head; head != above { // another session, resumed at once, may be like the first one
		line := styled.Line{{Text: "pawl", Style: styled.Style{Role: styled.Accent, Attr: styled.Bold}}}
		p.put(line.Add(styled.Dim, "  "+head).Wrap(p.width, inset)...)
	}
	if s.Earlier > 0 {
		p.wrapped(styled.Dim, "… the beginning is not shown; Ctrl+T shows the whole session")
	}
	for _, w := range s.Welcome {
		p.put(styled.Of(styled.Accent, "· ").Add(styled.Text, w).Wrap(p.width, styled.Of(styled.Text, "  "))...)
	}
}

// openRows returns the rows of the open blocks, for the live area.
func (p *renderer) openRows(now time.Time) []styled.Line {
	out := p.pending()
	if len(p.open) > 0 && p.stream == nil {
		out = append(out, p.currentSteps()...)
	}
	for _, l := range p.open {
		switch b := l.Body.(type) {
		case chat.Thinking:
			if p.foldedID == l.ID {
				continue
			}
			out = append(out, styled.Of(styled.Dim, "∴ thinking"+since(l.Began, now)))
		case chat.Call:
			if b.Started && !b.AsksPerson && (b.Kind != tool.Note || len(l.tail) > 0) {
				out = append(out, p.running(l, b.Title, now)...)
			}
		case chat.Check:
			out = append(out, p.running(l, b.Title, now)...)
		case chat.Crew:
			out = append(out, p.crew(b, l.Began, now, crewRows)...)
		case chat.Aside:
			out = append(out, styled.Of(styled.Accent, "◇ ").Add(styled.Text, "btw: "+plain.Line(b.Question)).Cut(p.width-8).Add(styled.Dim, since(l.Began, now)))
		case chat.Retry:
			if b.Next != "" {
				out = append(out, styled.Of(styled.Warn, "! "+b.Text).Wrap(p.width, inset)...)
			}
		}
	}
	return out
}

func (p *renderer) running(l *openBlock, title string, now time.Time) []styled.Line {
	head := styled.Of(styled.Accent, "● ").Add(styled.Text, title).Cut(p.width - 8)
	out := []styled.Line{head.Add(styled.Dim, since(l.Began, now))}
	tail := l.tail
	if l.partial != "" {
		tail = append(tail[max(0, len(tail)-tailLines+1):len(tail):len(tail)], l.partial)
	}
	for _, t := range tail {
		out = append(out, styled.Of(styled.Dim, "  "+styled.Tabs(t)).Cut(p.width))
	}
	return out
}

// since returns how long something has been running, in whole seconds.
func since(t, now time.Time) string {
	d := now.Sub(t).Truncate(time.Second)
	if d < time.Second || t.IsZero() {
		return ""
	}
	return "  " + took.Text(d)
}

// isThinking reports whether the model reasons and its reply has not begun.
func (p *renderer) isThinking() bool {
	return slices.ContainsFunc(p.open, func(l *openBlock) bool {
		_, ok := l.Body.(chat.Thinking)
		return ok && p.foldedID != l.ID
	})
}

// isAutofix reports whether pawl itself wrote a prompt, about failed checks.
func isAutofix(b chat.Prompt) bool { return b.Source == event.Autofix }
