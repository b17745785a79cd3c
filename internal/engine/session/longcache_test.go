package session_test

import (
	"bytes"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/anthropic"
	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// SPEC 8.1, 20.1: after a pause the cache is asked to last an hour, and what is written to it
// is reserved and paid at its higher price, before the pause at the usual one.
func TestPauseIsPaid(t *testing.T) {
	written := llm.Usage{Known: true, CacheWrite: 1_000_000}
	m := llmtest.New(llmtest.Turn{Text: "one", Usage: written}, llmtest.Turn{Text: "two", Usage: written}, llmtest.Turn{Text: "three", Usage: written})
	m.CodecValue = anthropic.New(provider.Tuning{LongCache: true})
	m.InfoValue.Price = &llm.Price{Input: 1, CacheWrite: 1.25, CacheLong: 2}
	var at atomic.Int64 // the store's clock gives events their times
	at.Store(1_700_000_000)
	r := newRig(t, "yolo", m, func(c *session.Config) {
		c.Model, c.Store = llmtest.Scripted{Model: m}, memory.New(func() time.Time { return time.Unix(at.Load(), 0) })
	})
	for i, c := range []struct {
		pause time.Duration
		long  bool
		usd   float64
	}{{0, false, 1.25}, {20 * time.Minute, true, 2}, {time.Minute, true, 2}} {
		at.Add(int64(c.pause.Seconds()))
		es := r.Run("go", nil)
		sent, got := find[event.Requested](es), find[event.Replied](es)
		if len(sent) != 1 || len(got) != 1 || got[0].Cost == nil || *got[0].Cost != c.usd {
			t.Fatalf("turn %d: %+v, %+v", i, sent, got)
		}
		q := m.Requests()[i]
		if long := strings.Contains(string(bytes.Join(q.Body, nil)), `"ttl":"1h"`); long != c.long {
			t.Errorf("turn %d: long %t of %d bytes", i, long, len(q.Body))
		}
		// The first reply tells how many tokens there are: from then on all of them are reserved
		// as if they were written anew.
		if have := sent[0].Reserved; have == nil || i > 0 && *have < c.usd {
			t.Errorf("turn %d: reserved %v", i, have)
		}
	}
}
