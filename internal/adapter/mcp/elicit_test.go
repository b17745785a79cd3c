package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// answers is a person who types these answers.
type answers struct {
	say   []string
	heard []string
}

func (a *answers) Question(_ context.Context, text string, options []string) (string, error) {
	a.heard = append(a.heard, text+" "+strings.Join(options, "/"))
	if len(a.say) == 0 {
		return "", tool.ErrNobody
	}
	out := a.say[0]
	a.say = a.say[1:]
	return out, nil
}

// unanswered is the call's result where nobody is there.
const unanswered = `[the server asked "details", and got no answer: nobody is there to answer]`

// SPEC 17.1: what a server asks is a question to the person, who is told who
// asks; without an answer it gets none.
func TestElicit(t *testing.T) {
	form := `{"type":"object","properties":{"n":{"type":"integer"},"ok":{"type":"boolean"},"who":{"type":"string","description":"a na\u200bme","enum":["ann","bob"]}},"required":["n","who"]}`
	for name, c := range map[string]struct {
		schema, message string
		say             []string
		want            string
	}{
		"a form":       {form, "details", []string{"5", "yes", "bob"}, `accept {"n":5,"ok":true,"who":"bob"}`},
		"not all":      {form, "details", []string{"5", "", "ann"}, `accept {"n":5,"who":"ann"}`},
		"no number":    {form, "details", []string{"five"}, `cancel null`},
		"what it must": {form, "details", []string{""}, `cancel null`},
		"nobody":       {form, "details", nil, "decline null\n" + unanswered},
		"by its words": {`{"type":"object","properties":{"who":{"type":"string","oneOf":[{"const":"a","title":"Ann"},{"const":"b","title":"Bob"}]}}}`, "details", []string{"Bob (b)"}, `accept {"who":"b"}`},
		"old words":    {`{"type":"object","properties":{"who":{"type":"string","enum":["a","b"],"enumNames":["Ann","Bob"]}}}`, "details", []string{"bob"}, `accept {"who":"b"}`},
		"no choice":    {`{"type":"object","properties":{"who":{"type":"string","enum":["a","b"]}}}`, "details", []string{"c"}, `cancel null`},
		"several":      {`{"type":"object","properties":{"who":{"type":"array","items":{"anyOf":[{"const":"a","title":"Ann"},{"const":"b","title":"Bob"}]}}}}`, "details", []string{"ann, b"}, `accept {"who":["a","b"]}`},
		"one is none":  {`{"type":"object","properties":{"who":{"type":"array","items":{"type":"string","enum":["a","b"]}}}}`, "details", []string{"a, c"}, `cancel null`},
		"by default":   {`{"type":"object","properties":{"n":{"type":"integer","default":7}},"required":["n"]}`, "details", []string{""}, `accept {"n":7}`},
		"yes":          {`{"type":"object","properties":{}}`, "go on?", []string{"accept"}, `accept null`},
		"no":           {`{"type":"object","properties":{}}`, "go on?", []string{"maybe"}, `decline null`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFakeServers(t, map[string]func(*fakeProcess){"s": serve(func() *sdk.Server { return asker(c.message, c.schema) })})
			set, _ := w.offer(t)
			of, _ := set.Find("mcp__s__ask")
			who := &answers{say: c.say}
			r, err := of.Run(t.Context(), tool.Env{Ask: who}, json.RawMessage(`{}`))
			if err != nil || r.Text != c.want {
				t.Errorf("%q %v, want %q", r.Text, err, c.want)
			}
			for _, h := range who.heard {
				if !strings.HasPrefix(h, "The MCP server s asks") || strings.Contains(h, "\u200b") {
					t.Errorf("%q", h)
				}
			}
			if r, err := of.Run(t.Context(), tool.Env{}, json.RawMessage(`{}`)); err != nil || r.Text != "decline null\n"+strings.Replace(unanswered, "details", c.message, 1) {
				t.Errorf("without a person: %q %v", r.Text, err)
			}
		})
	}
}

