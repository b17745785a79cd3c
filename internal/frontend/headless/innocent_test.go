package headless

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// innocent is a run that only looks as if it went in circles.
type innocent struct {
	model  func() *llmtest.Model
	prompt string
	files  map[string]string
	warns  string // the one rule that may speak, "" for none
	calls  int    // that the run has
}

func innocents() map[string]innocent {
	script := "#!/bin/sh\n"
	write := func(n int) llmtest.Turn {
		return llmtest.Use("write", object("path", "a.go", "content", fmt.Sprintf("package a\n\nvar n = %d\n", n)))
	}
	test := func(n int) llmtest.Turn {
		if n%2 == 0 {
			return write(n)
		}
		return bash("./gradlew test")
	}
	many := map[string]string{}
	for i := range 20 {
		many[fmt.Sprintf("f%02d.txt", i)] = fmt.Sprintf("this is file %d\n", i)
	}
	pages := strings.Builder{}
	for i := range 3000 {
		fmt.Fprintf(&pages, "line %d of it\n", i)
	}
	return map[string]innocent{
		"polling with changing output": {
			calls: 30, files: map[string]string{"count": "0\n", "poll": script + "n=$(cat count)\necho $((n+1)) > count\necho \"$n of 30 done\"\n"},
			model: doneAfter(30, func(int) llmtest.Turn { return bash("./poll") }),
		},
		"waiting for a background job": {
			calls: 40, warns: "staleness",
			model: doneAfter(40, func(n int) llmtest.Turn {
				if n == 0 {
					return llmtest.Use("bash", `{"command":"sleep 20","background":true}`)
				}
				return llmtest.Use("bash_output", `{"id":"bg1"}`)
			}),
		},
		"a test after each edit": {
			calls: 40, files: map[string]string{"gradlew": script + "echo \"checked $(cat a.go)\"\n"},
			model: doneAfter(40, test),
		},
		"the same failure after each edit": {
			calls: 24, warns: "same_failure", files: map[string]string{"gradlew": script + "echo 'FAIL: want 3, got 4' >&2\nexit 1\n"},
			model: doneAfter(24, test),
		},
		"paging through a file": {
			calls: 30, files: map[string]string{"long.txt": pages.String()},
			model: doneAfter(30, func(n int) llmtest.Turn {
				return llmtest.Use("read", fmt.Sprintf(`{"files":[{"path":"long.txt","from":%d,"to":%d}]}`, 100*n+1, 100*n+100))
			}),
		},
		"a first read of 20 files": {
			calls: 20, files: many,
			model: doneAfter(20, func(n int) llmtest.Turn { return read(fmt.Sprintf("f%02d.txt", n)) }),
		},
		"what the person asked to repeat": {
			calls: 25, prompt: "run `echo hi` 25 times",
			model: doneAfter(25, func(int) llmtest.Turn { return bash("echo hi") }),
		},
		"calls that are rate limited": {
			calls: 20, warns: "staleness",
			model: doneAfter(20, func(n int) llmtest.Turn {
				if n == 19 {
					return bash("echo 200 OK")
				}
				return bash("echo 'HTTP 429: too many requests, try again later' >&2; exit 1")
			}),
		},
		"a thousand productive calls": {
			calls: 1000,
			model: doneAfter(1000, func(n int) llmtest.Turn {
				switch n % 4 {
				case 0, 2:
					return llmtest.Use("write", object("path", fmt.Sprintf("p%d.txt", n%40), "content", fmt.Sprintf("%d\n", n)))
				case 1:
					return read(fmt.Sprintf("p%d.txt", (n-1)%40))
				}
				return llmtest.Use("grep", object("pattern", fmt.Sprintf("^%d$", n-1)))
			}),
		},
	}
}

// SPEC 6.1, 6.4: what only looks like a loop runs to its end with exit code 0,
// and no call of it is blocked.
func TestInnocentRuns(t *testing.T) {
	for name, c := range innocents() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAgent(t, c.model(), c.files, func(cfg *session.Config) { cfg.Sleep = atOnce })
			prompt := c.prompt
			if prompt == "" {
				prompt = "fix it"
			}
			var out, errs bytes.Buffer
			r := must.Get(Run(t.Context(), a.Session, prompt, opts(JSON, &out, &errs)))(t)
			if r.ExitCode != 0 || r.Text != "it is done" || r.Calls != c.calls {
				t.Errorf("exit code %d, %d calls, %q, %+v", r.ExitCode, r.Calls, r.Text, r.Error)
			}
			for _, s := range a.stucks() {
				if s.Level != "recovery" || s.Rule != c.warns {
					t.Errorf("%s by %s: %q", s.Level, s.Rule, s.Evidence)
				}
			}
			if bad := a.View().States().Violations; len(bad) > 0 {
				t.Errorf("illegal transitions: %+v", bad)
			}
		})
	}
}

