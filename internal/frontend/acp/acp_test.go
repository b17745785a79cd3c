package acp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/session/sessiontest"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// editor is the other side of a connection.
type editor struct {
	t     *testing.T
	dir   string
	id    string // of the open session
	in    *io.PipeWriter
	out   *bufio.Scanner
	err   bytes.Buffer
	all   []object
	ids   int
	idles int // messages that idle has looked at
	place Place
	ended chan struct{}
	// texts are its unsaved files; nil: it offers none. silent: it never answers about them.
	texts  map[string]string
	silent bool
}

// edit begins a connection in a version; every change of the folder is asked for.
func edit(t *testing.T, version int, turns ...llmtest.Turn) *editor {
	t.Helper()
	return editWith(t, version, nil, turns...)
}

// editWith begins a connection of an editor that offers its files.
func editWith(t *testing.T, version int, offers object, turns ...llmtest.Turn) *editor {
	t.Helper()
	return editModel(t, version, offers, llmtest.New(turns...))
}

func editModel(t *testing.T, version int, offers object, m *llmtest.Model) *editor {
	t.Helper()
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	cfg := sessiontest.Config(t, dir, m, nil)
	cfg.Person = true
	cfg.Tools = append(cfg.Tools, tools.AskUser(), tools.Edit())
	cfg.Models = session.Models{OpenModel: func(ref, _ string) (llm.Model, error) {
		if ref != "other/one" {
			return nil, fmt.Errorf("there is no model %s", ref)
		}
		return llmtest.New(), nil
	}}
	var opened atomic.Int32
	inR, in := io.Pipe()
	outR, out := io.Pipe()
	e := &editor{t: t, dir: dir, in: in, out: bufio.NewScanner(outR), ended: make(chan struct{})}
	e.out.Buffer(nil, 16<<20)
	o := Options{
		In: inR, Out: out, Err: &e.err, Version: "1.2.3",
		Chat: func(_ context.Context, p Place) (chat.Config, error) {
			e.place = p
			return chat.Config{Now: time.Now, Open: func(ctx context.Context, w slash.Want, _ chat.Person) (*chat.Opened, error) {
				c := cfg
				c.Permission = permission.New(permission.Config{Mode: permission.AskMode, Root: dir, Home: "/home/nobody"}) // of one session alone
				if p.Files != nil {
					c.Files = p.Files(c.Files)
				}
				if c.ID = w.Resume; c.ID == "" {
					c.ID = fmt.Sprint("s", opened.Add(1))
				}
				s, err := session.Open(ctx, c)
				if err != nil {
					return nil, err
				}
				return &chat.Opened{Session: s, Close: func() { _ = s.Close() }, Notes: []string{"hello"}}, nil
			}}, nil
		},
		Sessions: func(context.Context, string) (out []event.Row, _ error) {
			for i := range listed + 1 {
				out = append(out, event.Row{ID: fmt.Sprint("s", i), Dir: dir, Title: "a title"})
			}
			return out, nil
		},
		Delete: func(context.Context, string) error { return nil },
		Models: func(context.Context) []string { return []string{"other/one"} },
		Usable: func() (llm.Info, error) { return m.Info(), nil },
	}
	if offers["silent"] != nil {
		o.BufferTime = time.Millisecond
	}
	go func() {
		_, _ = Run(t.Context(), o)
		_ = out.Close()
		close(e.ended)
	}()
	t.Cleanup(func() {
		_ = in.Close()
		_ = outR.Close()
		<-e.ended
	})
	if version > 0 {
		e.begin(version, offers)
	}
	return e
}

// offered names the field of what an editor offers.
func offered(version int) string {
	return map[int]string{1: "clientCapabilities", 2: "capabilities"}[version]
}

func (e *editor) begin(version int, offers object) {
	e.t.Helper()
	e.result(e.request("initialize", object{"protocolVersion": version, offered(version): object{"fs": offers}}))
	o := e.result(e.request("session/new", object{"cwd": e.dir, "mcpServers": []object{}}))
	e.id = o["sessionId"].(string)
}

