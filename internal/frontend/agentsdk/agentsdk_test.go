package agentsdk

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/session/sessiontest"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/progress"
)

// program is the other side of a conversation.
type program struct {
	t     *testing.T
	dir   string
	setup Setup
	cfg   session.Config

	in  *io.PipeWriter
	out *bufio.Scanner
	all []map[string]any
	// answered are the calls of hooks that a test has seen, by their requests' ids.
	answered map[string]bool

	ended chan struct{}
	code  int
	err   error
	warn  bytes.Buffer
}

// converse begins a conversation about a folder in which each change is asked for.
func converse(t *testing.T, m llm.Model, change func(*Options, *session.Config)) *program {
	t.Helper()
	dir := must.Dir(t)
	p := &program{t: t, dir: dir, ended: make(chan struct{}), answered: map[string]bool{}}
	p.cfg = sessiontest.Config(t, dir, m, nil)
	p.cfg.Frontend, p.cfg.System, p.cfg.Person, p.cfg.Progress = "sdk", "be good", true, progress.Default()
	p.cfg.Tools = tool.Set{tools.Read(), tools.Edit(), tools.Write(), tools.Bash(), tools.AskUser()}
	p.cfg.Permission = permission.New(permission.Config{Mode: "ask", Root: dir, Home: "/home/nobody"})
	p.cfg.OpenModel = func(ref, _ string) (llm.Model, error) {
		if ref != "other" && ref != "scripted/script" {
			return nil, fmt.Errorf("there is no model %s", ref)
		}
		return m, nil
	}
	in, w := io.Pipe()
	r, out := io.Pipe()
	p.in, p.out = w, bufio.NewScanner(r)
	p.out.Buffer(nil, 16<<20)
	o := Options{
		In: in, Out: out, Err: &p.warn, Ask: true, Version: "1.2.3", Now: time.Now,
		Open: func(ctx context.Context, s Setup) (*session.Session, error) {
			p.setup = s
			return session.Open(ctx, p.cfg)
		},
	}
	if change != nil {
		change(&o, &p.cfg)
	}
	go func() {
		p.code, p.err = Run(t.Context(), o)
		_ = out.Close()
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = w.Close()
		_ = r.Close()
		<-p.ended
	})
	return p
}

func (p *program) send(lines ...string) {
	p.t.Helper()
	for _, l := range lines {
		must.Done(p.t)(io.WriteString(p.in, l+"\n"))
	}
}

func (p *program) say(text string) {
	p.t.Helper()
	p.send(string(encode(object{"type": "user", "message": object{"role": "user", "content": text}, "parent_tool_use_id": nil, "session_id": ""})))
}

// next reads until a line of a type, or of a type and subtype.
func (p *program) next(kind string) map[string]any {
	p.t.Helper()
	for p.out.Scan() {
		var m map[string]any
		if err := json.Unmarshal(p.out.Bytes(), &m); err != nil {
			p.t.Fatalf("%v: %s", err, p.out.Text())
		}
		p.all = append(p.all, m)
		if name := fmt.Sprint(m["type"]); name == kind || name+"/"+fmt.Sprint(m["subtype"]) == kind {
			return m
		}
	}
	p.t.Fatalf("the stream ended before %s: %v", kind, p.err)
	return nil
}

// next1 reads one line.
func (p *program) next1() map[string]any {
	p.t.Helper()
	if !p.out.Scan() {
		p.t.Fatalf("the stream ended: %v", p.err)
	}
	var m map[string]any
	if err := json.Unmarshal(p.out.Bytes(), &m); err != nil {
		p.t.Fatalf("%v: %s", err, p.out.Text())
	}
	p.all = append(p.all, m)
	return m
}

// end closes the program's side and reads the rest.
func (p *program) end() int {
	p.t.Helper()
	_ = p.in.Close()
	for p.out.Scan() {
		var m map[string]any
		if err := json.Unmarshal(p.out.Bytes(), &m); err != nil {
			p.t.Fatalf("%v: %s", err, p.out.Text())
		}
		p.all = append(p.all, m)
	}
	<-p.ended
	return p.code
}