// SPEC 3.4, 6.4: retries of a provider's rate limits are no loop, however many
// steps have them.
func TestRateLimitRetriesAreNoLoop(t *testing.T) {
	n := 0
	m := llmtest.New()
	m.Next = func(int, *llm.Request) llmtest.Turn {
		switch n++; {
		case n%4 != 0:
			return llmtest.Turn{Err: &fault.Error{Category: fault.Provider, Retryable: true, Message: "429 too many requests"}}
		case n >= 80:
			return llmtest.Say("it is done")
		}
		return llmtest.Use("write", object("path", "a.txt", "content", fmt.Sprint(n)))
	}
	a := newAgent(t, m, nil, func(cfg *session.Config) { cfg.Sleep = atOnce })
	var out, errs bytes.Buffer
	r, err := Run(t.Context(), a.Session, "go", opts(Text, &out, &errs))
	if err != nil || r.ExitCode != 0 || r.Calls != 19 || len(a.stucks()) != 0 {
		t.Errorf("%+v, %v, %+v", r, err, a.stucks())
	}
}

// turnOf runs a prompt of any source to the end of its turn. It gives what the
// turn recorded.
func (a *agent) turnOf(p session.Prompt, on func(event.Event)) []event.Event {
	a.t.Helper()
	events := a.Events(a.t.Context(), a.View().Last())
	must.Done(a.t)(a.Submit(a.t.Context(), p))
	var out []event.Event
	for e, err := range events {
		must.Do(a.t, err)
		out = append(out, e)
		if on != nil {
			on(e)
		}
		if _, ok := e.Body.(event.Ended); ok {
			return out
		}
	}
	a.t.Fatal("the events ended before the turn")
	return nil
}

// onceATurn makes the same failing call once in each turn, and then says
// something else.
func onceATurn() *llmtest.Model {
	m := llmtest.New()
	m.Next = func(n int, _ *llm.Request) llmtest.Turn {
		if n%2 == 0 {
			return bash("echo broken >&2; exit 1")
		}
		return llmtest.Say(fmt.Sprintf("try %d of mine did not work", n))
	}
	return m
}

// SPEC 6.3, 6.7: a loop that is spread over autofix or hook prompts, and over a
// process that ended, is still seen; a person's message clears it.
func TestLoopSpreadOverPrompts(t *testing.T) {
	for name, c := range map[string]struct {
		source event.Source
		reopen bool
		seen   bool
	}{
		"autofix":                         {event.Autofix, false, true},
		"hooks":                           {event.Hook, false, true},
		"autofix, each in a new process":  {event.Autofix, true, true},
		"a person":                        {event.Person, false, false},
		"a person, each in a new process": {event.Person, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAgent(t, onceATurn(), nil)
			a.turnOf(session.Prompt{Text: "fix it"}, nil)
			ended := event.EndDone
			for i := range 6 {
				if c.reopen {
					_ = a.Close()
					a.open()
				}
				es := a.turnOf(session.Prompt{Source: c.source, Text: fmt.Sprint("it still fails, ", i)}, nil)
				ended = es[len(es)-1].Body.(event.Ended).End
				if ended == event.EndStuck {
					break
				}
			}
			var steps []string
			for _, s := range a.stucks() {
				steps = append(steps, s.Level)
			}
			got := strings.Join(steps, " ")
			if c.seen && (ended != event.EndStuck || !strings.HasPrefix(got, "recovery ") || !strings.Contains(got, "block") || !strings.HasSuffix(got, "halt")) {
				t.Errorf("ended %s, the ladder went %q", ended, got)
			}
			if !c.seen && (ended != event.EndDone || got != "") {
				t.Errorf("ended %s, the ladder went %q", ended, got)
			}
		})
	}
}

// SPEC 6.7: prompts of a hook that join the running turn, retries between the
// calls, and compactions of a small window hide no loop.
func TestLoopSpreadOverTheTurn(t *testing.T) {
	long := "for i in $(seq 1 400); do echo line $i of the same long output; done"
	for name, c := range map[string]struct {
		next   func(n int) llmtest.Turn
		change func(*session.Config)
		join   bool
		wants  string // a kind of event that lies between
	}{
		"retries": {
			next: func(n int) llmtest.Turn {
				if n%2 == 0 {
					return llmtest.Turn{Err: &fault.Error{Category: fault.Provider, Retryable: true, Message: "overloaded"}}
				}
				return bash("expr 3 + 4")
			},
			change: func(c *session.Config) { c.Sleep = atOnce }, wants: "retried",
		},
		"prompts of a hook": {
			next: func(int) llmtest.Turn { return bash("expr 3 + 4") },
			join: true, wants: "prompted",
		},
		"compactions": {
			// What is new and long between fills the window.
			next: func(n int) llmtest.Turn {
				if n%4 == 3 {
					return llmtest.Use("read", `{"files":[{"path":"big.txt"}]}`)
				}
				return bash(long)
			},
			change: func(c *session.Config) {
				info := llmtest.New().InfoValue
				info.Window, info.MaxOutput = 6000, 500
				c.Model.(*llmtest.Model).InfoValue = info
			},
			wants: "compacted",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, n := llmtest.New(), -1
			m.Next = func(_ int, r *llm.Request) llmtest.Turn {
				if len(r.Head.Tools) == 0 { // what a compaction asks for is no step of the loop
					return llmtest.Say("Goal: find the fault in the long output.\nLearned: the file big.txt has only words; the command prints the same lines each time, and none of them names the fault.")
				}
				if n++; n > 200 {
					return llmtest.Say("nobody saw it")
				}
				return c.next(n)
			}
			a := newAgent(t, m, map[string]string{"big.txt": strings.Repeat("words in a big file\n", 300)}, func(cfg *session.Config) {
				if c.change != nil {
					c.change(cfg)
				}
			})
			es := a.turnOf(session.Prompt{Text: "fix it"}, func(e event.Event) {
				if _, ok := e.Body.(event.CallDone); ok && c.join {
					_, _ = a.Submit(t.Context(), session.Prompt{Source: event.Hook, Text: "mind the style"})
				}
			})
			between, calls := 0, 0
			for _, e := range es {
				if e.Body.Kind() == c.wants {
					between++
				}
				if e.Body.Kind() == "call_done" {
					calls++
				}
			}
			if end := es[len(es)-1].Body.(event.Ended); end.End != event.EndStuck || between == 0 || calls > 30 {
				t.Errorf("%+v after %d calls with %d of %s between", end, calls, between, c.wants)
			}
			if len(a.stucks()) == 0 {
				t.Error("nobody was told")
			}
		})
	}
}