func (e *editor) write(m object) {
	e.t.Helper()
	m["jsonrpc"] = "2.0"
	b := must.Get(json.Marshal(m))(e.t)
	e.line(string(b))
}

func (e *editor) line(s string) {
	e.t.Helper()
	if _, err := io.WriteString(e.in, s+"\n"); err != nil {
		e.t.Fatal(err)
	}
}

func (e *editor) request(method string, params object) (id int) {
	e.t.Helper()
	e.ids++
	e.write(object{"id": e.ids, "method": method, "params": params})
	return e.ids
}

func (e *editor) say(text string) int {
	e.t.Helper()
	return e.request("session/prompt", object{"sessionId": e.id, "prompt": []object{{"type": "text", "text": text}}})
}

// next reads until is holds.
func (e *editor) next(what string, is func(object) bool) object {
	e.t.Helper()
	for e.out.Scan() {
		var m object
		if err := json.Unmarshal(e.out.Bytes(), &m); err != nil {
			e.t.Fatalf("%v: %s", err, e.out.Text())
		}
		e.all = append(e.all, m)
		e.file(m)
		if is(m) {
			return m
		}
	}
	e.t.Fatalf("the connection ended before %s:\n%s", what, e.log())
	return nil
}

// find returns the first message of all for which is holds.
func (e *editor) find(what string, is func(object) bool) object {
	e.t.Helper()
	if i := slices.IndexFunc(e.all, is); i >= 0 {
		return e.all[i]
	}
	return e.next(what, is)
}

func (e *editor) log() string {
	var b strings.Builder
	for _, m := range e.all {
		line, _ := json.Marshal(m)
		b.Write(append(line, '\n'))
	}
	return b.String() + e.err.String()
}

func (e *editor) answer(id int) object {
	e.t.Helper()
	return e.find(fmt.Sprint("the answer to ", id), func(m object) bool { return m["method"] == nil && m["id"] == float64(id) })
}

func (e *editor) result(id int) object {
	e.t.Helper()
	m := e.answer(id)
	if m["error"] != nil {
		e.t.Fatalf("%v", m["error"])
	}
	return m["result"].(object)
}

// update reads until an update of a kind.
func (e *editor) update(kind string) object {
	e.t.Helper()
	m := e.next(kind, func(m object) bool { return kindOf(m) == kind })
	return m["params"].(object)["update"].(object)
}

// idle returns the next message, or one that was read already, after which nothing runs.
// Each is returned once.
func (e *editor) idle() object {
	e.t.Helper()
	is := func(m object) bool { return strings.Contains(fmt.Sprint(m), "state:idle") }
	for ; e.idles < len(e.all); e.idles++ {
		if is(e.all[e.idles]) {
			e.idles++
			return e.all[e.idles-1]
		}
	}
	m := e.next("idle", is)
	e.idles = len(e.all)
	return m
}

func kindOf(m object) string {
	p, _ := m["params"].(object)
	u, _ := p["update"].(object)
	s, _ := u["sessionUpdate"].(string)
	return s
}

// mode waits until the editor knows of a mode. That may come before the answer to what
// changed it.
func (e *editor) mode(name string) {
	e.t.Helper()
	e.find("the mode "+name, func(m object) bool {
		return kindOf(m) == "current_mode_update" && m["params"].(object)["update"].(object)["currentModeId"] == name
	})
}

// asked reads until a question, and returns its id.
func (e *editor) asked() (id any, params object) {
	e.t.Helper()
	m := e.next("a question", func(m object) bool { return m["method"] == "session/request_permission" })
	return m["id"], m["params"].(object)
}

func (e *editor) choose(id any, option string) {
	e.t.Helper()
	e.write(object{"id": id, "result": object{"outcome": object{"outcome": "selected", "optionId": option}}})
}

func (e *editor) has(name string) bool {
	_, err := os.Stat(filepath.Join(e.dir, name))
	return err == nil
}

const writes = `{"path":"new.txt","content":"one\n"}`

