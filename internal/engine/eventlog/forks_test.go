package eventlog

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/store/sqlite"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// from notes after which event a log is read.
type from struct {
	*sqlite.Store
	after int64
}

func (f *from) Read(ctx context.Context, id string, after int64) iter.Seq2[event.Event, error] {
	f.after = after
	return f.Store.Read(ctx, id, after)
}

// heard folds what was noted.
type heard struct{ texts []string }

func (h *heard) Apply(e event.Event) {
	if b, ok := e.Body.(event.Noted); ok {
		h.texts = append(h.texts, b.Text)
	}
}

// SPEC 19.3: a fork begins with the newest snapshot of the sessions that it shares
// events with, if it ends in what they share, and only where the folds allow it.
func TestSnapshotsOfForks(t *testing.T) {
	st := must.Get(sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "log.db"), sqlite.Options{}))(t)
	defer st.Close()
	log := &from{Store: st}
	tell := func(id string, after int64, n int) {
		t.Helper()
		var ds []event.Draft
		for i := range n {
			ds = append(ds, note(fmt.Sprint(id, i)))
		}
		must.Done(t)(st.Append(t.Context(), id, after, ds...))
	}
	fork := func(parent string, at int64, id string) {
		t.Helper()
		must.Do(t, st.Fork(t.Context(), event.Origin{Session: parent, At: at}, id))
	}
	fold := func(id string, how Snapshots) (after int64) {
		t.Helper()
		how.Program, how.Fresh = "p", func() []event.Fold { return []event.Fold{&heard{}} }
		f, whole := &heard{}, &heard{}
		must.Do(t, Fold(t.Context(), log, id, how, f))
		after = log.after
		for e, err := range st.Read(t.Context(), id, 0) {
			must.Do(t, err)
			whole.Apply(e)
		}
		if !slices.Equal(f.texts, whole.texts) {
			t.Errorf("%s from %d: %q, want %q", id, after, f.texts, whole.texts)
		}
		return after
	}
	never := Snapshots{Shared: true, ReadOnly: true}
	tell("a", 0, 100)
	fold("a", Snapshots{Shared: true, Every: 4}) // of event 100
	fork("a", 100, "end")
	fork("a", 60, "before")
	tell("a", 100, 10)
	fork("a", 105, "after")
	tell("after", 105, 5)
	fork("after", 108, "second")
	for id, want := range map[string]int64{"end": 100, "before": 0, "after": 100, "second": 100} {
		if got := fold(id, never); got != want {
			t.Errorf("%s is read after %d, want %d", id, got, want)
		}
		if got := fold(id, Snapshots{ReadOnly: true}); got != 0 {
			t.Errorf("%s is read after %d, though its folds are not shared", id, got)
		}
	}
	tell("second", 108, 30)
	fold("second", Snapshots{Shared: true, Every: 4})
	if got := fold("second", never); got != 138 {
		t.Errorf("with its own it is read after %d, want 138", got)
	}
	fork("second", 120, "third") // not in what second's snapshot is of
	if got := fold("third", never); got != 100 {
		t.Errorf("third is read after %d, want 100", got)
	}
	must.Do(t, st.Delete(t.Context(), "a"))
	if got := fold("end", never); got != 0 {
		t.Errorf("without its origin it is read after %d, want 0", got)
	}
}
