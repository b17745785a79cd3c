package eventlog

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// keeping is a store that keeps snapshots, and counts the events that are read.
type keeping struct {
	event.Store

	mu   sync.Mutex
	at   int64
	data []byte
	read int
	fail error
}

func (k *keeping) SaveSnapshot(_ context.Context, _, _ string, at int64, data []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fail == nil {
		k.at, k.data = at, bytes.Clone(data)
	}
	return k.fail
}

func (k *keeping) Snapshot(context.Context, string, string) (int64, []byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.data == nil {
		return 0, nil, event.ErrNoSnapshot
	}
	return k.at, k.data, nil
}

func (k *keeping) Read(ctx context.Context, id string, after int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for e, err := range k.Store.Read(ctx, id, after) {
			if err == nil {
				k.mu.Lock()
				k.read++
				k.mu.Unlock()
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// reads returns how many events were read since it was last asked.
func (k *keeping) reads() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := k.read
	k.read = 0
	return n
}

// begin opens the log of a process; each event folds into seen.
func (k *keeping) begin(t *testing.T, s Snapshots) (*Log, *seen) {
	t.Helper()
	f := &seen{}
	if s.Fresh == nil {
		s.Fresh = func() []event.Fold { return []event.Fold{&seen{}} }
	}
	l := must.Get(Open(t.Context(), Config{Store: k, Session: "s", Now: time.Now, Snapshots: &s}, f))(t)
	return l, f
}

func appended(t *testing.T, l *Log, n int) {
	t.Helper()
	for range n {
		must.Do(t, l.Append(t.Context(), note("x")))
	}
}

// SPEC 19.3: a long log is read from where a snapshot of its folds ends. One is
// taken every so many events, while the log goes on, and sooner at a turn's end.
func TestSnapshotsAreTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeping{Store: memory.New(time.Now)}
		how := Snapshots{Program: "p", Every: 20}
		l, _ := k.begin(t, how)
		appended(t, l, 19)
		synctest.Wait()
		if k.at != 0 {
			t.Fatalf("one was taken at event %d", k.at)
		}
		appended(t, l, 1)
		synctest.Wait()
		if k.at != 20 {
			t.Fatalf("the newest is of event %d", k.at)
		}
		appended(t, l, 4)
		must.Do(t, l.Append(t.Context(), event.Draft{Body: event.Ended{End: event.EndDone}}))
		time.Sleep(turnsPause)
		synctest.Wait()
		if k.at != 25 {
			t.Fatalf("after a turn the newest is of event %d", k.at)
		}
		if n := k.reads(); n != 20+5 {
			t.Errorf("%d events were read for two snapshots of 25", n)
		}
		appended(t, l, 3)
		l.Close()

		l, f := k.begin(t, how)
		if n := k.reads(); n != 3 {
			t.Errorf("%d events were read to open it", n)
		}
		if l.Last() != 28 || l.Began() != 28 || len(f.kinds) != 28 || f.kinds[24] != "ended" {
			t.Errorf("at %d with %d kinds", l.Last(), len(f.kinds))
		}
		l.Close()
	})
}

// SPEC 19.3: what is not known to fit is not read: another program, other
// folds, folds that are configured otherwise, damage. Then a new one is taken.
func TestSnapshotsThatDoNotFit(t *testing.T) {
	type configured struct {
		seen
		Limit int
	}
	for name, other := range map[string]struct {
		how   Snapshots
		folds []event.Fold
		harm  func(*keeping)
	}{
		"another program":       {how: Snapshots{Program: "q"}, folds: []event.Fold{&seen{}}},
		"one fold more":         {how: Snapshots{Program: "p"}, folds: []event.Fold{&seen{}, &seen{}}},
		"another type":          {how: Snapshots{Program: "p"}, folds: []event.Fold{&configured{}}},
		"another configuration": {how: Snapshots{Program: "p"}, folds: []event.Fold{&seen{kinds: []string{}}}},
		"cut short":             {how: Snapshots{Program: "p"}, folds: []event.Fold{&seen{}}, harm: func(k *keeping) { k.data = k.data[:len(k.data)-1] }},
		"nothing of it":         {how: Snapshots{Program: "p"}, folds: []event.Fold{&seen{}}, harm: func(k *keeping) { k.data = []byte{} }},
		"something beyond":      {how: Snapshots{Program: "p"}, folds: []event.Fold{&seen{}}, harm: func(k *keeping) { k.data = append(k.data, 0) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := &keeping{Store: memory.New(time.Now)}
				l, _ := k.begin(t, Snapshots{Program: "p", Every: 10})
				appended(t, l, 12)
				synctest.Wait()
				l.Close()
				was := k.data
				if other.harm != nil {
					other.harm(k)
				}
				k.reads()
				other.how.Every = 10
				other.how.Fresh = func() []event.Fold {
					var fresh []event.Fold
					for _, f := range other.folds {
						x := reflect.New(reflect.TypeOf(f).Elem())
						if s, ok := f.(*seen); ok && s.kinds != nil {
							x.Interface().(*seen).kinds = []string{}
						}
						fresh = append(fresh, x.Interface().(event.Fold))
					}
					return fresh
				}
				folds := other.how.Fresh()
				l = must.Get(Open(t.Context(), Config{Store: k, Session: "s", Now: time.Now, Snapshots: &other.how}, folds...))(t)
				synctest.Wait()
				if n := k.reads(); n != 12 || l.Last() != 12 {
					t.Errorf("%d events were read, the last is %d", n, l.Last())
				}
				if bytes.Equal(k.data, was) && other.harm == nil || k.at != 12 {
					t.Errorf("no new one was taken (%d)", k.at)
				}
				l.Close()
			})
		})
	}
}

