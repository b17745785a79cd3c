package window

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// recount counts the conversation from nothing.
func recount(c *Conversation) int {
	n := countHead(c.count(), c.head)
	for _, m := range c.Messages() {
		n += countMessage(c.count(), m)
	}
	return n
}

// feed applies bodies a second apart.
func feed(c *Conversation, at *time.Time, bs ...event.Body) {
	for _, b := range bs {
		*at = at.Add(time.Second)
		c.Apply(event.Event{Time: *at, Body: b})
	}
}

func small(window int) event.Rebased {
	return event.Rebased{Info: llm.Info{Provider: "p", Model: "m", Window: window, MaxOutput: 4096}, Head: llm.Head{Model: "m", System: "be good"}}
}

func asks(id, name, args string) event.Replied {
	return event.Replied{Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{
		{Kind: llm.CallPart, Call: &llm.Call{ID: id, Name: name, Args: json.RawMessage(args)}},
	}}}}
}

func gives(id, name, text string) event.CallDone {
	return event.Completed(event.CallDone{ID: id, Tool: name, Outcome: event.OK, Result: llm.Result{ID: id, Name: name, Text: text}}).(event.CallDone)
}

func fails(id, command, text string) event.CallDone {
	return event.CallDone{ID: id, Tool: "bash", Outcome: event.Failed, Command: command, Exit: new(1), Result: llm.Result{ID: id, Name: "bash", Text: text, Error: true}}
}

func all(ms []llm.Message) string {
	b, err := json.Marshal(ms)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// long draws text of a random kind and length.
func long(t *rapid.T) string {
	unit := rapid.SampledFrom([]string{"some words of prose ", "if err != nil {\n\treturn err\n}\n", "0123456789", "漢字仮名", "\xff\xfe", "🙂", "", "aB3x"}).Draw(t, "unit")
	return strings.Repeat(unit, rapid.IntRange(0, 300).Draw(t, "times"))
}

// SPEC 9.1, 9.4, 9.6, 10.4: after any sequence of events with compactions, the
// incremental count is a recount, every call has its result, the prefix only
// moves at a rebase, and a session that is folded again asks the same.
func TestAnySequence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var live Conversation
		var log []event.Event
		at := time.Unix(0, 0)
		apply := func(b event.Body) {
			at = at.Add(time.Second)
			e := event.Event{Time: at, Body: b}
			log = append(log, e)
			live.Apply(e)
		}
		first := small(rapid.SampledFrom([]int{0, 2000, 16384, 200000}).Draw(t, "window"))
		if rapid.Bool().Draw(t, "cleans") {
			first.Head.Tools = []llm.ToolSpec{{Name: CleanTool}}
		}
		apply(first)
		b := NewBuilder(&live, plainCodec{})
		var before []byte
		id := 0
		compact := func() {
			if e, ok := live.Dedup(); ok {
				apply(e)
				if got := int64(live.Tokens()); got != e.After {
					t.Fatalf("dedup said %d tokens would be left, %d are", e.After, got)
				}
				before = nil
			}
			if rapid.IntRange(0, 3).Draw(t, "compact") > 0 {
				return
			}
			why := rapid.SampledFrom([]event.CompactedWhy{event.CompactedFull, event.CompactedLength, event.CompactedPerson}).Draw(t, "why")
			p := live.Plan(why, "")
			e := p.Compacted(rapid.SampledFrom([]string{"", "the notes", strings.Repeat("long notes ", 3000)}).Draw(t, "summary"), nil)
			apply(e)
			if got := int64(live.Tokens()); got != e.After {
				t.Fatalf("it said %d tokens would be left, %d are", e.After, got)
			}
			before = nil
		}
		request := func() {
			// Another counter takes over in the middle, and back.
			w := live.Recount(Counter(Estimate{}))
			if rapid.Bool().Draw(t, "counter") {
				w = live.Recount(exact{})
			}
			compact()
			w.Run()
			live.ApplyRecount(w)
			if n, due := live.Status(); due {
				apply(n)
			}
			if got, want := live.headN+live.bodyN, recount(&live); got != want {
				t.Fatalf("counted %d, recounted %d", got, want)
			}
			r := must.Get(b.Request(llm.Tail{}))(t)
			whole, prefix := body(t, r)
			if !bytes.HasPrefix(prefix, before) {
				t.Fatalf("the prefix moved:\n%s\n%s", before, prefix)
			}
			before = prefix
			paired(t, r.Messages)
			orphans(t, r.Messages)
			var again Conversation
			for _, e := range log {
				again.Apply(e)
			}
			r2 := must.Get(NewBuilder(&again, plainCodec{}).Request(llm.Tail{}))(t)
			if resumed, _ := body(t, r2); !bytes.Equal(resumed, whole) {
				t.Fatal("a resumed session asks otherwise")
			}
			apply(event.Requested{Attempt: 1})
		}
		for range rapid.IntRange(1, 5).Draw(t, "turns") {
			apply(event.Prompted{Source: event.Person, Text: long(t)})
			for range rapid.IntRange(1, 4).Draw(t, "steps") {
				request()
				m := llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.TextPart(long(t))}}
				var ids []string
				for range rapid.IntRange(0, 3).Draw(t, "calls") {
					id++
					c := llm.Call{ID: fmt.Sprint(id % 7), Name: "read", Args: json.RawMessage(`{"files":[{"path":"a"}]}`)} // ids repeat
					ids = append(ids, c.ID)
					m.Parts = append(m.Parts, llm.Part{Kind: llm.CallPart, Call: &c})
				}
				u := llm.Usage{Known: rapid.Bool().Draw(t, "known"), Input: int64(rapid.IntRange(0, 9000).Draw(t, "input"))}
				apply(event.Replied{Reply: llm.Reply{Message: m, Usage: u}})
				for _, id := range ids {
					d := gives(id, "read", long(t))
					if rapid.Bool().Draw(t, "failed") {
						d = fails(id, "go test", long(t))
					}
					apply(d)
				}
				switch rapid.IntRange(0, 4).Draw(t, "note") {
				case 0:
					apply(event.Noted{Text: "a note"})
				case 1:
					n := rapid.IntRange(0, 9).Draw(t, "handle")
					apply(event.Cleaned{Results: []string{Handle(n), Handle(n + 1)}, Summary: long(t)})
				}
			}
		}
		request()
	})
}

