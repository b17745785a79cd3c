package fsm_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/fsm"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// door is a small table with an end and a transition to itself.
func door() *fsm.Table {
	return &fsm.Table{
		Name: "door", Doc: "A door.", States: []fsm.State{"shut", "open", "locked", "gone"},
		Legal: map[fsm.State][]fsm.State{
			"shut":   {"open", "locked", "gone"},
			"open":   {"shut", "open"},
			"locked": {"shut"},
		},
	}
}

// SPEC 1.3: what a table does not have is refused with a typed error, changes
// nothing and is told to nobody.
func TestIllegal(t *testing.T) {
	m := fsm.NewMachine(door())
	told := 0
	m.Listen(func(_, _ fsm.State, _ fsm.Meta) { told++ }, nil)
	for name, try := range map[string]func() error{
		"to itself":        func() error { return m.To("shut", nil) },
		"to no state":      func() error { return m.To("ajar", nil) },
		"from another":     func() error { return m.From([]fsm.State{"locked"}, "open", nil) },
		"from none at all": func() error { return m.From(nil, "open", nil) },
	} {
		var bad *fsm.InvalidTransitionError
		if err := try(); !errors.As(err, &bad) || bad.Machine != "door" || bad.From != "shut" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if m.State() != "shut" || len(m.History()) != 0 || told != 0 {
		t.Errorf("after illegal transitions it is %s, %v, and %d were told", m.State(), m.History(), told)
	}
	if err := m.From([]fsm.State{"shut", "locked"}, "open", nil); err != nil || m.State() != "open" {
		t.Errorf("a legal one: %v, %s", err, m.State())
	}
}

// SPEC 1.4: listeners are told after the change, in the order registered; a
// panic in one is reported and stops neither the others nor the transition.
func TestListeners(t *testing.T) {
	m := fsm.NewMachine(door())
	var said []string
	hear := func(name string) fsm.Listener {
		return func(from, to fsm.State, meta fsm.Meta) {
			said = append(said, fmt.Sprint(name, " ", from, ">", to, " ", m.State(), " ", meta["why"]))
		}
	}
	stopA := m.Listen(hear("a"), nil)
	m.Listen(func(_, to fsm.State, _ fsm.Meta) {
		if to == "open" {
			panic("broken")
		}
	}, func(v any) { said = append(said, fmt.Sprint("panic ", v)); panic("the report breaks too") })
	m.Listen(hear("c"), nil)
	must.Do(t, m.To("open", fsm.Meta{"why": "knock"}))
	want := []string{"a shut>open open knock", "panic broken", "c shut>open open knock"}
	if !slices.Equal(said, want) {
		t.Errorf("said %q, want %q", said, want)
	}
	said = nil
	stopA()
	if err := m.To("open", nil); err != nil { // a legal transition to itself
		t.Fatal(err)
	}
	if want := []string{"panic broken", "c open>open open <nil>"}; !slices.Equal(said, want) {
		t.Errorf("said %q, want %q", said, want)
	}
}

// SPEC 1.4: who joins later hears only what happens then, and a listener that
// changes the state itself sees everything in order.
func TestListenersInOrder(t *testing.T) {
	m := fsm.NewMachine(door())
	must.Do(t, m.To("open", nil))
	var first, second []fsm.State
	m.Listen(func(_, to fsm.State, _ fsm.Meta) {
		first = append(first, to)
		if to == "shut" {
			if err := m.To("locked", nil); err != nil {
				t.Error(err)
			}
		}
	}, nil)
	m.Listen(func(_, to fsm.State, _ fsm.Meta) { second = append(second, to) }, nil)
	must.Do(t, m.To("shut", nil))
	want := []fsm.State{"shut", "locked"}
	if !slices.Equal(first, want) || !slices.Equal(second, want) || m.State() != "locked" {
		t.Errorf("first %v, second %v, the door is %s", first, second, m.State())
	}
}

// SPEC 1.4: the history is the newest 1,000 transitions.
func TestHistory(t *testing.T) {
	m := fsm.NewMachine(door())
	for i := range 5001 {
		to := fsm.State("open")
		if i%2 == 1 {
			to = "shut"
		}
		must.Do(t, m.To(to, nil))
		if i%7 != 0 {
			continue
		}
		h := m.History()
		if len(h) != min(i+1, 1000) || h[len(h)-1].To != to {
			t.Fatalf("after %d transitions: %d pairs, the last is %v", i+1, len(h), h[len(h)-1])
		}
		for k := 1; k < len(h); k++ {
			if h[k].From != h[k-1].To {
				t.Fatalf("after %d transitions pair %d does not follow: %v %v", i+1, k, h[k-1], h[k])
			}
		}
	}
	h := m.History()
	h[0] = fsm.Transition{}
	if m.History()[0] == h[0] {
		t.Error("the history is not a copy")
	}
	m.Restart()
	if m.State() != "shut" || len(m.History()) != 0 {
		t.Errorf("restarted: %s, %v", m.State(), m.History())
	}
}

// SPEC 1.4: safe for concurrent use, and each listener hears an order that the
// table allows.
func TestConcurrently(t *testing.T) {
	m := fsm.NewMachine(door())
	var heard []fsm.Transition // one listener is never told twice at once
	m.Listen(func(from, to fsm.State, _ fsm.Meta) { heard = append(heard, fsm.Transition{From: from, To: to}) }, nil)
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range 8 {
		wg.Go(func() {
			for i := range 200 {
				if m.To([]fsm.State{"open", "shut"}[i%2], nil) == nil {
					mu.Lock()
					done++
					mu.Unlock()
				}
				_ = m.State()
				stop := m.Listen(func(_, _ fsm.State, _ fsm.Meta) {}, nil)
				stop()
			}
		})
	}
	wg.Wait()
	// Doors are opened and shut by each: at least one of each goes through.
	if done < 2 || len(heard) != done {
		t.Fatalf("%d transitions heard, %d made", len(heard), done)
	}
	if last := heard[len(heard)-1].To; m.State() != last {
		t.Errorf("it is %s, heard was %s", m.State(), last)
	}
	for i := 1; i < len(heard); i++ {
		if heard[i].From != heard[i-1].To {
			t.Fatalf("heard %v after %v", heard[i], heard[i-1])
		}
	}
}

func TestSound(t *testing.T) {
	must.Do(t, door().Validate())
	for name, spoil := range map[string]func(*fsm.Table){
		"no states":       func(d *fsm.Table) { d.States = nil },
		"a state twice":   func(d *fsm.Table) { d.States = append(d.States, "open") },
		"unknown target":  func(d *fsm.Table) { d.Legal["open"] = []fsm.State{"ajar"} },
		"unknown source":  func(d *fsm.Table) { d.Legal["ajar"] = []fsm.State{"open"} },
		"an arrow twice":  func(d *fsm.Table) { d.Legal["locked"] = []fsm.State{"shut", "shut"} },
		"never reachable": func(d *fsm.Table) { d.States = append(d.States, "new") },
	} {
		d := door()
		spoil(d)
		if d.Validate() == nil {
			t.Errorf("%s: it is not noticed", name)
		}
	}
}

// SPEC 2.5: the drawings are of the table, and the same every time.
func TestDraw(t *testing.T) {
	for format, want := range map[string]string{
		"text": `door: 4 states, 6 transitions
A door.
  * shut   → open, locked, gone
    open   → shut, open
    locked → shut
    gone   → (the end)
`,
		"mermaid": `stateDiagram-v2
    [*] --> shut
    shut --> open
    shut --> locked
    shut --> gone
    open --> shut
    open --> open
    locked --> shut
    gone --> [*]
`,
		"dot": `digraph "door" {
  node [shape=box, style=rounded];
  "shut" [penwidth=2];
  "gone" [peripheries=2];
  "shut" -> "open" [dir=both];
  "shut" -> "locked" [dir=both];
  "shut" -> "gone";
  "open" -> "open";
}
`,
	} {
		for range 20 {
			if got, err := door().Draw(format); err != nil || got != want {
				t.Fatalf("%s: %v\n%s\nwant\n%s", format, err, got, want)
			}
		}
	}
	if _, err := door().Draw("png"); err == nil || !strings.Contains(err.Error(), "mermaid") {
		t.Errorf("png: %v", err)
	}
}

// SPEC 13.1: a condition is drawn on its transition, in every format, and where
// none is given the drawing is as it was.
func TestConditions(t *testing.T) {
	plain, with := door(), door()
	with.When = map[fsm.State]map[fsm.State]string{"shut": {"open": "a knock; or: \"a key\""}}
	for format, want := range map[string]string{
		"text":    "open (a knock; or: \"a key\"), locked, gone",
		"mermaid": "    shut --> open : a knock, or – \"a key\"\n    shut --> locked\n",
		"dot":     `"shut" -> "open" [label="a knock; or: \"a key\""];`,
	} {
		before, _ := plain.Draw(format)
		after, err := with.Draw(format)
		if err != nil || !strings.Contains(after, want) || strings.Contains(before, "knock") {
			t.Errorf("%s: %v\n%s", format, err, after)
		}
	}
	if dot, _ := with.Draw("dot"); !strings.Contains(dot, `"open" -> "shut"`) {
		t.Errorf("the way back is lost:\n%s", dot)
	}
}
