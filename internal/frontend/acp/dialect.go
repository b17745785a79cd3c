package acp

import (
	"cmp"
	"encoding/base64"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/provider/catalog"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// dialect is the form of what is sent in the version that the editor speaks. Where the
// versions differ, both forms stand side by side.
type dialect struct {
	version    int
	terminals  bool // the editor shows the output of commands in a terminal
	canAskText bool // the editor can ask for a text
	signsIn    bool // the editor can run pawl in a terminal for a sign-in
}

func (d dialect) v2() bool { return d.version == 2 }

func (d dialect) initializeResult(version string, info llm.Info) object {
	about := object{"name": "pawl", "title": "pawl", "version": version}
	if d.v2() { // its login is not used
		prompt := object{"image": object{}, "embeddedContext": object{}}
		if info.Audio {
			prompt["audio"] = object{}
		}
		return object{"protocolVersion": 2, "info": about, "authMethods": []object{}, "capabilities": object{"session": object{
			"prompt": prompt,
			"mcp":    object{"stdio": object{}, "http": object{}},
			"delete": object{}, "fork": object{}, "additionalDirectories": object{},
		}}}
	}
	ways := []object{{"id": keyMethod, "name": "Key of a model provider", "description": "Store it with `pawl login PROVIDER --key` in a terminal, or set it in `env` of the editor's entry for pawl."}}
	if d.signsIn {
		ways = append(ways, object{"id": "openrouter", "type": "terminal", "name": "OpenRouter", "description": "Sign in with the browser.", "args": []string{"login"}})
	}
	return object{"protocolVersion": 1, "agentInfo": about, "authMethods": ways, "agentCapabilities": object{
		"loadSession":         true,
		"promptCapabilities":  object{"image": true, "audio": info.Audio, "embeddedContext": true},
		"mcpCapabilities":     object{"http": true, "sse": true},
		"sessionCapabilities": object{"list": object{}, "resume": object{}, "close": object{}, "delete": object{}, "fork": object{}, "additionalDirectories": object{}},
	}}
}

// keyMethod is the way to sign in that pawl handles itself: it looks whether there is a key.
const keyMethod = "key"

// Who a message is from, as updates name it.
const (
	user    = "user_message"
	model   = "agent_message"
	thought = "agent_thought"
)

func text(s string) object { return object{"type": "text", "text": s} }

// chunk appends to a message.
func (d dialect) chunk(who, id, s string) object {
	o := object{"sessionUpdate": who + "_chunk", "content": text(s)}
	if d.v2() {
		o["messageId"] = id
	}
	return o
}

// whole replaces a message, as only version 2 can.
func (d dialect) whole(who, id, s string) object {
	content := []object{}
	if s != "" {
		content = append(content, text(s))
	}
	return object{"sessionUpdate": who, "messageId": id, "content": content}
}

// The severities of notices.
const (
	info    = "info"
	warning = "warning"
	problem = "error"
)

// notice returns a line of pawl's own. Editors of version 1 may not know notices.
func (d dialect) notice(id, severity, title, more string) object {
	if d.v2() {
		o := object{"sessionUpdate": "notice", "severity": severity, "title": title}
		if more != "" {
			o["description"] = more
		}
		return o
	}
	if more != "" {
		more = "\n" + more
	}
	return d.chunk(model, id, "\n\n`pawl` "+title+more+"\n\n")
}

// state returns the state of the foreground work; version 1 has none.
func (d dialect) state(state string, more object) object {
	o := object{"sessionUpdate": "state_update", "state": state}
	maps.Copy(o, more)
	return o
}

// kinds has the editor's names for what tools do.
var kinds = map[tool.Kind]string{tool.Read: "read", tool.Search: "search", tool.Edit: "edit", tool.Exec: "execute", tool.Note: "think"}

// callState is the state of a call as the editor knows it.
type callState struct {
	id, title, kind string
	path            string // of the file that it is about, absolute
	status          string // pending, in_progress, completed, failed, cancelled
	content         []object
	tail            string // the end of its output so far, while it runs without a terminal
}

// call creates or changes a call.
func (d dialect) call(c callState, first bool) object {
	o := d.fields(c)
	o["sessionUpdate"] = "tool_call_update"
	if first && !d.v2() {
		o["sessionUpdate"] = "tool_call"
	}
	return o
}

// fields returns the fields of a call; what is empty is unchanged.
func (d dialect) fields(c callState) object {
	o := object{"toolCallId": c.id}
	for name, v := range map[string]string{"title": c.title, "kind": c.kind, "status": c.status} {
		if v != "" {
			o[name] = v
		}
	}
	if c.status == "cancelled" && !d.v2() {
		o["status"] = "failed"
	}
	if c.path != "" {
		o["locations"] = []object{{"path": c.path}}
	}
	if c.content != nil {
		o["content"] = c.content
	}
	return o
}

// plainContent returns text as the content of a call, in a block that keeps its lines.
func plainContent(s string) object {
	return object{"type": "content", "content": text(fenced("", s))}
}

// fenced puts text in a Markdown block that nothing in it can end.
func fenced(language, s string) string {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + language + "\n" + strings.TrimSuffix(s, "\n") + "\n" + fence
}

// terminal returns a terminal as the content of a call.
func terminal(id string) object { return object{"type": "terminal", "terminalId": id} }

// textForm asks for a text, in a form of one field.
func (d dialect) textForm(session, text string) object {
	return object{"sessionId": session, "mode": "form", "message": text, "requestedSchema": object{
		"type": "object", "required": []string{"answer"}, "properties": object{"answer": object{"type": "string", "title": "Answer"}},
	}}
}

// showTerminal shows a terminal in a call that runs a command.
func (d dialect) showTerminal(id, dir string) []object {
	if d.v2() {
		about := object{"sessionUpdate": "terminal_update", "terminalId": id, "cwd": dir}
		return []object{about, d.call(callState{id: id, content: []object{terminal(id)}}, false)}
	}
	o := d.call(callState{id: id, content: []object{terminal(id)}}, false)
	o["_meta"] = object{"terminal_info": object{"terminal_id": id, "cwd": dir}}
	return []object{o}
}

// moreOutput appends to a terminal.
func (d dialect) moreOutput(id, s string) object {
	if d.v2() {
		return object{"sessionUpdate": "terminal_output_chunk", "terminalId": id, "data": base64.StdEncoding.EncodeToString([]byte(s))}
	}
	return object{"sessionUpdate": "tool_call_update", "toolCallId": id, "_meta": object{"terminal_output": object{"terminal_id": id, "data": s}}}
}

// exited ends a terminal; exit is nil if the command did not end by itself.
func (d dialect) exited(id string, exit *int) object {
	if d.v2() {
		return object{"sessionUpdate": "terminal_update", "terminalId": id, "exitStatus": object{"exitCode": exit}}
	}
	return object{"sessionUpdate": "tool_call_update", "toolCallId": id, "_meta": object{"terminal_exit": object{"terminal_id": id, "exit_code": exit, "signal": nil}}}
}

// plan returns the model's plan. All of pawl's steps have the same priority.
func (d dialect) plan(items []tool.Item) object {
	entries := []object{}
	for _, it := range items {
		status := map[string]string{"done": "completed", "completed": "completed", "doing": "in_progress", "in_progress": "in_progress"}[it.Status]
		status = cmp.Or(status, "pending")
		entries = append(entries, object{"content": it.Text, "priority": "medium", "status": status})
	}
	if d.v2() {
		return object{"sessionUpdate": "plan_update", "plan": object{"type": "items", "planId": "plan", "entries": entries}}
	}
	return object{"sessionUpdate": "plan", "entries": entries}
}

func (d dialect) commands(custom []slash.Custom) []object {
	out := []object{}
	add := func(name, args, doc string) {
		o := object{"name": name, "description": doc}
		if d.v2() {
			o["type"] = "command"
		}
		if args != "" {
			in := object{"hint": args}
			if d.v2() {
				in["type"] = "text"
			}
			o["input"] = in
		}
		out = append(out, o)
	}
	for _, c := range slash.All() {
		add(c.Name, c.Args, c.Doc)
	}
	for _, c := range custom {
		if !slash.Builtin(c.Name) {
			add(c.Name, c.Args, c.Doc)
		}
	}
	return out
}

// modes returns the permission modes of version 1.
func modes(now permission.Mode) object {
	all := []object{}
	for _, m := range permission.Modes() {
		all = append(all, object{"id": string(m), "name": string(m), "description": m.About()})
	}
	return object{"currentModeId": string(now), "availableModes": all}
}

// The options of a session.
const (
	modeOption  = "mode"
	modelOption = "model"
	// effortOption is there for models that think.
	effortOption = "effort"
)

// options returns the settings that an editor can show and change: the mode, the model and
// its reasoning effort.
func (d dialect) options(mode permission.Mode, inUse llm.Info, models []string) []object {
	choices := func(values []string, doc func(string) string) []object {
		out := []object{}
		for _, v := range values {
			o := object{"value": v, "name": v}
			if text := doc(v); text != "" {
				o["description"] = text
			}
			out = append(out, o)
		}
		return out
	}
	option := func(id, category, name, now string, values []object) object {
		o := object{"name": name, "category": category, "type": "select", "currentValue": now, "options": values}
		if d.v2() {
			o["configId"] = id
		} else {
			o["id"] = id
		}
		return o
	}
	var all []string
	for _, m := range permission.Modes() {
		all = append(all, string(m))
	}
	none := func(string) string { return "" }
	out := []object{
		option(modeOption, "mode", "Permissions", string(mode), choices(all, func(m string) string { return permission.Mode(m).About() })),
		option(modelOption, "model", "Model", inUse.Ref(), choices(models, none)),
	}
	if now := inUse.Effort; now != "" {
		levels := catalog.Efforts()
		if !slices.Contains(levels, now) {
			levels = append([]string{now}, levels...)
		}
		out = append(out, option(effortOption, "thought_level", "Reasoning effort", now, choices(levels, none)))
	}
	return out
}

// question is what is asked about one call.
type question struct {
	title, more string
	call        callState
	options     []object
}

// permission returns the request that asks a person.
func (d dialect) permission(session string, q question) object {
	if d.v2() {
		o := object{"sessionId": session, "title": q.title, "options": q.options}
		if q.more != "" {
			o["description"] = q.more
		}
		if q.call.id != "" {
			o["subject"] = object{"type": "tool_call", "toolCall": d.fields(q.call)}
		}
		return o
	}
	c := q.call
	c.title = q.title
	if q.more != "" {
		c.content = append([]object{{"type": "content", "content": text(q.more)}}, c.content...)
	}
	return object{"sessionId": session, "toolCall": d.fields(c), "options": q.options}
}

// stopReason returns why a turn ended; "" for a failure.
func stopReason(e event.End) string {
	switch e {
	case event.EndDone, event.EndPermission:
		return "end_turn"
	case event.EndInterrupted:
		return "cancelled"
	case event.EndRefused:
		return "refusal"
	case event.EndBudget, event.EndTurns, event.EndStuck, event.EndTimeout:
		return "max_turn_requests"
	}
	return ""
}

// callOf returns what is known of a call of the model.
func callOf(id, dir string, c chat.Call) callState {
	out := callState{id: id, title: c.Title, kind: kinds[c.Kind], status: "pending"}
	out.kind = cmp.Or(out.kind, "other")
	if c.Target != "" && (c.Kind == tool.Read || c.Kind == tool.Edit) && !strings.Contains(c.Target, "://") {
		out.path = absolute(dir, c.Target)
	}
	if c.Started {
		out.status = "in_progress"
	}
	return out
}

// absolute returns the path of a file from the folder of a session.
func absolute(dir, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return filepath.Clean(path)
}
