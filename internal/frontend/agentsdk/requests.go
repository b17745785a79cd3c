package agentsdk

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// This file has the requests of the program. Each is done, or answered with an error that
// says what to do instead: none is passed over (SPEC 16.17).

// request is a request of the program; initialize has its own keys.
type request struct {
	Subtype string `json:"subtype"`

	Server  string          `json:"server_name"` // mcp_message
	MCPSays json.RawMessage `json:"message"`
	Named   string          `json:"serverName"` // mcp_reconnect

	Mode  string  `json:"mode"`          // set_permission_mode
	Model *string `json:"model"`         // set_model
	All   bool    `json:"cancel_queued"` // interrupt
	UUID  string  `json:"message_uuid"`  // cancel_async_message
	Task  string  `json:"task_id"`       // stop_task

	Given  map[string]json.RawMessage `json:"servers"`         // mcp_set_servers
	Back   string                     `json:"user_message_id"` // rewind_files
	DryRun bool                       `json:"dry_run"`

	Plugins []Plugin `json:"add_plugins"` // reload_plugins
	Hold    bool     `json:"hold_on_cache_impact"`
}

// requestRow is what pawl does with a request.
type requestRow struct {
	// do does it. errLater: it is answered when it is done. nil: pawl has no such request,
	// and note says what to do instead.
	do   func(t *conversation, id string, r request, raw json.RawMessage) (any, error)
	note string
}

// errLater is not an error: see requestRow.
var errLater = errors.New("answered later")

const (
	atBegin  = "give it in the options, before the session begins"
	byPerson = "a person does it in pawl itself"
	ownView  = "pawl has no such view; the program can read the file itself"
)

// requests are those that a program can send.
var requests map[string]requestRow

func init() { // initialize lists them
	requests = map[string]requestRow{
		"initialize": {do: func(t *conversation, _ string, _ request, raw json.RawMessage) (done any, err error) {
			done, t.unkept = t.initialize(raw)
			return done, t.unkept
		}},
		"interrupt":            {do: (*conversation).interrupt},
		"cancel_async_message": {do: (*conversation).cancelQueued},
		"set_permission_mode": {do: func(t *conversation, _ string, r request, _ json.RawMessage) (any, error) {
			return struct{}{}, t.change(r.Mode)
		}},
		"set_model": {do: (*conversation).use},
		"mcp_message": {do: func(t *conversation, _ string, r request, _ json.RawMessage) (any, error) {
			return struct{}{}, t.setup.Servers.sent(r.Server, r.MCPSays)
		}},
		"mcp_status": {do: func(t *conversation, _ string, _ request, _ json.RawMessage) (any, error) {
			return object{"mcpServers": t.w.servers()}, nil
		}},
		"mcp_reconnect":   {do: (*conversation).reconnect},
		"mcp_set_servers": {do: (*conversation).setServers},
		"list_models": {do: func(t *conversation, _ string, _ request, _ json.RawMessage) (any, error) {
			return object{"models": t.models()}, nil
		}},
		"get_context_usage": {do: func(t *conversation, _ string, _ request, _ json.RawMessage) (any, error) { return t.window() }},
		"rewind_files":      {do: (*conversation).rewind},
		"reload_plugins":    {do: (*conversation).reload},
		"reload_skills":     {do: (*conversation).reload},
		"stop_task": {do: func(t *conversation, _ string, r request, _ json.RawMessage) (any, error) {
			s, err := t.session()
			if err == nil {
				_, err = s.Submit(t.ctx, session.EndTask{ID: r.Task})
			}
			return struct{}{}, err
		}},

		"set_max_thinking_tokens": {note: atBegin + ": thinking, effort, maxThinkingTokens"},
		"mcp_toggle":              {note: atBegin + ": mcpServers, or disallowedTools with mcp__SERVER"},
		"mcp_call":                {note: "only the model calls tools, so that each call is asked about and recorded"},
		"mcp_read_resource":       {note: "name it in a prompt: @SERVER:URI"},
		"apply_flag_settings":     {note: atBegin + ": settings"},
		"update_settings":         {note: "pawl config set"},
		"get_settings":            {note: "pawl config list, pawl doctor"},
		"get_hooks_listing":       {note: "pawl hooks list"},
		"list_permission_rules":   {note: "pawl permissions"},
		"reload_output_styles":    {note: "a new session reads them"},
		"background_tasks":        {note: "the model decides what runs in the background"},
		"get_task_output":         {note: "the model reads it, and its next message tells it"},
		"get_session_cost":        {note: "each result has total_cost_usd"},
		"get_usage":               {note: "each result has usage and modelUsage"},
		"get_binary_version":      {note: "pawl version, or claude_code_version of init"},
		"read_file":               {note: ownView},
		"file_suggestions":        {note: ownView},
		"seed_read_state":         {note: "the model reads a file before it changes it"},
		"register_repo_root":      {note: atBegin + ": additionalDirectories"},
		"rename_session":          {note: "pawl sessions lists sessions by their first prompt"},
		"set_color":               {note: byPerson},
		"set_has_subscribers":     {note: byPerson},

		"set_mcp_permission_mode_override": {note: "one permission mode holds for all tools: set_permission_mode"},
	}
}

