package jsonc

import (
	"encoding/json"
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
