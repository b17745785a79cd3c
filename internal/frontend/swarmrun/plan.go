package swarmrun

import (
	"context"
	"fmt"

	"github.com/pawl-agent/pawl/internal/adapter/taskgraph"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// planTries is how often a model may return an invalid graph.
const planTries = 3

// Plan makes a model divide a piece of work into a graph that can be run. The model
// works in plan mode, and its calls are printed. If ctx is interrupted, the error is
// the session.Interrupt.
func Plan(ctx context.Context, e *setup.Environment, opt setup.Options, work string) (*taskgraph.File, error) {
	say := func(line string) { fmt.Fprintln(e.Err, plain.Line(line)) }
	opt.Mode = string(permission.Mode(opt.Mode).Child(true))
	o, err := e.Open(ctx, &opt, setup.Frontend{Name: "swarm-plan"})
	if err != nil {
		return nil, err
	}
	defer o.Close()
	for _, w := range o.Warnings {
		say("pawl: " + w)
	}
	prompt := swarm.PlanPrompt(work)
	for try := 1; ; try++ {
		out, err := o.RunPrompt(ctx, session.Prompt{Text: prompt}, session.Observer{After: o.View().Last(), See: func(e event.Event) error {
			if b, ok := e.Body.(event.CallAsked); ok {
				say("  " + callTitle(b))
			}
			return nil
		}})
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return nil, err
		}
		if out.Ended.End != event.EndDone {
			why := string(out.Ended.End)
			if out.Ended.Error != nil {
				why = out.Ended.Error.Message
			}
			return nil, fault.NewConfiguration("see: pawl sessions show "+o.ID(), "the model wrote no graph: %s", why)
		}
		g, err := graphIn(&worker{Environment: e, opt: opt, say: say}, out.Reply)
		if err == nil {
			return g, nil
		}
		fmt.Fprintln(e.Err, plain.Text(err.Error()))
		if try == planTries {
			return nil, fault.NewConfiguration("describe the work in more detail, or write the graph yourself (doc/swarm.md)", "the model wrote no valid graph in %d tries", planTries)
		}
		prompt = swarm.RetryPrompt(err)
	}
}

// graphIn parses the graph in a reply, and checks that workers here can run it.
func graphIn(w *worker, reply string) (*taskgraph.File, error) {
	text, err := swarm.GraphIn(reply)
	if err != nil {
		return nil, err
	}
	g, err := taskgraph.Parse("graph", []byte(text))
	if err != nil {
		return nil, err
	}
	return g, w.chooseKinds(g.Tasks, g, true)
}
