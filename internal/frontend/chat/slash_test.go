package chat

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
)

// pawlEcho stands for pawl's subcommands: it shows what it was called with.
func pawlEcho(_ context.Context, out io.Writer, args ...string) error {
	_, err := fmt.Fprintf(out, "pawl %s\n", strings.Join(args, "|"))
	return err
}

// outputs are what the slash commands said, and why some did nothing.
func (d *desk) outputs() string {
	var out strings.Builder
	for _, c := range d.seen {
		switch b := c.Block.Body.(type) {
		case Output:
			if c.What == Finished {
				out.WriteString(b.Command + ": " + b.Text)
			}
		case Note:
			if b.Kind == OfFailure {
				out.WriteString("failure: " + b.Text + "\n")
			}
		case Act:
			out.WriteString("act " + string(b.What) + ": " + b.Text + "\n")
		}
	}
	return out.String()
}

// Issue 14, point 5: every command in a line, with good and bad arguments, in what every
// frontend stands on.
func TestEverySlashCommand(t *testing.T) {
	d := newDesk(t, llmtest.New(llmtest.Say("Look:\n\n```go\nfunc a() {}\n```\nand\n~~~\nb\n~~~\n")))
	d.cfg.Pawl = pawlEcho
	d.cfg.Settings = func() ([]settings.Setting, error) {
		dir := t.TempDir()
		return settings.Listed(settings.Config{Path: dir + "/config.json"}, settings.Config{Path: dir + "/.pawl/config.json", Project: true}, func(string) string { return "" })
	}
	d.until(d.Idle)
	d.Enter("hello")
	d.until(d.Idle)
	for _, c := range []struct{ in, want string }{
		{"/todo", "no list of steps yet"}, {"/todo x", "takes no arguments"},
		{"/keys", "act keys"}, {"/keys x", "takes no arguments"},
		{"/states", "act states"}, {"/states x", "takes no arguments"},
		{"/theme", "themes: dark"}, {"/theme light", "act theme: light"}, {"/theme green", "unknown theme green; use one of"},
		{"/copy", "act copy: Look:"}, {"/copy code", "act copy: b\n"}, {"/copy code 2", "act copy: func a() {}\n"},
		{"/copy code 3", "there is no code to copy"}, {"/copy output", "there is no output to copy"}, {"/copy all", "takes reply, code"}, {"/copy code 0", "takes reply, code"}, {"/copy diff 2", "/diff all shows all"},
		{"/doctor", "pawl doctor\n"}, {"/doctor offline", "pawl doctor|--offline"}, {"/doctor x", "takes no argument, or offline"},
		{"/config", "budget.usd  not set"}, {"/config path", "pawl config|path"}, {"/config retry_for", "retry_for = 5m (default)\nhow long"}, {"/config modle", "pawl config|get|modle"},
		{"/config budget.usd 5", "pawl config|set|--|budget.usd|5"}, {`/config models."a b".window 5`, `pawl config|set|--|models."a b".window|5`}, {"/config retry_for -1", "pawl config|set|--|retry_for|-1"},
		{"/config set budget.usd 5", "pawl config|set|--|budget.usd|5"}, {"/config --project permissions.deny bash(rm *)", "pawl config|set|--project|--|permissions.deny|bash(rm *)"},
		{"/trust", "pawl trust|status"}, {"/trust yes", "pawl trust|--yes"}, {"/trust revoke", "pawl trust|revoke"}, {"/trust maybe", "takes no argument, or yes or revoke"},
		{"/sandbox", "commands do not run in a sandbox: the system has none"}, {"/sandbox ls", "pawl sandbox -- COMMAND"},
		{"/rules", "pawl rules"}, {"/model", "pawl models"},
		{"/export", "pawl sessions|export|s1|--format|markdown|--output|pawl-s1.md"}, {"/export a.html", "--format|html|--output|a.html"}, {"/export a.JSONL", "|jsonl|"}, {"/export a.pdf", "unknown format of a.pdf"},
		{"/budget", "no limit is set"}, {"/budget 10", "of $10.00"}, {"/budget usd 3.5", "of $3.50"}, {"/budget time 2h", "of 2h0m0s"}, {"/budget calls 40", "of 40"}, {"/budget usd none", "time"},
		{"/budget calls 1.5", "is not valid"}, {"/budget -1", "is not a limit"}, {"/budget NaN", "is not a limit"}, {"/budget wall 3", "unknown limit wall"}, {"/budget time 5", "is not a duration"},
		{"/permissions", "mode yolo"}, {"/permissions allow bash(ls *)", "allowed for this session: bash(ls *)"}, {"/permissions always bash(pwd)", "allowed permanently in this folder: bash(pwd)"},
		{"/permissions revoke bash(ls *)", "no longer a rule of this session: bash(ls *)"}, {"/permissions allow", "a rule is missing"}, {"/permissions allow bash(", "failure"}, {"/permissions forbid x", "takes no argument, or allow RULE"},
		{"/btw", "a question is missing"},
		{"/swarm", "pawl swarm|status"}, {"/swarm report", "pawl swarm|report"}, {"/swarm message a1 -x be  short", "pawl swarm|message|--|a1|-x be  short"}, {"/swarm diff a1", "pawl swarm|diff|--|a1"},
		{"/swarm cancel a1", "pawl swarm|cancel|--task=a1"}, {"/swarm cancel", "pawl swarm --help"}, {"/swarm run x", "pawl swarm --help"}, {"/swarm retry", "pawl swarm --help"},
		{"/plan", "there is no plan yet"}, {"/plan edit", "no plan to edit"}, {"/plan approve", "there is no plan"}, {"/plan approve auto", "there is no plan"},
		{"/todos", "no list of steps yet"}, {"/tasks", "nothing runs in the background"}, {"/settings", "this project, which can only restrict"}, {"/usage", "/stats"},
	} {
		t.Run(c.in, func(t *testing.T) {
			d.t = t
			from := len(d.seen)
			d.Enter(c.in)
			d.until(d.Idle)
			whole := d.seen
			d.seen = whole[from:]
			if got := d.outputs(); !strings.Contains(got, c.want) {
				t.Errorf("%q is not in:\n%s", c.want, got)
			}
			d.seen = whole
		})
	}
	d.t = t
	if v := d.Session().View(); strings.Join(v.Grants(), " ") != "bash(pwd)" || v.Limits().Calls != 40 || v.Limits().USD != 0 {
		t.Errorf("%v %+v", v.Grants(), v.Limits())
	}
}