// orphans checks that no result is without its call.
func orphans(t *rapid.T, ms []llm.Message) {
	for i, m := range ms {
		for k, p := range m.Parts {
			if p.Kind != llm.Output {
				continue
			}
			if i == 0 || k >= len(ms[i-1].Calls()) || ms[i-1].Calls()[k].ID != p.Result.ID {
				t.Fatalf("result %d of message %d has no call", k, i)
			}
		}
	}
}

// work is one step: a call with a result of about that many bytes.
func work(c *Conversation, at *time.Time, i, size int) {
	id := fmt.Sprint("c", i)
	feed(c, at, event.Requested{Attempt: 1}, asks(id, "read", fmt.Sprintf(`{"path":"f%d.go"}`, i)),
		gives(id, "read", strings.Repeat(fmt.Sprintf("line %d of the file\n", i), size/20)))
}

// fill works until a compaction is due.
func fill(t *testing.T, c *Conversation, at *time.Time, from int) int {
	t.Helper()
	for i := from; i < from+5000; i++ {
		if c.Due() != "" {
			return i
		}
		work(c, at, i, 2000)
	}
	t.Fatal("the window never gets full")
	return 0
}

// SPEC 9.5, 9.6: what failed, what was asked and decided, the files, and what
// the model noted of results that it let go of are there after three
// compactions, with a model's summary or without one.
func TestLedgerSurvives(t *testing.T) {
	for _, summary := range []string{"", "Done: some."} {
		for _, window := range []int{16384, 200000} {
			c, at := Conversation{}, time.Unix(0, 0)
			feed(&c, &at, small(window),
				event.Prompted{Source: event.Person, Text: "make the parser accept <tabs>"},
				event.Asked{ID: "q", Text: "Which port?"}, event.Answered{ID: "q", Text: "8642"},
				event.FileChanged{Call: "x", Tool: "edit", Path: "lex.go", After: tool.Hash(strings.Repeat("ab", 32))},
				event.Requested{Attempt: 1}, asks("x", "bash", `{"command":"go test ./lex"}`),
				fails("x", "go test ./lex", "--- FAIL: TestTabs\nwant 4 got 8\nFAIL"),
				event.Cleaned{Summary: "the table has 9 states"},
				event.Planned{Items: []tool.Item{{Text: "teach the lexer", Status: "in_progress"}}})
			i := 0
			for n := range 3 {
				i = fill(t, &c, &at, i+1)
				e := c.Plan(c.Due(), "").Compacted(summary, nil)
				if !strings.HasPrefix(summary, "Done") != (e.By == event.ByLedger) {
					t.Errorf("compaction %d is by %s", n, e.By)
				}
				feed(&c, &at, e)
				if p := c.Percent(); p > 75 {
					t.Errorf("window %d: %.0f %% are left after compaction %d", window, p, n)
				}
				at = at.Add(180 * time.Second)
			}
			text := all(c.Messages())
			for _, want := range []string{"accept \\u003ctabs\\u003e", "go test ./lex", "want 4 got 8", "after changes to lex.go", "8642", "lex.go (+0 -0)", "- `go test ./lex`: exit code 1", "9 states", "teach the lexer", summary} {
				if !strings.Contains(text, want) {
					t.Errorf("window %d: %q is forgotten", window, want)
				}
			}
		}
	}
}

