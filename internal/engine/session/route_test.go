package session_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/route"
)

// routedRig is a rig whose prompts are routed.
func routedRig(t *testing.T, mode, way string, person bool, m *llmtest.Model) *rig {
	t.Helper()
	return newRig(t, mode, m, func(c *session.Config) {
		c.Route, c.Person = route.Config{Mode: way, Model: true}, person
	})
}

var writeIt = args(map[string]string{"path": "a.txt", "content": "two\n"})

// routes are the routes of the events, as "route by".
func routes(es []event.Event) []string {
	var out []string
	for _, r := range find[event.Routed](es) {
		out = append(out, r.Route+" "+string(r.By))
	}
	return out
}

func notes(es []event.Event) string {
	var out []string
	for _, n := range find[event.Noted](es) {
		if n.Why == "route" {
			out = append(out, n.Text)
		}
	}
	return strings.Join(out, "\n")
}

// SPEC 13.1: where nobody can widen a route, none takes a right and the model is told
// nothing, whatever the prompt was taken for.
func TestRouteWithoutPerson(t *testing.T) {
	for prompt, want := range map[string]string{
		"what does the test do?":                               "read pattern",
		"Why does the test fail? Do not change anything.":      "read pattern",
		"run the seed script":                                  "run_command pattern",
		"The header is gone. Expected: a header. Why is that?": "edit pattern",
	} {
		m := llmtest.New(llmtest.Use("write", writeIt), llmtest.Use("bash", `{"command":"echo x > b.txt"}`), llmtest.Say("done"))
		r := routedRig(t, "yolo", route.Auto, false, m)
		es := r.Run(prompt, nil)
		if got := routes(es); !slices.Equal(got, []string{want}) || len(r.View().Route().Rights) != 3 || r.View().Route().Explicit {
			t.Errorf("%s: %q, %+v", prompt, got, r.View().Route())
		}
		if r.File("a.txt") != "two\n" || r.File("b.txt") != "x\n" || len(find[event.Blocked](es)) > 0 || notes(es) != "" {
			t.Errorf("%s: %v, %q", prompt, find[event.Blocked](es), notes(es))
		}
	}
}

// SPEC 13.1: a route that somebody set holds in a run without a person, for tools and for
// commands, and the refusal says why.
func TestRouteThatWasSet(t *testing.T) {
	m := llmtest.New(llmtest.Use("write", writeIt), llmtest.Use("bash", `{"command":"touch b.txt"}`), llmtest.Use("read", `{"files":[{"path":"seen.txt"}]}`), llmtest.Say("done"))
	r := routedRig(t, "yolo", route.Read, false, m)
	r.Put("seen.txt", "here\n")
	es := r.Run("fix the test", nil)
	if got := r.File("a.txt") + r.File("b.txt"); strings.Count(got, "no such file") != 2 {
		t.Errorf("changed: %s", got)
	}
	blocked := find[event.Blocked](es)
	if len(blocked) != 2 || blocked[0].By != "route" || blocked[1].By != "route" || !strings.Contains(blocked[0].Reason, "as was asked for") {
		t.Errorf("%+v", blocked)
	}
	done := find[event.CallDone](es)
	if len(done) != 3 || done[2].Outcome != event.OK {
		t.Errorf("reading is not narrowed: %+v", done)
	}
	if !strings.Contains(notes(es), "asked for no changes") {
		t.Errorf("%q", notes(es))
	}
}

