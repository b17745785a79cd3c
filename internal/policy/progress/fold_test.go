package progress

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// live plays a session as the engine would: it asks the fold before each call
// and after each step, and records what was done.
type live struct {
	t   *testing.T
	f   *Fold
	log []event.Event
	ran int // calls that ran
}

func newLive(t *testing.T) *live {
	l := &live{t: t, f: NewFold(Default())}
	l.add(event.Prompted{Source: event.Person, Text: "do it"})
	return l
}

func (l *live) add(b event.Body) {
	e := event.Event{Session: "s", Seq: int64(len(l.log) + 1), Time: time.Unix(int64(len(l.log)), 0), Body: event.Completed(b)}
	l.log = append(l.log, e)
	l.f.Apply(e)
}

// does is a call and what would come of it.
type does struct {
	tool, args, result string
	bad                bool
	outcome            event.Outcome
	file, before, now  string // a change
}

// step is one reply with its calls; it returns what is due after it.
func (l *live) step(said string, calls ...does) Decision {
	l.t.Helper()
	msg := llm.Message{Role: llm.Assistant}
	if said != "" {
		msg.Parts = append(msg.Parts, llm.TextPart(said))
	}
	for i, c := range calls {
		msg.Parts = append(msg.Parts, llm.Part{Kind: llm.CallPart, Call: &llm.Call{ID: l.id(i), Name: c.tool, Args: json.RawMessage(c.args)}})
	}
	first := len(l.log)
	l.add(event.Replied{Reply: llm.Reply{Message: msg}})
	for i, c := range calls {
		id := fmt.Sprintf("call_%d_%d", first, i)
		l.add(event.CallAsked{ID: id, Tool: c.tool, Args: json.RawMessage(c.args)})
		if blocked, why := l.f.Blocked(c.tool, json.RawMessage(c.args)); blocked {
			if i%2 == 0 { // with or without it, the fold knows
				l.add(event.Blocked{Call: id, Tool: c.tool, Reason: why, By: event.ByStuck})
			}
			l.add(event.CallDone{ID: id, Tool: c.tool, Outcome: event.Denied, Result: llm.Result{Text: why, Error: true}})
			continue
		}
		l.ran++
		if c.file != "" {
			l.add(event.FileChanged{Call: id, Tool: c.tool, Path: c.file, Before: tool.Hash(c.before), After: tool.Hash(c.now)})
		}
		out := c.outcome
		if out == "" {
			out = event.OK
			if c.bad {
				out = event.Failed
			}
		}
		l.add(event.CallDone{ID: id, Tool: c.tool, Outcome: out, Result: llm.Result{Text: c.result, Error: c.bad}})
	}
	d := l.f.Next()
	if d.Action != Nothing {
		l.add(d.Event())
		if again := l.f.Next(); again.Action != Nothing {
			l.t.Errorf("after its event was applied, %v is due again", again.Action)
		}
	}
	return d
}

func (l *live) id(i int) string { return fmt.Sprintf("call_%d_%d", len(l.log), i) }

// until plays a step over and over and returns the decisions.
func (l *live) until(max int, f func(i int) (string, []does)) (ds []Decision) {
	for i := range max {
		said, calls := f(i)
		d := l.step(said, calls...)
		if d.Action != Nothing {
			ds = append(ds, d)
		}
		if d.Action == Stop {
			break
		}
	}
	return ds
}

func names(ds []Decision) string {
	var out []string
	for _, d := range ds {
		out = append(out, d.Action.String())
	}
	return strings.Join(out, " ")
}

