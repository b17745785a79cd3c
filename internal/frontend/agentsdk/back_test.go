package agentsdk

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// withHooks has the session take the program's hooks, as cli does.
func withHooks(p **program) func(*Options, *session.Config) {
	return func(o *Options, cfg *session.Config) {
		open := o.Open
		o.Open = func(ctx context.Context, s Setup) (*session.Session, error) {
			if s.Hooks != nil {
				(*p).cfg.Hooks = s.Hooks
			}
			return open(ctx, s)
		}
	}
}

func hooked(t *testing.T, hooks object, turns ...llmtest.Turn) *program {
	t.Helper()
	var p *program
	p = converse(t, llmtest.New(turns...), withHooks(&p))
	p.ask("init", object{"subtype": "initialize", "hooks": hooks})
	if r := p.replied("init"); r["subtype"] != "success" {
		t.Fatalf("%v", r)
	}
	return p
}

// calledBack returns the next call of a hook, which may have been read on the way to
// another message.
func (p *program) calledBack() (id string, c callback) {
	p.t.Helper()
	for i := 0; ; i++ {
		if i == len(p.all) {
			p.next("control_request")
			i = len(p.all) - 1
		}
		m := p.all[i]
		if id, _ = m["request_id"].(string); m["type"] != "control_request" || p.answered[id] {
			continue
		}
		c = callback{}
		if err := json.Unmarshal(encode(m["request"]), &c); err != nil {
			p.t.Fatalf("%v: %v", err, m)
		}
		if c.Subtype == "hook_callback" {
			p.answered[id] = true
			return id, c
		}
	}
}

func matcher(tool string, ids ...string) []any {
	return []any{object{"matcher": tool, "hookCallbackIds": ids}}
}