// SPEC 17.2: only an answer that was offered allows a call.
func TestPermission(t *testing.T) {
	for _, version := range []int{1, 2} {
		for name, c := range map[string]struct {
			answer  any
			written bool
		}{
			"once":          {object{"outcome": object{"outcome": "selected", "optionId": chat.Yes}}, true},
			"edits":         {object{"outcome": object{"outcome": "selected", "optionId": chat.AllEdits}}, true},
			"no":            {object{"outcome": object{"outcome": "selected", "optionId": chat.No}}, false},
			"cancelled":     {object{"outcome": object{"outcome": "cancelled"}}, false},
			"unknown":       {object{"outcome": object{"outcome": "selected", "optionId": "allow"}}, false},
			"shows only":    {object{"outcome": object{"outcome": "selected", "optionId": chat.WholeDiff}}, false},
			"other outcome": {object{"outcome": object{"outcome": "_approved", "optionId": chat.Yes}}, false},
			"nothing":       {object{}, false},
			"no object":     {"y", false},
			"error":         {nil, false},
		} {
			t.Run(fmt.Sprint(version, " ", name), func(t *testing.T) {
				e := edit(t, version, llmtest.Use("write", writes), llmtest.Say("done"))
				sent := e.say("write")
				id, _ := e.asked()
				if c.answer == nil {
					e.write(object{"id": id, "error": object{"code": -32603, "message": "no"}})
				} else {
					e.write(object{"id": id, "result": c.answer})
				}
				if version == 1 {
					e.result(sent)
				} else {
					e.idle()
				}
				if e.has("new.txt") != c.written {
					t.Errorf("written: %v", !c.written)
				}
			})
		}
	}
}

// Each of several calls is asked about separately, and named as it is shown.
func TestSeveralCalls(t *testing.T) {
	e := edit(t, 1, llmtest.Use("write", writes, "write", `{"path":"two.txt","content":"x\n"}`), llmtest.Say("done"))
	sent := e.say("write")
	first := e.update("tool_call")["toolCallId"]
	id, p := e.asked()
	if got := p["toolCall"].(object)["toolCallId"]; got != first {
		t.Errorf("asked about %v, shown as %v", got, first)
	}
	e.choose(id, chat.Yes)
	id, p = e.asked()
	if got := p["toolCall"].(object)["toolCallId"]; got == first {
		t.Errorf("asked twice about %v", got)
	}
	e.choose(id, chat.No)
	e.result(sent)
	if !e.has("new.txt") || e.has("two.txt") {
		t.Errorf("new.txt %v, two.txt %v", e.has("new.txt"), e.has("two.txt"))
	}
}

// A cancellation ends the turn, and withdraws what is asked.
func TestCancel(t *testing.T) {
	for _, version := range []int{1, 2} {
		e := edit(t, version, llmtest.Use("write", writes))
		sent := e.say("write")
		id, _ := e.asked()
		e.write(object{"method": "session/cancel", "params": object{"sessionId": e.id}})
		withdrawn := e.find("the withdrawal", func(m object) bool { return m["method"] == "$/cancel_request" })
		if got := withdrawn["params"].(object)["requestId"]; got != id {
			t.Errorf("withdrew %v, not %v", got, id)
		}
		if version == 1 {
			if got := e.result(sent)["stopReason"]; got != "cancelled" {
				t.Errorf("stop reason %v", got)
			}
		} else if m := e.idle(); !strings.Contains(fmt.Sprint(m), "stopReason:cancelled") {
			t.Errorf("%s", e.log())
		}
		e.choose(id, chat.Yes) // too late
		e.say("/status")       // the connection lives
		if version == 2 {
			e.update("user_message")
		} else {
			e.update("agent_message_chunk")
		}
		if e.has("new.txt") {
			t.Error("it was written")
		}
	}
}

