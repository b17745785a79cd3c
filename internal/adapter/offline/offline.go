// Package offline is the built-in model: a planner without weights. It needs no key and
// no network, and every screen names it as such.
//
// It knows only the conversation that it is sent: it reads no file and starts no
// process. Like any model it answers with text and tool calls and gets their results,
// so permissions, budgets, undo and the log work for it as for all others.
//
// It promises to be deterministic: the same messages give the same next calls, in the
// same process or in another one. A plan is straight-line Go code that stops at each
// call; the model replays it from the messages since the last prompt, and keeps the
// stopped plan at hand so that going on replays nothing. If the messages do not match the plan (edited, compacted away), it reports that and
// starts over from the present workspace.
//
// It runs and explains commands, and repairs Go build errors and failing Go tests; for
// an error of the build it first asks language servers, if the session has them. It
// declines everything else in one sentence, as a refusal (the run ends as one that the
// model refused). It puts back what it tried without success.
package offline

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"iter"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// maxLive is how many stopped plans are kept. One session needs one; child
// sessions that share a Model need one each.
const maxLive = 16

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

// Close drops the plans that wait for results. A later Stream still works, by
// replay, and keeps nothing.
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
		calls := co.calls()
		m.keep(co)
		msg := llm.Message{Role: llm.Assistant}
		if a.text != "" {
			if !yield(llm.Delta{Kind: llm.DeltaText, Text: a.text}, nil) {
				return
			}
			msg.Parts = append(msg.Parts, llm.TextPart(a.text))
		}
		stop, finish := llm.StopEnd, "end"
		for i, c := range calls {
			stop, finish = llm.StopCalls, "calls"
			msg.Parts = append(msg.Parts, llm.Part{Kind: llm.CallPart, Call: &c})
			if !yield(llm.Delta{Kind: llm.DeltaCall, Index: i, ID: c.ID, Name: c.Name, Text: string(c.Args)}, nil) {
				return
			}
		}
		if ctx.Err() != nil {
			yield(llm.Delta{}, fault.NewCancellation(context.Cause(ctx)))
			return
		}
		refusal := ""
		if a.declined {
			stop, finish, refusal = llm.StopRefusal, "declined", "the built-in model can do nothing of this here"
		}
		yield(llm.Delta{Kind: llm.Done, Reply: &llm.Reply{
			Message: msg, Stop: stop, Finish: finish, Refusal: refusal, Model: "offline", Usage: llm.Usage{Known: true},
		}}, nil)
	}
}

// advance brings a plan to the state of the request: the stopped plan if it waits for
// exactly these results, otherwise a new one by replay.
func (m *Model) advance(ctx context.Context, r *llm.Request) (*run, error) {
	if ctx.Err() != nil {
		return nil, fault.NewCancellation(context.Cause(ctx))
	}
	at := lastPrompt(r.Messages)
	if at < 0 {
		return nil, fault.NewLLM("the built-in model was sent a conversation without a prompt")
	}
	steps := stepsOf(r.Messages[at+1:])
	if n := len(steps) - 1; n >= 0 && len(steps[n].calls) > 0 {
		if co := m.take(steps[n].calls); co != nil {
			co.feed(steps[n].results)
			return co, nil
		}
	}
	earlier := r.Messages[:firstOf(r.Messages, at)]
	job := job{prompt: promptText(r.Messages, at), tools: r.Head.Tools}
	for n := lastPrompt(earlier); n >= 0 && goOn(job.prompt); n = lastPrompt(earlier) {
		job.prompt = promptText(earlier, n) // "continue" means what was asked before
		earlier = earlier[:firstOf(earlier, n)]
	}
	seed := hash("prompt", job.prompt, itoa(at))
	co := start(job, seed)
	for i, s := range steps {
		if ctx.Err() != nil {
			co.stop()
			return nil, fault.NewCancellation(context.Cause(ctx))
		}
		if len(s.calls) == 0 {
			continue // a reply that was cut short, or words only
		}
		if !co.fits(s.calls) {
			co.stop()
			job.restart = true
			co = start(job, hash(seed, "restart", itoa(i)))
		}
		if co.fits(s.calls) {
			co.feed(s.results)
		}
	}
	return co, nil
}