// SPEC 13.1: in a mode that asks about each edit, a question's turn asks as any other: for
// the same reason, and with the choice to allow edits for the session.
func TestRouteKeepsTheChoices(t *testing.T) {
	ask := func(prompt string) event.Question {
		t.Helper()
		r := routedRig(t, "ask", route.Auto, true, llmtest.New(llmtest.Use("write", writeIt), llmtest.Say("done")))
		var asked []event.Question
		r.Run(prompt, func(e event.Event) {
			if q, ok := e.Body.(event.Asked); ok {
				asked = append(asked, q.Questions...)
				if _, err := r.Submit(context.Background(), session.Answer{ID: q.ID, Verdicts: []event.Verdict{{Call: q.Questions[0].Call, Scope: event.Once}}}); err != nil {
					t.Error(err)
				}
			}
		})
		if len(asked) != 1 {
			t.Fatalf("%s: %d questions", prompt, len(asked))
		}
		return asked[0]
	}
	want := ask("add a flag")
	for _, prompt := range []string{"what does the flag do?", "run the tests", "where is it?"} {
		if got := ask(prompt); got.Reason != want.Reason || got.Edits != want.Edits || got.Pattern != want.Pattern || got.Always != want.Always || !got.Edits {
			t.Errorf("%s: %+v, want %+v", prompt, got, want)
		}
	}
	if got := ask("What does the flag do? Do not change anything."); got.Edits || !strings.Contains(got.Reason, "says not to change anything") {
		t.Errorf("%+v", got)
	}
}

// SPEC 13.1: a route never gives what the mode does not: it only narrows.
func TestRouteNeverWidensTheMode(t *testing.T) {
	for _, way := range []string{route.Auto, route.Edit} {
		r := routedRig(t, "plan", way, false, llmtest.New(llmtest.Use("write", writeIt), llmtest.Say("done")))
		es := r.Run("what does the test do?", nil)
		b := find[event.Blocked](es)
		if len(b) != 1 || b[0].By != "mode" || strings.Contains(r.File("a.txt"), "two") || slices.Contains(routes(es), "edit model asked") {
			t.Errorf("%s: %+v, %v", way, b, routes(es))
		}
	}
	// Where nobody is there and the mode would ask, the refusal is the mode's.
	r := routedRig(t, "ask", route.Auto, false, llmtest.New(llmtest.Use("write", writeIt), llmtest.Say("done")))
	es := r.Run("what does the test do?", nil)
	if b := find[event.Blocked](es); len(b) != 1 || b[0].By != "headless" || len(routes(es)) != 1 {
		t.Errorf("%+v, %v", b, routes(es))
	}
}

// SPEC 13.1: a person is asked once; a yes holds for the turn, and no longer.
func TestRouteAsksAPerson(t *testing.T) {
	second := args(map[string]string{"path": "b.txt", "content": "three\n"})
	m := llmtest.New(llmtest.Use("write", writeIt), llmtest.Use("write", second), llmtest.Say("done"), llmtest.Use("write", args(map[string]string{"path": "c.txt", "content": "x"})))
	r := routedRig(t, "accept-edits", route.Auto, true, m)
	var asked []event.Question
	scope := event.Once
	answer := func(e event.Event) {
		if q, ok := e.Body.(event.Asked); ok {
			asked = append(asked, q.Questions...)
			if _, err := r.Submit(context.Background(), session.Answer{ID: q.ID, Verdicts: []event.Verdict{{Call: q.Questions[0].Call, Scope: scope}}}); err != nil {
				t.Error(err)
			}
		}
	}
	es := r.Run("what does the test do?", answer)
	if len(asked) != 1 || !strings.Contains(asked[0].Reason, "reads as a question") || r.File("a.txt") != "two\n" || r.File("b.txt") != "three\n" {
		t.Errorf("%+v %q %q", asked, r.File("a.txt"), r.File("b.txt"))
	}
	if got := routes(es); !slices.Equal(got, []string{"read pattern", "edit person"}) {
		t.Error(got)
	}
	scope = event.No
	es = r.Run("what does it do now?", answer)
	if len(asked) != 2 || !strings.Contains(r.File("c.txt"), "no such file") || find[event.Ended](es)[0].End != event.EndPermission {
		t.Errorf("%d questions, %q, %+v", len(asked), r.File("c.txt"), find[event.Ended](es))
	}
}

