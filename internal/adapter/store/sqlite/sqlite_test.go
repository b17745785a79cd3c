package sqlite

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/storetest"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// openAt opens a store that the test closes.
func openAt(t testing.TB, path string, opt Options) *Store {
	t.Helper()
	s := must.Get(Open(context.Background(), path, opt))(t)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) event.Store {
		return openAt(t, filepath.Join(t.TempDir(), "log.db"), Options{})
	})
}

// A clock that runs backwards, as after a correction, changes no order.
func TestClockRunsBackwards(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	s := openAt(t, filepath.Join(t.TempDir(), "log.db"), Options{Now: func() time.Time { now = now.Add(-time.Hour); return now }})
	storetest.Order(t, s)
}
