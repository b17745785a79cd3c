package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 4.4: the forms models send, and what they become.
func TestRepairArgs(t *testing.T) {
	for _, c := range []struct{ name, sent, want string }{
		{"as it is", `{"path": "a.go",  "from": 1}`, `{"path": "a.go",  "from": 1}`},
		{"space around is kept", " {}\n", " {}\n"},
		{"nothing", "", `{}`},
		{"only space", " \n", `{}`},
		{"null", "null", `{}`},
		{"encoded", `"{\"path\":\"a\"}"`, `{"path":"a"}`},
		{"encoded twice", `"\"{\\\"path\\\":\\\"a\\\"}\""`, `{"path":"a"}`},
		{"an encoded nothing", `""`, `{}`},
		{"encoded in single quotes", `'{"a":1}'`, `{"a":1}`},
		{"encoded and in need of repair", `"{'a': True,}"`, `{"a":true}`},
		{"single quotes", `{'path': 'it said "no"'}`, `{"path":"it said \"no\""}`},
		{"an escaped single quote", `{'a': 'it\'s'}`, `{"a":"it's"}`},
		{"trailing commas", `{"a": [1, 2,], "b": {"c": 1,},}`, `{"a":[1,2],"b":{"c":1}}`},
		{"raw newline and tab", "{\"content\": \"a\n\tb\r\"}", `{"content":"a\n\tb\r"}`},
		{"raw control characters", "{\"a\": \"\x00\x1b[0m\"}", `{"a":"\u0000\u001b[0m"}`},
		{"Python's words", `{"a": True, "b": False, "c": None}`, `{"a":true,"b":false,"c":null}`},
		{"bare keys", `{path: "a", max_len: 3}`, `{"path":"a","max_len":3}`},
		{"escapes JSON lacks", `{"pattern": "\d+\.go"}`, `{"pattern":"\\d+\\.go"}`},
		{"Python's hex", `{'a': '\x41\u00e9'}`, `{"a":"\u0041\u00e9"}`},
		{"a fence", "```json\n{\"a\": 1}\n```", `{"a": 1}`},
		{"a fence on one line", "```{'a': 1}```", `{"a":1}`},
		{"a fence around a string", "```\n\"{\\\"a\\\":1}\"\n```", `{"a":1}`},
		{"bytes that are no text", "{\"a\":\"\xff\"}", "{\"a\":\"\uFFFD\"}"},
		{"duplicate keys are left", `{"a":1,"a":2}`, `{"a":1,"a":2}`},
	} {
		got, err := repairArgs(c.sent)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: RepairArgs(%q) = %s, %v; want %s", c.name, c.sent, got, err, c.want)
		}
	}
}

// SPEC 4.4: what cannot be repaired is an error with the parser's position;
// what was cut off is never completed.
func TestRepairArgsRefuses(t *testing.T) {
	for _, c := range []struct {
		name, sent string
		offset     int
	}{
		{"an array", `[1]`, 0},
		{"a number", ` 12`, 1},
		{"a word", `hello`, 0},
		{"a string of a word", `"hello"`, 0},
		{"a true", `true`, 0},
		{"two objects", `{"a":1}{"b":2}`, 7},
		{"a bracket too many", `{"a":1}}`, 7},
		{"no comma", `{"a":1 "b":2}`, 7},
		{"no colon", `{"a" 1}`, 5},
		{"two commas", `{"a":1,,}`, 7},
		{"an unescaped quote", `{"a":"say "hi""}`, 11},
		{"an apostrophe in single quotes", `{'a': 'it's'}`, 10},
		{"an unknown word", `{"a": undefined}`, 6},
		{"a wrong number", `{"a": 01}`, 6},
		{"crossed brackets", `{"a":[1}`, 7},
		{"an escape without digits", `{"a":"C:\users"}`, 8},
		{"cut in the object", `{"a":1`, 6},
		{"cut in a string", `{"a":"b`, 7},
		{"cut in an escape", `{"a":"b\`, 8},
		{"cut in hex", `{"a":"\u00`, 10},
		{"cut in a number", `{"a":12`, 7},
		{"cut after a key", `{"a"`, 4},
		{"cut after a comma", `{"a":1,`, 7},
		{"an open fence", "```json\n{\"a\":1}", 0},
		{"encoded and cut", `"{\"a\":1"`, 6},
		{"encoded, string cut", `"{\"a\":1}`, 10},
		{"deep", strings.Repeat(`{'a':`, 1100), 5000},
	} {
		got, err := repairArgs(c.sent)
		var bad *ArgsError
		if !errors.As(err, &bad) {
			t.Errorf("%s: RepairArgs(%q) = %s, %v; want an *ArgsError", c.name, c.sent, got, err)
			continue
		}
		if bad.Offset != c.offset {
			t.Errorf("%s: %v; want offset %d", c.name, err, c.offset)
		}
	}
}

// SPEC 4.4: no prefix of an object is ever read as an object.
func TestRepairArgsNeverCompletes(t *testing.T) {
	for _, whole := range []string{
		`{"path":"a\n\u00e9","n":[1,-2.5e3,{"x":true}],"z":null}`,
		`{'path': 'a', n: [True, None,], "raw": "` + "\n" + `"}`,
		`"{\"a\":{\"b\":[1,2]}}"`,
	} {
		if _, err := repairArgs(whole); err != nil {
			t.Fatalf("RepairArgs(%q): %v", whole, err)
		}
		for n := 1; n < len(whole); n++ {
			if got, err := repairArgs(whole[:n]); err == nil {
				t.Errorf("RepairArgs(%q) = %s; want an error", whole[:n], got)
			}
		}
	}
}

// anyValue draws a JSON value.
func anyValue(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		kinds := 5
		if depth == 0 {
			kinds = 3
		}
		switch rapid.IntRange(0, kinds).Draw(t, "kind") {
		case 0:
			return rapid.String().Draw(t, "string")
		case 1:
			return rapid.Float64Range(-1e9, 1e9).Draw(t, "number")
		case 2:
			return rapid.Bool().Draw(t, "bool")
		case 3:
			return nil
		case 4:
			return rapid.SliceOfN(anyValue(depth-1), 0, 3).Draw(t, "array")
		default:
			return rapid.MapOfN(rapid.String(), anyValue(depth-1), 0, 3).Draw(t, "object")
		}
	})
}

