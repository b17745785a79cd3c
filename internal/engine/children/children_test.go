package children

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// parent is a session that only has children.
type parent struct {
	*Children
	t     *testing.T
	store *memory.Store
	log   *eventlog.Log
	// plays is what a child does: the events of its run. hold, if set, is waited
	// for before its end, or until it is interrupted.
	plays []event.Body
	hold  chan struct{}
	lends Inheritance
	spent budget.Spent // by each child
	// refuses is the kind of event that the disk does not take; queued gets a token, and
	// prompt is set, when a prompt waits.
	refuses string
	prompt  atomic.Bool
	queued  chan struct{}
	turn    context.Context
	endTurn context.CancelFunc

	mu     sync.Mutex
	told   []event.Draft
	ids    int
	opened []Child
}

func newParent(t *testing.T, store *memory.Store) *parent {
	t.Helper()
	p := &parent{t: t, store: store, spent: budget.Spent{USD: 0.25}, queued: make(chan struct{}, 1), lends: Inheritance{Model: llmtest.New(), System: "be good", Agents: 1, Left: 7}}
	p.turn, p.endTurn = context.WithCancel(t.Context())
	fold := &Fold{}
	log := must.Get(eventlog.Open(t.Context(), eventlog.Config{Store: disk{store, p}, Session: "p", Now: time.Now}, fold))(t)
	p.log = log
	p.Children = New(Config{
		Session: "p", Store: store, Log: log, Fold: fold,
		NewID: func() string {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.ids++
			return fmt.Sprint("c", p.ids)
		},
		Parent: p, Turn: p,
	})
	return p
}

func (p *parent) Inherit() Inheritance { return p.lends }

func (p *parent) OpenModel(ref, _ string) (llm.Model, error) {
	return nil, errors.New("there is no " + ref)
}

func (p *parent) Open(_ context.Context, c Child) (Session, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.opened = append(p.opened, c)
	return &played{p, c}, nil
}

func (p *parent) Context() context.Context { return p.turn }

func (p *parent) QueueNote(d event.Draft) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told = append(p.told, d)
	return true
}

func (p *parent) HasNote(event.NotedWhy) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.told) > 0
}

func (p *parent) HasPrompt() bool         { return p.prompt.Load() }
func (p *parent) Queued() <-chan struct{} { return p.queued }

// disk is what the log of a parent is on.
type disk struct {
	*memory.Store
	p *parent
}

func (d disk) Append(ctx context.Context, id string, after int64, ds ...event.Draft) ([]event.Event, error) {
	if ds[0].Body.Kind() == d.p.refuses {
		return nil, errors.New("disk full")
	}
	return d.Store.Append(ctx, id, after, ds...)
}

func (s *played) Tree() *Tree { return nil }

