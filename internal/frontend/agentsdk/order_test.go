package agentsdk

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

func (p *program) user(text string, more object) {
	p.t.Helper()
	m := object{"type": "user", "message": object{"role": "user", "content": text}, "parent_tool_use_id": nil, "session_id": ""}
	for k, v := range more {
		m[k] = v
	}
	p.send(string(encode(m)))
}

// SPEC 17.6: each prompt has a turn and a result of its own, in order, also if it is sent
// while another one's turn runs; so has /compact between two prompts. A prompt that the
// program wants in the running turn joins it.
func TestOneResultAPrompt(t *testing.T) {
	p := converse(t, llmtest.New(write("a.txt", "one\n"), llmtest.Say("first"), llmtest.Say("second"), llmtest.Say("third")), nil)
	p.say("one")
	id, q := p.asked()
	p.say("two")
	p.say("/compact")
	p.say("three")
	p.user("and this", object{"priority": "next"})
	p.answer(id, object{"behavior": "allow", "updatedInput": q.Input})
	for _, want := range []string{"first", "second", "", "third"} {
		r := p.next("result")
		if got := fmt.Sprint(r["result"]); r["is_error"] == true || want != "" && got != want {
			t.Errorf("%q: %v", want, r)
		}
	}
	if code := p.end(); code != 0 {
		t.Error(code)
	}
	for _, m := range p.all {
		if m["type"] == "result" && strings.Contains(fmt.Sprint(m), "and this") {
			t.Error(m)
		}
	}
}

// SPEC 17.6: the end of the input, and an interrupt, leave no prompt without its result.
func TestPromptsThatWait(t *testing.T) {
	p := converse(t, llmtest.New(write("a.txt", "one\n"), llmtest.Say("second"), llmtest.Say("third")), nil)
	p.say("one")
	p.asked()
	p.say("two")
	p.say("three")
	p.ask("stop", object{"subtype": "interrupt"})
	results := 0
	_ = p.end()
	for _, m := range p.all {
		if m["type"] == "result" {
			results++
		}
	}
	if results != 3 {
		t.Errorf("%d results: %v", results, p.all)
	}
}

// SPEC 16.9, 16.17: what the person did not type is sent as it is: no command in it runs,
// and no file that it names is attached.
func TestComposedPrompts(t *testing.T) {
	var sent []string
	see := func(text string) llmtest.Turn {
		turn := llmtest.Say(text)
		turn.Before = func(r *llm.Request) { sent = append(sent, r.Messages[len(r.Messages)-1].Text()) }
		return turn
	}
	p := converse(t, llmtest.New(write("secret.txt", "the-secret\n"), llmtest.Say("made"), see("1"), see("2"), see("3"), see("4")), func(o *Options, c *session.Config) {
		o.Ask = true
	})
	p.say("make it")
	id, q := p.asked()
	p.answer(id, object{"behavior": "allow", "updatedInput": q.Input})
	p.next("result/success")
	p.user("/compact @secret.txt", object{"client_composed": true})
	p.next("result/success")
	p.user("look at this:", object{"pasted_content": []any{"@secret.txt", []any{object{"type": "text", "text": "and more"}}}})
	p.next("result/success")
	p.user("before", object{"shouldQuery": false})
	p.user("now", nil)
	p.next("result/success")
	p.send(string(encode(object{"type": "user", "message": object{"role": "user", "content": []any{object{"type": "document", "title": "A title", "source": object{"type": "text", "media_type": "text/plain", "data": "the data"}}}}})))
	p.next("result/success")
	if code := p.end(); code != 0 || len(sent) != 4 {
		t.Fatal(code, sent)
	}
	for i, want := range []string{"/compact @secret.txt", "look at this:\n\n@secret.txt\n\nand more", "before\n\nnow", "A title\n\nthe data"} {
		if !strings.Contains(sent[i], want) || strings.Contains(sent[i], "the-secret") {
			t.Errorf("%q: %q", want, sent[i])
		}
	}
}

// SPEC 17.6: a document that is a PDF reaches a model that takes it; another one refuses the
// prompt before the run, by name, and the conversation goes on.
func TestPDF(t *testing.T) {
	pdf := []byte("%PDF-1.7 the pages")
	block := object{"type": "document", "title": "A title", "source": object{"type": "base64", "media_type": "application/pdf", "data": pdf}}
	for _, takes := range []bool{true, false} {
		m := llmtest.New(llmtest.Use("read", `{"files":[{"path":"a.pdf"},{"path":"a.wav"}]}`), llmtest.Say("read"))
		m.InfoValue.PDF = takes
		p := converse(t, m, nil)
		must.Do(t, os.WriteFile(filepath.Join(p.dir, "a.pdf"), pdf, 0o600))
		must.Do(t, os.WriteFile(filepath.Join(p.dir, "a.wav"), []byte("RIFF\x00\x00\x00\x00WAVE"), 0o600))
		p.send(string(encode(object{"type": "user", "message": object{"role": "user", "content": []any{block, object{"type": "text", "text": "look"}}}})))
		if !takes {
			r := p.next("result/error_during_execution")
			if got := fmt.Sprint(r); !strings.Contains(got, "scripted/script takes no PDFs") || !strings.Contains(got, `.pdf' true`) {
				t.Error(got)
			}
			p.say("then without it")
		}
		p.next("assistant")
		if got := string(encode(p.next("user"))); !strings.Contains(got, `{"source":{"data":"`+base64.StdEncoding.EncodeToString(pdf)+`","media_type":"application/pdf","type":"base64"},"type":"document"}`) || !strings.Contains(got, "[audio/wav, 12 bytes]") {
			t.Error(got)
		}
		p.next("result/success")
		_ = p.end()
		q := m.Requests()
		if len(q) != 2 {
			t.Fatalf("%d requests", len(q))
		}
		seen := false
		for _, part := range q[0].Messages[0].Parts {
			seen = seen || part.Kind == llm.Image && part.Media == "application/pdf" && bytes.Equal(part.Data, pdf)
		}
		if text := q[0].Messages[0].Parts; seen != takes || takes && !strings.Contains(fmt.Sprint(text), "[document: A title]") {
			t.Errorf("%v: %+v", takes, text)
		}
	}
}

