package window

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// offering is a session whose head has the cleanup tool.
func offering(window int) (*Conversation, *time.Time) {
	c, at := Conversation{}, time.Unix(0, 0)
	r := small(window)
	r.Head.Tools = []llm.ToolSpec{{Name: "read"}, {Name: CleanTool}}
	feed(&c, &at, r, event.Prompted{Source: event.Person, Text: "go"})
	return &c, &at
}

// step is one call with its result; it returns the result as it is sent.
func step(c *Conversation, at *time.Time, d event.CallDone) string {
	feed(c, at, event.Requested{Attempt: 1}, asks(d.ID, d.Tool, `{}`), d)
	ms := c.Messages()
	return ms[len(ms)-1].Parts[0].Result.Text
}

// SPEC 9.5: results over 500 tokens carry a handle that no other result of the
// session has, though ids of calls repeat; what the log holds stays as it was.
func TestHandles(t *testing.T) {
	c, at := offering(200_000)
	big := strings.Repeat("a line of some words\n", 200)
	if got := step(c, at, gives("0", "read", "short")); got != "short" {
		t.Errorf("%q", got)
	}
	if got := step(c, at, gives("0", "read", big+"x")); !strings.HasSuffix(got, "x\n[r2]") {
		t.Errorf("%q", got[len(got)-40:])
	}
	if got := step(c, at, gives("0", "read", big+"y\n")); !strings.HasSuffix(got, "y\n[r3]") {
		t.Errorf("%q", got[len(got)-40:])
	}
	exact := strings.Repeat("1", 1250) // 500 tokens
	if got := step(c, at, gives("0", "read", exact)); got != exact || Fits(exact, 499) {
		t.Error("500 tokens are not over 500")
	}
	for _, api := range []string{"offline", "anthropic-messages"} { // a planner parses results: a handle would be a line of the file
		var c Conversation
		r := small(200_000)
		r.Info.API, r.Head.Tools = api, []llm.ToolSpec{{Name: CleanTool}}
		feed(&c, at, r, event.Prompted{Text: "go"})
		if got := step(&c, at, gives("0", "read", big)); (got == big) != (api == "offline") {
			t.Errorf("%s: %q", api, got[len(got)-20:])
		}
	}
	var plain Conversation // no such tool
	feed(&plain, at, small(200_000), event.Prompted{Text: "go"})
	if got := step(&plain, at, gives("0", "read", big)); got != big {
		t.Error("a handle without the tool")
	}
}

// SPEC 9.5: C's hint where a result looks unhelpful, and nowhere else.
func TestUnhelpful(t *testing.T) {
	body := strings.Repeat("if the file is not found, it does not exist here\n", 100)
	for _, x := range []struct {
		name string
		d    event.CallDone
		want string
	}{
		{"not found, at the start", gives("0", "bash", "Found 0 errors\n"+body+"end"), "nothing was found"},
		{"not found, at the end", gives("0", "bash", body+"ls: x: No such file or directory"), "nothing was found"},
		{"in the middle of a file", gives("0", "read", "start\n"+body+"end"), ""},
		{"a long listing", gives("0", "ls", strings.Repeat("name.go  12 bytes\n", 200)), "200 entries, too many; a narrower pattern, glob or path gives fewer"},
		{"the lines around matches", gives("0", "grep", "a.go\n"+strings.Repeat("12-before\n13:match\n14-after\n", 100)), ""},
		{"long list of matches", gives("0", "grep", strings.Repeat("a.go:13:match\n", 200)), "200 entries, too many; a narrower pattern, glob or path gives fewer"},
		{"numbers, without an end of line", gives("0", "grep", strings.Repeat("12345\n", 400)+"7"), "401 entries, too many"},
		{"a long file", gives("0", "read", strings.Repeat("name.go  12 bytes\n", 200)), ""},
	} {
		c, at := offering(200_000)
		got := lastLine(step(c, at, x.d))
		if hint := strings.Contains(got, CleanTool); hint != (x.want != "") || !strings.Contains(got, x.want) || !strings.HasPrefix(got, "[r1") {
			t.Errorf("%s: %q", x.name, got)
		}
	}
	c, at := offering(200_000)
	long := strings.Repeat("the same again\n", 300)
	first, second := step(c, at, gives("0", "read", long)), step(c, at, gives("0", "read", long))
	if strings.Contains(first, CleanTool) || !strings.Contains(second, "the same as an earlier result") {
		t.Errorf("repeated: %q, %q", lastLine(first), lastLine(second))
	}
	feed(c, at, event.FileChanged{Path: "a.go", Before: "a", After: "b"})
	if after := step(c, at, gives("0", "bash", long)); strings.Contains(after, CleanTool) {
		t.Errorf("another tool: %q", lastLine(after))
	}
	feed(c, at, event.FileChanged{Path: "a.go", Before: "b", After: "c"})
	if after := step(c, at, gives("0", "bash", long)); strings.Contains(after, CleanTool) {
		t.Errorf("an edit landed since: that it is the same is news: %q", lastLine(after))
	}
}