// SPEC 14.1: what an agent changes in its own tree is not a change of its session's files;
// what it changes elsewhere is one.
func TestPathsOfATree(t *testing.T) {
	m := &mirror{}
	if got := m.here("a.txt"); got != "a.txt" {
		t.Error(got)
	}
	m.tree = &Tree{AgentTree: event.AgentTree{Dir: "/w/.claude/worktrees/x"}, From: "/w/sub"}
	for path, want := range map[string]string{
		"a.txt": "", "/w/.claude/worktrees/x/b/a.txt": "", "/w/sub/b/a.txt": "b/a.txt", "/w/a.txt": "/w/a.txt", "/w/.claude/worktrees/xy": "/w/.claude/worktrees/xy",
	} {
		if got := m.here(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// played is a child that does what its parent's plays are.
type played struct {
	p *parent
	c Child
}

func (s *played) Run(ctx context.Context, _ string, see func(event.Event) error) (string, event.Ended, error) {
	if _, err := s.p.store.Append(ctx, s.c.ID, 0, event.Draft{Body: event.Opened{Parent: &s.c.Of}}); err != nil {
		return "", event.Ended{}, err
	}
	for i, b := range s.p.plays {
		es, err := s.p.store.Append(ctx, s.c.ID, int64(i+1), event.Draft{Body: b})
		if err != nil {
			return "", event.Ended{}, err
		}
		for _, e := range es {
			if err := see(e); err != nil {
				return "", event.Ended{}, err
			}
		}
	}
	if s.c.Shell != nil {
		must.Done(s.p.t)(s.c.Shell.Start(ctx, tool.Run{Command: "of the child"}))
	}
	if s.p.hold != nil {
		select {
		case <-s.p.hold:
		case <-ctx.Done():
			time.Sleep(time.Minute) // of the test's own clock: it ends slowly
			return "cut", event.Ended{End: event.EndInterrupted}, nil
		}
	}
	return "fine", event.Ended{End: event.EndDone}, nil
}

func (s *played) Spent() budget.Spent { return s.p.spent }
func (s *played) Close() error        { return nil }

// has is what the parent's log has, a word for each event.
func (p *parent) has() []string {
	p.t.Helper()
	var out []string
	for e, err := range p.store.Read(p.t.Context(), "p", 0) {
		must.Do(p.t, err)
		switch b := e.Body.(type) {
		case event.FileChanged:
			out = append(out, fmt.Sprintf("changed %s by %s in %s/%s", b.Path, b.Call, b.Child.Session, b.Child.Call))
		case event.AgentCalled:
			out = append(out, fmt.Sprintf("%s called %s in %s/%s", b.Call, b.Done.Tool, b.Child.Session, b.Child.Call))
		case event.AgentEnded:
			out = append(out, fmt.Sprintf("ended %s %s after %d", b.Child, b.End, b.Calls))
		default:
			out = append(out, b.Kind())
		}
	}
	return out
}

// work is what a child does that its parent is to know, and what not.
var work = []event.Body{
	event.CallStarted{ID: "1"}, event.FileChanged{Call: "1", Path: "a"}, event.CallDone{ID: "1", Tool: "edit", Does: tool.Edit},
	event.CallStarted{ID: "2"}, event.CallDone{ID: "2", Tool: "bash", Does: tool.Exec, Diff: "d"},
	event.FileChanged{Call: "2", Path: "late"},
	event.FileChanged{Call: "3", Path: "deep", Child: &event.ChildEvent{Session: "d1", Seq: 9, Call: "8"}},
	event.Noted{Why: "x", Text: "its own"},
}

var workIn = []string{
	"changed a by call in c1/1", "call called bash in c1/2", "changed late by call in c1/", "changed deep by call in c1/d1/8",
}

// SPEC 14.1: what an agent did to files and what it ran is in the session's log,
// as the doing of the call that started it, with where it is in the agent's own.
func TestWhatAChildDidIsItsParents(t *testing.T) {
	p := newParent(t, memory.New(time.Now))
	p.plays = work
	run, err := p.For("call").Run(t.Context(), tool.Agent{Kind: "k", Prompt: "do"})
	if err != nil || run.Reply != "fine" || run.End != string(event.EndDone) || run.Calls != 2 || *run.USD != 0.25 || fmt.Sprint(run.Files) != "[a late deep]" {
		t.Errorf("%+v %v", run, err)
	}
	want := slices.Concat([]string{"agent_started"}, workIn, []string{"ended c1 done after 2"})
	if got := p.has(); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// SPEC 14.1, 10.4: wherever pawl died, the next opening records what is missing,
// once, and tells the call that waited, or the model.
func TestRecoveryRecordsWhatIsMissing(t *testing.T) {
	for told := range len(workIn) + 1 {
		for _, background := range []bool{false, true} {
			first := newParent(t, memory.New(time.Now))
			first.plays = work
			must.Done(t)(first.For("call").Run(t.Context(), tool.Agent{Kind: "k"}))
			// What a disk has that lost all of the parent's log after some events.
			store := memory.New(time.Now)
			for _, id := range []string{"c1", "p"} {
				var ds []event.Draft
				for e := range first.store.Read(t.Context(), id, 0) {
					if s, ok := e.Body.(event.AgentStarted); ok {
						s.Background = background
						e.Body = s
					}
					ds = append(ds, event.Draft{Body: e.Body})
				}
				if id == "p" {
					ds = ds[:1+told]
				}
				must.Done(t)(store.Append(t.Context(), id, 0, ds...))
			}
			p := newParent(t, store)
			got := must.Get(p.Recover(t.Context()))(t)
			want := slices.Concat([]string{"agent_started"}, workIn, []string{"ended c1 interrupted after 2"})
			if has := p.has(); !slices.Equal(has, want) {
				t.Errorf("%d told: %q\nwant %q", told, has, want)
			}
			text := got.For("call")
			if background {
				text = fmt.Sprint(got.Note())
			}
			if !strings.Contains(text, "had made 2 calls and changed a, late, deep") || background == (got.For("call") != "") || background != (len(got.Note()) > 0) {
				t.Errorf("%q %v", got.For("call"), got.Note())
			}
			if len(p.opened) != 1 || !p.opened[0].Recovering || p.opened[0].ID != "c1" {
				t.Errorf("%+v", p.opened)
			}
			if again, err := p.Recover(t.Context()); err != nil || again.For("call") != "" || len(p.has()) != len(want) {
				t.Error("recovered twice", err)
			}
		}
	}
}

// SPEC 10.2: a fork has the events of agents that are another session's: they are
// closed in its log and not touched.
func TestAgentsOfAForkAreLeftAlone(t *testing.T) {
	p := newParent(t, memory.New(time.Now))
	for id, b := range map[string]event.Body{"p": event.AgentStarted{Call: "call", Child: "c9"}, "c9": event.Opened{Parent: &event.ParentCall{Session: "other"}}} {
		at := int64(0)
		if id == "p" {
			must.Do(t, p.log.Append(t.Context(), event.Draft{Body: b}))
			continue
		}
		must.Done(t)(p.store.Append(t.Context(), id, at, event.Draft{Body: b}))
	}
	if _, err := p.Recover(t.Context()); err != nil || len(p.opened) > 0 || fmt.Sprint(p.has()) != "[agent_started ended c9 interrupted after 0]" {
		t.Error(err, p.opened, p.has())
	}
}

// SPEC 14.1, 10.4: an agent whose end cannot be recorded did not end well.
func TestAnEndThatIsNotRecorded(t *testing.T) {
	p := newParent(t, memory.New(time.Now))
	p.refuses = "agent_ended"
	if run, err := p.For("call").Run(t.Context(), tool.Agent{Kind: "k"}); err == nil {
		t.Errorf("%+v", run)
	}
}

// SPEC 14.1: a turn does not end before its agents, and what ends it otherwise
// ends them.
func TestChildrenInTheBackground(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*parent)
		want string
	}{
		"it is done": {func(p *parent) { close(p.hold) }, "done fine"},
		"it is stopped": {func(p *parent) {
			if p.Stop(errors.New("the turn's end")); len(p.cancels) > 0 {
				t.Error("it outlives the turn")
			}
		}, "interrupted cut"},
		"its turn ends": {func(p *parent) { p.endTurn() }, "interrupted cut"},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newParent(t, memory.New(time.Now))
			p.hold = make(chan struct{})
			run, err := p.For("call").Run(t.Context(), tool.Agent{Kind: "k", Report: func(r tool.AgentRun) string { return r.End + " " + r.Reply }})
			if err != nil || run.End != "" || run.Session != "c1" {
				t.Fatalf("%+v %v", run, err)
			}
			goes := make(chan bool, 1)
			go func() { goes <- p.MustContinue(t.Context()) }()
			synctest.Wait()
			if len(goes) > 0 {
				t.Fatal("the turn did not wait")
			}
			p.prompt.Store(true) // it joins the turn
			p.queued <- struct{}{}
			if !<-goes {
				t.Error("the prompt waits for the agent")
			}
			p.prompt.Store(false)
			go func() { goes <- p.MustContinue(t.Context()) }()
			c.end(p)
			if !<-goes {
				t.Error("the model is not told")
			}
			p.all.Wait()
			if n, ok := p.told[0].Body.(event.Noted); !ok || n.Text != c.want || len(p.told) != 1 {
				t.Errorf("%s: %+v, want %s", name, p.told, c.want)
			}
			p.told = nil
			if p.MustContinue(t.Context()) {
				t.Error("it goes on without anything to tell")
			}
		})
	}
}

