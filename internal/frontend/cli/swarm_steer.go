package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/swarmrun"
)

// ofTask are the flags of a command about one task of a swarm.
type ofTask struct {
	a     *App
	dir   string
	swarm string
	at    swarmrun.At
}

func (f *ofTask) add(c *cobra.Command) {
	c.Flags().StringVarP(&f.dir, "dir", "C", "", "use this folder instead of the current one")
	c.Flags().StringVar(&f.swarm, "swarm", "", "the swarm (default: the newest of this folder)")
	addServer(c, &f.at.Server)
}

// steer gives an order, and says what becomes of it.
func (f *ofTask) steer(ctx context.Context, o event.TaskSteered, done string) error {
	ctx, stop := untilSignal(ctx, f.a.Signals)
	defer stop()
	later := ""
	if f.at.Server.URL != "" {
		if f.swarm == "" {
			return errNoSwarmNamed()
		}
		if err := f.at.Steer(ctx, f.swarm, o); err != nil {
			return err
		}
	} else {
		l, err := swarmrun.Find(ctx, &f.a.Environment, f.dir, f.swarm)
		if err != nil {
			return err
		}
		runs, err := swarmrun.Steer(ctx, &f.a.Environment, l, o)
		if err != nil {
			return err
		}
		if !runs {
			later = "; no process runs the swarm: pawl swarm resume " + l.ID
		}
	}
	fmt.Fprintln(f.a.Out, plain.Line(fmt.Sprintf("task %s: %s%s", o.Task, done, later)))
	return nil
}

func (f *ofTask) diff(ctx context.Context, task string) (string, error) {
	switch {
	case f.at.Server.URL == "":
		l, err := swarmrun.Find(ctx, &f.a.Environment, f.dir, f.swarm)
		if err != nil {
			return "", err
		}
		return swarmrun.Diff(ctx, &f.a.Environment, l, task)
	case f.swarm == "":
		return "", errNoSwarmNamed()
	}
	return f.at.Diff(ctx, f.swarm, task)
}

func errNoSwarmNamed() error {
	return usageError("name the swarm with --swarm; see: pawl swarm list --nats URL")
}

// swarmSteerCommands are the commands about one task of a swarm.
func swarmSteerCommands(a *App) (all []*cobra.Command) {
	for _, k := range []struct {
		use, short, done string
		do               event.TaskOrder
		text             bool // is needed
	}{
		{"message TASK TEXT…", "Send a message to the worker of a task, and to later ones", "the message is sent", event.OrderMessage, true},
		{"retry TASK [TEXT…]", "Retry a task that failed or runs, with all its tries; TEXT is for its worker", "it is retried", event.OrderRetry, false},
		{"edit TASK GOAL…", "Give a task another goal; a worker that has it is stopped", "it has another goal", event.OrderEdit, true},
		{"accept TASK", "Merge the result of a task that is reviewed", "its result is merged", event.OrderAccept, false},
	} {
		f := &ofTask{a: a, at: swarmrun.At{Environment: &a.Environment}}
		c := &cobra.Command{Use: k.use, Short: k.short, Args: atLeastOne, RunE: func(c *cobra.Command, args []string) error {
			text := strings.Join(args[1:], " ")
			if text == "-" {
				in, err := io.ReadAll(io.LimitReader(a.In, 1<<20))
				if err != nil {
					return err
				}
				text = string(in)
			}
			if k.do == event.OrderAccept && text != "" {
				return usageError("name one task")
			}
			if k.text && strings.TrimSpace(text) == "" {
				return usageError("the text is missing: pawl swarm %s; - reads it from stdin", k.use)
			}
			return f.steer(c.Context(), swarmrun.NewOrder(args[0], k.do, text), k.done)
		}}
		f.add(c)
		all = append(all, c)
	}
	f := &ofTask{a: a, at: swarmrun.At{Environment: &a.Environment}}
	diff := &cobra.Command{Use: "diff TASK", Short: "Show what the newest result of a task changes", Args: exactly(1), RunE: func(c *cobra.Command, args []string) error {
		text, err := f.diff(c.Context(), args[0])
		fmt.Fprint(a.Out, plain.Text(text))
		return err
	}}
	f.add(diff)
	return append(all, diff)
}
