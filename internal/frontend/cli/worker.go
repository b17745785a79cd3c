package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/provider/catalog"
	"github.com/pawl-agent/pawl/internal/frontend/swarmrun"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

func workerCommand(a *App) *cobra.Command {
	w := swarmrun.Worker{Environment: &a.Environment}
	c := &cobra.Command{
		Use: "worker --nats URL", Short: "Run tasks for swarms on other machines", Args: exactly(0),
		Long: `Run tasks for swarms on other machines, started with "pawl swarm run --nats URL",
until you stop it. The models, keys, permissions and sandbox of this machine are used,
and no key leaves it. Everybody who can use the NATS server can decide what runs here:
see doc/swarm.md.`,
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
	fs.IntVar(&w.Slots, "slots", 1, "how many tasks run at the same time, 1 to 64")
	fs.StringSliceVar(&w.Server.Labels, "labels", nil, "labels of this machine, such as linux,gpu; a swarm can require them")
	addHealth(c, &w.Health)
	fs.StringVar(&w.Name, "name", "", "the name of this worker in reports (default: the host name)")
	fs.StringVarP(&w.Options.Model, "model", "m", "", "the model for tasks that do not name one")
	fs.StringVar(&w.Options.Effort, "effort", "", "reasoning effort: "+strings.Join(catalog.Efforts(), ", "))
	addRights(c, &w.Options)
	fs.Lookup("permission-mode").Usage = permission.ModeNames() + "; a call that would ask is denied"
	fs.Lookup("sandbox").Usage = "how commands are confined: workspace (the default; if that is not possible, nothing runs), read-only or off (see doc/safety.md)"
	fs.SetNormalizeFunc(othersWords)
	return c
}

// addServer adds the flags that name the NATS server, and pawl's credentials for it.
func addServer(c *cobra.Command, s *swarmrun.Server) {
	fs := c.Flags()
	fs.StringVar(&s.URL, "nats", "", "the NATS server that connects the machines, such as tls://host:4222; separate several with commas (see doc/swarm.md)")
	fs.StringVar(&s.Team, "team", "", "with --nats: the team whose swarms and workers meet, if several share the server (default: main)")
	fs.StringVar(&s.Creds, "nats-creds", "", "a file with credentials for the NATS server (a JWT and its key)")
	fs.StringVar(&s.NKey, "nats-nkey", "", "a file with the seed of an nkey for the NATS server")
	fs.StringVar(&s.CA, "nats-ca", "", "a file with the certificate authorities to accept for the NATS server")
	fs.StringVar(&s.Cert, "nats-cert", "", "a file with the client certificate")
	fs.StringVar(&s.Key, "nats-key", "", "a file with the key of the client certificate")
	fs.BoolVar(&s.Plain, "nats-plain", false, "also connect to another machine without TLS: others on the network can read everything")
}

func addHealth(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "health", "", "serve /livez, /readyz and /metrics (Prometheus) at this address, such as 127.0.0.1:8081; only on this machine if it has no host")
}

func checkLabel(l string) error {
	if l == "" || len(l) > 40 || strings.Trim(strings.ToLower(l), "abcdefghijklmnopqrstuvwxyz0123456789._-") != "" {
		return fmt.Errorf("%q is not a label: use letters, digits, dots, - and _", l)
	}
	return nil
}
