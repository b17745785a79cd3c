package agentsdk

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/plugin"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/hook"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/team/structured"
)

// writer writes events in the program's format.
type writer struct {
	enc     *json.Encoder
	err     error // the first one: nobody reads any more
	version string

	s     *session.Session
	began int64 // events from before this process are not written
	dir   string
	tools []string
	// commands lists what a prompt may call.
	commands func() []string
	turn     turnTotals
	answer   event.Answer
	calls    map[string]event.CallAsked // open ones, by id
	stream   *streamed                  // nil: only whole messages
	models   map[string]*modelUsage
	session  string
	lines    int
	hooks    bool // the hooks that ran are told
	tasks    map[string]*task
	agents   []string // that a model may start
	plugins  func() []plugin.Plugin
}

// turnTotals sums up the running turn.
type turnTotals struct {
	began   time.Time
	named   bool // the line with the session's id is written
	text    string
	replies int
	usage   llm.Usage
	asking  time.Duration // of the model
	stop    llm.Stop
	denials []denial
}

type denial struct {
	Tool  string          `json:"tool_name"`
	Call  string          `json:"tool_use_id"`
	Input json.RawMessage `json:"tool_input"`
}

// modelUsage is the usage of one model.
type modelUsage struct {
	Input      int64   `json:"inputTokens"`
	Output     int64   `json:"outputTokens"`
	CacheRead  int64   `json:"cacheReadInputTokens"`
	CacheWrite int64   `json:"cacheCreationInputTokens"`
	Searches   int     `json:"webSearchRequests"`
	USD        float64 `json:"costUSD"`
	Window     int     `json:"contextWindow"`
	MaxOutput  int     `json:"maxOutputTokens"`
}

func newWriter(out io.Writer, version string, partial bool) *writer {
	w := &writer{enc: json.NewEncoder(out), version: version, models: map[string]*modelUsage{}, calls: map[string]event.CallAsked{}, tasks: map[string]*task{}, agents: []string{}, commands: func() []string { return []string{} }, plugins: func() []plugin.Plugin { return nil }}
	w.enc.SetEscapeHTML(false)
	if partial {
		w.stream = &streamed{}
	}
	return w
}

// object is a JSON object: a line of the output, or a part of one.
type object map[string]any

func (w *writer) line(o object) {
	if w.err == nil {
		w.err = w.enc.Encode(o)
	}
}

// stamped writes a line with the session's id and an identifier.
func (w *writer) stamped(o object) {
	o["session_id"], o["uuid"] = w.session, w.uuid()
	w.line(o)
}

// said writes a message of the conversation.
func (w *writer) said(e event.Event, part int, o object) {
	o["session_id"], o["uuid"] = w.session, messageID(e, part)
	w.line(o)
}

// uuid returns the next identifier. The same lines always get the same identifiers.
func (w *writer) uuid() string {
	w.lines++
	return uuidOf(w.session, w.began, w.lines)
}

// opened sets the session's id.
func (w *writer) opened(s *session.Session) {
	w.s, w.session, w.began = s, s.ID(), s.View().Began()
}

// begins starts the count of a turn.
func (w *writer) begins(now time.Time) {
	w.turn = turnTotals{began: now, usage: llm.Usage{Known: true}}
}

// init writes the line that describes the session, once for each turn.
func (w *writer) init() {
	if w.turn.named {
		return
	}
	w.turn.named = true
	v := w.s.View()
	none := []string{}
	w.stamped(object{
		"type": "system", "subtype": "init", "cwd": w.dir, "model": v.Info().Ref(), "permissionMode": v.Mode().Hook(),
		"tools": w.tools, "mcp_servers": w.servers(), "slash_commands": w.commands(), "skills": none, "plugins": w.pluginList(), "agents": w.agents,
		"apiKeySource": "none", "output_style": "default", "claude_code_version": w.version,
	})
}

// pluginList describes the plugins of the session.
func (w *writer) pluginList() []object {
	out := []object{}
	for _, p := range w.plugins() {
		one := object{"name": p.Name, "path": p.Root}
		if p.Version != "" {
			one["version"] = p.Version
		}
		out = append(out, one)
	}
	return out
}

// configured stores the session's configuration.
func (w *writer) configured(b event.Body) {
	switch b := b.(type) {
	case event.Opened:
		w.dir = b.Dir
	case event.Rebased:
		w.tools = w.tools[:0]
		for _, t := range b.Head.Tools { // two tools of pawl may be one of the program's
			if name := w.name(t.Name); !slices.Contains(w.tools, name) {
				w.tools = append(w.tools, name)
			}
		}
	}
}

// name returns the programs' name for a tool: pawl's name if they have none.
func (w *writer) name(tool string) string {
	if w.s != nil {
		if t, ok := w.s.View().Tools().Find(tool); ok {
			return hook.Names(t)[0]
		}
	}
	return tool
}