// SPEC 9.6: 180 s apart unless critical, and not with nothing said since; a
// window that is filled three times with nothing new is a spiral (6.7).
func TestCooldownAndSpiral(t *testing.T) {
	c, at := Conversation{}, time.Unix(0, 0)
	feed(&c, &at, small(16384), event.Prompted{Source: event.Person, Text: "go"})
	same := func() { // the same results again and again
		for n := 0; c.Percent() < 91; n++ {
			feed(&c, &at, event.Requested{Attempt: 1}, asks("s", "read", `{}`), gives("s", "read", strings.Repeat("the same line\n", 60)))
		}
	}
	same()
	for n := range maxIdle {
		if c.Spiral() {
			t.Fatalf("a spiral after %d compactions", n)
		}
		if c.Due() != event.CompactedFull {
			t.Fatalf("%.0f %%: nothing due", c.Percent())
		}
		feed(&c, &at, c.Plan(event.CompactedFull, "").Compacted("notes", nil))
		if c.Due() != "" {
			t.Fatal("due again at once")
		}
		same()
		if n == 0 && c.Percent() < 95 && c.Due() != "" {
			t.Error("due again within 180 s")
		}
		at = at.Add(180 * time.Second)
		feed(&c, &at, event.Ticked{})
	}
	if c.Due() == "" || !c.Spiral() {
		t.Errorf("due %q, spiral %v", c.Due(), c.Spiral())
	}
	feed(&c, &at, event.Prompted{Source: event.Person, Text: "try otherwise"})
	if c.Spiral() {
		t.Error("a person's prompt does not end the spiral")
	}
}

// SPEC 9.6: where a summary would free less than a quarter, the oldest results
// go instead, and the newest step stays whole.
func TestPointers(t *testing.T) {
	c, at := Conversation{}, time.Unix(0, 0)
	feed(&c, &at, small(16384), event.Prompted{Source: event.Person, Text: "go"}, event.Requested{Attempt: 1})
	m := llm.Message{Role: llm.Assistant}
	for i := range 6 {
		m.Parts = append(m.Parts, llm.Part{Kind: llm.CallPart, Call: &llm.Call{ID: fmt.Sprint(i), Name: "read", Args: json.RawMessage(`{}`)}})
	}
	feed(&c, &at, event.Replied{Reply: llm.Reply{Message: m}})
	for i := range 6 {
		feed(&c, &at, gives(fmt.Sprint(i), "read", strings.Repeat(fmt.Sprintf("text of %d\n", i), 900)))
	}
	was := c.Percent()
	e := c.Plan(event.CompactedFull, "").Compacted("", nil)
	feed(&c, &at, e)
	if e.By != event.ByPointers || len(e.Pointers) == 0 || e.Older != 0 || c.Percent() > 90 || was < 95 {
		t.Errorf("%.0f %% → %.0f %%: %+v", was, c.Percent(), e)
	}
	if c.Blocked() {
		t.Error("calls are blocked though there is room again")
	}
}

// SPEC 4.2: calls are blocked only where compaction could not help.
func TestBlocked(t *testing.T) {
	c, at := Conversation{}, time.Unix(0, 0)
	r := small(8192)
	r.Head.System = strings.Repeat("a system prompt that is far too long ", 1100)
	feed(&c, &at, r, event.Prompted{Source: event.Person, Text: "go"})
	if c.Blocked() {
		t.Error("blocked before a compaction was tried")
	}
	feed(&c, &at, c.Plan(c.Due(), "").Compacted("", nil))
	if !c.Blocked() || !strings.Contains(c.BlockedText(), "STOP TOOL USE") {
		t.Errorf("%.0f %% and not blocked", c.Percent())
	}
}

