package hooks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/policy/hook"
)

// This file runs hooks for a session, its prompts and its turns.

// maxGoOn is how often in a row hooks may make a turn continue.
const maxGoOn = 5

// Prompt runs the hooks for a person's prompt before it is accepted, and those
// for the session's start before the first prompt. It returns what they add to
// the conversation. An error means that a hook refuses the prompt.
func (h *Hooks) Prompt(ctx context.Context, text string) ([]event.Draft, error) {
	if len(h.rules) == 0 {
		return nil, nil
	}
	if h.c.Child {
		return h.startedAgent(ctx)
	}
	h.mu.Lock()
	first := !h.started
	h.started, h.endedBy = true, ""
	h.mu.Unlock()
	var out []event.Draft
	if first {
		ds, err := h.Started(ctx, h.c.Source)
		if err != nil {
			return nil, err
		}
		out = ds
	}
	as, err := h.fire(ctx, hook.Input{Event: hook.UserPromptSubmit, Prompt: text})
	if err != nil {
		return nil, err
	}
	if why := denied(as); why != "" {
		return nil, refusedPrompt(why)
	}
	if why := h.endReason(); why != "" {
		return nil, refusedPrompt(why)
	}
	if c := contexts(as); c != "" {
		out = append(out, note(hook.UserPromptSubmit, c))
	}
	return append(out, h.said()...), nil
}

// startedAgent runs the hooks for the start of an agent, before its first prompt.
func (h *Hooks) startedAgent(ctx context.Context) ([]event.Draft, error) {
	h.mu.Lock()
	first := !h.started
	h.started = true
	h.mu.Unlock()
	if !first {
		return nil, nil
	}
	as, err := h.fire(ctx, hook.Input{Event: hook.SubagentStart, Agent: h.c.Kind}, h.c.Kind)
	if c := contexts(as); c != "" {
		return []event.Draft{note(hook.SubagentStart, c)}, err
	}
	return nil, err
}

func refusedPrompt(why string) error {
	return &fault.Error{Category: fault.Permission, Message: "a hook blocked the prompt: " + why, Hint: "pawl hooks list shows the hooks"}
}

// Started runs the hooks for a start of the session: startup, resume, clear, or
// compact. It returns what they add to the conversation.
func (h *Hooks) Started(ctx context.Context, source string) ([]event.Draft, error) {
	if h.c.Child {
		return nil, nil
	}
	as, err := h.fire(ctx, hook.Input{Event: hook.SessionStart, Source: source}, source)
	if c := contexts(as); c != "" {
		return []event.Draft{note(hook.SessionStart, c)}, err
	}
	return nil, err
}

// leave is how long the end of a session waits for hooks at most.
const leave = 30 * time.Second

// Close runs the hooks for the end of the session, if those for its start ran,
// and waits for running ones.
func (h *Hooks) Close() {
	h.unwatch()
	enough := time.AfterFunc(leave, h.stop)
	h.background.Wait()
	enough.Stop()
	h.stop()
	h.mu.Lock()
	started := h.started
	h.started = false
	h.mu.Unlock()
	if !started || h.c.Child {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), leave)
	defer cancel()
	_, _ = h.fire(ctx, hook.Input{Event: hook.SessionEnd, Reason: "other"}, "other") // nothing can be blocked any more
}

// Watch runs the hooks for questions to the person from now until Close. No question
// waits for them.
func (h *Hooks) Watch(log *eventlog.Log) {
	if h.c.Child || !slices.ContainsFunc(h.rules, func(r hook.Rule) bool { return r.Event == hook.Notification }) {
		return
	}
	ctx, cancel := context.WithCancel(h.leave)
	events, ended := log.Events(ctx, log.Last()), make(chan struct{})
	h.unwatch = func() { cancel(); <-ended }
	go func() {
		defer close(ended)
		for e := range events {
			if a, ok := e.Body.(event.Asked); ok {
				h.notify(a)
			}
		}
	}()
}

func (h *Hooks) notify(a event.Asked) {
	kind, message := "elicitation_dialog", a.Text
	if len(a.Questions) > 0 {
		kind, message = "permission_prompt", "pawl needs your permission to use "+a.Questions[0].Tool
	}
	h.background.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), leave)
		defer cancel()
		_, _ = h.fire(ctx, hook.Input{Event: hook.Notification, Type: kind, Message: message}, kind) // it blocks nothing
	})
}

// Compacting runs the hooks for a compaction. They can refuse one that a person
// asked for, but not one that the window needs, since the turn would end.
func (h *Hooks) Compacting(ctx context.Context, manual bool, focus string) error {
	trigger := "auto"
	if manual {
		trigger = "manual"
	}
	as, err := h.fire(ctx, hook.Input{Event: hook.PreCompact, Trigger: trigger, Focus: focus}, trigger)
	if why := denied(as); err == nil && manual && why != "" {
		return &fault.Error{Category: fault.Permission, Message: "a hook blocked the compaction: " + why, Hint: "pawl hooks list shows the hooks"}
	}
	return err
}

// Stop runs the hooks for the end of a turn. It returns the prompt with which
// the model continues, "" if the turn may end. round is how often they made it
// continue before.
func (h *Hooks) Stop(ctx context.Context, last string, round int) (goOn string, err error) {
	e := hook.Stop
	if h.c.Child {
		e = hook.SubagentStop
	}
	if !h.has(e) {
		return "", nil
	}
	var as []answer
	active := round > 0
	_, aerr := h.c.Around(ctx, string(e), func() {
		as, err = h.fire(ctx, hook.Input{Event: e, Active: &active, Last: last})
	})
	if err = errors.Join(err, aerr); err != nil {
		return "", err
	}
	if h.endReason() != "" { // it ends, as it would
		return "", nil
	}
	why := denied(as)
	if why != "" && round >= maxGoOn {
		return "", h.c.Log.Append(ctx, event.Draft{Body: event.Warned{What: event.WarnedHook, Text: fmt.Sprintf("hooks continued the turn %d times in a row, so it ends now; the last one said: %s", maxGoOn, cut.Runes(why, 300))}})
	}
	return why, nil
}
