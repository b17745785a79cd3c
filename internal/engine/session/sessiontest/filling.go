package sessiontest

import (
	"context"
	"sync/atomic"

	"github.com/pawl-agent/pawl/internal/adapter/store"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
)

// Filling is a store whose disk is full after so many appends.
type Filling struct {
	event.Store
	left atomic.Int64
}

// Fill is the store with room for n appends.
func Fill(under event.Store, n int) *Filling {
	f := &Filling{Store: under}
	f.Leave(n)
	return f
}

// Leave leaves room for n more appends.
func (f *Filling) Leave(n int) { f.left.Store(int64(n)) }

func (f *Filling) Append(ctx context.Context, id string, after int64, ds ...event.Draft) ([]event.Event, error) {
	if f.left.Add(-1) < 0 {
		return nil, &fault.Error{
			Category: fault.Configuration, Kind: store.ErrFull, Retryable: true,
			Message: "append to the log: no space left for pawl.db", Hint: "free some space on that disk",
		}
	}
	return f.Store.Append(ctx, id, after, ds...)
}
