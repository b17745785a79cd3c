// Package playback plays a recorded session again, on this build: the recorded replies
// are the model, the recorded results are those of the calls, and each request that this
// build makes is compared with the recorded one, byte by byte (SPEC 20.5).
//
// The recorded request is made from the log up to the place where it was sent, since a
// request is a function of the log; the log has the size that it had then, so another
// encoding is noticed too. Everything that pawl decides is decided anew: prompts, tools,
// routes, refusals of malformed calls, hints, compaction. What came from outside is given
// back: prompts, replies, results, and notes of files and other programs. No tool runs and
// nothing is sent.
//
// It plays up to the first conversation that differs, or to the first thing that is no
// prompt, reply or result: what a person did beside their prompts, a limit, an interrupt.
package playback

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/engine/verify"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// Play is one playing of a recording.
type Play struct {
	rec *Recording
	// Sent, if set, receives each request that this build makes.
	Sent func(n int, body []byte) error

	info  llm.Info
	codec llm.Codec

	mu      sync.Mutex // the session's goroutines meet here
	s       *session.Session
	fold    recorded
	next    int // the number of the next request
	given   int // the notes before this request were given back
	summary int // of those before the next request
	prompt  int // likewise
	err     error

	result Result
}

// Result is what was found. Every difference is the first of its kind.
type Result struct {
	Recorded int // requests in the recording
	Same     int // of them, how many this build makes with the same bytes
	Compared int
	// Head is where the instructions or the tools differ, Size where a request has
	// another size than it was sent with, Talk where the conversation differs.
	Head, Size, Talk string
	Cut              string // see Recording.Cut
}

func (r Result) Differs() bool { return r.Head+r.Size+r.Talk != "" }

func New(r *Recording) *Play {
	return &Play{rec: r, result: Result{Recorded: len(r.sent), Cut: r.Cut}}
}

// Now is the time of the recorded request that is made next.
func (p *Play) Now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next < len(p.rec.sent) {
		return p.rec.sent[p.next].at
	}
	return p.rec.sent[len(p.rec.sent)-1].at
}

// Configure changes the configuration of the session that plays: its model is the
// recording, and nothing outside of it is asked, run or changed.
func (p *Play) Configure(c *session.Config) {
	p.info = c.Model.Info()
	if m, ok := c.Model.(llm.Encoded); ok {
		p.codec = m.Codec()
		c.Model = encodedPlayer{player{p}, p.codec}
	} else {
		c.Model = player{p}
	}
	p.fold.conv.Configure(c.Window)
	p.fold.builder = window.NewBuilder(&p.fold.conv, p.codec)
	c.Tools = given(c.Tools)
	if of := c.FolderTools; of != nil {
		c.FolderTools = func() tool.Set { return given(of()) }
	}
	c.Rules = func(context.Context, session.Guidance) []string { return p.notes() }
	c.Stages.Gates = append(c.Stages.Gates, p)
	c.Now, c.Sleep = p.Now, func(context.Context, time.Duration) error { return nil }
	c.Limits, c.Fallback, c.Counter = budget.Limits{}, nil, nil
	c.Hooks, c.Journal, c.Kept, c.Code, c.CodeWatch, c.Pressure = nil, nil, nil, nil, nil, nil
	c.Autofix, c.Answers, c.Prefer, c.Outside = nil, nil, nil, p.rec.outside()
}

// given returns tools that touch nothing: their calls get recorded results.
func given(set tool.Set) tool.Set {
	out := make(tool.Set, len(set))
	for i, t := range set {
		t.ReadOnly, t.StandsFor = true, nil
		t.Footprint = func(tool.Env, json.RawMessage) (tool.Footprint, error) { return tool.Footprint{}, nil }
		out[i] = t
	}
	return out
}

// Run plays the recording in a session that Configure has configured.
func (p *Play) Run(ctx context.Context, s *session.Session) (Result, error) {
	p.s = s
	for _, t := range p.rec.turns {
		if t.first != p.next || t.first >= len(p.rec.sent) {
			continue // its requests had no answer, or another turn has them
		}
		asks := ""
		_, err := s.RunPrompt(ctx, prompt(t.prompt, p), session.Observer{After: s.View().Last(), See: func(e event.Event) error {
			if b, ok := e.Body.(event.Asked); ok && !slices.Contains(p.rec.asked, b.ID) { // nobody is there
				asks = b.Text
				return errAsks
			}
			return nil
		}})
		if errors.Is(err, errAsks) {
			p.result.Talk = fmt.Sprintf("request %d: before it this build asks the person: %s", p.next+1, quote(asks, 0))
			break
		} else if err != nil {
			return p.result, err
		}
		if p.err != nil || p.result.Talk != "" {
			break
		}
	}
	if n := p.next; p.err == nil && p.result.Talk == "" && n < len(p.rec.sent) {
		p.result.Talk = fmt.Sprintf("request %d: this build does not make it; its turn ended before", n+1)
	}
	return p.result, p.err
}

var errAsks = errors.New("a question ends the playing")

// prompt returns a recorded prompt as it is submitted again.
func prompt(b event.Prompted, more verify.Verifier) session.Prompt {
	out := session.Prompt{Source: b.Source, Text: b.Text, Images: b.Images, Until: more}
	if rest, ok := strings.CutPrefix(b.Text, b.Typed); b.Typed != "" && ok { // what follows was piped
		out.Text, out.Piped = b.Typed, strings.TrimLeft(rest, "\n")
	}
	return out
}

