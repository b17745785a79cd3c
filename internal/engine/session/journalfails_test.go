package session_test

import (
	"context"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/store"
	"github.com/pawl-agent/pawl/internal/adapter/workspace/journal"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// noBlobs is a store that keeps events and has no room for contents.
type noBlobs struct{ event.Store }

func (noBlobs) Put(context.Context, []byte) (string, error) {
	return "", &fault.Error{Category: fault.Configuration, Kind: store.ErrFull, Err: store.ErrFull, Message: "the disk is full"}
}

// SPEC 6.2, 11.1: where the contents cannot be kept while a command's effects
// are recorded, the change is recorded as not kept, and the result says so.
func TestNoRoomForEffects(t *testing.T) {
	r := newRig(t, "yolo", llmtest.New(llmtest.Use("bash", bash("echo two > a.txt; echo new > b.txt"))), journaled(t, journal.Options{}), func(c *session.Config) {
		c.Store = noBlobs{c.Store}
	})
	r.Put("a.txt", "one\n")
	es := r.Run("go", nil)
	cs := find[event.FileChanged](es)
	if len(cs) != 2 || cs[0].Path != "a.txt" || cs[0].Kept || !cs[1].Kept {
		t.Errorf("%+v", cs)
	}
	if done := find[event.CallDone](es); len(done) != 1 || !strings.Contains(done[0].Result.Text, "[1 file that this command changed cannot be restored: a.txt]") {
		t.Errorf("%+v", done)
	}
}

// blind is a journal that cannot look from the nth time on.
type blind struct {
	tool.Journal
	sees int
}

func (b *blind) Snapshot(ctx context.Context, touched []string) (tool.Snapshot, error) {
	if b.sees--; b.sees < 0 {
		return tool.Snapshot{}, context.DeadlineExceeded
	}
	return b.Journal.Snapshot(ctx, touched)
}

// SPEC 11.1: a command runs also where the workspace cannot be looked at, and
// its result says that nothing is recorded of it.
func TestBlindJournal(t *testing.T) {
	for sees := range 2 {
		r := newRig(t, "yolo", llmtest.New(llmtest.Use("bash", bash("echo two > a.txt"))), journaled(t, journal.Options{}), func(c *session.Config) {
			c.Journal = changes.Share(&blind{c.Journal, sees})
		})
		r.Put("a.txt", "one\n")
		es := r.Run("go", nil)
		done := find[event.CallDone](es)
		if r.File("a.txt") != "two\n" || len(done) != 1 || !strings.Contains(done[0].Result.Text, "could not record") || len(find[event.Warned](es)) == 0 {
			t.Errorf("%d: %+v", sees, done)
		}
	}
}
