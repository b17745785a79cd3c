package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/frontend/swarmrun"
)

func workerCommand(a *App) *cobra.Command {
	w := swarmrun.Worker{Environment: &a.Environment}
	c := &cobra.Command{
		Use: "worker --nats URL", Short: "Work on the tasks of swarms of other machines", Args: cobra.NoArgs,
		Long: `Work on the tasks of swarms that run with "pawl swarm run --nats URL", until it
is stopped. Models, keys, permissions and the sandbox are this machine's own; no
key leaves it. Who may use the NATS server decides what runs here: see
doc/swarm.md.`,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case w.Server.URL == "":
				return usageError("--nats is missing: name the NATS server, such as --nats tls://host:4222")
			case w.Slots < 1 || w.Slots > mostWorkers:
				return usageError("--slots is %d: give 1 to %d", w.Slots, mostWorkers)
			}
			ctx, stop := untilSignal(c.Context(), a.Signals)
			defer stop()
			return w.Serve(ctx)
		},
	}
	addServer(c, &w.Server)
	fs := c.Flags()
	fs.IntVar(&w.Slots, "slots", 1, "how many tasks at once, 1 to 64")
	fs.StringSliceVar(&w.Server.Labels, "labels", nil, "what this machine has, such as linux,gpu: swarms may ask for it")
	fs.StringVar(&w.Name, "name", "", "how this worker is called in reports (default: the host's name)")
	fs.StringVarP(&w.Options.Model, "model", "m", "", "the model of tasks that name none")
	fs.StringVar(&w.Options.Effort, "effort", "", "reasoning effort: low, medium or high")
	addRights(c, &w.Options)
	fs.Lookup("permission-mode").Usage = "plan, accept-edits, auto or yolo; ask denies what it would ask about"
	fs.Lookup("sandbox").Usage = "how commands are confined: workspace (the default here: nothing runs where that cannot be), read-only or off (see doc/sandbox.md)"
	fs.SetNormalizeFunc(othersWords)
	return c
}

// addServer adds the flags that name the NATS server and what pawl shows it.
func addServer(c *cobra.Command, s *swarmrun.Server) {
	fs := c.Flags()
	fs.StringVar(&s.URL, "nats", "", "the NATS server that joins the machines, such as tls://host:4222; several with commas (see doc/swarm.md)")
	fs.StringVar(&s.Creds, "nats-creds", "", "a file with credentials for it (a JWT and its key)")
	fs.StringVar(&s.NKey, "nats-nkey", "", "a file with the seed of an nkey for it")
	fs.StringVar(&s.CA, "nats-ca", "", "a file with the authorities that its certificate may be of")
	fs.StringVar(&s.Cert, "nats-cert", "", "a file with a certificate of one's own")
	fs.StringVar(&s.Key, "nats-key", "", "the file with that certificate's key")
	fs.BoolVar(&s.Plain, "nats-plain", false, "connect without TLS also to another machine: who is between can read all")
}

func checkLabel(l string) error {
	if l == "" || len(l) > 40 || strings.Trim(strings.ToLower(l), "abcdefghijklmnopqrstuvwxyz0123456789._-") != "" {
		return fmt.Errorf("%q is no label: use letters, digits, dots, - and _", l)
	}
	return nil
}
