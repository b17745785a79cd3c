package session

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/sqlite"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// BenchmarkWrite is what a file tool's write costs with its intent and its
// change in the log, beside the write alone.
func BenchmarkWrite(b *testing.B) {
	ctx := context.Background()
	st := must.Get(sqlite.Open(ctx, filepath.Join(b.TempDir(), "db"), sqlite.Options{Now: time.Now}))(b)
	defer st.Close()
	ws := must.Get(workspace.Open(b.TempDir(), workspace.Options{}))(b)
	defer ws.Close()
	s := must.Get(Open(ctx, Config{
		Store: st, ID: "s", Dir: ws.Root(), Model: llmtest.New(), Files: ws,
		Permission: permission.New(permission.Config{Mode: permission.AskMode, Root: ws.Root(), Home: "/home"}),
		Mask:       secrets.New(), Now: time.Now, Sleep: SleepFor, NewID: func() string { return "q" },
	}))(b)
	defer s.Close()
	run := func(b *testing.B, name string, write func([]tool.Write) error) {
		b.Run(name, func(b *testing.B) {
			var last tool.Hash
			for i := 0; b.Loop(); i++ {
				data := fmt.Appendf(nil, "%s %d\n", name, i)
				must.Do(b, write([]tool.Write{{Path: name, Data: data, Expect: last}}))
				last = hashOf(string(data))
			}
		})
	}
	run(b, "alone", func(w []tool.Write) error { _, err := ws.WriteAll(ctx, w); return err })
	recorded := s.changes.Files(ws, &turn.Pending{Tool: tool.Tool{Spec: llm.ToolSpec{Name: "write"}}})
	run(b, "recorded", func(w []tool.Write) error { _, err := recorded.WriteAll(ctx, w); return err })
	run(b, "event", func([]tool.Write) error {
		return s.log.Append(ctx, event.Draft{Body: event.Writing{Tool: "write", Files: []event.FileChanged{{Tool: "write", Path: "a", Kept: true}}}})
	})
}