// /init and /review are prompts with ordinary permission; a review changes nothing.
func TestPromptsOfCommands(t *testing.T) {
	m := llmtest.New(llmtest.Say("done"), llmtest.Say("nothing found"), llmtest.Say("nothing either"))
	d := newDesk(t, m)
	for _, in := range []string{"/init be short", "/review", "/review main"} {
		d.Enter(in)
		d.until(d.Idle)
	}
	for _, c := range d.seen {
		if _, ok := c.Block.Body.(Prompt); ok && c.Reported {
			t.Error("a prompt is taken for a part of a command's output")
		}
	}
	ps := finished[Prompt](d)
	if len(ps) != 3 || !strings.Contains(ps[0].Text, "AGENTS.md") || !strings.HasSuffix(ps[0].Text, "In addition: be short") ||
		!strings.Contains(ps[1].Text, "not committed yet") || !strings.Contains(ps[1].Text, "Do not change anything") || !strings.Contains(ps[2].Text, "Review these changes: main") {
		t.Errorf("%+v", ps)
	}
}

// SPEC 18.3: a command that runs at any time does not wait for the turn of a prompt that is
// still on its way.
func TestCommandRightAfterAPrompt(t *testing.T) {
	for command, want := range map[string]string{"/budget": "no limit is set", "/todos": "no list of steps yet"} { // built in, and an alias
		goes := make(chan struct{})
		d := newDesk(t, llmtest.New(llmtest.Turn{Text: "done", Wait: goes}))
		d.Enter("work")
		d.Enter(command)
		d.until(func() bool { return strings.Contains(d.outputs(), want) })
		close(goes)
		d.until(d.Idle)
	}
}

