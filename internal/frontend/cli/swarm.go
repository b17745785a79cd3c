package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/nats/leases"
	"github.com/pawl-agent/pawl/internal/adapter/taskgraph"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/frontend/swarmrun"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
	team "github.com/pawl-agent/pawl/internal/team/swarm"
)

func swarmCommand(a *App) *cobra.Command {
	c := &cobra.Command{
		Use: "swarm", Short: "Run the tasks of a graph with several workers",
		Long: `Run the tasks of a graph with several workers at the same time. Each worker has its
own copy of the files. Results that pass the checks of their task are merged. The
merged result is verified and then written to your files as one change, which
"pawl undo" undoes. See doc/swarm.md.`,
		Args: noSubcommand, RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(swarmPlanCommand(a), swarmRunCommand(a), swarmResumeCommand(a), swarmStatusCommand(a), swarmReportCommand(a), swarmAttachCommand(a), swarmCancelCommand(a),
		swarmListCommand(a), swarmMachinesCommand(a), swarmDrainCommand(a))
	c.AddCommand(swarmSteerCommands(a)...)
	return c
}

// swarmFlags are the flags of a command that runs a swarm.
type swarmFlags struct {
	flags
	swarm swarmrun.Swarm
	json  bool
}

func (f *swarmFlags) add(c *cobra.Command) {
	fs := c.Flags()
	fs.IntVarP(&f.swarm.Workers, "workers", "w", fewWorkers, "how many workers run at the same time, 1 to 64; with --nats: on all machines together, at most 10000")
	fs.BoolVar(&f.json, "json", false, "print the report as JSON, without a screen")
	fs.BoolVar(&f.plain, "plain", false, "print what happens line by line, without a screen: for screen readers, logs and pipes")
	fs.StringVarP(&f.Dir, "dir", "C", "", "work in this folder instead of the current one")
	addModel(c, &f.Options, "the model for tasks that do not name one", "the whole swarm")
	addRights(c, &f.Options)
	fs.BoolVar(&f.Trust, "trust", false, "for this run, trust the programs that this folder configures, such as its checks (see pawl trust)")
	addServer(c, &f.swarm.Server)
	addHealth(c, &f.swarm.Health)
	fs.StringSliceVar(&f.swarm.Server.Labels, "labels", nil, "with --nats: use only workers that have all of these labels")
	fs.BoolVar(&f.swarm.TrustWorkers, "worker-checks", false, "with --nats: rely on the workers' own check results; the merged result is always verified here")
	fs.BoolVar(&f.swarm.WritePart, "write-partial", false, "if the result is incomplete, write what is merged and passes its checks")
	fs.BoolVar(&f.swarm.Branches, "branches", false, "make a git branch for each task and for the whole result, and leave your files as they are; give it again to resume")
	fs.DurationVar(&f.swarm.Timeout, "timeout", 0, "pause the swarm after this time, such as 2h")
	fs.SetNormalizeFunc(othersWords)
}

// Workers if none are named, and the most at once: each is a session on this machine, or a lease elsewhere.
const fewWorkers, mostWorkers, mostAway = 4, 64, 10_000

func (f *swarmFlags) check(c *cobra.Command) error {
	if c.Flags().Changed("nats") && f.swarm.Server.URL == "" { // the variable may be unset: the tasks must not run on this machine instead
		return usageError("--nats is empty: name the NATS server, such as --nats tls://host:4222")
	}
	return f.withinLimits()
}

func (f *swarmFlags) withinLimits() error {
	most := mostWorkers
	if f.swarm.Server.URL != "" {
		most = mostAway
	}
	if f.swarm.Workers < 1 || f.swarm.Workers > most {
		return usageError("--workers is %d: give 1 to %d", f.swarm.Workers, most)
	}
	return nil
}

func swarmRunCommand(a *App) *cobra.Command {
	f := &swarmFlags{}
	c := &cobra.Command{
		Use: "run [flags] FILE", Short: "Run the task graph of a YAML or JSON file", Args: exactly(1),
		Long: `Run the task graph of a file. You name the file, so its checks (command lines) run
without a question; if commands can be confined, a check can write only in its
worker's copy of the files. Workers cannot ask: a call that needs a permission is
denied. The report goes to stdout, progress to stderr. See doc/swarm.md.`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(c); err != nil {
				return err
			}
			g, err := taskgraph.Read(a.Path(args[0]), args[0])
			if err != nil {
				return usageError("%w", err)
			}
			return runSwarm(c.Context(), a, f, g)
		},
	}
	f.add(c)
	c.Flags().BoolVar(&f.swarm.Review, "review", false, "merge each result only after: pawl swarm accept TASK")
	return c
}

