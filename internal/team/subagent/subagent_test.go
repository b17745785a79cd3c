package subagent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/route"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// SPEC 14.1: an agent works in a session of its own and hands back its last
// words; what it changed is its parent's, to see, to prove and to undo.
func TestAgent(t *testing.T) {
	r := newRig(t, plays{
		"user": {use(agent("part", "general"), bash("true")), use([]string{"read", `{"files":[{"path":"a.txt"}]}`}), llmtest.Say("all is done")},
		"part": {use(write("a.txt", "one\n")), use(bash("echo two >b.txt")), llmtest.Say("I wrote two files")},
	})
	es, out := r.run(nil)
	if out.Ended.End != event.EndDone || out.Reply != "all is done" || r.File("a.txt") != "one\n" || r.File("b.txt") != "two\n" {
		t.Fatalf("%+v, a.txt %q, b.txt %q", out, r.File("a.txt"), r.File("b.txt"))
	}
	done := find[event.CallDone](es)[0]
	for _, want := range []string{"[agent general: done; 2 calls", "it changed a.txt, b.txt]", "I wrote two files"} {
		if !strings.Contains(done.Result.Text, want) {
			t.Errorf("the result lacks %q: %s", want, done.Result.Text)
		}
	}
	kids := r.children("s1")
	if len(kids) != 1 || kids[0].Parent.Agent != "general" || kids[0].Title != "part" {
		t.Fatalf("%+v", kids)
	}
	var changed []string
	for _, c := range find[event.FileChanged](es) {
		if c.Child == nil || c.Child.Session != kids[0].ID || c.Call != done.ID {
			t.Errorf("%+v", c)
		}
		changed = append(changed, c.Path)
	}
	if !slices.Equal(changed, []string{"a.txt", "b.txt"}) || len(r.View().Evidence().Files) != 2 {
		t.Errorf("changed %v, evidence %+v", changed, r.View().Evidence().Files)
	}
	if started, ended := find[event.AgentStarted](es), find[event.AgentEnded](es); len(started) != 1 || len(ended) != 1 || ended[0].Calls != 2 || ended[0].End != event.EndDone {
		t.Errorf("%+v, %+v", started, ended)
	}
	// What the child's requests cost is the parent's.
	if all, _ := r.View().Spent(); all.Requests != 3+3 {
		t.Errorf("%d requests", all.Requests)
	}
	p := must.Get(r.View().Changes().Plan(t.Context(), undo.Selector{Kind: undo.ByTurn}))(t)
	if done, err := r.Do(t.Context(), session.Undo{Plan: p}); err != nil || done.Error != nil || !r.missing("a.txt") || !r.missing("b.txt") {
		t.Errorf("%v: a.txt %q, b.txt %q", err, r.File("a.txt"), r.File("b.txt"))
	}
}

// SPEC 4.6, 14.1: what an agent wrote, its parent's model has not seen.
func TestAgentsWritesAreNotSeen(t *testing.T) {
	r := newRig(t, plays{
		"user": {use(agent("part", "general")), use(write("a.txt", "over it\n"))},
		"part": {use(write("a.txt", "one\n"))},
	})
	es, _ := r.run(nil)
	if last := find[event.CallDone](es)[1]; last.Outcome == event.OK || r.File("a.txt") != "one\n" {
		t.Errorf("%+v: %q", last, r.File("a.txt"))
	}
}

// meeting is a tool whose calls wait until so many of them run.
func meeting(n int) tool.Tool {
	var mu sync.Mutex
	in, all := 0, make(chan struct{})
	t := tool.Raw(llm.ToolSpec{Name: "meet", Doc: "waits for all", Schema: json.RawMessage(`{"type":"object"}`)},
		func(tool.Env, json.RawMessage) (tool.Footprint, error) { return tool.Footprint{}, nil },
		func(ctx context.Context, _ tool.Env, _ json.RawMessage) (tool.Result, error) {
			mu.Lock()
			if in++; in == n {
				close(all)
			}
			mu.Unlock()
			select {
			case <-all:
				return tool.Text("met"), nil
			case <-ctx.Done():
				return tool.Errorf("nobody came"), nil
			}
		})
	t.ReadOnly = true
	return t
}

