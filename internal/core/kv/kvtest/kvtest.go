// Package kvtest holds every key-value store to the contract of core/kv.
package kvtest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/kv"
)

// Test runs the suite. newStore makes an empty store and returns a function that opens
// it; each call of that opens the same values once more.
func Test(t *testing.T, newStore func(testing.TB) (open func() kv.Store)) {
	for name, test := range map[string]func(*testing.T, func() kv.Store){
		"basics": basics, "swap": swap, "keys": keys, "values": values, "limits": limits,
		"list": list, "list while writing": listWhileWriting, "increments": increments,
		"create once": createOnce, "whole values": wholeValues, "cancelled": cancelled,
	} {
		t.Run(name, func(t *testing.T) { test(t, newStore(t)) })
	}
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func basics(t *testing.T, open func() kv.Store) {
	ctx, s := t.Context(), open()
	if _, err := s.Load(ctx, "a"); !errors.Is(err, kv.ErrNone) {
		t.Errorf("load of nothing: %v", err)
	}
	if must[bool](t)(s.Exists(ctx, "a")) {
		t.Error("nothing exists")
	}
	if err := s.Delete(ctx, "a"); err != nil {
		t.Errorf("delete of nothing: %v", err)
	}
	in := []byte("one")
	v := must[kv.Version](t)(s.Save(ctx, "a", in))
	copy(in, "xxx") // the caller's own again
	for _, s := range []kv.Store{s, open()} {
		e := must[kv.Entry](t)(s.Load(ctx, "a"))
		if string(e.Value) != "one" || e.Version != v || v == "" {
			t.Errorf("got %q at %q, saved at %q", e.Value, e.Version, v)
		}
		copy(e.Value, "yyy")
		if !must[bool](t)(s.Exists(ctx, "a")) {
			t.Error("it does not exist")
		}
	}
	if w := must[kv.Version](t)(s.Save(ctx, "a", []byte("one"))); w == v {
		t.Error("two writes have one version")
	}
	if err := s.Delete(ctx, "a"); err != nil {
		t.Error(err)
	}
	if _, err := open().Load(ctx, "a"); !errors.Is(err, kv.ErrNone) {
		t.Errorf("load of what was deleted: %v", err)
	}
}

func swap(t *testing.T, open func() kv.Store) {
	ctx, s := t.Context(), open()
	seen := map[kv.Version]bool{"": true}
	fresh := func(v kv.Version) kv.Version {
		t.Helper()
		if seen[v] {
			t.Errorf("version %q was used before", v)
		}
		seen[v] = true
		return v
	}
	stale := func(was kv.Version) {
		t.Helper()
		if _, err := s.Swap(ctx, "a", was, []byte("bad")); !errors.Is(err, kv.ErrChanged) {
			t.Errorf("swap at %q: %v", was, err)
		}
	}
	first := fresh(must[kv.Version](t)(s.Swap(ctx, "a", "", []byte("1"))))
	stale("")
	second := fresh(must[kv.Version](t)(s.Swap(ctx, "a", first, []byte("2"))))
	stale(first)
	stale("nonsense")
	third := fresh(must[kv.Version](t)(open().Save(ctx, "a", []byte("3"))))
	stale(second)
	if err := s.Delete(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	stale(third) // also where the key is gone
	fourth := fresh(must[kv.Version](t)(s.Swap(ctx, "a", "", []byte("1"))))
	stale(first)
	stale(third)
	if e := must[kv.Entry](t)(s.Load(ctx, "a")); string(e.Value) != "1" || e.Version != fourth {
		t.Errorf("%q at %q", e.Value, e.Version)
	}
}

// hostile are keys that mean something to a file system, a query or a server.
var hostile = []string{
	"..", ".", "/", "../../x", "/etc/passwd", "a/b", "a//b", "a/", "/a", `a\b`, "a.b", ".a", "a.", "a..b",
	"A", "a", "Straße", "STRASSE", "ä", "a\u0308", "\x00", "a\x00b", "\xff\xfe", "con", "CON", "nul.json", "com1", "aux",
	"*", ">", "a.>", "a.*", "%", "a%", "_", "a_", "'; DROP TABLE kv; --", `"`, "$KV", "=", "=61", "=2e", " ", "a ", "\n", "\t",
	"~", "-rf", "a:b", "a?b", "a|b", "<x>", "lock", ".lock", "a.json", "a.json-1", ".a.json-123", strings.Repeat("Z", kv.MaxKey), strings.Repeat("/", kv.MaxKey), "日本",
}

func keys(t *testing.T, open func() kv.Store) {
	ctx, s := t.Context(), open()
	for _, k := range hostile {
		if _, err := s.Swap(ctx, k, "", []byte("of "+k)); err != nil {
			t.Fatalf("%q: %v", k, err)
		}
	}
	s = open()
	for _, k := range hostile {
		if e, err := s.Load(ctx, k); err != nil || string(e.Value) != "of "+k {
			t.Errorf("%q: %q, %v", k, e.Value, err)
		}
	}
	if got, want := must[[]string](t)(s.List(ctx, "")), slices.Sorted(slices.Values(hostile)); !slices.Equal(got, want) {
		t.Errorf("listed %q, want %q", got, want)
	}
	for i, k := range hostile {
		if err := s.Delete(ctx, k); err != nil {
			t.Errorf("%q: %v", k, err)
		}
		if n := len(must[[]string](t)(s.List(ctx, ""))); n != len(hostile)-i-1 {
			t.Fatalf("deleting %q left %d keys", k, n)
		}
	}
}

func values(t *testing.T, open func() kv.Store) {
	ctx := t.Context()
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for i, v := range [][]byte{nil, {}, []byte("\n"), []byte(" {\"a\" : 1} \n"), []byte("<&>\u2028"), all, {0xff}, bytes.Repeat([]byte("x"), kv.MaxValue), bytes.Repeat([]byte{0xfe}, kv.MaxValue)} {
		if _, err := open().Save(ctx, "v", v); err != nil {
			t.Fatalf("value %d: %v", i, err)
		}
		if e := must[kv.Entry](t)(open().Load(ctx, "v")); !bytes.Equal(e.Value, v) {
			t.Errorf("value %d of %d bytes came back with %d", i, len(v), len(e.Value))
		}
	}
}

func limits(t *testing.T, open func() kv.Store) {
	ctx, s := t.Context(), open()
	long := strings.Repeat("k", kv.MaxKey+1)
	big := make([]byte, kv.MaxValue+1)
	for what, err := range map[string]error{
		"save no key":   second(s.Save(ctx, "", nil)),
		"save long key": second(s.Save(ctx, long, nil)),
		"save big":      second(s.Save(ctx, "k", big)),
		"swap no key":   second(s.Swap(ctx, "", "", nil)),
		"swap long key": second(s.Swap(ctx, long, "", nil)),
		"swap big":      second(s.Swap(ctx, "k", "", big)),
		"load no key":   second(s.Load(ctx, "")),
		"load long key": second(s.Load(ctx, long)),
		"exists":        second(s.Exists(ctx, "")),
		"delete":        s.Delete(ctx, long),
	} {
		if !errors.Is(err, kv.ErrLimit) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if got := must[[]string](t)(s.List(ctx, "")); len(got) != 0 {
		t.Errorf("kept: %q", got)
	}
	if got, err := s.List(ctx, long); err != nil || len(got) != 0 {
		t.Errorf("a long prefix: %q, %v", got, err)
	}
}

func second[T any](_ T, err error) error { return err }

func list(t *testing.T, open func() kv.Store) {
	ctx, s := t.Context(), open()
	for _, k := range []string{"s1/a", "s1/b", "s10/a", "s1", "S1/a", "s1%"} {
		must[kv.Version](t)(s.Save(ctx, k, []byte("x")))
	}
	for prefix, want := range map[string]string{
		"s1/": "s1/a s1/b", "s1": "s1 s1% s1/a s1/b s10/a", "s10": "s10/a", "S": "S1/a", "z": "", "": "S1/a s1 s1% s1/a s1/b s10/a", "s1%": "s1%", "s_": "",
	} {
		if got := strings.Join(must[[]string](t)(open().List(ctx, prefix)), " "); got != want {
			t.Errorf("%q: %q, want %q", prefix, got, want)
		}
	}
}

func listWhileWriting(t *testing.T, open func() kv.Store) {
	ctx, s := t.Context(), open()
	const fixed = 20
	for i := range fixed {
		must[kv.Version](t)(s.Save(ctx, fmt.Sprintf("p/%02d", i), []byte("x")))
	}
	stop, other := make(chan struct{}), open()
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			key := fmt.Sprintf("p/new%d", i%5)
			if _, err := other.Save(ctx, key, []byte("y")); err != nil {
				t.Error(err)
				return
			}
			if _, err := other.Save(ctx, fmt.Sprintf("p/%02d", i%fixed), []byte("z")); err != nil {
				t.Error(err)
				return
			}
			if err := other.Delete(ctx, key); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 20 {
		got := must[[]string](t)(s.List(ctx, "p/"))
		n := 0
		for i, k := range got {
			if i > 0 && got[i-1] >= k {
				t.Errorf("not sorted, or twice: %q", got)
			}
			if !strings.HasPrefix(k, "p/new") {
				n++
			}
		}
		if n != fixed {
			t.Errorf("%d of %d keys that are always there: %q", n, fixed, got)
		}
	}
	close(stop)
	writer.Wait()
}

// increments: no update is lost, over several open stores.
func increments(t *testing.T, open func() kv.Store) {
	const writers, each = 4, 10
	var all sync.WaitGroup
	for range writers {
		s := open()
		all.Go(func() {
			for done := 0; done < each; {
				e, err := s.Load(t.Context(), "n")
				if err != nil && !errors.Is(err, kv.ErrNone) {
					t.Error(err)
					return
				}
				n := uint64(0)
				if len(e.Value) == 8 {
					n = binary.BigEndian.Uint64(e.Value)
				}
				_, err = s.Swap(t.Context(), "n", e.Version, binary.BigEndian.AppendUint64(nil, n+1))
				switch {
				case err == nil:
					done++
				case !errors.Is(err, kv.ErrChanged):
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	if e := must[kv.Entry](t)(open().Load(t.Context(), "n")); len(e.Value) != 8 || binary.BigEndian.Uint64(e.Value) != writers*each {
		t.Errorf("the sum is %x, want %d", e.Value, writers*each)
	}
}

// createOnce: of many who make a key, one has made it.
func createOnce(t *testing.T, open func() kv.Store) {
	var all sync.WaitGroup
	var mu sync.Mutex
	won := map[int][]int{}
	for w := range 4 {
		s := open()
		all.Go(func() {
			for k := range 10 {
				_, err := s.Swap(t.Context(), fmt.Sprint("k", k), "", []byte{byte(w)})
				switch {
				case err == nil:
					mu.Lock()
					won[k] = append(won[k], w)
					mu.Unlock()
				case !errors.Is(err, kv.ErrChanged):
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	s := open()
	for k := range 10 {
		e := must[kv.Entry](t)(s.Load(t.Context(), fmt.Sprint("k", k)))
		if len(won[k]) != 1 || len(e.Value) != 1 || int(e.Value[0]) != won[k][0] {
			t.Errorf("key %d: made by %v, holds %v", k, won[k], e.Value)
		}
	}
}

// wholeValues: who reads while others write sees one value or the other.
func wholeValues(t *testing.T, open func() kv.Store) {
	ctx, s := t.Context(), open()
	vals := [][]byte{bytes.Repeat([]byte("a"), 100_000), bytes.Repeat([]byte("b"), 3)}
	must[kv.Version](t)(s.Save(ctx, "v", vals[0]))
	var writers sync.WaitGroup
	for _, v := range vals {
		w := open()
		writers.Go(func() {
			for range 10 {
				if _, err := w.Save(ctx, "v", v); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 40 {
		e := must[kv.Entry](t)(s.Load(ctx, "v"))
		if !bytes.Equal(e.Value, vals[0]) && !bytes.Equal(e.Value, vals[1]) {
			t.Fatalf("a part: %d bytes", len(e.Value))
		}
	}
	writers.Wait()
}

func cancelled(t *testing.T, open func() kv.Store) {
	s := open()
	must[kv.Version](t)(s.Save(t.Context(), "a", []byte("1")))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for what, err := range map[string]error{
		"save": second(s.Save(ctx, "a", []byte("2"))), "swap": second(s.Swap(ctx, "b", "", nil)), "load": second(s.Load(ctx, "a")),
		"exists": second(s.Exists(ctx, "a")), "list": second(s.List(ctx, "")), "delete": s.Delete(ctx, "a"),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if e := must[kv.Entry](t)(s.Load(t.Context(), "a")); string(e.Value) != "1" {
		t.Errorf("it was changed to %q", e.Value)
	}
}
