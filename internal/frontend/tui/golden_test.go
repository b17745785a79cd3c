package tui

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/golden"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/styled"
)

const reply = `# What it is

A paragraph with **bold**, *thin* and ` + "`code`" + ` that is long enough to be broken, also where there is a lot of room, and [a link](https://go.dev/doc) with 漢字 and 👩‍👧.

- one
- two, which is long enough to go on below itself in a narrow window
  1. nested
- [x] done

| name | what it does | count |
|---|:-:|--:|
| ` + "`a`" + ` | adds one number to another one, in a cell with much text | 1 |
| b | **nothing** | 12 |

` + "```go\nfunc add(a, b int) int { // a comment that makes the line longer than the narrow window is\n\treturn a + b\n}\n```" + `

> said by somebody

End.`

// look stands between events where the screen is compared, with its open parts.
const look = "look"

// told is a session with every block: events, and places to look at what is open.
func told() []any {
	one, cost := 1, 0.0123
	call := func(id, name, title string, kind tool.Kind) event.CallAsked {
		return event.CallAsked{ID: id, Tool: name, Title: title, Does: kind, Args: json.RawMessage(`{}`)}
	}
	done := func(id, name, text string, o event.Outcome) event.CallDone {
		return event.CallDone{ID: id, Tool: name, Outcome: o, Result: llm.Result{ID: id, Name: name, Text: text}}
	}
	edit := done("c1", "edit", "edited", event.OK)
	edit.Note, edit.Diff, edit.Does = "+2 -1", "--- a/calc.go\n+++ b/calc.go\n@@ -1,3 +1,4 @@\n package calc\n \n-func Add(a, b int) int { return a - b }\n+// Add adds.\n+func Add(a, b int) int { return a + b }\n", tool.Edit
	asked := done("c5", "write", "written", event.OK)
	asked.Note, asked.Diff, asked.Does = "new, +1", "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+one\n", tool.Edit
	failed := done("c2", "bash", strings.Repeat("ok a line of output\n", 30)+"--- FAIL: TestAdd\nexit code 1", event.Failed)
	failed.Command, failed.Exit, failed.Took, failed.Does = "go test ./...", &one, 3*time.Second, tool.Exec
	denied := done("c3", "bash", "Not allowed, it did not run: rm -rf / destroys\nmore", event.Denied)
	denied.Does = tool.Exec
	ran := done("c6", "bash", strings.Repeat("a line\n", 499)+"the end\nexit code 0", event.OK)
	ran.Command, ran.Note, ran.Does = "seq 1 500", "exit code 0, 0s, 500 lines", tool.Exec
	sum := call("c7", "mcp__everything__get-sum", "mcp__everything__get-sum", tool.Exec)
	sum.Args = json.RawMessage(`{"b":3,"a":2}`)
	summed := done("c7", "mcp__everything__get-sum", "The sum of 2 and 3 is 5."+strings.Repeat(" and a long line", 60), event.OK)
	misread := done("c8", "edit", "[arguments read as: file_path → path]\nthe old text is there twice", event.Failed)
	misread.Does = tool.Edit
	var output []any
	for i := range 12 {
		output = append(output, event.OutputDelta{Call: "c2", Text: fmt.Sprintf("ok  package %d\n", i)})
	}
	out := []any{
		event.Opened{Dir: "/work/it", Mode: "ask"},
		event.Prompted{Text: "Fix the bug in `Add`,\nplease.", Attached: "== calc.go ==\n"},
		event.Requested{Attempt: 1, Messages: 2, Tools: 20, Tokens: 4100}, event.ReasoningDelta{Text: "I think about it"}, look,
		event.TextDelta{Text: reply[:180]}, look,
		event.Replied{Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{
			{Kind: llm.Reasoning, Text: "I think about it"}, llm.TextPart(reply),
		}}}, Cost: &cost},
		event.Planned{Items: []tool.Item{{Text: "read", Status: "completed"}, {Text: "mend the function", Status: "in_progress"}, {Text: "test"}}},
		call("c1", "edit", "edit calc.go", tool.Edit), event.CallStarted{ID: "c1"}, edit,
		event.Planned{Items: []tool.Item{{Text: "read", Status: "completed"}, {Text: "mend the function", Status: "completed"}, {Text: "test", Status: "in_progress"}}},
		call("c2", "bash", "bash go test ./...", tool.Exec), event.CallStarted{ID: "c2"},
	}
	out = append(out, output...)
	return append(out, event.OutputDelta{Call: "c2", Text: "half a li"}, look, failed,
		call("c6", "bash", "bash seq 1 500", tool.Exec), event.CallStarted{ID: "c6"}, ran,
		sum, event.CallStarted{ID: "c7"}, summed,
		call("c8", "edit", "edit calc.go", tool.Edit), event.CallStarted{ID: "c8"}, misread,
		call("c3", "bash", "bash rm -rf /", tool.Exec), denied,
		call("c5", "write", "write new.txt", tool.Edit),
		event.Asked{ID: "q1", Questions: []event.Question{{Call: "c5", Tool: "write", Title: "write new.txt (new, +1)", Preview: asked.Diff, Reason: "it is outside", Pattern: "edit(new.txt)", Always: true}}},
		event.Answered{ID: "q1", Verdicts: []event.Verdict{{Call: "c5", Scope: event.Always}}},
		event.Granted{Rule: "edit(new.txt)", Scope: event.Always}, asked,
		event.Asked{ID: "q2", Text: "Which one?", Options: []string{"this", "that"}}, event.Answered{ID: "q2", Text: "that"},
		event.Retried{Attempt: 1, Error: event.Fault{Message: "overloaded"}, Wait: 8 * time.Second}, event.Waiting{Left: 7 * time.Second}, look,
		event.Stuck{Level: "recovery", Rule: "repeated", Text: "a letter to the model", Evidence: []string{"read calc.go"}},
		event.Warned{Text: "80 % of the budget is spent"},
		event.ModeSet{Mode: "auto"},
		event.Prompted{Text: "and quickly"},
		event.Checking{Command: "go test ./..."}, look,
		event.Checked{Command: "go test ./...", Exit: &one, Failures: 1, Output: "--- FAIL: TestAdd"},
		event.Prompted{Source: event.Autofix, Text: "It failed"},
		event.Interrupted{By: "person"},
		event.Ended{End: event.EndInterrupted},
		event.PersonRan{Command: "git status", Output: "clean\n", Exit: &one},
		event.AsideAsked{ID: "b1", Text: "what does `Add` return for two numbers that are rather large?"}, look,
		event.AsideAnswered{ID: "b1", Text: "Their **sum**, which may overflow where both are large enough:\n\n- it wraps", Cost: &cost},
		event.AsideAsked{ID: "b2", Text: "and now?"}, event.AsideAnswered{ID: "b2", Error: &event.Fault{Message: "overloaded"}},
		event.PlanWritten{Text: plan, By: "model"}, event.PlanWritten{Text: plan, By: "person"}, event.PlanDecided{}, event.PlanDecided{Approved: true},
		event.LimitSet{What: "budget.usd", To: 7.5}, event.LimitSet{What: "budget.tokens"}, event.Revoked{Rule: "edit(new.txt)"},
	)
}