// What an editor sends wrong is refused with what is wrong, and nothing else changes.
func TestRefused(t *testing.T) {
	e := edit(t, 1, llmtest.Say("hello"))
	e.line("no JSON")
	e.line("[]")
	e.line("")
	for _, c := range []struct {
		method string
		params any
		code   float64
		text   string
	}{
		{"session/nothing", object{}, -32601, "session/nothing"},
		{"session/prompt", object{"sessionId": "nobody", "prompt": []object{{"type": "text", "text": "x"}}}, -32002, "nobody"},
		{"session/prompt", object{"sessionId": e.id, "prompt": []object{}}, -32602, "empty"},
		{"session/prompt", object{"sessionId": e.id, "prompt": []object{{"type": "text", "text": " \n"}}}, -32602, "empty"},
		{"session/prompt", object{"sessionId": e.id, "prompt": []object{{"type": "audio", "mimeType": "audio/ogg", "data": ""}}}, -32602, "audio"},
		{"session/prompt", object{"sessionId": e.id, "prompt": []object{{"type": "resource", "resource": object{"mimeType": "application/pdf", "blob": "AAAA"}}}}, -32602, "application/pdf"},
		{"session/prompt", "text", -32602, "parameters"},
		{"session/prompt", object{"sessionId": e.id, "prompt": "text"}, -32602, "parameters"},
		{"session/new", object{"cwd": "relative"}, -32602, "relative"},
		{"session/new", object{"cwd": e.dir, "additionalDirectories": []string{"x"}}, -32602, `"x"`},
		{"session/load", object{"cwd": e.dir, "sessionId": e.id}, -32600, "is open"},
		{"session/delete", object{"sessionId": e.id}, -32600, "is open"},
		{"session/list", object{"cursor": "x"}, -32602, `"x"`},
		{"session/list", object{"cursor": "-1"}, -32602, `"-1"`},
		{"session/set_mode", object{"sessionId": e.id, "modeId": "root"}, -32602, "root"},
		{"session/set_config_option", object{"sessionId": e.id, "configId": "colour", "value": "red"}, -32602, "colour"},
		{"session/set_config_option", object{"sessionId": e.id, "configId": "model", "value": "no/model"}, -32602, "no/model"},
		{"session/set_config_option", object{"sessionId": e.id, "configId": "mode", "value": true}, -32602, "mode"},
	} {
		e.ids++
		e.write(object{"id": e.ids, "method": c.method, "params": c.params})
		m := e.answer(e.ids)
		err, _ := m["error"].(object)
		if err["code"] != c.code || !strings.Contains(fmt.Sprint(err["message"]), c.text) {
			t.Errorf("%s %v: %v", c.method, c.params, m)
		}
	}
	if got := strings.Count(e.err.String(), "not a message"); got != 2 {
		t.Errorf("%d lines were reported: %s", got, e.err.String())
	}
	if got := e.result(e.say("hi"))["stopReason"]; got != "end_turn" {
		t.Errorf("stop reason %v", got)
	}
}

// The mode and the model can be changed, and a change from elsewhere is told.
func TestOptions(t *testing.T) {
	e := edit(t, 1)
	set := e.result(e.request("session/set_config_option", object{"sessionId": e.id, "configId": "model", "value": "other/one"}))
	if len(set["configOptions"].([]any)) != 2 {
		t.Errorf("%v", set)
	}
	e.result(e.request("session/set_mode", object{"sessionId": e.id, "modeId": "acceptEdits"}))
	e.mode("accept-edits")
	e.say("/mode plan")
	e.mode("plan")
}

// A slash command and an unknown one end like a turn; the person sees what they print.
func TestCommands(t *testing.T) {
	for _, version := range []int{1, 2} {
		e := edit(t, version)
		for _, c := range [][2]string{{"/status", "mode"}, {"/nothing", "nothing"}, {"!echo $((40+2))", "42"}} {
			from := len(e.all)
			sent := e.say(c[0])
			if version == 1 {
				e.result(sent)
			} else {
				e.idle()
			}
			seen := fmt.Sprint(e.all[from:])
			if version == 2 && strings.HasPrefix(c[0], "!") {
				c[1] = "NDIK" // base64
			}
			if !strings.Contains(seen, c[1]) {
				t.Errorf("version %d, %s: %s", version, c[0], seen)
			}
		}
	}
}