// asked reads the next question about a call.
func (p *program) asked() (id string, r askRequest) {
	p.t.Helper()
	m := p.next("control_request")
	if err := json.Unmarshal(encode(m["request"]), &r); err != nil || r.Subtype != "can_use_tool" {
		p.t.Fatalf("%v: %v", err, m)
	}
	return m["request_id"].(string), r
}

func (p *program) answer(id string, a object) {
	p.t.Helper()
	p.send(string(encode(object{"type": "control_response", "response": object{"subtype": "success", "request_id": id, "response": a}})))
}

func (p *program) ask(id string, r object) {
	p.t.Helper()
	p.send(string(encode(object{"type": "control_request", "request_id": id, "request": r})))
}

// replied reads the answer to a request of the program.
func (p *program) replied(id string) map[string]any {
	p.t.Helper()
	for {
		r := p.next("control_response")["response"].(map[string]any)
		if r["request_id"] == id {
			return r
		}
	}
}

func (p *program) file(name string) string {
	p.t.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		p.t.Fatal(err)
	}
	return string(b)
}

func write(path, text string) llmtest.Turn {
	return llmtest.Use("write", string(encode(object{"path": path, "content": text})))
}

func bash(command string) llmtest.Turn {
	return llmtest.Use("bash", string(encode(object{"command": command, "description": "try"})))
}

// SPEC 17.6: two turns, with what the Agent SDK reads of each.
func TestTwoTurns(t *testing.T) {
	p := converse(t, llmtest.New(write("a.txt", "one\n"), llmtest.Say("first"), llmtest.Say("second")), nil)
	p.ask("1", object{"subtype": "initialize", "systemPrompt": []string{"be brief", "and kind"}, "appendSystemPrompt": "x"})
	if r := p.replied("1"); r["subtype"] != "success" {
		t.Errorf("%v", r)
	}
	p.say("write it")
	if m := p.next("system/init"); m["session_id"] != "s1" || m["cwd"] != p.dir || m["permissionMode"] != "default" || m["claude_code_version"] != "1.2.3" || fmt.Sprint(m["tools"]) != "[Read Edit Write Bash AskUserQuestion]" {
		t.Errorf("%v", m)
	}
	p.setup.Servers = nil // they can come later
	if !reflect.DeepEqual(p.setup, Setup{System: "be brief\n\nand kind", Append: "x"}) {
		t.Errorf("%+v", p.setup)
	}
	if m := p.next("assistant"); !strings.Contains(string(encode(m)), `"name":"Write"`) || !strings.Contains(string(encode(m)), `"file_path":"a.txt"`) {
		t.Errorf("%v", m)
	}
	id, q := p.asked()
	if q.Tool != "Write" || q.Title == "" || len(q.Suggestions) == 0 {
		t.Errorf("%+v", q)
	}
	p.answer(id, object{"behavior": "allow", "updatedInput": q.Input})
	if m := string(encode(p.next("user"))); !strings.Contains(m, `"tool_result"`) || !strings.Contains(m, q.Call) || strings.Contains(m, `"is_error":true`) {
		t.Error(m)
	}
	r := p.next("result/success")
	if r["result"] != "first" || r["num_turns"] != 2.0 || r["is_error"] != false || r["session_id"] != "s1" || r["total_cost_usd"].(float64) <= 0 || p.file("a.txt") != "one\n" {
		t.Errorf("%v: %q", r, p.file("a.txt"))
	}
	first := r["total_cost_usd"].(float64)
	p.say("again")
	if r := p.next("result/success"); r["result"] != "second" || r["num_turns"] != 1.0 || r["total_cost_usd"].(float64) <= first {
		t.Errorf("%v", r)
	}
	if code := p.end(); code != 0 || p.err != nil {
		t.Errorf("%d, %v", code, p.err)
	}
	seen := map[any]bool{}
	for _, m := range p.all {
		if u := m["uuid"]; u != nil && (seen[u] || len(u.(string)) != 36) {
			t.Errorf("uuid %v", u)
		} else if u != nil {
			seen[u] = true
		}
	}
}

