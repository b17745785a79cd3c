package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/markdown"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/styled"
)

// This file draws blocks that are finished.

const (
	promptHead = 12 // lines of a long prompt that are shown
	diffLines  = 40
)

var inset = styled.Of(styled.Text, "  ")

func (p *renderer) card(ch chat.Change) {
	switch b := ch.Block.Body.(type) {
	case chat.Prompt:
		p.prompt(b)
	case chat.Thinking:
		if !ch.Block.Ephemeral && p.folded != ch.Block.ID {
			p.fold(ch.Block.ID)
			if p.whole {
				p.wrapped(styled.Dim, b.Text)
			}
		}
	case chat.Call:
		p.call(b)
	case chat.Check:
		p.begin(aCall)
		failed := b.Exit == nil || *b.Exit != 0
		p.title(b.Title, b.Said, failed, false)
		if failed {
			p.printed(b.Output)
		}
	case chat.Retry:
		p.tried(b)
	case chat.Plan:
		p.planned(b)
	case chat.Aside:
		p.aside(b)
	case chat.Crew:
		if b.Goal != "" || b.Background {
			p.begin(aCall)
			p.put(p.crew(b, ch.Block.Began, ch.Block.Ended, 0)...)
		}
	case chat.Document:
		p.document(b)
	case chat.Phase:
		if text := b.String(); text != "" && b.By != "model" { // its plan ticks
			p.begin(aNote)
			p.wrapped(styled.Accent, "▸ "+text)
		}
	case chat.Note:
		p.note(b)
	case chat.Patch:
		if b.Command != "" {
			p.begin(aPrompt)
			p.put(styled.Of(styled.Accent, "› ").Add(styled.Person, b.Command))
			p.last = anOutput
		}
		p.begin(anOutput)
		p.diff(b.Text, 0)
	case chat.TurnEnd:
		p.turnEnd(b)
	}
}

func (p *renderer) wrapped(role styled.Role, text string) {
	for l := range strings.Lines(text) {
		p.put(styled.Of(role, strings.TrimSuffix(l, "\n")).Wrap(p.width, inset)...)
	}
}

func (p *renderer) prompt(b chat.Prompt) {
	if mending(b) {
		p.begin(aNote)
		p.wrapped(styled.Dim, chat.Mending)
		return
	}
	p.lost.Forget()
	p.begin(aPrompt)
	lines := strings.Split(strings.TrimSpace(b.Text), "\n")
	more := 0
	if len(lines) > promptHead+promptHead/4 && !p.whole {
		for _, l := range lines[promptHead:] {
			n, left := tool.Missing(l)
			if more++; left { // it was too long for the window, and the rest is in a file
				more += int(n) - 1
			}
		}
		lines = lines[:promptHead]
	}
	for i, l := range lines {
		sign := "  "
		if i == 0 {
			sign = "› "
		}
		p.put(styled.Of(styled.Accent, sign).Add(styled.Person, styled.Tabs(l)).Wrap(p.width, inset)...)
	}
	if more > 0 {
		p.put(styled.Of(styled.Dim, fmt.Sprintf("  … %d lines more", more)))
	}
	if text := b.Attachments(); text != "" {
		p.wrapped(styled.Dim, "  "+text)
	}
	if b.Images > 0 {
		p.put(styled.Of(styled.Dim, "  with "+brief.Plural(b.Images, "image", "images")))
	}
	if b.Joined {
		p.put(styled.Of(styled.Dim, "  delivered while it works"))
	}
}

// retries are failed requests that were not written one by one.
type retries struct {
	why         string
	first, last int // numbers of those that were not written; 0: none
}

// tried writes a request that failed. Later failures for the same reason are
// counted, and shown in one line when something else happens.
func (p *renderer) tried(b chat.Retry) {
	if b.Reason == p.tries.why && b.Attempt > 1 && b.Wait > 0 && !p.whole {
		if p.tries.last = b.Attempt; p.tries.first == 0 {
			p.tries.first = b.Attempt
		}
		return
	}
	p.begin(aNote)
	p.tries.why = b.Reason
	p.wrapped(styled.Warn, "! "+b.Text)
}

// alike writes how many requests failed for the same reason as the last one shown.
func (p *renderer) alike() {
	t := p.tries
	p.tries = retries{}
	switch {
	case t.first == 0:
	case t.first == t.last:
		p.wrapped(styled.Warn, fmt.Sprintf("! try %d failed for the same reason", t.last))
	default:
		p.wrapped(styled.Warn, fmt.Sprintf("! tries %d to %d failed for the same reason", t.first, t.last))
	}
}

// replied draws the lines below a reply.
func (p *renderer) replied(ch chat.Change, b chat.Reply) {
	switch {
	case ch.Block.Ephemeral:
		p.put(styled.Of(styled.Dim, "— it broke off here"))
	case ch.Missed:
		p.begin(aNote)
		p.wrapped(styled.Dim, "the screen missed a part of that; here it is again, whole:")
		p.begin(aReply)
		p.put(markdown.Lines(b.Text, markdown.Options{Width: p.width, Links: p.links})...)
	}
	if b.Cached != "" {
		p.begin(aNote)
		p.wrapped(styled.Dim, b.Cached)
	}
}