// SPEC 9.5: a cleanup changes no byte until the next rebase, and stands there
// with C's words; unknown handles are said; none is cleaned twice.
func TestCleanup(t *testing.T) {
	c, at := offering(16_384)
	for i := range 6 {
		step(c, at, gives(fmt.Sprint(i), "bash", strings.Repeat(fmt.Sprintf("output %d\n", i), 500)))
	}
	if got := c.FindResults([]string{"r2", "[R3]", "r2", "r99", "nonsense", "r0"}, "s", ""); fmt.Sprint(got.Found, got.Gone, got.Unknown) != "[r2 r3] [r2] [r99 nonsense r0]" || got.Freed < 2000 {
		t.Errorf("%+v", got)
	}
	// The id of a call is known to a model too.
	if got := c.FindResults([]string{"4", " 5 ", "77"}, "s", ""); fmt.Sprint(got.Found, got.Unknown) != "[r5 r6] [77]" {
		t.Errorf("%+v", got)
	}
	if got := fmt.Sprint(c.Handles(3)); got != "[r4 r5 r6]" {
		t.Error(got)
	}
	before, tokens := all(c.Messages()), c.Tokens()
	feed(c, at, event.Cleaned{Results: []string{"r2", "r3"}, Summary: strings.Repeat("they were dull ", 60), Reason: "no results"})
	if all(c.Messages()) != before || c.Tokens() != tokens {
		t.Error("a cleanup moved the prefix")
	}
	if got := c.FindResults([]string{"r2", "r4"}, "", ""); fmt.Sprint(got.Found, got.Gone) != "[r4] [r2]" {
		t.Errorf("%+v", got)
	}
	if got := fmt.Sprint(c.Handles(5)); got != "[r1 r4 r5 r6]" {
		t.Error(got)
	}
	e := c.Plan(event.CompactedFull, "").Compacted("", nil)
	feed(c, at, e)
	if int64(c.Tokens()) != e.After || recount(c) != c.headN+c.bodyN {
		t.Errorf("it said %d tokens, there are %d, recounted %d", e.After, c.Tokens(), recount(c))
	}
	if text := all(c.Messages()); strings.Contains(text, "output 1\\n") || strings.Contains(text, "output 2\\n") || e.Older == 0 && !strings.Contains(text, "[Cleaned up - no results]: they were dull") {
		t.Errorf("%.2000s", text)
	}
	if got := c.FindResults([]string{"r3"}, "", ""); len(got.Gone) != 1 {
		t.Errorf("%+v", got)
	}
}

// SPEC 9.5, 4.6: cleaned results go with dedup, over 80 % where a quarter is
// freed; that is a rebase after which they are no longer seen.
func TestCleanupFrees(t *testing.T) {
	c, at := offering(16_384)
	n := 0
	for c.Percent() < 82 {
		n++
		feed(c, at, event.Requested{Attempt: 1}, asks("c", "read", fmt.Sprintf(`{"files":[{"path":"f%d"}]}`, n)),
			event.FileSeen{Call: "c", Spans: []tool.Span{{Path: fmt.Sprint("f", n), Hash: "1"}}},
			gives("c", "read", strings.Repeat(fmt.Sprintf("line of f%d\n", n), 200)))
	}
	if _, ok := c.Dedup(); ok {
		t.Fatal("nothing is to be freed")
	}
	feed(c, at, event.Cleaned{Results: []string{"r1"}, Summary: "dull"})
	if _, ok := c.Dedup(); ok {
		t.Fatal("one result is no quarter")
	}
	var rs []string
	for i := 2; i <= n/3+2; i++ {
		rs = append(rs, Handle(i))
	}
	feed(c, at, event.Cleaned{Results: rs, Summary: "dull too"})
	e, ok := c.Dedup()
	if !ok || e.Why != event.CompactedCleanup || len(e.Pointers) != len(rs)+1 {
		t.Fatalf("%v %+v", ok, e)
	}
	feed(c, at, e)
	if int64(c.Tokens()) != e.After || recount(c) != c.headN+c.bodyN || c.Report().Compacts != 0 {
		t.Errorf("%d tokens, said %d, recounted %d; %d compactions", c.Tokens(), e.After, recount(c), c.Report().Compacts)
	}
	for _, s := range c.StillSeen() {
		if s.Path == "f1" || s.Path == "f2" {
			t.Errorf("%s is cleaned and still seen", s.Path)
		}
	}
	if len(c.StillSeen()) != n-len(rs)-1 || !strings.Contains(all(c.Messages()), "[Cleaned up - not relevant to task]: dull too") {
		t.Errorf("%d seen of %d", len(c.StillSeen()), n)
	}
}

