package swarmrun

import (
	"errors"
	"maps"
	"slices"

	"github.com/nats-io/nats.go"

	"github.com/pawl-agent/pawl/internal/adapter/metrics"
	"github.com/pawl-agent/pawl/internal/adapter/nats/leases"
	team "github.com/pawl-agent/pawl/internal/team/swarm"
)

// workerReady returns why a worker's process can take no task. info is nil until it serves.
func workerReady(nc *nats.Conn, info *func() leases.Machine) error {
	switch {
	case info == nil:
		return errors.New("it is starting")
	case !nc.IsConnected():
		return errors.New("it is not connected to the NATS server")
	case (*info)().Drains:
		return errors.New("it is drained: it takes no new tasks")
	}
	return nil
}

func workerSamples(version string, nc *nats.Conn, info *func() leases.Machine) []metrics.Sample {
	m := leases.Machine{}
	if info != nil {
		m = (*info)()
	}
	return []metrics.Sample{
		metrics.Gauge("pawl_build_info", "The version of pawl.", 1, "version", version),
		metrics.Gauge("pawl_worker_connected", "1 while it is connected to the NATS server.", one(nc.IsConnected())),
		metrics.Gauge("pawl_worker_drains", "1 if it takes no new tasks.", one(m.Drains)),
		metrics.Gauge("pawl_worker_slots", "Tasks that it may work on at the same time.", float64(m.Slots)),
		metrics.Gauge("pawl_worker_tasks_running", "Tasks that it works on.", float64(m.Works)),
		metrics.Gauge("pawl_worker_swarms", "Swarms that it joined.", float64(len(m.Swarms))),
		metrics.Counter("pawl_worker_tasks_total", "Tasks whose result was sent.", float64(m.Done), "outcome", "done"),
		metrics.Counter("pawl_worker_tasks_total", "Tasks whose result was sent.", float64(m.Failed), "outcome", "failed"),
	}
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// samples returns what a scraper learns of the swarm that runs here.
func (r *run) samples() []metrics.Sample {
	var rep team.Report
	r.View(func() { rep = r.log.Report() })
	out := []metrics.Sample{
		metrics.Gauge("pawl_build_info", "The version of pawl.", 1, "version", r.Version),
		metrics.Gauge("pawl_swarm_cost_usd", "What is known to be spent, in USD.", rep.USD),
		metrics.Gauge("pawl_swarm_cost_known", "0 if more may be spent.", one(rep.Known)),
		metrics.Gauge("pawl_swarm_tokens", "Tokens that were used.", float64(rep.Tokens)),
		metrics.Gauge("pawl_swarm_machines_aside", "Machines that get no more tasks.", float64(len(rep.Aside))),
	}
	for _, state := range slices.Sorted(maps.Keys(rep.Counts)) {
		out = append(out, metrics.Gauge("pawl_swarm_tasks", "Tasks, by state.", float64(rep.Counts[state]), "state", state))
	}
	for _, m := range rep.Machines {
		out = append(out, metrics.Gauge("pawl_swarm_machine_tasks_running", "Tasks that a machine works on.", float64(m.Works), "machine", m.Name))
	}
	return out
}
