package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/nats/dial"
	"github.com/pawl-agent/pawl/internal/adapter/nats/leases"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/engine/spending"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
	"github.com/pawl-agent/pawl/internal/team/machines"
	team "github.com/pawl-agent/pawl/internal/team/swarm"
)

// natsToken is the variable with a token: on a command line others would see it.
const natsToken = "PAWL_NATS_TOKEN"

// natsFlags name the NATS server that joins machines, and who one is there.
type natsFlags struct {
	dial.Options
	labels []string
}

func (f *natsFlags) add(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVar(&f.URL, "nats", "", "the NATS server that joins the machines, such as tls://host:4222; several with commas (see doc/swarm.md)")
	fs.StringVar(&f.Creds, "nats-creds", "", "a file with credentials for it (a JWT and its key)")
	fs.StringVar(&f.NKey, "nats-nkey", "", "a file with the seed of an nkey for it")
	fs.StringVar(&f.CA, "nats-ca", "", "a file with the authorities that its certificate may be of")
	fs.StringVar(&f.Cert, "nats-cert", "", "a file with a certificate of one's own")
	fs.StringVar(&f.Key, "nats-key", "", "the file with that certificate's key")
	fs.BoolVar(&f.Plain, "nats-plain", false, "connect without TLS also to another machine: who is between can read all")
}

func connectNATS(env func(string) string, f *natsFlags, say func(string)) (*nats.Conn, error) {
	o := f.Options
	o.Token, o.Say = env(natsToken), say
	return dial.Connect(o)
}

// held are secrets of this machine, which no other one is told.
type held []string

// heldHere are the secrets of this machine's environment that pawl can tell: the
// keys of models, and the values of variables whose names look like a secret's.
func (a *App) heldHere() held {
	var h held
	add := func(value string) {
		if secrets.Distinct(value) && !slices.Contains(h, value) {
			h = append(h, value)
		}
	}
	for _, v := range append(a.Secrets(), a.Env(natsToken)) {
		add(v)
	}
	for _, e := range os.Environ() {
		name, value, _ := strings.Cut(e, "=")
		for _, word := range []string{"KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL"} {
			if strings.Contains(strings.ToUpper(name), word) {
				add(value)
			}
		}
	}
	return h
}

// mask takes the secrets out of a message of JSON, in which they may be escaped.
func (h held) mask(b []byte) []byte {
	for _, s := range h {
		b = bytes.ReplaceAll(b, []byte(s), []byte("[secret]"))
		if escaped, err := json.Marshal(s); err == nil {
			b = bytes.ReplaceAll(b, escaped[1:len(escaped)-1], []byte("[secret]"))
		}
	}
	return b
}

// in reports whether a text holds one of them, as it is or in base64.
func (h held) in(b []byte) bool {
	return slices.ContainsFunc(h, func(s string) bool {
		return bytes.Contains(b, []byte(s)) || bytes.Contains(b, []byte(strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(s)), "=")))
	})
}

// addAway adds the flags of a swarm whose tasks are done on other machines.
func (f *swarmFlags) addAway(c *cobra.Command) {
	f.nats.add(c)
	c.Flags().StringSliceVar(&f.nats.labels, "labels", nil, "with --nats: only workers that have all of these")
	c.Flags().BoolVar(&f.unchecked, "worker-checks", false, "with --nats: take the workers' word for the tasks' checks; what is merged is verified here in any case")
}

// workers has the tasks of a swarm done by workers at a NATS server, where the
// person named one. closeBoard ends that.
func (r *swarmRun) workers(ctx context.Context) (_ team.Workers, closeBoard func(), err error) {
	f := r.f
	if f.nats.URL == "" {
		return nil, func() {}, nil
	}
	nc, err := connectNATS(r.Env, &f.nats, r.say)
	if err != nil {
		return nil, nil, err
	}
	board, err := leases.Open(ctx, nc, leases.Config{
		Swarm: r.id(), Version: Version, Labels: f.nats.labels, Lease: cmp.Or(r.NATSLease, natsLease), Bank: r.bank(), Say: r.say,
	})
	if err != nil {
		nc.Close()
		if ctx.Err() == nil { // not by a person
			err = fault.NewConfiguration("does it run with JetStream (-js), and with most servers of its cluster? then: pawl swarm resume", "%v", err)
		}
		return nil, nil, err
	}
	away := &machines.RemoteWorkers{Board: board, Trees: r.trees, Base: r.log.Base, Model: f.Model, Agent: r.agent, Check: r.check}
	if f.unchecked {
		away.Check = nil
	}
	r.say(fmt.Sprintf("workers join with: pawl worker --nats URL   (pawl %s)", Version))
	return away, func() {
		if err := board.Close(context.WithoutCancel(ctx)); err != nil {
			r.say("what the swarm kept on the NATS server could not be removed: " + err.Error())
		}
		nc.Close()
	}, nil
}

// natsLease is how long a worker on another machine may be silent.
const natsLease = 30 * time.Second

// id is the swarm's.
func (r *swarmRun) id() string {
	if r.away != nil {
		return r.away.Swarm()
	}
	if r.o != nil {
		return r.o.ID()
	}
	return "worker"
}

// bank is where the money of a worker comes from.
func (r *swarmRun) bank() spending.Parent {
	if r.away != nil {
		return r.away
	}
	return team.Bank{Account: r.o.Coordination().Account(), Log: r}
}
