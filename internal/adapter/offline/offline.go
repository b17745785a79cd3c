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
// stopped plan at hand so that going on costs the same at step 1,000 as at step 10. If
// the messages do not match the plan (edited, compacted away), it reports that and
// starts over from the present workspace.
//
// It runs and explains commands, and repairs Go build errors and failing Go tests; for
// an error of the build it first asks language servers, if the session has them. It
// declines everything else in one sentence, as a refusal (the run ends as one that the
// model refused). It puts back what it tried without success.
package offline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// maxLive is how many stopped plans are kept. One session needs one; child
// sessions that share a Model need one each.
const maxLive = 16

// Model is the built-in model. It is safe for concurrent use by several
// sessions. The zero value is not ready: use New.
type Model struct {
	mu     sync.Mutex
	live   map[string]*run // by the id of the first call that is waited for
	order  []string        // the same ids, oldest first
	closed bool
}

// New makes a model. Close frees what its unfinished plans hold.
func New() *Model { return &Model{live: map[string]*run{}} }

// Info describes the built-in model: free of charge, in this process. The
// window is larger than any session, since a plan keeps what it needs.
func Info() llm.Info {
	return llm.Info{
		Provider: "offline", Model: "offline", API: llm.PlannerAPI, From: "this process",
		Family: "other", Window: 100_000_000, Price: &llm.Price{},
	}
}

// Info implements llm.Model.
func (m *Model) Info() llm.Info { return Info() }

// Close drops the plans that wait for results. A later Stream still works, by
// replay, and keeps nothing.
func (m *Model) Close() error {
	m.mu.Lock()
	live := m.live
	m.live, m.order, m.closed = map[string]*run{}, nil, true
	m.mu.Unlock()
	for _, r := range live {
		r.stop()
	}
	return nil
}

// Stream implements llm.Model.
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
		for _, piece := range pieces(a.text) {
			if ctx.Err() != nil {
				yield(llm.Delta{}, fault.NewCancellation(context.Cause(ctx)))
				return
			}
			if !yield(llm.Delta{Kind: llm.DeltaText, Text: piece}, nil) {
				return
			}
		}
		msg := llm.Message{Role: llm.Assistant}
		if a.text != "" {
			msg.Parts = append(msg.Parts, llm.TextPart(a.text))
		}
		stop, finish := llm.StopEnd, "end"
		for i := range calls {
			stop, finish = llm.StopCalls, "calls"
			c := calls[i]
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
	// The usual case looks at the end of the conversation only.
	if last, ok := lastStep(r.Messages); ok {
		if co := m.take(last.calls[0].ID); co != nil {
			if co.fits(last.calls) {
				co.feed(last.results)
				return co, nil
			}
			co.stop()
		}
	}
	at := lastPrompt(r.Messages)
	if at < 0 {
		return nil, fault.NewLLM("the built-in model was sent a conversation without a prompt")
	}
	steps := stepsOf(r.Messages[at+1:])
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
			if !co.fits(s.calls) {
				continue
			}
		}
		co.feed(s.results)
	}
	return co, nil
}

// take removes and returns the plan that waits for the call id.
func (m *Model) take(id string) *run {
	m.mu.Lock()
	defer m.mu.Unlock()
	co := m.live[id]
	if co != nil {
		m.forget(id)
	}
	return co
}

// keep puts a plan aside until its results come; a finished one is dropped.
func (m *Model) keep(co *run) {
	calls := co.calls()
	if len(calls) == 0 {
		co.stop()
		return
	}
	var drop []*run
	m.mu.Lock()
	if m.closed {
		drop = append(drop, co)
	} else {
		id := calls[0].ID
		if old := m.live[id]; old != nil {
			drop = append(drop, old)
			m.forget(id)
		}
		m.live[id] = co
		m.order = append(m.order, id)
		for len(m.order) > maxLive {
			drop = append(drop, m.live[m.order[0]])
			m.forget(m.order[0])
		}
	}
	m.mu.Unlock()
	for _, d := range drop {
		d.stop()
	}
}

func (m *Model) forget(id string) {
	delete(m.live, id)
	for i, o := range m.order {
		if o == id {
			m.order = append(m.order[:i], m.order[i+1:]...)
			return
		}
	}
}

// pieces cuts a text into at most eight parts at line or word ends, so that a
// screen shows it as it shows any model's.
func pieces(s string) []string {
	size := max(40, len(s)/8+1)
	var out []string
	for len(s) > size {
		cut := strings.IndexAny(s[size:], " \n")
		if cut < 0 {
			break
		}
		cut += size + 1
		out = append(out, s[:cut])
		s = s[cut:]
	}
	if s != "" {
		out = append(out, s)
	}
	return out
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
				if p.Kind == llm.Output && p.Result != nil && len(out) > 0 {
					out[len(out)-1].set(*p.Result)
				}
			}
		}
	}
	return out
}

func (s *step) set(r llm.Result) {
	for i := range s.results {
		if s.results[i].ID == r.ID {
			s.results[i] = r
		}
	}
}

// lastStep returns the reply with calls whose results end the conversation.
func lastStep(ms []llm.Message) (step, bool) {
	for i := len(ms) - 1; i >= 0; i-- {
		switch {
		case ms[i].Role == llm.Assistant:
			s := stepsOf(ms[i:])[0]
			return s, len(s.calls) > 0
		case ms[i].Role == llm.User && !isNote(ms[i]) || i == 0:
			return step{}, false
		}
	}
	return step{}, false
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
	for _, p := range msg.Parts {
		if p.Kind == llm.Text && !wrapped(p.Text) && !strings.HasPrefix(p.Text, "The user ran this command:\n$ ") {
			return false
		}
	}
	return true
}

func wrapped(s string) bool {
	s = strings.TrimSpace(s)
	return len(s) > 1 && (s[0] == '<' && s[len(s)-1] == '>' || s[0] == '[' && s[len(s)-1] == ']')
}

// promptText returns the request: of the messages in sequence the first that asks for
// something, otherwise the first that is not a note.
func promptText(ms []llm.Message, at int) string {
	first := ""
	for i := firstOf(ms, at); i <= at; i++ {
		if isNote(ms[i]) {
			continue
		}
		var out []string
		for _, p := range ms[i].Parts {
			if p.Kind == llm.Text && !wrapped(p.Text) {
				out = append(out, p.Text)
			}
		}
		text := strings.TrimSpace(strings.Join(out, "\n"))
		if understand(text).kind != intentNone {
			return text
		}
		if first == "" {
			first = text
		}
	}
	if first == "" {
		return strings.TrimSpace(ms[at].Text())
	}
	return first
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
	ax, _ := json.Marshal(x) // maps are written in key order
	ay, _ := json.Marshal(y)
	return string(ax) == string(ay)
}
