package event_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// A newer pawl's event survives an older one, byte for byte (SPEC 10.4).
func TestUnknownSurvives(t *testing.T) {
	for _, c := range []struct {
		kind    string
		version int
		raw     string
	}{
		{"from_the_future", 1, `{"b": 1,  "a": 2}`},
		{"noted", 2, `{"why":["now","a","list"]}`},
		{"", 0, ``},
		{"x", -1, "not JSON \xff"},
	} {
		raw := []byte(c.raw)
		b := must.Get(event.Decode(c.kind, c.version, raw))(t)
		if len(raw) > 0 {
			raw[0] = '!' // the body does not share the caller's bytes
		}
		got, err := event.Encode(b)
		if err != nil || string(got) != c.raw || b.Kind() != c.kind || event.VersionOf(b) != c.version {
			t.Errorf("%s v%d: %q came back as %#v, %q, %v", c.kind, c.version, c.raw, b, got, err)
		}
	}
}

// A field that this pawl does not know is not an error: a newer pawl of the same
// version may have added it.
func TestUnknownFieldIsRead(t *testing.T) {
	b, err := event.Decode("mode_set", 1, []byte(`{"mode":"plan","by":"person"}`))
	if err != nil || b != (event.ModeSet{Mode: "plan"}) {
		t.Errorf("%#v, %v", b, err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, raw := range []string{``, `[]`, `{"text":1}`, `{"text":"x"`, `{"text":"x"}{}`, "\x00"} {
		if b, err := event.Decode("noted", 1, []byte(raw)); err == nil {
			t.Errorf("%q decodes as %#v", raw, b)
		}
	}
}

// What a provider needs back byte for byte is stored in compact form: the
// encoder drops white space between the tokens of a raw part and nothing else
// (SPEC 5.1). A provider that puts a part into a reply compacts it first, so
// that a resumed request has the same bytes.
func TestRawParts(t *testing.T) {
	for raw, want := range map[string]string{
		`{"signature":"Eq+/<>&==","n":1.50,"u":"\u00e4\u2028","e":1e400}`: `{"signature":"Eq+/<>&==","n":1.50,"u":"\u00e4\u2028","e":1e400}`,
		"{\"sep\":\"\u2028é<\"}": "{\"sep\":\"\u2028é<\"}",
		`{"a": [1,  2]}`:         `{"a":[1,2]}`,
	} {
		in := event.Replied{Reply: llm.Reply{Message: llm.Message{Parts: []llm.Part{{Kind: llm.Opaque, Raw: json.RawMessage(raw)}}}}}
		enc := must.Get(event.Encode(in))(t)
		out := must.Get(event.Decode(in.Kind(), event.VersionOf(in), enc))(t)
		if got := string(out.(event.Replied).Reply.Message.Parts[0].Raw); got != want {
			t.Errorf("%s came back as %s", raw, got)
		}
	}
}

// FuzzDecode: logs are files, and files are not to be trusted. Nothing panics;
// what is not known survives byte for byte; what is known encodes to something
// that decodes to the same.
func FuzzDecode(f *testing.F) {
	for _, b := range full() {
		raw, err := event.Encode(b)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b.Kind(), event.VersionOf(b), raw)
		f.Add(b.Kind(), event.VersionOf(b)+1, raw)
	}
	f.Add("from_the_future", 1, []byte(`{"a": 1}`))
	f.Add("noted", 1, []byte(`null`))
	f.Add("call_asked", 1, []byte(`{"args": null}`))
	f.Fuzz(func(t *testing.T, kind string, version int, raw []byte) {
		b, err := event.Decode(kind, version, raw)
		if err != nil {
			if b != nil {
				t.Fatalf("a body with an error: %#v", b)
			}
			return
		}
		enc, err := event.Encode(b)
		if err != nil {
			t.Fatalf("%#v decoded and does not encode: %v", b, err)
		}
		if u, ok := b.(event.Unknown); ok {
			if !bytes.Equal(enc, raw) || u.Name != kind || u.V != version {
				t.Fatalf("%q came back as %q", raw, enc)
			}
			return
		}
		again, err := event.Decode(b.Kind(), event.VersionOf(b), enc)
		if err != nil {
			t.Fatalf("%s does not decode: %v", enc, err)
		}
		enc2, err := event.Encode(again)
		if err != nil || !bytes.Equal(enc, enc2) {
			t.Fatalf("%s\nbecame\n%s\n%v", enc, enc2, err)
		}
		if _, ok := b.(event.Ticked); ok && !reflect.DeepEqual(b, again) {
			t.Fatalf("%#v became %#v", b, again)
		}
	})
}