// SPEC 4.1, 14.1: eight agents of one step run at once, and take no places of the
// lock from their own calls.
func TestEightAgentsAtOnce(t *testing.T) {
	ps := plays{}
	var calls [][]string
	for _, n := range strings.Fields("a b c d e f g h") {
		calls = append(calls, agent("part "+n, "general"))
		ps["part "+n] = []llmtest.Turn{use([]string{"meet", "{}"}), use(write(n+".txt", n)), use(bash("cat " + n + ".txt >" + n + "2.txt")), llmtest.Say("part " + n)}
	}
	ps["user"] = []llmtest.Turn{use(calls...)}
	r := newRig(t, ps, func(c *session.Config) { c.Tools = append(c.Tools, meeting(8)) })
	es, out := r.run(nil)
	if out.Ended.End != event.EndDone {
		t.Fatalf("%+v", out)
	}
	for i, d := range find[event.CallDone](es) {
		if n := string(rune('a' + i)); d.Outcome != event.OK || !strings.HasSuffix(d.Result.Text, "part "+n) || r.File(n+"2.txt") != n {
			t.Errorf("%s: %s %s", n, d.Outcome, d.Result.Text)
		}
	}
	// Each change is told once, and as that of the agent that made it.
	by := map[string]string{}
	for _, c := range find[event.FileChanged](es) {
		if by[c.Path] != "" {
			t.Errorf("%s is recorded twice", c.Path)
		}
		by[c.Path] = c.Child.Session
	}
	for _, n := range strings.Fields("a b c d e f g h") {
		if by[n+".txt"] == "" || by[n+".txt"] != by[n+"2.txt"] {
			t.Errorf("%s: %q and %q", n, by[n+".txt"], by[n+"2.txt"])
		}
	}
}

// SPEC 8.1: agents that run at once cannot overspend, and how many there may be
// is a limit.
func TestAgentsBudget(t *testing.T) {
	costly := func(n int) (out []llmtest.Turn) {
		for range n {
			c := use([]string{"todo", `{"items":[]}`})
			c.Usage = llm.Usage{Known: true, Output: 2000} // $0.02
			out = append(out, c)
		}
		return out
	}
	ps := plays{"user": {use(agent("a", "general"), agent("b", "general"), agent("c", "general"), agent("d", "general"))}}
	for _, n := range []string{"a", "b", "c", "d"} {
		ps[n] = costly(50)
	}
	r := newRig(t, ps, func(c *session.Config) { c.Limits = budget.Limits{USD: 0.5} })
	_, out := r.run(nil)
	if all, _ := r.View().Spent(); all.USD > 0.5 || all.USD < 0.3 || out.Ended.End != event.EndBudget {
		t.Errorf("spent $%.4f, %+v", all.USD, out.Ended)
	}
	r = newRig(t, ps, func(c *session.Config) { c.Limits = budget.Limits{Agents: 3} })
	if es, out := r.run(nil); out.Ended.End != event.EndBudget || len(find[event.AgentStarted](es)) != 0 {
		t.Errorf("%+v", out.Ended)
	}
	// A kind's own budget ends only it.
	ps["user"] = []llmtest.Turn{use(agent("a", "narrow")), llmtest.Say("went on")}
	r = newRig(t, ps)
	es, out := r.run(nil)
	done := find[event.CallDone](es)[0]
	if all, _ := r.View().Spent(); out.Reply != "went on" || done.Outcome != event.Failed || !strings.Contains(done.Result.Text, "its budget is used up") || all.USD > 0.51 {
		t.Errorf("%+v, $%.4f: %s", out, all.USD, done.Result.Text)
	}
}

