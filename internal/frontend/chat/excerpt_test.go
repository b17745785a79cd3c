package chat

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Every call that ran or searched something shows its first lines, and how many follow;
// what is shown by its title, by a diff, or did not run, shows none.
//
// SPEC 18.2
func TestShown(t *testing.T) {
	zero := 0
	ten := strings.Repeat("line\n", 9) + "end"
	for name, c := range map[string]struct {
		call    Call
		head    int
		between int64
	}{
		"a command":                {Call{Command: "x", Exit: &zero, Output: ten + "\nexit code 0"}, 3, 7},
		"four lines are not cut":   {Call{Command: "x", Output: "1\n2\n3\n4"}, 4, 0},
		"in the background":        {Call{Command: "x", Summary: "started bg1", Output: "running; a tool\nshows\nit"}, 1, 0},
		"nothing was printed":      {Call{Command: "x", Exit: &zero, Output: "exit code 0"}, 0, 0},
		"a server's tool":          {Call{Kind: tool.Exec, Output: ten}, 3, 7},
		"a server's that reads":    {Call{Kind: tool.Read, Arguments: "a: 1", Output: ten}, 3, 7},
		"a search":                 {Call{Kind: tool.Search, Output: ten}, 3, 7},
		"what a job printed":       {Call{Kind: tool.Wait, Output: ten}, 3, 7},
		"a file that was read":     {Call{Kind: tool.Read, Output: ten}, 0, 0},
		"an edit with its diff":    {Call{Kind: tool.Edit, Diff: "+x", Output: ten}, 0, 0},
		"a plan":                   {Call{Kind: tool.Note, Output: ten}, 0, 0},
		"lines left out before it": {Call{Command: "x", Output: "1\n2\n3\n[… 100 lines, 900 bytes left out; all of it is in x]\n5"}, 3, 101},
	} {
		c.call.Outcome = event.OK
		x := c.call.Shown()
		if len(x.Head) != c.head || x.Between != c.between || len(x.Tail) > 0 {
			t.Errorf("%s: %d lines, %d between, %d at the end; want %d and %d", name, len(x.Head), x.Between, len(x.Tail), c.head, c.between)
		}
		c.call.Outcome = event.Denied
		if x := c.call.Shown(); len(x.Head) > 0 {
			t.Errorf("%s: it did not run, and shows %q", name, x.Head)
		}
	}
	if x := (Call{Command: "x", Outcome: event.Cancelled, Output: "tick"}).Shown(); len(x.Head) != 1 { // what it printed until then
		t.Errorf("interrupted: %q", x.Head)
	}
}

// SPEC 18.2
func TestArgumentWords(t *testing.T) {
	for _, c := range []struct {
		asked event.CallAsked
		want  string
	}{
		{event.CallAsked{Tool: "mcp__e__sum", Title: "mcp__e__sum", Args: json.RawMessage(`{"b":3,"a":2}`)}, "a: 2, b: 3"},
		{event.CallAsked{Tool: "x", Title: "x", Args: json.RawMessage(`{"q":"two words","l":["a"],"t":"a, b"}`)}, `l: ["a"], q: two words, t: "a, b"`},
		{event.CallAsked{Tool: "x", Title: "x y", Args: json.RawMessage(`{"q":"y"}`)}, ""},
		{event.CallAsked{Tool: "todo", Title: "todo", Does: tool.Note, Args: json.RawMessage(`{"q":"y"}`)}, ""},
		{event.CallAsked{Tool: "x", Title: "x", Args: json.RawMessage(`[1]`)}, ""},
		{event.CallAsked{Tool: "x", Title: "x", Args: json.RawMessage(`{"a":"\u001b[2J\nb"}`)}, "a:  b"},
	} {
		if got := argumentWords(c.asked); got != c.want {
			t.Errorf("%s: %q, want %q", c.asked.Args, got, c.want)
		}
	}
	long := argumentWords(event.CallAsked{Tool: "x", Title: "x", Args: json.RawMessage(`{"a":"` + strings.Repeat("y", 9999) + `"}`)})
	if len(long) > 100 {
		t.Errorf("%d bytes", len(long))
	}
}
