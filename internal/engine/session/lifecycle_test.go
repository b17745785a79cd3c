package session_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/fsm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
)

// states are the folds of SPEC 1 and 2 over a log.
type states struct {
	agent    lifecycle.Agent
	activity lifecycle.Activity
	calls    lifecycle.Calls
	app      lifecycle.Application
	storage  lifecycle.Storage
}

// follow folds a log and fails where an event needed an illegal transition.
func follow(t failer, es []event.Event) *states {
	t.Helper()
	s := &states{}
	for _, f := range []event.Fold{&s.agent, &s.activity, &s.calls, &s.app, &s.storage} {
		for _, e := range es {
			f.Apply(e)
		}
	}
	for _, v := range slices.Concat(s.agent.Violations(), s.activity.Violations(), s.calls.Violations(), s.app.Violations(), s.storage.Violations()) {
		t.Errorf("event %d %s: %v", v.Seq, v.Kind, v.Err)
	}
	return s
}

// story is a run of a kind, and where it leads.
type story struct {
	mode     string
	script   []llmtest.Turn
	change   func(*session.Config)
	on       func(*rig, event.Event)
	agent    fsm.State
	activity fsm.State
	passes   []fsm.State // activities that the path has, in this order
}

func stories() map[string]story {
	read := llmtest.Use("read", `{"files":[{"path":"a.txt"}]}`)
	touch := llmtest.Use("bash", `{"command":"touch a"}`, "bash", `{"command":"touch b"}`)
	person := func(c *session.Config) { c.Person = true }
	circles := []llmtest.Turn{}
	for range 30 {
		circles = append(circles, llmtest.Use("bash", `{"command":"echo the same"}`))
	}
	reply := func(text string, scope event.Scope, why string) func(*rig, event.Event) {
		return func(r *rig, e event.Event) {
			q, ok := e.Body.(event.Asked)
			if !ok {
				return
			}
			if r.View().State() != lifecycle.Paused || r.View().Activity() != lifecycle.AwaitingPermission {
				r.T.Errorf("a question is open, the agent %s, its activity %s", r.View().State(), r.View().Activity())
			}
			a := session.Answer{ID: q.ID, Text: text}
			for _, one := range q.Questions {
				a.Verdicts = append(a.Verdicts, event.Verdict{Call: one.Call, Scope: scope, Why: why})
			}
			if _, err := r.Submit(r.T.Context(), a); err != nil {
				r.T.Error(err)
			}
		}
	}
	answer := func(scope event.Scope, why string) func(*rig, event.Event) { return reply("yes", scope, why) }
	answerWith := func(text string) func(*rig, event.Event) { return reply(text, event.Once, "") }
	interruptAt := func(kind string) func(*rig, event.Event) {
		return func(r *rig, e event.Event) {
			if e.Body.Kind() == kind {
				_, _ = r.Submit(r.T.Context(), session.Interrupt{By: "person"})
			}
		}
	}
	const idle, agentError, halted = lifecycle.Idle, lifecycle.Error, lifecycle.Halted
	const streaming, executing, progress = lifecycle.StreamingResponse, lifecycle.ExecutingTool, lifecycle.ProgressCheck
	return map[string]story{
		"an answer": {
			script: []llmtest.Turn{llmtest.Say("hi")}, agent: idle, activity: idle,
			passes: []fsm.State{idle, lifecycle.ProcessingPrompt, streaming, idle},
		},
		"a call": {
			script: []llmtest.Turn{read, llmtest.Say("ok")}, agent: idle, activity: idle,
			passes: []fsm.State{streaming, executing, progress, streaming, idle},
		},
		"a plan": {
			script: []llmtest.Turn{llmtest.Use("todo", `{"items":[{"text":"x","status":"in_progress"}]}`)}, agent: idle, activity: idle,
			passes: []fsm.State{executing, progress, lifecycle.PhaseTransition, progress, streaming, idle},
		},
		"denied": {
			script: []llmtest.Turn{llmtest.Use("bash", `{"command":"curl https://example.com -o x"}`)}, agent: idle, activity: idle,
			passes: []fsm.State{streaming, progress, streaming, idle},
		},
		"allowed": {
			script: []llmtest.Turn{touch}, change: person, on: answer(event.Once, ""), agent: idle, activity: idle,
			passes: []fsm.State{streaming, lifecycle.AwaitingPermission, executing, progress, streaming, idle},
		},
		"no with a reason": {
			script: []llmtest.Turn{touch}, change: person, on: answer(event.No, "not now"), agent: idle, activity: idle,
			passes: []fsm.State{lifecycle.AwaitingPermission, streaming, progress, streaming, idle},
		},
		"no": {
			script: []llmtest.Turn{touch}, change: person, on: answer(event.No, ""), agent: idle, activity: idle,
			passes: []fsm.State{lifecycle.AwaitingPermission, streaming, progress, idle},
		},
		"the model asks while a command runs": {
			mode: "yolo", script: []llmtest.Turn{llmtest.Use("bash", `{"command":"echo x"}`, "ask_user", `{"question":"which?"}`)}, change: person,
			on: answer(event.Once, ""), agent: idle, activity: idle,
			passes: []fsm.State{executing, lifecycle.AwaitingPermission, executing, progress, idle},
		},
		"interrupted at a question": {
			script: []llmtest.Turn{touch}, change: person, on: interruptAt("asked"), agent: idle, activity: idle,
			passes: []fsm.State{lifecycle.AwaitingPermission, progress, idle},
		},
		"interrupted in a command": {
			mode: "yolo", script: []llmtest.Turn{llmtest.Use("bash", `{"command":"sleep 1000"}`)}, on: interruptAt("call_started"), agent: idle, activity: idle,
			passes: []fsm.State{executing, progress, idle},
		},
		"interrupted in a request": {
			script: []llmtest.Turn{{Text: "half", Wait: make(chan struct{})}}, on: interruptAt("text_delta"), agent: idle, activity: idle,
			passes: []fsm.State{streaming, idle},
		},
		"a retry": {
			script: []llmtest.Turn{{Err: fault.NewProvider("p", 503, "busy", nil)}, llmtest.Say("ok")}, agent: idle, activity: idle,
			change: func(c *session.Config) { c.Jitter = func() float64 { return 0 } },
			passes: []fsm.State{streaming, lifecycle.ErrorRecovery, streaming, idle},
		},
		"a broken provider": {
			script: []llmtest.Turn{{Err: fault.NewProvider("p", 404, "no such model", nil)}}, agent: agentError, activity: halted,
			passes: []fsm.State{streaming, halted},
		},
		"in circles": {
			mode: "yolo", script: circles, change: judged, agent: idle, activity: halted,
			passes: []fsm.State{progress, lifecycle.ErrorRecovery, streaming, progress, lifecycle.ErrorRecovery, streaming, halted},
		},
		"in circles, and a person says stop": {
			mode: "yolo", script: circles, change: func(c *session.Config) { judged(c); person(c) }, on: answerWith("stop"), agent: idle, activity: halted,
			passes: []fsm.State{lifecycle.ErrorRecovery, streaming, lifecycle.AwaitingPermission, halted},
		},
		"no budget": {
			script: []llmtest.Turn{read}, change: func(c *session.Config) { c.Person, c.Limits = true, budget.Limits{USD: 0.001} }, on: answerWith("stop"),
			agent: idle, activity: halted,
			passes: []fsm.State{lifecycle.ProcessingPrompt, lifecycle.AwaitingPermission, lifecycle.ProcessingPrompt, halted},
		},
		"out of steps": {
			script: []llmtest.Turn{read, read, read}, change: func(c *session.Config) { c.Limits = budget.Limits{Steps: 1} }, agent: idle, activity: halted,
			passes: []fsm.State{progress, halted},
		},
	}
}