func swarmResumeCommand(a *App) *cobra.Command {
	f := &swarmFlags{}
	c := &cobra.Command{
		Use: "resume [flags] [ID]", Short: "Continue a swarm that was interrupted or not written (default: the newest of this folder)", Args: atMostOne,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(c); err != nil {
				return err
			}
			l, err := findSwarm(c.Context(), a, f.Dir, args)
			if err != nil {
				return err
			}
			if err := resumable(l); err != nil {
				return err
			}
			f.Resume, f.Dir = l.ID, cmp.Or(f.Dir, l.Dir)
			return runSwarm(c.Context(), a, f, nil)
		},
	}
	f.add(c)
	return c
}

func resumable(l *swarmrun.Log) error {
	if l.Ended != nil && l.Ended.Outcome == event.SwarmCancelled {
		return usageError("the swarm %s was cancelled: run its graph again with pawl swarm run", l.ID)
	}
	return nil
}

func findSwarm(ctx context.Context, a *App, dir string, args []string) (*swarmrun.Log, error) {
	return swarmrun.Find(ctx, &a.Environment, dir, cmp.Or(args...))
}

// runSwarm runs a new graph, or continues the swarm of f.Resume.
func runSwarm(ctx context.Context, a *App, f *swarmFlags, g *taskgraph.File) error {
	ctx, stop := untilSignal(ctx, a.Signals)
	defer stop()
	s := f.swarm
	s.Environment, s.Options, s.Lease, s.Show = &a.Environment, f.Options, a.NATSLease, a.showSwarm(f)
	r, err := s.Run(ctx, g)
	if err != nil {
		return interrupted(err)
	}
	if err := printSwarm(a.Out, r.Report, f.json); err != nil || r.NotWritten == "" {
		return err
	}
	fmt.Fprintln(a.Err, plain.Line(r.NotWritten))
	return &exitError{code: 9}
}

func swarmPlanCommand(a *App) *cobra.Command {
	var opt setup.Options
	var output string
	var force bool
	c := &cobra.Command{
		Use: "plan [flags] PROMPT…", Short: "Let the model divide a piece of work into a task graph that you can edit", Args: atLeastOne,
		Long: `Let the model read the project in plan mode and divide a piece of work into tasks.
The graph is checked, shown and written to a file. Read the file before
"pawl swarm run FILE", which runs its command lines without a question.`,
		RunE: func(c *cobra.Command, args []string) error {
			return planSwarm(c.Context(), a, opt, strings.Join(args, " "), output, force)
		},
	}
	fs := c.Flags()
	fs.StringVarP(&output, "output", "o", "swarm.yaml", "write the graph to this file; - shows it only")
	fs.BoolVar(&force, "force", false, "replace the file if it exists")
	fs.StringVarP(&opt.Dir, "dir", "C", "", "plan for this folder instead of the current one")
	addModel(c, &opt, "the model that plans", "planning")
	fs.SetNormalizeFunc(othersWords)
	return c
}