// SPEC 14.1: a kind has the tools that its author named, as far as the session
// has them, and none that starts agents beyond the depth; a model that cannot be
// had is said, and the parent's runs it.
func TestKindsOfAgents(t *testing.T) {
	names := func(q *llm.Request) (out []string) {
		for _, s := range q.Head.Tools {
			out = append(out, s.Name)
		}
		return out
	}
	r := newRig(t, plays{"user": {use(agent("g", "general-purpose"), agent("e", "Explore"), agent("n", "narrow"), agent("x", "nobody"))}})
	es, _ := r.run(nil)
	for part, want := range map[string]string{
		"g": "read edit write bash todo ask_user", "e": "read bash todo ask_user", "n": "read",
	} {
		q := r.requests(part)
		if len(q) != 1 || strings.Join(names(q[0]), " ") != want {
			t.Errorf("%s: %v, want %s", part, names(q[0]), want)
			continue
		}
		if !strings.HasPrefix(q[0].Head.System, "be good\n\n") { // shared with the parent, and so cached
			t.Errorf("%s: %q", part, q[0].Head.System)
		}
	}
	done := find[event.CallDone](es)
	for _, want := range []string{"there is no model nobody/knows", "runs without Bash(git:*), Teleport"} {
		if !strings.Contains(done[2].Result.Text, want) {
			t.Errorf("no %q in %s", want, done[2].Result.Text)
		}
	}
	if done[3].Outcome != event.Failed || !strings.Contains(done[3].Result.Text, "There are: narrow, explore, general") {
		t.Errorf("%+v", done[3])
	}
	deep := plays{"user": {use(agent("g", "general"))}, "g": {use(agent("h", "general"))}, "h": {use(write("deep.txt", "x"))}}
	r = newRig(t, deep)
	r.run(nil)
	if len(r.requests("h")) != 0 {
		t.Error("an agent started an agent")
	}
	r = newRig(t, deep, func(c *session.Config) { c.Agents = 2 })
	es, _ = r.run(nil)
	cs := find[event.FileChanged](es)
	if len(cs) != 1 || cs[0].Path != "deep.txt" || cs[0].Child.Session != r.children("s1")[0].ID || slices.Contains(names(r.requests("h")[0]), "agent") {
		t.Errorf("%+v", cs)
	}
	if all, _ := r.View().Spent(); all.Agents != 2 {
		t.Errorf("%d agents are counted", all.Agents)
	}
}

// SPEC 14.1: a read-only kind is as in plan mode, whatever the parent may do.
func TestReadOnlyAgent(t *testing.T) {
	r := newRig(t, plays{
		"user": {use(agent("e", "explore"))},
		"e":    {use(bash("echo x >x.txt")), use(write("y.txt", "y"))},
	}, func(c *session.Config) {
		c.Permission = yolo(c.Dir)
	})
	r.run(nil)
	if !r.missing("x.txt") || !r.missing("y.txt") {
		t.Error("it wrote")
	}
}

// SPEC 14.1: an agent has no more rights than its parent has at that moment.
func TestRightsNarrowAtOnce(t *testing.T) {
	var r *rig
	mode := func(m permission.Mode) func(*llm.Request) {
		return func(*llm.Request) {
			if _, err := r.Submit(t.Context(), session.SetMode{Mode: string(m)}); err != nil {
				t.Error(err)
			}
		}
	}
	step := func(n string, before func(*llm.Request)) llmtest.Turn {
		c := use(write(n, n))
		c.Before = before
		return c
	}
	r = newRig(t, plays{
		"user": {use(agent("p", "general"))},
		"p":    {step("a", nil), step("b", mode(permission.Plan)), step("c", mode(permission.AcceptEdits))},
	})
	r.run(nil)
	if r.File("a") != "a" || !r.missing("b") || r.File("c") != "c" {
		t.Errorf("a %q, b %q, c %q", r.File("a"), r.File("b"), r.File("c"))
	}
}

