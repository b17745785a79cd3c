package slash

import (
	"context"
	"errors"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// swarmCommand does what `pawl swarm` does: to the swarm of this screen, otherwise to the
// newest of this folder.
func swarmCommand() Command {
	return Command{
		Name: "swarm", Anytime: true, Args: "[message|edit TASK TEXT | retry|accept|diff|cancel TASK | status | report]",
		Doc: "steer a swarm: pick a task; message its worker, retry, review or cancel it", Run: steerSwarm,
	}
}

func steerSwarm(ctx context.Context, h Host, args string) error {
	tasks := swarmOf(ctx, h)
	if args == "" && tasks.Len() > 0 {
		words, err := pickOrList(ctx, h, "tasks of the swarm", taskItems(tasks))
		switch {
		case err != nil || words == "":
			return err
		case strings.HasPrefix(words, "message "), strings.HasPrefix(words, "edit "):
			h.Edit("/swarm " + words + " ")
			return nil
		}
		args = words
	}
	verb, rest, _ := strings.Cut(args, " ")
	task, text, _ := strings.Cut(strings.TrimSpace(rest), " ")
	call := []string{"swarm", verb}
	switch {
	case verb == "":
		call[1] = "status"
	case (verb == "status" || verb == "report") && task == "":
	case verb == "cancel" && task != "" && text == "":
		call = append(call, "--task="+task)
	case task != "" && (verb == "message" || verb == "retry" || verb == "edit" || verb == "accept" || verb == "diff"):
		if tasks.Len() > 0 {
			call = append(call, "--swarm="+h.Session().ID())
		}
		if call = append(call, "--", task); text != "" {
			call = append(call, text)
		}
		return h.Pawl(ctx, call...)
	default:
		return errors.New("/help has the arguments of /swarm; for more: pawl swarm --help")
	}
	if tasks.Len() > 0 {
		call = append(call, h.Session().ID())
	}
	return h.Pawl(ctx, call...)
}

// swarmOf returns the tasks of a session that runs a swarm, none for another one.
func swarmOf(ctx context.Context, h Host) *swarm.Schedule {
	s := &swarm.Schedule{}
	if h.Session() == nil {
		return s
	}
	_ = h.Session().View().Fold(ctx, s) // what was read is shown
	return s
}

// taskItems are what a person can do with each task now.
func taskItems(s *swarm.Schedule) (out []Item) {
	for _, t := range s.Tasks() {
		add := func(verb, text string) {
			out = append(out, Item{ID: verb + " " + t.ID, Group: plain.Line(t.ID + "  " + string(t.State) + "  " + t.Goal), Text: text, More: t.Result.Error})
		}
		if t.Result.Commit != "" {
			add("diff", "see what its result changes")
		}
		for _, o := range []struct {
			do   event.TaskOrder
			text string
		}{
			{event.OrderAccept, "merge its result"},
			{event.OrderMessage, "send its worker a message"},
			{event.OrderRetry, "retry it"},
			{event.OrderEdit, "give it another goal"},
			{event.OrderCancel, "cancel it, and the tasks that wait for it"},
		} {
			if s.Refuses(event.TaskSteered{Task: t.ID, Do: o.do, Text: "a text"}) == nil {
				add(string(o.do), o.text)
			}
		}
	}
	return out
}