// SPEC 13.1: the project's checks are part of answering, and a command to run may run,
// without a question.
func TestRouteRights(t *testing.T) {
	m := llmtest.New(
		llmtest.Use("bash", `{"command":"go vet ./..."}`), llmtest.Say("it is clean"),
		llmtest.Use("bash", `{"command":"echo hello > out.txt"}`), llmtest.Say("done"),
	)
	r := routedRig(t, "yolo", route.Auto, true, m)
	es := r.Run("what does go vet say?", nil)
	if got := routes(es); !slices.Equal(got, []string{"read pattern"}) || !strings.Contains(notes(es), "may be wrong") {
		t.Errorf("%q, %q", got, notes(es))
	}
	if done := find[event.CallDone](es); len(done) != 1 || done[0].Command != "go vet ./..." || done[0].Exit == nil {
		t.Errorf("go vet did not run: %+v", done)
	}
	es = r.Run("run the seed script", nil)
	if got := routes(es); !slices.Equal(got, []string{"run_command pattern"}) || r.File("out.txt") != "hello\n" {
		t.Errorf("%q, %q", got, r.File("out.txt"))
	}
}

// SPEC 9.4, 13.1: a route is an appended part: system prompt, tools and what
// went before stay byte for byte.
func TestRouteKeepsThePrefix(t *testing.T) {
	m := llmtest.New(llmtest.Say("one"), llmtest.Say("two"), llmtest.Say("three"))
	r := routedRig(t, "accept-edits", route.Auto, true, m)
	r.Run("add a flag", nil)
	r.Run("what does it do?", nil)
	r.Run("run the tests", nil)
	rs := m.Requests()
	for i := 1; i < len(rs); i++ {
		old, now := rs[i-1], rs[i]
		if now.Head.System != old.Head.System || args(now.Head.Tools) != args(old.Head.Tools) || args(now.Messages[:len(old.Messages)]) != args(old.Messages) {
			t.Errorf("request %d does not extend the one before", i)
		}
	}
}

// replies answers every question of a session so.
func replying(t *testing.T, r *rig, scope event.Scope) func(event.Event) {
	return func(e event.Event) {
		if q, ok := e.Body.(event.Asked); ok {
			if _, err := r.Submit(context.Background(), session.Answer{ID: q.ID, Verdicts: []event.Verdict{{Call: q.Questions[0].Call, Scope: scope}}}); err != nil {
				t.Error(err)
			}
		}
	}
}

// SPEC 13.2: only what a person typed is routed, and what checks say changes no
// route: not the one that holds, and not to a wider one.
func TestOnlyAPersonIsRouted(t *testing.T) {
	m := llmtest.New(llmtest.Say("because"), llmtest.Use("write", writeIt), llmtest.Say("done"))
	r := routedRig(t, "accept-edits", route.Auto, true, m)
	r.Run("why is it slow? do not change anything", nil)
	events := r.Events(t.Context(), r.View().Last())
	must.Done(t)(r.Submit(t.Context(), session.Prompt{Source: event.Autofix, Text: "The tests fail. Fix them."}))
	var es []event.Event
	refuse := replying(t, r, event.No)
	for e := range events {
		es = append(es, e)
		refuse(e)
		if _, ok := e.Body.(event.Ended); ok {
			break
		}
	}
	if len(routes(es)) != 0 || len(find[event.Asked](es)) != 1 || !strings.Contains(r.File("a.txt"), "no such file") {
		t.Errorf("%v, %+v, %q", routes(es), find[event.Blocked](es), r.File("a.txt"))
	}
}

// SPEC 13.1: a prompt that joins a running turn: the wider of both rights
// holds; one that says nothing of its own, and a command, lift no "do not".
func TestRouteOfAJoiningPrompt(t *testing.T) {
	for joins, want := range map[string]struct {
		route   event.Routed
		written bool
	}{
		"ok, now fix it":         {event.Routed{Route: route.Edit}, true},
		"it fails in b_test.go":  {event.Routed{Route: route.Read, Explicit: true}, false},
		"the one in b_test.go":   {event.Routed{Route: route.Read, Explicit: true}, false},
		"and how is it measured": {event.Routed{Route: route.Read, Explicit: true}, false},
		"run the tests":          {event.Routed{Route: route.Run, Explicit: true}, false},
	} {
		var r *rig
		first := llmtest.Use("bash", `{"command":"ls"}`)
		first.Before = func(*llm.Request) {
			if _, err := r.Submit(context.Background(), session.Prompt{Text: joins}); err != nil {
				t.Error(err)
			}
		}
		r = routedRig(t, "accept-edits", route.Auto, true, llmtest.New(first, llmtest.Use("write", writeIt), llmtest.Say("done")))
		es := r.Run("explain the test, but do not change anything", replying(t, r, event.No))
		if got := r.View().Route(); got.Route != want.route.Route || got.Explicit != want.route.Explicit {
			t.Errorf("%s: %+v", joins, got)
		}
		if got := r.File("a.txt") == "two\n"; len(find[event.Prompted](es)) != 2 || got != want.written {
			t.Errorf("%s: written %v, routes %v", joins, got, routes(es))
		}
		if told := strings.Contains(notes(es), "changes are allowed again"); told != want.written {
			t.Errorf("%s: %q", joins, notes(es))
		}
	}
}