func planSwarm(ctx context.Context, a *App, opt setup.Options, work, output string, force bool) error {
	ctx, stop := untilSignal(ctx, a.Signals)
	defer stop()
	if strings.TrimSpace(work) == "" {
		return usageError("the prompt is empty: use pawl swarm plan PROMPT")
	}
	path := a.Path(output)
	if _, err := os.Lstat(path); output != "-" && !force && err == nil {
		return usageError("%s exists already: name another file with --output, or use --force", output)
	}
	g, err := swarmrun.Plan(ctx, &a.Environment, opt, work)
	if err != nil {
		return interrupted(err)
	}
	text, err := taskgraph.Format(g.Graph)
	if err != nil {
		return err
	}
	fmt.Fprint(a.Out, plain.Text(string(text)))
	if output == "-" {
		return nil
	}
	if err := writeGraph(path, text, force); err != nil {
		return fault.NewConfiguration("name another file with --output", "the graph was not written: %v", err)
	}
	fmt.Fprintln(a.Err, plain.Line(fmt.Sprintf("%s, written to %s; read it, edit it, then: pawl swarm run %s", plural.Of(len(g.Tasks), "task"), output, output)))
	return nil
}

// writeGraph writes a new file. It replaces an existing one only if replace is set.
func writeGraph(path string, text []byte, replace bool) error {
	how := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if replace {
		how = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(path, how, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// ofSwarm makes a subcommand about an existing swarm: the one that is named, or the
// newest of a folder.
func ofSwarm(a *App, c *cobra.Command, do func(ctx context.Context, l *swarmrun.Log) error) *cobra.Command {
	dir := ""
	c.Args = atMostOne
	c.RunE = func(c *cobra.Command, args []string) error {
		l, err := findSwarm(c.Context(), a, dir, args)
		if err != nil {
			return err
		}
		return do(c.Context(), l)
	}
	c.Flags().StringVarP(&dir, "dir", "C", "", "use this folder instead of the current one")
	return c
}

func swarmStatusCommand(a *App) *cobra.Command {
	asJSON := false
	at := swarmrun.At{Environment: &a.Environment}
	c := &cobra.Command{Use: "status [ID]", Short: "Show the progress of a swarm (default: the newest of this folder)", Args: atMostOne, RunE: func(c *cobra.Command, args []string) error {
		r, err := at.Status(c.Context(), cmp.Or(args...))
		if err != nil {
			return err
		}
		return printStatus(a.Out, r, asJSON)
	}}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON: tasks, machines, money")
	addAt(c, &at)
	return c
}

func printStatus(out io.Writer, r team.Report, asJSON bool) error {
	if asJSON {
		return printSwarm(out, r, true)
	}
	state := string(r.Outcome)
	if state == "" {
		state = "not ended; if it does not run: pawl swarm resume " + r.ID
	}
	fmt.Fprintf(out, "swarm %s: %s\n%d of %d tasks merged, %d worked on, %d failed, %d tokens\n", r.ID, state,
		r.Counts[string(swarm.Merged)], len(r.Tasks), r.Counts[string(swarm.Taken)], r.Counts[string(swarm.Failed)], r.Tokens)
	for _, t := range r.Tasks {
		where := ""
		if t.Machine != "" && t.State == swarm.Taken {
			where = "  on " + t.Machine
		}
		if t.Review {
			where = "  waits for you: pawl swarm diff, accept or retry " + t.ID
		}
		fmt.Fprintln(out, plain.Line(fmt.Sprintf("  %-10s %s  %s%s", t.State, t.ID, t.Title, where)))
	}
	return nil
}

// atServer makes a command that lists what is at a NATS server.
func atServer[T any](a *App, use, short string, list func(swarmrun.At, context.Context) ([]T, error), line func(T) string) *cobra.Command {
	at := swarmrun.At{Environment: &a.Environment}
	asJSON := false
	c := &cobra.Command{Use: use, Short: short, Args: exactly(0), RunE: func(c *cobra.Command, _ []string) error {
		all, err := list(at, c.Context())
		switch {
		case err != nil:
			return err
		case asJSON:
			return json.NewEncoder(a.Out).Encode(append([]T{}, all...)) // none: []
		}
		for _, one := range all {
			fmt.Fprintln(a.Out, plain.Line(line(one)))
		}
		return nil
	}}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	addServer(c, &at.Server)
	return c
}

func swarmListCommand(a *App) *cobra.Command {
	return atServer(a, "list --nats URL", "List the swarms at a NATS server", swarmrun.At.Swarms, func(s leases.Running) string {
		if s.Dead {
			return s.Swarm + "  no process answers; to remove what it left: pawl swarm cancel --nats URL " + s.Swarm
		}
		return s.Swarm + "  runs on " + s.Host
	})
}

func swarmMachinesCommand(a *App) *cobra.Command {
	return atServer(a, "machines --nats URL", "List the workers at a NATS server, with their versions and load", swarmrun.At.Machines, func(m leases.Machine) string {
		line := fmt.Sprintf("%s  pawl %s  %d of %d slots  %s done", m.Name, m.Version, m.Works, m.Slots, plural.Of(m.Done, "task"))
		if m.Drains {
			line += "  takes no new tasks"
		}
		if len(m.Labels) > 0 {
			line += "  " + strings.Join(m.Labels, ",")
		}
		return line
	})
}

func swarmDrainCommand(a *App) *cobra.Command {
	at := swarmrun.At{Environment: &a.Environment}
	c := &cobra.Command{Use: "drain --nats URL MACHINE", Short: "Let the workers of a machine finish their tasks, take no new ones and end", Args: exactly(1), RunE: func(c *cobra.Command, args []string) error {
		all, err := at.Drain(c.Context(), args[0])
		for _, m := range all {
			fmt.Fprintln(a.Out, plain.Line(fmt.Sprintf("%s takes no new tasks; it ends after %d", m.Name, m.Works)))
		}
		return err
	}}
	addServer(c, &at.Server)
	return c
}

func swarmReportCommand(a *App) *cobra.Command {
	var asJSON, markdown bool
	c := &cobra.Command{Use: "report [ID]", Short: "Report what each worker did, what it cost and what proves it"}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	c.Flags().BoolVar(&markdown, "markdown", false, "print as Markdown (the default)")
	exclude(c, "json", "markdown")
	return ofSwarm(a, c, func(_ context.Context, l *swarmrun.Log) error {
		return printSwarm(a.Out, l.Report(), asJSON)
	})
}

func printSwarm(out io.Writer, r team.Report, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(r)
	}
	_, err := fmt.Fprintln(out, plain.Text(r.Markdown()))
	return err
}

func swarmAttachCommand(a *App) *cobra.Command {
	lines := false
	c := &cobra.Command{
		Use: "attach [ID]", Short: "Follow a running swarm from its beginning (default: the newest of this folder)",
		Long: `Follow a swarm that runs in another terminal: first everything that happened, then
what happens, with the calls of its workers. Ctrl+C ends the view, not the swarm.
On a terminal, it shows the screen with the swarm's tasks as a tree.`,
	}
	c.Flags().BoolVar(&lines, "plain", false, "print line by line, without a screen: for screen readers, logs and pipes")
	return ofSwarm(a, c, func(ctx context.Context, l *swarmrun.Log) error {
		if shown, err := a.watchSwarm(ctx, l, lines); shown || err != nil {
			return err
		}
		ctx, stop := untilSignal(ctx, a.Signals)
		defer stop()
		return swarmrun.Follow(ctx, &a.Environment, l.ID, a.Out)
	})
}

func swarmCancelCommand(a *App) *cobra.Command {
	keep, task := false, ""
	at := swarmrun.At{Environment: &a.Environment}
	c := &cobra.Command{Use: "cancel [ID]", Short: "Cancel a swarm; its result is not written (default: the newest of this folder)", Args: atMostOne, RunE: func(c *cobra.Command, args []string) error {
		id := cmp.Or(args...)
		if task != "" {
			return (&ofTask{a: a, swarm: id, at: at}).steer(c.Context(), task, event.OrderCancel, "", "it is cancelled")
		}
		ctx, stop := untilSignal(c.Context(), a.Signals)
		defer stop()
		done, err := at.Cancel(ctx, id, keep)
		if err == nil {
			fmt.Fprintln(a.Out, plain.Line(done))
		}
		return err
	}}
	addAt(c, &at)
	c.Flags().StringVar(&task, "task", "", "cancel only this task, and what waits for it: the rest is the result")
	c.Flags().BoolVar(&keep, "keep-trees", false, "keep the workers' copies of the files and the merged result, and print where they are")
	return c
}