// SPEC 16.1: what the program does not allow does not run, and what it allows
// runs as it was asked for.
func TestPermissions(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(q askRequest) object
		runs   bool
		told   string
	}{
		"allowed":          {func(q askRequest) object { return object{"behavior": "allow", "updatedInput": q.Input} }, true, ""},
		"without an input": {func(askRequest) object { return object{"behavior": "allow"} }, true, ""},
		"denied":           {func(askRequest) object { return object{"behavior": "deny", "message": "not today"} }, false, "not today"},
		"another input": {func(askRequest) object {
			return object{"behavior": "allow", "updatedInput": object{"command": "touch b.txt"}}
		}, false, "touch b.txt"},
		"no behavior":      {func(askRequest) object { return object{"updatedInput": object{}} }, false, ""},
		"another behavior": {func(askRequest) object { return object{"behavior": "Allow"} }, false, ""},
		"nothing":          {func(askRequest) object { return nil }, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := converse(t, llmtest.New(bash("touch a.txt"), llmtest.Say("done")), nil)
			p.say("go")
			id, q := p.asked()
			if !strings.Contains(string(q.Input), "touch a.txt") || q.Tool != "Bash" {
				t.Errorf("%+v", q)
			}
			p.answer(id, c.answer(q))
			got := string(encode(p.next("user")))
			_, err := os.Stat(filepath.Join(p.dir, "a.txt"))
			if (err == nil) != c.runs || !strings.Contains(got, c.told) {
				t.Errorf("ran: %v; %s", err == nil, got)
			}
			r := p.next("result")
			if n := len(r["permission_denials"].([]any)); (n == 0) != c.runs {
				t.Errorf("%v", r)
			}
			if _, err := os.Stat(filepath.Join(p.dir, "b.txt")); err == nil {
				t.Error("another command ran")
			}
		})
	}
}

// SPEC 16.5: the rule that was suggested holds from now on, another one does not.
func TestFromNowOn(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*permissionUpdate)
		asks   int
	}{
		"the rule":      {func(*permissionUpdate) {}, 1},
		"another rule":  {func(p *permissionUpdate) { p.Rules[0].Content = "*" }, 2},
		"another tool":  {func(p *permissionUpdate) { p.Rules[0].Tool = "Write" }, 2},
		"a denial":      {func(p *permissionUpdate) { p.Behavior = "deny" }, 2},
		"two at a time": {func(p *permissionUpdate) { p.Rules = append(p.Rules, rule{Tool: "Bash"}) }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			p := converse(t, llmtest.New(bash("touch a.txt"), bash("touch a.txt"), llmtest.Say("done")), nil)
			p.say("go")
			for range c.asks {
				id, q := p.asked()
				s := q.Suggestions[0]
				c.change(&s)
				p.answer(id, object{"behavior": "allow", "updatedInput": q.Input, "updatedPermissions": []permissionUpdate{s}})
			}
			p.next("result/success")
		})
	}
}

// SPEC 10.3: an interrupt ends the turn, takes the open question back, and the
// conversation goes on.
func TestInterrupt(t *testing.T) {
	p := converse(t, llmtest.New(bash("touch a.txt"), llmtest.Say("second")), nil)
	p.say("go")
	id, _ := p.asked()
	p.ask("i", object{"subtype": "interrupt"})
	if m := p.next("control_cancel_request"); m["request_id"] != id {
		t.Errorf("%v", m)
	}
	if r := p.next("result"); r["subtype"] != "error_during_execution" || r["is_error"] != true {
		t.Errorf("%v", r)
	}
	p.answer(id, object{"behavior": "allow"}) // too late
	p.say("again")
	if r := p.next("result/success"); r["result"] != "second" || p.file("a.txt") != "" {
		t.Errorf("%v", r)
	}
	if code := p.end(); code != 0 {
		t.Error(code)
	}
}

// SPEC 10.1: the model's own question reaches the program in the form it knows.
func TestQuestion(t *testing.T) {
	p := converse(t, llmtest.New(llmtest.Use("ask_user", `{"question":"which?","options":["red","blue"]}`), llmtest.Say("done")), nil)
	p.say("go")
	id, q := p.asked()
	if q.Tool != askTool || !strings.Contains(string(q.Input), `"label":"blue"`) {
		t.Errorf("%+v", q)
	}
	p.answer(id, object{"behavior": "allow", "updatedInput": object{"questions": []any{}, "answers": object{"which?": "blue"}}})
	if got := string(encode(p.next("user"))); !strings.Contains(got, "blue") {
		t.Error(got)
	}
}

