package process

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 16.12: what narrows never widens, in any order.
func TestNarrow(t *testing.T) {
	ro, ws := Confine{}, Confine{Level: Workspace}
	granted := Confine{Level: Workspace, Reads: []string{"/r"}, Writes: []string{"/w"}, Hosts: []string{"h"}}
	for _, c := range []struct{ a, b, want Confine }{
		{Free, Free, Free},
		{Free, ws, ws},
		{Free, granted, granted},
		{ro, ws, ro},
		{ro, granted, ro},
		{granted, ws, ws},
		{granted, granted, granted},
		{granted, Confine{Level: ReadOnly, Reads: []string{"/r", "/x"}, Hosts: []string{"g"}}, Confine{Reads: []string{"/r"}}},
		{Confine{Reads: []string{"/w"}}, granted, Confine{Reads: []string{"/w"}}},
	} {
		for _, got := range []Confine{c.a.Narrow(c.b), c.b.Narrow(c.a)} {
			if got.Level != c.want.Level || got.Key() != c.want.Key() && !c.want.subset(got) {
				t.Errorf("%+v and %+v: %+v, want %+v", c.a, c.b, got, c.want)
			}
			if !got.subset(c.a) || !got.subset(c.b) {
				t.Errorf("%+v and %+v: %+v is wider", c.a, c.b, got)
			}
		}
	}
}

// subset reports whether c allows no more than d.
func (c Confine) subset(d Confine) bool {
	in := func(a []string, bs ...[]string) bool {
		for _, x := range a {
			found := false
			for _, b := range bs {
				for _, y := range b {
					found = found || x == y
				}
			}
			if !found {
				return false
			}
		}
		return true
	}
	return d.Level == Unconfined || c.Level <= d.Level && in(c.Reads, d.Reads, d.Writes) && in(c.Writes, d.Writes) && in(c.Hosts, d.Hosts)
}

// A level that this pawl does not know is the narrowest, and none is lost.
func TestLevelsInTheLog(t *testing.T) {
	for _, c := range []Confine{{}, Free, {Level: Workspace, Hosts: []string{"example.com"}}} {
		b := must.Get(json.Marshal(c))(t)
		var back Confine
		if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(back, c) {
			t.Errorf("%s: %+v %v", b, back, err)
		}
	}
	var c Confine
	if err := json.Unmarshal([]byte(`{"level":"of a newer pawl"}`), &c); err != nil || c.Level != ReadOnly {
		t.Errorf("%+v %v", c, err)
	}
}