// SPEC 17.3, 16.13: hooks of a program are called back, with the input of a hook,
// and their answers count as those of others do: they narrow, and grant nothing.
func TestHookCallbacks(t *testing.T) {
	p := hooked(t, object{"PreToolUse": matcher("Write", "hook_0"), "PostToolUse": []any{object{"hookCallbackIds": []string{"hook_1"}}}, "Notification": []any{object{"matcher": nil, "hookCallbackIds": []string{}}}},
		write("a.txt", "one\n"), write("b.txt", "two\n"), llmtest.Say("done"))
	p.say("go")
	id, c := p.calledBack()
	var in struct {
		Event string `json:"hook_event_name"`
		Tool  string `json:"tool_name"`
		Args  struct {
			File string `json:"file_path"`
		} `json:"tool_input"`
	}
	if err := json.Unmarshal(c.Input, &in); err != nil || c.ID != "hook_0" || c.Call == "" || in.Event != "PreToolUse" || in.Tool != "Write" || in.Args.File != p.dir+"/a.txt" {
		t.Errorf("%v %+v %s", err, c, c.Input)
	}
	p.answer(id, object{"hookSpecificOutput": object{"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "not a.txt"}})
	if got := string(encode(p.next("user"))); !strings.Contains(got, "not a.txt") || p.file("a.txt") != "" {
		t.Errorf("%s %q", got, p.file("a.txt"))
	}
	id, _ = p.calledBack()
	p.answer(id, object{"hookSpecificOutput": object{"hookEventName": "PreToolUse", "permissionDecision": "allow"}})
	id, q := p.asked() // all the same
	p.answer(id, object{"behavior": "allow", "updatedInput": q.Input})
	id, c = p.calledBack()
	if c.ID != "hook_1" || !strings.Contains(string(c.Input), `"tool_response"`) {
		t.Errorf("%+v %s", c, c.Input)
	}
	p.answer(id, object{"hookSpecificOutput": object{"hookEventName": "PostToolUse", "additionalContext": "well done"}})
	if got := string(encode(p.next("user"))); !strings.Contains(got, "well done") {
		t.Error(got)
	}
	p.next("result/success")
	if p.file("b.txt") != "two\n" {
		t.Error("it was not written")
	}
}

// SPEC 16.13: a program that answers anything but a decision has not allowed the
// call, whatever is wrong with its answer.
func TestHostileHookAnswers(t *testing.T) {
	for name, c := range map[string]struct{ answer, want string }{
		"an error":                {`{"subtype":"error","request_id":"ID","error":"boom"}`, "boom"},
		"an error without words":  {`{"subtype":"error","request_id":"ID"}`, "answers with an error"},
		"no kind":                 {`{"request_id":"ID","response":{}}`, "answers with an error"},
		"nothing":                 {`{"subtype":"success","request_id":"ID"}`, "is not an object"},
		"null":                    {`{"subtype":"success","request_id":"ID","response":null}`, "is not an object"},
		"a text":                  {`{"subtype":"success","request_id":"ID","response":"allow"}`, "is not an object"},
		"a list":                  {`{"subtype":"success","request_id":"ID","response":[{"decision":"approve"}]}`, "is not an object"},
		"an unknown decision":     {`{"subtype":"success","request_id":"ID","response":{"decision":"perhaps"}}`, "is not a decision"},
		"two decisions":           {`{"subtype":"success","request_id":"ID","response":{"decision":"block","decision":"approve"}}`, "cannot be read"},
		"the answer of another":   {`{"subtype":"success","request_id":"ID","response":{"hookSpecificOutput":{"hookEventName":"Stop","permissionDecision":"allow"}}}`, "is for Stop"},
		"a decision of two kinds": {`{"subtype":"success","request_id":"ID","response":{"hookSpecificOutput":{"permissionDecision":7}}}`, "cannot be read"},
		"more than is read":       {`{"subtype":"success","request_id":"ID","response":{"systemMessage":"` + strings.Repeat("x", 2<<20) + `"}}`, "too long"},
		"the end":                 {`{"subtype":"success","request_id":"ID","response":{"continue":false,"stopReason":"enough"}}`, "enough"},
	} {
		t.Run(name, func(t *testing.T) {
			p := hooked(t, object{"PreToolUse": matcher("*", "h")}, write("a.txt", "one\n"), llmtest.Say("done"))
			p.say("go")
			id, _ := p.calledBack()
			go func() { // while the stream is read
				for _, l := range []string{
					`{"subtype":"success","request_id":"pawl-99","response":{"decision":"approve"}}`, // of nobody
					strings.ReplaceAll(c.answer, "ID", id),
					`{"subtype":"success","request_id":"` + id + `","response":{"decision":"approve"}}`, // too late
				} {
					_, _ = io.WriteString(p.in, `{"type":"control_response","response":`+l+"}\n") // a test that ended reads no more
				}
			}()
			if got := string(encode(p.next("user"))); !strings.Contains(got, c.want) || !strings.Contains(got, `"is_error":true`) || p.file("a.txt") != "" {
				t.Errorf("%s %q", got, p.file("a.txt"))
			}
			p.next("result")
		})
	}
}

// A program that goes away, or lets a hook hang, has not allowed the call.
func TestHooksOfNobody(t *testing.T) {
	p := hooked(t, object{"PreToolUse": matcher("*", "h")}, write("a.txt", "one\n"), llmtest.Say("done"))
	p.say("go")
	p.calledBack()
	p.end()
	if all := string(encode(p.all)); !strings.Contains(all, "closed its side") || p.file("a.txt") != "" {
		t.Error(all)
	}
	p = hooked(t, object{"PreToolUse": []any{object{"matcher": "*", "hookCallbackIds": []string{"h"}, "timeout": 0.05}}}, write("a.txt", "one\n"), llmtest.Say("done"))
	p.say("go")
	id, _ := p.calledBack()
	if m := p.next("control_cancel_request"); m["request_id"] != id {
		t.Errorf("%v", m)
	}
	if got := string(encode(p.next("user"))); !strings.Contains(got, "did not answer within 50ms") || p.file("a.txt") != "" {
		t.Error(got)
	}
	p.next("result/success")
	p = hooked(t, object{"PreToolUse": matcher("*", "h")}, write("a.txt", "one\n"))
	p.say("go")
	p.calledBack()
	p.ask("x", object{"subtype": "interrupt"})
	p.next("control_cancel_request")
	p.next("result/error_during_execution")
	if p.file("a.txt") != "" {
		t.Error("it was written")
	}
}

// A prompt that a hook of the program refuses is not a turn; what it adds is told.
func TestHookOfAPrompt(t *testing.T) {
	p := hooked(t, object{"UserPromptSubmit": matcher("", "h")}, llmtest.Say("done"))
	p.say("go")
	id, c := p.calledBack()
	if !strings.Contains(string(c.Input), `"prompt":"go"`) {
		t.Errorf("%s", c.Input)
	}
	p.answer(id, object{"decision": "block", "reason": "not today"})
	if got := string(encode(p.next("result"))); !strings.Contains(got, "not today") {
		t.Error(got)
	}
	p.say("go again")
	id, _ = p.calledBack()
	p.answer(id, object{})
	p.next("result/success")
}

// What pawl would never call is refused when it is named.
func TestHooksRefused(t *testing.T) {
	for _, c := range []struct {
		hooks any
		want  string
	}{
		{object{"Teatime": matcher("", "h")}, "does not know Teatime of hooks"},
		{object{"PreToolUse": []any{object{"hookCallbackId": []string{"h"}}}}, "hookCallbackId (did you mean hookCallbackIds?)"},
		{object{"PreToolUse": []any{object{"hookCallbackIds": []string{"h"}, "mathcer": "Bash"}}}, "mathcer"},
		{object{"PreToolUse": "all"}, "cannot be read"},
		{object{"PreToolUse": []any{object{"hookCallbackIds": "h"}}}, "cannot be read"},
		{object{"PreToolUse": []any{object{"matcher": 7, "hookCallbackIds": []string{"h"}}}}, "cannot be read"},
	} {
		p := converse(t, llmtest.New(), nil)
		p.ask("x", object{"subtype": "initialize", "hooks": c.hooks})
		if r := p.replied("x"); r["subtype"] != "error" || !strings.Contains(fmt.Sprint(r["error"]), c.want) {
			t.Errorf("%v: %v", c.hooks, r)
		}
	}
}

// SPEC 17.1: messages for servers inside the program reach it, and its answers come
// back; a message of a server that nobody named is refused.
func TestServersInside(t *testing.T) {
	p := converse(t, llmtest.New(llmtest.Say("done")), nil)
	p.ask("init", object{"subtype": "initialize", "sdkMcpServers": []string{"mine"}})
	p.replied("init")
	p.say("go")
	p.next("result/success")
	type got struct {
		raw []byte
		err error
	}
	done := make(chan got)
	exchange := func() {
		raw, err := p.setup.Servers.Exchange(t.Context(), "mine", []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		done <- got{raw, err}
	}
	go exchange()
	m := p.next("control_request")
	if r := m["request"].(map[string]any); r["subtype"] != "mcp_message" || r["server_name"] != "mine" || fmt.Sprint(r["message"].(map[string]any)["method"]) != "ping" {
		t.Errorf("%v", m)
	}
	p.answer(m["request_id"].(string), object{"mcp_response": object{"jsonrpc": "2.0", "id": 1, "result": object{}}})
	if g := <-done; g.err != nil || !strings.Contains(string(g.raw), `"result"`) {
		t.Errorf("%s %v", g.raw, g.err)
	}
	p.ask("a", object{"subtype": "mcp_message", "server_name": "mine", "message": object{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}})
	if r := p.replied("a"); r["subtype"] != "success" {
		t.Errorf("%v", r)
	}
	if raw := <-p.setup.Servers.Incoming("mine"); !strings.Contains(string(raw), "list_changed") {
		t.Errorf("%s", raw)
	}
	for i := range maxOwn + 1 {
		p.ask("f", object{"subtype": "mcp_message", "server_name": "mine", "message": object{}})
		if r := p.replied("f"); (r["subtype"] == "error") != (i == maxOwn) {
			t.Errorf("%d: %v", i, r)
		}
	}
	p.ask("b", object{"subtype": "mcp_message", "server_name": "other", "message": object{}})
	if r := p.replied("b"); r["subtype"] != "error" {
		t.Errorf("%v", r)
	}
	go exchange()
	m = p.next("control_request")
	p.send(`{"type":"control_response","response":{"subtype":"success","request_id":"` + fmt.Sprint(m["request_id"]) + `","response":7}}`)
	if g := <-done; g.err == nil {
		t.Errorf("%s", g.raw)
	}
	go exchange()
	p.next("control_request")
	p.end()
	if g := <-done; g.err == nil {
		t.Errorf("%s", g.raw)
	}
}

// SPEC 17.3: a hook is called after the messages of all that was before it, and that of
// the session's end comes last. The program may have closed its side by then.
func TestHookCallsInOrder(t *testing.T) {
	const calls = 60
	var turns []llmtest.Turn
	for i := range calls {
		turns = append(turns, llmtest.Use("read", fmt.Sprintf(`{"files":[{"path":"f%d"}]}`, i)))
	}
	p := hooked(t, object{
		"PreToolUse": matcher("*", "before"), "PostToolUse": matcher("*", "after"), "Stop": matcher("", "stop"), "SessionEnd": matcher("", "end"),
	}, append(turns, llmtest.Say("the last words"))...)
	for i := range calls {
		must.Write(t, filepath.Join(p.dir, fmt.Sprint("f", i)), "x\n")
	}
	p.say("go")
	said, results, seen := 0, 0, map[string]int{}
	words := ""
	for len(p.all) == 0 || p.all[len(p.all)-1]["type"] != "result" {
		m := p.next1()
		var in struct {
			ID      string `json:"request_id"`
			Request callback
			Message struct {
				Content []struct {
					Type, Text string
				}
			}
		}
		if err := json.Unmarshal(encode(m), &in); err != nil && m["type"] != "result" {
			t.Fatal(err)
		}
		for _, c := range in.Message.Content {
			switch c.Type {
			case "tool_use":
				said++
			case "tool_result":
				results++
			case "text":
				words += c.Text
			}
		}
		c := in.Request
		seen[c.ID]++
		switch {
		case c.ID == "":
			continue
		case (c.ID == "before" || c.ID == "after") && (said != seen[c.ID] || results != said-1):
			t.Errorf("call %d of %s came after %d calls of the model and %d results", seen[c.ID], c.ID, said, results)
		case c.ID == "stop" && !strings.HasSuffix(words, "the last words"):
			t.Errorf("stop came after %q", words)
		case c.ID == "end":
			t.Error("the session has not ended")
		}
		p.answer(in.ID, object{})
	}
	if seen["before"] != calls || seen["after"] != calls || seen["stop"] != 1 {
		t.Error(seen)
	}
	if code := p.end(); code != 0 {
		t.Error(code, p.err)
	}
	last := string(encode(p.all[len(p.all)-1]))
	if !strings.Contains(last, `"callback_id":"end"`) || !strings.Contains(last, `"hook_event_name":"SessionEnd"`) {
		t.Error(last)
	}
}