// SPEC 9.3: status messages come when the tier changes, only then, and only
// where compaction is off or could not help; "always" gives C's.
func TestStatus(t *testing.T) {
	tell := func(conf Config) (said []string) {
		var c Conversation
		c.Configure(conf)
		at := time.Unix(0, 0)
		feed(&c, &at, small(16_384), event.Prompted{Source: event.Person, Text: "go"})
		for i := 0; c.Percent() < 97; i++ {
			if n, due := c.Status(); due {
				said = append(said, strings.TrimPrefix(string(n.Why), WhyStatus))
				if conf.Status == "" && !strings.Contains(n.Text, "tools remaining") {
					t.Errorf("%q", n.Text)
				}
				feed(&c, &at, n)
				if _, again := c.Status(); again {
					t.Error("told twice")
				}
			}
			work(&c, &at, i, 1000)
		}
		if n, due := c.Status(); due {
			said = append(said, strings.TrimPrefix(string(n.Why), WhyStatus))
		}
		return said
	}
	for conf, want := range map[Config]string{
		{}:                                  "[]",
		{Compact: "off"}:                    "[moderate aggressive critical]",
		{Status: "always"}:                  "[normal moderate aggressive critical]",
		{Compact: "off", Status: "always"}:  "[normal moderate aggressive critical]",
		{Compact: "off", Moderate: 50}:      "[moderate aggressive critical]",
		{Compact: "off", Aggressive: 94.95}: "[moderate critical]",
	} {
		if got := fmt.Sprint(tell(conf)); got != want {
			t.Errorf("%+v: %s, want %s", conf, got, want)
		}
	}
	// Where a compaction could not help.
	c, at := Conversation{}, time.Unix(0, 0)
	r := small(8192)
	r.Head.System = strings.Repeat("a system prompt that is far too long ", 1000)
	feed(&c, &at, r, event.Prompted{Source: event.Person, Text: "go"})
	if _, due := c.Status(); due {
		t.Error("told before a compaction was tried")
	}
	feed(&c, &at, c.Plan(event.CompactedFull, "").Compacted("", nil))
	if n, due := c.Status(); !due || !strings.Contains(n.Text, "STOP TOOL USE NOW") {
		t.Errorf("%.0f %%: %v %q", c.Percent(), due, n.Text)
	}
}

// SPEC 4.2, 9.6: with compaction off nothing is due, and calls are blocked at
// 95 %; what a person asks for is done all the same.
func TestCompactionOff(t *testing.T) {
	var c Conversation
	c.Configure(Config{Compact: "off"})
	at := time.Unix(0, 0)
	feed(&c, &at, small(16_384), event.Prompted{Source: event.Person, Text: "go"})
	for i := 0; c.Percent() < 94; i++ {
		work(&c, &at, i, 400)
	}
	if c.Due() != "" || c.Blocked() {
		t.Errorf("%.1f %%: due %q, blocked %v", c.Percent(), c.Due(), c.Blocked())
	}
	work(&c, &at, 1000, 3000)
	if !c.Blocked() || c.Due() != "" {
		t.Errorf("%.1f %% and not blocked", c.Percent())
	}
	feed(&c, &at, c.Plan(event.CompactedPerson, "").Compacted("", nil))
	if c.Blocked() || c.Percent() > 80 {
		t.Errorf("%.1f %% after a compaction by hand", c.Percent())
	}
}