// Requests returns the subtypes of requests that pawl knows.
func Requests() []string { return slices.Sorted(maps.Keys(requests)) }

// request handles a request of the program and answers it. An error ends the
// conversation.
func (t *conversation) request(id string, raw json.RawMessage) error {
	var r request
	err := json.Unmarshal(raw, &r)
	row, known := requests[r.Subtype]
	switch {
	case r.Subtype == "initialize":
		err = nil // it has its own keys
	case err != nil:
		return inputError("the request %s cannot be read: %w", id, err)
	case t.unkept != nil:
		t.w.response(id, nil, fmt.Errorf("initialize failed: %w", t.unkept))
		return nil
	case !known:
		err = fmt.Errorf("pawl has no request %q", r.Subtype)
	case row.do == nil:
		err = fmt.Errorf("pawl has no request %q: %s", r.Subtype, row.note)
	}
	var done any
	if err == nil {
		done, err = row.do(t, id, r, raw)
	}
	if !errors.Is(err, errLater) {
		t.w.response(id, done, err)
	}
	if t.unkept != nil && t.s != nil { // a turn may be running without them
		return t.unprepared()
	}
	return nil
}

// interrupt ends what runs; what waits begins after it, unless the program takes it back.
func (t *conversation) interrupt(_ string, r request, _ json.RawMessage) (done any, err error) {
	waiting := []string{}
	for _, p := range t.prompts {
		waiting = append(waiting, p.ID)
	}
	answer := object{"still_queued": waiting}
	if r.All {
		answer, t.prompts = object{"still_queued": []string{}, "cancelled": waiting}, nil
	}
	if t.s != nil {
		_, err = t.s.Submit(t.ctx, session.Interrupt{By: "person"})
	}
	return answer, err
}

// cancelQueued takes a prompt back that waits.
func (t *conversation) cancelQueued(_ string, r request, _ json.RawMessage) (any, error) {
	was := len(t.prompts)
	t.prompts = slices.DeleteFunc(t.prompts, func(p queued) bool { return p.ID == r.UUID && r.UUID != "" })
	return object{"cancelled": len(t.prompts) < was}, nil
}

// reconnect ends a server; it starts again when it is needed.
func (t *conversation) reconnect(_ string, r request, _ json.RawMessage) (any, error) {
	s, err := t.session()
	if err != nil {
		return nil, err
	}
	if of, ok := s.View().Outside().(interface{ Restart(name string) int }); ok && of.Restart(r.Named) > 0 {
		return struct{}{}, nil
	}
	return nil, fmt.Errorf("there is no MCP server %q in this session", r.Named)
}

// setServers replaces the servers that the program gave. The loop goes on meanwhile: a server
// inside the program is asked what it has.
func (t *conversation) setServers(id string, r request, _ json.RawMessage) (any, error) {
	names := []string{}
	for name, raw := range r.Given {
		var one struct {
			Type  string          `json:"type"`
			Tools json.RawMessage `json:"tools"`
		}
		if err := json.Unmarshal(raw, &one); err != nil {
			return nil, fmt.Errorf("the MCP server %s cannot be read: %w", name, err)
		}
		if given(one.Tools) { // rules
			return nil, fmt.Errorf("the MCP server %s: tools is for the options, before the session begins", name)
		}
		if one.Type == "sdk" {
			names = append(names, name)
		}
	}
	s, err := t.session()
	if err != nil {
		return nil, err
	}
	if t.SetServers == nil || t.setup.Servers == nil {
		return nil, errors.New("initialize comes before it")
	}
	t.setup.Servers.Names = names
	t.late++
	config := encode(object{"mcpServers": r.Given})
	before, over := t.setting, make(chan struct{})
	t.setting = over
	go func() {
		defer close(over)
		if before != nil {
			<-before
		}
		done, err := t.SetServers(t.ctx, config)
		if err == nil {
			_, err = s.Submit(t.ctx, session.RefreshTools{}) // from the next turn on
		}
		select {
		case t.replies <- func() { t.servers = config; t.w.response(id, done, err) }:
		case <-t.ctx.Done():
		}
	}()
	return nil, errLater
}

