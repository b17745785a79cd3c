package lax

import (
	"encoding/json"
	"testing"
)

// SPEC 5.1, 5.5: a null in a later usage, or a field that is missing, does not
// replace what is known.
func TestOverlay(t *testing.T) {
	for _, c := range []struct{ older, newer, want string }{
		{`{"in":5,"out":1}`, `{"in":null,"out":9}`, `{"in":5,"out":9}`},
		{`{"in":5,"out":1}`, `{"out":9}`, `{"in":5,"out":9}`},
		{`{"in":5}`, `{ "in": 7 }`, `{ "in": 7 }`},
		{`{"in":5}`, `{"in":0}`, `{"in":0}`},
		{`{"in":5}`, `null`, `{"in":5}`},
		{`{"in":5}`, ``, `{"in":5}`},
		{``, `{"in":null}`, `{"in":null}`},
		{`{"in":null}`, `{"in":3}`, `{"in":3}`},
		{`{"in":null}`, `{"out":3}`, `{"out":3}`},
		{`{"d":{"cached":4}}`, `{"d":null,"in":1}`, `{"d":{"cached":4},"in":1}`},
		{`{"d":{"cached":4}}`, `{"d":{"cached":null},"in":1}`, `{"d":{"cached":4},"in":1}`},
		{`{"d":{"cached":4}}`, `{"d":{"cached":6}}`, `{"d":{"cached":6}}`},
		{`{"in":5}`, `"much"`, `"much"`},
		{`[1]`, `{"in":5}`, `{"in":5}`},
	} {
		if got := Overlay(json.RawMessage(c.older), json.RawMessage(c.newer)); string(got) != c.want {
			t.Errorf("%s over %s: %s, want %s", c.newer, c.older, got, c.want)
		}
	}
}
