package jsonc

import (
	"encoding/json"
	"strings"
	"testing"
)

func FuzzPlain(f *testing.F) {
	for _, s := range []string{`{"a":1,}`, `[1,2,/*x*/]`, "{\"a\":\"//\\\"\"}//", `/*`, `"\`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		out := Plain(in)
		if len(out) != len(in) {
			t.Fatalf("the length changed: %q → %q", in, out)
		}
		if json.Valid(in) && string(out) != string(in) {
			t.Fatalf("valid JSON changed: %q → %q", in, out)
		}
	})
}

func TestCanonical(t *testing.T) {
	deep := strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1)
	for in, want := range map[string]string{
		`{"b": 1, "a": [true, null, "\u0041", {}]}`: `{"a":[true,null,"A",{}],"b":1}`,
		`{"a":{"z":1,"y":2}}`:                       `{"a":{"y":2,"z":1}}`,
		` 1.50 `:                                    `1.50`, // another number's writing is another value
		`12345678901234567890123`:                   `12345678901234567890123`,
		`{"a":1,"a":2}`:                             "!", `{"a":1,"\u0061":1}`: "!", `{"x":{"a":1,"a":1}}`: "!",
		`{} {}`: "!", `{`: "!", ``: "!", `{"a":}`: "!", `[1,]`: "!", deep: "!",
		deep[1 : len(deep)-1]: deep[1 : len(deep)-1],
	} {
		got, err := Canonical([]byte(in))
		if (err != nil) != (want == "!") || err == nil && string(got) != want {
			t.Errorf("%s: %s, %v", in, got, err)
		}
	}
}
