package wiretest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Echo compares the reply to before as pawl would send it back with what the recorded
// client sent back in the request of after. Other clients drop what they do not need:
// everything in theirs must be in ours, but not the other way round. Ids that a client
// made up are not compared.
func Echo(ctx context.Context, before, after Case) ([]string, error) {
	rec, err := before.Load()
	if err != nil {
		return nil, err
	}
	next, err := after.Load()
	if err != nil {
		return nil, err
	}
	theirs, ok := echoed(rec.Request.Body, next.Request.Body)
	if !ok {
		return nil, nil // the request was not recorded, or does not continue the conversation
	}
	api, ok := before.Wire()
	if !ok {
		return nil, fmt.Errorf("%s: no API %s", before.File, before.API)
	}
	body := rec.Response.Body
	m, err := client(before, api, rec, &cuts{body, func() int { return 4096 }, io.EOF})
	if err != nil {
		return nil, err
	}
	o := Ask(ctx, m)
	if o.Reply == nil {
		return nil, nil // an error is not sent back
	}
	step, err := api.Step([]llm.Message{o.Reply.Message}, false)
	if err != nil {
		return nil, err
	}
	var ours []any
	if err := json.Unmarshal([]byte("["+string(step)+"]"), &ours); err != nil {
		return []string{fmt.Sprintf("what pawl sends is not JSON: %v", err)}, nil
	}
	made := slices.ContainsFunc(before.Expected.Calls, func(c ExpectedCall) bool { return c.ID == nil || *c.ID == "" })
	return missing(facts(theirs), facts(ours), made, body), nil
}

// echoed returns the model's messages that next has right after first's messages.
func echoed(first, next json.RawMessage) ([]any, bool) {
	a, b := messages(first), messages(next)
	if len(a) == 0 || len(b) <= len(a) {
		return nil, false
	}
	var out []any
	for _, m := range b[len(a):] {
		o, ok := m.(map[string]any)
		if !ok || !fromModel(o) {
			break
		}
		out = append(out, m)
	}
	return out, len(out) > 0
}

func messages(body json.RawMessage) []any {
	var req map[string]any
	if json.Unmarshal(body, &req) != nil {
		return nil
	}
	for _, name := range []string{"messages", "contents", "input"} {
		if ms, ok := req[name].([]any); ok {
			return ms
		}
	}
	return nil
}

func fromModel(m map[string]any) bool {
	switch m["role"] {
	case "assistant", "model":
		return true
	case nil:
		kind, _ := m["type"].(string)
		return kind != "" && !strings.HasSuffix(kind, "_output") && kind != "message"
	}
	return false
}

// fact is one item in a message: a call, a signature or a text.
type fact struct{ kind, id, value string }

// facts returns the calls, signatures and text in messages of any API.
func facts(v any) []fact {
	var c collector
	c.walk(v)
	if before, rest, ok := strings.Cut(c.text, "<think>"); ok { // how some clients send reasoning back
		if _, after, ok := strings.Cut(rest, "</think>"); ok {
			c.text = before + after
		}
	}
	if s := strings.TrimSpace(c.text); s != "" {
		c.out = append(c.out, fact{kind: "text", value: strings.Join(strings.Fields(s), " ")})
	}
	return c.out
}

type collector struct {
	out  []fact
	text string
}

func (c *collector) walk(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			c.walk(e)
		}
	case map[string]any:
		if c.call(v) {
			c.signature(v)
			return
		}
		c.signature(v)
		if v["thought"] == true {
			return
		}
		switch kind, _ := v["type"].(string); kind {
		case "thinking", "redacted_thinking", "reasoning", "reasoning.text", "reasoning.summary", "reasoning.encrypted":
			return
		}
		if s, ok := v["content"].(string); ok && v["type"] == nil {
			c.text += s
		}
		if s, ok := v["text"].(string); ok {
			c.text += s
		}
		for _, name := range []string{"content", "parts", "tool_calls", "reasoning_details"} {
			if list, ok := v[name].([]any); ok {
				c.walk(list)
			}
		}
	}
}

// call reports whether a value is a call in the format of any API, and records it.
func (c *collector) call(v map[string]any) bool {
	kind, _ := v["type"].(string)
	add := func(id, name, args any) bool {
		c.out = append(c.out, fact{"call", fmt.Sprint(id), fmt.Sprint(name) + arguments(args)})
		return true
	}
	switch {
	case kind == "tool_use":
		return add(v["id"], v["name"], v["input"])
	case kind == "function_call":
		return add(v["call_id"], v["name"], v["arguments"])
	}
	if f, ok := v["function"].(map[string]any); ok {
		return add(v["id"], f["name"], f["arguments"])
	}
	for _, name := range []string{"functionCall", "function_call"} {
		if f, ok := v[name].(map[string]any); ok {
			return add(f["id"], f["name"], f["args"])
		}
	}
	return false
}

// arguments returns arguments in one form, whether they were sent as an object or as
// text.
func arguments(v any) string {
	if s, ok := v.(string); ok {
		if strings.TrimSpace(s) == "" {
			return "{}"
		}
		if out, ok := canonical([]byte(s)); ok {
			return string(out)
		}
		return s
	}
	if v == nil {
		return "{}"
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}

func (c *collector) signature(v map[string]any) {
	for _, name := range []string{"signature", "thoughtSignature", "thought_signature", "encrypted_content"} {
		if s, ok := v[name].(string); ok && s != "" {
			// Some clients write the same bytes in the other base64.
			s = strings.NewReplacer("-", "+", "_", "/").Replace(s)
			c.out = append(c.out, fact{kind: "signature", value: s})
		}
	}
}

// missing returns the facts of theirs that ours lacks. If a reply contains the same
// signature twice (OpenAI's do, for an item and for the whole), one of them is enough.
func missing(theirs, ours []fact, madeIDs bool, body string) (found []string) {
	for _, t := range theirs {
		sealed := t.kind == "signature" && count(ours, t.kind) >= count(theirs, t.kind) &&
			strings.Contains(strings.NewReplacer("-", "+", "_", "/").Replace(body), t.value)
		ok := sealed || slices.ContainsFunc(ours, func(o fact) bool {
			if t.kind == "text" && o.kind == "text" {
				return strings.Contains(o.value, t.value)
			}
			return o.kind == t.kind && o.value == t.value && (t.kind != "call" || madeIDs || o.id == t.id || t.id == "<nil>")
		})
		if !ok {
			found = append(found, fmt.Sprintf("not sent back: %s %s %.300s", t.kind, t.id, t.value))
		}
	}
	return found
}

func count(facts []fact, kind string) (n int) {
	for _, f := range facts {
		if f.kind == kind {
			n++
		}
	}
	return n
}