// SPEC 1.5, 2.2, 2.3: the states that a session shows are those of its log, no
// event of a real run needs an illegal transition, and the next prompt starts
// afresh, whatever happened before.
func TestStatesOfRealRuns(t *testing.T) {
	for name, c := range stories() {
		t.Run(name, func(t *testing.T) {
			if c.mode == "" {
				c.mode = "ask"
			}
			r := newRig(t, c.mode, llmtest.New(c.script...), func(cfg *session.Config) {
				if c.change != nil {
					c.change(cfg)
				}
			})
			r.Put("a.txt", "one\n")
			if r.View().State() != lifecycle.Idle || r.View().Activity() != lifecycle.Idle {
				t.Errorf("opened: %s, %s", r.View().State(), r.View().Activity())
			}
			r.Run("go", func(e event.Event) {
				if c.on != nil {
					c.on(r, e)
				}
			})
			s := follow(t, r.Log())
			if r.View().State() != c.agent || r.View().Activity() != c.activity || s.agent.State() != c.agent || s.activity.State() != c.activity {
				t.Errorf("agent %s, activity %s; of the log %s, %s; want %s, %s", r.View().State(), r.View().Activity(), s.agent.State(), s.activity.State(), c.agent, c.activity)
			}
			path := r.View().Path()
			if !slices.Equal(path, s.activity.Path()) || !inOrder(path, c.passes) {
				t.Errorf("the path is %v, of the log %v; want %v in it", path, s.activity.Path(), c.passes)
			}
			if open := s.calls.Open(); len(open) > 0 {
				t.Errorf("open calls: %v", open)
			}
			r.Run("again", func(e event.Event) {
				if c.on != nil && e.Body.Kind() == "asked" {
					c.on(r, e)
				}
			})
			follow(t, r.Log())
			if got := r.View().Path(); got[0] != lifecycle.Idle || got[1] != lifecycle.ProcessingPrompt {
				t.Errorf("the next run begins with %v", got)
			}
			_ = r.Close()
			if r.View().State() != lifecycle.Disposed {
				t.Errorf("closed: %s", r.View().State())
			}
		})
	}
}