// SPEC 14.1: what an agent asks reaches the person with its name, one question
// at a time, and a yes for the session is one for both.
func TestAgentsQuestions(t *testing.T) {
	r := newRig(t, plays{
		"user": {use(agent("a", "general"), agent("b", "general")), use(bash("touch from.parent"))},
		"a":    {use([]string{"ask_user", `{"question":"Which?","options":["x","y"]}`}), llmtest.Say("told")},
		"b":    {use(bash("touch from.b")), use(bash("touch from.b2"))},
	}, func(c *session.Config) {
		c.Person = true
		c.Permission = permission.New(permission.Config{Mode: permission.AskMode, Root: c.Dir, Home: "/home/nobody"})
	})
	open := ""
	var asked []event.Asked
	es, _ := r.run(func(e event.Event) {
		switch b := e.Body.(type) {
		case event.Asked:
			if open != "" {
				t.Errorf("two questions at once")
			}
			open, asked = b.ID, append(asked, b)
			a := session.Answer{ID: b.ID, Text: "x"}
			for _, q := range b.Questions {
				a.Verdicts = append(a.Verdicts, event.Verdict{Call: q.Call, Scope: event.Session})
			}
			if _, err := r.Submit(t.Context(), a); err != nil {
				t.Error(err)
			}
		case event.Answered:
			open = ""
		}
	})
	for _, q := range asked[:2] {
		if q.From != "general" {
			t.Errorf("%+v", q)
		}
	}
	granted := find[event.Granted](es)
	if len(granted) == 0 || r.File("from.b") != "" || r.File("from.b2") != "" || r.File("from.parent") != "" {
		t.Errorf("%d grants, %q %q %q", len(granted), r.File("from.b"), r.File("from.b2"), r.File("from.parent"))
	}
	for _, k := range r.children("s1") {
		if k.Title == "b" && len(find[event.Granted](r.log(k.ID))) == 0 {
			t.Error("the child's log lacks the grant")
		}
	}
	// Nobody is there: it is refused, and the run's result lists it.
	r = newRig(t, plays{"user": {use(agent("b", "general"))}, "b": {use(bash("touch from.b"))}}, func(c *session.Config) {
		c.Permission = permission.New(permission.Config{Mode: permission.AskMode, Root: c.Dir, Home: "/home/nobody"})
	})
	r.run(nil)
	if d := r.View().Evidence().Denials; len(d) != 1 || !r.missing("from.b") {
		t.Errorf("%+v", d)
	}
}

// SPEC 14.1: the turn of a session waits for its agents in the background, and its
// model is told what came of each.
func TestBackground(t *testing.T) {
	free := make(chan struct{})
	slow := llmtest.Say("found it")
	slow.Wait = free
	last := llmtest.Say("meanwhile")
	last.Before = func(*llm.Request) { close(free) }
	r := newRig(t, plays{"user": {use(agent("a", "explore", "background")), last, llmtest.Say("told")}, "a": {slow}})
	es, out := r.run(nil)
	notes := find[event.Noted](es)
	if out.Reply != "told" || len(notes) != 1 || !strings.Contains(notes[0].Text, "found it") || !strings.Contains(notes[0].Text, `"do a"`) {
		t.Errorf("%+v: %+v", out, notes)
	}
	if d := find[event.CallDone](es); len(d) != 1 || !strings.Contains(d[0].Result.Text, "runs in the background") {
		t.Errorf("%+v", d)
	}
}

// SPEC 10.3, 14.1: an interrupt reaches all agents, and none outlives the turn.
func TestInterruptReachesAgents(t *testing.T) {
	var r *rig
	var mu sync.Mutex
	waiting := 0
	stuck := llmtest.Say("never")
	stuck.Wait = make(chan struct{})
	stuck.Before = func(*llm.Request) {
		mu.Lock()
		defer mu.Unlock()
		if waiting++; waiting == 3 {
			if _, err := r.Submit(context.Background(), session.Interrupt{By: "person"}); err != nil {
				t.Error(err)
			}
		}
	}
	r = newRig(t, plays{
		"user": {use(agent("bg", "general", "background"), agent("a", "general"), agent("b", "general"))},
		"bg":   {stuck}, "a": {stuck}, "b": {use(bash("sleep 100 & echo on >on.txt")), stuck},
	})
	es, out := r.run(nil)
	if out.Ended.End != event.EndInterrupted || out.By != "person" || len(find[event.AgentEnded](es)) != 3 {
		t.Errorf("%+v: %+v", out, find[event.AgentEnded](es))
	}
	for _, k := range r.children("s1") {
		log := r.log(k.ID)
		if e := find[event.Ended](log); len(e) != 1 || e[0].End != event.EndInterrupted {
			t.Errorf("%s: %+v", k.Title, e)
		}
		if i := find[event.Interrupted](log); len(i) != 1 || i[0].By != "person" {
			t.Errorf("%s: %+v", k.Title, i)
		}
	}
}