// SPEC 14.1: an agent has the tools that its kind names and its depth and rights
// leave; what of its kind cannot be kept to is told.
func TestWhatAChildIsMadeOf(t *testing.T) {
	named := func(name string, k tool.Kind, delegates bool) tool.Tool {
		return tool.Tool{Spec: llm.ToolSpec{Name: name}, Facts: tool.Facts{Kind: k, Delegates: delegates}}
	}
	all := tool.Set{named("read", tool.Read, false), named("edit", tool.Edit, false), named("bash", tool.Exec, false), named("agent", tool.Exec, true)}
	shop := named("mcp__shop__buy", tool.Exec, false)
	for _, c := range []struct {
		name  string
		deep  int
		agent tool.Agent
		tools string
		notes string
		usd   float64
	}{
		{"all", 2, tool.Agent{Kind: "k"}, "read edit bash agent", "", 0},
		{"the last that may start none", 1, tool.Agent{Kind: "k"}, "read edit bash", "", 0},
		{"read only", 2, tool.Agent{Kind: "k", ReadOnly: true}, "read bash agent", "", 0},
		{"none", 2, tool.Agent{Kind: "k", Tools: []string{}}, "", "", 0},
		{"some that are not there", 2, tool.Agent{Kind: "k", Tools: []string{"read", "teleport", "bash(git:*)"}}, "read", "[the agent k runs without teleport, bash(git:*): this session has no such tool]", 0},
		{"without some", 2, tool.Agent{Kind: "k", Not: []string{"edit", "Bash", "mcp__shop"}}, "read agent", "", 0},
		{"without one of those it names", 2, tool.Agent{Kind: "k", Tools: []string{"read", "bash"}, Not: []string{"bash"}}, "read", "", 0},
		{"another model", 2, tool.Agent{Kind: "k", Model: "no/one"}, "read edit bash agent", "there is no no/one", 0},
		{"a number of replies", 2, tool.Agent{Kind: "k", Steps: 3}, "read edit bash agent", "", 0},
		{"a budget", 2, tool.Agent{Kind: "k", USD: 1}, "read edit bash agent", "", 1},
		{"a budget without a price", 2, tool.Agent{Kind: "k", USD: 1}, "read edit bash agent", "the budget of $1.00 of the agent k cannot be enforced", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newParent(t, memory.New(time.Now))
			m := llmtest.New()
			if strings.HasSuffix(c.name, "without a price") {
				m.InfoValue.Price = nil
			}
			lent := all
			if c.agent.Not != nil {
				lent = append(slices.Clone(all), shop)
			}
			p.lends = Inheritance{Model: m, System: "be good", Tools: lent, Agents: c.deep, Left: 7}
			c.agent.About = "Be quick."
			got := p.childOf("call", c.agent)
			var tools []string
			for _, x := range got.Tools {
				tools = append(tools, x.Spec.Name)
			}
			if strings.Join(tools, " ") != c.tools || !strings.Contains(fmt.Sprint(got.Notes), c.notes) || (c.notes == "") != (len(got.Notes) == 0) {
				t.Errorf("%q %q", tools, got.Notes)
			}
			if got.System != "be good\n\nBe quick." || !strings.HasSuffix(got.System, got.About) || got.Agents != c.deep-1 || got.Limits != (budget.Limits{Agents: 7, USD: c.usd, Steps: c.agent.Steps}) {
				t.Errorf("%+v", got)
			}
			if got.Of != (event.ParentCall{Session: "p", Call: "call", Agent: "k"}) {
				t.Errorf("%+v", got.Of)
			}
		})
	}
}

