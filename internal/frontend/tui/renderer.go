package tui

import (
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
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

	out    []styled.Line // finished, not yet returned by done
	last   cardKind      // the last card's
	begun  bool          // there is a card
	folded string        // the reasoning that was folded last
	flow   *flow         // the text that grows at the end
	queue  []chat.Change // finished blocks that wait for flow to end
	open   []*live       // in the order they appeared
	plan   []tool.Item
	ticks  bool // the list of steps was changed in this turn
	since  int  // lines written after plan
	lost   brief.Lost
	tries  retries
	shells []string // a person's own commands that have not begun
	// previews are the titles of this turn's calls whose change a question showed.
	previews []string
}

// cardKind is the kind of a card. A blank line separates cards of different kinds.
type cardKind byte

const (
	nothing cardKind = iota
	aPrompt
	aReply
	aCall
	aNote
	anOutput
	aTurnEnd
)

// flow is a text that is drawn while it arrives.
type flow struct {
	id   string
	md   *markdown.Stream // nil: plain text
	wrap bool             // lines are broken between words
	rest string           // the start of a line that is not complete
}

// live is an open block: its event has not arrived yet.
type live struct {
	chat.Block
	tail  []string // the last lines of what it prints
	part  string   // a line that is not complete
	lines int
}

// tailLines is how much of a running command's output is seen.
const tailLines = 5