// Next implements verify.Verifier: the prompt with which the recorded turn went on.
func (p *Play) Next(ctx context.Context, t *verify.TurnEnd) (string, error) {
	more, facts := p.goOn()
	return more, t.Log.Append(ctx, facts...) // without the lock: the log asks for the time
}

// goOn returns the next prompt of the turn, and what was found before it.
func (p *Play) goOn() (string, []event.Draft) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next >= len(p.rec.sent) || p.result.Talk != "" {
		return "", nil
	}
	n, of := p.prompt, p.rec.sent[p.next]
	if n > 0 {
		of.facts = nil
	}
	if n == len(of.prompts) {
		return "", of.facts
	}
	p.prompt++
	return of.prompts[n].Text, of.facts
}

// notes returns the recorded notes before the next request, once.
func (p *Play) notes() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.given > p.next || p.next >= len(p.rec.sent) {
		return nil
	}
	p.given = p.next + 1
	return p.rec.sent[p.next].notes
}

// Check implements turn.Gate: what this build does not refuse gets its recorded result.
func (p *Play) Check(_ context.Context, step []*turn.Pending) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next == 0 {
		return nil
	}
	of := p.rec.sent[p.next-1]
	for _, c := range step {
		if c.Refused != nil {
			continue
		}
		done, ok := of.done[c.Call.ID]
		if !ok {
			return fault.NewConfiguration("", "the recording has no result of the call %s", c.Title())
		}
		c.Given, c.GivenWith = &done, of.did[c.Call.ID]
	}
	return nil
}

// player is the recording as a model.
type player struct{ p *Play }

type encodedPlayer struct {
	player
	codec llm.Codec
}

func (m encodedPlayer) Codec() llm.Codec { return m.codec }

func (m player) Info() llm.Info { return m.p.info }

func (m player) Stream(ctx context.Context, q *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		reply, joins, err := m.p.answer(q)
		for _, b := range joins { // they waited for the next request, too
			if _, serr := m.p.s.Submit(ctx, prompt(b, nil)); serr != nil {
				err = serr
			}
		}
		if err != nil {
			yield(llm.Delta{}, err)
			return
		}
		yield(llm.Delta{Kind: llm.Done, Reply: &reply}, nil)
	}
}

// answer compares a request, and returns its recorded reply with the prompts that came
// while it was made and its calls ran.
func (p *Play) answer(q *llm.Request) (reply llm.Reply, joins []event.Prompted, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.codec != nil && q.Packed == nil { // not the conversation's
		return p.side()
	}
	n := p.next
	if n >= len(p.rec.sent) {
		if p.rec.Cut == "" && p.result.Talk == "" {
			p.result.Talk = fmt.Sprintf("request %d: the recorded session did not make it", n+1)
		}
		return reply, nil, errEnd()
	}
	if err := p.compare(n, q); err != nil {
		p.err = err
		return reply, nil, err
	}
	if p.result.Talk != "" {
		return reply, nil, errEnd()
	}
	p.next, p.summary, p.prompt = n+1, 0, 0
	reply = p.rec.sent[n].reply
	if p.next < len(p.rec.sent) && len(reply.Message.Calls()) > 0 {
		joins = p.rec.sent[p.next].prompts
		p.prompt = len(joins)
	}
	return reply, joins, nil
}

// side answers a request beside the conversation: only summaries are recorded.
func (p *Play) side() (llm.Reply, []event.Prompted, error) {
	if p.next < len(p.rec.sent) {
		if all := p.rec.sent[p.next].summaries; p.summary < len(all) {
			p.summary++
			return llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.TextPart(all[p.summary-1])}}, Stop: llm.StopEnd}, nil, nil
		}
	}
	return llm.Reply{}, nil, errEnd()
}

// errEnd ends the turn of a session whose playing is over.
func errEnd() error { return fault.NewConfiguration("", "the recording is played") }

// compare compares the nth request with the recorded one.
func (p *Play) compare(n int, q *llm.Request) error {
	was, err := p.fold.upTo(p.rec.events, p.rec.sent[n].seq, q.Tail)
	if err != nil {
		return err
	}
	body := bytes.Join(q.Body, nil)
	if p.Sent != nil {
		if err := p.Sent(n, body); err != nil {
			return err
		}
	}
	p.result.Compared++
	if sent, size := p.rec.sent[n].bytes, int64(len(bytes.Join(was.Body, nil))); size != sent && p.codec != nil && p.result.Size == "" {
		p.result.Size = fmt.Sprintf("request %d was sent with %d bytes; from the same log this build makes %d", n+1, sent, size)
	}
	if p.result.Head == "" {
		p.result.Head = heads(was.Head, q.Head)
	}
	if where := conversations(was.All(), q.All()); where != "" {
		p.result.Talk = fmt.Sprintf("request %d, %s", n+1, where)
		return nil
	}
	if was := bytes.Join(was.Body, nil); bytes.Equal(was, body) {
		p.result.Same++
	} else if p.result.Head == "" {
		p.result.Talk = fmt.Sprintf("request %d, %s", n+1, texts("its bytes", string(was), string(body)))
	}
	return nil
}

// recorded makes the recorded requests.
type recorded struct {
	conv    window.Conversation
	builder *window.Builder
	applied int
}

// upTo returns the request that was recorded with a sequence number.
func (f *recorded) upTo(events []event.Event, seq int64, t llm.Tail) (*llm.Request, error) {
	for ; f.applied < len(events) && events[f.applied].Seq < seq; f.applied++ {
		f.conv.Apply(events[f.applied])
	}
	return f.builder.Request(t)
}
