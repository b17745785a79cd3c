package window

import (
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// SPEC 9.6: after a compaction a model has what it said itself, and how each check ended,
// also one behind a pipe, whatever the summary says.
func TestOwnWordsAndChecksSurvive(t *testing.T) {
	t.Parallel()
	zero, one := 0, 1
	says := func(id, text, command string) event.Replied {
		r := asks(id, "bash", command)
		r.Reply.Message.Parts = append([]llm.Part{llm.TextPart(text)}, r.Reply.Message.Parts...)
		return r
	}
	ran := func(id, line, output string, exit *int) event.CallDone {
		return event.CallDone{ID: id, Tool: "bash", Outcome: event.OK, Command: line, Exit: exit, Result: llm.Result{ID: id, Name: "bash", Text: output}}
	}
	c, at := Conversation{}, time.Unix(0, 0)
	feed(&c, &at, small(16384), event.Prompted{Source: event.Person, Text: "mend the lexer"},
		event.FileChanged{Path: "lex.go", After: tool.Hash("2"), Added: 3},
		event.Requested{Attempt: 1}, says("a", "Tabs stay in the token: the printer counts them.", `{"command":"go test -v ./lex"}`),
		ran("a", "go test -v ./lex", "=== RUN   TestTabs\n--- PASS: TestTabs (0.00s)\nPASS\nok  \tx/lex\t0.01s", &zero),
		event.Requested{Attempt: 1}, says("b", "Now the rest.", `{"command":"go test ./... 2>&1 | tail -3"}`),
		ran("b", "go test ./... 2>&1 | tail -3", "--- FAIL: TestPrint\nFAIL\tx/print", &zero),
		event.Requested{Attempt: 1}, says("d", "I look at npm, too.", `{"command":"npm test"}`), ran("d", "npm test", "1 failing", &one),
		event.FileChanged{Path: "print.go", After: tool.Hash("3"), Added: 1},
		event.Checked{Command: "go vet ./...", Exit: &one, Failed: []event.Failure{{Cause: "print.go:3: unreachable code"}}},
		event.Checked{Command: "cargo test", Why: "cargo is not installed"})
	for range 2 {
		fill(t, &c, &at, 1)
		feed(&c, &at, c.Plan(c.Due(), "").Compacted("Done: read on.", nil))
		at = at.Add(200 * time.Second)
	}
	first, _ := c.past.at(0)
	text := first.Text()
	for _, want := range []string{
		"- Tabs stay in the token: the printer counts them.\n", "- Now the rest.\n",
		"- `go test -v ./lex`: passed (tests: 1) (changes of files since: 1)\n",
		"- `go test ./... 2>&1 | tail -3`: its output ended: --- FAIL: TestPrint | FAIL x/print (changes of files since: 1)\n",
		"- `npm test`: exit code 1 (changes of files since: 1)\n",
		"- `go vet ./...`: exit code 1: print.go:3: unreachable code\n", "- `cargo test`: cargo is not installed\n",
	} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%d times %q in\n%s", strings.Count(text, want), want, text)
		}
	}
}

// SPEC 9.6: what the conversation still shows of the model's words is not repeated.
func TestOwnWordsOnce(t *testing.T) {
	t.Parallel()
	c, at := Conversation{}, time.Unix(0, 0)
	feed(&c, &at, small(16384), event.Prompted{Source: event.Person, Text: "go"})
	fill(t, &c, &at, 1)
	feed(&c, &at, event.Requested{Attempt: 1},
		event.Replied{Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.TextPart("The port is 8642.")}}}})
	feed(&c, &at, c.Plan(event.CompactedFull, "").Compacted("Done: read on.", nil))
	if text := all(c.Messages()); strings.Count(text, "The port is 8642.") != 1 {
		t.Error(text)
	}
}