// SPEC 6.5: warn → recovery, once → the call is blocked → halt; each recovery
// names the loop, shows the evidence and names the way out of its kind of
// trouble.
func TestLadderLive(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		calls func(i int) []does
		said  func(i int) string
		want  string   // the actions, in order
		words []string // in the first recovery
	}{
		{
			name: "an edit that does not match", want: "recovery block halt",
			calls: func(int) []does {
				return []does{{tool: "edit", args: `{"path":"main.go","old":"foo","new":"bar"}`, bad: true, result: "old does not occur in main.go; nearest lines:\n12\tfoo()"}}
			},
			words: []string{"same error 3 times in a row on main.go", "call 1: edit main.go", "12\tfoo()", "with write"},
		},
		{
			name: "a file that is not there", want: "recovery block halt",
			calls: func(int) []does {
				return []does{{tool: "read", args: `{"files":[{"path":"src/util.go"}]}`, bad: true, result: "src/util.go does not exist"}}
			},
			words: []string{"does not exist", "pkg/util.go", "glob"},
		},
		{
			name: "a command that takes too long", want: "recovery block halt",
			calls: func(int) []does {
				return []does{{tool: "bash", args: `{"command":"./slow.sh"}`, outcome: event.TimedOut, bad: true, result: "stopped after 120s"}}
			},
			words: []string{`"background": true`, "narrower"},
		},
		{
			name: "the same command", want: "recovery block halt",
			calls: func(int) []does {
				return []does{{tool: "bash", args: `{"command":"git branch"}`, result: "* main\nexit code 0"}}
			},
			words: []string{"git branch", "> * main", "It is known"},
		},
		{
			name: "a call that is denied", want: "recovery block halt",
			calls: func(int) []does {
				return []does{{tool: "bash", args: `{"command":"sudo reboot"}`, outcome: event.Denied, bad: true, result: "Denied by a rule."}}
			},
			words: []string{"not permitted"},
		},
		{
			name: "arguments that do not fit", want: "recovery block halt",
			calls: func(int) []does {
				return []does{{tool: "edit", args: `{"pth":"x"}`, outcome: event.Invalid, bad: true, result: "path is missing; for example {\"path\":\"a.go\"}"}}
			},
			words: []string{"path is missing", "schema"},
		},
		{
			name: "words alone", want: "recovery",
			calls: func(int) []does { return nil },
			said:  func(int) string { return "I will now go on." },
			words: []string{"Words alone"},
		},
		{
			name: "two reads in turns", want: "recovery block halt",
			calls: func(i int) []does {
				p := []string{"a.go", "b.go"}[i%2]
				return []does{{tool: "read", args: `{"files":[{"path":"` + p + `"}]}`, result: "== " + p + " ==\n1\tpackage " + p}}
			},
			words: []string{"steps without news", "It is known", "call 3: read a.go"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLive(t)
			l.add(event.FileSeen{Spans: []tool.Span{{Path: "pkg/util.go"}, {Path: "main.go"}}})
			ds := l.until(30, func(i int) (string, []does) {
				said := fmt.Sprint("try ", i)
				if c.said != nil {
					said = c.said(i)
				}
				return said, c.calls(i)
			})
			if got := names(ds); !strings.HasPrefix(got, c.want) {
				t.Fatalf("actions %q, want %q", got, c.want)
			}
			for _, w := range c.words {
				if !strings.Contains(ds[0].Text, w) {
					t.Errorf("%q is not in the recovery:\n%s", w, ds[0].Text)
				}
			}
			if len(ds[0].Evidence) == 0 {
				t.Error("no evidence")
			}
			if strings.HasSuffix(c.want, "halt") && l.ran > 9 {
				t.Errorf("%d calls ran before the halt", l.ran)
			}
			for _, d := range ds {
				if d.Action == Block && c.name != "words alone" && d.Call == "" {
					t.Errorf("a block that blocks nothing: %+v", d)
				}
			}
		})
	}
}

// SPEC 6.5: a test that still fails leads to one recovery with the tries, and
// to nothing more while contents are new.
func TestFailingTestOnlyWarns(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	ds := l.until(40, func(i int) (string, []does) {
		return fmt.Sprint("try ", i), []does{
			{tool: "edit", args: fmt.Sprintf(`{"path":"a.go","old":"%d","new":"%d"}`, i, i+1), result: "edited", file: "a.go", before: fmt.Sprint("h", i), now: fmt.Sprint("h", i+1)},
			{tool: "bash", args: `{"command":"go test ./..."}`, bad: true, result: "--- FAIL: TestX\nexit code 1"},
		}
	})
	if names(ds) != "recovery" {
		t.Fatalf("%s", names(ds))
	}
	for _, w := range []string{"What was tried", "changed a.go", "another approach"} {
		if !strings.Contains(ds[0].Text, w) {
			t.Errorf("%q is not in\n%s", w, ds[0].Text)
		}
	}
}

