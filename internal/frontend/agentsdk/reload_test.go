package agentsdk

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// reloading has the session opened again as cli does. failing: how often that fails.
func reloading(p **program, failing *int) func(*Options, *session.Config) {
	return func(o *Options, cfg *session.Config) {
		withHooks(p)(o, cfg)
		o.Reopen = func(ctx context.Context, s Setup, old *session.Session) (*session.Session, error) {
			_ = old.Close()
			if *failing > 0 {
				*failing--
				return nil, errors.New("it cannot be read")
			}
			return o.Open(ctx, s)
		}
	}
}

// SPEC 17.6, 16.17: a reload opens the session again: it goes on as it was, with the hooks of
// the program, of which none hears of an end. Not while something runs; and what cannot be
// opened again does nothing any more.
func TestReload(t *testing.T) {
	var p *program
	failing := 0
	p = converse(t, llmtest.New(llmtest.Say("one"), bash("touch a.txt"), llmtest.Say("two"), bash("touch b.txt"), llmtest.Say("three")), reloading(&p, &failing))
	p.ask("init", object{"subtype": "initialize", "hooks": object{"PreToolUse": matcher("Bash", "h"), "SessionEnd": matcher("", "e"), "SessionStart": matcher("", "s")}})
	reload := func(id string, more object) map[string]any {
		r := object{"subtype": "reload_plugins"}
		for k, v := range more {
			r[k] = v
		}
		p.ask(id, r)
		return p.replied(id)
	}
	if r := reload("r0", object{"hold_on_cache_impact": true}); r["subtype"] != "error" {
		t.Error(r)
	}
	if r := reload("r1", nil); r["subtype"] != "success" { // nothing is open yet
		t.Error(r)
	}
	p.say("one")
	id, c := p.calledBack()
	if c.ID != "s" {
		t.Error(c)
	}
	p.send(string(encode(object{"type": "control_response", "response": object{"subtype": "success", "request_id": id, "response": object{}}})))
	p.next("result/success")
	if r := reload("r2", nil); r["subtype"] != "success" {
		t.Fatal(r)
	}
	p.say("two")
	if id, c = p.calledBack(); c.ID != "h" { // and neither s nor e
		t.Error(c)
	}
	if r := reload("r3", object{"refuse_if_busy": true}); r["subtype"] != "error" || !strings.Contains(fmt.Sprint(r["error"]), "busy") {
		t.Error(r)
	}
	p.send(string(encode(object{"type": "control_response", "response": object{"subtype": "success", "request_id": id, "response": object{"hookSpecificOutput": object{"hookEventName": "PreToolUse", "permissionDecision": "deny"}}}})))
	if r := p.next("result/success"); r["result"] != "two" {
		t.Error(r)
	}
	failing = 1 // with the plugin that is added; without it the session is as before
	if r := reload("r4", object{"add_plugins": []object{{"type": "local", "path": "/none"}}}); r["subtype"] != "error" || !strings.Contains(fmt.Sprint(r["error"]), "cannot be read") {
		t.Error(r)
	}
	failing = 1
	if r := reload("r5", nil); r["subtype"] != "error" {
		t.Error(r)
	}
	p.say("three")
	if r := p.next("result"); !strings.Contains(fmt.Sprint(r["errors"]), "cannot be read") {
		t.Error(r)
	}
	p.end()
	if bad := (*InputError)(nil); !errors.As(p.err, &bad) || p.file("a.txt") != "" || p.file("b.txt") != "" {
		t.Errorf("%v %q %q", p.err, p.file("a.txt"), p.file("b.txt"))
	}
}
