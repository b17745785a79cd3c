package gocache

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

func id(s string) []byte { h := sha256.Sum256([]byte(s)); return h[:] }

// talk gives requests to a server and returns its answers.
func talk(t *testing.T, persons, own string, qs ...any) []response {
	t.Helper()
	var in, out bytes.Buffer
	for _, q := range qs {
		must.Do(t, json.NewEncoder(&in).Encode(q))
	}
	if code := Serve(persons, own, &in, &out); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	var as []response
	for d := json.NewDecoder(&out); ; {
		var a response
		if err := d.Decode(&a); err == io.EOF {
			return as
		} else if err != nil {
			t.Fatal(err)
		}
		as = append(as, a)
	}
}

// SPEC 16.12: what the person built is there and stays as it is; what the
// sandbox built is kept by itself and never stands before it.
func TestCache(t *testing.T) {
	persons, own := t.TempDir(), t.TempDir()
	big := bytes.Repeat([]byte("go"), 200<<10)
	put := func(n int, action string, body []byte) []any {
		q := request{ID: int64(n), Command: "put", ActionID: id(action), OutputID: id(string(body)), BodySize: int64(len(body))}
		if len(body) == 0 {
			return []any{q}
		}
		return []any{q, body}
	}
	get := func(n int, action string) request { return request{ID: int64(n), Command: "get", ActionID: id(action)} }

	// The person's, as their go command would have written it.
	talk(t, "", persons, put(1, "a", []byte("theirs"))...)
	before := files(t, persons)

	var qs []any
	qs = append(qs, get(1, "a"), get(2, "big"))
	qs = append(qs, put(3, "big", big)...)
	qs = append(qs, put(4, "empty", nil)...)
	qs = append(qs, put(5, "a", []byte("false"))...)
	qs = append(qs, get(6, "a"), get(7, "big"), get(8, "empty"), request{ID: 9, Command: "what"}, request{ID: 10, Command: "close"})
	as := talk(t, persons, own, qs...)
	if len(as) != 11 || len(as[0].KnownCommands) != 3 {
		t.Fatalf("%+v", as)
	}
	for i, a := range as[1:] {
		if a.ID != int64(i+1) {
			t.Errorf("answer %d is to %d", i, a.ID)
		}
	}
	text := func(a response) string {
		b, err := os.ReadFile(a.DiskPath)
		if err != nil || int64(len(b)) != a.Size {
			t.Errorf("%+v: %v", a, err)
		}
		return string(b)
	}
	if text(as[1]) != "theirs" || text(as[6]) != "theirs" || !strings.HasPrefix(as[6].DiskPath, persons) {
		t.Errorf("not the person's: %+v", as[6])
	}
	if !as[2].Miss || text(as[7]) != string(big) || text(as[8]) != "" || !strings.HasPrefix(as[7].DiskPath, own) || as[9].Err == "" {
		t.Errorf("%+v", as[7:10])
	}
	if files(t, persons) != before {
		t.Error("the person's cache was changed")
	}
	if again := talk(t, "", own, get(1, "a"), get(2, "big")); text(again[1]) != "false" || text(again[2]) != string(big) {
		t.Errorf("%+v", again)
	}
}

// What is broken is not there, and what cannot be kept is told.
func TestBroken(t *testing.T) {
	persons, own := t.TempDir(), t.TempDir()
	body := []byte("text")
	talk(t, "", persons, request{ID: 1, Command: "put", ActionID: id("a"), OutputID: id("text"), BodySize: 4}, body)
	for _, c := range []struct{ kind, text string }{
		{"d", "tex"},
		{"a", ""},
		{"a", "v1 x y 1 1\n"},
		{"a", fmt.Sprintf("v1 %x %x %20d %20d\n", id("b"), id("text"), 4, 1)},
	} {
		key := id("a")
		if c.kind == "d" {
			key = id("text")
		}
		file := name(persons, key, c.kind)
		old := must.Get(os.ReadFile(file))(t)
		must.Write(t, file, c.text)
		if as := talk(t, persons, own, request{ID: 1, Command: "get", ActionID: id("a")}); !as[1].Miss {
			t.Errorf("%q: %+v", c.text, as[1])
		}
		must.Do(t, os.WriteFile(file, old, 0o600))
	}
	for _, key := range [][]byte{nil, []byte("../../x")} {
		if as := talk(t, persons, own, request{ID: 1, Command: "get", ActionID: key}, request{ID: 2, Command: "put", ActionID: key, OutputID: id("x"), BodySize: 4}, body); !as[1].Miss || as[2].Err == "" {
			t.Errorf("%q: %+v", key, as)
		}
	}
	if as := talk(t, persons, own, request{ID: 1, Command: "put", ActionID: id("c"), OutputID: id("x"), BodySize: 9}, body, request{ID: 2, Command: "get", ActionID: id("c")}); as[1].Err == "" || !as[2].Miss {
		t.Errorf("%+v", as)
	}
	if s := Setting("/a b/pawl", "/c", "/d"); s != "GOCACHEPROG='/a b/pawl' '"+Word+"' '/c' '/d'" || Setting("/it's", "/c", "/d") != "" {
		t.Error(s)
	}
}

func files(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(p string, st os.FileInfo, err error) error {
		if err == nil {
			fmt.Fprintln(&b, p, st.Size(), st.ModTime())
		}
		return err
	})
	must.Do(t, err)
	return b.String()
}