const plan = "# Plan: a flag\n\nIt is wanted.\n\n## Phase 1: parse it\n\nIn `main.go`.\n\n## Phase 2: test it\n"

// crewed is a session with agents, and the log of a swarm.
func crewed() []any {
	usd := 0.031
	done := func(id, command string, exit int) event.CallDone {
		return event.CallDone{ID: id, Tool: "bash", Command: command, Exit: &exit, Outcome: event.OK, Note: fmt.Sprintf("exit code %d", exit)}
	}
	task := func(id, title string, after ...string) event.Task {
		return event.Task{ID: id, Title: title, Goal: "do it", After: after, Accept: []string{"true"}}
	}
	var many []event.Task
	for i := range 6 {
		many = append(many, task(fmt.Sprintf("later-%d", i), "what is done at the end", "parser"))
	}
	return []any{
		event.Prompted{Text: "look everywhere"},
		event.AgentStarted{Call: "c1", Child: "a1", Agent: "explore", Title: "find where the widths are counted"}, look,
		event.AgentStarted{Call: "c2", Child: "a2", Agent: "general", Title: "run the tests", Background: true},
		event.AgentCalled{Call: "c1", Child: event.ChildEvent{Session: "a1"}, Done: done("x", "grep -rn width .", 0)},
		event.AgentCalled{Call: "c2", Child: event.ChildEvent{Session: "a2"}, Done: done("y", "go test ./...", 1)}, look,
		event.AgentEnded{Call: "c1", Child: "a1", End: event.EndDone, Calls: 3},
		event.AgentEnded{Call: "c2", Child: "a2", End: event.EndProvider, Calls: 1, Error: &event.Fault{Message: "overloaded"}}, look,
		event.SwarmPlanned{Goal: "mend all six packages", Tasks: append([]event.Task{task("parser", "the parser and its errors"), task("printer", ""), task("docs", "the page about it", "parser")}, many...)},
		event.TaskTaken{Task: "parser", Worker: "w1", Fence: 1}, event.TaskTaken{Task: "printer", Worker: "w2", Fence: 2}, look,
		event.TaskReturned{Task: "printer", Worker: "w2", Fence: 2, Outcome: event.TaskFailed, Error: "its checks fail", USD: &usd},
		event.TaskReturned{Task: "parser", Worker: "w1", Fence: 1, Outcome: event.TaskDone, Commit: "c", USD: &usd}, look,
		event.TaskMerged{Task: "parser", Commit: "m"}, event.TaskTaken{Task: "docs", Worker: "w1", Fence: 3, Machine: "build-2"}, look,
		event.SwarmEnded{Outcome: event.SwarmIncomplete, Error: "tasks failed"},
	}
}

