// Package memory opens the store of package sqlite in memory, for --no-session and for
// tests: nothing of it is on the disk.
package memory

import (
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/sqlite"
	"github.com/pawl-agent/pawl/internal/core/event"
)

// Store is an event.Store only: locks and snapshots would be files beside the log.
type Store struct{ event.Store }

// New returns an empty store. now is the clock; nil means time.Now.
func New(now func() time.Time) *Store { return &Store{sqlite.InMemory(now)} }