// take handles a change.
func (p *renderer) take(ch chat.Change) {
	if ch.Told {
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

// track keeps what is open.
func (p *renderer) track(ch chat.Change) {
	i := slices.IndexFunc(p.open, func(l *live) bool { return l.ID == ch.Block.ID })
	switch {
	case ch.What == chat.Finished && i >= 0:
		p.open = slices.Delete(p.open, i, i+1)
		return
	case ch.What == chat.Finished:
		return
	case i < 0:
		p.open = append(p.open, &live{Block: ch.Block})
		i = len(p.open) - 1
	}
	l := p.open[i]
	l.Block = ch.Block
	switch ch.Block.Body.(type) {
	case chat.Call, chat.Check:
		l.printed(ch.More)
	}
}

// printed keeps the end of what something prints.
func (l *live) printed(more string) {
	for part := range strings.Lines(more) {
		text, ended := strings.CutSuffix(part, "\n")
		if l.part += text; len(l.part) > 4<<10 {
			l.part = l.part[len(l.part)-2<<10:]
		}
		if ended {
			l.tail = append(l.tail, l.part)
			l.part = ""
			l.lines++
		}
		if len(l.tail) > tailLines {
			l.tail = slices.Delete(l.tail, 0, len(l.tail)-tailLines)
		}
	}
}

// write writes the final part of a change. While a text before it still grows, it
// waits.
func (p *renderer) write(ch chat.Change) {
	if p.flow != nil && p.flow.id != ch.Block.ID {
		if ch.What == chat.Finished || ch.More != "" || isQuestion(ch) {
			p.queue = append(p.queue, ch)
		}
		return
	}
	switch b := ch.Block.Body.(type) {
	case chat.Reply:
		if ch.More != "" {
			p.thought()
		}
		p.flows(ch, aReply, asMarkdown)
		if ch.What == chat.Finished {
			p.replied(ch, b)
		}
	case chat.Command:
		p.command(ch, b)
	case chat.Output:
		if p.flow == nil && ch.More != "" && b.Command != "" {
			p.begin(aPrompt)
			p.put(styled.Of(styled.Accent, "› ").Add(styled.Person, b.Command))
			p.last = anOutput
		}
		p.flows(ch, anOutput, asSentences)
	case chat.Question:
		p.question(ch, b)
	default:
		if ch.What == chat.Finished {
			p.card(ch)
		}
	}
	p.next(ch)
}

// thought folds the reasoning before a reply, which ends only with the reply.
func (p *renderer) thought() {
	for _, l := range p.open {
		if _, ok := l.Body.(chat.Thinking); ok && p.folded != l.ID {
			p.fold(l.ID)
		}
	}
}

func (p *renderer) fold(id string) {
	p.folded = id
	p.begin(aCall)
	p.put(styled.Of(styled.Dim, "∴ thought"))
}

func isQuestion(ch chat.Change) bool {
	_, ok := ch.Block.Body.(chat.Question)
	return ok && ch.What == chat.Added
}

// next writes what waited for the end of a text.
func (p *renderer) next(ch chat.Change) {
	if ch.What != chat.Finished || p.flow != nil {
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
	asIs        textKind = iota // by a command: as it is, so that it can be copied
	asSentences                 // by pawl: broken between words
	asMarkdown                  // Markdown
)

// flows writes text as it comes.
func (p *renderer) flows(ch chat.Change, s cardKind, how textKind) {
	if ch.More != "" {
		if p.flow == nil {
			p.begin(s)
			p.flow = &flow{id: ch.Block.ID, wrap: how == asSentences}
			if how == asMarkdown {
				p.flow.md = markdown.New(markdown.Options{Width: p.width, Links: p.links})
			}
		}
		p.flow.add(p, ch.More)
	}
	if ch.What == chat.Finished && p.flow != nil {
		p.flow.end(p)
		p.flow = nil
	}
}

func (f *flow) add(p *renderer, more string) {
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

// line writes a line that is whole. What goes on below it is indented like it.
func (f *flow) line(p *renderer, text string) {
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

func (f *flow) end(p *renderer) {
	if f.md != nil {
		p.put(f.md.Close()...)
	} else if f.rest != "" {
		f.line(p, f.rest)
	}
}

// pending returns the unfinished end of the growing text.
func (p *renderer) pending() []styled.Line {
	switch {
	case p.flow == nil:
		return nil
	case p.flow.md != nil:
		return p.flow.md.Pending()
	case p.flow.rest == "":
		return nil
	}
	return []styled.Line{styled.Of(styled.Text, p.flow.rest)}
}

// begin begins a card. A blank line separates it from a card of another kind.
func (p *renderer) begin(s cardKind) {
	p.alike()
	if p.begun && (s != p.last || s == aPrompt) {
		p.out = append(p.out, nil)
	}
	p.last = s
}

func (p *renderer) put(ls ...styled.Line) {
	p.out = append(p.out, ls...)
	p.since += len(ls)
	p.begun = p.begun || len(ls) > 0
}

// done returns the finished lines.
func (p *renderer) done() []styled.Line {
	out := p.out
	p.out = nil
	return out
}

// resize sets the width of later lines.
func (p *renderer) resize(width int) {
	p.width = width
	if p.flow != nil && p.flow.md != nil {
		p.flow.md.Resize(width)
	}
}

// start begins another session and drops the open blocks of the one before.
func (p *renderer) start(s chat.Start) {
	if p.flow != nil {
		p.flow.end(p)
		p.flow = nil
	}
	p.queue, p.open, p.plan, p.previews = nil, nil, nil, nil
	p.lost.Forget()
	p.begin(aNote)
	for _, n := range s.Notes {
		p.put(styled.Of(styled.Warn, "! "+n).Wrap(p.width, styled.Of(styled.Text, "  "))...)
	}
	line := styled.Line{{Text: "pawl", Style: styled.Style{Role: styled.Accent, Attr: styled.Bold}}}
	line = line.Add(styled.Dim, "  "+s.Model+"; mode "+s.Mode+"; session "+s.ID)
	p.put(line.Wrap(p.width, styled.Of(styled.Text, "      "))...)
	if s.Earlier > 0 {
		p.wrapped(styled.Dim, "… what came first is not shown; Ctrl+O shows the whole session")
	}
	for _, w := range s.Welcome {
		p.put(styled.Of(styled.Accent, "· ").Add(styled.Text, w).Wrap(p.width, styled.Of(styled.Text, "  "))...)
	}
}

// rows returns the rows of the open blocks, for the live area.
func (p *renderer) rows(now time.Time) []styled.Line {
	out := p.pending()
	if len(p.open) > 0 && p.flow == nil {
		out = append(out, p.ticking()...)
	}
	for _, l := range p.open {
		switch b := l.Body.(type) {
		case chat.Thinking:
			if p.folded == l.ID {
				continue
			}
			out = append(out, styled.Of(styled.Dim, "∴ thinking"+since(l.Began, now)))
		case chat.Call:
			if b.Started && !b.Asks && (b.Kind != tool.Note || len(l.tail) > 0) {
				out = append(out, p.running(l, b.Title, now)...)
			}
		case chat.Check:
			out = append(out, p.running(l, b.Title, now)...)
		case chat.Crew:
			out = append(out, p.crew(b, l.Began, now, crewRows)...)
		case chat.Aside:
			out = append(out, styled.Of(styled.Accent, "◇ ").Add(styled.Text, "btw: "+plain.Line(b.Question)).Cut(p.width-8).Add(styled.Dim, since(l.Began, now)))
		case chat.Retry:
			text := b.Text
			if b.Waiting != "" {
				text += " (" + b.Waiting + ")"
			}
			out = append(out, styled.Of(styled.Warn, "! "+text).Wrap(p.width, styled.Of(styled.Text, "  "))...)
		}
	}
	return out
}

func (p *renderer) running(l *live, title string, now time.Time) []styled.Line {
	head := styled.Of(styled.Accent, "● ").Add(styled.Text, title).Cut(p.width - 8)
	out := []styled.Line{head.Add(styled.Dim, since(l.Began, now))}
	tail := l.tail
	if l.part != "" {
		tail = append(tail[max(0, len(tail)-tailLines+1):len(tail):len(tail)], l.part)
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
	return "  " + seconds(d)
}

func seconds(d time.Duration) string {
	d = d.Truncate(time.Second)
	if d < time.Minute {
		return d.String()
	}
	return strings.TrimSuffix(d.String(), "0s")
}

// thinks reports whether the model reasons, and its reply has not begun.
func (p *renderer) thinks() bool {
	return slices.ContainsFunc(p.open, func(l *live) bool {
		_, ok := l.Body.(chat.Thinking)
		return ok && p.folded != l.ID
	})
}

// mending reports whether a prompt is pawl's own, about failed checks.
func mending(b chat.Prompt) bool { return b.Source == event.Autofix }