// SPEC 6.5: what was blocked runs again once there is new content, and after a
// person's message; nothing else unblocks it.
func TestUnblock(t *testing.T) {
	t.Parallel()
	const args = `{"command":"make","description":"x"}`
	stuck := func(t *testing.T) *live {
		l := newLive(t)
		l.until(4, func(int) (string, []does) {
			return "", []does{{tool: "bash", args: args, bad: true, result: "error: no rule"}}
		})
		if b, why := l.f.Blocked("bash", json.RawMessage(`{"command":"make","description":"another"}`)); !b || why == "" {
			t.Fatal("the call is not blocked")
		}
		if b, _ := l.f.Blocked("bash", json.RawMessage(`{"command":"make all"}`)); b {
			t.Fatal("another call is blocked")
		}
		return l
	}
	for name, c := range map[string]struct {
		body event.Body
		free bool
	}{
		"person":        {event.Prompted{Source: event.Person, Text: "try again"}, true},
		"an answer":     {event.Answered{ID: "q", Text: "go on"}, true},
		"autofix":       {event.Prompted{Source: event.Autofix, Text: "checks failed"}, false},
		"hook":          {event.Prompted{Source: event.Hook, Text: "x"}, false},
		"compaction":    {event.Rebased{Why: "compaction"}, false},
		"a resume":      {event.Resumed{}, false},
		"a retry":       {event.Retried{}, false},
		"an unknown":    {event.Unknown{Name: "later"}, false},
		"a turn's end":  {event.Ended{End: event.EndDone}, false},
		"a plan":        {event.Planned{Items: []tool.Item{{Text: "a", Status: "in_progress"}}}, false},
		"a permission":  {event.Answered{ID: "q", Verdicts: []event.Verdict{{Call: "x", Scope: event.Once}}}, false},
		"an interrupt":  {event.Interrupted{By: "person"}, false},
		"a model's set": {event.Rebased{Why: "model"}, false},
	} {
		l := stuck(t)
		l.add(c.body)
		if b, _ := l.f.Blocked("bash", json.RawMessage(args)); b == c.free {
			t.Errorf("after %s, blocked is %v", name, b)
		}
	}
	l := stuck(t)
	l.step("", does{tool: "write", args: `{"path":"Makefile","content":"all:"}`, result: "written", file: "Makefile", now: "new"})
	if b, _ := l.f.Blocked("bash", json.RawMessage(args)); b {
		t.Error("new content does not unblock")
	}
}

// SPEC 6.7: a loop that is spread over compaction, retries, a resume and
// autofix prompts is still seen.
func TestSpreadLoop(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	between := []event.Body{
		event.Rebased{Why: "compaction"},
		event.Retried{Attempt: 1},
		event.Resumed{},
		event.Ended{End: event.EndDone},
		event.Prompted{Source: event.Autofix, Text: "the check failed"},
	}
	ds := l.until(12, func(i int) (string, []does) {
		l.add(between[i%len(between)])
		return fmt.Sprint("try ", i), []does{{tool: "bash", args: `{"command":"python3 fix.py"}`, bad: true, result: fmt.Sprintf("Traceback\nKeyError: line %d", i)}}
	})
	if got := names(ds); got != "recovery block halt" {
		t.Errorf("%q", got)
	}
}

// SPEC 6.2, 11.1: contents that a command changes are seen, and one that comes
// back is not new.
func TestShellChanges(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	l.step("", does{tool: "bash", args: `{"command":"sed -i s/a/b/ x"}`, result: "exit code 0", file: "x", before: "A", now: "B"})
	if n := l.f.Stats().Contents; n != 1 {
		t.Fatalf("%d contents", n)
	}
	l.step("", does{tool: "bash", args: `{"command":"git checkout x"}`, result: "exit code 0", file: "x", before: "B", now: "A"})
	l.step("", does{tool: "bash", args: `{"command":"rm x"}`, result: "exit code 0", file: "x", before: "A"})
	l.step("", does{tool: "bash", args: `{"command":"git checkout x"}`, result: "exit code 0", file: "x", now: "A"})
	if n := l.f.Stats().Contents; n != 2 { // its absence was new once
		t.Errorf("%d contents", n)
	}
}

