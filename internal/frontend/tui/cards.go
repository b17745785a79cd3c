package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/plural"
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
	outputRows = 3 // of a line of an output
)

var inset = styled.Of(styled.Text, "  ")

func (p *renderer) card(ch chat.Change) {
	switch b := ch.Block.Body.(type) {
	case chat.Prompt:
		p.prompt(b)
	case chat.Thinking:
		if !ch.Block.Ephemeral && p.foldedID != ch.Block.ID {
			p.foldThinking(ch.Block.ID)
			if p.whole {
				p.wrapped(styled.Dim, b.Text)
			}
		}
	case chat.Call:
		p.call(b)
	case chat.Check:
		p.beginCard(aCall)
		failed := b.Exit == nil || *b.Exit != 0
		p.callTitle(b.Title, b.Summary, failed, false)
		if failed {
			p.output(chat.Printed(b.Output, p.whole))
		}
	case chat.Plan:
		p.planUpdate(b)
	case chat.Aside:
		p.aside(b)
	case chat.Crew:
		if b.Goal != "" || b.Background {
			p.beginCard(aCall)
			p.put(p.crew(b, ch.Block.Began, ch.Block.Ended, 0)...)
		}
	case chat.Document:
		p.document(b)
	case chat.Phase:
		if text := b.String(); text != "" && b.By != "model" { // the plan shows the model's
			p.beginCard(aNote)
			p.wrapped(styled.Accent, "▸ "+text)
		}
	case chat.Note:
		p.note(b)
	case chat.Patch:
		if b.Command != "" {
			p.entered(b.Command)
		}
		p.beginCard(anOutput)
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
	if isAutofix(b) {
		p.beginCard(aNote)
		p.wrapped(styled.Dim, chat.AutofixMessage)
		return
	}
	p.lost.Forget()
	p.beginCard(aPrompt)
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
		p.folds = true
		p.put(styled.Of(styled.Accent, fmt.Sprintf("  … +%s; Ctrl+O shows all", plural.Of(more, "line"))))
	}
	if text := b.Attachments(); text != "" {
		p.wrapped(styled.Dim, "  "+text)
	}
	if b.Media != "" {
		p.put(styled.Of(styled.Dim, "  with "+b.Media))
	}
	if b.Joined {
		p.put(styled.Of(styled.Dim, "  delivered while it works"))
	}
}

// replied draws the lines below a reply.
func (p *renderer) replied(ch chat.Change, b chat.Reply) {
	switch {
	case ch.Block.Ephemeral:
		p.put(styled.Of(styled.Dim, "— cut off here"))
	case ch.Missed:
		p.beginCard(aNote)
		p.wrapped(styled.Dim, "the screen missed a part of this; here is all of it:")
		p.beginCard(aReply)
		p.put(markdown.Lines(b.Text, markdown.Options{Width: p.width, Links: p.links})...)
	}
	if b.Cached != "" {
		p.beginCard(aNote)
		p.wrapped(styled.Dim, b.Cached)
	}
}

// callTitle writes a call in one line: a sign for its outcome, its title, and the outcome
// in words.
func (p *renderer) callTitle(title, said string, failed, refused bool) {
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
	if b.AsksPerson && b.Outcome == event.OK || b.Kind == tool.Note && b.Outcome == event.OK && b.Summary == "" {
		return // the question with its answer, or the plan, is shown already
	}
	if b.Kind == tool.Note && b.Outcome == event.OK && p.planChanged && p.linesSincePlan == 0 && !p.whole {
		return // the list of steps is right above
	}
	p.beginCard(aCall)
	refused := b.Refused()
	failed := b.Outcome != event.OK || b.Exit != nil && *b.Exit != 0
	title := b.Title
	if b.Arguments != "" {
		title += "  " + b.Arguments
	}
	p.callTitle(title, b.Summary, failed, refused)
	switch {
	case p.whole && b.Diff == "":
		p.output(chat.Printed(b.Output, true))
	case b.Diff != "" && !b.Failed():
		if !p.previewed(b.Title) {
			p.diff(b.Diff, diffLines)
		}
	default:
		p.output(b.Shown())
	}
}