// A question of the model with options is asked; one that wants words is answered with
// why nobody can type any.
func TestQuestionsOfTheModel(t *testing.T) {
	e := edit(t, 1,
		llmtest.Use("ask_user", `{"question":"Which colour?","options":["red","blue"]}`),
		llmtest.Use("ask_user", `{"question":"Which name?"}`), llmtest.Say("done"))
	sent := e.say("ask me")
	id, p := e.asked()
	if got := fmt.Sprint(p["options"]); !strings.Contains(got, "blue") || !strings.Contains(got, "reject_once") {
		t.Errorf("options %s", got)
	}
	e.choose(id, "2")
	e.result(sent)
	e.result(e.request("session/close", object{"sessionId": e.id}))
	e.result(e.request("session/load", object{"sessionId": e.id, "cwd": e.dir})) // past questions are not asked again
	if log := e.log(); strings.Count(log, `\n\nWhich name?\n\n`) != 1 || !strings.Contains(log, "cannot ask for words") {
		t.Errorf("%s", log)
	}
}

// Where the editor can ask for words, it is asked to; what it answers besides is no
// answer.
func TestQuestionsInWords(t *testing.T) {
	for _, version := range []int{1, 2} {
		for name, c := range map[string]struct {
			reply object
			want  string
		}{
			"typed":      {object{"result": object{"action": "accept", "content": object{"answer": "Ada Lovelace"}}}, "Ada Lovelace"},
			"declined":   {object{"result": object{"action": "decline"}}, "gave no answer"},
			"cancelled":  {object{"result": object{"action": "cancel", "content": object{"answer": "Mallory"}}}, "gave no answer"},
			"no action":  {object{"result": object{"content": object{"answer": "Mallory"}}}, "gave no answer"},
			"not a text": {object{"result": object{"action": "accept", "content": object{"answer": 7}}}, "cannot ask for words"},
			"an error":   {object{"error": object{"code": -32601, "message": "unknown"}}, "cannot ask for words"},
		} {
			t.Run(fmt.Sprint(name, version), func(t *testing.T) {
				e := edit(t, 0, llmtest.Use("ask_user", `{"question":"Which name?"}`), llmtest.Say("done"))
				e.result(e.request("initialize", object{"protocolVersion": version, offered(version): object{"elicitation": object{"form": object{}}}}))
				e.id = e.result(e.request("session/new", object{"cwd": e.dir, "mcpServers": []object{}}))["sessionId"].(string)
				sent := e.say("ask me")
				m := e.next("elicitation/create", func(m object) bool { return m["method"] == "elicitation/create" })
				if got := fmt.Sprint(m["params"]); !strings.Contains(got, "Which name?") || !strings.Contains(got, "mode:form") || !strings.Contains(got, e.id) {
					t.Error(got)
				}
				c.reply["id"] = m["id"]
				e.write(c.reply)
				if version == 1 {
					e.result(sent)
				} else {
					e.idle()
				}
				if log := e.log(); !strings.Contains(log, c.want) || strings.Contains(log, "Mallory") {
					t.Error(log)
				}
			})
		}
	}
}

// A prompt during a turn joins it, and is answered with it.
func TestPromptsInATurn(t *testing.T) {
	e := edit(t, 1, llmtest.Use("write", writes), llmtest.Say("done"))
	first := e.say("write")
	id, _ := e.asked()
	second := e.say("and be quick")
	e.choose(id, chat.Yes)
	for _, id := range []int{first, second} {
		if got := e.result(id)["stopReason"]; got != "end_turn" {
			t.Errorf("%d: %v", id, got)
		}
	}
}

// A failure of the model is an error of the prompt in version 1, a state in version 2.
func TestFailure(t *testing.T) {
	for _, version := range []int{1, 2} {
		e := edit(t, version, llmtest.Turn{Err: fmt.Errorf("the server is on fire")})
		sent := e.say("hi")
		if version == 1 {
			if err := fmt.Sprint(e.answer(sent)["error"]); !strings.Contains(err, "on fire") {
				t.Errorf("%s", err)
			}
		} else {
			e.result(sent)
			m := e.idle()
			if got := fmt.Sprint(m); !strings.Contains(got, "stopReason:error") || !strings.Contains(got, "on fire") {
				t.Errorf("%s", got)
			}
		}
	}
}

