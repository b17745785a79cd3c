package cli

import (
	"reflect"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/event/eventtest"
)

// SPEC 19.3: a list reads only the events that change what it says: none of
// another kind does, whatever is in it.
func TestGistKinds(t *testing.T) {
	t.Parallel()
	reads := map[string]bool{}
	for _, k := range gistKinds() {
		reads[k] = true
	}
	said := func(g *gist) any {
		return []any{g.mode, g.front, g.count.Report().All.Spent}
	}
	changed := map[string]bool{}
	for _, kind := range event.Kinds() {
		for _, text := range []string{"", "text"} {
			v := reflect.New(reflect.TypeOf(event.New(kind)))
			eventtest.Fill(v.Elem(), text, []byte(`{}`))
			g := &gist{}
			g.Apply(event.Event{Session: "s", Seq: 1, Time: time.Unix(1, 0), Body: event.Opened{Mode: "ask", Front: "line"}})
			before := said(g)
			g.Apply(event.Event{Session: "s", Seq: 2, Time: time.Unix(2, 0), Body: v.Elem().Interface().(event.Body)})
			if !reflect.DeepEqual(before, said(g)) {
				changed[kind] = true
				if !reads[kind] {
					t.Errorf("%s changes what a list says, and is not read", kind)
				}
			}
		}
	}
	for k := range reads {
		if !changed[k] {
			t.Errorf("%s is read and changes nothing", k)
		}
	}
}

// SPEC 15.2: what forks share is counted once, also when the session that they
// were made from is deleted.
func TestForksAreCountedOnce(t *testing.T) {
	fork := func(id, of string, at int64) event.Row {
		return event.Row{ID: id, Origin: &event.Origin{Session: of, At: at}}
	}
	rows := []event.Row{fork("a", "gone", 10), {ID: "parent"}, fork("b", "parent", 5), fork("c", "gone", 20), fork("d", "gone", 7)}
	c := counted{}
	for i, want := range []int64{0, 0, 5, 10, 7} {
		if got := c.skip(rows[i], rows); got != want {
			t.Errorf("%s: skips %d, want %d", rows[i].ID, got, want)
		}
	}
	if got := (counted{}).skip(rows[2], rows[2:3]); got != 0 {
		t.Errorf("alone: skips %d", got)
	}
}