// previewed reports whether a question of this turn has shown the diff of a call.
func (p *renderer) previewed(title string) bool {
	return slices.ContainsFunc(p.previews, func(t string) bool { return t == title || strings.HasPrefix(t, title+" ") })
}

// output shows a part of an output.
func (p *renderer) output(x chat.Excerpt) {
	for _, l := range x.Head {
		p.outputLine(l)
	}
	if x.Between > 0 {
		p.folds = true
		shows := "all"
		if x.Spilled {
			shows = "more"
		}
		text := fmt.Sprintf("  … +%s; Ctrl+O shows %s", plural.Of(int(x.Between), "line"), shows)
		if len(x.Tail) > 0 {
			text = fmt.Sprintf("  … %s between; Ctrl+O shows %s", plural.Of(int(x.Between), "line"), shows)
		}
		p.put(styled.Of(styled.Accent, text))
	}
	for _, l := range x.Tail {
		p.outputLine(l)
	}
}

// outputLine shows a line of an output. One that takes more than a few rows is cut: a tool
// may print a file in one line.
func (p *renderer) outputLine(text string) {
	l := styled.Of(styled.Dim, "  "+styled.Tabs(text))
	if most := outputRows * p.width; !p.whole && p.width > 0 && l.Width() > most {
		l = l.Cut(most)
	}
	p.put(l)
}

// diff shows a unified diff, of a long one only the first most lines; 0 shows all.
func (p *renderer) diff(text string, most int) {
	text = strings.TrimRight(text, "\n")
	lines, kinds := strings.Split(text, "\n"), plain.DiffLines(text)
	digits := 0
	for _, k := range kinds {
		digits = max(digits, len(strconv.Itoa(k.Number)))
	}
	cut := 0
	if most > 0 && len(lines) > most+most/4 && !p.whole {
		cut = len(lines) - most
		lines = lines[:most]
	}
	named := strings.Contains(text, "\n--- ") || most == 0 // else the title names the file
	for i, l := range lines {
		role := styled.Text
		switch kinds[i].Kind {
		case plain.Header:
			if !named {
				continue
			}
			role = styled.Heading
		case plain.Hunk: // the numbers say where
			if i > 0 && kinds[i-1].Kind != plain.Header {
				p.put(styled.Of(styled.Dim, "  …"))
			}
			continue
		case plain.Added:
			role = styled.Added
		case plain.Removed:
			role = styled.Removed
		}
		out := styled.Of(role, "  "+styled.Tabs(l))
		if n := kinds[i].Number; n > 0 {
			out = styled.Of(styled.Dim, fmt.Sprintf("  %*d ", digits, n)).Add(role, styled.Tabs(l))
		}
		p.put(out)
	}
	if cut > 0 {
		p.folds = true
		p.put(styled.Of(styled.Accent, fmt.Sprintf("  … +%s; Ctrl+O shows all", plural.Of(cut, "line"))))
	}
}

