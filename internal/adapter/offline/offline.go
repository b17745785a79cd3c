// Package offline is the built-in model: a planner without weights. It needs no key and
// no network, and every screen names it as such.
//
// It knows only the conversation that it is sent: it reads no file and starts no
// process. Like any model it answers with text and tool calls and gets their results,
// so permissions, budgets, undo and the log work for it as for all others.
//
// It promises to be deterministic: the same prompt and the same results give the same
// calls. A plan is straight-line Go code that stops at each call, and the model keeps it
// until the results come. If results come for calls of no plan that it has (it ran in
// another process), it reports that and starts over from the present workspace.
//
// It runs and explains commands, and repairs Go build errors and failing Go tests; for
// an error of the build it first asks language servers, if the session has them. It
// declines everything else in one sentence, as a refusal (the run ends as one that the
// model refused). It puts back what it tried without success.
package offline

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// maxLive is how many stopped plans are kept. One session needs one; child sessions that
// share a Model need one each. A plan that was interrupted stays until it is the oldest.
const maxLive = 64

// Model is the built-in model. It is safe for concurrent use by several
// sessions.
type Model struct {
	mu     sync.Mutex
	live   []*run // oldest first
	closed bool
}

// New makes a model. Close frees what its unfinished plans hold.
func New() *Model { return &Model{} }

// Info describes the built-in model: free of charge, in this process. The
// window is larger than any session, since a plan keeps what it needs.
func Info() llm.Info {
	return llm.Info{
		Provider: "offline", Model: "offline", API: llm.PlannerAPI, From: "this process",
		Family: "other", Window: 100_000_000, Price: &llm.Price{},
	}
}

func (m *Model) Info() llm.Info { return Info() }

// Close drops the plans that wait for results. A later Stream keeps nothing.
func (m *Model) Close() error {
	m.mu.Lock()
	live := m.live
	m.live, m.closed = nil, true
	m.mu.Unlock()
	for _, r := range live {
		r.stop()
	}
	return nil
}

func (m *Model) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		co, err := m.advance(ctx, r)
		if err != nil {
			yield(llm.Delta{}, err)
			return
		}
		a := co.pending
		m.keep(co)
		reply := llm.Reply{Message: llm.Message{Role: llm.Assistant}, Stop: llm.StopEnd, Finish: "end", Model: "offline", Usage: llm.Usage{Known: true}}
		if a.text != "" {
			if !yield(llm.Delta{Kind: llm.DeltaText, Text: a.text}, nil) {
				return
			}
			reply.Message.Parts = append(reply.Message.Parts, llm.TextPart(a.text))
		}
		if c := a.call; c != nil {
			reply.Stop, reply.Finish = llm.StopCalls, "calls"
			reply.Message.Parts = append(reply.Message.Parts, llm.Part{Kind: llm.CallPart, Call: c})
			if !yield(llm.Delta{Kind: llm.DeltaCall, ID: c.ID, Name: c.Name, Text: string(c.Args)}, nil) {
				return
			}
		}
		if ctx.Err() != nil {
			yield(llm.Delta{}, fault.NewCancellation(context.Cause(ctx)))
			return
		}
		if a.declined {
			reply.Stop, reply.Finish, reply.Refusal = llm.StopRefusal, "declined", "the built-in model can do nothing of this here"
		}
		yield(llm.Delta{Kind: llm.Done, Reply: &reply}, nil)
	}
}

// advance brings a plan to the state of the request: the stopped plan that waits for
// this result, otherwise a new one.
func (m *Model) advance(ctx context.Context, r *llm.Request) (*run, error) {
	if ctx.Err() != nil {
		return nil, fault.NewCancellation(context.Cause(ctx))
	}
	ps := prompts(r.Messages)
	if len(ps) == 0 {
		return nil, fault.NewLLM("the built-in model was sent a conversation without a prompt")
	}
	last := len(ps) - 1
	result := lastResult(r.Messages[ps[last].end:])
	if co := m.take(result.ID); co != nil {
		co.feed(result)
		return co, nil
	}
	job := job{prompt: ps[last].text, tools: r.Head.Tools, restart: result.ID != ""}
	for n := last - 1; n >= 0 && goOn(job.prompt); n-- {
		job.prompt = ps[n].text // "continue" means what was asked before
	}
	return start(job), nil
}

// take removes and returns the plan that waits for the result of a call.
func (m *Model) take(id string) *run {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.live, func(co *run) bool { return co.pending.call.ID == id })
	if i < 0 {
		return nil
	}
	co := m.live[i]
	m.live = slices.Delete(m.live, i, i+1)
	return co
}

// keep puts a plan aside until its result comes. A finished one is dropped, as is the
// oldest of too many.
func (m *Model) keep(co *run) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || co.pending.call == nil {
		co.stop()
		return
	}
	m.live = append(m.live, co)
	if len(m.live) > maxLive {
		m.live[0].stop()
		m.live = slices.Delete(m.live, 0, 1)
	}
}

// lastResult returns the result of the last call. A call without one gets a result that
// states this: a history may be cut.
func lastResult(ms []llm.Message) (last llm.Result) {
	for _, msg := range ms {
		for _, c := range msg.Calls() {
			last = llm.Result{ID: c.ID, Name: c.Name, Text: "no result was recorded", Error: true}
		}
		for _, p := range msg.Parts {
			if msg.Role == llm.Tool && p.Result != nil && p.Result.ID == last.ID {
				last = *p.Result
			}
		}
	}
	return last
}

// asked is a prompt, and how many messages there are up to its end.
type asked struct {
	text string
	end  int
}

// prompts returns the prompts of a person, or of someone in their place. A prompt is
// what stands together: there may be notes before and after it. Its text is the first
// message that asks for something, otherwise the first that is not a note. Notes alone
// are a prompt only after a finished reply: then somebody asked for more.
func prompts(ms []llm.Message) []asked {
	var out []asked
	for i := 0; i < len(ms); i++ {
		if ms[i].Role != llm.User {
			continue
		}
		finished := i == 0 || ms[i-1].Role == llm.Assistant && len(ms[i-1].Calls()) == 0
		var texts []string
		last := ""
		for ; i < len(ms) && ms[i].Role == llm.User; i++ {
			last = strings.TrimSpace(ms[i].Text())
			if t := spoken(ms[i]); t != "" {
				texts = append(texts, t)
			}
		}
		if len(texts) == 0 && !finished {
			continue
		}
		text := cmp.Or(append(texts, last)...)
		if n := slices.IndexFunc(texts, func(t string) bool { return understand(t).kind != intentNone }); n >= 0 {
			text = texts[n]
		}
		out = append(out, asked{text, i})
	}
	return out
}

// spoken returns a message without what is pawl's own: a marker in brackets, a text in a
// tag, or what the person ran with "!".
func spoken(msg llm.Message) string {
	var out []string
	for _, p := range msg.Parts {
		if p.Kind == llm.Text && !wrapped(p.Text) && !strings.HasPrefix(p.Text, "The user ran this command:\n$ ") {
			out = append(out, p.Text)
		}
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}

func wrapped(s string) bool {
	s = strings.TrimSpace(s)
	return len(s) > 1 && (s[0] == '<' && s[len(s)-1] == '>' || s[0] == '[' && s[len(s)-1] == ']')
}

var errStopped = errors.New("plan stopped")
