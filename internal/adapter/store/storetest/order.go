package storetest

import (
	"context"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
)

// Order checks that times never run backwards within a session, its forks
// included, in a store whose clock does.
func Order(t *testing.T, s event.Store) {
	t.Helper()
	for i := range int64(5) {
		app(t, s, "s", i, note("x"))
	}
	if err := s.Fork(context.Background(), event.Origin{Session: "s", At: 3}, "f"); err != nil {
		t.Fatal(err)
	}
	app(t, s, "f", 3, note("y"))
	for _, id := range []string{"s", "f"} {
		es := all(t, s, id, 0)
		for i := 1; i < len(es); i++ {
			if es[i].Time.Before(es[i-1].Time) {
				t.Errorf("%s: event %d is before event %d", id, es[i].Seq, es[i-1].Seq)
			}
		}
	}
}
