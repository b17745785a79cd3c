package sessiontest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/session/sessiontest"
)

// The package's page holds: a session runs a scripted model on real files, its events are
// seen, and opened again it knows what it spent.
func TestThePage(t *testing.T) {
	dir := t.TempDir()
	m := llmtest.New(llmtest.Use("write", `{"path":"a.txt","content":"x"}`), llmtest.Say("done"))
	cfg := sessiontest.Config(t, dir, m, nil)
	s := sessiontest.Open(t, cfg)
	changed := 0
	see := func(e event.Event) error {
		if b, ok := e.Body.(event.FileChanged); ok && b.Path == "a.txt" {
			changed++
		}
		return nil
	}
	must.Done(t)(s.RunPrompt(t.Context(), session.Prompt{Text: "make a.txt"}, session.Observer{See: see}))
	if text, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(text) != "x" || changed != 1 || len(m.Requests()) != 2 {
		t.Errorf("%q, %v, %d changes, %d requests", text, err, changed, len(m.Requests()))
	}
	want, _ := s.View().Spent()
	must.Do(t, s.Close())
	if got, _ := sessiontest.Open(t, cfg).View().Spent(); got.Requests != want.Requests || got.Requests == 0 {
		t.Errorf("%d requests, were %d", got.Requests, want.Requests)
	}
}
