package slash

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/sorting"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

func agents() Command {
	return Command{Name: "agents", Anytime: true, Doc: "list the agents of this session, and watch one", Run: func(ctx context.Context, h Host, _ string) error {
		all := &agentRuns{ctx: context.WithoutCancel(ctx), s: h.Session()} // it is read while the person watches
		var items []Item
		for _, r := range all.read() {
			group := "at work"
			if r.ended != "" {
				group = "ended"
			}
			items = append(items, Item{
				ID: r.id, Group: group, Text: strings.TrimSpace(r.kind + "  " + r.title), About: r.ended,
				Live: func() string { return all.of(r.id) },
			})
		}
		if len(items) == 0 {
			fmt.Fprintln(h.Out(), "no agents in this session; the model starts them, or ask it to")
			return nil
		}
		sorting.By(items, func(a, b Item) int { return strings.Compare(a.Group, b.Group) })
		id, err := pickOrList(ctx, h, "agents of this session", items)
		if err == nil && id != "" {
			h.Watch("agent "+id, func() string { return all.of(id) })
		}
		return err
	}}
}

// agentRun is an agent and what it did: a line each call.
type agentRun struct {
	id, kind, title string
	ended           string // how, "" while it works
	did             strings.Builder
}

// agentRuns reads the agents of a session from its log, each event once.
type agentRuns struct {
	ctx   context.Context
	s     *session.Session
	after int64
	all   []*agentRun
}

func (a *agentRuns) of(id string) string {
	a.read()
	return a.run(id).did.String()
}

// run returns an agent. What is said of one that is not there is not shown.
func (a *agentRuns) run(id string) *agentRun {
	if i := slices.IndexFunc(a.all, func(r *agentRun) bool { return r.id == id }); i >= 0 {
		return a.all[i]
	}
	return &agentRun{}
}

// read returns the agents, oldest first, as they are now.
func (a *agentRuns) read() []*agentRun {
	last := a.s.View().Last()
	if a.after >= last {
		return a.all
	}
	ctx, stop := context.WithCancel(a.ctx)
	defer stop()
	for e, err := range a.s.Events(ctx, a.after) {
		if err != nil {
			break // what was read is shown
		}
		if a.apply(e.Body); e.Seq > a.after {
			a.after = e.Seq
		}
		if a.after >= last {
			break
		}
	}
	return a.all
}

func (a *agentRuns) apply(body event.Body) {
	say := func(id, line string) { a.run(id).did.WriteString(plain.Line(line) + "\n") }
	switch b := body.(type) {
	case event.AgentStarted:
		a.all = append(a.all, &agentRun{id: b.Child, kind: b.Agent, title: b.Title})
	case event.AgentCalled:
		say(b.Child.Session, strings.TrimSpace(b.Done.Tool+" "+b.Done.Command+"  "+b.Done.Note))
	case event.AgentEnded:
		line := string(b.End)
		if b.Error != nil {
			line += ": " + b.Error.Message
		}
		say(b.Child, line)
		a.run(b.Child).ended = string(b.End)
	}
}
