package agentsdk

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// prompt is a prompt with its uuid.
func (p *program) prompt(uuid, text string) {
	p.t.Helper()
	p.send(string(encode(object{"type": "user", "uuid": uuid, "message": object{"role": "user", "content": text}})))
}

// SPEC 10.2, 17.6: files go back to what they were before a prompt; what somebody else
// changed meanwhile stays, and nothing is done by halves.
func TestRewindFiles(t *testing.T) {
	write := func(text string) llmtest.Turn {
		return llmtest.Use("write", fmt.Sprintf(`{"path":"a.txt","content":%q}`, text))
	}
	p := converse(t, llmtest.New(write("one\n"), llmtest.Say("1"), write("two\n"), llmtest.Say("2"), llmtest.Say("3")), func(o *Options, c *session.Config) {
		c.Permission = permission.New(permission.Config{Mode: permission.Yolo, Root: c.Dir, Home: "/home/nobody"})
	})
	p.prompt("u1", "one")
	p.next("result/success")
	p.prompt("u2", "two")
	p.next("result/success")
	rewind := func(uuid string, dry bool) map[string]any {
		p.ask("r", object{"subtype": "rewind_files", "user_message_id": uuid, "dry_run": dry})
		return p.replied("r")["response"].(map[string]any)
	}
	if r := rewind("u2", true); r["canRewind"] != true || fmt.Sprint(r["filesChanged"]) != "[a.txt]" || p.file("a.txt") != "two\n" {
		t.Errorf("%v: %q", r, p.file("a.txt"))
	}
	if r := rewind("u2", false); r["canRewind"] != true || p.file("a.txt") != "one\n" {
		t.Errorf("%v: %q", r, p.file("a.txt"))
	}
	if r := rewind("u9", false); r["canRewind"] != false || !strings.Contains(fmt.Sprint(r["error"]), "u9") {
		t.Error(r)
	}
	must.Write(t, filepath.Join(p.dir, "a.txt"), "mine\n")
	if r := rewind("u1", false); r["canRewind"] != false || !strings.Contains(fmt.Sprint(r["error"]), "a.txt") || p.file("a.txt") != "mine\n" {
		t.Errorf("%v: %q", r, p.file("a.txt"))
	}
	p.prompt("u3", "three")
	p.next("result/success")
	if r := rewind("u3", false); r["canRewind"] != true || fmt.Sprint(r["filesChanged"]) != "[]" {
		t.Error(r)
	}
}

// SPEC 10.3: prompts that wait are told at an interrupt, and can be taken back.
func TestWaitingPrompts(t *testing.T) {
	p := converse(t, llmtest.New(bash("touch a.txt"), llmtest.Say("2")), nil)
	p.prompt("u1", "one")
	id, _ := p.asked()
	p.prompt("u2", "two")
	p.prompt("u3", "three")
	p.ask("c", object{"subtype": "cancel_async_message", "message_uuid": "u3"})
	if r := p.replied("c"); fmt.Sprint(r["response"]) != "map[cancelled:true]" {
		t.Error(r)
	}
	p.ask("c", object{"subtype": "cancel_async_message", "message_uuid": "u3"})
	if r := p.replied("c"); fmt.Sprint(r["response"]) != "map[cancelled:false]" {
		t.Error(r)
	}
	p.ask("i", object{"subtype": "interrupt"})
	if r := p.replied("i"); fmt.Sprint(r["response"]) != "map[still_queued:[u2]]" {
		t.Error(r)
	}
	p.next("result/error_during_execution")
	p.next("result/success")
	p.answer(id, object{"behavior": "allow"})
	p.end()
}

// An interrupt takes what waits with it, where the program says so.
func TestInterruptAll(t *testing.T) {
	p := converse(t, llmtest.New(bash("touch a.txt")), nil)
	p.prompt("u1", "one")
	p.asked()
	p.prompt("u2", "two")
	p.ask("i", object{"subtype": "interrupt", "cancel_queued": true})
	if r := p.replied("i"); fmt.Sprint(r["response"]) != "map[cancelled:[u2] still_queued:[]]" {
		t.Error(r)
	}
	p.next("result/error_during_execution")
	if p.end(); strings.Count(string(encode(p.all)), `"type":"result"`) != 1 {
		t.Error(p.all)
	}
}

// SPEC 17.6: servers are set in the order of the requests, which the loop does not wait for;
// rules among them are refused.
func TestSetServers(t *testing.T) {
	free, set := make(chan struct{}), make(chan string, 2)
	p := converse(t, llmtest.New(), func(o *Options, _ *session.Config) {
		o.SetServers = func(_ context.Context, config []byte) (any, error) {
			switch {
			case strings.Contains(string(config), "slow"):
				<-free
			case strings.Contains(string(config), "late"):
				for range 1000 {
					runtime.Gosched() // the input has ended meanwhile
				}
				return object{}, nil
			}
			set <- string(config)
			return object{"added": []string{}}, nil
		}
	})
	p.ask("i", object{"subtype": "initialize", "sdkMcpServers": []string{"old"}})
	p.replied("i")
	p.ask("2", object{"subtype": "mcp_set_servers", "servers": object{"slow": object{"type": "sdk"}}})
	p.ask("3", object{"subtype": "mcp_set_servers", "servers": object{}})
	p.ask("4", object{"subtype": "mcp_set_servers", "servers": object{"x": object{"type": "sdk", "tools": []object{{"name": "y", "permission_policy": "always_deny"}}}}})
	if r := p.replied("4"); r["subtype"] != "error" || !strings.Contains(fmt.Sprint(r["error"]), "tools") {
		t.Error(r)
	}
	close(free)
	for _, id := range []string{"2", "3"} {
		if r := p.replied(id); r["subtype"] != "success" {
			t.Error(r)
		}
	}
	if first, second := <-set, <-set; !strings.Contains(first, "slow") || strings.Contains(second, "slow") {
		t.Error(first, second)
	}
	p.ask("5", object{"subtype": "mcp_message", "server_name": "old", "message": object{}})
	if r := p.replied("5"); r["subtype"] != "error" {
		t.Error(r)
	}
	// The end of the input does not take away the answer.
	p.ask("6", object{"subtype": "mcp_set_servers", "servers": object{"late": object{"type": "sdk"}}})
	p.end()
	if all := string(encode(p.all)); !strings.Contains(all, `"request_id":"6"`) || strings.Contains(all, "the session has ended") {
		t.Error(all)
	}
}