// SPEC 4.4: a valid object is never touched, and survives being encoded.
func TestRepairArgsProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.MapOfN(rapid.String(), anyValue(2), 0, 4).Draw(t, "args")
		sent := must.Get(json.Marshal(v))(t)
		if rapid.Bool().Draw(t, "indented") {
			var b bytes.Buffer
			must.Do(t, json.Indent(&b, sent, "", "\t"))
			sent = b.Bytes()
		}
		got, err := repairArgs(string(sent))
		if err != nil || !bytes.Equal(got, sent) {
			t.Fatalf("RepairArgs(%s) = %s, %v", sent, got, err)
		}
		encoded, _ := json.Marshal(string(sent))
		got, err = repairArgs(string(encoded))
		if err != nil || !bytes.Equal(got, sent) {
			t.Fatalf("RepairArgs(%s) = %s, %v; want %s", encoded, got, err, sent)
		}
		// A needless repair changes no value.
		r := repairer{in: string(sent)}
		if err := r.document(); err != nil {
			t.Fatalf("repairing %s: %v", sent, err)
		}
		var back any
		must.Do(t, json.Unmarshal(r.out, &back))
		again, _ := json.Marshal(back)
		first, _ := json.Marshal(v)
		if !bytes.Equal(again, first) {
			t.Fatalf("repairing %s gave %s", first, again)
		}
	})
}

// SPEC 4.4: a call always has an object as its arguments, and keeps what was
// sent where that was something else.
func TestNewCall(t *testing.T) {
	for _, c := range []struct {
		sent, args, kept string
		bad              bool
	}{
		{`{"a":1}`, `{"a":1}`, "", false},
		{"", `{}`, "", false},
		{`{'a':1}`, `{"a":1}`, `{'a':1}`, false},
		{`{"a":`, `{}`, `{"a":`, true},
	} {
		got := NewCall("id", "read", c.sent)
		if string(got.Args) != c.args || got.Sent != c.kept || (got.Bad != "") != c.bad || got.ID != "id" || got.Name != "read" {
			t.Errorf("NewCall(%q) = %+v", c.sent, got)
		}
	}
}

// SPEC 4.4: an object or an error, whatever is sent.
func FuzzRepairArgs(f *testing.F) {
	for _, s := range []string{
		"", `{"a":1}`, `"{\"a\":1}"`, `{'a': 'b',}`, "```json\n{}\n```", `{"a":"\x4`, `[[[[`, "{\"a\": \"\n\"}", `{a:True}`, "\xff{", `'\u12`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := repairArgs(s)
		if err != nil {
			if got != nil {
				t.Fatalf("RepairArgs(%q) = %s and %v", s, got, err)
			}
			if bad := (*ArgsError)(nil); !errors.As(err, &bad) || bad.Offset < 0 {
				t.Fatalf("RepairArgs(%q): %v", s, err)
			}
			return
		}
		var m map[string]json.RawMessage
		if err := json.Unmarshal(got, &m); err != nil || m == nil {
			t.Fatalf("RepairArgs(%q) = %q, no object: %v", s, got, err)
		}
		if again, err := repairArgs(string(got)); err != nil || !bytes.Equal(again, got) {
			t.Fatalf("not stable: %q then %q, %v", got, again, err)
		}
	})
}
