package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
	team "github.com/pawl-agent/pawl/internal/team/swarm"
)

func swarmStatusCommand(a *App) *cobra.Command {
	f := &flags{}
	c := &cobra.Command{
		Use: "status [ID]", Short: "Show how far a swarm is, the newest of this folder", Args: atMostOne,
		RunE: func(c *cobra.Command, args []string) error {
			id, l, err := a.lookAtSwarm(c.Context(), f, args)
			if err != nil {
				return err
			}
			r := team.ReportOf(&l.Schedule)
			state := string(r.Outcome)
			if state == "" {
				state = "not ended; if it does not run: pawl swarm resume " + id
			}
			fmt.Fprintf(a.Out, "swarm %s: %s\n%d of %d tasks merged, %d worked on, %d failed, %d tokens\n", id, state,
				r.Counts[string(swarm.Merged)], len(r.Tasks), r.Counts[string(swarm.Taken)], r.Counts[string(swarm.Failed)], r.Tokens)
			for _, t := range r.Tasks {
				fmt.Fprintln(a.Out, plain.Line(fmt.Sprintf("  %-10s %s  %s", t.State, t.ID, t.Title)))
			}
			return nil
		},
	}
	c.Flags().StringVarP(&f.Dir, "dir", "C", "", "of this folder instead of the current one")
	return c
}

func swarmReportCommand(a *App) *cobra.Command {
	f := &flags{}
	var asJSON, markdown bool
	c := &cobra.Command{
		Use: "report [ID]", Short: "Report who did what, what it cost and what shows it", Args: atMostOne,
		RunE: func(c *cobra.Command, args []string) error {
			_, l, err := a.lookAtSwarm(c.Context(), f, args)
			if err != nil {
				return err
			}
			return printSwarm(a.Out, team.ReportOf(&l.Schedule), asJSON)
		},
	}
	c.Flags().StringVarP(&f.Dir, "dir", "C", "", "of this folder instead of the current one")
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	c.Flags().BoolVar(&markdown, "markdown", false, "as Markdown (the default)")
	exclude(c, "json", "markdown")
	return c
}

func printSwarm(out io.Writer, r team.Report, asJSON bool) error {
	if !asJSON {
		_, err := fmt.Fprintln(out, plain.Text(r.Markdown()))
		return err
	}
	b, err := json.Marshal(r)
	if err == nil {
		_, err = fmt.Fprintln(out, string(b))
	}
	return err
}

// lookAtSwarm reads a swarm's log without locking it.
func (a *App) lookAtSwarm(ctx context.Context, f *flags, args []string) (string, *swarmLog, error) {
	conf, paths, err := a.Settings()
	if err != nil {
		return "", nil, err
	}
	dir, err := a.RealDir(f.Dir)
	if err != nil {
		return "", nil, err
	}
	st, err := a.OpenStore(ctx, &f.Options, paths, conf)
	if err != nil {
		return "", nil, err
	}
	defer st.Close()
	return swarmOf(ctx, st, dir, cmp.Or(args...))
}
