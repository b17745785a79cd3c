package lax

import (
	"encoding/json"
	"net/http"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 5.1: one field of the wrong type does not spoil the rest.
func TestLoose(t *testing.T) {
	var v struct {
		A, B, C, D Text
		N, M, O    Int
		I, J       Index
		F, G       Float
		L          List[Obj[struct{ X Text }]]
		S          List[Text]
		P          Obj[struct{ Y Int }]
		Q          Obj[*struct{ Y Int }]
	}
	err := json.Unmarshal([]byte(`{"a":"x","b":null,"c":{"k":1},"d":7,"n":3.0,"m":"4","o":-1,"i":0,"j":null,"f":0.5,"g":{"x":1},
		"l":[{"x":"a"},null,3,{"x":5}],"s":"one","p":[1],"q":null}`), &v)
	must.Do(t, err)
	if v.A != "x" || v.B != "" || v.C != `{"k":1}` || v.D != "7" || v.N != 3 || v.M != 4 || v.O != 0 ||
		!v.I.OK || v.J.OK || v.F.F != 0.5 || v.G.OK || len(v.L) != 3 || v.L[2].V.X != "5" || len(v.S) != 1 || v.P.V.Y != 0 || v.Q.V != nil {
		t.Errorf("%+v", v)
	}
}

// A string encodes as encoding/json reads it, with nothing escaped needlessly.
func TestAppendString(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		if rapid.Bool().Draw(t, "text") {
			s = rapid.String().Draw(t, "string")
		}
		b := AppendString(nil, s)
		var back string
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		if utf8.ValidString(s) && back != s || !utf8.Valid(b) {
			t.Fatalf("%q became %q", s, back)
		}
	})
	if got := string(AppendString(nil, "<&>\u2028\x7f")); got != "\"<&>\u2028\x7f\"" {
		t.Error(got)
	}
}

// SPEC 3.2: the ways in which servers explain themselves.
func TestFail(t *testing.T) {
	for _, c := range []struct {
		body   string
		status int
		want   string
		retry  bool
		named  int
	}{
		{`{"error":{"message":"m","type":"t","code":"c"}}`, 400, "h answered 400: m [t]", false, 400},
		{`{"error":"m"}`, 400, "h answered 400: m", false, 400},
		{`{"detail":"m"}`, 401, "h answered 401: m", false, 401},
		{`{"detail":[{"loc":["body","x",0],"msg":"m"},{"msg":"n"}]}`, 422, "h answered 422: body.x.0: m; n", false, 422},
		{`{"message":"m","code":"3505","type":"t"}`, 429, "h answered 429: m [t]", true, 429},
		{`[{"error":{"message":"m","code":503}}]`, 200, "h answered 503: m [503]", true, 503},
		{`{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"slow down"}}}`, 429, "h answered 429: Provider returned error: slow down [429]", true, 429},
		{`{"error":{"message":"m","code":"tool_use_failed"}}`, 400, "h answered 400: m [tool_use_failed]", true, 400},
		{`{"error":{"message":"m","code":"content_filter","status":400}}`, 200, "h answered 400: m [content_filter]", false, 400},
		{`nonsense`, 500, "h answered 500: nonsense", true, 500},
		{``, 500, "h answered 500: no explanation", true, 500},
	} {
		f := Fail("h", c.status, http.Header{}, []byte(c.body))
		if f.Message != c.want || f.Retryable != c.retry || f.Status != c.named {
			t.Errorf("%s: %q, retryable %v, status %d", c.body, f.Message, f.Retryable, f.Status)
		}
	}
}

// Whatever a server explains, it is read without a panic.
func FuzzSaid(f *testing.F) {
	f.Add(`{"error":{"message":"m","metadata":{"raw":"x"}}}`)
	f.Add(`[{"detail":[{"loc":"a","msg":1}]}]`)
	f.Fuzz(func(t *testing.T, body string) {
		if e := Fail("h", 500, nil, []byte(body)); e.Message == "" {
			t.Fatal("no message")
		}
	})
}
