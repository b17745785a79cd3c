// Package subagent is the agent tool (SPEC 14.1): a model delegates a part of
// its task to an agent of some kind, which works in its own session and returns
// its last message.
//
// It promises that several agents run at once, that the model is told when an
// agent in the background ends, and that the result names how an agent ended,
// what it cost and which files it changed. It does not judge what an agent may
// do: the session does, and grants it no more than it has itself. A file
// describes a kind (adapter/agents); nothing in it widens anything.
package subagent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/agents"
	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Name is the tool's. Budgets and hints know it.
const Name = "agent"

// General is the default kind of agent.
const General = "general"

// generalPurpose is another agent's name for it, as tool.PlainName folds it.
const generalPurpose = "generalpurpose"

// timeout is how long an agent may run if no budget and no person ends it.
const timeout = 24 * time.Hour

// most is how many bytes of a kind's description are shown to the model.
const most = 400

// Arguments is the tool's arguments.
type Arguments struct {
	Description string `json:"description" doc:"the task in a few words"`
	Prompt      string `json:"prompt" doc:"the whole task, what is known, and what to report: the agent knows nothing of this conversation"`
	Agent       string `json:"agent,omitempty" doc:"the kind of agent; general if absent"`
	Background  bool   `json:"background,omitempty" doc:"go on meanwhile: you are told when it has ended"`
}

// Tool returns the agent tool for these kinds. mask removes secrets from their notes.
func Tool(kinds []agents.Kind, mask func(string) string) tool.Tool {
	t := tool.New(Name, doc(kinds),
		func(tool.Env, Arguments) (tool.Footprint, error) { return tool.Footprint{RunsChild: true}, nil },
		func(ctx context.Context, env tool.Env, in Arguments) (tool.Result, error) {
			return Run(ctx, env, kinds, in, mask, "", "", "")
		},
	)
	t.Facts = tool.Facts{
		Kind: tool.Exec, Aliases: []string{"task", "subagent", "dispatchagent", "spawnagent", "delegate"}, Delegates: true,
		Hooks: []string{"Task", "Agent"}, Subject: kindOf,
	}
	t.Example = `{"description":"find the callers","prompt":"Find all callers of Open in this repository. Report path and line of each.","agent":"explore"}`
	t.ReadOnly = true // the agent's calls are judged one by one, in its session
	t.Timeout = timeout
	return t
}

// kindOf returns the kind of agent that a call starts.
func kindOf(args json.RawMessage) string {
	var in Arguments
	_ = json.Unmarshal(args, &in) // other arguments start nothing
	if in.Agent == "" || tool.PlainName(in.Agent) == generalPurpose {
		return General
	}
	return in.Agent
}

func doc(kinds []agents.Kind) string {
	var b strings.Builder
	b.WriteString("Hand a part of the task to an agent with a context of its own; you get its last message. Use it to explore much, or for parts that do not depend on each other: several calls in one reply run at once. What it changes counts as yours. Kinds of agents:")
	for _, k := range kinds {
		about := strings.Join(strings.Fields(k.Description), " ")
		fmt.Fprintf(&b, "\n- %s: %s", k.Name, cut.Runes(about, most))
	}
	return b.String()
}