// SPEC 4.6: what compaction removed is no longer seen; what it left is, unless
// the file changed since.
func TestStillSeen(t *testing.T) {
	c, at := Conversation{}, time.Unix(0, 0)
	feed(&c, &at, small(16384), event.Prompted{Source: event.Person, Text: "go"})
	i := fill(t, &c, &at, 0)
	seen := func(id string, path string, h tool.Hash) {
		feed(&c, &at, event.Requested{Attempt: 1}, asks(id, "read", `{}`),
			event.FileSeen{Call: id, Spans: []tool.Span{{Path: path, From: 1, To: 9, Hash: h}}}, gives(id, "read", "text"))
	}
	var old Conversation
	seenOld := event.FileSeen{Call: "c0", Spans: []tool.Span{{Path: "old.go", Hash: "1"}}}
	feed(&old, &at, small(16384), event.Prompted{Source: event.Person, Text: "go"}, event.Requested{Attempt: 1}, asks("c0", "read", `{}`), seenOld, gives("c0", "read", "text"))
	fill(t, &old, &at, 1)
	feed(&old, &at, old.Plan(event.CompactedFull, "").Compacted("notes", nil))
	if got := old.StillSeen(); len(got) != 0 {
		t.Errorf("what is gone counts as seen: %+v", got)
	}
	seen(fmt.Sprint("c", i+1), "kept.go", "1")
	seen(fmt.Sprint("c", i+2), "changed.go", "1")
	feed(&c, &at, event.FileChanged{Tool: "bash", Path: "changed.go", After: "2"})
	feed(&c, &at, c.Plan(event.CompactedFull, "").Compacted("notes", nil))
	if got := c.StillSeen(); len(got) != 1 || got[0].Path != "kept.go" {
		t.Errorf("%+v", got)
	}
}

// The summary's request fits any window, has no tools, and tells the notes so
// far; its record is data of the older part alone.
func TestAsk(t *testing.T) {
	for _, window := range []int{4096, 16384, 1_000_000} {
		c, at := Conversation{}, time.Unix(0, 0)
		feed(&c, &at, small(window), event.Prompted{Source: event.Person, Text: "go " + strings.Repeat("very ", 5000)})
		i := fill(t, &c, &at, 0)
		feed(&c, &at, c.Plan(event.CompactedFull, "").Compacted("the port is 8642", nil))
		at = at.Add(180 * time.Second)
		fill(t, &c, &at, i)
		p := c.Plan(event.CompactedFull, "the port")
		if !p.Summarise {
			continue // a window of 4,096 with such a prompt
		}
		if int(p.Input)+p.Ask.Tail.MaxTokens > c.Limit() || len(p.Ask.Head.Tools) > 0 || p.Ask.Tail.MaxTokens < 256 {
			t.Errorf("window %d: %d tokens in, %d out", window, p.Input, p.Ask.Tail.MaxTokens)
		}
		text := p.Ask.Messages[0].Text()
		if !strings.Contains(text, "above all: the port") || c.compact.summary != "" && !strings.Contains(text, "<notes>\nthe port is 8642") || window > 5000 && c.compact.summary == "" {
			t.Errorf("window %d: %.400s", window, text)
		}
	}
}

// SPEC 3.3: a provider that refuses a request teaches how large its window is.
func TestLearnsTheWindow(t *testing.T) {
	c, at := Conversation{}, time.Unix(0, 0)
	feed(&c, &at, small(0), event.Prompted{Source: event.Person, Text: "go"})
	for i := range 40 {
		work(&c, &at, i, 2000)
	}
	if c.Percent() != 0 || c.Due() != "" {
		t.Fatalf("%.0f %% of an unknown window", c.Percent())
	}
	e := c.Plan(event.CompactedLength, "").Compacted("notes", nil)
	feed(&c, &at, e)
	if e.After*10 > e.Before*8 || c.Limit() != int(e.Before) || c.Percent() == 0 {
		t.Errorf("%d → %d tokens, limit %d", e.Before, e.After, c.Limit())
	}
}

