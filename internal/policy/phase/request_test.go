package phase

import (
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// SPEC 7: what a person's word on phases comes to: what is recorded and told, or
// why it is refused. Nothing is changed by asking.
func TestWishes(t *testing.T) {
	plan := []event.PhaseStep{{Text: "look"}, {Text: "mend", Expected: time.Minute}}
	planned := event.Phased{Number: 1, Text: "look", By: "plan", Plan: plan}
	one := event.Phased{Number: 1, Text: "one", By: "person"}
	items := []tool.Item{{Text: "done", Status: "completed"}, {Text: "the\nnext", Status: "pending"}}
	for name, c := range map[string]struct {
		before []event.Body
		items  []tool.Item
		wish   Request
		want   event.Phased
		told   string // a part of it; "" where nothing is told
		bad    string
	}{
		"open the first":             {nil, nil, Request{Text: " a\nb "}, event.Phased{Number: 1, Text: "a b", By: "person"}, "begins phase 1: a b]", ""},
		"open by number":             {[]event.Body{one}, nil, Request{Number: 3, Text: "x"}, event.Phased{Number: 3, Text: "x", By: "person"}, "begins phase 3", ""},
		"the next without a plan":    {[]event.Body{one}, nil, Request{}, event.Phased{}, "", "name the phase"},
		"the next of the file":       {[]event.Body{planned}, nil, Request{}, event.Phased{Number: 2, Text: "mend", Expected: time.Minute, By: "person"}, "begins phase 2: mend", ""},
		"of the model's own plan":    {nil, items, Request{Number: 1}, event.Phased{Number: 1, Text: "the next", By: "person"}, "the next", ""},
		"another than the model's":   {nil, items, Request{Number: 5}, event.Phased{}, "", "name the phase"},
		"close":                      {[]event.Body{one}, nil, Request{Close: true}, event.Phased{By: "person"}, "phase 1 is done: one]", ""},
		"give up":                    {[]event.Body{one}, nil, Request{Close: true, Failed: true}, event.Phased{Failed: true, By: "person"}, "given up", ""},
		"close what is not open":     {nil, nil, Request{Close: true}, event.Phased{}, "", "no phase is open"},
		"a negative time":            {nil, nil, Request{Text: "x", Expected: -1}, event.Phased{}, "", "-"},
		"a plan file":                {nil, nil, Request{Plan: plan}, planned, "\n1. look\n2. mend\nPhase 1 is open.", ""},
		"the plan file in force":     {[]event.Body{planned}, nil, Request{Plan: plan}, event.Phased{}, "", ""},
		"another plan file after it": {[]event.Body{planned}, nil, Request{Plan: plan[1:]}, event.Phased{Number: 2, Text: "mend", Expected: time.Minute, By: "plan", Plan: plan[1:]}, "\n2. mend", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var f Fold
			for _, b := range c.before {
				f.Apply(event.Event{Body: b, Time: time.Unix(1, 0)})
			}
			before := f.Status()
			got, told, err := f.Judge(c.wish, c.items)
			if c.bad != "" {
				if err == nil || !strings.Contains(err.Error(), c.bad) {
					t.Fatalf("%v, want %q", err, c.bad)
				}
				return
			}
			if err != nil || !strings.Contains(told, c.told) || (c.told == "") != (told == "") {
				t.Fatalf("%q %v", told, err)
			}
			if a, b := show(t, got), show(t, c.want); told != "" && a != b {
				t.Errorf("%s, want %s", a, b)
			}
			if len(before.Done) != len(f.Status().Done) || len(before.Plan) != len(f.Status().Plan) {
				t.Error("asking changed something")
			}
		})
	}
}

func show(t *testing.T, b event.Body) string {
	t.Helper()
	raw := must.Get(event.Encode(b))(t)
	return string(raw)
}