// Closing a session ends its turn; leaving in a conversation closes the session.
func TestClose(t *testing.T) {
	e := edit(t, 1, llmtest.Use("write", writes))
	sent := e.say("write")
	e.asked()
	closing := e.request("session/close", object{"sessionId": e.id})
	if got := e.result(sent)["stopReason"]; got != "cancelled" {
		t.Errorf("%v", got)
	}
	e.result(closing)
	e.result(e.request("session/load", object{"sessionId": e.id, "cwd": e.dir}))
	if log := e.log(); strings.Count(log, "user_message_chunk") != 1 {
		t.Errorf("the prompt is not shown again: %s", log)
	} else if strings.Count(log, "session/request_permission") != 1 {
		t.Errorf("a question of the past is asked again: %s", log)
	}
	e.result(e.say("quit"))
	if e.answer(e.say("hi"))["error"] == nil {
		t.Error("the session is open")
	}
}

// The end of the connection in the middle of a turn, with an open question, ends pawl.
func TestGone(t *testing.T) {
	e := edit(t, 2, llmtest.Use("write", writes))
	e.say("write")
	e.asked()
	_ = e.in.Close()
	for e.out.Scan() { // its last words
	}
	<-e.ended
	if e.has("new.txt") {
		t.Error("it was written")
	}
}

// What was asked before the editor closed its side is answered.
func TestLastAnswers(t *testing.T) {
	e := edit(t, 1, llmtest.Use("write", writes))
	sent := e.say("write")
	e.asked()
	var ids []int
	for range 20 {
		ids = append(ids, e.request("session/list", object{}))
	}
	ids = append(ids, e.request("session/new", object{"cwd": e.dir, "mcpServers": []object{}}))
	_ = e.in.Close()
	if got := e.result(sent)["stopReason"]; got != "cancelled" {
		t.Errorf("%v", got)
	}
	for _, id := range ids {
		e.answer(id)
	}
	for e.out.Scan() { // its last words
	}
	<-e.ended
}

// The newest version that both speak is agreed on.
func TestVersions(t *testing.T) {
	for asked, want := range map[int]float64{0: 1, 1: 1, 2: 2, 3: 2, 65535: 2} {
		e := edit(t, 0)
		o := e.result(e.request("initialize", object{"protocolVersion": asked}))
		if o["protocolVersion"] != want {
			t.Errorf("%d: %v", asked, o["protocolVersion"])
		}
	}
}

// The list comes in pages.
func TestList(t *testing.T) {
	e := edit(t, 1)
	first := e.result(e.request("session/list", object{}))
	second := e.result(e.request("session/list", object{"cursor": first["nextCursor"]}))
	if len(first["sessions"].([]any)) != listed || len(second["sessions"].([]any)) != 1 || second["nextCursor"] != nil {
		t.Errorf("%v, %v", first["nextCursor"], second)
	}
}

// MCP servers are passed on in the format of .mcp.json, in both versions' forms.
func TestServers(t *testing.T) {
	e := edit(t, 0)
	e.request("session/new", object{"cwd": e.dir, "additionalDirectories": []string{"/x"}, "mcpServers": []object{
		{"name": "a", "command": "/bin/a", "args": []string{"-x"}, "env": []object{{"name": "K", "value": "${V}"}}},
		{"type": "http", "name": "b", "url": "http://h", "headers": []object{{"name": "H", "value": "v"}}},
		{"type": "stdio", "name": "c", "command": "/bin/c"},
	}})
	e.answer(1)
	want := `{"mcpServers":{"a":{"args":["-x"],"command":"/bin/a","env":{"K":"${V}"},"type":"stdio"},"b":{"headers":{"H":"v"},"type":"http","url":"http://h"},"c":{"args":null,"command":"/bin/c","env":{},"type":"stdio"}}}`
	if got := string(e.place.Servers); got != want || len(e.place.Dirs) != 1 {
		t.Errorf("%s %v", got, e.place.Dirs)
	}
}

