package session_test

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/session/sessiontest"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// SPEC 16.17: a mode that the folder's settings refuse cannot be chosen later either.
func TestModeThatIsRefused(t *testing.T) {
	dir := t.TempDir()
	cfg := sessiontest.Config(t, dir, llmtest.New(), nil)
	cfg.Permission = permission.New(permission.Config{Mode: permission.AskMode, Root: dir, Refused: map[permission.Mode]string{permission.Yolo: "x.json"}})
	s := must.Get(session.Open(t.Context(), cfg))(t)
	defer s.Close()
	if _, err := s.Submit(t.Context(), session.SetMode{Mode: "bypassPermissions"}); err == nil || !strings.Contains(err.Error(), "x.json") {
		t.Error(err)
	}
	if _, err := s.Submit(t.Context(), session.SetMode{Mode: "auto"}); err != nil || s.View().Mode() != permission.Auto || s.View().RefusesMode(permission.Yolo) == nil {
		t.Errorf("%v %s", err, s.View().Mode())
	}
}
