package chat

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
)

// SPEC 17.4: a command brings its list of tools into the turn; one whose list
// cannot be read is refused; what waited is given back as it was typed, since its
// text alone would leave the turn all tools.
func TestCommandsTools(t *testing.T) {
	ran := 0
	act := tool.New("act", "Act.", func(tool.Env, struct{}) (tool.Footprint, error) { return tool.Footprint{}, nil },
		func(context.Context, tool.Env, struct{}) (tool.Result, error) { ran++; return tool.Text("acted"), nil })
	var d *desk
	m := llmtest.New(llmtest.Use("act", "{}"), llmtest.Say("done"), llmtest.Turn{Before: func(*llm.Request) {
		d.Enter("/commit now")
		for q := d.Queue(); len(q) < 1 || !d.firstSent(); q = d.Queue() {
			runtime.Gosched()
		}
		if text, ok := d.TakeBack(d.Queue()[0].ID); text != "/commit now" || !ok {
			t.Errorf("%q %v", text, ok)
		}
	}, Text: "done"}, llmtest.Use("act", "{}"), llmtest.Say("done"))
	d = newDesk(t, m, act)
	d.until(d.Idle)
	d.open.Custom = []slash.Custom{
		{Name: "commit", Prompt: func(a string) string { return "Commit " + a }, Narrowed: &event.Narrowed{By: "the command /commit", Rules: []string{"Bash(git add:*)"}}},
		{Name: "bad", Prompt: func(string) string { return "x" }, Bad: errors.New("/w/bad.md:2: allowed-tools cannot be read")},
	}
	enter := func(text string) {
		d.Enter(text)
		d.until(func() bool { return d.Idle() && len(d.Queue()) == 0 })
	}
	enter("/bad")
	if !strings.Contains(d.bodies(), "/w/bad.md:2: allowed-tools cannot be read") || len(m.Requests()) > 0 {
		t.Error(d.bodies())
	}
	enter("/commit it")
	if ran != 0 || !strings.Contains(d.bodies(), "the command /commit limits this turn to: Bash(git add:*)") {
		t.Errorf("%d: %s", ran, d.bodies())
	}
	enter("hello")
	enter("act")
	if ran != 1 {
		t.Errorf("%d: %s", ran, d.bodies())
	}
	if texts := finished[Prompt](d); !slices.ContainsFunc(texts, func(p Prompt) bool { return p.Text == "Commit it" }) {
		t.Errorf("%+v", texts)
	}
}

// SPEC 17.4: a command that was typed, or given on the command line, before the session
// was open is the same command; its arguments may have several lines, and images go
// along.
func TestCommandsBeforeTheSession(t *testing.T) {
	custom := []slash.Custom{
		{Name: "co", Prompt: func(a string) string { return "Commit " + a }, Narrowed: &event.Narrowed{By: "the command /co", Rules: []string{"Read"}}},
		{Name: "bad", Prompt: func(string) string { return "x" }, Bad: errors.New("bad.md:2: cannot be read")},
	}
	for _, c := range []struct {
		name, text string
		given      bool
		sent, says string
	}{
		{"typed", "/co one\ntwo", false, "Commit one\ntwo", "limits this turn to: Read"},
		{"given", "/co one", true, "Commit one", "limits this turn to: Read"},
		{"typed, of pawl", "/stat", false, "", "could be /status or /states or /stats"},
		{"typed, of pawl in short", "/hel", false, "", "/review"},
		{"given, of pawl", "/help", true, "/help", ""},
		{"typed, of nobody", "/nothing", false, "", "unknown command /nothing"},
		{"typed, a text", "/nothing is\nin it", false, "/nothing is\nin it", ""},
		{"given, a text", "!ls is what I typed", true, "!ls is what I typed", ""},
		{"typed, bad", "/bad", false, "", "bad.md:2: cannot be read"},
		{"given, bad", "/bad", true, "", "bad.md:2: cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := llmtest.New(llmtest.Say("done"))
			d := newDesk(t, m)
			d.until(func() bool { return d.Session() != nil }) // two that open at once would share the desk
			open, wait := d.cfg.Open, make(chan struct{})
			d.Close()
			d.cfg.Open = func(ctx context.Context, w slash.Want, p Person) (*Opened, error) {
				<-wait
				o, err := open(ctx, w, p)
				if err == nil {
					o.Custom = custom
				}
				return o, err
			}
			d.Conversation = Begin(t.Context(), d.cfg, slash.Want{})
			if c.given {
				d.Prompt(c.text)
			} else {
				d.Enter(c.text)
			}
			close(wait)
			d.until(func() bool { return d.Session() != nil && d.Idle() && len(d.Queue()) == 0 })
			sent := ""
			for _, p := range finished[Prompt](d) {
				sent = p.Text
			}
			if all := d.bodies() + d.outputs(); sent != c.sent || !strings.Contains(all, c.says) {
				t.Errorf("%q %s", sent, all)
			}
		})
	}
}

// SPEC 17.4: a command with a model of its own that is entered while a turn runs waits for
// its end; then its turn has that model.
func TestCommandsModel(t *testing.T) {
	var d *desk
	m := llmtest.New(llmtest.Turn{Before: func(*llm.Request) {
		d.Enter("/quick it")
		for len(d.Queue()) < 1 {
			runtime.Gosched()
		}
	}, Text: "done"}, llmtest.Say("done"))
	d = newDesk(t, m)
	d.until(d.Idle)
	d.other = llmtest.New(llmtest.Say("quickly done"))
	d.other.InfoValue.Model = "quick"
	d.open.Custom = []slash.Custom{{Name: "quick", Prompt: func(a string) string { return "Do " + a }, Model: "quick"}}
	for range 2 {
		d.Enter("hello")
		d.until(func() bool { return d.Idle() && len(d.Queue()) == 0 })
	}
	if len(m.Requests()) != 2 || len(d.other.Requests()) != 1 || !strings.Contains(d.bodies(), "the command's turn runs with scripted/quick") {
		t.Errorf("%d and %d requests: %s", len(m.Requests()), len(d.other.Requests()), d.bodies())
	}
}