// A snapshot that cannot be kept, or folds that cannot be written, harm nothing.
func TestSnapshotsFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeping{Store: memory.New(time.Now), fail: errors.New("the disk is full")}
		l, f := k.begin(t, Snapshots{Program: "p", Every: 5})
		appended(t, l, 23)
		synctest.Wait()
		if n := k.reads(); n != 5 {
			t.Errorf("%d events were read: it is tried once", n)
		}
		if err := l.Broken(); err != nil || len(f.kinds) != 23 {
			t.Errorf("%v, %d", err, len(f.kinds))
		}
		l.Close()

		k.fail = nil
		l = must.Get(Open(t.Context(), Config{Store: k, Session: "s", Now: time.Now, Snapshots: &Snapshots{
			Program: "p", Every: 5, Fresh: func() []event.Fold { return []event.Fold{hearing{func() {}}} },
		}}, hearing{func() {}}))(t)
		appended(t, l, 6)
		synctest.Wait()
		l.Close()
		if k.data != nil {
			t.Error("something was kept of folds that cannot be written")
		}

		l, _ = k.begin(t, Snapshots{Program: "p", Every: 5, ReadOnly: true})
		appended(t, l, 6)
		synctest.Wait()
		l.Close()
		if k.data != nil {
			t.Error("something was kept by one who only reads")
		}
	})
}

type hearing struct{ hear func() }

func (h hearing) Apply(event.Event) { h.hear() }

func (h hearing) Root() any { return &h }

// What is shown, and what readers get, does not depend on a snapshot.
func TestEventsAfterASnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeping{Store: memory.New(time.Now)}
		l, _ := k.begin(t, Snapshots{Program: "p", Every: 5})
		appended(t, l, 7)
		synctest.Wait()
		l.Close()
		l, _ = k.begin(t, Snapshots{Program: "p", Every: 5})
		events := l.Events(t.Context(), 2)
		appended(t, l, 1)
		l.EndReaders(true)
		var got []int64
		for e, err := range events {
			must.Do(t, err)
			got = append(got, e.Seq)
		}
		if !slices.Equal(got, []int64{3, 4, 5, 6, 7, 8}) {
			t.Errorf("a reader got %v", got)
		}
		l.Close()
	})
}

// lines is a fold with a large state.
type lines struct{ texts []string }

func (l *lines) Apply(event.Event) {
	for range 100 {
		l.texts = append(l.texts, strings.Repeat("a line ", 100))
	}
}

// SPEC 19.3: a snapshot of a large state is written once, not copied again and again
// while it grows: it is taken while the session goes on, beside the state itself.
func TestASnapshotIsNotCopiedAsItGrows(t *testing.T) {
	for _, events := range []int{10, 40, 100} {
		k := &keeping{Store: memory.New(time.Now)}
		how := Snapshots{Program: "p", Fresh: func() []event.Fold { return []event.Fold{&lines{}} }}
		l := must.Get(Open(t.Context(), Config{Store: k, Session: "s", Now: time.Now}, &lines{}))(t)
		appended(t, l, events)
		s := newSnapshots(Config{Store: k, Session: "s", Snapshots: &how})
		must.Done(t)(s.take(int64(events)))
		appended(t, l, 1)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		must.Done(t)(s.take(int64(events) + 1))
		runtime.ReadMemStats(&after)
		// The state that is read, what is written of it and a quarter, and the store's copy;
		// the race detector has the second twice. Copied as it grows it would be 7 times.
		used, size := after.TotalAlloc-before.TotalAlloc, uint64(len(k.data))
		if used > 5*size {
			t.Errorf("%d events: %d bytes were allocated for a snapshot of %d", events, used, size)
		}
		s.close()
		l.Close()
	}
}

// SPEC 19.3: folds may end before the log does. A snapshot that ends after them is of no use.
func TestFoldTo(t *testing.T) {
	k := &keeping{Store: memory.New(time.Now)}
	l, _ := k.begin(t, Snapshots{})
	appended(t, l, 50)
	how := Snapshots{Program: "p", Every: 40, Fresh: func() []event.Fold { return []event.Fold{&seen{}} }}
	for _, c := range []struct {
		name  string
		until int64
		reads int // with the one that ends it
	}{
		{"from the beginning", 20, 21},
		{"from the snapshot", 24, 5},
		{"from it again, which is near enough", 29, 10},
		{"before it", 10, 11},
		{"to the end", 1000, 40}, // of the snapshot that the one before took
		{"nothing", 0, 1},
	} {
		k.reads()
		f := &seen{}
		must.Do(t, FoldTo(t.Context(), k, "s", c.until, how, f))
		if got, want := int64(len(f.kinds)), min(c.until, 50); got != want {
			t.Errorf("%s: %d events are folded, want %d", c.name, got, want)
		}
		if n := k.reads(); n != c.reads {
			t.Errorf("%s: %d events are read, want %d", c.name, n, c.reads)
		}
	}
}