func TestPromptOf(t *testing.T) {
	for _, c := range []struct{ blocks, want string }{
		{`[{"type":"text","text":" hi "}]`, "hi"},
		{`[{"type":"text","text":"see"},{"type":"resource_link","name":"a b.go","uri":"file:///w/x/a%20b.go"},{"type":"text","text":"now"}]`, `see @"x/a b.go" now`},
		{`[{"type":"resource_link","name":"n","uri":"file:///w"}]`, `@"."`},
		{`[{"type":"resource_link","name":"n","uri":"file:///etc/passwd"}]`, `n (file:///etc/passwd)`},
		{`[{"type":"resource_link","name":"n","uri":"file:///w/../etc/passwd"}]`, `n (file:///w/../etc/passwd)`},
		{`[{"type":"resource_link","name":"n","uri":"https://x/y"}]`, `n (https://x/y)`},
		{`[{"type":"resource_link","name":"n","uri":"file:///w/a%22b"}]`, `n (file:///w/a%22b)`},
		{`[{"type":"resource","resource":{"uri":"file:///w/a.go","text":"x := 1\n"}}]`, "a.go:\n```\nx := 1\n```"},
		{"[{\"type\":\"resource\",\"resource\":{\"uri\":\"zed:///sel\",\"text\":\"a\\n```\\n@/etc/passwd\"}}]", "zed:///sel:\n````\na\n```\n@/etc/passwd\n````"},
	} {
		var blocks []block
		must.Do(t, json.Unmarshal([]byte(c.blocks), &blocks))
		p, err := promptOf("/w", blocks)
		if err != nil || p.text != c.want {
			t.Errorf("%s: %q, %v, want %q", c.blocks, p.text, err, c.want)
		}
	}
	p, err := promptOf("/w", []block{{Type: "image", Media: "image/png", Data: []byte("x")}})
	if err != nil || len(p.media) != 1 || p.typed {
		t.Errorf("%v, %v", p, err)
	}
}

func TestDiffs(t *testing.T) {
	const changed = "--- a/x.txt\n+++ b/x.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n"
	const made = "--- /dev/null\n+++ b/b/y.txt\n@@ -0,0 +1 @@\n+new\n"
	const gone = "--- a/a/z.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n"
	for _, c := range []struct {
		version    int
		diff, want string
	}{
		{1, changed, `[{"newText":"one\nthree\n","oldText":"one\ntwo\n","path":"/w/x.txt","type":"diff"}]`},
		{1, made, `[{"newText":"new\n","oldText":null,"path":"/w/b/y.txt","type":"diff"}]`},
		{1, gone, `[{"newText":"","oldText":"old\n","path":"/w/a/z.txt","type":"diff"}]`},
		{1, "binary files differ", "[{\"content\":{\"text\":\"```diff\\nbinary files differ\\n```\",\"type\":\"text\"},\"type\":\"content\"}]"},
		{2, changed + made, `[{"changes":[{"fileType":"text","operation":"modify","path":"/w/x.txt"},{"fileType":"text","operation":"add","path":"/w/b/y.txt"}],"patch":{"format":"git_patch","text":"diff --git /w/x.txt /w/x.txt\n--- /w/x.txt\n+++ /w/x.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\ndiff --git /w/b/y.txt /w/b/y.txt\n--- /dev/null\n+++ /w/b/y.txt\n@@ -0,0 +1,1 @@\n+new\n"},"type":"diff"}]`},
		{2, gone, `[{"changes":[{"fileType":"text","operation":"delete","path":"/w/a/z.txt"}],"patch":{"format":"git_patch","text":"diff --git /w/a/z.txt /w/a/z.txt\n--- /w/a/z.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-old\n"},"type":"diff"}]`},
	} {
		got, err := json.Marshal(dialect{version: c.version}.diffs("/w", c.diff))
		if err != nil || string(got) != c.want {
			t.Errorf("version %d, %q:\n%s\n%s", c.version, c.diff, got, c.want)
		}
	}
}

// SPEC 17.2: "reject always" denies what the rule matches for the rest of the session,
// unasked, and the turn goes on without it.
func TestRejectAlways(t *testing.T) {
	for _, version := range []int{1, 2} {
		e := edit(t, version, llmtest.Use("write", writes), llmtest.Use("write", writes), llmtest.Say("without it"))
		never := object{"result": object{"outcome": object{"outcome": "selected", "optionId": chat.Never}}}
		asked := e.through(version, e.say("write"), func(string) object { return never })
		if asked != 1 || e.has("new.txt") || !strings.Contains(fmt.Sprint(e.all), "reject_always") || !strings.Contains(fmt.Sprint(e.all), "without it") {
			t.Errorf("version %d: asked %d times: %v", version, asked, e.all)
		}
	}
}

