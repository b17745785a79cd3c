package wiretest

import (
	"io"
	"net/http"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/anthropic"
	"github.com/pawl-agent/pawl/internal/adapter/provider/bedrock"
	"github.com/pawl-agent/pawl/internal/adapter/provider/gemini"
	"github.com/pawl-agent/pawl/internal/adapter/provider/vertex"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 17.7: every recorded stream of Anthropic's is the same reply from Bedrock,
// however the network cuts it, and half of it is none.
func TestReplayOnBedrock(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, c := range all(t) {
		if c.API != anthropic.Name || c.Status != http.StatusOK {
			continue
		}
		rec := must.Get(c.Load())(t)
		stream, ok := OnBedrock(rec.Response.Body)
		if !ok {
			continue
		}
		seen++
		t.Run(c.File, func(t *testing.T) {
			t.Parallel()
			rec.Response.Headers = map[string]string{"Content-Type": "application/vnd.amazon.eventstream"}
			ask := func(body string, next func() int, end error) Outcome {
				m := must.Get(client(c, bedrock.New("anthropic."+c.Model, provider.Tuning{}), rec, &cuts{body, next, end}))(t)
				return Ask(t.Context(), m)
			}
			for _, p := range patterns() {
				judge(t, c, Check(c, ask(stream, p.next(stream), io.EOF)))
				if t.Failed() {
					t.Fatalf("cut by %s", p.name)
				}
			}
			whole := ask(stream, func() int { return 4096 }, io.EOF)
			for _, n := range shorter(c.File, len(stream)) {
				if err := cutShort(whole, ask(stream[:n], func() int { return 4096 }, io.EOF)); err != nil {
					t.Errorf("after %d of %d bytes: %v", n, len(stream), err)
				}
			}
		})
	}
	if seen < 5 {
		t.Errorf("only %d streams", seen)
	}
}

// SPEC 17.7: Vertex sends the same streams as the makers do.
func TestReplayOnVertex(t *testing.T) {
	t.Parallel()
	at := vertex.Place{Project: "p", Region: vertex.Global}
	for _, c := range all(t) {
		name := map[string]string{anthropic.Name: "claude-test", gemini.Name: "gemini-test"}[c.API]
		if name == "" {
			continue
		}
		t.Run(c.File, func(t *testing.T) {
			t.Parallel()
			rec := must.Get(c.Load())(t)
			m := must.Get(client(c, vertex.New(name, at, provider.Tuning{}), rec, &cuts{rec.Response.Body, func() int { return 100 }, io.EOF}))(t)
			judge(t, c, Check(c, Ask(t.Context(), m)))
		})
	}
}
