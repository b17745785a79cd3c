package line

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// SPEC 18.1: what a session's log holds at its end is what was seen of it while
// it ran: prompts, replies, calls, questions with their answers, commands,
// phases, undone turns, ends.
func TestTheLogIsWhatWasSeen(t *testing.T) {
	half := llmtest.Turn{Text: "Half a reply", Wait: make(chan struct{})}
	r := newTestConversation(t, llmtest.New(
		llmtest.Use("todo", `{"items":[{"text":"look","status":"in_progress"},{"text":"write","status":"pending"}]}`, "ask_user", `{"question":"Which?","options":["a","b"]}`),
		llmtest.Use("write", `{"path":"a.txt","content":"1\n"}`, "bash", `{"command":"echo out; exit 3"}`),
		llmtest.Use("nothing", `{}`),
		llmtest.Say("written"),
		half,
	), keysOf("go", "2", "y", "!echo mine", "/phase by hand", "/undo turn", "y", "/mode yolo", "again")...)
	var mu sync.Mutex
	var live []chat.Block
	var watching sync.WaitGroup
	cfg := r.config()
	cfg.Open = func(ctx context.Context, w slash.Want, p chat.Person) (*chat.Opened, error) {
		o, err := r.open(ctx, w, p)
		if err != nil {
			return nil, err
		}
		events := o.Session.Events(context.WithoutCancel(ctx), 0)
		watching.Add(1)
		go func() {
			defer watching.Done()
			var seen chat.Timeline
			for e, err := range events {
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				live = append(live, kept(seen.Apply(e))...)
				mu.Unlock()
			}
		}()
		return o, nil
	}
	r.paper.on("\nHalf", func() { r.signals <- "SIGINT" })
	must.Done(t)(Run(t.Context(), cfg, slash.Want{}))
	watching.Wait()
	var again chat.Timeline
	var stored []chat.Block
	for e, err := range r.store.Read(t.Context(), "s1", 0) {
		must.Do(t, err)
		stored = append(stored, kept(again.Apply(e))...)
	}
	if d := cmp.Diff(stored, live, cmpopts.IgnoreUnexported(budget.Spent{})); d != "" {
		t.Errorf("the log differs from what was seen (-log +live):\n%s", d)
	}
	kinds := map[string]int{}
	for _, b := range stored {
		switch b := b.Body.(type) {
		case chat.Call:
			kinds["call"]++
			if b.AsksPerson {
				kinds["asks"]++
			}
		case chat.Question:
			if b.Answer != "" || len(b.Verdicts) > 0 {
				kinds["answered"]++
			}
		case chat.Command:
			kinds["command"]++
		case chat.Phase:
			kinds["phase"]++
		case chat.Note:
			kinds[string(b.Kind)]++
		case chat.TurnEnd:
			kinds["end"]++
		}
	}
	for kind, n := range map[string]int{"call": 5, "asks": 1, "answered": 2, "command": 1, "phase": 3, "undo": 1, "interrupt": 1, "end": 2} {
		if kinds[kind] != n {
			t.Errorf("%d of %s, want %d: %v\n%s", kinds[kind], kind, n, kinds, r.paper)
		}
	}
}

func kept(cs []chat.Change) (out []chat.Block) {
	for _, c := range cs {
		if c.What == chat.Finished && !c.Block.Ephemeral {
			out = append(out, c.Block)
		}
	}
	return out
}