// SPEC 17.6: in the mode dontAsk the program is not asked, and what it would be asked is
// denied; a later mode asks again.
func TestDontAsk(t *testing.T) {
	p := converse(t, llmtest.New(write("a.txt", "x"), llmtest.Say("denied"), write("b.txt", "x"), llmtest.Say("made")), func(o *Options, _ *session.Config) { o.Silent = true })
	p.say("go")
	if r := p.next("result/success"); r["result"] != "denied" {
		t.Error(r)
	}
	p.ask("mode", object{"subtype": "set_permission_mode", "mode": "default"})
	p.replied("mode")
	p.say("go")
	id, q := p.asked()
	p.answer(id, object{"behavior": "allow", "updatedInput": q.Input})
	p.next("result/success")
	if p.file("a.txt") != "" || p.file("b.txt") != "x" {
		t.Error(p.file("a.txt"), p.file("b.txt"))
	}
}

// SPEC 17.6: what a program may ask of a session.
func TestWhatASessionHas(t *testing.T) {
	p := converse(t, llmtest.New(bash("echo hello >x; cat x"), llmtest.Say("done")), func(o *Options, c *session.Config) {
		o.Models = func() []string { return []string{"scripted/script", "other"} }
	})
	p.ask("init", object{"subtype": "initialize", "agents": object{"reviewer": object{"description": "reviews", "prompt": "review"}}})
	r := p.replied("init")["response"].(map[string]any)
	if len(r["models"].([]any)) != 2 || !strings.Contains(fmt.Sprint(r["agents"]), "reviewer") {
		t.Error(r)
	}
	p.say("go")
	if m := p.next("system/init"); !strings.Contains(fmt.Sprint(m["agents"]), "reviewer") {
		t.Error(m)
	}
	id, q := p.asked()
	p.answer(id, object{"behavior": "allow", "updatedInput": q.Input})
	if m := p.next("user"); !strings.Contains(fmt.Sprint(m["tool_use_result"]), "stdout:hello") {
		t.Error(m)
	}
	p.next("result/success")
	for subtype, has := range map[string]string{"get_context_usage": "totalTokens", "mcp_status": "mcpServers", "list_models": "models"} {
		p.ask(subtype, object{"subtype": subtype})
		if r := p.replied(subtype); r["subtype"] != "success" || !strings.Contains(string(encode(r)), has) {
			t.Error(r)
		}
	}
	_ = p.end()
}

// SPEC 17.6: agents and hooks are told with the fields that the SDK reads.
func TestBeside(t *testing.T) {
	var out bytes.Buffer
	w := newWriter(&out, "1", false)
	w.hooks = true
	for _, b := range []event.Body{
		event.AgentStarted{Call: "c", Child: "k", Agent: "explore", Title: "look"},
		event.AgentCalled{Call: "c", Child: event.ChildEvent{Session: "k"}, Done: event.CallDone{Tool: "read", Took: time.Second}},
		event.AgentEnded{Call: "c", Child: "k", End: event.EndDone},
		event.AgentEnded{Call: "c", Child: "unknown", End: event.EndDone},
		event.HookRan{Event: "PreToolUse", Reason: "no", Exit: 2, Broken: "late"},
	} {
		w.beside(b)
	}
	var got []string
	for line := range bytes.Lines(out.Bytes()) {
		var m map[string]any
		must.Do(t, json.Unmarshal(line, &m))
		got = append(got, fmt.Sprintf("%v %v %v %v %v %v %v", m["subtype"], m["task_id"], m["tool_use_id"], m["status"], m["last_tool_name"], m["hook_event"], m["outcome"]))
	}
	want := []string{
		"task_started k c <nil> <nil> <nil> <nil>", "<nil> <nil> <nil> <nil> <nil> <nil> <nil>", "task_progress k c <nil> read <nil> <nil>", "<nil> <nil> <nil> <nil> <nil> <nil> <nil>", "<nil> <nil> <nil> <nil> <nil> <nil> <nil>", "task_updated k c <nil> <nil> <nil> <nil>", "task_notification k c completed <nil> <nil> <nil>",
		"hook_started <nil> <nil> <nil> <nil> PreToolUse <nil>", "hook_response <nil> <nil> <nil> <nil> PreToolUse error",
	}
	if !slices.Equal(got, want) {
		t.Error(got)
	}
	if calls := strings.Count(out.String(), `"parent_tool_use_id":"c"`); calls != 3 {
		t.Errorf("%d messages are of the agent: %s", calls, out.String())
	}
}