// What a program may ask for.
func TestRequests(t *testing.T) {
	p := converse(t, llmtest.New(llmtest.Say("done")), nil)
	for _, c := range []struct {
		request object
		fails   string
	}{
		{object{"subtype": "interrupt"}, ""}, // nothing runs
		{object{"subtype": "set_permission_mode", "mode": "acceptEdits"}, ""},
		{object{"subtype": "set_permission_mode", "mode": "whatever"}, "whatever"},
		{object{"subtype": "set_model", "model": "other"}, ""},
		{object{"subtype": "set_model"}, ""},
		{object{"subtype": "set_model", "model": "none"}, "none"},
		{object{"subtype": "stop_task", "task_id": "t9"}, "no task \"t9\" runs"},
		{object{"subtype": "mcp_reconnect", "serverName": "x"}, "no MCP server"},
		{object{}, "no request"},
	} {
		p.ask("x", c.request)
		r := p.replied("x")
		if (r["subtype"] == "error") != (c.fails != "") || !strings.Contains(fmt.Sprint(r["error"]), c.fails) && c.fails != "" {
			t.Errorf("%v: %v", c.request, r)
		}
	}
	p.say("go")
	if m := p.next("system/init"); m["permissionMode"] != "acceptEdits" {
		t.Errorf("%v", m)
	}
	p.next("result/success")
}

// Input that is not a message ends the conversation with an error that names the
// line; what ran is interrupted, and recorded.
func TestBadInput(t *testing.T) {
	for name, c := range map[string]struct{ line, says string }{
		"no JSON":        {"hello", "line 1"},
		"no type":        {`{"message":{}}`, "no type"},
		"an array":       {`[1]`, "line 1"},
		"no content":     {`{"type":"user","message":{"role":"user"}}`, "content"},
		"empty":          {`{"type":"user","message":{"role":"user","content":"  "}}`, "empty"},
		"of the model":   {`{"type":"user","message":{"role":"assistant","content":"x"}}`, "assistant"},
		"a tool result":  {`{"type":"user","message":{"role":"user","content":[{"type":"tool_result"}]}}`, "tool_result"},
		"no PDF":         {`{"type":"user","message":{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"UEsD"}}]}}`, "its content is not"},
		"no base64":      {`{"type":"user","message":{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"*"}}]}}`, "base64"},
		"an odd image":   {`{"type":"user","message":{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/tiff","data":"UEsD"}}]}}`, "image/tiff"},
		"a file's id":    {`{"type":"user","message":{"role":"user","content":[{"type":"document","source":{"type":"file"}}]}}`, "@FILE"},
		"an image's URL": {`{"type":"user","message":{"role":"user","content":[{"type":"image","source":{"type":"url"}}]}}`, "image"},
		"half a line":    {`{"type":"user","message":{"role":"user","content":"x"`, "line 1"},
	} {
		t.Run(name, func(t *testing.T) {
			p := converse(t, llmtest.New(), nil)
			p.send(c.line)
			<-p.ended
			if bad := (*InputError)(nil); !errors.As(p.err, &bad) || !strings.Contains(p.err.Error(), c.says) {
				t.Errorf("%v", p.err)
			}
		})
	}
	t.Run("unknown types are passed over", func(t *testing.T) {
		p := converse(t, llmtest.New(llmtest.Say("done")), nil)
		p.send(`{"type":"keep_alive"}`, "", `{"type":"something_new"}`, `{"type":"control_response","response":{"subtype":"success","request_id":"nobody"}}`)
		p.say("go")
		p.next("result/success")
		if p.end(); !strings.Contains(p.warn.String(), "something_new") {
			t.Errorf("%q", p.warn.String())
		}
	})
}

