package agentsdk

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/mcp"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// This file tells the program of what works beside the conversation: agents, hooks and
// MCP servers.

// task is an agent that runs.
type task struct {
	started event.AgentStarted
	calls   int
	took    int64 // milliseconds of its calls
}

// beside writes what an event says of agents and hooks.
func (w *writer) beside(body event.Body) {
	about := func(subtype, id string, t *task, more object) {
		o := object{"type": "system", "subtype": subtype, "task_id": id, "tool_use_id": t.started.Call}
		maps.Copy(o, more)
		w.stamped(o)
	}
	usage := func(t *task) object {
		return object{"total_tokens": 0, "tool_uses": t.calls, "duration_ms": t.took}
	}
	switch b := body.(type) {
	case event.AgentStarted:
		t := &task{started: b}
		w.tasks[b.Child] = t
		var asked struct {
			Prompt string `json:"prompt"`
		}
		_ = json.Unmarshal(w.calls[b.Call].Args, &asked) // a call of another kind has none
		about("task_started", b.Child, t, object{"description": cmp.Or(b.Title, b.Agent), "subagent_type": b.Agent, "task_type": "local_agent", "is_backgrounded": b.Background, "prompt": asked.Prompt})
		w.message(t.of(), object{"type": "user", "message": object{"role": "user", "content": []object{{"type": "text", "text": asked.Prompt}}}})
	case event.AgentCalled:
		if t := w.tasks[b.Child.Session]; t != nil {
			t.calls, t.took = t.calls+1, t.took+b.Done.Took.Milliseconds()
			about("task_progress", b.Child.Session, t, object{"description": cmp.Or(t.started.Title, t.started.Agent), "subagent_type": t.started.Agent, "last_tool_name": w.name(b.Done.Tool), "usage": usage(t)})
			w.inside(t, b)
		}
	case event.AgentEnded:
		if t := w.tasks[b.Child]; t != nil {
			delete(w.tasks, b.Child)
			status, summary := "completed", string(b.End)
			switch {
			case b.End == event.EndInterrupted:
				status = "stopped"
			case b.Error != nil:
				status, summary = "failed", b.Error.Message
			case b.End != event.EndDone:
				status = "failed"
			}
			about("task_updated", b.Child, t, object{"patch": object{"status": cmp.Or(map[string]string{"stopped": "killed"}[status], status)}})
			about("task_notification", b.Child, t, object{"status": status, "summary": summary, "output_file": "", "usage": usage(t)})
		}
	case event.HookRan:
		if w.hooks {
			w.hook(b)
		}
	}
}

// of are the fields of messages from inside a task.
func (t *task) of() object {
	return object{"parent_tool_use_id": t.started.Call, "subagent_type": t.started.Agent, "task_description": t.started.Title}
}

// inside writes a call of an agent, and its result: of the arguments only a command is
// known here.
func (w *writer) inside(t *task, b event.AgentCalled) {
	input := object{}
	if b.Done.Command != "" {
		input["command"] = b.Done.Command
	}
	of, id, model := t.of(), b.Child.Session+":"+b.Done.ID, ""
	if w.s != nil {
		model = w.s.View().Info().Ref()
	}
	w.message(of, object{"type": "assistant", "message": object{
		"id": "msg_" + id, "type": "message", "role": "assistant", "model": model, "stop_reason": "tool_use", "stop_sequence": nil, "usage": usageOf(llm.Usage{}),
		"content": []object{{"type": "tool_use", "id": id, "name": w.name(b.Done.Tool), "input": input}},
	}})
	w.message(of, object{"type": "user", "message": object{"role": "user", "content": []object{
		{"type": "tool_result", "tool_use_id": id, "content": b.Done.Result.Text, "is_error": b.Done.Result.Error},
	}}})
}

// message writes a message with the fields of its origin.
func (w *writer) message(of, o object) {
	maps.Copy(o, of)
	w.stamped(o)
}

// hook writes that a hook ran.
func (w *writer) hook(b event.HookRan) {
	id := w.uuid()
	of := object{"type": "system", "subtype": "hook_started", "hook_id": id, "hook_name": b.Event, "hook_event": b.Event}
	w.stamped(of)
	outcome := "success"
	if b.Broken != "" {
		outcome = "error"
	}
	w.stamped(object{
		"type": "system", "subtype": "hook_response", "hook_id": id, "hook_name": b.Event, "hook_event": b.Event,
		"output": strings.TrimSpace(b.Reason + "\n" + b.Context), "stdout": "", "stderr": b.Broken, "exit_code": b.Exit, "outcome": outcome,
	})
}

// servers lists the session's MCP servers, those that failed as well.
func (w *writer) servers() []object {
	out := []object{}
	if w.s == nil {
		return out
	}
	of, ok := w.s.View().Outside().(interface{ Status() []mcp.Status })
	if !ok {
		return out
	}
	for _, s := range of.Status() {
		status := "pending"
		signIn := (*mcp.SignInError)(nil)
		switch {
		case errors.As(s.Err, &signIn):
			status = "needs-auth"
		case s.State == "failed":
			status = "failed"
		case s.State == "runs", s.Tools > 0:
			status = "connected"
		}
		o := object{"name": s.Server.Name, "status": status}
		if s.Why != "" {
			o["error"] = s.Why
		}
		out = append(out, o)
	}
	return out
}
