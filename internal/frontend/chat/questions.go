package chat

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

func (t *Timeline) asked(e event.Event, b event.Asked) {
	q := Question{ID: b.ID, From: plain.Line(b.From), Why: string(b.Why), Text: plain.Text(b.Text)}
	for _, o := range b.Options {
		q.Options = append(q.Options, plain.Line(o))
	}
	for _, c := range b.Questions {
		q.Calls = append(q.Calls, t.consent(c, b.From == ""))
	}
	if q.Why == "" && q.From == "" && len(q.Calls) == 0 {
		t.markAsking(b.Text)
	}
	t.add(&part{Block: Block{ID: id("question", e.Seq), Began: e.Time, Body: q}})
}

// markAsking marks the call that asks a question: it runs, changes no file, and of
// several it is the one with this text.
func (t *Timeline) markAsking(question string) {
	first, _, _ := strings.Cut(question, "\n")
	if r := []rune(first); len(r) > 100 { // titles are shortened
		first = string(r[:100])
	}
	var asks *part
	for _, p := range t.open {
		c, ok := p.Body.(Call)
		if !ok || !c.Started || c.AsksPerson || c.Kind != tool.Note {
			continue
		}
		if asks == nil || strings.Contains(c.Title, plain.Line(first)) && !strings.Contains(asks.Body.(Call).Title, plain.Line(first)) {
			asks = p
		}
	}
	if asks != nil {
		c := asks.Body.(Call)
		c.AsksPerson = true
		asks.Body = c
		t.change(Changed, asks, "")
	}
}

// consent returns the block's part for a call in question; own: it is a call of
// this session, not of an agent.
func (t *Timeline) consent(q event.Question, own bool) Consent {
	c := Consent{
		Call: q.Call, Tool: plain.Line(q.Tool), Title: plain.Line(q.Title), Wants: plain.Line(q.Wants), Preview: plain.Text(q.Preview), Reason: questionReason(q),
		Rule: plain.Line(q.Pattern), Always: q.Always, Edits: q.Edits,
	}
	text := q.Preview
	if strings.HasPrefix(text, "(") { // a note
		_, text, _ = strings.Cut(text, "\n")
	}
	c.Diff = strings.HasPrefix(text, "--- ")
	if p := t.openCall(q.Call); own && p != nil {
		c.Block = p.ID
		if p.Body.(Call).Kind == tool.Exec {
			c.Diff = false
		}
	}
	return c
}

func (t *Timeline) answered(e event.Event, b event.Answered) {
	p := t.find(func(p *part) bool { q, ok := p.Body.(Question); return ok && q.ID == b.ID })
	if p == nil { // the log begins after it
		p = &part{Block: Block{ID: id("question", e.Seq), Began: e.Time, Body: Question{ID: b.ID}}}
	}
	q := p.Body.(Question)
	q.Answer, q.Verdicts = plain.Text(b.Text), slices.Clone(b.Verdicts)
	for i, v := range q.Verdicts {
		q.Verdicts[i].Why = plain.Text(v.Why)
	}
	p.Body = q
	t.finish(e, p, "", false)
}