// event writes an event for the program. Most events write nothing.
func (w *writer) event(e event.Event) {
	w.answer.Apply(e.Body)
	w.configured(e.Body)
	w.beside(e.Body)
	switch b := e.Body.(type) {
	case event.Requested:
		w.init()
		if w.stream != nil {
			w.stamped(object{"type": "system", "subtype": "status", "status": "requesting"})
		}
	case event.TextDelta:
		w.piece("text", b.Text)
	case event.ReasoningDelta:
		w.piece("thinking", b.Text)
	case event.Retried:
		w.retract()
		w.stamped(object{
			"type": "system", "subtype": "api_retry", "attempt": b.Attempt, "max_retries": 0, "retry_delay_ms": b.Wait.Milliseconds(),
			"error_status": nil, "error": "unknown", "message": b.Error.Message,
		})
	case event.Replied:
		w.replied(e, b)
	case event.Recalled:
		w.init()
		w.turn.text = b.Text
		w.assistant(e, 0, w.s.View().Info().Ref(), []object{{"type": "text", "text": b.Text}}, "end_turn", llm.Usage{Known: true})
	case event.CallAsked:
		w.calls[b.ID] = b
	case event.CallDone:
		delete(w.calls, b.ID)
		w.done(e, b)
	case event.Blocked:
		in := encode(object{"description": b.What})
		if c, ok := w.calls[b.Call]; ok {
			in = hook.Renamed(c.Args)
		}
		w.turn.denials = append(w.turn.denials, denial{w.name(b.Tool), b.Call, in})
	case event.Compacted:
		trigger := "auto"
		if b.Why == "person" {
			trigger = "manual"
		}
		w.stamped(object{
			"type": "system", "subtype": "compact_boundary",
			"compact_metadata": object{"trigger": trigger, "pre_tokens": b.Before, "post_tokens": b.After},
		})
	case event.ModeSet:
		w.stamped(object{"type": "system", "subtype": "status", "status": nil, "permissionMode": permission.Mode(b.Mode).Hook()})
	}
}

// stops are the programs' names for the reasons why a reply ended.
var stops = map[llm.Stop]string{
	llm.StopEnd: "end_turn", llm.StopCalls: "tool_use", llm.StopLength: "max_tokens", llm.StopRefusal: "refusal", llm.StopPaused: "pause_turn",
}

// replied writes a whole reply.
func (w *writer) replied(e event.Event, b event.Replied) {
	u := b.Reply.Usage
	t := &w.turn
	t.replies++
	t.usage, t.asking, t.stop = t.usage.Add(u), t.asking+b.Took, b.Reply.Stop
	info := w.s.View().Info()
	m := w.models[info.Model]
	if m == nil {
		m = &modelUsage{Window: info.Window, MaxOutput: info.MaxOutput}
		w.models[info.Model] = m
	}
	m.Input, m.Output, m.CacheRead, m.CacheWrite = m.Input+u.Input, m.Output+u.Output, m.CacheRead+u.CacheRead, m.CacheWrite+u.CacheWrite
	if b.Cost != nil {
		m.USD += *b.Cost
	}
	var blocks []object
	for _, p := range shown(b) {
		switch p.Kind {
		case llm.Text:
			blocks = append(blocks, object{"type": "text", "text": p.Text})
		case llm.Reasoning:
			blocks = append(blocks, object{"type": "thinking", "thinking": p.Text, "signature": ""})
		case llm.CallPart:
			blocks = append(blocks, object{"type": "tool_use", "id": p.Call.ID, "name": w.name(p.Call.Name), "input": hook.Renamed(p.Call.Args)})
		}
	}
	if text := w.answer.Text(); text != "" {
		t.text = text
	}
	w.whole(blocks, stops[b.Reply.Stop], u)
	for i, one := range blocks { // each is a message with the id of the reply
		w.assistant(e, i, cmp.Or(b.Reply.Model, info.Model), []object{one}, stops[b.Reply.Stop], u)
	}
	if blocks == nil {
		w.assistant(e, 0, cmp.Or(b.Reply.Model, info.Model), nil, stops[b.Reply.Stop], u)
	}
}

// shown returns the parts of a reply that are written, each as a message of its own.
func shown(b event.Replied) []llm.Part {
	return slices.DeleteFunc(slices.Clone(b.Reply.Message.Parts), func(p llm.Part) bool {
		return p.Call == nil && (p.Text == "" || p.Kind != llm.Text && p.Kind != llm.Reasoning)
	})
}

// messages returns how many messages an event is written as.
func messages(e event.Event) int {
	switch b := e.Body.(type) {
	case event.Replied:
		return max(1, len(shown(b)))
	case event.Prompted, event.Recalled, event.CallDone:
		return 1
	}
	return 0
}

// replayed writes a prompt, as a program sees that it has begun.
func (w *writer) replayed(e event.Event, b event.Prompted) {
	o := object{"type": "user", "message": object{"role": "user", "content": b.Text}, "parent_tool_use_id": nil, "isReplay": true, "session_id": w.session}
	o["uuid"] = cmp.Or(b.ID, messageID(e, 0))
	w.line(o)
}

