package session_test

import (
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/workspace/journal"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// SPEC 11.1, 11.2: the file tools keep what was there before, also of an
// ignored file: what they did to one is put back, so that nobody is asked more.
func TestFileToolsRestoreIgnored(t *testing.T) {
	for name, use := range map[string]llmtest.Turn{
		"write over it": llmtest.Use("write", args(map[string]string{"path": "d.bin", "content": "new\n"})),
		"edit it":       llmtest.Use("edit", args(map[string]string{"path": "d.bin", "old": "two\n", "new": "2\n"})),
	} {
		t.Run(name, func(t *testing.T) {
			m := llmtest.New(llmtest.Use("read", args(map[string]string{"path": "d.bin"})), use)
			r := newRig(t, "accept-edits", m, journaled(t, journal.Options{}))
			r.Put(".gitignore", "*.bin\n")
			r.Put("d.bin", "one\ntwo\n")
			es := r.Run("go", nil)
			if len(find[event.Blocked](es)) != 0 || r.File("d.bin") == "one\ntwo\n" {
				t.Fatalf("%+v %q", find[event.Blocked](es), r.File("d.bin"))
			}
			if _, err := r.undo(undo.ByTurn); err != nil || r.File("d.bin") != "one\ntwo\n" {
				t.Errorf("%v %q", err, r.File("d.bin"))
			}
		})
	}
}
