package playback

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/hints"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// Recording is a session as it is played: what came from outside pawl, by the requests
// that it came before or after.
type Recording struct {
	Opened event.Opened
	Began  time.Time
	Info   llm.Info
	Head   llm.Head
	// Cut is why the rest of the session is not played, "" if all of it is.
	Cut string

	events []event.Event // up to the cut
	turns  []turnOf
	sent   []exchange
	asked  []string // the ids of the model's questions
}

// turnOf is a turn: its prompt, and the number of its first request.
type turnOf struct {
	prompt event.Prompted
	first  int
}

// exchange is a request that was answered, with what came before it and after it.
type exchange struct {
	seq       int64 // of its Requested
	at        time.Time
	bytes     int64
	notes     []string // that other programs and files gave the conversation before it
	prompts   []event.Prompted
	summaries []string // of compactions before it
	reply     llm.Reply
	facts     []event.Draft // what checks found and changed before it
	done      map[string]event.CallDone
	did       map[string][]event.Draft // what else is known of a call
}

// Read reads the events of a session. It is an error if there is nothing to play.
func Read(events iter.Seq2[event.Event, error]) (*Recording, error) {
	r := &Recording{}
	next, running := exchange{}, false
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		if r.Cut = unplayable(e.Body, len(r.sent) > 0); r.Cut != "" {
			break
		}
		r.events = append(r.events, e)
		switch b := e.Body.(type) {
		case event.Opened:
			if b.Parent != nil {
				return nil, errors.New("it is an agent's session, whose prompt its parent made")
			}
			r.Opened, r.Began = b, e.Time
		case event.Rebased:
			if len(r.sent) == 0 {
				r.Info, r.Head = b.Info, b.Head
			}
		case event.Prompted:
			if running {
				next.prompts = append(next.prompts, b)
				continue
			}
			running = true
			r.turns = append(r.turns, turnOf{b, len(r.sent)})
		case event.Ended:
			running = false
		case event.Noted:
			if !ownNote(b.Why) {
				next.notes = append(next.notes, b.Text)
			}
		case event.Compacted:
			if b.By == "model" {
				next.summaries = append(next.summaries, b.Summary)
			}
		case event.Requested:
			next.seq, next.at, next.bytes = e.Seq, e.Time, b.Bytes
		case event.Replied:
			next.reply, next.done, next.did = b.Reply, map[string]event.CallDone{}, map[string][]event.Draft{}
			r.sent, next = append(r.sent, next), exchange{}
		case event.CallDone:
			if n := len(r.sent); n > 0 {
				last := &r.sent[n-1]
				last.done[b.ID] = b
				last.did[b.ID], next.facts = next.facts, nil
			}
		default:
			if running && len(r.sent) > 0 && fact(b) {
				next.facts = append(next.facts, event.Draft{Body: b})
			}
			if a, ok := b.(event.Asked); ok {
				r.asked = append(r.asked, a.ID)
			}
		}
	}
	if len(r.sent) == 0 {
		if r.Cut != "" {
			return nil, errors.New("nothing of it can be played: " + r.Cut)
		}
		return nil, errors.New("it has no request that was answered")
	}
	return r, nil
}

// Person reports whether the session offered its model to ask a person.
func (r *Recording) Person(asks string) bool {
	return slices.ContainsFunc(r.Head.Tools, func(t llm.ToolSpec) bool { return t.Name == asks })
}

// outside offers the tools of other programs that the session had.
type outside tool.Set

func (o outside) Offer(context.Context, llm.Info, bool) (tool.Set, []string) {
	return tool.Set(o), nil
}

// Late implements session.Outside. What was called late is offered, hidden, from the start.
func (o outside) Late(context.Context, string) (t tool.Tool, why string, ok bool) {
	return t, "", false
}

func (r *Recording) outside() session.Outside {
	var out outside
	for _, t := range r.Head.Tools {
		if strings.HasPrefix(t.Name, "mcp__") {
			out = append(out, tool.Raw(t, nil, nil))
		}
	}
	for _, x := range r.sent {
		for _, d := range x.done {
			if _, listed := tool.Set(out).Find(d.Tool); strings.HasPrefix(d.Tool, "mcp__") && !listed && d.Outcome == event.OK {
				late := tool.Raw(llm.ToolSpec{Name: d.Tool, Schema: json.RawMessage(`{"type":"object"}`)}, nil, nil)
				late.Hidden = true
				out = append(out, late)
			}
		}
	}
	if out == nil {
		return nil
	}
	return outside(given(tool.Set(out)))
}

// ownNote reports whether pawl makes a note by itself from what is in the log. All others
// say what other programs, files and agents told it.
func ownNote(why event.NotedWhy) bool {
	return why == event.NotedLength || why == event.NotedRoute || why == event.NotedPlan || strings.HasPrefix(string(why), window.WhyStatus) || strings.HasPrefix(string(why), hints.Why)
}

// fact reports whether an event is what a call or a check did or showed, which the
// conversation may tell after a compaction.
func fact(b event.Body) bool {
	switch b.(type) {
	case event.FileSeen, event.FileChanged, event.Planned, event.Cleaned, event.Remembered, event.Checked, event.Asked, event.Answered:
		return true
	}
	return false
}

// unplayable returns why a session cannot be played beyond an event: a person, a limit or
// a server did something that no reply and no result shows. begun: the session has sent
// its first request.
func unplayable(b event.Body, begun bool) string {
	switch b := b.(type) {
	case event.PersonRan:
		return "the person ran a command"
	case event.Interrupted:
		return "the turn was interrupted"
	case event.Undone, event.Redone:
		return "changes were undone"
	case event.Asked:
		if b.Why != "" {
			return "pawl asked the person about " + string(b.Why)
		}
	case event.Recalled:
		return "an answer came without the model"
	case event.ModeSet:
		return "the person changed the mode"
	case event.Phased:
		return "a plan's phase began"
	case event.Compacted:
		switch b.Why {
		case event.CompactedPerson:
			return "the person compacted the conversation"
		case event.CompactedLength:
			return "the provider refused a request as too long"
		}
	case event.Ended:
		if b.End != event.EndDone && b.End != event.EndStuck && b.End != event.EndRefused {
			return "the turn ended otherwise than by the model: " + string(b.End)
		}
	case event.Rebased:
		if begun && b.Why != "compaction" {
			return "the model or its tools changed"
		}
	}
	return ""
}
