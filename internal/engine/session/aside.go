package session

import (
	"context"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/engine/side"
	"github.com/pawl-agent/pawl/internal/engine/turn"
)

// Aside asks the model a question beside the conversation, also while a turn runs: it
// is answered from what the conversation has by now, without tools, and leaves nothing
// in it.
type Aside struct{ Text string }

// The limits of such a question.
const (
	asideTokens = 4096
	asideTime   = 5 * time.Minute
)

const asideNote = "[A question beside the conversation. Answer it now, in text only and without calling a tool, from what you know by now. Neither the question nor the answer will be part of the conversation.]\n\n"

// submit asks in the background. The log shows the question and, later, the answer.
func (op Aside) submit(ctx context.Context, s *Session) (int64, error) {
	text := strings.TrimSpace(strings.ToValidUTF8(op.Text, "\uFFFD"))
	switch {
	case text == "":
		return 0, fault.NewConfiguration("", "the question is empty")
	case s.info().Planner():
		return 0, fault.NewConfiguration("", "the built-in planner cannot answer questions")
	}
	id := s.cfg.NewID()
	n, err := s.ops.RecordAnytime(ctx, event.Draft{Body: event.AsideAsked{ID: id, Text: text}})
	if err != nil {
		return 0, err
	}
	s.ops.RunBackground(func(ctx context.Context) {
		out := event.AsideAnswered{ID: id}
		reply, err := s.askAside(ctx, text)
		switch {
		case err != nil:
			f := turn.Describe(err)
			out.Error = &f
		case strings.TrimSpace(reply.Message.Text()) != "":
			out.Text, out.Cost = reply.Message.Text(), llm.Cost(s.info().Price, reply.Usage)
		default:
			out.Error = &event.Fault{Category: string(fault.LLM), Message: "the model answered without text; ask in the conversation, where it can use tools"}
		}
		_ = s.log.Append(context.WithoutCancel(ctx), event.Draft{Body: out}) // a log that cannot be written has ended its readers
	})
	return n, nil
}

func (s *Session) askAside(ctx context.Context, text string) (*llm.Reply, error) {
	var r llm.Request
	var input int64
	s.log.View(func() { r, input = s.conv.Aside(asideNote + text) })
	r.Tail.MaxTokens = asideTokens
	if most := s.info().MaxOutput; most > 0 {
		r.Tail.MaxTokens = min(asideTokens, most)
	}
	return s.side.Complete(ctx, side.Request{By: event.ChargedAside, Body: r, Input: input, Limit: asideTime, Cached: true})
}