// The pieces of a reply add up to the message.
func TestPieces(t *testing.T) {
	think := llmtest.Turn{Reasoning: "hm, well", Text: "I look at the file, then.", Piece: 3, Calls: llmtest.Use("bash", `{"command":"true","description":"nothing"}`).Calls}
	p := converse(t, llmtest.New(think, llmtest.Say("done")), func(o *Options, cfg *session.Config) {
		o.Partial = true
		cfg.Permission = permission.New(permission.Config{Mode: "yolo", Root: cfg.Dir, Home: "/home/nobody"})
	})
	p.say("go")
	p.next("result/success")
	var blocks []map[string]any
	open, replies := false, 0
	for _, m := range p.all {
		switch m["type"] {
		case "assistant":
			content := m["message"].(map[string]any)["content"].([]any)
			if open || len(content) != 1 || len(blocks) == 0 {
				t.Fatalf("open: %v; %v and %v", open, content, blocks)
			}
			for i, b := range content {
				b := b.(map[string]any)
				if s, ok := b["signature"]; ok && s == "" {
					delete(b, "signature")
				}
				if !bytes.Equal(encode(b), encode(blocks[i])) {
					t.Errorf("%s was streamed as %s", encode(b), encode(blocks[i]))
				}
			}
			if blocks = blocks[1:]; len(blocks) == 0 {
				replies++
			}
		case "stream_event":
			e := m["event"].(map[string]any)
			switch e["type"] {
			case "message_start":
				if open {
					t.Error("a message begins in another one")
				}
				open, blocks = true, nil
			case "content_block_start":
				blocks = append(blocks, e["content_block"].(map[string]any))
				if int(e["index"].(float64)) != len(blocks)-1 {
					t.Errorf("%v is block %d", e, len(blocks)-1)
				}
			case "content_block_delta":
				b, d := blocks[int(e["index"].(float64))], e["delta"].(map[string]any)
				switch d["type"] {
				case "input_json_delta":
					var in any
					if err := json.Unmarshal([]byte(d["partial_json"].(string)), &in); err != nil {
						t.Error(err)
					}
					b["input"] = in
				case "text_delta":
					b["text"] = b["text"].(string) + d["text"].(string)
				case "thinking_delta":
					b["thinking"] = b["thinking"].(string) + d["thinking"].(string)
				}
			case "message_stop":
				open = false
			}
		}
	}
	if replies != 2 || open {
		t.Errorf("%d replies", replies)
	}
}

// SPEC 3.4: whatever piece of a reply is missed, the pieces add up to the message.
func TestMissedPieces(t *testing.T) {
	blocks := []object{{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "I look."}, {"type": "tool_use", "id": "1", "name": "Read", "input": json.RawMessage(`{"a":1}`)}}
	for name, got := range map[string][][2]string{
		"none":            {{"thinking", "h"}, {"thinking", "m"}, {"text", "I "}, {"text", "look."}},
		"all":             {},
		"the first":       {{"thinking", "m"}, {"text", "I look."}},
		"the end":         {{"thinking", "hm"}, {"text", "I l"}},
		"a block":         {{"text", "I look."}},
		"the second":      {{"thinking", "hm"}},
		"in the midst":    {{"thinking", "hm"}, {"text", "I "}, {"text", "k."}},
		"of a past block": {{"thinking", "h"}, {"text", "I look."}},
	} {
		t.Run(name, func(t *testing.T) {
			p := converse(t, llmtest.New(), nil)
			s := must.Get(session.Open(t.Context(), p.cfg))(t)
			defer s.Close()
			var out bytes.Buffer
			w := newWriter(&out, "1", true)
			w.opened(s)
			for _, g := range got {
				w.piece(g[0], g[1])
			}
			w.whole(blocks, "tool_use", llm.Usage{})
			var last []string
			for line := range bytes.Lines(out.Bytes()) {
				var m struct {
					Event struct {
						Type  string
						Index int
						Delta struct {
							Text, Thinking string
							Input          string `json:"partial_json"`
						}
					}
				}
				must.Do(t, json.Unmarshal(line, &m))
				switch e := m.Event; e.Type {
				case "message_start":
					last = nil
				case "content_block_start":
					last = append(last, "")
				case "content_block_delta":
					last[e.Index] += e.Delta.Text + e.Delta.Thinking + e.Delta.Input
				}
			}
			if fmt.Sprint(last) != `[hm I look. {"a":1}]` {
				t.Errorf("%q", last)
			}
		})
	}
}

