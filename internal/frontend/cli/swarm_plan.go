package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

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

type planFlags struct {
	flags
	output string
	force  bool
}

func swarmPlanCommand(a *App) *cobra.Command {
	f := &planFlags{}
	c := &cobra.Command{
		Use: "plan [flags] PROMPT…", Short: "Have the model cut a piece of work into a task graph, written to a file for you to read and edit", Args: atLeastOne,
		Long: `Have the model look at the project, in plan mode, and cut a piece of work into
tasks. The graph is checked, shown, and written to a file. Read it before
"pawl swarm run FILE": its command lines run because you name the file.`,
		RunE: func(c *cobra.Command, args []string) error {
			return planSwarm(c.Context(), a, f, strings.Join(args, " "))
		},
	}
	fs := c.Flags()
	fs.StringVarP(&f.output, "output", "o", "swarm.yaml", "write the graph to this file; - only shows it")
	fs.BoolVar(&f.force, "force", false, "write over a file that is there")
	fs.StringVarP(&f.Dir, "dir", "C", "", "plan for this folder instead of the current one")
	fs.StringVarP(&f.Model, "model", "m", "", "the model that plans")
	fs.StringVar(&f.Effort, "effort", "", "reasoning effort: low, medium or high")
	fs.Float64Var(&f.MaxUSD, "max-budget-usd", 0, "stop before this is spent")
	fs.Int64Var(&f.MaxTokens, "max-tokens-total", 0, "stop before more tokens than this are used, in and out")
	fs.StringVar(&f.Budget, "budget", "", "limits: quick, standard, deep or unlimited (see doc/budgets.md)")
	fs.StringArrayVar(&f.Fallback, "fallback-model", nil, "go on with this model when the other gives no answer (repeatable)")
	fs.SetNormalizeFunc(othersWords)
	return c
}

func planSwarm(ctx context.Context, a *App, f *planFlags, work string) error {
	ctx, stop := untilSignal(ctx, a.Signals)
	defer stop()
	if strings.TrimSpace(work) == "" {
		return usageError("say what is to be done: pawl swarm plan PROMPT")
	}
	if _, err := os.Lstat(a.Path(f.output)); f.output != "-" && !f.force && err == nil {
		return usageError("%s is there already: name another file with --output, or give --force", f.output)
	}
	f.Mode = string(permission.Plan)
	o, err := a.Open(ctx, &f.Options, setup.Frontend{Name: "swarm-plan"})
	if err != nil {
		return err
	}
	defer o.Close()
	for _, w := range o.Warnings {
		fmt.Fprintln(a.Err, plain.Line("pawl: "+w))
	}
	g, err := askForGraph(ctx, a, f, o, work)
	if i := (session.Interrupt{}); errors.As(context.Cause(ctx), &i) {
		return &exitError{code: signalCode(i.By)}
	}
	if err != nil {
		return err
	}
	text, err := taskgraph.Format(g.Graph)
	if err != nil {
		return err
	}
	fmt.Fprint(a.Out, plain.Text(string(text)))
	if f.output == "-" {
		return nil
	}
	if err := writeGraph(a.Path(f.output), text, f.force); err != nil {
		return fault.NewConfiguration("name another file with --output", "the graph was not written: %v", err)
	}
	fmt.Fprintln(a.Err, plain.Line(fmt.Sprintf("%d tasks, written to %s; read it, edit it, then: pawl swarm run %s", len(g.Tasks), f.output, f.output)))
	return nil
}

// writeGraph writes a new file. It replaces an existing one only on request.
func writeGraph(path string, text []byte, over bool) error {
	how := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if over {
		how = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(path, how, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// askForGraph asks the model for a graph until one can be run.
func askForGraph(ctx context.Context, a *App, f *planFlags, o *setup.Opened, work string) (*taskgraph.File, error) {
	prompt := swarm.PlanPrompt(work)
	for try := 1; ; try++ {
		out, err := o.RunPrompt(ctx, session.Prompt{Text: prompt}, session.Observer{After: o.View().Last(), See: func(e event.Event) error {
			if b, ok := e.Body.(event.CallAsked); ok {
				fmt.Fprintln(a.Err, plain.Line("  "+callTitle(b)))
			}
			return nil
		}})
		if err != nil {
			return nil, err
		}
		if out.Ended.End != event.EndDone {
			why := string(out.Ended.End)
			if out.Ended.Error != nil {
				why = out.Ended.Error.Message
			}
			return nil, fault.NewConfiguration("see: pawl sessions show "+o.ID(), "the model gave no graph: %s", why)
		}
		text, err := swarm.GraphIn(out.Reply)
		var g *taskgraph.File
		if err == nil {
			g, err = taskgraph.Parse("graph", []byte(text))
		}
		if err == nil {
			err = (&swarmRun{App: a, f: &swarmFlags{flags: f.flags}}).chooseKinds(g)
		}
		if err == nil {
			return g, nil
		}
		fmt.Fprintln(a.Err, plain.Text(err.Error()))
		if try == planTries {
			return nil, fault.NewConfiguration("say more exactly what is to be done, or write the graph yourself (doc/swarm.md)", "the model gave no graph that can be run in %d tries", planTries)
		}
		prompt = swarm.RetryPrompt(err)
	}
}
