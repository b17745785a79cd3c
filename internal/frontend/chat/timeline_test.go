package chat

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// life makes the events of a session as they come live: stored ones with a
// sequence number, ephemeral ones between them.
type life struct {
	t      *rapid.T
	events []event.Event
	seq    int64
	now    time.Time
	calls  int
}

func (l *life) put(b event.Body) {
	l.seq++
	l.emit(l.seq, event.Completed(b))
}

func (l *life) emit(seq int64, b event.Body) {
	l.now = l.now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(l.t, "ms")) * time.Millisecond)
	l.events = append(l.events, event.Event{Session: "s", Seq: seq, Time: l.now, Body: b})
}

func (l *life) text(label string) string {
	return rapid.StringOf(rapid.RuneFrom([]rune("ab é漢\n\t\x1b[m\u202e"))).Draw(l.t, label)
}

// pieces streams a text, maybe not all of it.
func (l *life) pieces(text string, body func(string) event.Body) {
	upTo := rapid.IntRange(0, len(text)).Draw(l.t, "streamed")
	for at := 0; at < upTo; {
		n := rapid.IntRange(1, upTo-at).Draw(l.t, "piece")
		l.emit(0, body(text[at:at+n]))
		if rapid.IntRange(0, 9).Draw(l.t, "between") == 0 {
			l.aside() // a person does something while it streams
		}
		at += n
	}
}

func (l *life) aside() {
	switch rapid.IntRange(0, 4).Draw(l.t, "aside") {
	case 0:
		l.put(event.ModeSet{Mode: "auto"})
	case 1:
		l.put(event.Phased{Number: 1, Text: "x" + l.text("phase"), By: "person"})
	case 2:
		l.put(event.Phased{By: "person"})
	case 3:
		l.put(event.Warned{What: "budget.usd", Text: l.text("warning")})
	case 4:
		l.emit(0, event.Progressed{Calls: 3})
	}
}

func (l *life) request() (whole bool) {
	l.put(event.Requested{Attempt: 1})
	thought, text := l.text("thought"), l.text("reply")
	shown := len(l.events)
	l.pieces(thought, func(s string) event.Body { return event.ReasoningDelta{Text: s} })
	l.pieces(text, func(s string) event.Body { return event.TextDelta{Text: s} })
	switch rapid.IntRange(0, 5).Draw(l.t, "end of request") {
	case 0:
		fault := event.Fault{Message: rapid.SampledFrom([]string{"busy", l.text("fault")}).Draw(l.t, "which fault")}
		l.put(event.Retried{Attempt: 1, Error: fault, Wait: time.Second, Shown: len(l.events) > shown})
		l.emit(0, event.Waiting{Attempt: 1, Left: time.Second})
		return l.request()
	case 1:
		return false
	}
	r := event.Replied{}
	if rapid.Bool().Draw(l.t, "with thoughts") {
		r.Reply.Message.Parts = append(r.Reply.Message.Parts, llm.Part{Kind: llm.Reasoning, Text: thought})
	}
	r.Reply.Message.Parts = append(r.Reply.Message.Parts, llm.TextPart(text))
	if rapid.IntRange(0, 9).Draw(l.t, "refused") == 0 {
		r.Reply.Stop, r.Reply.Refusal = llm.StopRefusal, "no"
	}
	l.put(r)
	return true
}

func (l *life) step() {
	var ids []string
	for range rapid.IntRange(0, 3).Draw(l.t, "calls") {
		l.calls++
		ids = append(ids, fmt.Sprint("c", l.calls%2, len(ids)))
		l.put(event.CallAsked{ID: ids[len(ids)-1], Tool: rapid.SampledFrom([]string{"bash", "edit", "todo", "ask_user", "mcp__x__y"}).Draw(l.t, "tool"), Args: json.RawMessage(`{"command":"go test ./..."}`)})
	}
	for _, id := range ids {
		if rapid.Bool().Draw(l.t, "starts") {
			l.put(event.CallStarted{ID: id})
			out := l.text("output")
			l.pieces(out, func(s string) event.Body { return event.OutputDelta{Call: id, Text: s} })
		}
		if rapid.IntRange(0, 3).Draw(l.t, "asks") == 0 {
			l.put(event.Asked{ID: "q" + id, Text: "which?", Options: []string{"a", "b"}})
			l.put(event.Answered{ID: "q" + id, Text: "a"})
		}
		if rapid.IntRange(0, 3).Draw(l.t, "plans") == 0 {
			l.put(event.Planned{Items: []tool.Item{{Text: "p" + l.text("item"), Status: "in_progress"}}})
		}
	}
	for _, id := range ids {
		l.put(event.CallDone{ID: id, Tool: "bash", Outcome: rapid.SampledFrom([]event.Outcome{event.OK, event.Failed, event.Denied}).Draw(l.t, "outcome"), Command: "go test ./...", Result: llm.Result{Text: "ok  x 0.1s\n" + l.text("result")}})
	}
}

