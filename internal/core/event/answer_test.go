package event_test

import (
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// A reply that was cut or paused is one answer with the one that continues it.
func TestAnswer(t *testing.T) {
	reply := func(stop llm.Stop, text string, calls ...llm.Part) event.Body {
		return event.Replied{Reply: llm.Reply{Stop: stop, Message: llm.Message{Parts: append([]llm.Part{llm.TextPart(text)}, calls...)}}}
	}
	call := llm.Part{Kind: llm.CallPart, Call: &llm.Call{ID: "1"}}
	cut, last, note := reply(llm.StopLength, "one "), reply(llm.StopEnd, "two"), event.Noted{Why: event.NotedLength}
	for name, c := range map[string]struct {
		log          []event.Body
		text, before string
	}{
		"none":                    {},
		"one reply":               {[]event.Body{last}, "two", ""},
		"cut":                     {[]event.Body{cut, note, last}, "one two", "one "},
		"cut twice":               {[]event.Body{cut, note, cut, note, last}, "one one two", "one one "},
		"paused":                  {[]event.Body{reply(llm.StopPaused, "one "), last}, "one two", "one "},
		"cut and no more text":    {[]event.Body{cut, note, reply(llm.StopEnd, "")}, "one ", "one "},
		"nothing said before":     {[]event.Body{reply(llm.StopLength, ""), note, last}, "two", ""},
		"cut, then calls":         {[]event.Body{cut, note, reply(llm.StopCalls, "look", call), last}, "two", ""},
		"cut in a call":           {[]event.Body{reply(llm.StopLength, "look", call), last}, "two", ""},
		"another answer":          {[]event.Body{last, last}, "two", ""},
		"cut where the turn ends": {[]event.Body{cut, event.Ended{}, last}, "two", ""},
		"a prompt comes between":  {[]event.Body{cut, note, event.Prompted{Text: "stop that"}, last}, "two", ""},
		"what is not a reply":     {[]event.Body{cut, note, event.Compacted{}, event.Retried{}, last}, "one two", "one "},
	} {
		var a event.Answer
		for _, b := range c.log {
			a.Apply(b)
		}
		if a.Text() != c.text || a.Before() != c.before {
			t.Errorf("%s: %q after %q, want %q after %q", name, a.Text(), a.Before(), c.text, c.before)
		}
	}
}