// inOrder reports whether path contains the states of want in this order.
func inOrder(path, want []fsm.State) bool {
	for _, s := range path {
		if len(want) > 0 && s == want[0] {
			want = want[1:]
		}
	}
	return len(want) == 0
}

// SPEC 2.3, 4.8: wherever a process dies, taking the session up needs no
// illegal transition either, and leaves nothing paused or running.
func TestStatesAfterACrash(t *testing.T) {
	all := stories()
	for _, name := range []string{"a plan", "allowed", "a retry", "the model asks while a command runs"} {
		c := all[name]
		r := newRig(t, "ask", llmtest.New(c.script...), func(cfg *session.Config) {
			if c.change != nil {
				c.change(cfg)
			}
		})
		r.Run("go", func(e event.Event) {
			if c.on != nil {
				c.on(r, e)
			}
		})
		es := r.Log()
		for n := 1; n < len(es); n++ {
			st := memory.New(time.Now)
			last := int64(0)
			for _, e := range es[:n] {
				got := must.Get(st.Append(t.Context(), "s1", last, event.Draft{Cause: e.Cause, Body: e.Body}))(t)
				last = got[0].Seq
			}
			cfg := r.Cfg
			cfg.Store, cfg.Model, cfg.Permission = st, llmtest.New(), policy(t, "ask", r.Dir)
			again := over(t, cfg)
			if again.View().State() != lifecycle.Idle && again.View().State() != lifecycle.Error || again.View().Activity() != lifecycle.Idle && again.View().Activity() != lifecycle.Halted {
				t.Errorf("%s, cut at %d: agent %s, activity %s", name, n, again.View().State(), again.View().Activity())
			}
			again.Run("and then?", nil)
			follow(t, again.Log())
			_ = again.Close()
		}
	}
}

// SPEC 1.4: listeners hear what happens live, in order, and nothing of what is
// replayed; one that panics stops nobody.
func TestListen(t *testing.T) {
	r := newRig(t, "ask", llmtest.New())
	r.Run("hello", nil)
	_ = r.Close()
	r.Open()
	var heard, broke []string
	r.View().Listen(func(machine string, _, to fsm.State, _ fsm.Meta) {
		if machine == "agent" && to == lifecycle.Running {
			panic(errors.New("ouch"))
		}
	}, func(v any) { broke = append(broke, fmt.Sprint(v)) })
	r.View().Listen(func(machine string, from, to fsm.State, m fsm.Meta) {
		if machine == "agent" {
			heard = append(heard, fmt.Sprint(from, ">", to, " by ", m["event"], " ", r.View().State()))
		}
	}, nil)
	r.Run("again", nil)
	_ = r.Close()
	want := []string{
		"idle>initializing by prompted initializing", "initializing>running by requested running",
		"running>completing by ended completing", "completing>idle by ended idle", "idle>disposed by <nil> disposed",
	}
	if !slices.Equal(heard, want) || !slices.Equal(broke, []string{"ouch"}) {
		t.Errorf("heard %q, want %q; broke %q", heard, want, broke)
	}
}
