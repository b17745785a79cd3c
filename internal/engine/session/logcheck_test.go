package session_test

import (
	"fmt"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// This file checks what must hold for every log and for every request.

// failer is what checks need of a test, rapid's included.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
}

// logCheck walks a log and reports what must not be in it.
type logCheck struct {
	t       failer
	running bool
	due     []llm.Call // calls of a reply that were not asked yet
	open    []string   // ids, in the order asked
	names   []string   // of the tools of open, as the model called them
	started map[string]bool
	at      int64
}

// checkFold checks what holds of every log (SPEC 4.3, 4.8): a turn has one end
// and nothing of it comes after; every call is asked in the order of its reply
// and has one result, in that order; what runs had passed.
func checkFold(t failer, events []event.Event) {
	t.Helper()
	c := &logCheck{t: t, started: map[string]bool{}}
	for i, e := range events {
		c.at = e.Seq
		if _, ok := e.Body.(event.Opened); ok != (i == 0) {
			c.fail("%s", e.Body.Kind())
		}
		c.apply(e.Body)
	}
	if c.running || len(c.open) > 0 {
		c.fail("the log ends with a turn that runs (%v) and the open calls %v", c.running, c.open)
	}
}

func (c *logCheck) fail(format string, args ...any) {
	c.t.Helper()
	c.t.Errorf("event %d: %s", c.at, fmt.Sprintf(format, args...))
}

func (c *logCheck) apply(b event.Body) {
	if a, ok := b.(event.CallAsked); ok {
		c.asked(a)
		return
	}
	if len(c.due) > 0 {
		c.fail("%s, and the call %s of the reply was not asked", b.Kind(), c.due[0].ID)
	}
	switch b := b.(type) {
	case event.Opened, event.Rebased, event.ModeSet, event.PersonRan, event.Resumed, event.OpStarted, event.OpDone:
		return
	case event.Warned, event.Charged, event.SideRequest, event.Phased:
		return
	case event.Noted:
		if b.Why == "phase" { // never between a call and its result
			c.between(b)
			return
		}
	case event.Compacted: // also by hand, between turns
		c.between(b)
		return
	case event.FileSeen:
		if b.Call == "" { // what a compaction left
			return
		}
	case event.Prompted:
		c.running = true
		c.between(b)
		return
	case event.Ended:
		c.between(b)
		if !c.running {
			c.fail("an end without a turn")
		}
		c.running = false
		return
	case event.Requested:
		c.between(b)
	case event.Replied:
		c.between(b)
		c.due = b.Reply.Message.Calls()
		c.started = map[string]bool{}
	case event.CallStarted:
		if c.started[b.ID] || !has(c.open, b.ID) {
			c.fail("call %s starts twice, or is not open (%v)", b.ID, c.open)
		}
		c.started[b.ID] = true
	case event.FileChanged:
		if !c.started[b.Call] {
			c.fail("%s changed by a call that did not start", b.Path)
		}
	case event.CallDone:
		c.done(b)
	}
	if !c.running {
		c.fail("%s while no turn runs", b.Kind())
	}
}

func (c *logCheck) between(b event.Body) {
	if len(c.open) > 0 {
		c.fail("%s while the calls %v are open", b.Kind(), c.open)
	}
}

func (c *logCheck) asked(a event.CallAsked) {
	if len(c.due) == 0 || c.due[0].ID != a.ID || c.due[0].Name != a.Tool || a.ID == "" || has(c.open, a.ID) {
		c.fail("call %q is asked; due %v, open %v", a.ID, c.due, c.open)
		return
	}
	c.due = c.due[1:]
	c.open, c.names = append(c.open, a.ID), append(c.names, a.Tool)
}

func (c *logCheck) done(d event.CallDone) {
	if len(c.open) == 0 || c.open[0] != d.ID || d.Result.ID != d.ID || d.Result.Name != c.names[0] {
		c.fail("a result of %q (%+v); open %v", d.ID, d.Result, c.open)
		return
	}
	c.open, c.names = c.open[1:], c.names[1:]
	switch ran := c.started[d.ID]; d.Outcome {
	case event.OK, event.TimedOut:
		if !ran {
			c.fail("call %s came to %s and had not started", d.ID, d.Outcome)
		}
	case event.Denied, event.Invalid:
		if ran {
			c.fail("call %s came to %s and had started", d.ID, d.Outcome)
		}
	}
	if (d.Outcome == event.OK) == d.Result.Error {
		c.fail("call %s came to %s, its result says error: %v", d.ID, d.Outcome, d.Result.Error)
	}
}

func has(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// pairs checks that every call has its result right behind it, in order, and
// that no result is without its call.
func pairs(t failer, n int, ms []llm.Message) {
	t.Helper()
	for i, m := range ms {
		var results []llm.Part
		if i+1 < len(ms) && ms[i+1].Role == llm.Tool {
			results = ms[i+1].Parts
		}
		calls := m.Calls()
		for k, p := range results {
			if (k < len(calls)) != (p.Result != nil) || p.Result != nil && p.Result.ID != calls[k].ID {
				t.Errorf("request %d: part %d behind message %d is %+v, the calls are %v", n, k, i, p, calls)
			}
		}
		if len(results) < len(calls) {
			t.Errorf("request %d: %d results behind the %d calls of message %d", n, len(results), len(calls), i)
		}
	}
}