// SPEC 9.6: a summary that nobody can go on with is poor, one that says little of what
// was little is not.
func TestPoor(t *testing.T) {
	t.Parallel()
	long := "The lexer was read from its start to its end and all of it was understood well by the agent."
	for name, c := range map[string]struct {
		size    int
		facts   []string
		summary string
		poor    string
	}{
		"ok":                 {5000, []string{"lexer", "parse"}, "ok", "have 1 words"},
		"nothing of it":      {5000, []string{"printer", "scope"}, long, "they name nothing of what was done: no file, command or name, such as printer, scope"},
		"praise":             {5000, []string{"printer", "scope", "tabs"}, "Great progress so far, everything is going well and the user is happy with all of the work.", "such as printer, scope, tabs"},
		"names":              {5000, []string{"printer", "lexer", "agent"}, long, ""},
		"one fact is all":    {5000, []string{"lexer"}, long, ""},
		"no facts":           {5000, nil, long, ""},
		"short of little":    {900, nil, "Done: looked at 3 pages.", ""},
		"little, and wrong":  {900, []string{"lexer", "parse"}, "Done: nothing.", "they name nothing"},
		"no spaces":          {5000, []string{"lexer", "parse"}, "目标：修复 lexer 中的制表符处理。已决定：保留制表符，因为 parse 需要它们来计算列。下一步：运行测试。", ""},
		"upper case":         {5000, []string{"lexer", "parse"}, "Goal: mend LEXER and PARSE so that the tabs are counted as one column each.", ""},
		"the heading and no": {5000, []string{"lexer", "parse"}, "Goal: lexer, parse.", "have 3 words"},
	} {
		p := Plan{size: c.size, facts: c.facts}
		p.conv.Conversation = &Conversation{}
		if why := p.Poor(c.summary); (why == "") != (c.poor == "") || !strings.Contains(why, c.poor) {
			t.Errorf("%s: %q, want %q", name, why, c.poor)
		}
	}
}

// SPEC 9.6: the second request for a summary has what the agent said and did, the poor notes
// and what they lack, and costs a part of the first.
func TestAskAgain(t *testing.T) {
	t.Parallel()
	c, at := Conversation{}, time.Unix(0, 0)
	feed(&c, &at, small(16384), event.Prompted{Source: event.Person, Text: "mend the lexer"})
	long := strings.Repeat("a line that was read\n", 400)
	for c.Due() == "" {
		r := asks("a", "read", `{"files":[{"path":"lex/tabs.go"}]}`)
		r.Reply.Message.Parts = append([]llm.Part{llm.TextPart("Tabs stay: the printer counts them.")}, r.Reply.Message.Parts...)
		feed(&c, &at, event.Requested{Attempt: 1}, r, gives("a", "read", long+"exit code 3"))
	}
	p := c.Plan(c.Due(), "the tabs")
	r, n := p.AskAgain("nothing much", "they have 2 words")
	text := r.Messages[0].Text()
	if len(r.Messages) != 1 || n*2 > p.Input || r.Tail != p.Ask.Tail || r.Head.System != p.Ask.Head.System {
		t.Errorf("%d tokens, the first had %d: %+v", n, p.Input, r)
	}
	for _, want := range []string{"kept above all: the tabs", "mend the lexer", "agent: Tabs stay: the printer counts them.", "lex/tabs.go", "result: exit code 3", "<poor>\nnothing much\n</poor>", "they have 2 words"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if strings.Contains(text, "a line that was read") {
		t.Error("what was read is sent twice")
	}
}

// SPEC 9.6: what calls worked on are facts, once and without short words.
func TestFacts(t *testing.T) {
	t.Parallel()
	c, at := Conversation{}, time.Unix(0, 0)
	feed(&c, &at, small(16384), event.Prompted{Source: event.Person, Text: "go"}, event.Requested{Attempt: 1},
		asks("a", "read", `{"files":[{"path":"cmd/lex/Tabs.go"},{"path":"b.c"}]}`), gives("a", "read", "x"), event.Requested{Attempt: 1},
		asks("b", "bash", `{"command":"go test ./tabs -run TestTwo"}`), gives("b", "bash", "x"), event.Requested{Attempt: 1},
		asks("d", "edit", `{"path":"a/printer.go","old":"secretive","new":"loudly"}`), gives("d", "edit", "x"), event.Requested{Attempt: 1})
	u := c.unpacked()
	if got := strings.Join(u.facts(len(u.messages)), " "); got != "tabs test testtwo printer" {
		t.Errorf("%q", got)
	}
}