// SPEC 17.2: the editor learns a session's title from the first prompt.
func TestTitle(t *testing.T) {
	for _, version := range []int{1, 2} {
		e := edit(t, version, llmtest.Say("hello"))
		e.say("rename the parser\nand its tests")
		if u := e.update("session_info_update"); u["title"] != "rename the parser and its tests" {
			t.Errorf("version %d: %v", version, u)
		}
	}
}

// SPEC 17.2: audio and documents of an editor reach a model that takes them; another one
// refuses the prompt by name. What is promised is what the model takes.
func TestMediaOfPrompts(t *testing.T) {
	const sound, pdf = "RIFF\x00\x00\x00\x00WAVE", "%PDF-1.7"
	blocks := []object{
		{"type": "audio", "mimeType": "audio/x-wav", "data": []byte(sound)},
		{"type": "resource", "resource": object{"uri": "zed:///a.pdf", "mimeType": "application/pdf", "blob": []byte(pdf)}},
	}
	for version, promised := range map[int]string{1: "audio:true embeddedContext:true image:true", 2: "audio:map[] embeddedContext:map[] image:map[]"} {
		for _, takes := range []bool{true, false} {
			m := llmtest.New(llmtest.Say("heard"))
			m.InfoValue.PDF, m.InfoValue.Audio = takes, takes
			e := editModel(t, 0, nil, m)
			got := fmt.Sprint(e.result(e.request("initialize", object{"protocolVersion": version})))
			if strings.Contains(got, promised) != takes {
				t.Errorf("version %d, %v: %s", version, takes, got)
			}
			e.id = e.result(e.request("session/new", object{"cwd": e.dir, "mcpServers": []object{}}))["sessionId"].(string)
			asked := e.request("session/prompt", object{"sessionId": e.id, "prompt": blocks})
			if !takes {
				if got := fmt.Sprint(e.answer(asked)); !strings.Contains(got, "-32602") || !strings.Contains(got, "scripted/script takes no audio files") {
					t.Errorf("version %d: %s", version, got)
				}
				continue
			}
			e.through(version, asked, nil)
			var sent []string
			for _, part := range m.Requests()[0].Messages[0].Parts {
				sent = append(sent, strings.TrimSpace(part.Media+" "+string(part.Data)+part.Text))
			}
			if got := strings.Join(sent, ", "); got != "audio/wav "+sound+", application/pdf "+pdf+", [zed:///a.pdf]" {
				t.Errorf("version %d: %q", version, got)
			}
		}
	}
}

// SPEC 17.2: the editor shows the images and documents of a result.
func TestImagesOfResults(t *testing.T) {
	for _, version := range []int{1, 2} {
		e := edit(t, version, llmtest.Use("read", `{"files":[{"path":"a.png"},{"path":"a.pdf"},{"path":"a.wav"}]}`), llmtest.Say("a picture"))
		var b bytes.Buffer
		must.Do(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))))
		must.Do(t, os.WriteFile(filepath.Join(e.dir, "a.png"), b.Bytes(), 0o600))
		for name, data := range map[string]string{"a.pdf": "%PDF-1", "a.wav": "RIFF\x00\x00\x00\x00WAVE"} {
			if err := os.WriteFile(filepath.Join(e.dir, name), []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		e.through(version, e.say("look"), nil)
		got := fmt.Sprint(e.all)
		for _, want := range []string{
			"data:" + base64.StdEncoding.EncodeToString(b.Bytes()) + " mimeType:image/png type:image",
			"resource:map[blob:JVBERi0x mimeType:application/pdf uri:pawl:document.pdf] type:resource", "data:UklGRgAAAABXQVZF mimeType:audio/wav type:audio",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("version %d: %s", version, got)
			}
		}
	}
}
