package acp

import (
	"cmp"
	"context"
	"maps"

	"github.com/pawl-agent/pawl/internal/frontend/chat"
)

// question shows a question, and withdraws it once it is closed. It does not block: the
// person may take a day to answer in the editor.
func (t *openSession) question(ch chat.Change, q chat.Question) {
	if ch.Past {
		return
	}
	if ch.What == chat.Finished {
		if stop := t.questions[q.ID]; stop != nil {
			stop()
			delete(t.questions, q.ID)
		}
		if t.a.v2() && t.busy && len(t.questions) == 0 {
			t.send(t.a.state("running", nil))
		}
		return
	}
	if ch.What != chat.Added {
		return
	}
	form := t.chat.Ask(q)
	words := len(form.Choices()) == 0
	if words && !t.a.canAskText { // the protocol has no request for a text
		t.send(t.a.chunk(model, ch.Block.ID, "\n\n"+q.Text+"\n\n"))
		t.chat.Answer(q.ID, nothingTyped(q))
		return
	}
	if t.a.v2() && t.busy {
		t.send(t.a.state("requires_action", nil))
	}
	ctx, stop := context.WithCancel(t.a.ctx)
	t.questions[q.ID] = stop
	if words {
		go t.askText(ctx, q)
		return
	}
	go t.askPermission(ctx, ch.Block.ID, form, maps.Clone(t.calls))
}

func (t *openSession) askText(ctx context.Context, q chat.Question) {
	text := q.Text
	if q.From != "" {
		text = q.From + ": " + text
	}
	var said typed
	err := t.a.request(ctx, "elicitation/create", t.a.textForm(t.id, text), &said)
	if ctx.Err() != nil {
		return // the question was closed
	}
	switch {
	case err != nil:
		t.chat.Answer(q.ID, nothingTyped(q))
	case said.Action != "accept":
		t.chat.Answer(q.ID, chat.Answered{None: true})
	default:
		t.chat.Answer(q.ID, chat.Answered{Text: said.Content.Answer})
	}
}

// nothingTyped answers a question that expects words: the model hears why there are none,
// and what a slash command asks is cancelled.
func nothingTyped(q chat.Question) chat.Answered {
	if q.Why != "" {
		return chat.Answered{None: true}
	}
	return chat.Answered{Text: "(The person sees the question, but this editor cannot ask for words in the middle of a turn. Offer options, or end the turn with the question.)"}
}

// askPermission asks the person until the question is answered, about one call after the other.
func (t *openSession) askPermission(ctx context.Context, block string, form *chat.Form, calls map[string]callState) {
	q := form.Question()
	heard := chat.NextCall
	if len(q.Calls) > 1 {
		heard = form.Choose(chat.OneByOne, "")
	}
	for {
		switch heard {
		case chat.ChangeMode, chat.CompleteAndMode:
			if t.setMode(form.Mode()) != nil { // the mode is pawl's own
				return
			}
		}
		if heard == chat.Complete || heard == chat.CompleteAndMode {
			t.chat.Answer(q.ID, form.Answer())
			return
		}
		asked := t.asked(block, form, calls)
		var o outcome
		err := t.a.request(ctx, "session/request_permission", t.a.permission(t.id, asked), &o)
		if ctx.Err() != nil {
			return // the question was closed
		}
		if err != nil || o.Outcome.Outcome != "selected" {
			o.Outcome.Option = chat.No
		}
		heard = form.Choose(o.Outcome.Option, "")
		if heard == chat.NotAnswer || heard == chat.ShowDiffs { // not one that was offered
			heard = form.Choose(chat.No, "")
		}
		if heard == chat.NotAnswer { // a question with options, and none was chosen
			t.chat.Answer(q.ID, chat.Answered{None: true})
			return
		}
	}
}

// asked returns what the form asks at the moment.
func (t *openSession) asked(block string, form *chat.Form, calls map[string]callState) question {
	q := form.Question()
	out := question{title: q.Text, call: callState{id: block, kind: "other", status: "pending"}}
	if list := form.Calls(); len(list) == 1 {
		c := list[0]
		out.title, out.more = cmp.Or(c.Title, c.Tool), c.Reason
		if known, ok := calls[c.Block]; ok {
			out.call = known
			out.call.status, out.call.content, out.call.tail = "pending", nil, ""
		}
		switch {
		case c.Diff:
			out.call.content = t.a.diffs(t.dir, c.Preview)
		case c.Preview != "":
			out.call.content = []object{plainContent(c.Preview)}
		}
	}
	if q.From != "" {
		out.title = q.From + ": " + out.title
	}
	for _, c := range form.Choices() {
		if o := optionOf(c); o != nil {
			out.options = append(out.options, o)
		}
	}
	if what := form.Denies(); what != "" {
		out.options = append(out.options, object{"optionId": chat.Never, "name": "Deny " + what + " for this session", "kind": "reject_always"})
	}
	if len(form.Calls()) == 0 {
		out.options = append(out.options, object{"optionId": chat.No, "name": "None of these", "kind": "reject_once"})
	}
	return out
}

// optionOf returns a choice as the editor offers it; nil for what only shows more.
func optionOf(c chat.Choice) object {
	name, kind := c.Text, "allow_once"
	switch c.Key {
	case chat.Yes:
		name = "Allow once"
	case chat.AllEdits:
		name, kind = "Allow all edits from now on", "allow_always"
	case chat.ForSession:
		name, kind = "Allow "+c.Covers+" for this session", "allow_always"
	case chat.ForAlways:
		name, kind = "Always allow "+c.Covers, "allow_always"
	case chat.No:
		name, kind = "No", "reject_once"
	case chat.WholeDiff, chat.OneByOne:
		return nil
	}
	return object{"optionId": c.Key, "name": name, "kind": kind}
}