// take removes and returns the plan that waits for the results of these very calls.
func (m *Model) take(calls []llm.Call) *run {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, co := range m.live {
		if co.calls()[0].ID == calls[0].ID && co.fits(calls) {
			m.live = slices.Delete(m.live, i, i+1)
			return co
		}
	}
	return nil
}

// keep puts a plan aside until its results come. A finished one is dropped, as is the
// oldest of too many.
func (m *Model) keep(co *run) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || len(co.pending.calls) == 0 {
		co.stop()
		return
	}
	m.live = append(m.live, co)
	if len(m.live) > maxLive {
		m.live[0].stop()
		m.live = slices.Delete(m.live, 0, 1)
	}
}

func hash(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(itoa(len(p)) + ":" + p))
	}
	return hex.EncodeToString(h.Sum(nil))[:24]
}

// step is one reply and the results of its calls, in the order asked.
type step struct {
	calls   []llm.Call
	results []llm.Result
}

// stepsOf reads the messages after a prompt. A call without a result gets one that
// states this: the log promises one for each call, but a history may be cut.
func stepsOf(ms []llm.Message) []step {
	var out []step
	for _, msg := range ms {
		switch msg.Role {
		case llm.Assistant:
			s := step{calls: msg.Calls()}
			for _, c := range s.calls {
				s.results = append(s.results, llm.Result{ID: c.ID, Name: c.Name, Text: "no result was recorded", Error: true})
			}
			out = append(out, s)
		case llm.Tool:
			for _, p := range msg.Parts {
				if p.Kind != llm.Output || p.Result == nil || len(out) == 0 {
					continue
				}
				results := out[len(out)-1].results
				if i := slices.IndexFunc(results, func(r llm.Result) bool { return r.ID == p.Result.ID }); i >= 0 {
					results[i] = *p.Result
				}
			}
		}
	}
	return out
}

// lastPrompt returns the index of the last message of a person, or of someone in their
// place, that is not only a note; -1 without one.
func lastPrompt(ms []llm.Message) int {
	for i := len(ms) - 1; i >= 0; i-- {
		if ms[i].Role != llm.User {
			continue
		}
		// After a finished reply somebody asked for more, however it is
		// written.
		first := firstOf(ms, i)
		if !isNote(ms[i]) || first == 0 || ms[first-1].Role == llm.Assistant && len(ms[first-1].Calls()) == 0 {
			return i
		}
	}
	return -1
}

// firstOf returns the first of the messages that stand together with the one at
// index at: a prompt may have notes before and after it.
func firstOf(ms []llm.Message, at int) int {
	for at > 0 && ms[at-1].Role == llm.User {
		at--
	}
	return at
}

// isNote reports whether a message is pawl's own and not a prompt: a marker in
// brackets, a text in a tag, or what the person ran with "!".
func isNote(msg llm.Message) bool {
	return !slices.ContainsFunc(msg.Parts, func(p llm.Part) bool {
		return p.Kind == llm.Text && !wrapped(p.Text) && !strings.HasPrefix(p.Text, "The user ran this command:\n$ ")
	})
}

func wrapped(s string) bool {
	s = strings.TrimSpace(s)
	return len(s) > 1 && (s[0] == '<' && s[len(s)-1] == '>' || s[0] == '[' && s[len(s)-1] == ']')
}

// promptText returns the request: of the messages in sequence the first that asks for
// something, otherwise the first that is not a note.
func promptText(ms []llm.Message, at int) string {
	first := ""
	for _, msg := range ms[firstOf(ms, at) : at+1] {
		var out []string
		for _, p := range msg.Parts {
			if p.Kind == llm.Text && !wrapped(p.Text) && !isNote(msg) {
				out = append(out, p.Text)
			}
		}
		text := strings.TrimSpace(strings.Join(out, "\n"))
		if text != "" && understand(text).kind != intentNone {
			return text
		}
		first = cmp.Or(first, text)
	}
	return cmp.Or(first, strings.TrimSpace(ms[at].Text()))
}

var errStopped = errors.New("plan stopped")

func sameArgs(a, b json.RawMessage) bool {
	if string(a) == string(b) {
		return true
	}
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return reflect.DeepEqual(x, y)
}