func usageOf(u llm.Usage) object {
	return object{"input_tokens": u.Input, "output_tokens": u.Output, "cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite}
}

func (w *writer) assistant(e event.Event, part int, model string, blocks []object, stop string, u llm.Usage) {
	if blocks == nil {
		blocks = []object{}
	}
	var why any
	if stop != "" {
		why = stop
	}
	w.said(e, part, object{"type": "assistant", "parent_tool_use_id": nil, "message": object{
		"id": fmt.Sprintf("msg_%s_%d", w.session, e.Seq), "type": "message", "role": "assistant", "model": model,
		"content": blocks, "stop_reason": why, "stop_sequence": nil, "usage": usageOf(u),
	}})
}

// done writes the result of a call.
func (w *writer) done(e event.Event, b event.CallDone) {
	var content any = b.Result.Text
	if len(b.Result.Images) > 0 {
		blocks := []object{{"type": "text", "text": b.Result.Text}}
		for _, m := range b.Result.Images {
			typ := map[llm.MediaKind]string{llm.Images: "image", llm.PDF: "document"}[m.Kind()]
			if typ == "" { // the SDK has no block for audio
				blocks = append(blocks, object{"type": "text", "text": fmt.Sprintf("[%s, %d bytes]", m.Type, len(m.Data))})
				continue
			}
			blocks = append(blocks, object{"type": typ, "source": object{"type": "base64", "media_type": m.Type, "data": m.Data}})
		}
		content = blocks
	}
	var whole any = b.Result.Text // for programs that show it
	if b.Does == tool.Exec && b.Exit != nil {
		whole = object{"stdout": b.Result.Text, "stderr": "", "interrupted": b.Outcome == event.Cancelled, "isImage": false}
	}
	w.said(e, 0, object{"type": "user", "parent_tool_use_id": nil, "tool_use_result": whole, "message": object{"role": "user", "content": []object{
		{"type": "tool_result", "tool_use_id": b.ID, "content": content, "is_error": b.Result.Error},
	}}})
}

// result ends a turn.
func (w *writer) result(b event.Ended, form *structured.Answer, now time.Time) {
	w.init()
	if b.End == event.EndInterrupted {
		w.stamped(object{"type": "user", "parent_tool_use_id": nil, "message": object{"role": "user", "content": []object{{"type": "text", "text": "[Request interrupted by user]"}}}})
	}
	subtype := map[event.End]string{event.EndDone: "success", event.EndTurns: "error_max_turns", event.EndBudget: "error_max_budget_usd"}[b.End]
	t := &w.turn
	if subtype == "" {
		subtype = "error_during_execution"
	}
	var value json.RawMessage
	misfit := ""
	if form != nil && subtype == "success" {
		if value, misfit = form.Value(); misfit != "" {
			subtype = "error_max_structured_output_retries"
		}
	}
	o := w.ended(subtype, now.Sub(t.began))
	switch {
	case misfit != "":
		o["errors"] = []string{"the answer does not fit the schema: " + misfit}
	case subtype == "success":
		o["result"] = t.text
		if value != nil {
			o["structured_output"] = value
		}
	default:
		text := string(b.End)
		if b.Error != nil {
			text = b.Error.Message
		}
		o["errors"] = []string{text}
	}
	w.stamped(o)
}

// commandOutput writes the result of a prompt that started no turn.
func (w *writer) commandOutput(text string) {
	w.begins(time.Time{})
	o := w.ended("success", 0)
	o["result"] = text
	w.stamped(o)
}

// failed writes the result of a prompt that started no turn.
func (w *writer) failed(why string) {
	w.begins(time.Time{})
	o := w.ended("error_during_execution", 0)
	o["errors"] = []string{why}
	w.stamped(o)
}

// ended returns the fields of every line of type result.
func (w *writer) ended(subtype string, took time.Duration) object {
	t := &w.turn
	var usd float64
	known := true
	if w.s != nil {
		all, _ := w.s.View().Spent()
		usd, known = all.USD, all.Cost() != nil
	}
	var stop any
	if s := stops[t.stop]; s != "" {
		stop = s
	}
	if t.denials == nil {
		t.denials = []denial{}
	}
	o := object{
		"type": "result", "subtype": subtype, "is_error": subtype != "success", "duration_ms": took.Milliseconds(), "duration_api_ms": t.asking.Milliseconds(),
		"num_turns": t.replies, "stop_reason": stop, "total_cost_usd": usd, "usage": usageOf(t.usage), "modelUsage": w.models, "permission_denials": t.denials,
	}
	if !known {
		o["cost_unknown"] = true // the schema allows no null, and 0 would be wrong
	}
	return o
}

// response writes the answer to a request of the program.
func (w *writer) response(id string, done any, err error) {
	r := object{"subtype": "success", "request_id": id, "response": done}
	if err != nil {
		r = object{"subtype": "error", "request_id": id, "error": err.Error()}
	}
	w.line(object{"type": "control_response", "response": r})
}

// request writes a question to the program.
func (w *writer) request(id string, r any) {
	w.line(object{"type": "control_request", "request_id": id, "request": r})
}

// cancelRequest writes that a question is withdrawn.
func (w *writer) cancelRequest(id string) {
	w.line(object{"type": "control_cancel_request", "request_id": id})
}
