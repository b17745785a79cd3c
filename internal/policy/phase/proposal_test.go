package phase

import (
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
)

// Issue 14, point 6: a plan is told from an answer, and its title is no phase.
func TestProposed(t *testing.T) {
	for name, c := range map[string]struct {
		reply string
		ok    bool
		steps int
	}{
		"phases":                  {"I looked.\n\n# Plan: add a flag\n\n## Phase 1: parse it\nmore\n\n## Phase 2: test it\n", true, 2},
		"a list below level two":  {"## Plan\n\n1. parse it\n2. test it\n", true, 2},
		"another language":        {"## Umsetzungsplan\n\n1. lesen\n2. prüfen\n", true, 2},
		"an answer with a list":   {"There are two ways:\n\n1. this\n2. that\n", false, 0},
		"a heading without steps": {"# Plan\n\nI would not do it.\n", false, 0},
		"the word in another one": {"# The planet\n\n1. a\n", false, 0},
		"in code":                 {"```\n# Plan\n1. a\n```\n", false, 0},
		"too deep":                {"#### Plan\n\n1. a\n", false, 0},
		"nothing":                 {"", false, 0},
	} {
		text, ok := Proposed(c.reply)
		if ok != c.ok {
			t.Errorf("%s: %v %q", name, ok, text)
			continue
		}
		var p Proposal
		p.Apply(event.Event{Body: event.PlanWritten{Text: text, By: "model"}})
		if steps, err := p.Steps(); ok && (err != nil || len(steps) != c.steps || !p.Undecided) {
			t.Errorf("%s: %v %v", name, steps, err)
		}
	}
	// What a person wrote needs no title.
	p := Proposal{Text: "1. only this\n"}
	if steps, err := p.Steps(); err != nil || len(steps) != 1 {
		t.Errorf("%v %v", steps, err)
	}
	p.Undecided = true
	if p.Apply(event.Event{Body: event.PlanDecided{}}); p.Undecided {
		t.Error("a rejected plan still waits")
	}
}
