package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fsm"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// This file draws finished blocks.

type prompt struct {
	Close    bool // the section before it must be closed
	Number   int
	Title    string
	Long     bool // the title is not the whole text
	Text     passage
	At       moment
	Attached string
}

type reply struct {
	Parts []node
	Gap   string
	Cost  string
}

// card shows a call, a check or a person's command.
type card struct {
	Class, Sign, State string // State describes the sign in words
	Title, Said        string
	Open               bool
	Diff               []diffLine
	DiffGap            string
	Output             *passage
}

type diffLine struct{ Class, Text string }

type note struct {
	Class string
	Text  string
	More  []string
	// Evidence is folded on the page.
	Evidence []string
}

type step struct{ Sign, State, Text string }

type end struct {
	Class, Text, Spent string
	Proof              []string
	Path               []string
	States             int
}

func (p *writer) draw(b chat.Block) {
	at := moment{b.Began}
	if p.size > p.entries {
		p.left++
		return
	}
	if b.Open {
		p.running(b)
		return
	}
	switch b := b.Body.(type) {
	case chat.Prompt:
		p.prompt(b, at)
	case chat.Reply:
		p.reply(b)
	case chat.Thinking:
		if text := p.clean.text(b.Text); strings.TrimSpace(text) != "" {
			p.fold("Thinking", p.folded(text))
		}
	case chat.Call:
		p.call(b)
	case chat.Check:
		failed := b.Exit == nil || *b.Exit != 0
		p.card(card{Title: b.Title, Said: b.Summary, Open: failed}, state(failed, false), "", b.Output)
	case chat.Command:
		c := card{Title: "! " + p.clean.line(b.Line), Open: true}
		switch {
		case b.Exit == nil:
			c.Said = "it was stopped"
		case *b.Exit != 0:
			c.Said = fmt.Sprintf("exit code %d", *b.Exit)
		}
		p.card(c, state(c.Said != "", false), "", b.Output)
	case chat.Question:
		p.question(b)
	case chat.Retry:
		p.note("warn", b.Text)
	case chat.Plan:
		p.plan(b)
	case chat.Aside:
		p.fold(p.clean.line("/btw "+b.Question), p.folded(p.clean.text(cmp.Or(b.Answer, "no answer: "+b.Error))))
	case chat.Document:
		if b.By == "person" {
			p.fold("The plan as the person edited it", p.folded(p.clean.text(b.Text)))
		}
	case chat.Crew:
		p.crew(b)
	case chat.Phase:
		if text := b.String(); text != "" && !b.ByNext {
			p.note("phase", text)
		}
	case chat.Note:
		p.remark(b)
	case chat.TurnEnd:
		p.turnEnd(b)
	}
}

// crew lists the tasks of a swarm. It omits agents: each has its own session, and its
// call is drawn.
func (p *writer) crew(c chat.Crew) {
	if c.Goal == "" {
		return
	}
	var lines []string
	for _, m := range c.Members {
		lines = append(lines, strings.TrimSpace(m.ID+" "+m.Title)+": "+m.State)
	}
	p.note("phase", "swarm: "+c.Goal+": "+c.Outcome, lines...)
}

func (p *writer) prompt(b chat.Prompt, at moment) {
	if b.Source == event.Autofix {
		p.fold(chat.AutofixMessage, p.folded(p.clean.text(b.Text)))
		return
	}
	p.prompts++
	d := prompt{Close: p.turn, Number: p.prompts, At: at, Title: p.clean.title(b.Text), Text: newPassage(p.clean.text(b.Text), mostText)}
	d.Long = strings.TrimSpace(d.Text.Head) != d.Title
	d.Attached = p.clean.line(b.Attachments())
	if b.Media != "" {
		d.Attached = joined(d.Attached, "with "+b.Media)
	}
	if b.Joined {
		d.Attached = joined(d.Attached, "delivered while it worked")
	}
	if p.single {
		p.putSaid(d)
		return
	}
	p.turn = true
	p.putPrompt(d)
}

func (p *writer) reply(b chat.Reply) {
	text := p.clean.text(b.Text)
	if strings.TrimSpace(text) == "" {
		return
	}
	whole := newPassage(text, mostText)
	d := reply{Parts: rendered(whole.Head), Gap: whole.Gap}
	if whole.Gap != "" {
		d.Parts = append(d.Parts, node{Kind: "gap", Info: whole.Gap})
		d.Parts = append(d.Parts, rendered(whole.Tail)...)
	}
	if b.Cost != nil && *b.Cost > 0 {
		d.Cost = brief.Cost(b.Cost)
	}
	if b.Cached != "" {
		d.Cost = p.clean.line(b.Cached)
	}
	p.putReply(d)
}

// look defines how a card's outcome is shown: by colour, sign and word.
type look struct{ class, sign, word string }

func state(failed, refused bool) look {
	switch {
	case refused:
		return look{"refused", "⊘", "refused"}
	case failed:
		return look{"failed", "✗", "failed"}
	}
	return look{"ok", "✓", "done"}
}

func (p *writer) call(b chat.Call) {
	refused := b.Outcome == event.Denied || b.Outcome == event.Invalid || b.Outcome == event.Cancelled
	failed := b.Outcome != event.OK || b.Exit != nil && *b.Exit != 0
	output := b.Output
	if b.Diff != "" && !failed {
		output = "" // pawl's report to the model about its own change
	}
	p.card(card{Title: b.Title, Said: b.Summary, Open: failed && !refused}, state(failed, refused), b.Diff, output)
}