// SPEC 17.1: where nobody is there, a server gets its own defaults only if the person
// configured that, and only if each field has one; the result says so.
func TestDefaultsWithoutPerson(t *testing.T) {
	const all = `{"type":"object","properties":{"n":{"type":"integer","default":7},"ok":{"type":"boolean","default":true},"who":{"type":"string","enum":["ann","bob"],"default":"bob"}},"required":["n"]}`
	for name, c := range map[string]struct {
		schema string
		off    bool
		want   string
	}{
		"each has one": {all, false, `accept {"n":7,"ok":true,"who":"bob"}` + "\n" + `[the server asked "details", and got no answer: nobody is there to answer, so it got its defaults (acceptDefaults)]`},
		"not said":     {all, true, "decline null\n" + unanswered},
		"one has none": {strings.Replace(all, `,"default":true`, "", 1), false, "decline null\n" + unanswered},
		"no field":     {`{"type":"object","properties":{}}`, false, "decline null\n" + unanswered},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFakeServers(t, map[string]func(*fakeProcess){"s": serve(func() *sdk.Server { return asker("details", c.schema) })})
			w.conf[0].Defaults = !c.off
			w.open(t)
			set, _ := w.offer(t)
			of, _ := set.Find("mcp__s__ask")
			if r, err := of.Run(t.Context(), tool.Env{}, json.RawMessage(`{}`)); err != nil || r.Text != c.want {
				t.Errorf("%q, %v", r.Text, err)
			}
		})
	}
	for _, project := range []bool{false, true} {
		got, err := Parse("f", []byte(`{"mcpServers":{"s":{"command":"x","acceptDefaults":true}}}`), project, func(string) string { return "" })
		if err != nil || len(got) != 1 || got[0].Problem != "" || got[0].Defaults == project {
			t.Errorf("project %v: %+v, %v", project, got, err)
		}
	}
}

// SPEC 17.1: while two calls run, nobody knows whose question a server's is: nobody is asked.
func TestWhoseQuestion(t *testing.T) {
	var running, asked sync.WaitGroup
	running.Add(2)
	asked.Add(2)
	w := newFakeServers(t, map[string]func(*fakeProcess){"s": serve(func() *sdk.Server {
		s := sdk.NewServer(&sdk.Implementation{Name: "x", Version: "1"}, nil)
		s.AddTool(&sdk.Tool{Name: "ask", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			running.Done()
			running.Wait()
			got, err := r.Session.Elicit(ctx, &sdk.ElicitParams{Message: "details", RequestedSchema: json.RawMessage(`{"type":"object"}`)})
			asked.Done()
			asked.Wait() // until then both calls run
			if err != nil {
				return nil, err
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: got.Action}}}, nil
		})
		return s
	})})
	set, _ := w.offer(t)
	var calls sync.WaitGroup
	for range 2 {
		calls.Go(func() {
			who := &answers{say: []string{"accept"}}
			of, _ := set.Find("mcp__s__ask")
			if r, err := of.Run(t.Context(), tool.Env{Ask: who}, json.RawMessage(`{}`)); err != nil || !strings.HasPrefix(r.Text, "decline") || len(who.heard) > 0 {
				t.Errorf("%+v, %v, heard %q", r, err, who.heard)
			}
		})
	}
	calls.Wait()
}

// asker is a server that asks for something of this schema.
func asker(message, schema string) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "x", Version: "1"}, nil)
	s.AddTool(&sdk.Tool{Name: "ask", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		got, err := r.Session.Elicit(ctx, &sdk.ElicitParams{Message: message, RequestedSchema: json.RawMessage(schema)})
		if err != nil {
			return nil, err
		}
		raw, err := json.Marshal(got.Content)
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf("%s %s", got.Action, raw)}}}, err
	})
	return s
}
