package sqlite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

const sector = 512

// crash returns what may be on the disk after the power went at op n: all that
// was synced, and of the rest whatever the disk liked, sector by sector.
func crash(base map[string][]byte, ops []op, n int, rnd *rand.Rand) map[string][]byte {
	files := map[string][]byte{}
	pending := map[string][]op{}
	for f, data := range base {
		files[f] = append([]byte(nil), data...)
	}
	for _, o := range ops[:n] {
		switch o.kind {
		case opMark:
		case opSync:
			for _, p := range pending[o.file] {
				change(files, p, nil)
			}
			delete(pending, o.file)
		default:
			pending[o.file] = append(pending[o.file], o)
		}
	}
	for f, ps := range pending {
		keep := func() bool { return true }
		cut := len(ps)
		switch rnd.IntN(4) {
		case 0: // nothing of it
			cut = 0
		case 1: // all up to some point, the last write torn
			cut = rnd.IntN(len(ps) + 1)
		case 2: // any sectors
			keep = func() bool { return rnd.IntN(2) == 0 }
		case 3: // nearly all
			keep = func() bool { return rnd.IntN(20) > 0 }
		}
		for i, p := range ps[:cut] {
			k := keep
			if i == cut-1 && cut < len(ps) {
				k = func() bool { return rnd.IntN(2) == 0 }
			}
			if p.kind == opWrite {
				change(files, p, k)
			} else if k() {
				change(files, p, nil)
			}
		}
		_ = f
	}
	return files
}

// change applies an operation. keep selects the sectors of a write that arrive; nil
// is all.
func change(files map[string][]byte, o op, keep func() bool) {
	switch o.kind {
	case opCreate:
		files[o.file] = nil
	case opDelete:
		delete(files, o.file)
	case opTruncate:
		files[o.file] = resize(files[o.file], int(o.off))
	case opWrite:
		for from := 0; from < len(o.data); {
			to := min(len(o.data), from+sector-(int(o.off)+from)%sector)
			if keep == nil || keep() {
				end := int(o.off) + to
				if len(files[o.file]) < end {
					files[o.file] = resize(files[o.file], end)
				}
				copy(files[o.file][int(o.off)+from:], o.data[from:to])
			}
			from = to
		}
	}
}

func resize(b []byte, n int) []byte {
	if n <= len(b) {
		return b[:n]
	}
	return append(b, make([]byte, n-len(b))...)
}

// history is what a store was told, and what it acknowledged when.
type history struct {
	events []event.Event
	blobs  map[string]string
}

// write runs a busy little life of a store over a disk: events of all sizes,
// batches, contents, a fork, a deletion, checkpoints every few pages.
func write(t *testing.T, d *disk, path, durability string, rnd *rand.Rand) history {
	ctx := context.Background()
	s := must.Get(open(ctx, path, Options{Durability: durability}, d.name))(t)
	defer s.Close()
	must.Do(t, s.w.script(ctx, "PRAGMA wal_autocheckpoint=25"))
	h := history{blobs: map[string]string{}}
	word := func(n int) string {
		var b strings.Builder
		for b.Len() < n {
			fmt.Fprintf(&b, "%x ", rnd.Uint64())
		}
		return b.String()
	}
	for i := range 60 {
		var ds []event.Draft
		for range 1 + rnd.IntN(3) {
			switch rnd.IntN(6) {
			case 0:
				content := word(1 + rnd.IntN(6000))
				hash := must.Get(s.Put(ctx, []byte(content)))(t)
				h.blobs[hash] = content
				ds = append(ds, event.Draft{Body: event.FileChanged{Tool: "write", Does: tool.Edit, Whole: true, Path: "a", After: tool.Hash(hash), Kept: true}})
			case 1:
				ds = append(ds, event.Draft{Body: event.Noted{Text: word(rnd.IntN(8000))}})
			default:
				ds = append(ds, event.Draft{Body: event.Noted{Text: word(rnd.IntN(300))}})
			}
		}
		es := must.Get(s.Append(ctx, "s", int64(len(h.events)), ds...))(t)
		h.events = append(h.events, es...)
		d.mark(int64(len(h.events)))
		if i%15 == 5 { // others come and go
			must.Done(t)(s.Append(ctx, "gone", 0, event.Draft{Body: event.Noted{Text: word(5000)}}))
			must.Do(t, s.Fork(ctx, event.Origin{Session: "s", At: 3}, fmt.Sprint("fork", i)))
			must.Do(t, s.Delete(ctx, "gone"))
		}
	}
	return h
}