// Run starts an agent of one of the kinds. model and effort, if set, are used in place of
// the kind's. The hooks of a file hold for it beside the kind's, if hooks is one.
func Run(ctx context.Context, env tool.Env, kinds []agents.Kind, in Arguments, mask func(string) string, model, effort, hooks string) (tool.Result, error) {
	if env.Agents == nil {
		return tool.Errorf("This session starts no agents. Do the work yourself."), nil
	}
	k, ok := Find(kinds, in.Agent)
	if !ok {
		var names []string
		for _, k := range kinds {
			names = append(names, k.Name)
		}
		return tool.Errorf("There is no kind of agent %q. There are: %s.", in.Agent, strings.Join(names, ", ")), nil
	}
	a := tool.Agent{
		Kind: k.Name, Title: in.Description, Prompt: in.Prompt, About: about(k, mask),
		Tools: k.Tools, Not: k.Not, ReadOnly: k.ReadOnly, Isolated: k.Isolated, Model: cmp.Or(model, k.Model), Effort: cmp.Or(effort, k.Effort), USD: k.USD, Steps: k.Steps,
		Hooks: k.HookFiles(hooks), Servers: k.Servers,
	}
	if in.Background = in.Background || k.Background; in.Background {
		a.Report = func(r tool.AgentRun) string {
			return fmt.Sprintf("[The agent in the background that you started for %q has ended.]\n%s", in.Description, text(k, r))
		}
	}
	r, err := env.Agents.Run(ctx, a)
	if err != nil {
		return tool.Result{}, err
	}
	if in.Background {
		out := tool.Text(fmt.Sprintf("[The agent %s runs in the background. You are told what came of it when it has ended; do not wait for it by other calls.]", k.Name))
		out.Note = "in the background"
		return out, nil
	}
	out := tool.Text(text(k, r))
	out.Error = r.End != string(event.EndDone)
	out.Note = note(r)
	return out, nil
}

// Find returns the kind that a model or a person names; General if they name none.
func Find(kinds []agents.Kind, name string) (agents.Kind, bool) {
	if strings.TrimSpace(name) == "" {
		name = General
	}
	plain := tool.PlainName(name)
	for _, k := range kinds {
		if k.Name == name {
			return k, true
		}
	}
	for _, k := range kinds {
		if tool.PlainName(k.Name) == plain || plain == generalPurpose && k.Name == General {
			return k, true
		}
	}
	return agents.Kind{}, false
}

// about returns the instructions of a kind, for the end of the agent's system prompt.
func about(k agents.Kind, mask func(string) string) string {
	out := "You are the agent " + k.Name + ": another agent of pawl started you for a part of its task, and reads only your last message.\n\n" + k.Prompt
	if notes := k.Notes(mask); notes != "" {
		out += "\n\n" + notes
	}
	return out
}

// text returns the result of an agent for the model that started it.
func text(k agents.Kind, r tool.AgentRun) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[agent %s: %s; %s", k.Name, ending(r), plural.Of(r.Calls, "call"))
	if r.USD != nil {
		fmt.Fprintf(&b, ", $%.4f", *r.USD)
	}
	switch n := len(r.Files); {
	case n == 0:
		b.WriteString("; it changed no file")
	case n > 20:
		fmt.Fprintf(&b, "; it changed %s and %d more files", strings.Join(r.Files[:20], ", "), n-20)
	default:
		fmt.Fprintf(&b, "; it changed %s", strings.Join(r.Files, ", "))
	}
	b.WriteString("]\n")
	for _, n := range r.Notes {
		b.WriteString("[" + n + "]\n")
	}
	if r.Reply == "" {
		b.WriteString("[It said nothing.]")
	}
	b.WriteString(r.Reply)
	return b.String()
}

func ending(r tool.AgentRun) string {
	words := map[event.End]string{
		event.EndDone: "done", event.EndBudget: "stopped, its budget is used up", event.EndStuck: "stopped, it went in circles",
		event.EndInterrupted: "interrupted", event.EndTurns: "stopped, its steps are used up", event.EndTimeout: "stopped, its time is used up",
		event.EndPermission: "stopped, the user did not allow a call", event.EndRefused: "the model refused",
	}
	said := words[event.End(r.End)]
	said = cmp.Or(said, "failed")
	if r.Error != "" && r.End != string(event.EndDone) {
		said += " (" + r.Error + ")"
	}
	return said
}

// note returns one line for the screen.
func note(r tool.AgentRun) string {
	out := plural.Of(r.Calls, "call")
	if n := len(r.Files); n > 0 {
		out += ", " + plural.Of(n, "file") + " changed"
	}
	if r.Branch != "" {
		out += " on the branch " + r.Branch
	}
	if r.USD != nil && *r.USD > 0 {
		out += fmt.Sprintf(", $%.4f", *r.USD)
	}
	if r.End != string(event.EndDone) {
		out += ", " + r.End
	}
	return out
}
