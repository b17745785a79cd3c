package wiretest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

func readAll(r *http.Request) ([]byte, error) { return io.ReadAll(r.Body) }

// Outcome is the result of a replay.
type Outcome struct {
	Text, Reasoning string         // the deltas, joined
	Args            map[int]string // the deltas of each call, joined
	Reply           *llm.Reply     // nil if there was an error
	Err             error
	Strays          string // violations of the contract of llm.Model
}

// Ask sends a sample request and returns the outcome.
func Ask(ctx context.Context, m llm.Model) Outcome {
	return Collect(ctx, m, &llm.Request{
		Head:     llm.Head{Model: m.Info().Model, System: "You are a test."},
		Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.TextPart("Hello")}}},
	})
}

func Collect(ctx context.Context, m llm.Model, r *llm.Request) Outcome {
	o := Outcome{Args: map[int]string{}}
	var text, reasoning strings.Builder
	for d, err := range m.Stream(ctx, r) {
		if o.Reply != nil || o.Err != nil {
			o.Strays = "something came after the end"
		}
		if err != nil {
			o.Err = err
			continue
		}
		switch d.Kind {
		case llm.DeltaText:
			text.WriteString(d.Text)
		case llm.DeltaReasoning:
			reasoning.WriteString(d.Text)
		case llm.DeltaCall:
			o.Args[d.Index] += d.Text
		case llm.Done:
			o.Reply = d.Reply
		default:
			o.Strays = "a delta of kind " + string(d.Kind)
		}
	}
	o.Text, o.Reasoning = text.String(), reasoning.String()
	return o
}

// memory is a transport that answers with a body cut into given pieces, as a network may
// cut a stream.
type memory struct {
	rec  *Recording
	body io.Reader
}

func (m memory) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return nil, err
		}
	}
	h := http.Header{}
	for k, v := range m.rec.Response.Headers {
		h.Set(k, v)
	}
	return &http.Response{
		StatusCode: m.rec.Response.Status, Header: h, Body: io.NopCloser(m.body), Request: r,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1,
	}, nil
}

// cuts reads a body in pieces whose sizes next returns, and then returns end.
type cuts struct {
	rest string
	next func() int
	end  error
}

func (c *cuts) Read(p []byte) (int, error) {
	if c.rest == "" {
		return 0, c.end
	}
	n := min(max(c.next(), 1), len(c.rest), len(p))
	copy(p, c.rest[:n])
	c.rest = c.rest[n:]
	return n, nil
}

// pattern is a way to cut a body.
type pattern struct {
	name string
	next func(body string) func() int
}

// patterns returns the ways to cut every body: each byte alone (inside every UTF-8
// sequence, every CRLF and every escape), small steps, and random ones.
func patterns() []pattern {
	out := []pattern{
		{"bytes", func(string) func() int { return func() int { return 1 } }},
		{"threes", func(string) func() int { return func() int { return 3 } }},
		{"lines", lines(0)},
		{"inside line ends", lines(-1)},
	}
	for seed := range uint64(3) {
		out = append(out, pattern{"random", func(string) func() int {
			r := rand.New(rand.NewPCG(seed, 1))
			return func() int { return 1 + int(r.ExpFloat64()*float64(5+40*seed)) }
		}})
	}
	return out
}

// lines returns a way to cut after each newline, or by bytes before or after it.
func lines(by int) func(string) func() int {
	return func(body string) func() int {
		at := 0
		return func() int {
			i := strings.IndexByte(body[min(at+1, len(body)):], '\n')
			n := len(body)
			if i >= 0 {
				n = max(i+2+by, 1)
			}
			at = min(at+n, len(body))
			return n
		}
	}
}

// client returns a client that is answered from memory.
func client(c Case, api provider.API, rec *Recording, body io.Reader) (*provider.Client, error) {
	return provider.New(provider.Config{
		API: api, BaseURL: "http://recorded.invalid", Key: "test-key-of-nobody", KeyName: "TEST_API_KEY", Info: c.Info(),
		HTTP: &http.Client{Transport: memory{rec, body}},
	})
}

// sameJSON reports whether two JSON texts have the same meaning. Whole numbers are
// compared digit by digit, however large; fractions by value.
func sameJSON(a, b []byte) bool {
	x, xok := canonical(a)
	y, yok := canonical(b)
	return xok && yok && bytes.Equal(x, y)
}

func canonical(raw []byte) ([]byte, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil, false
	}
	out, err := json.Marshal(plain(v))
	return out, err == nil
}

func plain(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plain(v[k])
		}
	case json.Number:
		if f, err := v.Float64(); err == nil && strings.ContainsAny(v.String(), ".eE") {
			return f
		}
	}
	return v
}
