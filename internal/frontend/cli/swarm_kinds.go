package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/agents"
	"github.com/pawl-agent/pawl/internal/adapter/nats/leases"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/taskgraph"
	"github.com/pawl-agent/pawl/internal/core/editdistance"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
	"github.com/pawl-agent/pawl/internal/team/subagent"
)

// workerKind is the kind of agent that works on a task. The zero value is an ordinary
// worker.
type workerKind struct {
	agents.Kind
	said func(string) // reports once which settings of the kind cannot be applied
}

// chooseKinds finds the kinds that the tasks name. It reads them from the person's
// folder when the swarm begins or goes on, so no worker can change them.
func (r *swarmRun) chooseKinds(g *taskgraph.File) error {
	tasks := r.tasks(g)
	if !slices.ContainsFunc(tasks, func(t event.Task) bool { return t.Agent != "" }) {
		return nil
	}
	dir, err := r.RealDir(r.f.Dir)
	if err != nil {
		return err
	}
	paths, err := settings.PathsFrom(r.Env)
	if err != nil {
		return err
	}
	conf, err := settings.Load(paths, dir)
	if err != nil {
		return err
	}
	all, warnings := r.AgentKinds(dir, paths)
	for _, w := range warnings {
		r.say("pawl: " + w)
	}
	r.kinds = map[string]workerKind{}
	var faults []swarm.Fault
	for i, t := range tasks {
		if _, known := r.kinds[t.Agent]; known || t.Agent == "" {
			continue
		}
		if k, ok := subagent.Find(all, t.Agent); ok {
			r.kinds[t.Agent] = r.workerKind(k, conf)
		} else {
			faults = append(faults, swarm.Fault{Task: i, ID: t.ID, Field: "agent", Why: noKind(t.Agent, all)})
		}
	}
	switch {
	case len(faults) == 0:
		return nil
	case g == nil:
		return usageError("%w", faults[0])
	}
	return usageError("%w", g.Faults(faults))
}

// tasks returns the tasks of a new graph, or of the swarm that goes on.
func (r *swarmRun) tasks(g *taskgraph.File) []event.Task {
	if g != nil {
		return g.Tasks
	}
	var out []event.Task
	for _, t := range r.log.Tasks() {
		out = append(out, t.Task)
	}
	return out
}

func noKind(name string, all []agents.Kind) string {
	var names []string
	for _, k := range all {
		names = append(names, k.Name)
	}
	why := fmt.Sprintf("there is no kind of agent %.64q", name)
	if near := editdistance.Nearest(name, names); near != "" {
		return why + ": did you mean " + near + "?"
	}
	return why + ": there are " + strings.Join(names, ", ")
}

// agent returns a kind as it travels to a worker on another machine, whose own models,
// tools and rights bound it there.
func (r *swarmRun) agent(name string) (*leases.Agent, error) {
	k, err := r.kind(event.Task{Agent: name})
	if err != nil {
		return nil, err
	}
	return &leases.Agent{Name: k.Name, Prompt: k.Prompt, Tools: k.Tools, Model: k.Model, USD: k.USD, ReadOnly: k.ReadOnly}, nil
}

// takeKind takes the kind that came with a task from another machine.
func (r *swarmRun) takeKind(dir string) error {
	a := r.away.Job.Agent
	if a == nil {
		return nil
	}
	paths, err := settings.PathsFrom(r.Env)
	if err != nil {
		return err
	}
	conf, err := settings.Load(paths, dir)
	if err != nil {
		return err
	}
	r.kinds = map[string]workerKind{r.away.Job.Task.Agent: r.workerKind(agents.Kind{
		Name: a.Name, Prompt: a.Prompt, Tools: a.Tools, Model: a.Model, USD: max(0, a.USD), ReadOnly: a.ReadOnly,
	}, conf)}
	return nil
}

func (r *swarmRun) workerKind(k agents.Kind, conf settings.Loaded) workerKind {
	told := map[string]bool{}
	w := workerKind{k, func(text string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if !told[text] {
			told[text] = true
			r.say("pawl: " + text)
		}
	}}
	elsewhere := r.away == nil && r.f.nats.URL != "" // the worker's machine has its own models
	if k.Model != "" && !elsewhere {
		if _, err := r.Resolve(k.Model, conf); err != nil {
			w.said(fmt.Sprintf("the model %s of the agent %s can not be used (%v): it runs on that of the swarm", k.Model, k.Name, err))
			w.Model = ""
		}
	}
	return w
}

// kind returns the kind of a task.
func (r *swarmRun) kind(t event.Task) (workerKind, error) {
	if t.Agent == "" {
		return workerKind{}, nil
	}
	k, ok := r.kinds[t.Agent]
	if !ok {
		return k, fmt.Errorf("there is no kind of agent %.64q", t.Agent)
	}
	return k, nil
}

// apply applies the kind's settings to a worker's session.
func (k workerKind) apply(c *session.Config) {
	if k.Name == "" {
		return
	}
	var missing []string
	*c, missing = c.As(tool.Agent{Kind: k.Name, Tools: k.Tools, ReadOnly: k.ReadOnly, About: "You work as the agent " + k.Name + ".\n\n" + k.Prompt})
	if len(missing) > 0 {
		k.said(fmt.Sprintf("the agent %s runs without %s: a worker has no such tool", k.Name, strings.Join(missing, ", ")))
	}
	switch {
	case k.USD <= 0:
	case c.Model.Info().Price == nil:
		k.said(fmt.Sprintf("the budget of $%.2f of the agent %s can not be kept, since no price of %s is known", k.USD, k.Name, c.Model.Info().Ref()))
	default:
		c.Limits.USD = k.USD
	}
}
