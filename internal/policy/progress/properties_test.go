package progress

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/policy/normalize"
	"pgregory.net/rapid"
)

// anyStep draws from a small world, so that things repeat.
func anyStep(t *rapid.T) Step {
	kind := rapid.SampledFrom([]Kind{Read, Search, Edit, Exec, Test, Wait, Think, Submit, None}).Draw(t, "kind")
	s := Step{
		Tool: string(kind), Kind: kind, Args: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "args"),
		OK: rapid.Bool().Draw(t, "ok"), Target: rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "target"),
		Exact: rapid.SampledFrom([]string{"", "r1", "r2", "r3"}).Draw(t, "result"), Message: rapid.SampledFrom([]string{"", "m"}).Draw(t, "message"),
	}
	s.Len = 10 * len(s.Exact)
	if kind == Edit {
		s.Edit = s.Args
		if s.OK {
			s.State = rapid.SampledFrom([]string{"", "s1", "s2"}).Draw(t, "state")
		}
	}
	if !s.OK {
		s.Error = rapid.SampledFrom([]string{"e1", "e2"}).Draw(t, "error")
	}
	s.Blocked = rapid.IntRange(0, 9).Draw(t, "blocked") == 0
	return s
}

// SPEC 6.1: a run that always brings new content, at most three other steps
// apart, is never halted, whatever those are.
func TestNewContentIsNeverHalted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := New(Default())
		for i := range rapid.IntRange(1, 60).Draw(t, "rounds") {
			for range rapid.IntRange(0, 3).Draw(t, "others") {
				if v := d.Apply(anyStep(t)); v.Level == Halt {
					t.Fatalf("round %d: %+v", i, v)
				}
			}
			if v := d.Apply(edit("f", "same", fmt.Sprint("new", i))); v.Level == Halt {
				t.Fatalf("round %d: %+v", i, v)
			}
		}
	})
}

// recounted runs the rules beside a recount of the whole history.
type recounted struct {
	keys, whats []uint64
}

// SPEC 6.9: the cycle, the streak and the stretch that are found step by step
// are those that a recount of the whole history finds.
func TestRulesEqualRecount(t *testing.T) {
	t.Parallel()
	c := Default()
	rapid.Check(t, func(t *rapid.T) {
		d := New(c)
		id, cy, st := &identical{}, &cycle{}, &sterile{}
		var h recounted
		for i := range rapid.IntRange(1, 120).Draw(t, "steps") {
			k := rapid.Uint64Range(1, 4).Draw(t, "key")
			w := rapid.Uint64Range(1, 5).Draw(t, "result")
			s := &Step{Kind: Read, OK: true, Len: 10}
			f := &facts{n: i, s: s, key: k*16 + w, result: w, action: k}
			h.keys, h.whats = append(h.keys, f.key), append(h.whats, w)
			if got, want := id.apply(d, f).level == Halt, h.streak() >= c.HaltIdentical; got != want {
				t.Fatalf("identical at %d: %v, recount %v", i, got, want)
			}
			if got, want := cy.apply(d, f).level == Halt, h.cycles(c); got != want {
				t.Fatalf("cycle at %d: %v, recount %v", i, got, want)
			}
			if got, want := st.apply(d, f).level == Halt, h.sterile(c); got != want {
				t.Fatalf("sterile at %d: %v, recount %v", i, got, want)
			}
		}
	})
}

func (h *recounted) streak() int {
	n := 0
	for i := len(h.keys) - 1; i >= 0 && h.keys[i] == h.keys[len(h.keys)-1]; i-- {
		n++
	}
	return n
}

func (h *recounted) cycles(c Config) bool {
	k := h.keys
	for p := 2; p <= c.CycleMax; p++ {
		if len(k) < p*c.CycleRounds {
			continue
		}
		last := k[len(k)-p:]
		same := true
		for r := 2; r <= c.CycleRounds; r++ {
			same = same && slices.Equal(last, k[len(k)-r*p:len(k)-(r-1)*p])
		}
		if same {
			return true
		}
	}
	return false
}