// A call's own question stands for it, whatever else runs beside it and
// whatever its tool is called; what a call led to stands below it.
func TestCallsBesideAQuestion(t *testing.T) {
	p := &paper{}
	v := newSeen(p, nil)
	for i, b := range []event.Body{
		event.CallAsked{ID: "1", Tool: "todo", Title: "todo", Does: tool.Note},
		event.CallAsked{ID: "2", Tool: "mcp__x__survey", Title: "mcp__x__survey Which colour?", Does: tool.Note},
		event.CallStarted{ID: "1"},
		event.CallStarted{ID: "2"},
		event.Asked{ID: "q", Text: "Which colour?"},
		event.Planned{Items: []tool.Item{{Text: "look", Status: "in_progress"}}},
		event.Answered{ID: "q", Text: "blue"},
		event.CallDone{ID: "1", Tool: "todo", Outcome: event.OK, Note: "0 of 1 done", Does: tool.Note},
		event.CallDone{ID: "2", Tool: "mcp__x__survey", Outcome: event.OK, Note: "answered", Does: tool.Note},
	} {
		v.show(event.Event{Seq: int64(i + 1), Body: b})
	}
	if got, want := p.String(), "  todo  → 0 of 1 done\npawl: phase 1 of 1: look\n"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// What a slash command did between two turns was told by the command: the next
// turn tells it no second time. SPEC 18.1
func TestToldOnce(t *testing.T) {
	r := newTestConversation(t, llmtest.New(llmtest.Use("todo", `{"items":[{"text":"write","status":"in_progress"}]}`)), keysOf("/phase look", "/phase read", "go")...)
	r.mode = "yolo"
	_, seen := r.run()
	if strings.Contains(seen, "pawl: phase 1") || !strings.Contains(seen, "pawl: phase 3 of 3: write") {
		t.Error(seen)
	}
}

// Thoughts between words are a line each, and shown as they come if they are asked for,
// also in the session that is opened next. SPEC 18.5
func TestThoughtsBetweenWords(t *testing.T) {
	for verbose, want := range map[bool]string{
		false: "(thinking)\nTwo\nthree\n(thinking)\nfive\ninterrupted\n",
		true:  "(thinking)\n  one\n  more\nTwo\nthree\n(thinking)\n  four\nfive\ninterrupted\n",
	} {
		p := &paper{}
		v := newSeen(p, nil)
		v.verbose = verbose
		v.opened()
		for _, b := range []event.Body{
			event.ReasoningDelta{Text: "one\n"}, event.ReasoningDelta{Text: "more"}, event.TextDelta{Text: "Two\n"}, event.TextDelta{Text: "three"},
			event.ReasoningDelta{Text: "four"}, event.TextDelta{Text: "five"},
		} {
			v.show(event.Event{Body: b})
		}
		v.show(event.Event{Seq: 1, Body: event.Interrupted{By: "person"}})
		if got := p.String(); got != want {
			t.Errorf("verbose %t: %q\nwant\n%q", verbose, got, want)
		}
	}
}

// What happens in a session between two turns is seen, before the next prompt
// and once. SPEC 18.1
func TestBetweenTurns(t *testing.T) {
	r := newTestConversation(t, llmtest.New(llmtest.Say("one"), llmtest.Say("two")), keysOf("go", "go on")...)
	cfg := r.config()
	cfg.Open = func(ctx context.Context, w slash.Want, p chat.Person) (*chat.Opened, error) {
		o, err := r.open(ctx, w, p)
		if err == nil {
			r.paper.on("1 model reply", func() {
				if _, err := o.Session.Submit(t.Context(), session.Phase{Text: "by somebody"}); err != nil {
					t.Error(err)
				}
			})
		}
		return o, err
	}
	must.Done(t)(Run(t.Context(), cfg, slash.Want{}))
	if seen := r.paper.String(); strings.Count(seen, "pawl: phase 1 of 1: by somebody\n> go on\n") != 1 || strings.Count(seen, "by somebody") != 1 {
		t.Error(seen)
	}
}

// A conversation ends for its reader when the reader stops following it, and when the
// session is closed; the session does not wait for it.
func TestFollowingEnds(t *testing.T) {
	for name, end := range map[string]func(*chat.Follower, *chat.Opened){
		"stopped": func(c *chat.Follower, _ *chat.Opened) { c.Stop() },
		"closed":  func(_ *chat.Follower, o *chat.Opened) { o.Close() },
	} {
		r := newTestConversation(t, llmtest.New(llmtest.Say("hello")))
		o := must.Get(r.open(t.Context(), slash.Want{}, nil))(t)
		c := chat.Follow(t.Context(), o.Session)
		must.Done(t)(o.Session.Submit(t.Context(), session.Prompt{Text: "go"}))
		for ended := false; !ended; {
			changes := must.Get(c.Next(t.Context()))(t)
			for _, ch := range changes {
				_, ended = ch.Block.Body.(chat.TurnEnd)
			}
		}
		if err := c.CatchUp(t.Context(), func(ch chat.Change) { t.Errorf("%s: %+v after the end", name, ch) }); err != nil || len(c.Open()) != 0 {
			t.Errorf("%s: %v, open %+v", name, err, c.Open())
		}
		end(c, o)
		if _, err := c.Next(t.Context()); !errors.Is(err, chat.ErrSessionEnded) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "stopped" {
			o.Close()
		}
	}
}

// SPEC 18.5: a person who hears the screen is told again and again what still runs, with the
// last that it printed; then the outcome stands on a line of its own.
func TestRunningCommandsSpeak(t *testing.T) {
	m := llmtest.New(llmtest.Use("bash", `{"command":"printf 'one\n\u001b[31mtwo\n'; until [ -e go ]; do :; done"}`), llmtest.Say("it ran"))
	r := newTestConversation(t, m, keysOf("run it")...)
	r.mode = "yolo"
	r.paper.on("it printed: two)", func() { r.put("go", "") })
	cfg := r.config()
	cfg.Speak = 20 * time.Millisecond
	must.Done(t)(Run(t.Context(), cfg, slash.Want{}))
	seen := r.paper.String()
	safe(t, seen)
	if !strings.Contains(seen, "  (still runs, ") || !strings.Contains(seen, "\n  bash printf") || !strings.Contains(seen, "→ exit code 0") {
		t.Errorf("seen:\n%s", seen)
	}
	_, after, _ := strings.Cut(seen, "it ran")
	if strings.Contains(after, "still runs") {
		t.Errorf("nothing runs any more:\n%s", after)
	}
}
