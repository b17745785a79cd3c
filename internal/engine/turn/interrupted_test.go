package turn

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// SPEC 14.1, 4.6: the end of the turn that agents work for reaches all of them at once. A
// call that waited for another one's lock does not begin when that one is cut short, even
// if nobody has told its own agent yet.
func TestInterruptOfTheParentIsOneAct(t *testing.T) {
	var over atomic.Bool
	ran := 0
	write := fileTool("write", true, func(context.Context, string) (tool.Result, error) {
		ran++
		over.Store(true) // the parent's turn ends while this one runs
		return tool.Result{Text: "cut short"}, nil
	})
	b := newBench(llmtest.New(llmtest.Use("write", `{"path":"a"}`, "write", `{"path":"a"}`)), write)
	b.Interrupted = over.Load
	_, _ = b.Run(t.Context())
	b.oneResultEach(t)
	if rs := b.results(); ran != 1 || len(rs) != 2 || rs[1].Outcome != event.Cancelled {
		t.Errorf("%d calls ran: %+v", ran, rs)
	}
}
