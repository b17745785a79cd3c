package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// Server is a scripted model behind HTTP: it implements just enough of the Anthropic
// Messages API to drive the whole of pawl from outside the process.
type Server struct {
	// Reply returns the answer to the nth request, counted from 0. An answer with an Err
	// becomes status 529.
	Reply func(n int, body []byte) Turn
	// Gone, if set, is called when the client disconnected during the nth reply.
	Gone func(n int)
	// Done, if set, is called when the nth reply has been written.
	Done func(n int)
	// Binding, if set, checks thinking as new models do.
	Binding *Binding

	mu     sync.Mutex
	bodies [][]byte
}

// Bodies are the requests so far.
func (s *Server) Bodies() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([][]byte(nil), s.bodies...)
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	n := len(s.bodies)
	s.bodies = append(s.bodies, body)
	s.mu.Unlock()
	if s.Binding != nil {
		if refusal := s.Binding.refuses(r.Header, body); refusal != "" {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","message":%s}}`, quoted(refusal))
			return
		}
	}
	t := s.Reply(n, body)
	if s.Binding != nil && t.Reasoning != "" {
		t.Signature = signature(body)
	}
	if t.Err != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(529)
		fmt.Fprintf(w, `{"type":"error","error":{"type":"overloaded_error","message":%s}}`, quoted(t.Err.Error()))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range Events(n, t) {
		kind, _, _ := strings.Cut(strings.TrimPrefix(e, `{"type":"`), `"`)
		if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, e); err != nil || r.Context().Err() != nil {
			if s.Gone != nil {
				s.Gone(n)
			}
			return
		}
		if f, ok := w.(http.Flusher); ok && t.Piece > 0 {
			f.Flush()
		}
	}
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
	if t.Wait != nil {
		select {
		case <-t.Wait:
		case <-r.Context().Done():
		}
	}
	if s.Done != nil {
		s.Done(n)
	}
}

// Events returns the stream of the nth reply. A reply that waits has no end.
func Events(n int, t Turn) []string {
	used := t.Usage
	if !used.Known {
		used.Input, used.Output = 10, 20
	}
	out := []string{fmt.Sprintf(`{"type":"message_start","message":{"id":"msg_%d","type":"message","role":"assistant","model":"claude-script","content":[],"stop_reason":null,"usage":{"input_tokens":%d,"output_tokens":1}}}`, n, used.Input)}
	block := func(i int, start string, deltas ...string) {
		out = append(out, fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, i, start))
		for _, d := range deltas {
			out = append(out, fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, i, d))
		}
		out = append(out, fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i))
	}
	i := 0
	if t.Reasoning != "" {
		block(i, `{"type":"thinking","thinking":"","signature":""}`, fmt.Sprintf(`{"type":"thinking_delta","thinking":%s}`, quoted(t.Reasoning)),
			fmt.Sprintf(`{"type":"signature_delta","signature":%s}`, quoted(t.Signature)))
		i++
	}
	if t.Text != "" {
		var deltas []string
		for _, piece := range t.pieces(t.Text, 1) {
			deltas = append(deltas, fmt.Sprintf(`{"type":"text_delta","text":%s}`, quoted(piece)))
		}
		block(i, `{"type":"text","text":""}`, deltas...)
		i++
	}
	stop := "end_turn"
	for k, c := range t.Calls {
		id := c.ID
		if id == "" {
			id = fmt.Sprintf("toolu_%d_%d", n, k)
		}
		block(i, fmt.Sprintf(`{"type":"tool_use","id":%s,"name":%s,"input":{}}`, quoted(id), quoted(c.Name)),
			fmt.Sprintf(`{"type":"input_json_delta","partial_json":%s}`, quoted(string(c.Args))))
		i++
		stop = "tool_use"
	}
	if t.Wait != nil {
		return out
	}
	return append(out,
		fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q},"usage":{"output_tokens":%d}}`, stop, used.Output),
		`{"type":"message_stop"}`)
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always encodes
	}
	return string(b)
}