// SPEC 8.1, 13.1: a model is asked with one small request, whose cost counts,
// only where the words do not tell and the answer could change something.
func TestRouteAsksAModel(t *testing.T) {
	ask := "the thing with the blue header and the three boxes"
	m := llmtest.New(llmtest.Say(" Read.\n"), llmtest.Say("an answer"))
	r := routedRig(t, "accept-edits", route.Auto, true, m)
	es := r.Run(ask, nil)
	if got := routes(es); !slices.Equal(got, []string{"read model"}) {
		t.Error(got)
	}
	charged := find[event.Charged](es)
	if len(charged) != 1 || charged[0].By != "route" || charged[0].Requests != 1 || charged[0].USD == nil || *charged[0].USD <= 0 {
		t.Errorf("%+v", charged)
	}
	q := m.Requests()[0]
	if q.Tail.MaxTokens == 0 || q.Tail.MaxTokens > 20+2048 || len(q.Head.Tools) != 0 || len(q.Messages) != 1 || !strings.Contains(q.Messages[0].Text(), "-----\n"+ask) {
		t.Errorf("%+v", q)
	}
	for name, c := range map[string]struct {
		mode   string
		person bool
		prompt string
		api    string
	}{
		"plain words": {"accept-edits", true, "what does it do?", ""},
		"no person":   {"accept-edits", false, ask, ""},
		"asks anyway": {"ask", true, ask, ""},
		"reads only":  {"plan", true, ask, ""},
		"offline":     {"accept-edits", true, ask, "offline"},
		"two words":   {"accept-edits", true, "blue header", ""},
	} {
		m := llmtest.New(llmtest.Say("an answer"))
		if c.api != "" {
			m.InfoValue.API = c.api
		}
		r := routedRig(t, c.mode, route.Auto, c.person, m)
		if es := r.Run(c.prompt, nil); len(m.Requests()) != 1 || len(find[event.Charged](es)) != 0 {
			t.Errorf("%s: %d requests", name, len(m.Requests()))
		}
	}
}

// SPEC 13.2: whatever goes wrong with the classification, the turn goes on as
// an edit, and the log says what was wrong.
func TestRouteFailsOpen(t *testing.T) {
	for name, turn := range map[string]llmtest.Turn{
		"an error":         {Err: errors.New("the server is on fire")},
		"a broken reply":   {Text: "re", Err: errors.New("cut")},
		"another word":     {Text: "delete"},
		"more than a word": {Text: "read, because the user wants to know"},
		"nothing":          {Text: ""},
		"a refusal":        {Text: "I cannot help with that", Stop: llm.StopRefusal},
	} {
		m := llmtest.New(turn, llmtest.Use("write", writeIt), llmtest.Say("done"))
		r := routedRig(t, "accept-edits", route.Auto, true, m)
		es := r.Run("the thing with the blue header and the three boxes", nil)
		rs := find[event.Routed](es)
		if len(rs) != 1 || rs[0].Route != route.Edit || rs[0].By != "default" || rs[0].Why == "" || r.File("a.txt") != "two\n" || find[event.Ended](es)[0].End != event.EndDone {
			t.Errorf("%s: %+v, %q", name, rs, r.File("a.txt"))
		}
		charged := find[event.Charged](es)
		if len(charged) != 1 || charged[0].USD == nil || (name != "an error") != (*charged[0].USD > 0) {
			t.Errorf("%s: charged %+v", name, charged)
		}
	}
}

