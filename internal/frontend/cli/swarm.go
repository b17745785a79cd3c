package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/taskgraph"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

func swarmCommand(a *App) *cobra.Command {
	c := &cobra.Command{
		Use: "swarm", Short: "Have several workers do the tasks of a graph",
		Long: `Have several workers do the tasks of a graph at once, each in a tree of files
of its own. What passes the tasks' checks is merged; the merged tree is verified
and then written to your files as one change, which "pawl undo" takes back.
See doc/swarm.md.`,
		Args: noSubcommand, RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(swarmPlanCommand(a), swarmRunCommand(a), swarmResumeCommand(a), swarmStatusCommand(a), swarmReportCommand(a), swarmAttachCommand(a), swarmCancelCommand(a))
	return c
}

// swarmFlags are the flags of a command that runs a swarm.
type swarmFlags struct {
	flags
	workers int
	json    bool
	nats    natsFlags
	// unchecked: results of checks that workers run on other machines are trusted.
	unchecked bool
}

func (f *swarmFlags) add(c *cobra.Command) {
	fs := c.Flags()
	fs.IntVarP(&f.workers, "workers", "w", 4, "how many workers work at once, 1 to 64; with --nats the most on all machines, up to 10000")
	fs.BoolVar(&f.json, "json", false, "print the report as JSON, and no screen")
	fs.BoolVar(&f.plain, "plain", false, "print what happens line by line, without a screen: for screen readers, logs and pipes")
	fs.StringVarP(&f.Dir, "dir", "C", "", "work in this folder instead of the current one")
	fs.StringVarP(&f.Model, "model", "m", "", "the model of tasks that name none")
	fs.StringVar(&f.Effort, "effort", "", "reasoning effort: low, medium or high")
	fs.StringVar(&f.Mode, "permission-mode", "", "of the workers: ask, plan, accept-edits, auto or yolo")
	fs.StringVar(&f.Sandbox, "sandbox", "", "how commands are confined: workspace, read-only or off (see doc/sandbox.md)")
	fs.StringArrayVar(&f.Allow, "allow", nil, "allow workers what matches, such as 'bash(go generate *)' (repeatable)")
	fs.StringArrayVar(&f.Deny, "deny", nil, "deny workers what matches (repeatable)")
	fs.Float64Var(&f.MaxUSD, "max-budget-usd", 0, "stop before all workers together cost more than this")
	fs.Int64Var(&f.MaxTokens, "max-tokens-total", 0, "stop before all workers together use more tokens than this, in and out")
	fs.StringVar(&f.Budget, "budget", "", "limits of all workers together: quick, standard, deep or unlimited (see doc/budgets.md)")
	fs.StringArrayVar(&f.Fallback, "fallback-model", nil, "go on with this model when the other gives no answer (repeatable)")
	fs.StringVar(&f.RetryFor, "retry-for", "", "try a request again for this long where the server gives no answer, such as 10m; 0 does not (default 5m)")
	fs.BoolVar(&f.Trust, "trust", false, "trust what the folder has pawl run by itself, its checks (see pawl trust)")
	f.addAway(c)
	fs.SetNormalizeFunc(othersWords)
}

// Most workers at once: here each is a session, elsewhere a lease.
const mostWorkers, mostAway = 64, 10_000

func (f *swarmFlags) check(c *cobra.Command) error {
	if c.Flags().Changed("nats") && f.nats.URL == "" { // as a variable that is not set: the tasks must not run here instead
		return usageError("--nats is empty: say which NATS server, such as --nats tls://host:4222")
	}
	most := mostWorkers
	if f.nats.URL != "" {
		most = mostAway
	}
	if f.workers < 1 || f.workers > most {
		return usageError("--workers is %d: give 1 to %d", f.workers, most)
	}
	return checkLabels(f.nats.labels)
}

// graph reads a task graph. Errors name the line and the field, or the task.
func (a *App) graph(file string) (*taskgraph.File, error) {
	f, err := taskgraph.Read(a.Path(file), file)
	if err != nil {
		return nil, usageError("%w", err)
	}
	return f, nil
}

// swarmLog is the state of a swarm from its log.
type swarmLog struct {
	swarm.Schedule
	front   string
	dir     string
	written bool // the result is in the person's files, or was
	landing bool // the open turn writes it
}

// Apply implements event.Fold.
func (l *swarmLog) Apply(e event.Event) {
	l.Schedule.Apply(e)
	switch b := e.Body.(type) {
	case event.Opened:
		l.front, l.dir = b.Front, b.Dir
	case event.Prompted:
		l.landing = l.Ended != nil && b.Text == l.landingText()
	case event.Ended:
		l.written = l.written || l.landing && b.End == event.EndDone
		l.landing = false
	}
}

// landingText returns the text under which the log records the writing of the result.
func (l *swarmLog) landingText() string { return "write the verified result of the swarm: " + l.Goal }

// swarmOf finds a swarm's log by a prefix of its id, or the newest one of a folder. One
// that died before it had a plan is none.
func swarmOf(ctx context.Context, st event.Store, dir, id string) (string, *swarmLog, error) {
	if id != "" {
		row, err := st.Session(ctx, id)
		if err != nil {
			return "", nil, setup.NoSession(err, id)
		}
		l, err := readSwarm(ctx, st, row.ID)
		if err == nil && (l.front != setup.SwarmFront || l.Len() == 0) {
			err = usageError("session %s is not a swarm's; see: pawl swarm status", row.ID)
		}
		return row.ID, l, err
	}
	for r, err := range setup.OwnSessions(ctx, st, dir) {
		if err != nil {
			return "", nil, err
		}
		if !setup.OfSwarm(ctx, st, r.ID) {
			continue
		}
		if l, err := readSwarm(ctx, st, r.ID); err != nil || l.Len() > 0 {
			return r.ID, l, err
		}
	}
	return "", nil, usageError("there is no swarm of %s; begin one: pawl swarm run FILE", dir)
}

func readSwarm(ctx context.Context, st event.Store, id string) (*swarmLog, error) {
	l := &swarmLog{}
	for e, err := range st.Read(ctx, id, 0) {
		if err != nil {
			return nil, err
		}
		l.Apply(e)
	}
	return l, nil
}