// rewind puts the files back to what they were before a prompt. What a person changed
// since then is not lost: then nothing is done, and the answer names the files.
func (t *conversation) rewind(id string, r request, _ json.RawMessage) (any, error) {
	no := func(why string) (any, error) { return object{"canRewind": false, "error": why}, nil }
	if t.busy() {
		return no("a turn runs: interrupt it first")
	}
	s, err := t.session()
	if err != nil {
		return nil, err
	}
	seq := t.promptOf(s, r.Back)
	if seq == 0 {
		return no(fmt.Sprintf("no prompt has the uuid %q", r.Back))
	}
	plan, err := s.PlanUndo(t.ctx, undo.Selector{Kind: undo.ByRewind, Prompt: seq})
	if errors.Is(err, undo.ErrNothing) {
		return object{"canRewind": true, "filesChanged": []string{}}, nil
	}
	if err != nil {
		return no(err.Error())
	}
	files, stop := []string{}, []string{}
	for _, f := range plan.Files {
		files = append(files, f.Path)
		if f.Why != "" || f.Ask != "" {
			stop = append(stop, f.Path+": "+f.Why+f.Ask)
		}
	}
	answer := object{"canRewind": true, "filesChanged": files}
	switch {
	case len(stop) > 0:
		return no("nothing was changed: " + strings.Join(stop, "; "))
	case r.DryRun:
		return answer, nil
	}
	return nil, t.later(id, answer, session.Undo{Plan: plan, Done: func(changes.Undone, error) {}})
}

// promptOf returns the event of the prompt that has a uuid, 0 for none.
func (t *conversation) promptOf(s *session.Session, uuid string) (seq int64) {
	_ = s.View().Fold(t.ctx, event.Each(func(e event.Event) { // none is found in a log that cannot be read
		if b, ok := e.Body.(event.Prompted); ok && seq == 0 && b.ID == uuid && uuid != "" {
			seq = e.Seq
		}
	}))
	return seq
}

// later submits an operation whose end answers a request.
func (t *conversation) later(id string, answer any, op session.Op) error {
	cause, err := t.s.Submit(t.ctx, op)
	if err != nil {
		return err
	}
	t.operations[cause] = func(done event.OpDone) { t.w.response(id, answer, done.Err()) }
	return errLater
}

// window describes what fills the model's context.
func (t *conversation) window() (any, error) {
	s, err := t.session()
	if err != nil {
		return nil, err
	}
	none, r := []object{}, s.View().Window()
	parts := []object{}
	for _, p := range r.Parts {
		parts = append(parts, object{"name": p.Name, "tokens": p.Tokens, "color": "", "kind": "used"})
	}
	return object{
		"categories": parts, "totalTokens": r.Tokens, "maxTokens": r.Limit, "rawMaxTokens": r.Limit, "percentage": r.Percent,
		"gridRows": none, "model": s.View().Info().Ref(), "memoryFiles": none, "mcpTools": none, "agents": none,
	}, nil
}

// commands describes what a prompt may call.
func (t *conversation) commands() []object {
	out := []object{{"name": compact, "description": "sum up older steps to free the context window", "argumentHint": "[FOCUS]"}}
	for _, c := range slash.Callable(t.custom()) {
		out = append(out, object{"name": c.Name, "description": c.Doc, "argumentHint": c.Args})
	}
	return out
}

func names(of []object) []string {
	out := []string{}
	for _, o := range of {
		out = append(out, o["name"].(string))
	}
	return out
}

// DontAsk is the SDK's mode in which what would be asked is denied.
const DontAsk = "dontAsk"

// change sets the permission mode.
func (t *conversation) change(mode string) error {
	silent := mode == DontAsk
	if silent {
		mode = string(permission.AskMode)
	}
	s, err := t.session()
	if err == nil {
		_, err = s.Submit(t.ctx, session.SetMode{Mode: mode})
	}
	if err == nil {
		t.silent = silent
	}
	return err
}

// use changes the model. The request is answered when that ends.
func (t *conversation) use(id string, r request, _ json.RawMessage) (any, error) {
	if _, err := t.session(); err != nil {
		return nil, err
	}
	ref := t.model
	if r.Model != nil && *r.Model != "" && *r.Model != "default" {
		ref = *r.Model
	}
	return nil, t.later(id, struct{}{}, session.SetModel{Ref: ref})
}