func (p *writer) card(c card, l look, diff, output string) {
	c.Class, c.Sign, c.State = l.class, l.sign, l.word
	c.Title, c.Said = p.clean.line(c.Title), p.clean.line(c.Said)
	if diff != "" {
		d := p.folded(p.clean.text(diff))
		c.Diff, c.Open = diffLines(d.Head), true
		if d.Gap != "" {
			c.DiffGap = d.Gap
		}
	}
	if text := p.clean.text(output); strings.TrimSpace(text) != "" {
		d := p.folded(text)
		c.Output = &d
	}
	p.putCard(c)
}

// folded cuts a folded text; if the page is long already, the text is omitted.
func (p *writer) folded(text string) passage {
	if p.size > p.folds {
		return passage{Gap: leftOut(len(text), strings.Count(text, "\n"))}
	}
	return newPassage(text, mostFold)
}

func diffLines(text string) []diffLine {
	if text == "" {
		return nil
	}
	var out []diffLine
	for _, l := range plain.DiffLines(text) {
		out = append(out, diffLine{map[plain.LineKind]string{plain.Header: "head", plain.Hunk: "hunk", plain.Added: "add", plain.Removed: "del"}[l.Kind], l.Text})
	}
	return out
}

func (p *writer) note(class, text string, more ...string) {
	p.putNote(note{Class: class, Text: p.clean.line(text), More: p.lines(more)})
}

func (p *writer) remark(n chat.Note) {
	class := map[chat.NoteKind]string{chat.OfWarning: "warn", chat.OfStuck: "warn", chat.OfInterrupt: "warn", chat.OfFailure: "bad", chat.OfRefusal: "bad"}[n.Kind]
	switch n.Kind {
	case chat.OfProgress, chat.OfSession, // the head of the page shows it
		chat.OfRequest: // only for those who ask to see it
		return
	}
	p.putNote(note{Class: class, Text: p.clean.line(n.Text), More: p.lines(n.More), Evidence: p.lines(n.Evidence)})
}

func (p *writer) lines(in []string) []string {
	var out []string
	for i, s := range in {
		if i == mostList {
			return append(out, fmt.Sprintf("… and %d more", len(in)-i))
		}
		out = append(out, p.clean.line(s))
	}
	return out
}

// asked is a question in one line.
func asked(b chat.Question) string {
	text := b.Text
	if len(b.Calls) > 0 {
		var titles []string
		for _, c := range b.Calls {
			titles = append(titles, c.Title)
		}
		text = strings.Join(titles, ", ")
	}
	return "asked: " + strings.TrimSpace(text)
}

func (p *writer) question(b chat.Question) {
	var said []string
	if b.Answer != "" {
		said = append(said, b.Answer)
	}
	for _, v := range b.Verdicts {
		s := map[event.Scope]string{event.Once: "allowed once", event.Session: "allowed for this session", event.Always: "always allowed", event.No: "not allowed", event.Never: "denied for this session"}[v.Scope]
		if v.Why != "" {
			s += ": " + v.Why
		}
		said = append(said, s)
	}
	if len(said) == 0 {
		said = []string{"not answered"}
	}
	p.note("asked", asked(b), said...)
}

func (p *writer) plan(b chat.Plan) {
	var out []step
	for i, it := range b.Items {
		if i == mostList {
			out = append(out, step{Text: fmt.Sprintf("and %d more", len(b.Items)-i)})
			break
		}
		s := step{"☐", "to do", p.clean.line(it.Text)}
		switch it.Status {
		case "completed", "done":
			s.Sign, s.State = "☑", "done"
		case "in_progress", "active":
			s.Sign, s.State = "▸", "in progress"
		}
		out = append(out, s)
	}
	p.putPlan(out)
}

func (p *writer) turnEnd(b chat.TurnEnd) {
	d := end{Class: "ok", Text: p.clean.line(string(b.End)), Spent: brief.Spending(b.Spent)}
	for _, line := range b.Proof {
		d.Proof = append(d.Proof, p.clean.line(line))
	}
	if b.Error != "" {
		d.Class, d.Text = "bad", d.Text+": "+p.clean.line(b.Error)
	}
	path := p.activity.Path()
	d.States, d.Path = len(path), told(path)
	p.putEnd(d)
}

// longestLoop is the length of the longest repeated sequence of states that is
// detected.
const longestLoop = 8

// told describes a path of states; a repeated sequence is written once, with its count.
func told(path []fsm.State) []string {
	var out []string
	for i := 0; i < len(path); {
		size, times := 1, 1
		for n := 1; n <= longestLoop && i+2*n <= len(path); n++ {
			k := 1
			for i+(k+1)*n <= len(path) && slices.Equal(path[i:i+n], path[i+k*n:i+(k+1)*n]) {
				k++
			}
			if k > 1 && n*k > size*times {
				size, times = n, k
			}
		}
		var names []string
		for _, s := range path[i : i+size] {
			names = append(names, brief.Doing(s))
		}
		s := strings.Join(names, " → ")
		if times > 1 {
			s = fmt.Sprintf("(%s) × %d", s, times)
		}
		out = append(out, s)
		i += size * times
	}
	return out
}