// SPEC 14.1: what a child left running ends with it, and nothing else does.
func TestAChildsCommandsEnd(t *testing.T) {
	under, p := &commands{}, newParent(t, memory.New(time.Now))
	p.lends.Shell = under
	_, _ = under.Start(t.Context(), tool.Run{Command: "of the parent"})
	must.Done(t)(p.For("call").Run(t.Context(), tool.Agent{Kind: "k"}))
	if under.n != 2 || len(under.running) != 1 || under.running[0].Command != "of the parent" {
		t.Error(under.running)
	}
}

type commands struct {
	tool.Shell
	n       int
	running []tool.Job
}

func (c *commands) Start(_ context.Context, r tool.Run) (string, error) {
	c.n++
	id := fmt.Sprint("r", c.n)
	c.running = append(c.running, tool.Job{ID: id, Command: r.Command, End: func() {
		c.running = slices.DeleteFunc(c.running, func(j tool.Job) bool { return j.ID == id })
	}})
	return id, nil
}

func (c *commands) Running() []tool.Job { return slices.Clone(c.running) }
func (c *commands) Ended() []tool.Job   { return nil }

// SPEC 5.5: what an agent cost is a number only where all of it is known.
func TestUnknownCostIsNoNumber(t *testing.T) {
	for _, unknown := range []int{0, 1} {
		p := newParent(t, memory.New(time.Now))
		p.spent.Unknown = unknown
		run, err := p.For("call").Run(t.Context(), tool.Agent{Prompt: "x"})
		if err != nil || (run.USD == nil) != (unknown > 0) {
			t.Errorf("with %d of unknown cost: %v, %v", unknown, run.USD, err)
		}
	}
}