// A conversation ends when the program closes its side and the turn is over, and a
// run of one prompt by itself; a signal ends both, with its own code.
func TestEnds(t *testing.T) {
	t.Run("closed in the turn", func(t *testing.T) {
		wait, asked := make(chan struct{}), make(chan struct{})
		p := converse(t, llmtest.New(llmtest.Turn{Text: "late", Wait: wait, Before: func(*llm.Request) { close(asked) }}), nil)
		p.say("go")
		p.next("system/init")
		<-asked
		_ = p.in.Close()
		close(wait)
		if r := p.next("result/success"); r["result"] != "late" {
			t.Errorf("%v", r)
		}
		if code := p.end(); code != 0 {
			t.Error(code)
		}
	})
	t.Run("closed while it is asked", func(t *testing.T) {
		p := converse(t, llmtest.New(write("a.txt", "x"), llmtest.Say("done")), nil)
		p.say("go")
		p.asked()
		_ = p.in.Close()
		if r := p.next("result/success"); r["result"] != "done" || p.file("a.txt") != "" || !strings.Contains(string(encode(p.all)), "nobody is there to be asked any more") {
			t.Errorf("%v", r)
		}
	})
	t.Run("one prompt", func(t *testing.T) {
		p := converse(t, llmtest.New(llmtest.Say("hello")), func(o *Options, _ *session.Config) { o.Prompt = "go" })
		if r := p.next("result/success"); r["result"] != "hello" {
			t.Errorf("%v", r)
		}
		<-p.ended
		if p.code != 0 || p.err != nil {
			t.Errorf("%d, %v", p.code, p.err)
		}
	})
	t.Run("a signal", func(t *testing.T) {
		signals, asked := make(chan string, 1), make(chan struct{})
		p := converse(t, llmtest.New(llmtest.Turn{Text: "never", Wait: make(chan struct{}), Before: func(*llm.Request) { close(asked) }}), func(o *Options, _ *session.Config) {
			o.Signals = signals
		})
		p.say("go")
		p.next("system/init")
		<-asked
		signals <- "SIGINT"
		if r := p.next("result"); r["is_error"] != true {
			t.Errorf("%v", r)
		}
		<-p.ended
		if p.code != 130 {
			t.Error(p.code)
		}
	})
	t.Run("nothing was said", func(t *testing.T) {
		p := converse(t, llmtest.New(), nil)
		if code := p.end(); code != 0 || len(p.all) != 0 {
			t.Errorf("%d, %v", code, p.all)
		}
	})
}

// SPEC 8.1: a limit ends the turn under the name that programs know; they are not
// asked whether to pass it.
func TestLimits(t *testing.T) {
	for want, l := range map[string]budget.Limits{"error_max_turns": {Steps: 1}, "error_max_budget_usd": {USD: 0.0001}} {
		t.Run(want, func(t *testing.T) {
			p := converse(t, llmtest.New(bash("true"), bash("true"), llmtest.Say("done")), func(_ *Options, cfg *session.Config) {
				cfg.Limits = l
				cfg.Permission = permission.New(permission.Config{Mode: "yolo", Root: cfg.Dir, Home: "/home/nobody"})
			})
			p.say("go")
			if r := p.next("result"); r["subtype"] != want || len(r["errors"].([]any)) != 1 {
				t.Errorf("%v", r)
			}
		})
	}
}

// SPEC 10.4: a session that is resumed goes on, and what was before is not told
// again.
func TestResumed(t *testing.T) {
	m := llmtest.New(llmtest.Say("first"), llmtest.Say("second"))
	p := converse(t, m, nil)
	p.say("one")
	p.next("result/success")
	p.end()
	q := converse(t, m, func(_ *Options, cfg *session.Config) {
		cfg.Store, cfg.Dir = p.cfg.Store, p.dir
	})
	q.say("two")
	if r := q.next("result/success"); r["result"] != "second" || r["num_turns"] != 1.0 {
		t.Errorf("%v", r)
	}
	for _, m := range q.all {
		if strings.Contains(string(encode(m)), "first") {
			t.Errorf("%v", m)
		}
	}
	if m := q.all[0]; m["subtype"] != "init" || m["cwd"] != p.dir || len(m["tools"].([]any)) == 0 {
		t.Errorf("%v", m)
	}
}