// title returns a call in one line: a sign for its outcome, its title, and the outcome
// in words.
func (p *renderer) title(title, said string, failed, refused bool) {
	role := styled.Good
	switch {
	case refused:
		role = styled.Warn
	case failed:
		role = styled.Bad
	}
	l := styled.Of(role, "● ").Add(styled.Text, title)
	if said != "" {
		said = "  " + said
		if role == styled.Good {
			role = styled.Dim
		}
		l = l.Add(role, said)
	}
	p.put(l.Wrap(p.width, inset)...)
}

func (p *renderer) call(b chat.Call) {
	if b.Asks && b.Outcome == event.OK || b.Kind == tool.Note && b.Outcome == event.OK && b.Said == "" {
		return // question and answer, or the plan, stand there
	}
	if b.Kind == tool.Note && b.Outcome == event.OK && p.ticks && p.since == 0 && !p.whole {
		return // the list of steps is right above
	}
	p.begin(aCall)
	refused := b.Refused()
	failed := b.Outcome != event.OK || b.Exit != nil && *b.Exit != 0
	p.title(b.Title, b.Said, failed, refused)
	switch {
	case refused && !p.whole:
	case p.whole && b.Diff == "":
		p.printed(b.Output)
	case b.Failed():
		p.printed(b.Output)
	case b.Diff != "" && !p.asked(b.Title):
		p.diff(b.Diff, diffLines)
	}
}

// asked reports whether a question has shown what a call would change.
func (p *renderer) asked(title string) bool {
	return slices.ContainsFunc(p.previews, func(t string) bool { return t == title || strings.HasPrefix(t, title+" ") })
}

// printed shows the beginning and the end of an output.
func (p *renderer) printed(text string) {
	x := chat.Printed(text, p.whole)
	show := func(ls []string) {
		for _, l := range ls {
			p.put(styled.Of(styled.Dim, "  "+styled.Tabs(l)))
		}
	}
	show(x.Head)
	if x.Between > 0 {
		shows := "all"
		if x.Spilled {
			shows = "more"
		}
		p.put(styled.Of(styled.Accent, fmt.Sprintf("  … %d lines between; Ctrl+O shows %s", x.Between, shows)))
	}
	show(x.Tail)
}

// diff shows a change of files. Of a long one it shows only the first most lines; 0
// shows all.
func (p *renderer) diff(text string, most int) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	cut := 0
	if most > 0 && len(lines) > most+most/4 && !p.whole {
		cut = len(lines) - most
		lines = lines[:most]
	}
	names := strings.Count(text, "\n--- ")
	for i, l := range lines {
		role := styled.Text
		switch {
		case strings.HasPrefix(l, "--- ") && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "+++ "), strings.HasPrefix(l, "+++ ") && i > 0 && strings.HasPrefix(lines[i-1], "--- "):
			if names == 0 && most > 0 {
				continue // the title names the file
			}
			role = styled.Heading
		case strings.HasPrefix(l, "@@"):
			role = styled.Hunk
		case strings.HasPrefix(l, "+"):
			role = styled.Added
		case strings.HasPrefix(l, "-"):
			role = styled.Removed
		}
		p.put(styled.Of(role, "  "+styled.Tabs(l)))
	}
	if cut > 0 {
		p.put(styled.Of(styled.Accent, fmt.Sprintf("  … %d lines more; Ctrl+O shows all", cut)))
	}
}

// planned shows a plan, or the changes of one that is already shown.
func (p *renderer) planned(b chat.Plan) {
	same := len(p.plan) == len(b.Items)
	for i := range b.Items {
		same = same && p.plan[i].Text == b.Items[i].Text
	}
	before := p.plan
	p.plan, p.ticks = b.Items, true
	defer func() { p.since = 0 }()
	begun := false
	for i, it := range b.Items {
		if same && before[i].Status == it.Status {
			continue
		}
		if !begun {
			p.begin(aCall)
			begun = true
		}
		p.put(step(it).Wrap(p.width, inset)...)
	}
}

func (p *renderer) note(b chat.Note) {
	role, text := styled.Dim, b.Text
	switch b.Kind {
	case chat.OfWarning:
		p.lost.Add(b.Text)
		role, text = styled.Warn, "! "+text
	case chat.OfFailure, chat.OfRefusal:
		role, text = styled.Bad, "! "+text
	case chat.OfStuck:
		role, text = styled.Warn, "! "+text+" (evidence: Ctrl+O, /why)"
	case chat.OfCompaction:
		text += "; /context shows it"
	case chat.OfRoute:
		if !b.Explicit { // others are shown by the question that they cause
			return
		}
	case chat.OfInterrupt:
		if role, text = styled.Warn, "interrupted"; b.By == "permission" {
			text = "you did not allow it, so the turn ends here; say what to do instead"
		}
	case chat.OfPlan:
		role = styled.Accent
	case chat.OfMode, chat.OfGrant, chat.OfTold, chat.OfUndo:
	default:
		return
	}
	p.begin(aNote)
	p.wrapped(role, text)
	for _, l := range b.More {
		p.wrapped(role, "  "+l)
	}
	if p.whole {
		for _, l := range b.Evidence {
			p.wrapped(styled.Dim, "  "+l)
		}
	}
}

