package brief

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
)

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

// SPEC 21.3, 15.2: how a session went: what was spent until each reply, with the agents',
// and where it was warned and checked; all of it in text, too.
func TestCourse(t *testing.T) {
	ctx := context.Background()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	st := memory.New(func() time.Time { now = now.Add(time.Second); return now })
	one, failed := 0.5, 1
	reply := func(tokens int64) event.Body {
		return event.Replied{Reply: llm.Reply{Usage: llm.Usage{Known: true, Input: tokens}}, Cost: &one}
	}
	last := map[string]int64{}
	add := func(id string, bs ...event.Body) {
		t.Helper()
		for _, b := range bs {
			es := must.Get(st.Append(ctx, id, last[id], event.Draft{Body: b}))(t)
			last[id] = es[0].Seq
		}
	}
	add("s1", event.Opened{Dir: "/x"}, reply(100))
	add("other", event.Opened{Dir: "/x"}, reply(9000))
	add("a1", event.Opened{Dir: "/x", Parent: &event.ParentCall{Session: "s1"}}, reply(1000))
	add("s1", event.Stuck{Level: "block", Rule: "identical", Text: "You are going in circles: the same call again.\nStop it.", Evidence: []string{"call 3: \x1b[31mbash"}},
		reply(200), event.Checked{Name: "go test", Command: "go test ./...", Exit: &failed, Failures: 3}, event.Checked{Why: "there is none"})
	rows := must.Get(st.Sessions(ctx, "/x"))(t)
	rep := must.Get(Count(ctx, st, Family(rows, func(r event.Row) bool { return r.ID == "s1" })))(t)
	c := rep.Course
	if len(c.Replies) != 3 || c.Replies[2].USD != 1.5 || c.Replies[2].Tokens != 1300 || c.Replies[1].Session != "a1" || c.Replies[1].Window != 1000 {
		t.Errorf("%+v", c.Replies)
	}
	if len(c.Signals) != 1 || c.Signals[0].Reply != 2 || c.Signals[0].Text != "the same call again" {
		t.Errorf("%+v", c.Signals)
	}
	if len(c.Checks) != 1 || c.Checks[0].Reply != 3 || c.Checks[0].OK || c.Checks[0].Failures != 3 {
		t.Errorf("%+v", c.Checks)
	}
	var out bytes.Buffer
	Stats(&out, rep, nil)
	for _, want := range []string{"window: ▁█▂, at most 1000 tokens\n", "after reply 2: a loop (block, identical): the same call again\n", "after reply 3: go test: 3 failures\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("it has an escape sequence")
	}
}