// SPEC 6.4: innocent sessions, through the fold.
func TestInnocentLive(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]func(i int) []does{
		"a background job": func(i int) []does {
			return []does{{tool: "bash_output", args: `{"id":"1","wait":30}`, result: "[ 42%] Building\nstill running"}}
		},
		"tests after edits": func(i int) []does {
			return []does{
				{tool: "edit", args: fmt.Sprintf(`{"path":"a.go","old":"%d"}`, i), result: "edited", file: "a.go", now: fmt.Sprint(i)},
				{tool: "bash", args: `{"command":"go test ./..."}`, result: fmt.Sprintf("ok pkg 0.0%ds\nexit code 0", i)},
			}
		},
		"rate limits": func(i int) []does {
			return []does{{tool: "web_fetch", args: `{"url":"https://x"}`, bad: true, result: "429 Too Many Requests"}}
		},
		"paging": func(i int) []does {
			return []does{{tool: "read", args: fmt.Sprintf(`{"files":[{"path":"a.go","from":%d}]}`, i*100), result: fmt.Sprintf("%d\tline", i*100)}}
		},
		"long results with their spill paths": func(i int) []does {
			return []does{{tool: "grep", args: fmt.Sprintf(`{"pattern":"p%d"}`, i), result: fmt.Sprintf("hit %d\n[all output: /state/spill/%d]", i, i)}}
		},
	} {
		l := newLive(t)
		ds := l.until(120, func(i int) (string, []does) { return fmt.Sprint("step ", i), f(i) })
		if slices.ContainsFunc(ds, func(d Decision) bool { return d.Action > Recover }) {
			t.Errorf("%s: %s: %+v", name, names(ds), ds[len(ds)-1])
		}
	}
}

// Only its own events move the ladder: a log that is read again gives the same
// state, and decides nothing.
func TestReplay(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	l.until(4, func(i int) (string, []does) {
		return "", []does{{tool: "bash", args: `{"command":"make"}`, bad: true, result: "error: no rule"}}
	})
	again := NewFold(Default())
	for _, e := range l.log {
		raw := must.Get(event.Encode(e.Body))(t)
		e.Body = must.Get(event.Decode(e.Body.Kind(), event.VersionOf(e.Body), raw))(t)
		again.Apply(e)
	}
	if d := again.Next(); d.Action != Nothing {
		t.Errorf("reading the log again decides %v", d.Action)
	}
	if diff := cmp.Diff(l.f.Stats(), again.Stats()); diff != "" {
		t.Error(diff)
	}
	for _, f := range []*Fold{l.f, again} {
		if b, _ := f.Blocked("bash", json.RawMessage(`{"command":"make"}`)); !b {
			t.Error("the block is lost")
		}
	}
}

// SPEC 6.1: the calls of one reply are one step: alike, they count once, and what is
// new in one of them counts for the reply.
func TestSeveralCalls(t *testing.T) {
	t.Parallel()
	bad := does{tool: "edit", args: `{"path":"a.go","old":"x","new":"y"}`, bad: true, result: "old does not occur"}
	good := does{tool: "read", args: `{"files":[{"path":"b.go"}]}`, result: "1\tb"}
	l := newLive(t)
	for i := range 2 {
		if d := l.step("", bad, bad, bad); d.Action != Nothing {
			t.Errorf("after %d replies %v is due: %s", i+1, d.Action, d.Text)
		}
	}
	d := l.step("", bad, bad, bad)
	if d.Action != Recover || !strings.Contains(d.Text, "a.go") {
		t.Errorf("%v\n%s", d.Action, d.Text)
	}
	d = l.step("", bad, bad, bad)
	if d.Action != Block || !strings.HasPrefix(d.Call, "edit:") {
		t.Errorf("%v blocks %q", d.Action, d.Call)
	}
	// The message is short the second time, and says what ends it.
	if len(d.Text) > 600 || strings.Contains(d.Text, "What shows it") || !strings.Contains(d.Text, "new content of a file") && !strings.Contains(d.Text, "another result") {
		t.Errorf("%d bytes: %s", len(d.Text), d.Text)
	}
	l = newLive(t)
	for range 6 {
		if d = l.step("", bad, bad, good); d.Action == Stop {
			t.Errorf("%s", d.Text)
		}
		good.args = strings.Replace(good.args, "b.go", "bb.go", 1)
		good.result += "b"
	}
	l = newLive(t)
	d = l.step("", bad, bad, bad, does{tool: "write", args: `{"path":"a.go","content":"y"}`, result: "written", file: "a.go", now: "n"})
	if d.Action != Nothing {
		t.Errorf("it found the way out in the same reply, and %v is due", d.Action)
	}
}