// planUpdate shows a plan, or only the changed steps of the plan that is already shown.
func (p *renderer) planUpdate(b chat.Plan) {
	same := len(p.plan) == len(b.Items)
	for i := range b.Items {
		same = same && p.plan[i].Text == b.Items[i].Text
	}
	before := p.plan
	p.plan, p.planChanged = b.Items, true
	defer func() { p.linesSincePlan = 0 }()
	begun := false
	for i, it := range b.Items {
		if same && before[i].Status == it.Status {
			continue
		}
		if !begun {
			p.beginCard(aCall)
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
		role, text = styled.Warn, "! "+text+"; /why shows the evidence"
	case chat.OfCompaction:
		text += "; /context shows it"
	case chat.OfRoute:
		if !b.Explicit { // the others lead to a question, which shows them
			return
		}
	case chat.OfInterrupt:
		if role, text = styled.Warn, "interrupted; say what to do instead"; b.By == event.InterruptedByPermission {
			text = "you did not allow it, so the turn ends here; say what to do instead"
		}
	case chat.OfPlan:
		role = styled.Accent
	case chat.OfMode, chat.OfGrant, chat.OfTold, chat.OfUndo, chat.OfRequest, chat.OfRemote:
	default:
		return
	}
	p.beginCard(aNote)
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
	p.previews, p.planChanged = nil, false
	p.beginCard(aTurnEnd)
	if b.Error != "" && b.End != event.EndPermission {
		text := "! " + brief.Ending(b.End, b.Error)
		if b.End == event.EndStuck {
			text += "; /why has the evidence"
		}
		p.wrapped(styled.Bad, text)
	}
	for _, line := range b.Told() {
		p.wrapped(styled.Text, line)
	}
	text := brief.Spending(b.Spent)
	if lost := p.lost.String(); lost != "" {
		text += "; " + lost
	}
	p.wrapped(styled.Dim, text)
}

// command shows a person's own command and its output.
func (p *renderer) command(ch chat.Change, b chat.Command) {
	if p.stream == nil && (ch.More != "" || ch.What == chat.Finished) {
		line := b.Line
		if line == "" && len(p.pendingCommands) > 0 {
			line = p.pendingCommands[0]
		}
		if len(p.pendingCommands) > 0 {
			p.pendingCommands = p.pendingCommands[1:]
		}
		p.beginCard(aPrompt)
		p.put(styled.Of(styled.Accent, "! ").Add(styled.Person, plain.Line(line)))
		p.lastKind = anOutput
	}
	p.streamText(ch, anOutput, asIs)
	if ch.What != chat.Finished || ch.Block.Ephemeral {
		return
	}
	switch {
	case ch.Missed:
		out := strings.TrimRight(b.Output, " \n")
		p.put(styled.Of(styled.Dim, "the screen missed a part of this; it ends with: "+out[strings.LastIndexByte(out, '\n')+1:]))
	case b.Exit == nil:
		p.put(styled.Of(styled.Warn, "it was stopped"))
	case *b.Exit != 0:
		p.put(styled.Of(styled.Bad, fmt.Sprintf("exit code %d", *b.Exit)))
	}
}

// question shows the subject of a question as soon as it is asked, and later the
// answer.
func (p *renderer) question(ch chat.Change, b chat.Question) {
	switch ch.What {
	case chat.Added:
		if len(b.Items) > 0 {
			return // the picker shows it
		}
		p.beginCard(aNote)
		if b.From != "" {
			p.wrapped(styled.Warn, "the agent "+b.From+" asks:")
		}
		switch {
		case b.Why == chat.AskedByCommand:
			p.wrapped(styled.Text, strings.TrimRight(b.Text, " :"))
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
	why := styled.Of(styled.Dim, " ("+c.Reason+")")
	apart := l.Width()+why.Width() > p.width // what is asked, and not why, is read first
	if c.Reason != "" && !apart {
		l = append(l, why...)
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
	if c.Reason != "" && apart {
		p.put(styled.Of(styled.Dim, "  "+c.Reason).Wrap(p.width, inset)...)
	}
}

func (p *renderer) answered(b chat.Question) {
	if len(b.Items) > 0 {
		return // what it leads to is shown
	}
	p.beginCard(aNote)
	switch {
	case len(b.Answers) > 0 && b.Answer == "":
		p.wrapped(styled.Dim, "  → no answer")
	case len(b.Verdicts) == 0 && b.Answer == "":
		return
	case len(b.Verdicts) == 0:
		p.wrapped(styled.Person, "  → "+b.Answer)
	}
	for i, v := range b.Verdicts {
		text := map[event.Scope]string{event.Once: "allowed once", event.Session: "allowed for this session", event.Always: "always allowed", event.No: "not allowed", event.Never: "denied for this session"}[v.Scope]
		if len(b.Verdicts) > 1 {
			text = fmt.Sprintf("%d: %s", i+1, text)
		}
		if v.Why != "" {
			text += ": " + v.Why
		}
		p.wrapped(styled.Dim, "  → "+text)
	}
}