// SPEC 9.5: over 80 %, where a quarter is freed, older reads of what was read
// again become pointers; the newest stays, and so does what is not covered.
func TestDedup(t *testing.T) {
	c, at := Conversation{}, time.Unix(0, 0)
	feed(&c, &at, small(16384), event.Prompted{Source: event.Person, Text: "go"})
	read := func(i int, args string) {
		id := fmt.Sprint("r", i)
		feed(&c, &at, event.Requested{Attempt: 1}, asks(id, "read", args), gives(id, "read", strings.Repeat(fmt.Sprintf("reading %d\n", i), 250)))
	}
	read(0, `{"files":[{"path":"b.go","from":1,"to":90}]}`) // nothing reads these lines again
	read(1, `{"files":[{"path":"a.go","from":10,"to":20}]}`)
	i := 2
	for ; c.Percent() <= 79; i++ {
		if _, ok := c.Dedup(); ok {
			t.Fatalf("at %.0f %%", c.Percent())
		}
		read(i, `{"files":[{"path":"a.go"}]}`)
	}
	read(i, `{"files":[{"path":"b.go","from":50,"to":99},{"path":"a.go"}]}`)
	e, ok := c.Dedup()
	if !ok || len(e.Pointers) != i-1 {
		t.Fatalf("%.0f %%: %v, %d of %d reads", c.Percent(), ok, len(e.Pointers), i)
	}
	feed(&c, &at, e)
	text := all(c.Messages())
	for n := range i + 1 {
		if has := strings.Contains(text, fmt.Sprintf("reading %d\\n", n)); has != (n == 0 || n == i) {
			t.Errorf("reading %d is there: %v", n, has)
		}
	}
	if _, ok := c.Dedup(); ok || c.Report().Compacts != 0 || recount(&c) != c.headN+c.bodyN {
		t.Error("again at once, or taken for a compaction")
	}
}

// SPEC 9.5, 4.9: what reads files is known by the facts that are recorded with
// its result, whatever it is called; what depends on anything else stays.
func TestDedupByFacts(t *testing.T) {
	const file = `{"files":[{"path":"a.go"}]}`
	read := event.CallDone{Does: tool.Read, Repeatable: true}
	for name, c := range map[string]struct {
		tool, args string
		facts      event.CallDone
		want       bool
	}{
		"another name":                    {"mcp__disk__show", file, read, true},
		"lines":                           {"show", `{"files":[{"path":"a.go","from":1,"to":9}]}`, read, true},
		"other arguments too":             {"show", `{"files":[{"path":"a.go"}],"form":"hex"}`, read, false},
		"of a file too":                   {"show", `{"files":[{"path":"a.go","at":"HEAD~3"}]}`, read, false},
		"no files":                        {"show", `{"path":"a.go"}`, read, false},
		"a list":                          {"show", file, event.CallDone{Does: tool.Read, Repeatable: true, Listing: true}, false},
		"not only of the files":           {"show", file, event.CallDone{Does: tool.Read}, false},
		"the name alone, of what runs":    {"read", file, event.CallDone{Does: tool.Exec}, false},
		"the name alone, of what changes": {"read", file, event.CallDone{Does: tool.Edit, Repeatable: true}, false},
	} {
		conv, at := Conversation{}, time.Unix(0, 0)
		feed(&conv, &at, small(16384), event.Prompted{Source: event.Person, Text: "go"})
		for i := 0; conv.Percent() <= 85; i++ {
			id := fmt.Sprint("r", i)
			done := c.facts
			done.ID, done.Tool, done.Outcome = id, c.tool, event.OK
			done.Result = llm.Result{ID: id, Name: c.tool, Text: strings.Repeat(fmt.Sprintf("reading %d\n", i), 250)}
			feed(&conv, &at, event.Requested{Attempt: 1}, asks(id, c.tool, c.args), done)
		}
		if _, ok := conv.Dedup(); ok != c.want {
			t.Errorf("%s: dropped %v, want %v", name, ok, c.want)
		}
	}
	// Two tools with the same arguments show two different things.
	conv, at := Conversation{}, time.Unix(0, 0)
	feed(&conv, &at, small(16384), event.Prompted{Source: event.Person, Text: "go"})
	for i := 0; conv.Percent() <= 85; i++ {
		id, name := fmt.Sprint("r", i), fmt.Sprint("show", i)
		done := read
		done.ID, done.Tool, done.Outcome = id, name, event.OK
		done.Result = llm.Result{ID: id, Name: name, Text: strings.Repeat("a line\n", 250)}
		feed(&conv, &at, event.Requested{Attempt: 1}, asks(id, name, file), done)
	}
	if _, ok := conv.Dedup(); ok {
		t.Error("what another tool showed stands for it")
	}
}