// SPEC 14.1, 17.6: one agent is ended, and its turn goes on with the others.
func TestEndOneAgent(t *testing.T) {
	for _, mode := range []string{"", "background"} {
		var r *rig
		stuck := llmtest.Say("never")
		stuck.Wait = make(chan struct{})
		stuck.Before = func(*llm.Request) {
			ids := r.children("s1")
			for _, id := range []string{"nobody", ids[0].ID} {
				if _, err := r.Submit(context.Background(), session.EndTask{ID: id}); (err == nil) != (id != "nobody") {
					t.Errorf("%s: %v", id, err)
				}
			}
		}
		r = newRig(t, plays{"user": {use(agent("a", "explore", mode)), llmtest.Say("on"), llmtest.Say("told")}, "a": {stuck}})
		es, out := r.run(nil)
		if ends := find[event.AgentEnded](es); out.Ended.End != event.EndDone || len(ends) != 1 || ends[0].End != event.EndInterrupted {
			t.Errorf("%s: %+v: %+v", mode, out, ends)
		}
	}
}

// SPEC 9.6, 14.1: an agent's context is compacted like any other, and its parent's
// is not touched.
func TestAgentIsCompacted(t *testing.T) {
	long := strings.Repeat("a line of words that fills the window of a model\n", 300)
	var script []llmtest.Turn
	for range 20 {
		script = append(script, use([]string{"page", "{}"}))
	}
	page := tool.Raw(llm.ToolSpec{Name: "page", Doc: "a page", Schema: json.RawMessage(`{"type":"object"}`)},
		func(tool.Env, json.RawMessage) (tool.Footprint, error) { return tool.Footprint{}, nil },
		func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
			return tool.Text(strings.Replace(long, "a line", rand(), 1)), nil
		})
	page.ReadOnly = true
	r := newRig(t, plays{"user": {use(agent("a", "general"))}, "a": script}, func(c *session.Config) { c.Tools = append(c.Tools, page) })
	r.Model.InfoValue.Window, r.Model.InfoValue.MaxOutput = 40_000, 4096
	_ = r.Close()
	r.Open()
	es, out := r.run(nil)
	if out.Ended.End != event.EndDone || len(find[event.Compacted](es)) != 0 || len(find[event.Compacted](r.log(r.children("s1")[0].ID))) == 0 {
		t.Errorf("%+v, %+v", out.Ended, find[event.AgentEnded](es))
	}
}

var pages atomic.Int64

// rand is another text each time, so that reading on is progress.
func rand() string { return fmt.Sprint("page ", pages.Add(1), " begins") }

// SPEC 14.1: what an agent leaves running in the background ends with it, and what
// that did until then is recorded.
func TestAgentsCommandsEndWithIt(t *testing.T) {
	r := newRig(t, plays{
		"user": {use(agent("a", "general"))},
		"a":    {use([]string{"bash", `{"command":"echo on >on.txt; sleep 1000","background":true}`})},
	}, func(c *session.Config) { c.Permission = yolo(c.Dir) })
	r.run(nil)
	sh := r.Cfg.Shell.(tool.Jobs)
	if left := sh.Running(); len(left) != 0 {
		t.Errorf("still run: %v", left)
	}
}

// SPEC 4.1, 14.1: a call of the same step may be ahead of an agent's calls, behind
// them, or in conflict with them: each gets its turn.
func TestAgentBesideOtherCalls(t *testing.T) {
	for name, calls := range map[string][][]string{
		"behind":  {agent("a", "general"), bash("echo p >>log.txt"), bash("echo q >>log.txt")},
		"before":  {bash("echo p >>log.txt"), agent("a", "general")},
		"between": {bash("echo p >>log.txt"), agent("a", "general"), write("w.txt", "w"), agent("b", "general"), bash("cat w.txt >>log.txt")},
		"reads":   {agent("a", "general"), {"read", `{"files":[{"path":"seen.txt"}]}`}, {"edit", `{"path":"seen.txt","old":"one","new":"two"}`}},
	} {
		r := newRig(t, plays{
			"user": {use(calls...)},
			"a":    {use(bash("echo a >>log.txt")), use(write("x.txt", "x"))}, "b": {use(bash("echo b >>log.txt"))},
		}, func(c *session.Config) { c.Permission = yolo(c.Dir) })
		r.Put("seen.txt", "one\n")
		es, out := r.run(nil)
		for i, d := range find[event.CallDone](es) {
			if out.Ended.End != event.EndDone || d.Outcome != event.OK {
				t.Errorf("%s, call %d: %s %s", name, i, d.Outcome, d.Result.Text)
			}
		}
	}
}