// SPEC 10.4: power loss never corrupts the log; what is left is what was
// stored up to some moment, with the contents that it names. With durability
// "full" nothing that was acknowledged is missing.
func TestPowerLoss(t *testing.T) {
	for _, durability := range []string{"normal", "full"} {
		t.Run(durability, func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			rnd := rand.New(rand.NewPCG(seed, 1))
			path := filepath.Join(t.TempDir(), "log.db")
			openAt(t, path, Options{}).Close() // made, and synced, by the code that makes it
			image := must.Get(os.ReadFile(path))(t)
			d := newDisk(t)
			h := write(t, d, path, durability, rnd)
			writes, syncs := 0, 0
			for _, o := range d.ops {
				switch o.kind {
				case opWrite:
					writes++
				case opSync:
					syncs++
				}
			}
			if writes < 200 || syncs < 10 {
				t.Fatalf("the layer saw %d writes and %d syncs: it is not under SQLite", writes, syncs)
			}
			lost := 0
			const points = 100
			for i := range points {
				n := rnd.IntN(len(d.ops) + 1)
				acked := int64(0)
				for _, o := range d.ops[:n] {
					if o.kind == opMark {
						acked = o.off
					}
				}
				files := crash(map[string][]byte{"log.db": image}, d.ops, n, rnd)
				left := reopen(t, files, h, rnd)
				if t.Failed() {
					t.Fatalf("crash %d, at op %d of %d", i, n, len(d.ops))
				}
				if left < acked {
					lost++
					if durability == "full" {
						t.Fatalf("crash %d, at op %d of %d: %d events were acknowledged, %d are there", i, n, len(d.ops), acked, left)
					}
				}
			}
			t.Logf("%d writes, %d syncs; %d of %d crashes lost the last moments", writes, syncs, lost, points)
			if durability == "normal" && lost == 0 {
				t.Error("no crash lost anything: the disk forgets nothing, so that this test shows nothing")
			}
		})
	}
}

// reopen opens what a crash left, checks it and returns the number of events.
func reopen(t *testing.T, files map[string][]byte, h history, rnd *rand.Rand) int64 {
	ctx := context.Background()
	dir := t.TempDir()
	for f := range maps.Keys(files) {
		must.Do(t, os.WriteFile(filepath.Join(dir, f), files[f], 0o600))
	}
	if rnd.IntN(2) == 0 { // the shared memory is anything
		junk := make([]byte, 32<<10)
		for i := range junk {
			junk[i] = byte(rnd.Uint32())
		}
		must.Do(t, os.WriteFile(filepath.Join(dir, "log.db-shm"), junk, 0o600))
	}
	s, err := Open(ctx, filepath.Join(dir, "log.db"), Options{})
	if err != nil {
		t.Error(err)
		return 0
	}
	defer s.Close()
	if found, err := s.Check(ctx); err != nil || len(found) > 0 {
		t.Errorf("damaged: %q %v", found, err)
	}
	var got []event.Event
	for e, err := range s.Read(ctx, "s", 0) {
		if err != nil {
			if !errors.Is(err, event.ErrNoSession) {
				t.Error(err)
			}
			break
		}
		got = append(got, e)
	}
	if len(got) > len(h.events) {
		t.Errorf("%d events of %d", len(got), len(h.events))
		return 0
	}
	if diff := cmp.Diff(h.events[:len(got)], got, cmp.Comparer(func(a, b event.Body) bool { return reflect.DeepEqual(a, b) })); diff != "" && len(got) > 0 {
		t.Errorf("not a prefix: %s", diff)
	}
	for _, e := range got {
		if c, ok := e.Body.(event.FileChanged); ok {
			data, err := s.Get(ctx, string(c.After))
			if err != nil || string(data) != h.blobs[string(c.After)] {
				t.Errorf("event %d names a content that is not there: %v", e.Seq, err)
			}
		}
	}
	if _, err := s.Append(ctx, "s", int64(len(got)), event.Draft{Body: event.Resumed{}}); err != nil {
		t.Errorf("cannot go on: %v", err)
	}
	return int64(len(got))
}