// SPEC 9.5: a read is covered by a newer one only where that shows all of its
// lines: the whole covers all, a slice covers what lies within it, and never
// the whole.
func TestCovers(t *testing.T) {
	whole := lines{}
	for _, c := range []struct {
		newer, older lines
		want         bool
	}{
		{whole, whole, true},
		{whole, lines{10, 20}, true},
		{lines{1, 0}, whole, true}, // from the first line on is the whole
		{lines{0, 0}, lines{5, 0}, true},
		{lines{10, 20}, whole, false},
		{lines{1, 10}, whole, false},
		{lines{1, 10}, lines{1, 0}, false},
		{lines{1, 10_000}, whole, false}, // how long the file is, is not known here
		{lines{10, 20}, lines{10, 20}, true},
		{lines{10, 20}, lines{12, 18}, true},
		{lines{10, 20}, lines{9, 20}, false},
		{lines{10, 20}, lines{10, 21}, false},
		{lines{10, 20}, lines{30, 40}, false},
		{lines{10, 20}, lines{15, 0}, false},
		{lines{10, 0}, lines{15, 20}, true},
		{lines{10, 0}, lines{5, 20}, false},
		{lines{10, 0}, whole, false},
		{lines{0, 20}, lines{1, 20}, true},
		{lines{0, 20}, lines{0, 20}, true},
		{lines{2, 20}, lines{0, 20}, false},
	} {
		if got := c.newer.covers(c.older); got != c.want {
			t.Errorf("%v covers %v: %v", c.newer, c.older, got)
		}
	}
}

// SPEC 9.5: reads of slices leave an older read of the whole file where it is.
func TestSlicesDoNotReplaceTheWhole(t *testing.T) {
	c, at := Conversation{}, time.Unix(0, 0)
	feed(&c, &at, small(16384), event.Prompted{Source: event.Person, Text: "go"})
	read := func(id, args, text string) {
		feed(&c, &at, event.Requested{Attempt: 1}, asks(id, "read", args), gives(id, "read", strings.Repeat(text, 250)))
	}
	read("whole", `{"files":[{"path":"a.go"}]}`, "the whole of it\n")
	for i := 0; c.Percent() <= 85; i++ {
		read(fmt.Sprint("s", i), fmt.Sprintf(`{"files":[{"path":"a.go","from":%d,"to":%d}]}`, i*10+1, i*10+10), fmt.Sprintf("slice %d\n", i))
	}
	if e, ok := c.Dedup(); ok {
		t.Errorf("%+v", e.Pointers)
	}
}

// SPEC 9.6: every approach that came to nothing is in the ledger with its
// evidence, however it ended.
func TestLedgerKeepsEveryFailure(t *testing.T) {
	for outcome, kept := range map[event.Outcome]bool{
		event.Failed: true, event.TimedOut: true, event.UnknownDone: true, event.OK: false,
	} {
		c, at := Conversation{}, time.Unix(0, 0)
		feed(&c, &at, small(16384), event.Prompted{Source: event.Person, Text: "go"},
			event.Requested{Attempt: 1}, asks("x", "bash", `{"command":"make world"}`),
			event.CallDone{ID: "x", Tool: "bash", Outcome: outcome, Command: "make world", Result: llm.Result{ID: "x", Name: "bash", Text: "the 9th step hung\n" + string(outcome), Error: outcome != event.OK}})
		fill(t, &c, &at, 1)
		feed(&c, &at, c.Plan(c.Due(), "").Compacted("", nil))
		text := all(c.Messages())
		if has := strings.Contains(text, "the 9th step hung"); has != kept {
			t.Errorf("%s: kept %v", outcome, has)
		}
	}
}

// SPEC 9.6: a critical window is compacted at once, however short ago the last time was.
func TestCriticalDoesNotWait(t *testing.T) {
	c, at := Conversation{}, time.Unix(0, 0)
	feed(&c, &at, small(16384), event.Prompted{Source: event.Person, Text: "go"})
	fillTo := func(percent float64) {
		for n := 0; c.Percent() < percent; n++ {
			feed(&c, &at, event.Requested{Attempt: 1}, asks("s", "read", `{}`), gives("s", "read", strings.Repeat(fmt.Sprint("line ", n, "\n"), 250)))
		}
	}
	fillTo(91)
	feed(&c, &at, c.Plan(event.CompactedFull, "").Compacted("notes", nil))
	before := at
	fillTo(91)
	if c.Percent() < 95 && c.Due() != "" {
		t.Error("due again within 180 s, and not critical")
	}
	fillTo(95.5)
	if c.Due() != event.CompactedFull || at.Sub(before) > 180*time.Second {
		t.Errorf("at %.0f %%, %s later: due %q", c.Percent(), at.Sub(before), c.Due())
	}
}