func (l *life) turn() {
	l.put(event.Prompted{Source: event.Person, Text: l.text("prompt")})
	for range rapid.IntRange(1, 3).Draw(l.t, "steps") {
		if !l.request() {
			l.put(event.Interrupted{By: "person"})
			l.put(event.Ended{End: event.EndInterrupted, Error: &event.Fault{Message: "interrupted"}})
			return
		}
		l.step()
	}
	if rapid.Bool().Draw(l.t, "checks") {
		l.put(event.FileChanged{Call: "c", Tool: "edit", Path: "a.go", After: "x"})
		l.put(event.Checking{Name: "go test", Command: "go test ./..."})
		l.emit(0, event.OutputDelta{Call: "check", Text: "ok"})
		l.put(event.Checked{Name: "go test", Command: "go test ./...", Exit: new(int)})
	}
	l.put(event.Ended{End: event.EndDone})
}

func (l *life) session() []event.Event {
	l.now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l.put(event.Opened{Dir: "/w", Mode: "ask"})
	for range rapid.IntRange(1, 3).Draw(l.t, "turns") {
		l.turn()
		if rapid.Bool().Draw(l.t, "a command between turns") {
			out := l.text("command")
			l.pieces(out, func(s string) event.Body { return event.OutputDelta{Text: s} })
			l.put(event.PersonRan{Command: "ls", Output: out, Exit: new(int)})
		}
	}
	return l.events
}

func fold(t *Timeline, es []event.Event) (out []Change) {
	for _, e := range es {
		out = append(out, t.Apply(e)...)
	}
	return out
}

// kept are the finished blocks that the log keeps.
func kept(cs []Change) (out []Block) {
	for _, c := range cs {
		if c.What == Finished && !c.Block.Ephemeral {
			out = append(out, c.Block)
		}
	}
	return out
}

// SPEC 18.1: a log that is read again yields the blocks that the session yielded
// while it ran, in the same order and with the same ids.
func TestLiveAndReadAgainAreTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		live := (&life{t: t}).session()
		var stored []event.Event
		for _, e := range live {
			if e.Seq != 0 {
				stored = append(stored, e)
			}
		}
		var a, b Timeline
		if d := cmp.Diff(kept(fold(&b, stored)), kept(fold(&a, live)), cmpopts.IgnoreUnexported(budget.Spent{})); d != "" {
			t.Fatalf("live differs from the log (-log +live):\n%s", d)
		}
	})
}

// SPEC 18.4, 5.4: a block that is finished never changes, an id is used once,
// all that is shown of a text is the text, once, and nothing in it is obeyed by
// a terminal.
func TestBlocksAreAppendOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var line Timeline
		state, shown := map[string]What{}, map[string]string{}
		for _, c := range fold(&line, (&life{t: t}).session()) {
			was, known := state[c.Block.ID]
			switch {
			case was == Finished:
				t.Fatalf("%s was finished and is %s", c.Block.ID, c.What)
			case c.What == Added && known, c.What == Changed && !known:
				t.Fatalf("%s is %s after %q", c.Block.ID, c.What, was)
			case c.Block.Open == (c.What == Finished):
				t.Fatalf("%s is %s and open %v", c.Block.ID, c.What, c.Block.Open)
			}
			state[c.Block.ID] = c.What
			shown[c.Block.ID] += c.More
			if text := fmt.Sprintf("%+v%s", c.Block.Body, c.More); strings.ContainsAny(text, "\x1b\u202e") {
				t.Fatalf("%s obeys: %q", c.Block.ID, text)
			}
			if r, ok := c.Block.Body.(Reply); ok && c.What == Finished && !c.Block.Ephemeral && c.Block.ID[0] == 'r' {
				want := strings.TrimLeft(r.Text, "\n")
				if got := shown[c.Block.ID]; !c.Missed && strings.Trim(got, "\n") != strings.Trim(want, "\n") {
					t.Fatalf("%q was shown of %q", got, want)
				}
			}
		}
		for _, b := range line.Open() {
			if state[b.ID] == Finished {
				t.Fatalf("%s is open and finished", b.ID)
			}
		}
	})
}

// SPEC 18.1: whatever a log holds, it is folded: its middle alone, ends without
// a beginning, beginnings without an end.
func TestAnyLogIsFolded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var some []event.Event
		for _, e := range (&life{t: t}).session() {
			if rapid.IntRange(0, 3).Draw(t, "left out") > 0 {
				some = append(some, e)
			}
		}
		var line Timeline
		ids := map[string]bool{}
		for _, c := range fold(&line, some) {
			if c.What == Finished && !c.Block.Ephemeral {
				if ids[c.Block.ID] {
					t.Fatalf("%s is finished twice", c.Block.ID)
				}
				ids[c.Block.ID] = true
			}
		}
	})
}

