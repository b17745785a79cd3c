package responses

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/lax"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
)

const oddPatch = "*** Begin Patch\n*** Update File: a \"b\"\\c\n@@\n-ä\t<x>\n+\U0001f600\n*** End Patch"

func freeformAPI(host string) *API {
	d := DialectFor(host)
	d.Tuning = provider.Tuning{Reasons: true, Freeform: &provider.Freeform{Tool: "apply_patch", Arg: "patch", Doc: "Patches.", Grammar: "start: \"x\"\n"}}
	return New(d, nil)
}

// reply decodes events, and returns the calls and the pieces of their arguments.
func reply(t *testing.T, a *API, events ...string) (calls []llm.Call, pieces string) {
	t.Helper()
	d := a.Decoder()
	for _, e := range events {
		ds := must.Get(d.Event("", []byte(e)))(t)
		for _, one := range ds {
			if one.Kind == llm.DeltaCall {
				pieces += one.Text
			}
		}
	}
	r := must.Get(d.End())(t)
	return r.Message.Calls(), pieces
}

// SPEC 4.8, 20.1: a tool that is called with a plain text has the arguments of every tool for
// pawl, however its text arrives, and goes back as it came.
func TestFreeform(t *testing.T) {
	t.Parallel()
	a := freeformAPI("openai")
	text := string(lax.AppendString(nil, oddPatch))
	half := strings.Index(oddPatch, "\n@@")
	piece := func(s string) string {
		return `{"type":"response.custom_tool_call_input.delta","output_index":0,"delta":` + string(lax.AppendString(nil, s)) + `}`
	}
	item := func(name, input string) string {
		return `{"type":"custom_tool_call","call_id":"c1","name":"` + name + `","input":` + input + `}`
	}
	added := func(name string) string {
		return `{"type":"response.output_item.added","output_index":0,"item":` + item(name, `""`) + `}`
	}
	done := func(name string) string {
		return `{"type":"response.output_item.done","output_index":0,"item":` + item(name, text) + `}`
	}
	end := func(name string) string {
		return `{"type":"response.completed","response":{"status":"completed","output":[` + item(name, text) + `]}}`
	}
	for name, c := range map[string]struct {
		tool   string
		events []string
		pieces bool
	}{
		"in pieces":        {"apply_patch", []string{added("apply_patch"), piece(oddPatch[:half]), piece(oddPatch[half:]), done("apply_patch"), end("apply_patch")}, true},
		"at once":          {"apply_patch", []string{done("apply_patch"), end("apply_patch")}, true},
		"told, then whole": {"apply_patch", []string{added("apply_patch"), done("apply_patch"), end("apply_patch")}, true},
		"at the end only":  {"apply_patch", []string{end("apply_patch")}, false},
		"not offered":      {"write_sql", []string{added("write_sql"), piece(oddPatch), done("write_sql"), end("write_sql")}, true},
	} {
		calls, pieces := reply(t, a, c.events...)
		if len(calls) != 1 || calls[0].Name != c.tool {
			t.Fatalf("%s: %+v", name, calls)
		}
		arg := "patch"
		if c.tool != "apply_patch" {
			arg = customInput
		}
		var args map[string]string
		if err := json.Unmarshal(calls[0].Args, &args); err != nil || len(args) != 1 || args[arg] != oddPatch {
			t.Errorf("%s: %v, %s", name, err, calls[0].Args)
		}
		if want := string(calls[0].Args); c.pieces && pieces != want || !c.pieces && pieces != "" {
			t.Errorf("%s: the pieces are %s", name, pieces)
		}
		back := encode(t, a, llm.Part{Kind: llm.CallPart, Call: &calls[0]})
		if want := item(c.tool, text); c.tool == "apply_patch" && back != want {
			t.Errorf("%s: it goes back as %s", name, back)
		}
	}
}

// SPEC 4.8: calls that were made otherwise go there in the same form: with JSON by another
// model, with arguments that could not be read. Other hosts and tools get JSON.
func TestFreeformForms(t *testing.T) {
	t.Parallel()
	spec := []llm.ToolSpec{{Name: "apply_patch", Doc: "D", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "write", Doc: "W", Schema: json.RawMessage(`{"type":"object"}`)}}
	call := func(name, args, sent string) llm.Part {
		return llm.Part{Kind: llm.CallPart, Call: &llm.Call{ID: "c", Name: name, Args: json.RawMessage(args), Sent: sent}}
	}
	for name, c := range map[string]struct {
		host string
		part llm.Part
		want string
	}{
		"json":    {"openai", call("apply_patch", `{"patch":"p\n"}`, ""), `{"type":"custom_tool_call","call_id":"c","name":"apply_patch","input":"p\n"}`},
		"bad":     {"openai", call("apply_patch", `{}`, "oops {"), `{"type":"custom_tool_call","call_id":"c","name":"apply_patch","input":"oops {"}`},
		"odd":     {"openai", call("apply_patch", `{"patch":1}`, ""), `{"type":"custom_tool_call","call_id":"c","name":"apply_patch","input":"{\"patch\":1}"}`},
		"write":   {"openai", call("write", `{}`, ""), `{"type":"function_call","call_id":"c","name":"write","arguments":"{}"}`},
		"gateway": {"openai-compatible", call("apply_patch", `{"patch":"p"}`, ""), `{"type":"function_call","call_id":"c","name":"apply_patch","arguments":"{\"patch\":\"p\"}"}`},
	} {
		if got := encode(t, freeformAPI(c.host), c.part); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
	for host, want := range map[string][2]string{
		"openai": {`[{"type":"custom","name":"apply_patch","description":"Patches.","format":{"type":"grammar","syntax":"lark","definition":"start: \"x\"\n"}},{"type":"function","name":"write"`, `"custom_tool_call_output","call_id":"c","output":"done"`},
		"azure":  {`[{"type":"function","name":"apply_patch"`, `"function_call_output","call_id":"c","output":"done"`},
	} {
		a := freeformAPI(host)
		head, err := a.Head(llm.Head{Model: "m", Tools: spec})
		if err != nil || !strings.Contains(string(head), want[0]) {
			t.Errorf("%s: %v, %s", host, err, head)
		}
		step, err := a.Step([]llm.Message{{Role: llm.Tool, Parts: []llm.Part{{Kind: llm.Output, Result: &llm.Result{ID: "c", Name: "apply_patch", Text: "done"}}}}}, false)
		if err != nil || !strings.Contains(string(step), want[1]) {
			t.Errorf("%s: %v, %s", host, err, step)
		}
	}
}