// SPEC 0: the numbers are keys, their defaults are SPEC 9's, and what cannot
// be is said.
func TestConfig(t *testing.T) {
	d := Config{}.Defaults()
	want := Config{
		"bpe", "auto", "auto", 70, 85, 95, 1000, 750, 500, 200, 16_000, 90, 180, 80, 25, 50,
	}
	if d != want || (Config{}).Check() != nil {
		t.Errorf("%+v", d)
	}
	for _, bad := range []Config{
		{Tokenizer: "x"},
		{Status: "x"},
		{Compact: "x"},
		{Moderate: 90},
		{Critical: 101},
		{CompactAt: 99},
		{CompactAt: 5},
		{DedupAt: 101},
		{Free: 99},
		{CapNormal: 10},
		{CapMost: -1},
		{CompactApart: -1},
		{CallsMost: -1},
		{Aggressive: 96},
	} {
		if bad.Check() == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
	var c Conversation
	c.Configure(Config{CompactAt: 50, CapNormal: 100, CallsMost: 7})
	at := time.Unix(0, 0)
	feed(&c, &at, small(16_384), event.Prompted{Text: "go"})
	if c.CallsLeft() != 7 || c.ResultCap() != 100 {
		t.Errorf("%d calls, cap %d", c.CallsLeft(), c.ResultCap())
	}
	if fill(t, &c, &at, 0); c.Percent() > 60 {
		t.Errorf("due at %.0f %%", c.Percent())
	}
	if feed(&c, &at, c.Plan(c.Due(), "").Compacted("", nil)); c.Percent() > 35 {
		t.Errorf("%.0f %% are left of 50", c.Percent())
	}
}

// exact counts bytes: another counter than Estimate.
type exact struct{}

func (exact) Count(s string) int { return len(s) }

// SPEC 9.1: another counter takes over beside the session: the count is then a
// full recount, what usage said of the old one still holds, and a rebase in
// between makes it begin again.
func TestAnotherCounter(t *testing.T) {
	c, at := offering(200_000)
	for i := range 5 {
		work(c, at, i, 3000)
	}
	feed(c, at, event.Requested{}, event.Replied{Reply: llm.Reply{Usage: llm.Usage{Known: true, Input: int64(c.Tokens()) * 3 / 2}}})
	w := c.Recount(exact{})
	work(c, at, 7, 3000) // meanwhile
	feed(c, at, event.Requested{}, asks("o", "read", `{}`))
	w.Run()
	was, used := c.Tokens(), c.CallsLeft()
	if !c.ApplyRecount(w) || recount(c) != c.headN+c.bodyN {
		t.Fatalf("counted %d, recounted %d", c.headN+c.bodyN, recount(c))
	}
	if got := c.Tokens(); got < was-was/100 || got > was+was/100 {
		t.Errorf("%d tokens, were %d: what usage said is lost", got, was)
	}
	if got := c.CallsLeft(); got < used-1 || got > used+1 {
		t.Errorf("%d calls left, were %d", got, used)
	}
	feed(c, at, gives("o", "read", "text"), event.Noted{Text: "a note"})
	if recount(c) != c.headN+c.bodyN {
		t.Errorf("counted %d, recounted %d after more", c.headN+c.bodyN, recount(c))
	}
	feed(c, at, event.Replied{Reply: llm.Reply{Usage: llm.Usage{Known: true, Input: int64(was)}}})
	if got := c.Tokens(); got < was*9/10 || got > was*11/10 {
		t.Errorf("%d tokens, were %d: the request in flight was counted by the other", got, was)
	}
	w = c.Recount(Estimate{})
	feed(c, at, c.Plan(event.CompactedPerson, "").Compacted("", nil))
	if w.Run(); c.ApplyRecount(w) {
		t.Error("adopted over a rebase")
	}
}

// SPEC 9.2: the cap holds in the counter's tokens, also of what Estimate takes
// for less than it is.
func TestCapByTheCounter(t *testing.T) {
	var c Conversation
	c.counter = exact{}
	at := time.Unix(0, 0)
	feed(&c, &at, small(16_384), event.Prompted{Text: "go"})
	text := strings.Repeat("word ", 4000)
	cut, _ := Cut(text, c.ResultCapOf(text), func() string { return "kept" })
	if n := (exact{}).Count(cut); n > 1100 || n < 700 || c.ResultCapOf("short") != c.ResultCap() {
		t.Errorf("%d tokens are shown of 1000", n)
	}
}

// A result that looks like a handle names nothing that is not there.
func TestForgedHandle(t *testing.T) {
	c, at := offering(200_000)
	step(c, at, gives("0", "read", "short\n[r7]"))
	if got := c.FindResults([]string{"r7"}, "", ""); len(got.Unknown) != 1 || len(c.Handles(5)) != 0 {
		t.Errorf("%+v, %v", got, c.Handles(5))
	}
	feed(c, at, event.Cleaned{Results: []string{"r7", "x", ""}, Summary: "s"})
	if b, err := json.Marshal(c.clean.waiting); err != nil || string(b) != "null" {
		t.Errorf("%s %v", b, err)
	}
}
