package eventlog

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/event/eventtest"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

const held = "correct-horse-7-battery"

// fill sets every string that a body can hold to text, also names and values of JSON.
func fill(v reflect.Value, text string) {
	eventtest.Fill(v, text, []byte(`{"a":["`+text+`"],"`+text+`":1}`), reflect.TypeFor[tool.Hash]())
}

// SPEC 16.7: whatever kind of event it is and wherever in it a key stands, the
// log does not get it. A new kind or a new field is tried here without anybody
// adding it.
func TestEveryStringOfEveryBodyIsMasked(t *testing.T) {
	m := secrets.New(held)
	for _, kind := range event.Kinds() {
		t.Run(kind, func(t *testing.T) {
			p := reflect.New(reflect.TypeOf(event.New(kind)))
			fill(p.Elem(), "x "+held+" y")
			body := p.Elem().Interface().(event.Body)
			before := must.Get(event.Encode(body))(t)
			got := must.Get(event.Encode(maskBody(m, body)))(t)
			if strings.Contains(string(got), held) {
				t.Errorf("%s", got)
			}
			if again, _ := event.Encode(body); string(again) != string(before) {
				t.Error("the caller's own body was changed")
			}
		})
	}
	u := event.Unknown{Name: "later", V: 1, Raw: json.RawMessage(`{"x":"` + held + `"}`)}
	if got := maskBody(m, u).(event.Unknown); strings.Contains(string(got.Raw), held) {
		t.Errorf("%s", got.Raw)
	}
}

// What holds no secret comes back as it is, with no copy.
func TestWhatHoldsNoSecretStays(t *testing.T) {
	m := secrets.New(held)
	for _, kind := range event.Kinds() {
		p := reflect.New(reflect.TypeOf(event.New(kind)))
		fill(p.Elem(), "ordinary words, no key")
		want := p.Elem().Interface().(event.Body)
		if got := maskBody(m, want); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", kind, got)
		}
	}
}

// SPEC 9.4, 16.7: what a provider signed or encrypted is never altered: a part
// whose signed text holds a key loses its signed form, and everything else of
// it stays to the byte.
func TestSignedPartsAreNotAltered(t *testing.T) {
	m := secrets.New(held)
	signature := held + "AbC+/=="
	for name, tc := range map[string]struct{ raw, want string }{
		"signature alone":    {`{"type":"thinking","thinking":"plain","signature":"` + signature + `"}`, `{"type":"thinking","thinking":"plain","signature":"` + signature + `"}`},
		"redacted":           {`{"type":"redacted_thinking","data":"` + signature + `"}`, `{"type":"redacted_thinking","data":"` + signature + `"}`},
		"encrypted":          {`{"encrypted_content":"` + signature + `","id":"rs_1"}`, `{"encrypted_content":"` + signature + `","id":"rs_1"}`},
		"thought":            {`{"text":"plain","thoughtSignature":"` + signature + `"}`, `{"text":"plain","thoughtSignature":"` + signature + `"}`},
		"signed text":        {`{"type":"thinking","thinking":"it is ` + held + `","signature":"` + signature + `"}`, ``},
		"encrypted, summary": {`{"summary":[{"text":"` + held + `"}],"encrypted_content":"` + signature + `"}`, ``},
		"nothing signed":     {`{"reasoning_content":"it is ` + held + `",  "n":1}`, `{"reasoning_content":"it is [masked:held]",  "n":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			in := event.Replied{Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{
				{Kind: llm.Reasoning, Text: "it is " + held, Wire: "w", Raw: json.RawMessage(tc.raw)},
				{Kind: llm.CallPart, Call: &llm.Call{ID: "1", Name: "write", Args: json.RawMessage(`{"text":"` + held + `"}`)}, Wire: "w", Raw: json.RawMessage(`{"thoughtSignature":"` + signature + `"}`)},
			}}}}
			got := maskBody(m, in).(event.Replied).Reply.Message.Parts
			if string(got[0].Raw) != tc.want || got[0].Text != "it is [masked:held]" || (got[0].Wire == "") != (tc.want == "") {
				t.Errorf("%+v", got[0])
			}
			if string(got[1].Raw) != `{"thoughtSignature":"`+signature+`"}` || string(got[1].Call.Args) != `{"text":"[masked:held]"}` {
				t.Errorf("%+v %s", got[1], got[1].Call.Args)
			}
		})
	}
}

// SPEC 16.7: a key in JSON is found however its string is written, and every
// other byte stays.
func TestMasksJSON(t *testing.T) {
	m := secrets.New(held)
	esc := strings.ReplaceAll(held, "-", `\u002d`)
	aws := "wJa1rXUtnFEMIxK7MDENGxbPxRfiCYzzzzzzzKEY"
	for in, want := range map[string]string{
		`{ "a" : "x" }`:                          `{ "a" : "x" }`,
		`{"a":"` + esc + `"}`:                    `{"a":"[masked:held]"}`,
		`{"` + held + `":true}`:                  `{"[masked:held]":true}`,
		`["\"` + held + `\n"]`:                   `["\"[masked:held]\n"]`,
		`{"SecretAccessKey":"` + aws + `"}`:      `{"SecretAccessKey":"[masked:aws]"}`,
		`{"secret_access_key" : "` + aws + `"}`:  `{"secret_access_key" : "[masked:aws]"}`,
		`{"other":"` + aws + `"}`:                `{"other":"` + aws + `"}`,
		`{"a":"` + held:                          `{"a":"[masked:held]`, // cut off
		`not json ` + `"` + held + `"`:           `not json "[masked:held]"`,
		`{"u":"\u001b[31m` + held + `\u001b[m"}`: `{"u":"\u001b[31m[masked:held]\u001b[m"}`,
	} {
		got, _ := maskJSON(m, []byte(in), nil)
		if string(got) != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

// SPEC 11.1, 16.7: where a file's name holds a key no file of the name that is
// kept can be put back, and the log says so.
func TestAMaskedPathIsNotRestorable(t *testing.T) {
	m := secrets.New(held)
	c := event.FileChanged{Path: "dir/" + held + ".txt", Kept: true, Before: "aa", After: "bb"}
	if got := maskBody(m, c).(event.FileChanged); got.Kept || got.Path != "dir/[masked:held].txt" || got.After != "bb" {
		t.Errorf("%+v", got)
	}
	w := event.Writing{Files: []event.FileChanged{c, {Path: "b", Kept: true}}}
	if got := maskBody(m, w).(event.Writing).Files; got[0].Kept || !got[1].Kept {
		t.Errorf("%+v", got)
	}
}

func FuzzMaskJSON(f *testing.F) {
	f.Add(`{"a":"b\\","c":["` + held + `"]}`)
	m := secrets.New(held)
	f.Fuzz(func(t *testing.T, s string) {
		out, changed := maskJSON(m, []byte(s), nil)
		if !changed && string(out) != s {
			t.Fatal("changed in silence")
		}
		if json.Valid([]byte(s)) && !json.Valid(out) {
			t.Fatalf("%s became %s", s, out)
		}
	})
}

func BenchmarkMaskBody(b *testing.B) {
	m := secrets.New(held)
	done := event.CallDone{ID: "1", Tool: "bash", Result: llm.Result{Text: strings.Repeat("a line of output, as commands print it\n", 100)}}
	for _, body := range []event.Body{event.CallStarted{ID: "1"}, done} {
		b.Run(fmt.Sprint(body.Kind()), func(b *testing.B) {
			for b.Loop() {
				maskBody(m, body)
			}
		})
	}
}
