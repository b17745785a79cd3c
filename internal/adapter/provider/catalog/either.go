package catalog

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/responses"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Endpoints remembers which of OpenAI's APIs the servers of a process have. The zero value
// is ready; it is safe for concurrent use.
type Endpoints struct {
	mu     sync.Mutex
	second map[string]bool // by server and model: the second choice is the right one
}

func (e *Endpoints) isSecond(of string) bool {
	if e == nil {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.second[of]
}

// learn reports whether this was not known.
func (e *Endpoints) learn(of string) bool {
	if e == nil {
		return true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	was := e.second[of]
	if e.second == nil {
		e.second = map[string]bool{}
	}
	e.second[of] = true
	return !was
}

// either is a model behind a server of which it is not known which of OpenAI's APIs it
// has. It asks the first one. Where that is not there, or a refusal names the other one,
// it asks the other one from then on, and its first reply has a notice.
type either struct {
	info    llm.Info
	clients [2]*provider.Client
	known   *Endpoints
	server  string // as Endpoints knows it
	unasked bool   // the effort is not the person's: Chat Completions are asked for none

	mu     sync.Mutex
	using  int
	notice string
}

var (
	_ llm.Encoded  = (*either)(nil)
	_ llm.Changing = (*either)(nil)
)

func newEither(c Choice, first, second *provider.Client, known *Endpoints) *either {
	e := &either{info: c.Info, clients: [2]*provider.Client{first, second}, known: known, server: c.BaseURL, unasked: !c.asked}
	if c.Info.API != responses.Name { // that a model needs the other one says nothing about the server
		e.server += " " + c.Info.Model
	}
	if known.isSecond(e.server) {
		e.using = 1
	}
	return e
}

// Info describes the model; its API is the first one, so that the session's head stays.
func (e *either) Info() llm.Info { return e.info }

// Codec returns the encoder of the API that is in use.
func (e *either) Codec() llm.Codec { return e }

func (e *either) Version() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.using
}

func (e *either) codec() llm.Codec { return e.clients[e.Version()].Codec() }

// Head, Step and Tail implement llm.Codec.
func (e *either) Head(h llm.Head) ([]byte, error) { return e.codec().Head(h) }

func (e *either) Step(ms []llm.Message, mark bool) ([]byte, error) { return e.codec().Step(ms, mark) }

func (e *either) Tail(t llm.Tail) []byte { return e.codec().Tail(t) }

func (e *either) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		using := e.Version()
		if using == 1 {
			r = e.encoded(r)
		}
		var refused error
		for d, err := range e.clients[using].Stream(ctx, r) {
			if err != nil && using == 0 && e.elsewhere(err) {
				refused = err
				break
			}
			if !yield(e.noticed(d), err) {
				return
			}
		}
		if refused == nil {
			return
		}
		whole := llm.Request{Head: r.Head, Messages: r.All(), Tail: r.Tail}
		for d, err := range e.clients[1].Stream(ctx, &whole) {
			if err == nil || status(err) != 0 && !absent(err) {
				e.change()
			} else if absent(err) {
				err = refused // neither is there: the first one would be the right one
			}
			if !yield(e.noticed(d), err) {
				return
			}
		}
	}
}

// encoded returns a request without its body if that is in the first API's form: it was
// built before the other one was chosen.
func (e *either) encoded(r *llm.Request) *llm.Request {
	head, err := e.clients[1].Codec().Head(r.Head)
	if err != nil || len(r.Body) == 0 || bytes.HasPrefix(r.Body[0], head) {
		return r
	}
	return &llm.Request{Head: r.Head, Messages: r.All(), Tail: r.Tail}
}

// elsewhere reports whether an error of the first API means that the other one is right.
func (e *either) elsewhere(err error) bool {
	if e.info.API == responses.Name {
		return absent(err)
	}
	return status(err) == http.StatusBadRequest && strings.Contains(err.Error(), "v1/responses")
}

func status(err error) int {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Status
	}
	return 0
}

// absent reports whether an error means that nothing is at the API's address.
func absent(err error) bool {
	return status(err) == http.StatusNotFound || status(err) == http.StatusMethodNotAllowed
}

// change makes the second API the one in use.
func (e *either) change() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.using == 1 {
		return
	}
	e.using = 1
	if !e.known.learn(e.server) {
		return
	}
	e.notice = e.info.From + " has no Responses API: " + e.info.Model + " is used by Chat Completions"
	if e.unasked {
		e.notice += ", with its usual effort"
	}
	if e.info.API != responses.Name {
		e.notice = e.info.Model + " needs the Responses API for its tools: pawl uses it from now on"
	}
}

// noticed adds the notice to a reply, once.
func (e *either) noticed(d llm.Delta) llm.Delta {
	if d.Reply == nil {
		return d
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	d.Reply.Notice, e.notice = e.notice, ""
	return d
}