// SPEC 8.1, 10.4: a process that dies while a model is asked for a route has
// spent what was set aside; one that dies before or after is charged nothing
// more.
func TestCrashDuringRoute(t *testing.T) {
	for name, turn := range map[string]llmtest.Turn{
		"an answer": llmtest.Say("read"),
		"an error":  {Err: errors.New("the server is on fire")}, // it cost nothing
	} {
		r := routedRig(t, "accept-edits", route.Auto, true, llmtest.New(turn, llmtest.Say("done")))
		r.Run("the thing with the blue header and the three boxes", nil)
		log := stored(t, r.Cfg.Store, r.Cfg.ID)
		at := slices.IndexFunc(log, func(e event.Event) bool { _, ok := e.Body.(event.SideRequest); return ok })
		if at < 0 {
			t.Fatalf("%s: not recorded before it went out", name)
		}
		aside := log[at].Body.(event.SideRequest)
		for n, want := range map[int]int{at: 0, at + 1: 1, at + 2: 0, len(log): 0} {
			cfg := r.Cfg
			cfg.Store = copied(t, log[:n])
			s := must.Get(session.Open(t.Context(), cfg))(t)
			_ = s.Close()
			cs := find[event.Charged](stored(t, cfg.Store, cfg.ID)[n:])
			if len(cs) != want {
				t.Errorf("%s: after %d of %d events: %+v", name, n, len(log), cs)
			}
			if len(cs) == 1 && (cs[0].By != "route" || !cs[0].Guess || cs[0].USD == nil || aside.Reserved == nil || *cs[0].USD != *aside.Reserved || *cs[0].USD <= 0 || cs[0].Usage.Input != aside.Input) {
				t.Errorf("%s: %+v of %+v", name, cs[0], aside)
			}
		}
	}
}

// SPEC 10.3: an interrupt while a model is asked for a route ends the turn.
func TestRouteInterrupted(t *testing.T) {
	arrived := make(chan struct{})
	m := llmtest.New(llmtest.Turn{Wait: make(chan struct{}), Before: func(*llm.Request) { close(arrived) }})
	r := routedRig(t, "accept-edits", route.Auto, true, m)
	go func() {
		<-arrived
		_, _ = r.Submit(context.Background(), session.Interrupt{By: "person"})
	}()
	es := r.Run("the thing with the blue header and the three boxes", nil)
	if end := find[event.Ended](es)[0].End; end != event.EndInterrupted || len(m.Requests()) != 1 {
		t.Errorf("%s after %d requests", end, len(m.Requests()))
	}
	// SPEC 8.1: the provider may have read it.
	if cs := find[event.Charged](es); len(cs) != 1 || !cs[0].Guess || cs[0].Usage.Input == 0 {
		t.Errorf("charged %+v", cs)
	}
}

// SPEC 10.4: a session that is opened again has the rights that its log says,
// and a person's next prompt begins anew.
func TestRouteAfterReopening(t *testing.T) {
	m := llmtest.New(llmtest.Say("because"), llmtest.Use("write", writeIt), llmtest.Say("done"))
	r := routedRig(t, "accept-edits", route.Auto, true, m)
	r.Run("why is it slow? do not change anything", nil)
	must.Do(t, r.Close())
	r.Cfg.Permission = policy(t, "accept-edits", r.Dir)
	r.Open()
	if got := r.View().Route(); got.Route != route.Read || !got.Explicit {
		t.Errorf("%+v", got)
	}
	r.Run("make it faster", nil)
	if got := r.File("a.txt"); got != "two\n" || len(r.View().Route().Rights) != 3 {
		t.Errorf("%q, %+v", got, r.View().Route())
	}
}

// A session without routing records no route.
func TestRouteOff(t *testing.T) {
	for _, way := range []string{"", route.Off} {
		r := routedRig(t, "accept-edits", way, false, llmtest.New(llmtest.Say("because")))
		if es := r.Run("why?", nil); len(routes(es)) != 0 || notes(es) != "" {
			t.Errorf("%q: %v", way, routes(es))
		}
	}
}