func (p *renderer) turnEnd(b chat.TurnEnd) {
	p.previews, p.ticks = nil, false
	p.begin(aTurnEnd)
	if b.Error != "" && b.End != event.EndPermission {
		text := fmt.Sprintf("! %s: %s", b.End, b.Error)
		if b.End == event.EndStuck {
			text += "; /why has the evidence"
		}
		p.wrapped(styled.Bad, text)
	}
	if b.Proof != "" {
		p.wrapped(styled.Text, b.Proof+"; /diff shows it, /undo turn puts it back")
	}
	text := brief.Spending(b.Spent)
	if lost := p.lost.String(); lost != "" {
		text += "; " + lost
	}
	p.wrapped(styled.Dim, text)
}

// command shows what a person's own command prints.
func (p *renderer) command(ch chat.Change, b chat.Command) {
	if p.flow == nil && (ch.More != "" || ch.What == chat.Finished) {
		line := b.Line
		if line == "" && len(p.shells) > 0 {
			line = p.shells[0]
		}
		if len(p.shells) > 0 {
			p.shells = p.shells[1:]
		}
		p.begin(aPrompt)
		p.put(styled.Of(styled.Accent, "! ").Add(styled.Person, plain.Line(line)))
		p.last = anOutput
	}
	p.flows(ch, anOutput, asIs)
	if ch.What != chat.Finished || ch.Block.Ephemeral {
		return
	}
	switch {
	case ch.Missed:
		out := strings.TrimRight(b.Output, " \n")
		p.put(styled.Of(styled.Dim, "the screen missed a part of that; it ends in: "+out[strings.LastIndexByte(out, '\n')+1:]))
	case b.Exit == nil:
		p.put(styled.Of(styled.Warn, "it did not end by itself"))
	case *b.Exit != 0:
		p.put(styled.Of(styled.Bad, fmt.Sprintf("exit code %d", *b.Exit)))
	}
}

// question shows the subject of a question as soon as it is asked, and later the
// answer.
func (p *renderer) question(ch chat.Change, b chat.Question) {
	switch ch.What {
	case chat.Added:
		p.begin(aNote)
		if b.From != "" {
			p.wrapped(styled.Warn, "the agent "+b.From+" asks:")
		}
		switch {
		case b.Why == chat.AskedByCommand:
			p.put(styled.Lines(styled.Text, strings.TrimRight(b.Text, " :"))...)
		case len(b.Calls) == 0 && b.Why == "":
			p.wrapped(styled.Accent, "? "+b.Text)
		case len(b.Calls) == 0:
			p.wrapped(styled.Warn, "? "+b.Text)
		}
		for i, c := range b.Calls {
			p.consent(i, len(b.Calls), c)
		}
	case chat.Finished:
		p.answered(b)
	}
}

func (p *renderer) consent(i, n int, c chat.Consent) {
	head := "? "
	if n > 1 {
		head = fmt.Sprintf("? %d of %d: ", i+1, n)
	}
	l := styled.Of(styled.Warn, head).Add(styled.Text, c.Title)
	if c.Reason != "" {
		l = l.Add(styled.Dim, " ("+c.Reason+")")
	}
	p.put(l.Wrap(p.width, inset)...)
	switch preview := strings.TrimSpace(c.Preview); {
	case preview == "" || strings.HasSuffix(c.Title, c.Tool+" "+preview): // the title has all of it
	case c.Diff && c.Long():
		p.previews = append(p.previews, c.Title)
		p.diff(c.Preview, chat.LongDiff)
	case c.Diff:
		p.previews = append(p.previews, c.Title)
		p.diff(c.Preview, 1<<30)
	default:
		for l := range strings.SplitSeq(strings.TrimRight(c.Preview, "\n"), "\n") {
			p.put(styled.Of(styled.Text, "  "+styled.Tabs(l)))
		}
	}
}

func (p *renderer) answered(b chat.Question) {
	p.begin(aNote)
	switch {
	case len(b.Verdicts) == 0 && b.Answer == "":
		return
	case len(b.Verdicts) == 0:
		p.wrapped(styled.Person, "  → "+b.Answer)
	}
	for i, v := range b.Verdicts {
		text := map[event.Scope]string{event.Once: "allowed once", event.Session: "allowed for this session", event.Always: "always allowed", event.No: "not allowed"}[v.Scope]
		if len(b.Verdicts) > 1 {
			text = fmt.Sprintf("%d: %s", i+1, text)
		}
		if v.Why != "" {
			text += ": " + v.Why
		}
		p.wrapped(styled.Dim, "  → "+text)
	}
}
