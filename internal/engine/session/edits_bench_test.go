package session_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// BenchmarkEdit is one edit in the middle of a file, of 100 KB and of 100 MB,
// through the tool and the workspace: footprint, match, write and result.
func BenchmarkEdit(b *testing.B) {
	for name, size := range map[string]int{"100KB": 100 << 10, "100MB": 100 << 20} {
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			ws := must.Get(workspace.Open(dir, workspace.Options{}))(b)
			defer ws.Close()
			line := "the quick brown fox jumps over the lazy dog, and so on\n"
			half := strings.Repeat(line, size/2/len(line))
			must.Write(b, filepath.Join(dir, "f"), half+"value = 0\n"+half)
			env := tool.Env{Files: ws}
			b.ReportAllocs()
			flip := []string{`{"path":"f","old":"value = 0","new":"value = 1"}`, `{"path":"f","old":"value = 1","new":"value = 0"}`}
			i := 0
			for b.Loop() {
				in := json.RawMessage(flip[i%2])
				i++
				must.Done(b)(tools.Edit().Footprint(env, in))
				if r, err := tools.Edit().Run(context.Background(), env, in); err != nil || r.Error {
					b.Fatal(r.Text, err)
				}
			}
		})
	}
}
