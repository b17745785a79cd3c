package agentsdk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/mcp"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/hook"
)

// This file is how pawl calls the program: its hooks, and the MCP servers inside
// it. Sessions call from any goroutine; the loop of the conversation sends each
// request and passes its answer on.

// requester carries requests to the program.
type requester struct {
	log  atomic.Pointer[session.Session] // nil before it is open
	to   chan *outgoing
	drop chan *outgoing // nobody waits for it any more
	over chan struct{}  // closed when the program answers no more
}

// outgoing is a request of pawl.
type outgoing struct {
	body   any
	after  int64         // the event that was the last one: its messages come first
	answer chan response // holds one
}

var errAway = errors.New("the program has closed its side")

// call sends a request and returns the program's answer.
func (b *requester) call(ctx context.Context, body any) (json.RawMessage, error) {
	c := &outgoing{body: body, answer: make(chan response, 1)}
	if s := b.log.Load(); s != nil {
		c.after = s.View().Last()
	}
	select {
	case b.to <- c:
	case <-b.over:
		return nil, errAway
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case r := <-c.answer:
		if r.Subtype != "success" {
			return nil, fmt.Errorf("the program answers with an error: %.500s", r.Error)
		}
		return r.Response, nil
	case <-b.over:
		return nil, errAway
	case <-ctx.Done():
		select {
		case b.drop <- c:
		case <-b.over:
		}
		return nil, context.Cause(ctx)
	}
}

// send sends a request of pawl to the program. It holds it back until the messages of
// all earlier events are written.
func (t *conversation) send(c *outgoing, listening bool) {
	if c.after > t.lastSeq {
		t.held = append(t.held, c)
		return
	}
	_, last := c.body.(sessionEnd)
	if !listening && !last {
		c.answer <- response{Error: errAway.Error()}
		return
	}
	t.requests++
	id := fmt.Sprintf("pawl-%d", t.requests)
	t.w.request(id, c.body)
	if last {
		c.answer <- response{Subtype: "success", Response: json.RawMessage("{}")}
		return
	}
	t.outgoingRequests[id] = c
}

// sendHeld sends the requests whose time has come.
func (t *conversation) sendHeld(listening bool) {
	held := t.held
	t.held = nil
	for _, c := range held {
		t.send(c, listening)
	}
}

// cancel tells the program that an answer is not waited for any more.
func (t *conversation) cancel(c *outgoing) {
	t.held = slices.DeleteFunc(t.held, func(o *outgoing) bool { return o == c })
	for id, open := range t.outgoingRequests {
		if open == c {
			delete(t.outgoingRequests, id)
			t.w.cancelRequest(id)
		}
	}
}

func (h *Hooks) Rules() []hook.Rule { return h.rules }

// callback is the request that calls a hook.
type callback struct {
	Subtype string          `json:"subtype"` // hook_callback
	ID      string          `json:"callback_id"`
	Input   json.RawMessage `json:"input"`
	Call    string          `json:"tool_use_id,omitempty"`
}

// sessionEnd calls a hook at the end of the session without waiting for an answer: the hook
// can block nothing, and the program may have closed its side.
type sessionEnd callback

// Run implements hooks.Runner. A hook that does not answer in time, answers with an
// error, or with what is not an answer has failed: before a tool that denies the call.
func (h *Hooks) Run(ctx context.Context, r hook.Rule, input []byte) hook.Ran {
	var of struct {
		Call string `json:"tool_use_id"`
	}
	_ = json.Unmarshal(input, &of) // an event without a call has none
	c, ran := callback{"hook_callback", h.ids[r.Command], input, of.Call}, hook.Ran{Command: r.Command}
	resumed := r.Event == hook.SessionStart && strings.Contains(string(input), `"source":"resume"`)
	if r.Event == hook.SessionEnd && h.reopening.Load() || resumed && h.reopened.Load() {
		return ran // for the program the session goes on
	}
	ctx, cancel := context.WithTimeoutCause(ctx, r.Timeout, fmt.Errorf("it did not answer within %s", r.Timeout))
	defer cancel()
	began := time.Now()
	var body any = c
	if r.Event == hook.SessionEnd {
		body = sessionEnd(c)
	}
	answer, err := h.requester.call(ctx, body)
	ran.Took = time.Since(began)
	switch {
	case err != nil:
		ran.Failed = err.Error()
	case !bytes.HasPrefix(bytes.TrimSpace(answer), []byte("{")):
		ran.Failed = fmt.Sprintf("its answer is not an object: %.100s", answer)
	default:
		ran.Out = answer
	}
	return ran
}

// Servers are the MCP servers inside the program. They are an mcp.Inside.
type Servers struct {
	Names     []string
	requester *requester

	mu  sync.Mutex
	own map[string]chan []byte // messages that a server sends by itself
}

// maxOwn is how many messages of a server may wait.
const maxOwn = 64

// mcpMessage is the request that carries a message to a server, or from one.
type mcpMessage struct {
	Subtype string          `json:"subtype"` // mcp_message
	Server  string          `json:"server_name"`
	Message json.RawMessage `json:"message"`
}

func (s *Servers) Exchange(ctx context.Context, server string, message []byte) ([]byte, error) {
	raw, err := s.requester.call(ctx, mcpMessage{"mcp_message", server, message})
	if err != nil {
		return nil, err
	}
	var r struct {
		Message json.RawMessage `json:"mcp_response"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, fmt.Errorf("the program's answer holds no message of the server %s: %w", server, err)
	}
	return r.Message, nil
}

// elicitation is the request that passes a server's question on.
type elicitation struct {
	Subtype string `json:"subtype"` // elicitation
	mcp.Elicitation
}

func (s *Servers) Elicit(ctx context.Context, q mcp.Elicitation) ([]byte, error) {
	return s.requester.call(ctx, elicitation{"elicitation", q})
}

func (s *Servers) Incoming(server string) <-chan []byte { return s.of(server) }

func (s *Servers) of(server string) chan []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own[server] == nil {
		s.own[server] = make(chan []byte, maxOwn)
	}
	return s.own[server]
}

// sent takes a message that a server sends by itself.
func (s *Servers) sent(server string, message json.RawMessage) error {
	if s == nil || !slices.Contains(s.Names, server) {
		return fmt.Errorf("the program named no MCP server %q", server)
	}
	select {
	case s.of(server) <- message:
		return nil
	default:
		return fmt.Errorf("%d messages of the MCP server %s wait already", maxOwn, server)
	}
}
