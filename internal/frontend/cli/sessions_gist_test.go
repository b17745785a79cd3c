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
		return []any{g.mode, g.front, g.branch, g.state, g.prompt, g.reply, g.count.Report().All.Spent}
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