// SPEC 6.1: calls of one reply may run at once, so what they are answered comes in any
// order: one call made again in a reply is no failure if the number fell in another.
func TestSameCallAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		order   []int // in which the answers of a reply come
		answer  string
		stopped bool
	}{
		"the largest last":           {[]int{1, 2, 0}, "error: %d bytes left", false},
		"the largest first":          {[]int{0, 1, 2}, "error: %d bytes left", false},
		"the largest in the middle":  {[]int{2, 0, 1}, "FAILED - %d tests to go", false},
		"ten at once":                {[]int{9, 3, 1, 0, 5, 8, 2, 4, 7, 6}, "error: %d bytes left", false},
		"a number that only changes": {[]int{1, 2, 0}, "error: cannot bind, %d tries", true},
	} {
		l := newLive(t)
		ds := l.until(40, func(i int) (string, []does) {
			var calls []does
			for _, k := range c.order {
				n := 4_000_000 - (i*len(c.order)+k)*400
				if c.stopped {
					n = 1000 + (i*7919+k*104729)%97
				}
				calls = append(calls, does{tool: "bash", args: `{"command":"./fix-next"}`, bad: true, result: fmt.Sprintf(c.answer, n) + "\nexit code 1"})
			}
			return "", calls
		})
		if got := slices.ContainsFunc(ds, func(d Decision) bool { return d.Action == Stop }); got != c.stopped || !c.stopped && len(ds) > 0 {
			t.Errorf("%s: %s", name, names(ds))
		}
	}
}

// SPEC 6.5, the pure part.
func TestLadder(t *testing.T) {
	t.Parallel()
	warn := Finding{Level: Warn, Fingerprint: "a"}
	halt := Finding{Level: Halt, Fingerprint: "b"}
	soft := Finding{Level: Warn, Fingerprint: "c", Soft: true}
	take := func(l *Escalation, v Finding) Action {
		r := l.Next(v)
		l.Done(r, v.Fingerprint, "x:1")
		return r
	}
	var l Escalation
	for i, c := range []struct {
		v    Finding
		want Action
	}{{Finding{}, Nothing}, {warn, Recover}, {warn, Block}, {warn, Block}, {halt, Stop}} {
		if got := take(&l, c.v); got != c.want {
			t.Errorf("%d: %v, want %v", i, got, c.want)
		}
	}
	if !l.Blocked("x:1") {
		t.Error("not blocked")
	}
	l.NewContent()
	if l.Blocked("x:1") {
		t.Error("still blocked")
	}
	if got := take(&l, warn); got != Recover {
		t.Errorf("a loop after new content begins with %v", got)
	}
	if got := take(&l, halt); got != Block {
		t.Errorf("a halt without a block before it is %v", got)
	}
	l.Person()
	if take(&l, soft) != Recover || take(&l, soft) != Nothing {
		t.Error("a soft one recovers once")
	}
	l.NewContent()
	if take(&l, soft) != Nothing {
		t.Error("a soft one recovers once, also after new content")
	}
	for i := range 2 * escalationLimit {
		l.Done(Recover, fmt.Sprint(i), "")
	}
	if len(l.stage) > escalationLimit || len(l.order) > escalationLimit {
		t.Errorf("%d fingerprints are kept", len(l.stage))
	}
	for _, r := range []Action{Recover, Block, Stop} {
		if parseAction(r.String()) != r {
			t.Errorf("%v", r)
		}
	}
}
