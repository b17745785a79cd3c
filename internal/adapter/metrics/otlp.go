package metrics

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
)

// Exporter sends spans to a collector over OTLP/HTTP as JSON, in the background: one
// batch for each turn, or more for a long turn.
type Exporter struct {
	spans  Spans
	target Target
	queue  chan []Span
	client *http.Client
	stop   context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	dropped int
	err     error // the first one, for the person
}

// Limits of the export.
const (
	maxBatches = 64 // batches that wait to be sent
	maxSends   = 3  // attempts to send one batch
	retryWait  = 500 * time.Millisecond
	flushLimit = 3 * time.Second
)

// Export starts to send to a target. The caller must call Close.
func Export(t Target) *Exporter {
	ctx, stop := context.WithCancel(context.Background())
	x := &Exporter{
		spans: Spans{NewID: randomHex, Trace: t.Trace, Parent: t.Parent}, target: t,
		queue: make(chan []Span, maxBatches), stop: stop, done: make(chan struct{}),
		client: &http.Client{
			Timeout: t.Timeout,
			// Another host must not get the headers, which may contain a key.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	go x.run(ctx)
	return x
}

func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// Apply applies one event. It never blocks. It is not safe for concurrent use.
func (x *Exporter) Apply(e event.Event) {
	batch := x.spans.Apply(e)
	if len(batch) == 0 {
		return
	}
	select {
	case x.queue <- batch:
	default:
		x.drop(len(batch), errors.New("the collector is too slow"))
	}
}

func (x *Exporter) drop(n int, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.dropped += n
	if x.err == nil {
		x.err = err
	}
}

func (x *Exporter) run(ctx context.Context) {
	defer close(x.done)
	for batch := range x.queue {
		if err := x.send(ctx, batch); err != nil {
			x.drop(len(batch), err)
		}
	}
}

// send sends a batch, and retries if the collector is busy or does not answer.
func (x *Exporter) send(ctx context.Context, batch []Span) error {
	body, err := json.Marshal(x.target.request(batch))
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		again, err := x.post(ctx, body)
		if err == nil || !again || try == maxSends {
			return err
		}
		t := time.NewTimer(retryWait << (try - 1))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return err
		}
	}
}

func (x *Exporter) post(ctx context.Context, body []byte) (again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, x.target.URL, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	req.Header.Set("Content-Type", "application/json")
	for k, v := range x.target.Headers {
		req.Header.Set(k, v)
	}
	res, err := x.client.Do(req)
	if err != nil {
		return ctx.Err() == nil, err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<16)) // so that the connection can be reused
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	}
	if res.StatusCode/100 != 2 {
		return again, fmt.Errorf("the collector at %s answered %s", req.URL.Host, res.Status)
	}
	return false, nil
}

// Close sends the remaining batches, for at most 3 s. Its error reports how many spans
// were not sent.
func (x *Exporter) Close() error {
	close(x.queue)
	t := time.NewTimer(flushLimit)
	defer t.Stop()
	select {
	case <-x.done:
	case <-t.C:
		x.stop()
		<-x.done
	}
	x.stop()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.dropped == 0 {
		return nil
	}
	return fmt.Errorf("%d spans were not sent: %w", x.dropped, x.err)
}

// The JSON form of OTLP: ids as hex, 64-bit numbers as strings.
type (
	otlpRequest struct {
		ResourceSpans []otlpResourceSpans `json:"resourceSpans"`
	}
	otlpResourceSpans struct {
		Resource   otlpResource     `json:"resource"`
		ScopeSpans []otlpScopeSpans `json:"scopeSpans"`
		SchemaURL  string           `json:"schemaUrl"`
	}
	otlpResource struct {
		Attributes []otlpAttr `json:"attributes"`
	}
	otlpScopeSpans struct {
		Scope     otlpScope  `json:"scope"`
		Spans     []otlpSpan `json:"spans"`
		SchemaURL string     `json:"schemaUrl"`
	}
	otlpScope struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	otlpSpan struct {
		TraceID    string     `json:"traceId"`
		SpanID     string     `json:"spanId"`
		Parent     string     `json:"parentSpanId,omitempty"`
		Name       string     `json:"name"`
		Kind       int        `json:"kind"`
		Start      string     `json:"startTimeUnixNano"`
		End        string     `json:"endTimeUnixNano"`
		Attributes []otlpAttr `json:"attributes"`
		Status     otlpStatus `json:"status"`
	}
	otlpStatus struct {
		Code    int    `json:"code,omitempty"` // 2: error
		Message string `json:"message,omitempty"`
	}
	otlpAttr struct {
		Key   string         `json:"key"`
		Value map[string]any `json:"value"`
	}
)

func (t Target) request(batch []Span) otlpRequest {
	scope := otlpScopeSpans{Scope: otlpScope{Name: "pawl", Version: t.Version}, SchemaURL: conventions}
	for _, s := range batch {
		o := otlpSpan{
			TraceID: s.Trace, SpanID: s.ID, Parent: s.Parent, Name: s.Name, Kind: s.Kind,
			Start: strconv.FormatInt(s.Start.UnixNano(), 10), End: strconv.FormatInt(s.End.UnixNano(), 10),
			Attributes: encode(s.Attrs),
		}
		if s.Failed != "" {
			o.Status = otlpStatus{Code: 2, Message: s.Failed}
		}
		scope.Spans = append(scope.Spans, o)
	}
	return otlpRequest{ResourceSpans: []otlpResourceSpans{{
		Resource: otlpResource{Attributes: encode(t.Resource)}, ScopeSpans: []otlpScopeSpans{scope}, SchemaURL: conventions,
	}}}
}

func encode(as []Attr) []otlpAttr {
	out := make([]otlpAttr, 0, len(as))
	for _, a := range as {
		out = append(out, otlpAttr{Key: a.Key, Value: value(a.Value)})
	}
	return out
}

func value(v any) map[string]any {
	switch v := v.(type) {
	case int64:
		return map[string]any{"intValue": strconv.FormatInt(v, 10)}
	case float64:
		return map[string]any{"doubleValue": v}
	case []string:
		vs := make([]any, len(v))
		for i, s := range v {
			vs[i] = value(s)
		}
		return map[string]any{"arrayValue": map[string]any{"values": vs}}
	}
	return map[string]any{"stringValue": fmt.Sprint(v)}
}