// A question beside the conversation is answered with the conversation in view, also
// while a turn runs, and is in no later request.
func TestAside(t *testing.T) {
	hold, asked := make(chan struct{}), make(chan struct{})
	m := llmtest.New(llmtest.Use("wait", "{}"), llmtest.Say("beside it"), llmtest.Say("done"), llmtest.Say("again"))
	d := newDesk(t, m, wait(func() { close(asked); <-hold }))
	d.Enter("work")
	<-asked
	d.Enter("/btw what is that?")
	d.until(func() bool { return len(finished[Aside](d)) == 1 })
	if a := finished[Aside](d)[0]; a.Question != "what is that?" || a.Answer != "beside it" || a.Error != "" {
		t.Errorf("%+v", a)
	}
	close(hold)
	d.until(d.Idle)
	d.Enter("more")
	d.until(d.Idle)
	rs := m.Requests()
	if len(rs) != 4 {
		t.Fatalf("%d requests", len(rs))
	}
	text := func(r llm.Request) (s string) {
		for _, m := range r.Messages {
			s += string(m.Role) + ":" + m.Text() + "|"
			for range m.Calls() {
				s += "call|"
			}
		}
		return s
	}
	if aside := text(*rs[1]); !strings.Contains(aside, "work") || !strings.Contains(aside, "what is that?") || strings.Contains(aside, "call|") || len(rs[1].Head.Tools) == 0 {
		t.Errorf("asked aside: %s", aside)
	}
	for _, i := range []int{2, 3} {
		if s := text(*rs[i]); strings.Contains(s, "that?") || strings.Contains(s, "beside it") {
			t.Errorf("request %d has the question: %s", i, s)
		}
	}
}

// A failure of such a question is told, and no turn is touched by it.
func TestAsideFails(t *testing.T) {
	d := newDesk(t, llmtest.New(llmtest.Turn{Err: io.ErrUnexpectedEOF}, llmtest.Use("wait", "{}")))
	d.until(d.Idle)
	for i, in := range []string{"/btw one", "/btw two"} {
		d.Enter(in)
		d.until(func() bool { return len(finished[Aside](d)) == i+1 })
	}
	for _, a := range finished[Aside](d) {
		if a.Error == "" || a.Answer != "" {
			t.Errorf("%+v", a)
		}
	}
}

const planReply = "I looked.\n\n# Plan: a flag\n\n## Phase 1: parse it\n\nIn main.go.\n\n## Phase 2: test it\n"

// Issue 14, point 6: a plan is asked about when its turn ends; it is edited, changed by
// words, approved, and then runs as phases.
func TestPlanMode(t *testing.T) {
	m := llmtest.New(llmtest.Say("only an answer: 1. a\n2. b"), llmtest.Say(planReply), llmtest.Say(strings.Replace(planReply, "a flag", "two flags", 1)), llmtest.Say("did it"))
	d := newDesk(t, m)
	d.until(d.Idle)
	d.Enter("/mode plan")
	d.Enter("what is it?")
	d.until(d.Idle)
	if d.asked() || d.Session().View().Proposal().Text != "" {
		t.Fatal("an answer was taken for a plan")
	}
	d.Enter("/plan add a flag")
	d.until(d.asked)
	answer := func(text string) {
		q, ok := d.Question()
		if !ok || !strings.Contains(q.Text, "the plan has") {
			t.Fatalf("asked %+v", q)
		}
		d.Answer(q.ID, Answered{Text: text})
		d.until(func() bool { n, ok := d.Question(); return !ok || n.ID != q.ID })
	}
	answer("also the other flag") // goes to the model, in plan mode
	d.until(d.asked)
	d.until(d.TurnDone)
	if v := d.Session().View(); v.Mode() != "plan" || !strings.Contains(v.Proposal().Text, "two flags") {
		t.Fatalf("%s %+v", v.Mode(), v.Proposal())
	}
	q, _ := d.Question()
	d.Answer(q.ID, Answered{Text: "e"})
	var e Editing
	d.until(func() bool {
		for _, c := range d.seen {
			if b, ok := c.Block.Body.(Editing); ok {
				e = b
			}
		}
		return e.ID != ""
	})
	if !strings.HasPrefix(e.Text, "# Plan: two flags") {
		t.Errorf("to edit: %q", e.Text)
	}
	d.Edited(e.ID, "# Plan\n\n1. first\n2. second\n3. third\n", nil)
	d.until(func() bool { n, ok := d.Question(); return ok && n.ID != q.ID })
	answer("y")
	d.until(d.Idle)
	v := d.Session().View()
	if v.Mode() != "accept-edits" || v.Proposal().Undecided || len(v.Phases().Plan) != 3 || v.Phases().Open == nil || v.Phases().Open.Description != "first" {
		t.Errorf("%s %+v %+v", v.Mode(), v.Proposal(), v.Phases())
	}
	rs := m.Requests()
	last := rs[len(rs)-1].Messages
	said := ""
	for _, m := range last {
		said += m.Text() + "\n"
	}
	if n := strings.Count(said, "[Plan mode: "); n != 1 || !strings.Contains(said, "as I edited it") || !strings.Contains(said, "[Plan mode is over") || !strings.Contains(said, "3. third") {
		t.Errorf("%d times told of plan mode:\n%s", n, said)
	}
	docs := finished[Document](d)
	if len(docs) != 3 || docs[2].By != "person" || docs[2].Phases != 3 {
		t.Errorf("%+v", docs)
	}
}

