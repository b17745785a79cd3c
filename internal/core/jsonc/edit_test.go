package jsonc

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// SPEC 17.5: a value is set, and all else stays as it is written.
func TestSet(t *testing.T) {
	for _, c := range []struct {
		name, src, keys, value, want string
	}{
		{"replaced", "{\n  \"a\": 1, // one\n  \"b\": 2\n}\n", "a", "3", "{\n  \"a\": 3, // one\n  \"b\": 2\n}\n"},
		{"added behind a comment", "{\n  \"a\": 1 // one\n}\n", "b", "2", "{\n  \"a\": 1, // one\n  \"b\": 2\n}\n"},
		{"added behind a trailing comma", "{\n\t\"a\": 1, // one,\n\t// more\n}\n", "b", "2", "{\n\t\"a\": 1, // one,\n\t// more\n\t\"b\": 2,\n}\n"},
		{"a comma in a comment is none", "{\n  \"a\": 1 /* , */\n}", "b", "2", "{\n  \"a\": 1, /* , */\n  \"b\": 2\n}"},
		{"in one line", `{"a": 1}`, "b", "2", `{"a": 1, "b": 2}`},
		{"in one line with a comma", `{"a": 1,}`, "b", "2", `{"a": 1,"b": 2}`},
		{"into nothing", "", "a.b", "true", "{\n  \"a\": {\"b\": true}\n}\n"},
		{"into comments", "// mine\n", "a", "1", "// mine\n{\n  \"a\": 1\n}\n"},
		{"into an empty object", "{}", "a", "1", `{"a": 1}`},
		{"below", "{\n  \"a\": {\"b\": 1 /* x */, \"c\": [1, 2]},\n}", "a.c", "[3]", "{\n  \"a\": {\"b\": 1 /* x */, \"c\": [3]},\n}"},
		{"in other letters, as it is read", `{"Model": "x"}`, "model", `"y"`, `{"Model": "y"}`},
		{"what looks like a key in a text", `{"t": "{\"a\": 1}", "a": 2}`, "a", "3", `{"t": "{\"a\": 1}", "a": 3}`},
		{"what looks like a comment in a text", `{"t": "// no", "a": 2}`, "a", "3", `{"t": "// no", "a": 3}`},
	} {
		got, err := Set([]byte(c.src), []byte(c.value), strings.Split(c.keys, ".")...)
		if err != nil || string(got) != c.want {
			t.Errorf("%s:\n%s\nwant\n%s\n%v", c.name, got, c.want, err)
			continue
		}
		value, ok, err := Get(got, strings.Split(c.keys, ".")...)
		if err != nil || !ok || string(value) != c.value {
			t.Errorf("%s: read back %s, %v, %v", c.name, value, ok, err)
		}
	}
	for src, want := range map[string]error{`{"a": 1, "a": 2}`: ErrTwice, `[1]`: ErrNotObject, `{"a": `: ErrBroken, `{"a": 1} x`: ErrBroken, `"a"`: ErrNotObject} {
		if got, err := Set([]byte(src), []byte("1"), "a"); !errors.Is(err, want) {
			t.Errorf("%s: %s, %v", src, got, err)
		}
	}
	if _, err := Set([]byte(`{"a": 1}`), []byte("1"), "a", "b"); !errors.Is(err, ErrNotObject) {
		t.Error(err)
	}
}

// SPEC 17.5: what is removed is gone, and all else stays as it is written.
func TestRemove(t *testing.T) {
	for _, c := range []struct{ name, src, keys, want string }{
		{"its line", "{\n  \"a\": 1,\n  \"b\": 2\n}\n", "a", "{\n  \"b\": 2\n}\n"},
		{"the last", "{\n  \"a\": 1,\n  \"b\": 2\n}\n", "b", "{\n  \"a\": 1,\n}\n"},
		{"the only one", `{"a": 1}`, "a", `{}`},
		{"beside others", `{"a": 1, "b": 2, "c": 3}`, "b", `{"a": 1, "c": 3}`},
		{"a comment stays", "{\n  \"a\": 1, // one\n  \"b\": 2\n}\n", "a", "{\n  // one\n  \"b\": 2\n}\n"},
		{"below", `{"x": {"a": {"y": [1]} , "b": 2}}`, "x.a", `{"x": {"b": 2}}`},
		{"a key in a comment before", "{\"b\": 2, /* \"a\": 1 */ \"a\": 3}", "a", "{\"b\": 2, /* \"a\": 1 */ }"},
		{"not there", `{"a": 1}`, "b.c", `{"a": 1}`},
		{"nothing", ``, "a", ``},
	} {
		src := []byte(c.src)
		got, err := Remove(src, strings.Split(c.keys, ".")...)
		if c.src == "" {
			if !errors.Is(err, ErrBroken) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %q, want %q, %v", c.name, got, c.want, err)
		}
		if _, ok, err := Get(got, strings.Split(c.keys, ".")...); ok || err != nil {
			t.Errorf("%s: still there, or %v", c.name, err)
		}
	}
}

// Whatever the text, what is set is what is read, and nothing else changes.
func FuzzSet(f *testing.F) {
	for _, s := range []string{"{}", "{\n  \"a\": 1, // x\n}", `{"b": {"a": [1,{"c":2}]}, /* , } */ "c": "//"}`, "// {\n{\"a\":1}", "{\"a\":1//\n}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		var before map[string]any
		if json.Unmarshal(Plain([]byte(src)), &before) != nil {
			return
		}
		out, err := Set([]byte(src), []byte(`"new"`), "a")
		if err != nil {
			return
		}
		var after map[string]any
		if err := json.Unmarshal(Plain(out), &after); err != nil {
			t.Fatalf("%q became %q: %v", src, out, err)
		}
		value, ok, err := Get(out, "a")
		if err != nil || !ok || !bytes.Equal(value, []byte(`"new"`)) {
			t.Fatalf("%q became %q: a is %s", src, out, value)
		}
		for k, v := range before {
			was, _ := json.Marshal(v)
			is, _ := json.Marshal(after[k])
			if !strings.EqualFold(k, "a") && !bytes.Equal(was, is) {
				t.Fatalf("%q became %q: %s is %s", src, out, k, is)
			}
		}
	})
}
