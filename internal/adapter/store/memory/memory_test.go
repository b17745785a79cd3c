package memory_test

import (
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/adapter/store/storetest"
	"github.com/pawl-agent/pawl/internal/core/event"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) event.Store {
		s := memory.New(nil)
		t.Cleanup(func() { s.Close() })
		return s
	})
}

// A clock that runs backwards, as after a correction, changes no order.
func TestClockRunsBackwards(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	s := memory.New(func() time.Time { now = now.Add(-time.Hour); return now })
	storetest.Order(t, s)
}