// Only the terminal that a session belongs to asks about its plan, also where another
// one steers it.
func TestPlanElsewhere(t *testing.T) {
	for _, steers := range []bool{true, false} {
		d := newDesk(t, llmtest.New(llmtest.Say(planReply)))
		d.until(d.Idle)
		d.Enter("/mode plan")
		d.until(d.Idle)
		d.mu.Lock()
		d.open.Attached = &Attached{Steers: steers}
		d.mu.Unlock()
		must.Done(t)(d.Session().Submit(t.Context(), session.Prompt{Text: "add a flag"}))
		d.until(func() bool { return len(finished[TurnEnd](d)) > 0 })
		d.until(d.Idle)
		if d.asked() || !d.Session().View().Proposal().Undecided {
			t.Errorf("steers %v: asked %v, %+v", steers, d.asked(), d.Session().View().Proposal())
		}
	}
}

// What is wrong with a plan or a decision is told, and nothing changes.
func TestPlanRefusals(t *testing.T) {
	d := newDesk(t, llmtest.New(llmtest.Say(planReply), llmtest.Say("well")))
	d.until(d.Idle)
	d.Enter("/plan add a flag")
	d.until(d.asked)
	q, _ := d.Question()
	d.Answer(q.ID, Answered{}) // later
	d.until(d.Idle)
	for in, want := range map[string]string{
		"/plan approve plan": "the mode plan only reads; choose another one",
		"/plan":              "it waits for you",
	} {
		from := len(d.seen)
		d.Enter(in)
		d.until(d.Idle)
		whole := d.seen
		if d.seen = whole[from:]; !strings.Contains(d.outputs(), want) {
			t.Errorf("%s: %s", in, d.outputs())
		}
		d.seen = whole
	}
	for _, text := range []string{"", "no phases at all"} {
		if _, err := d.Session().Submit(t.Context(), session.WritePlan{Text: text}); err == nil {
			t.Errorf("%q is a plan", text)
		}
	}
	d.Enter("/plan reject not that")
	d.until(d.Idle)
	if v := d.Session().View(); v.Mode() != "plan" || v.Proposal().Undecided {
		t.Errorf("%s %+v", v.Mode(), v.Proposal())
	}
	if ps := finished[Prompt](d); ps[len(ps)-1].Text != "not that" {
		t.Errorf("%+v", ps)
	}
	// A second process that resumes is not asked at once.
	if d.asked() {
		t.Error("asked")
	}
}

// Every command is in the help, and in the completion by slash.All.
func TestHelpListsEverything(t *testing.T) {
	d := newDesk(t, llmtest.New())
	d.until(d.Idle)
	d.Enter("/help")
	d.until(d.Idle)
	for _, c := range slash.All() {
		if !strings.Contains(d.outputs(), "/"+c.Name) {
			t.Errorf("/%s is not in the help", c.Name)
		}
	}
}
