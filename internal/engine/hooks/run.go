package hooks

import (
	"context"
	"slices"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/engine/side"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/hook"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// This file gets the answers of hooks: of programs, and of the model.

// ask returns the answers of hooks, in their order. All run in parallel.
func (h *Hooks) ask(ctx context.Context, e hook.Event, rules []hook.Rule, input []byte) []answer {
	out := make([]answer, len(rules))
	var wg sync.WaitGroup
	for i, r := range rules {
		wg.Go(func() {
			if r.Prompt != "" {
				out[i] = answer{Answer: h.judge(ctx, r, input), rule: r}
				return
			}
			ran := h.c.Runner.Run(ctx, r, input)
			out[i] = answer{Answer: hook.Read(e, ran), rule: r, exit: ran.Exit, took: ran.Took}
		})
	}
	wg.Wait()
	return out
}

// judge asks the model for a hook's decision.
func (h *Hooks) judge(ctx context.Context, r hook.Rule, input []byte) hook.Answer {
	if h.c.Side == nil {
		return hook.Unanswered(r, "this session cannot ask the model")
	}
	text, ok := r.Asked(input)
	if !ok {
		return hook.Unanswered(r, "the event is too long to be judged")
	}
	body := llm.Request{
		Head:     llm.Head{Model: h.c.Side.Model().Info().Model, System: hook.System},
		Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.TextPart(text)}}},
		Tail:     llm.Tail{MaxTokens: hook.MaxAnswer},
	}
	reply, err := h.c.Side.Complete(ctx, side.Request{By: event.ChargedHook, Body: body, Input: budget.Guess(int64(len(hook.System) + len(text))), Limit: r.Timeout})
	if err != nil {
		return hook.Unanswered(r, "the model could not be asked: "+err.Error())
	}
	return hook.Judged(r, reply.Message.Text())
}

// recorded returns what the log keeps of an answer.
func recorded(ctx context.Context, in hook.Input, a answer) []event.Draft {
	rec := event.HookRan{
		Event: string(in.Event), Command: a.rule.Command, From: a.rule.From, Call: in.Call, Reason: a.Reason, Context: a.Context, Input: a.Input,
		Broken: a.Broken, Exit: a.exit, Took: a.took,
	}
	switch a.Verdict {
	case permission.Deny:
		rec.Verdict = "deny"
	case permission.Ask:
		rec.Verdict = "ask"
	default:
		if once(a.rule) && a.Broken == "" && !a.End { // one that objects, or fails, runs again
			rec.Once = a.rule.Key()
		}
	}
	ds := []event.Draft{{Body: rec}}
	for _, say := range []string{a.PersonMessage, a.Broken} {
		if say != "" && ctx.Err() == nil {
			ds = append(ds, event.Draft{Body: event.Warned{What: event.WarnedHook, Text: say}})
		}
	}
	return ds
}

// later runs a hook for which nothing waits. It decides nothing: what it says is told with
// the next prompt.
func (h *Hooks) later(r hook.Rule, in hook.Input, input []byte) {
	h.background.Go(func() {
		a := h.ask(h.leave, in.Event, []hook.Rule{r}, input)[0]
		if (a.Verdict != permission.Allow || a.End) && a.Context == "" {
			a.Context = a.Reason
		}
		a.Verdict, a.Input, a.End = permission.Allow, nil, false
		h.mu.Lock()
		if a.Context != "" {
			h.late = append(h.late, note(in.Event, a.Context))
		}
		h.mu.Unlock()
		_ = h.c.Log.Append(context.WithoutCancel(h.leave), recorded(h.leave, in, a)...) // a broken log ends the turn
	})
}

// said returns what hooks said that nothing waited for, once.
func (h *Hooks) said() []event.Draft {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := slices.Clone(h.late)
	h.late = nil
	return out
}