// A call's kind tells that it asked, whatever its tool is called; a question of
// pawl's own is nobody's call.
func TestACallThatAsks(t *testing.T) {
	for why, want := range map[event.AskedWhy]bool{"": true, "budget": false} {
		var line Timeline
		es := []event.Event{
			{Seq: 1, Body: event.CallAsked{ID: "a", Tool: "mcp__x__survey", Does: tool.Note, Title: "survey"}},
			{Seq: 2, Body: event.CallStarted{ID: "a"}},
			{Seq: 3, Body: event.Asked{ID: "q", Why: why, Text: "blue?"}},
			{Seq: 4, Body: event.Answered{ID: "q", Text: "yes"}},
			{Seq: 5, Body: event.CallDone{ID: "a", Outcome: event.OK}},
		}
		blocks := kept(fold(&line, es))
		if len(blocks) != 2 || blocks[1].Body.(Call).AsksPerson != want || blocks[0].Body.(Question).Answer != "yes" {
			t.Errorf("%q: %+v", why, blocks)
		}
	}
}

// SPEC 18.2: a call's timer does not count how long a person thought about it.
func TestACallBeginsWhenItStarts(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	var line Timeline
	blocks := kept(fold(&line, []event.Event{
		{Seq: 1, Time: start, Body: event.CallAsked{ID: "a", Tool: "bash", Title: "bash x"}},
		{Seq: 2, Time: start.Add(time.Minute), Body: event.CallStarted{ID: "a"}},
		{Seq: 3, Time: start.Add(61 * time.Second), Body: event.CallDone{ID: "a", Outcome: event.OK}},
	}))
	if took := blocks[0].Ended.Sub(blocks[0].Began); took != time.Second {
		t.Errorf("it took %s", took)
	}
}

// The blocks that are open can be drawn at any moment.
func TestOpenBlocks(t *testing.T) {
	var line Timeline
	fold(&line, []event.Event{
		{Seq: 1, Body: event.Requested{Attempt: 1}},
		{Body: event.ReasoningDelta{Text: "hm"}},
		{Body: event.TextDelta{Text: "I"}},
	})
	var ids []string
	for _, b := range line.Open() {
		ids = append(ids, b.ID)
	}
	if got := strings.Join(ids, " "); got != "thinking-1 reply-1" {
		t.Error(got)
	}
	fold(&line, []event.Event{{Seq: 2, Body: event.Retried{Attempt: 1}}})
	if open := line.Open(); len(open) != 1 || open[0].ID != "retry-2" {
		t.Errorf("%+v", open)
	}
	fold(&line, []event.Event{{Seq: 3, Body: event.Requested{Attempt: 2}}, {Seq: 4, Body: event.Replied{}}})
	if open := line.Open(); len(open) != 0 {
		t.Errorf("%+v", open)
	}
}

// A text that one reader missed a part of is known to be another than was
// shown.
func TestMissed(t *testing.T) {
	for _, c := range []struct {
		streamed, whole, more string
		missed                bool
	}{
		{"Hel", "Hello", "lo", false},
		{"\n\n Hello ", "Hello", "", false},
		{"Hel world", "Hello world", "", true},
		{"", "Hello", "Hello", false},
	} {
		var line Timeline
		var es []event.Event
		if c.streamed != "" {
			es = append(es, event.Event{Body: event.TextDelta{Text: c.streamed}})
		}
		reply := event.Replied{Reply: llm.Reply{Message: llm.Message{Parts: []llm.Part{llm.TextPart(c.whole)}}}}
		cs := fold(&line, append(es, event.Event{Seq: 1, Body: reply}))
		if last := cs[len(cs)-1]; last.More != c.more || last.Missed != c.missed || last.Block.Body.(Reply).Text != c.whole {
			t.Errorf("%q of %q: %+v", c.streamed, c.whole, last)
		}
	}
}

// SPEC 18.2: a session that goes on says that what ran in the background has ended, once.
func TestBackgroundEndsWithItsProcess(t *testing.T) {
	line := Timeline{}
	done := event.CallDone{ID: "a", Tool: "bash", Outcome: event.OK, Command: "serve", Note: "started bg1"}
	told := 0
	for _, c := range fold(&line, []event.Event{
		{Seq: 1, Body: event.Resumed{}}, {Seq: 2, Body: event.CallAsked{ID: "a", Tool: "bash"}}, {Seq: 3, Body: done}, {Seq: 4, Body: event.Resumed{}}, {Seq: 5, Body: event.Resumed{}},
	}) {
		if n, ok := c.Block.Body.(Note); ok && strings.Contains(n.Text, "in the background has ended") {
			told += int(c.Block.ID[len(c.Block.ID)-1] - '0')
		}
	}
	if told != 4 {
		t.Errorf("told at %d", told)
	}
}
