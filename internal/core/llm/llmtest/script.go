// Package llmtest has the scripted model that tests above the contract use. It
// answers each request with the next reply of its script, streamed in pieces, and
// keeps the requests that it received.
package llmtest

import (
	"context"
	"encoding/json"
	"iter"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Turn is one answer of a script.
type Turn struct {
	Text      string
	Reasoning string
	Signature string // of the reasoning, on a Server
	Calls     []llm.Call
	Stop      llm.Stop // "": follows from Calls
	Err       error    // ends the stream, after Text was streamed
	Usage     llm.Usage
	// Piece is how many bytes of the text, or of the reasoning, are streamed at once.
	// 0: the text in two halves and the reasoning as a whole.
	Piece int
	// Wait, if set, must be closed before the answer ends: a test decides when.
	Wait <-chan struct{}
	// Before, if set, runs when the request arrives.
	Before func(*llm.Request)
}

func Say(text string) Turn { return Turn{Text: text} }

// Use returns an answer that calls tools: names and arguments in pairs.
func Use(nameAndArgs ...string) Turn {
	t := Turn{}
	for i := 0; i+1 < len(nameAndArgs); i += 2 {
		t.Calls = append(t.Calls, llm.Call{Name: nameAndArgs[i], Args: json.RawMessage(nameAndArgs[i+1])})
	}
	return t
}

// pieces splits a text for streaming: into n parts if Piece is not set.
func (t *Turn) pieces(text string, n int) []string {
	size := t.Piece
	if size <= 0 {
		size = max(1, (len(text)+n-1)/n)
	}
	var out []string
	for len(text) > 0 {
		k := min(size, len(text))
		out, text = append(out, text[:k]), text[k:]
	}
	return out
}

// Model is a scripted model. It is safe for concurrent use.
type Model struct {
	InfoValue llm.Info
	// Next, if set, returns the answer to the nth request, counted from 0, after the end
	// of the script.
	Next func(n int, r *llm.Request) Turn
	// CodecValue, if set, makes the requests have a body.
	CodecValue llm.Codec

	mu       sync.Mutex
	script   []Turn
	requests []*llm.Request
}

// New makes a model with these answers, followed by "done".
func New(turns ...Turn) *Model {
	return &Model{script: turns, InfoValue: llm.Info{
		Provider: "scripted", Model: "script", API: "scripted", From: "this test",
		Window: 200_000, MaxOutput: 8192, Price: &llm.Price{Input: 1, Output: 10, CacheRead: 0.1, CacheWrite: 1.25},
	}}
}

func (m *Model) Info() llm.Info { return m.InfoValue }

// Requests lists the requests so far.
func (m *Model) Requests() []*llm.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]*llm.Request(nil), m.requests...)
}

func (m *Model) take(r *llm.Request) Turn {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := len(m.requests)
	m.requests = append(m.requests, r)
	switch {
	case n < len(m.script):
		return m.script[n]
	case m.Next != nil:
		return m.Next(n, r)
	}
	return Say("done")
}

func (m *Model) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		whole := *r
		whole.Messages = r.All() // scripts and tests look at them
		r := &whole
		t := m.take(r)
		if t.Before != nil {
			t.Before(r)
		}
		msg := llm.Message{Role: llm.Assistant}
		if t.Reasoning != "" {
			msg.Parts = append(msg.Parts, llm.Part{Kind: llm.Reasoning, Text: t.Reasoning})
			for _, piece := range t.pieces(t.Reasoning, 1) {
				if !yield(llm.Delta{Kind: llm.DeltaReasoning, Text: piece}, nil) {
					return
				}
			}
		}
		if t.Text != "" {
			msg.Parts = append(msg.Parts, llm.TextPart(t.Text))
			for _, piece := range t.pieces(t.Text, 2) {
				if !yield(llm.Delta{Kind: llm.DeltaText, Text: piece}, nil) {
					return
				}
			}
		}
		if t.Wait != nil {
			select {
			case <-t.Wait:
			case <-ctx.Done():
				yield(llm.Delta{}, fault.NewCancellation(context.Cause(ctx)))
				return
			}
		}
		if t.Err != nil {
			yield(llm.Delta{}, t.Err)
			return
		}
		stop := llm.StopEnd
		for i, c := range t.Calls {
			stop = llm.StopCalls
			msg.Parts = append(msg.Parts, llm.Part{Kind: llm.CallPart, Call: &t.Calls[i]})
			if !yield(llm.Delta{Kind: llm.DeltaCall, Index: i, Name: c.Name, ID: c.ID, Text: string(c.Args)}, nil) {
				return
			}
		}
		if t.Stop != "" {
			stop = t.Stop
		}
		usage := t.Usage
		if usage == (llm.Usage{}) {
			usage = llm.Usage{Known: true, Input: 100, Output: 20}
		}
		yield(llm.Delta{Kind: llm.Done, Reply: &llm.Reply{Message: msg, Stop: stop, Model: "script", Usage: usage}}, nil)
	}
}

// Scripted is a Model that wants request bodies.
type Scripted struct{ *Model }

func (s Scripted) Codec() llm.Codec { return s.CodecValue }