// A session that cannot be opened is a result, too.
func TestNotOpened(t *testing.T) {
	p := converse(t, llmtest.New(), func(o *Options, _ *session.Config) {
		o.Open = func(context.Context, Setup) (*session.Session, error) { return nil, errors.New("no model") }
	})
	p.say("go")
	if r := p.next("result"); fmt.Sprint(r["errors"]) != "[no model]" {
		t.Errorf("%v", r)
	}
	if code := p.end(); code != 1 {
		t.Error(code)
	}
}

// SPEC 17.6: the answers of a program with a schema fit it, or are errors.
func TestSchema(t *testing.T) {
	p := converse(t, llmtest.New(llmtest.Say("three"), llmtest.Say(`{"n":3}`), llmtest.Say("a"), llmtest.Say("b"), llmtest.Say("c")), nil)
	p.ask("1", object{"subtype": "initialize", "jsonSchema": object{"type": "object", "required": []string{"n"}}})
	p.replied("1")
	p.say("count")
	if m := p.next("result/success"); fmt.Sprint(m["structured_output"]) != "map[n:3]" {
		t.Errorf("%v", m)
	}
	p.say("again")
	if m := p.next("result/error_max_structured_output_retries"); !strings.Contains(fmt.Sprint(m["errors"]), "not JSON") || m["is_error"] != true {
		t.Errorf("%v", m)
	}
	if code := p.end(); code != 11 {
		t.Errorf("exit code %d", code)
	}
}

// SPEC 17.6: what a program sends as a command while a turn runs is refused after that
// turn's result, which is whole; /compact is done, and its end is a result.
func TestCommandsInATurn(t *testing.T) {
	p := converse(t, llmtest.New(write("a.txt", "one\n"), write("b.txt", "two\n"), llmtest.Say("all done"), llmtest.Say("again")), nil)
	p.say("go")
	id, q := p.asked()
	p.say("/nothing here")
	p.say("/model opus")
	p.answer(id, object{"behavior": "allow", "updatedInput": q.Input})
	id, q = p.asked()
	p.answer(id, object{"behavior": "allow", "updatedInput": q.Input})
	if r := p.next("result"); r["subtype"] != "success" || r["result"] != "all done" || r["num_turns"] != 3.0 {
		t.Errorf("%v", r)
	}
	for _, want := range []string{"unknown command /nothing", "/model works only in a conversation"} {
		if r := p.next("result"); r["is_error"] != true || !strings.Contains(fmt.Sprint(r["errors"]), want) {
			t.Errorf("%v", r)
		}
	}
	p.say("/compact the files")
	if r := p.next("result"); r["is_error"] == true || r["num_turns"] != 0.0 || !strings.Contains(fmt.Sprint(r["result"]), "ompact") && !strings.Contains(fmt.Sprint(r["result"]), "Nothing to leave out") {
		t.Errorf("%v", r)
	}
	p.say("go on")
	if r := p.next("result"); r["result"] != "again" {
		t.Errorf("%v", r)
	}
	if code := p.end(); code != 0 {
		t.Error(code)
	}
}

// SPEC 3.3: what to do about a failure is part of its message, once.
func TestOpenFails(t *testing.T) {
	p := converse(t, llmtest.New(), func(o *Options, _ *session.Config) {
		o.Open = func(context.Context, Setup) (*session.Session, error) {
			return nil, fault.NewConfiguration("set A_KEY", "there is no key")
		}
	})
	p.say("go")
	if r := p.next("result"); fmt.Sprint(r["errors"]) != "[there is no key (set A_KEY)]" {
		t.Errorf("%v", r)
	}
	if code := p.end(); code != 3 {
		t.Error(code)
	}
}
