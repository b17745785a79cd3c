package attach

import (
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session/sessiontest"
)

// BenchmarkServe is what it adds to the start and the end of every session.
func BenchmarkServe(b *testing.B) {
	s := sessiontest.Open(b, sessiontest.Config(b, b.TempDir(), llmtest.New(), nil))
	dir := state(b)
	for b.Loop() {
		stop := must.Get(Serve(dir, "test", s, nil))(b)
		stop()
	}
}