// SPEC 13.1, 14.1: what the parent's turn may not do, its agents may not either, and
// a parent in plan mode has agents that only read.
func TestAgentsOfANarrowTurn(t *testing.T) {
	script := plays{"user": {use(agent("a", "general"))}, "a": {use(write("a.txt", "a")), use(bash("echo b >b.txt"))}}
	for name, change := range map[string]func(*session.Config){
		"a route that only reads": func(c *session.Config) { c.Route, c.Permission = route.Config{Mode: route.Read}, yolo(c.Dir) },
		"plan mode": func(c *session.Config) {
			c.Permission = permission.New(permission.Config{Mode: permission.Plan, Root: c.Dir, Home: "/home/nobody"})
		},
		"a rule that denies": func(c *session.Config) {
			c.Permission = yolo(c.Dir)
			must.Do(t, c.Permission.Add(permission.User, nil, nil, []string{"edit", "bash"}))
		},
	} {
		r := newRig(t, script, change)
		_, out := r.run(nil)
		if len(r.children("s1")) != 1 || !r.missing("a.txt") || !r.missing("b.txt") {
			t.Errorf("%s: %+v: a.txt %q, b.txt %q", name, out.Ended, r.File("a.txt"), r.File("b.txt"))
		}
	}
}

// SPEC 17.4, 14.1: what a command or a skill leaves a turn is all that agents
// have which it starts, also behind its back.
func TestAgentsOfANarrowedTurn(t *testing.T) {
	for name, mode := range map[string][]string{"at once": nil, "in the background": {"background"}} {
		r := newRig(t, plays{
			"user": {use(agent("a", "general", mode...)), use(write("u.txt", "u"))},
			"a":    {use(write("a.txt", "a")), use(bash("echo b >b.txt")), use(bash("touch c.txt"))},
		}, func(c *session.Config) { c.Permission = yolo(c.Dir) })
		narrowed := &event.Narrowed{By: "the command /x", Rules: []string{"Task", "Bash(touch:*)"}}
		out, err := r.RunPrompt(t.Context(), session.Prompt{Text: "user", Narrowed: narrowed}, session.Observer{After: r.View().Last()})
		if err != nil || len(r.children("s1")) != 1 || !r.missing("u.txt") || !r.missing("a.txt") || !r.missing("b.txt") || r.missing("c.txt") {
			t.Errorf("%s: %v %+v: u %q, a %q, b %q, c %q", name, err, out.Ended, r.File("u.txt"), r.File("a.txt"), r.File("b.txt"), r.File("c.txt"))
		}
	}
}

// SPEC 16.16: what an agent leaves, in the workspace or in git, is told at the end of the turn
// that it worked for, also by an agent in the background.
func TestWhatAnAgentLeavesIsTold(t *testing.T) {
	for _, start := range [][]string{agent("part", "general"), agent("part", "general", "background")} {
		ps := plays{
			"user": {use(start), llmtest.Say("over")},
			"part": {use(bash("echo registry=x > .npmrc; touch .planted")), llmtest.Say("done")},
		}
		r := newRig(t, ps, func(c *session.Config) {
			c.Permission = yolo(c.Dir)
			c.InGit = func() func(context.Context) []event.GitFile {
				return func(context.Context) []event.GitFile {
					if _, err := os.Stat(filepath.Join(c.Dir, ".planted")); err != nil {
						return nil
					}
					return []event.GitFile{{Path: "planted"}}
				}
			}
		})
		_, out := r.run(nil)
		if e := out.Ended; len(e.Git) != 1 || len(e.Obeyed) != 1 || e.Obeyed[0].Path != ".npmrc" {
			t.Errorf("%s: %+v", start[1], e)
		}
	}
}
