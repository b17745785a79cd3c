package natskv

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"context"

	"github.com/pawl-agent/pawl/internal/adapter/nats/natstest"
	"github.com/pawl-agent/pawl/internal/core/kv"
	"github.com/pawl-agent/pawl/internal/core/kv/kvtest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 14.5: one server.
func TestStore(t *testing.T) { suite(t, natstest.Server(t).ClientURL(), 1) }

// SPEC 14.5, 14.6: the same on a cluster of three.
func TestCluster(t *testing.T) {
	var urls []string
	for _, s := range natstest.Cluster(t, 3) {
		urls = append(urls, s.ClientURL())
	}
	suite(t, strings.Join(urls, ","), 3)
}

func suite(t *testing.T, url string, replicas int) {
	var buckets atomic.Int32
	kvtest.Test(t, func(t testing.TB) func() kv.Store {
		name := fmt.Sprint("b", buckets.Add(1))
		return func() kv.Store {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			s := must.Get(Open(ctx, natstest.JetStream(t, url), name, replicas))(t)
			return s
		}
	})
}

// A value outlives the death of its server; while that is away there is an
// error and no wait without end.
func TestServerDies(t *testing.T) {
	one := natstest.Server(t)
	s := must.Get(Open(t.Context(), natstest.JetStream(t, one.ClientURL()), "b", 1))(t)
	was := must.Get(s.Save(t.Context(), "k", []byte("old")))(t)
	one.Shutdown()
	one.WaitForShutdown()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := s.Load(ctx, "k"); err == nil || errors.Is(err, kv.ErrNone) {
		t.Errorf("without a server: %v", err)
	}
	if _, err := s.Swap(ctx, "k", was, []byte("new")); err == nil || errors.Is(err, kv.ErrChanged) {
		t.Errorf("without a server: %v", err)
	}
}