// atOnce is a Sleep that does not wait.
func atOnce(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// SPEC 6.7: a window that is filled and compacted again and again with nothing
// new is a loop: exit code 5.
func TestEndlessCompactionIsALoop(t *testing.T) {
	m := llmtest.New()
	m.InfoValue.Window, m.InfoValue.MaxOutput = 3000, 300
	m.Next = func(n int, r *llm.Request) llmtest.Turn {
		if n > 400 {
			return llmtest.Say("nobody saw it")
		}
		return llmtest.Turn{Text: fmt.Sprintf("thought %d: %s", n, strings.Repeat(fmt.Sprintf("w%d ", n), 300)), Stop: llm.StopPaused}
	}
	a := newAgent(t, m, nil)
	var out, errs bytes.Buffer
	r := must.Get(Run(t.Context(), a.Session, "go", opts(JSON, &out, &errs)))(t)
	if r.ExitCode != 5 {
		t.Errorf("%+v", r)
	}
}

// SPEC 6.5: with a person there a halt asks; "go on" and free words go on with a
// clean slate, "stop" ends the turn, and free words reach the model.
func TestHaltAsksThePerson(t *testing.T) {
	for answer, want := range map[string]event.End{"go on": event.EndDone, "stop": event.EndStuck, "try the other file": event.EndDone} {
		asked := 0
		m := llmtest.New()
		m.Next = func(_ int, r *llm.Request) llmtest.Turn {
			if asked > 0 {
				return llmtest.Say("it is done")
			}
			return bash("expr 3 + 4")
		}
		a := newAgent(t, m, nil, func(c *session.Config) { c.Person = true })
		es := a.turnOf(session.Prompt{Text: "fix it"}, func(e event.Event) {
			if q, ok := e.Body.(event.Asked); ok {
				asked++
				if q.Why != "stuck" || a.View().State() != "paused" || len(q.Options) != 2 || !strings.Contains(q.Text, "5 times in a row") {
					t.Errorf("%s: asked %+v in state %s", answer, q, a.View().State())
				}
				if _, err := a.Submit(t.Context(), session.Answer{ID: q.ID, Text: answer}); err != nil {
					t.Error(err)
				}
			}
		})
		if end := es[len(es)-1].Body.(event.Ended); end.End != want || asked != 1 {
			t.Errorf("%s: %+v after %d questions", answer, end, asked)
		}
		told := fmt.Sprint(m.Requests()[len(m.Requests())-1].Messages)
		if has := strings.Contains(told, "The user says: "+answer); has != (want == event.EndDone) {
			t.Errorf("%s: the model was told: %v", answer, has)
		}
	}
}

// SPEC 6.5: a person who lets a model go on that says one passage over and over
// is asked again when it does not stop, and ends it; tries that the ladder
// counts are not those of a failing host.
func TestRunawayReplyAndAPerson(t *testing.T) {
	m := llmtest.New()
	m.Next = func(int, *llm.Request) llmtest.Turn {
		return llmtest.Turn{Text: strings.Repeat(passage, 7000), Piece: 200}
	}
	a := newAgent(t, m, nil, func(c *session.Config) { c.Person = true })
	asked := 0
	es := a.turnOf(session.Prompt{Text: "fix it"}, func(e event.Event) {
		if q, ok := e.Body.(event.Asked); ok {
			answer := "go on"
			if asked++; asked == 3 {
				answer = "stop"
			}
			if _, err := a.Submit(t.Context(), session.Answer{ID: q.ID, Text: answer}); err != nil {
				t.Error(err)
			}
		}
	})
	if end := es[len(es)-1].Body.(event.Ended); end.End != event.EndStuck || asked != 3 || len(m.Requests()) != 9 {
		t.Errorf("%+v after %d questions and %d requests", end, asked, len(m.Requests()))
	}
}