func (h *recounted) sterile(c Config) bool {
	w := h.whats
	// Only a result that came before in what is looked at can complete a stretch.
	from := max(0, len(w)-sterileLimit)
	if !slices.Contains(w[from:len(w)-1], w[len(w)-1]) {
		return false
	}
	for k := 1; k <= len(w)-from; k++ {
		own := map[uint64]bool{}
		for _, x := range w[len(w)-k:] {
			own[x] = true
		}
		if k >= c.SterileThird && 3*len(own) <= k || k >= c.SterileHalf && 2*len(own) <= k {
			return true
		}
	}
	return false
}

// SPEC 6.2: verdicts do not depend on the text of ids, times, durations,
// addresses and process numbers.
func TestVolatileTextDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := New(Default()), New(Default())
		volatile := func(name string) string {
			at := time.Unix(rapid.Int64Range(1.6e9, 1.9e9).Draw(t, name), 0).UTC()
			return fmt.Sprintf("%s %s pid %d took %d.%02ds at 0x%08x in /tmp/go-build%d/x.go id %08x-1234-5678-9abc-%012x",
				at.Format(time.RFC3339), at.Format("15:04:05"), rapid.IntRange(1, 99999).Draw(t, name), rapid.IntRange(0, 99).Draw(t, name),
				rapid.IntRange(0, 99).Draw(t, name), rapid.Uint32().Draw(t, name), rapid.IntRange(1000, 99999).Draw(t, name),
				rapid.Uint32().Draw(t, name), rapid.Uint32().Draw(t, name))
		}
		for i := range rapid.IntRange(1, 40).Draw(t, "steps") {
			s := anyStep(t)
			fixed := s.Exact
			say := func(v string) Step {
				x := s
				x.Exact = normalize.Digest(fixed + v)
				x.Norm = normalize.Digest(normalize.Result(fixed + " " + v))
				x.Len = 50
				if !x.OK {
					x.Error = normalize.Error("error: " + s.Error + " " + v)
				}
				return x
			}
			va, vb := a.Apply(say(volatile("a"))), b.Apply(say(volatile("b")))
			if va.Level != vb.Level || va.Rule != vb.Rule || va.Fingerprint != vb.Fingerprint {
				t.Fatalf("step %d: %+v\nand %+v", i, va, vb)
			}
		}
	})
}

// SPEC 6.9: what is remembered is bounded.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	d := New(Default())
	for i := range 3*memoLimit + 10 {
		s := read(fmt.Sprint("f", i), fmt.Sprint("c", i))
		if i%2 == 0 {
			s = edit(fmt.Sprint("f", i), fmt.Sprint(i), fmt.Sprint("s", i))
		}
		d.Apply(s)
	}
	for name, n := range map[string]int{
		"contents": len(d.contents.now) + len(d.contents.old), "keys": len(d.keys.now) + len(d.keys.old),
		"reads": len(d.readKeys.now) + len(d.readKeys.old), "last": len(d.last.now) + len(d.last.old),
		"files": len(d.stats.Files), "ever": len(d.ever.now) + len(d.ever.old), "failed": len(d.failed.now) + len(d.failed.old),
	} {
		if n > 2*memoLimit {
			t.Errorf("%s: %d entries", name, n)
		}
	}
	if len(d.stats.Files) > statsLimit || d.stats.Contents < memoLimit {
		t.Errorf("%d files, %d contents", len(d.stats.Files), d.stats.Contents)
	}
}

// The memory of a generation that was dropped is gone, that of one in use is
// not.
func TestMemo(t *testing.T) {
	t.Parallel()
	m := memo[int]{limit: 4}
	for i := range uint64(4) {
		m.put(i, int(i))
	}
	m.put(10, 10)
	if v, ok := m.get(1); !ok || v != 1 {
		t.Error("what is asked for stays")
	}
	for i := range uint64(4) {
		m.put(20+i, 0)
	}
	if !m.has(1) || m.has(2) {
		t.Error("what was asked for is kept one generation longer, the rest not")
	}
	m.clear()
	if m.has(1) {
		t.Error("cleared")
	}
}
