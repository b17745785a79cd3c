package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
)

// holder is a program with one server, or with answers of its own.
type holder struct {
	answer func(ctx context.Context, message []byte) ([]byte, error)
	own    chan []byte
	says   string // to questions
	asked  Elicitation
}

func (h *holder) Elicit(_ context.Context, q Elicitation) ([]byte, error) {
	h.asked = q
	return []byte(h.says), nil
}

func (h *holder) Exchange(ctx context.Context, _ string, message []byte) ([]byte, error) {
	return h.answer(ctx, message)
}
func (h *holder) Incoming(string) <-chan []byte { return h.own }

// holders is a program with several servers. Each has its own requests, whose ids are also
// those of another's.
type holders map[string]*holder

func (h holders) Elicit(ctx context.Context, q Elicitation) ([]byte, error) {
	return h[q.Server].Elicit(ctx, q)
}

func (h holders) Exchange(ctx context.Context, name string, message []byte) ([]byte, error) {
	return h[name].Exchange(ctx, name, message)
}
func (h holders) Incoming(name string) <-chan []byte { return h[name].Incoming(name) }

// holds runs a server as the Agent SDK does: an answer for each message, which for
// one that is not a request means nothing.
func holds(t *testing.T, server *sdk.Server) *holder {
	t.Helper()
	here, there := sdk.NewInMemoryTransports()
	ss := must.Get(server.Connect(t.Context(), there, nil))(t)
	conn := must.Get(here.Connect(t.Context()))(t)
	var mu sync.Mutex
	waits := map[any]chan []byte{}
	h := &holder{own: make(chan []byte, 8)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			m, err := conn.Read(context.Background())
			if err != nil {
				return
			}
			raw, _ := jsonrpc.EncodeMessage(m)
			if r, ok := m.(*jsonrpc.Response); ok {
				mu.Lock()
				waits[r.ID.Raw()] <- raw
				mu.Unlock()
			} else {
				h.own <- raw
			}
		}
	}()
	h.answer = func(ctx context.Context, message []byte) ([]byte, error) {
		m, err := jsonrpc.DecodeMessage(message)
		if err != nil {
			return nil, err
		}
		r, ok := m.(*jsonrpc.Request)
		if !ok || !r.IsCall() {
			return []byte(`{"jsonrpc":"2.0","id":0,"result":{}}`), conn.Write(ctx, m)
		}
		wait := make(chan []byte, 1)
		mu.Lock()
		waits[r.ID.Raw()] = wait
		mu.Unlock()
		if err := conn.Write(ctx, m); err != nil {
			return nil, err
		}
		select {
		case raw := <-wait:
			return raw, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	t.Cleanup(func() { _ = conn.Close(); _ = ss.Close(); <-done })
	return h
}

func insideOf(t *testing.T, h Inside) *Servers {
	t.Helper()
	s := New(Options{
		Root: t.TempDir(), Servers: []Server{InsideServer("mine")}, Pins: NewPins(t.TempDir()), Inside: h, Version: "test", Wait: time.Minute,
		Confine: func(Server) process.Confine { return process.Free }, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// SPEC 17.1: the tools of a server inside the program that drives pawl are offered and
// called, and what is accepted of it is not kept for another program's server.
func TestInside(t *testing.T) {
	h := holds(t, greeter())
	s := insideOf(t, h)
	set, notes := s.Offer(t.Context(), modelOf(200_000), true)
	if len(set) == 0 || !strings.HasPrefix(set.Names()[0], "mcp__mine__") {
		t.Fatalf("%q %q", set.Names(), notes)
	}
	if r, err := call(t, t.Context(), set, set.Names()[0], `{"name":"you"}`); err != nil || r.Error {
		t.Errorf("%v %+v", err, r)
	}
	if a, err := NewPins(s.opt.Pins.Dir).Of(InsideServer("mine")); a != nil || err != nil {
		t.Errorf("%+v %v", a, err)
	}
	if !InsideServer("mine").Here() || InsideServer("mine").SignsIn() || InsideServer("no__name").Problem == "" {
		t.Error("a server inside a program")
	}
	list, err := Parse("x", []byte(`{"mcpServers":{"mine":{"type":"sdk","name":"mine"}}}`), false, func(string) string { return "" })
	if err != nil || !list[0].InProgram() || list[0].Problem == "" {
		t.Errorf("%+v %v", list, err)
	}
}

// SPEC 16.13: a program that answers nonsense for its server stops no turn.
func TestHostileInside(t *testing.T) {
	method := func(message []byte) (m string, id json.RawMessage) {
		var r struct {
			Method string
			ID     json.RawMessage
		}
		_ = json.Unmarshal(message, &r)
		return r.Method, r.ID
	}
	for name, bad := range map[string]func(ctx context.Context, id json.RawMessage) ([]byte, error){
		"an error":   func(context.Context, json.RawMessage) ([]byte, error) { return nil, errors.New("boom") },
		"nothing":    func(context.Context, json.RawMessage) ([]byte, error) { return nil, nil },
		"no message": func(context.Context, json.RawMessage) ([]byte, error) { return []byte(`[1]`), nil },
		"another's id": func(context.Context, json.RawMessage) ([]byte, error) {
			return []byte(`{"jsonrpc":"2.0","id":"x","result":{}}`), nil
		},
		"a request": func(_ context.Context, id json.RawMessage) ([]byte, error) {
			return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":"ping"}`, id), nil
		},
		"far too much": func(_ context.Context, id json.RawMessage) ([]byte, error) {
			return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}`, id, strings.Repeat("x", maxMessage)), nil
		},
		"another shape": func(_ context.Context, id json.RawMessage) ([]byte, error) {
			return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":"yes"}`, id), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			good := holds(t, greeter())
			h := &holder{own: make(chan []byte, 8), answer: func(ctx context.Context, message []byte) ([]byte, error) {
				if m, id := method(message); m == "tools/call" {
					return bad(ctx, id)
				}
				return good.answer(ctx, message)
			}}
			for _, raw := range []string{"", "x", `{"jsonrpc":"2.0","id":99,"result":{}}`} { // nobody asked
				h.own <- []byte(raw)
			}
			s := insideOf(t, h)
			set, notes := s.Offer(t.Context(), modelOf(200_000), true)
			if len(set) == 0 {
				t.Fatalf("%q", notes)
			}
			if r, err := call(t, t.Context(), set, set.Names()[0], `{"name":"you"}`); err == nil && !r.Error {
				t.Errorf("%+v", r)
			}
		})
	}
	// One that never answers holds up neither the first request nor the end.
	h := &holder{own: make(chan []byte), answer: func(ctx context.Context, _ []byte) ([]byte, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	s := insideOf(t, h)
	s.opt.Wait = 50 * time.Millisecond
	if set, _ := s.Offer(t.Context(), modelOf(200_000), true); len(set) != 2 { // a search and a call that wait for it
		t.Errorf("%q", set.Names())
	}
}

// SPEC 17.6: a question of a server goes to the program that drives pawl, and what is no
// answer declines.
func TestQuestionsGoToTheProgram(t *testing.T) {
	for says, want := range map[string]string{
		`{"action":"accept","content":{"n":5}}`: `accept {"n":5}`, `{"action":"cancel"}`: "cancel null", `{"action":"maybe"}`: "decline null\n", `7`: "decline null\n",
	} {
		h := holds(t, asker("details", `{"type":"object","properties":{"n":{"type":"integer"}}}`))
		h.says = says
		s := insideOf(t, h)
		set, _ := s.Offer(t.Context(), modelOf(200_000), true)
		r, err := call(t, t.Context(), set, "mcp__mine__ask", `{}`)
		if err != nil || !strings.HasPrefix(r.Text, want) || h.asked.Message != "details" || h.asked.Server != "mine" || h.asked.Mode != "form" {
			t.Errorf("%s: %v %q %+v", says, err, r.Text, h.asked)
		}
	}
}

// SPEC 17.6: a program replaces its servers while the session lasts. A tool of one that it
// took away fails, and a configured server keeps its name.
func TestSet(t *testing.T) {
	s := insideOf(t, holders{"mine": holds(t, greeter()), "more": holds(t, greeter())})
	configured := newManagedServer(s, Server{Name: "own", Problem: "x"})
	s.managed = append(s.managed, configured)
	set, _ := s.Offer(t.Context(), modelOf(200_000), true)
	added, removed, failed := s.Set(t.Context(), []Server{InsideServer("mine"), InsideServer("more"), {Name: "OWN"}, {Name: "bad", Problem: "broken"}})
	if fmt.Sprint(added, removed, failed) != "[more bad] [] map[OWN:a configured server has this name bad:broken]" || s.find("own") != configured {
		t.Error(added, removed, failed)
	}
	if _, err := call(t, t.Context(), set, set.Names()[0], `{"name":"you"}`); err != nil {
		t.Error(err)
	}
	if added, removed, _ := s.Set(t.Context(), nil); fmt.Sprint(added, removed) != "[] [bad mine more]" || len(s.Status()) != 1 {
		t.Error(added, removed, s.Status())
	}
	if r, err := call(t, t.Context(), set, set.Names()[0], `{"name":"you"}`); err == nil && !r.Error {
		t.Errorf("it ran: %+v", r)
	}
}

// A request beside the end of the connection begins before that, or not at all.
func TestInsideEndsBesideRequests(t *testing.T) {
	for range 2000 {
		h := &holder{own: make(chan []byte), answer: func(ctx context.Context, _ []byte) ([]byte, error) { <-ctx.Done(); return nil, ctx.Err() }}
		c := must.Get(program{in: h, name: "mine", life: t.Context()}.Connect(t.Context()))(t)
		id, err := jsonrpc.MakeID("1")
		must.Do(t, err)
		var wg sync.WaitGroup
		wg.Go(func() { err = c.Write(t.Context(), &jsonrpc.Request{ID: id, Method: "tools/list"}) })
		must.Do(t, c.Close())
		wg.Wait()
		if err != nil && !errors.Is(err, io.ErrClosedPipe) {
			t.Fatal(err)
		}
	}
}
