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
	swarm string
	at    swarmrun.At
}

func (f *ofTask) add(c *cobra.Command) {
	addAt(c, &f.at)
	c.Flags().StringVar(&f.swarm, "swarm", "", "the swarm (default: the newest of this folder)")
}

// steer gives an order, and says what becomes of it.
func (f *ofTask) steer(ctx context.Context, task string, do event.TaskOrder, text, done string) error {
	ctx, stop := untilSignal(ctx, f.a.Signals)
	defer stop()
	later, err := f.at.Steer(ctx, f.swarm, task, do, text)
	if err != nil {
		return err
	}
	if later != "" {
		done += "; " + later
	}
	fmt.Fprintln(f.a.Out, plain.Line("task "+task+": "+done))
	return nil
}

// addAt adds the flags that say where swarms are.
func addAt(c *cobra.Command, at *swarmrun.At) {
	c.Flags().StringVarP(&at.Dir, "dir", "C", "", "use this folder instead of the current one")
	addServer(c, &at.Server)
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
			return f.steer(c.Context(), args[0], k.do, text, k.done)
		}}
		f.add(c)
		all = append(all, c)
	}
	f := &ofTask{a: a, at: swarmrun.At{Environment: &a.Environment}}
	diff := &cobra.Command{Use: "diff TASK", Short: "Show what the newest result of a task changes", Args: exactly(1), RunE: func(c *cobra.Command, args []string) error {
		text, err := f.at.Diff(c.Context(), f.swarm, args[0])
		fmt.Fprint(a.Out, plain.Text(text))
		return err
	}}
	f.add(diff)
	return append(all, diff)
}
