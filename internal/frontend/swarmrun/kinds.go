package swarmrun

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
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
	"github.com/pawl-agent/pawl/internal/team/subagent"
)

// This file handles the kinds of agents that tasks name.

// chooseKinds finds the kinds that tasks name. The tasks are those of g or, if g is
// nil, of a swarm that is continued. It reads the kinds from the person's folder, so no
// worker can change them. here: the tasks run on this machine, with its models.
func (w *worker) chooseKinds(tasks []event.Task, g *taskgraph.File, here bool) error {
	if !slices.ContainsFunc(tasks, func(t event.Task) bool { return t.Agent != "" }) {
		return nil
	}
	dir, err := w.RealDir(w.opt.Dir)
	if err != nil {
		return err
	}
	conf, paths, err := w.SettingsIn(dir)
	if err != nil {
		return err
	}
	all, warnings := w.AgentKinds(dir, paths)
	for _, warning := range warnings {
		w.say("pawl: " + warning)
	}
	w.kinds = map[string]agents.Kind{}
	var faults []swarm.Fault
	for i, t := range tasks {
		if _, known := w.kinds[t.Agent]; known || t.Agent == "" {
			continue
		}
		k, ok := subagent.Find(all, t.Agent)
		if !ok {
			faults = append(faults, swarm.Fault{Task: i, ID: t.ID, Field: "agent", Why: noKind(t.Agent).Error() + nearest(t.Agent, all)})
			continue
		}
		if here {
			w.checkModel(&k, conf)
		}
		w.kinds[t.Agent] = k
	}
	switch {
	case len(faults) == 0:
		return nil
	case g == nil:
		return setup.Usage("%w", faults[0])
	}
	return setup.Usage("%w", g.Faults(faults))
}

func noKind(name string) error { return fmt.Errorf("unknown kind of agent %.64q", name) }

func nearest(name string, all []agents.Kind) string {
	var names []string
	for _, k := range all {
		names = append(names, k.Name)
	}
	if near := editdistance.Nearest(name, names); near != "" {
		return ": did you mean " + near + "?"
	}
	return ": there are " + strings.Join(names, ", ")
}

// send returns a kind in the form that is sent to a worker on another machine. That
// machine's own models, tools and rights limit it there.
func (w *worker) send(name string) (*leases.Agent, error) {
	k, ok := w.kinds[name]
	if !ok {
		return nil, noKind(name)
	}
	if k.Hooks != "" || k.Servers != "" {
		return nil, fmt.Errorf("the agent %s has hooks or MCP servers, which are only on this machine", k.Name)
	}
	return &leases.Agent{Name: k.Name, Prompt: k.Prompt, Tools: k.Tools, Model: k.Model, USD: k.USD, ReadOnly: k.ReadOnly, Not: k.Not, Steps: k.Steps}, nil
}

// receive uses the kind that came with a task from another machine.
func (w *worker) receive(dir string) error {
	a := w.held.Job.Agent
	if a == nil {
		return nil
	}
	conf, _, err := w.SettingsIn(dir)
	if err != nil {
		return err
	}
	k := agents.Kind{Name: a.Name, Prompt: a.Prompt, Tools: a.Tools, Model: a.Model, USD: max(0, a.USD), ReadOnly: a.ReadOnly, Not: a.Not, Steps: max(0, a.Steps)}
	w.checkModel(&k, conf)
	w.kinds = map[string]agents.Kind{w.held.Job.Task.Agent: k}
	return nil
}

// checkModel removes the model of a kind if it cannot be used here.
func (w *worker) checkModel(k *agents.Kind, conf settings.Loaded) {
	if k.Model == "" {
		return
	}
	if _, err := w.Resolve(k.Model, conf); err != nil {
		w.sayOnce(fmt.Sprintf("the model %s of the agent %s cannot be used (%v): it uses the swarm's model", k.Model, k.Name, err))
		k.Model = ""
	}
}

// configure applies a kind to the session of a worker. The zero value changes nothing.
func (w *worker) configure(c *session.Config, k agents.Kind) {
	if k.Name == "" {
		return
	}
	var missing []string
	*c, missing = c.As(tool.Agent{Kind: k.Name, Tools: k.Tools, Not: k.Not, ReadOnly: k.ReadOnly, Hooks: k.HookFiles(), Servers: k.Servers, About: "You work as the agent " + k.Name + ".\n\n" + k.Prompt})
	if len(missing) > 0 {
		w.sayOnce(fmt.Sprintf("the agent %s runs without %s: a worker has no such tool", k.Name, strings.Join(missing, ", ")))
	}
	if k.Steps > 0 && (c.Limits.Steps == 0 || k.Steps < c.Limits.Steps) {
		c.Limits.Steps = k.Steps
	}
	switch {
	case k.USD <= 0:
	case c.Model.Info().Price == nil:
		w.sayOnce(fmt.Sprintf("the budget of $%.2f of the agent %s cannot be enforced: the price of %s is unknown", k.USD, k.Name, c.Model.Info().Ref()))
	default:
		c.Limits.USD = k.USD
	}
}

// sayOnce prints a message that applies to each task of a kind only once.
func (w *worker) sayOnce(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.said == nil {
		w.said = map[string]bool{}
	}
	if !w.said[text] {
		w.said[text] = true
		w.say("pawl: " + text)
	}
}