// SPEC 18.1, 18.2, 18.5
func TestEveryBlock(t *testing.T) {
	for _, c := range []struct {
		name  string
		width int
		theme styled.Theme
		told  func() []any
	}{
		{"blocks-40", 40, styled.Plain, told}, {"blocks-80", 80, styled.Plain, told}, {"blocks-200", 200, styled.Plain, told},
		{"dark-80", 80, styled.Dark, told}, {"light-80", 80, styled.Light, told}, {"contrast-80", 80, styled.Contrast, told},
		{"crew-40", 40, styled.Plain, crewed}, {"crew-80", 80, styled.Plain, crewed}, {"crew-200", 200, styled.Plain, crewed},
	} {
		t.Run(c.name, func(t *testing.T) {
			var tl chat.Timeline
			p := &renderer{width: c.width}
			var b strings.Builder
			show := func(lead string, ls []styled.Line) {
				for _, l := range ls {
					if c.theme.Name == "plain" && l.Width() > c.width && lead != "" {
						t.Errorf("%q is wider than %d", l.String(), c.width)
					}
					b.WriteString(strings.TrimRight(lead+strings.ReplaceAll(c.theme.Render(l), "\x1b", "^"), " ") + "\n")
				}
			}
			now := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
			for i, body := range c.told() {
				if body == look {
					show("", p.takeFinished())
					show("  live| ", p.openRows(now.Add(12*time.Second)))
					continue
				}
				e := event.Event{Session: "s", Seq: int64(i + 1), Time: now, Body: body.(event.Body)}
				switch e.Body.(type) {
				case event.TextDelta, event.ReasoningDelta, event.OutputDelta, event.Waiting:
					e.Seq = 0
				}
				for _, ch := range tl.Apply(e) {
					p.apply(ch)
				}
			}
			show("", p.takeFinished())
			golden.File(t, filepath.Join("testdata", c.name+".golden"), b.String())
		})
	}
}
