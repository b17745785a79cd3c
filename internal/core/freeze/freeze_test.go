package freeze_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/freeze"
	"github.com/pawl-agent/pawl/internal/core/must"
)

type rule interface{ apply(int) }

type counting struct{ n int }

func (c *counting) apply(n int) { c.n += n }

type table struct{ name string }

var doors, windows = &table{"doors"}, &table{"windows"}

type leaf struct {
	name string
	up   *leaf
}

type other struct{ last *leaf }

// everything has a field of each sort.
type everything struct {
	mu      sync.Mutex
	b       bool
	i       int
	small   int8
	u       uint32
	big     uint64
	f       float64
	s, same string
	raw     []byte
	none    []byte
	empty   []byte
	list    []leaf
	array   [3]int
	words   map[string][]string
	nothing map[string]int
	memo    map[uint64]int
	marks   map[uint64]struct{}
	nested  map[struct{ a, b string }]*leaf
	time    time.Time
	never   time.Time
	first   *leaf
	again   *leaf
	ring    *leaf
	rules   []rule
	any     any
	table   *table
	heard   []func() `freeze:"-"`
}

func fresh() *everything { return &everything{rules: []rule{&counting{}}} }

func full() (*everything, *other) {
	long := strings.Repeat("a long text ", 10)
	x := &leaf{name: "x"}
	ring := &leaf{name: "ring"}
	ring.up = ring
	e := fresh()
	e.mu.Lock() // a lock that was used and is free
	defer e.mu.Unlock()
	e.none, e.nothing, e.never = nil, nil, time.Time{}
	e.b, e.i, e.small, e.u, e.big, e.f = true, -1<<40, -8, 1<<31, 1<<63, 0.1
	e.s, e.same = long, long
	e.raw, e.empty = []byte("raw"), []byte{}
	e.list = []leaf{{"a", x}, {"b", nil}}
	e.array = [3]int{1, 2, 3}
	e.words = map[string][]string{"": nil, "a": {}, "b": {long, "c"}}
	e.memo, e.marks = map[uint64]int{7: -7, 1 << 60: 8}, map[uint64]struct{}{9: {}}
	e.nested = map[struct{ a, b string }]*leaf{{"1", "2"}: x, {"1", "3"}: nil}
	e.time = time.Unix(1_800_000_000, 5).UTC()
	e.first, e.again, e.ring = x, x, ring
	e.rules[0].(*counting).n = 4
	e.table = windows
	return e, &other{last: x}
}

func codec(t *testing.T) *freeze.Codec {
	t.Helper()
	c := must.Get(freeze.New([]any{fresh(), &other{}}, doors, windows))(t)
	return c
}

// SPEC 19.3: what is read is what was written, with what was shared shared again.
func TestEverything(t *testing.T) {
	e, o := full()
	data := must.Get(codec(t).Append(nil, []any{e, o}))(t)
	got, last := fresh(), &other{}
	got.heard = []func(){func() {}}
	must.Do(t, codec(t).Read(data, []any{got, last}))
	if len(got.heard) != 1 {
		t.Error("what is passed over was changed")
	}
	got.heard = nil
	if !reflect.DeepEqual(e, got) || !reflect.DeepEqual(o, last) {
		t.Fatalf("got %+v, want %+v", got, e)
	}
	if got.first != got.again || got.first != last.last || got.first != got.list[0].up || got.ring.up != got.ring || got.table != windows {
		t.Error("a pointer leads elsewhere")
	}
	again, err := codec(t).Append(nil, []any{got, last})
	if err != nil || !bytes.Equal(again, data) {
		t.Errorf("written again it is other bytes (%v)", err)
	}
}

// What cannot be written is an error, and never a gap.
func TestRefused(t *testing.T) {
	local := time.FixedZone("there", 3600)
	for name, change := range map[string]func(*everything){
		"a function":                  func(e *everything) { e.any = func() {} },
		"a type that nobody named":    func(e *everything) { e.any = &leaf{} },
		"a time elsewhere":            func(e *everything) { e.time = time.Unix(5, 0).In(local) },
		"a time of a monotonic clock": func(e *everything) { e.time = time.Now() },
	} {
		e, o := full()
		change(e)
		if _, err := codec(t).Append(nil, []any{e, o}); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	type built struct{ b strings.Builder }
	c := must.Get(freeze.New([]any{&built{}}))(t)
	if _, err := c.Append(nil, []any{&built{}}); err != nil {
		t.Errorf("an empty builder: %v", err)
	}
	full := &built{}
	full.b.WriteString("x")
	if _, err := c.Append(nil, []any{full}); err == nil {
		t.Error("a builder, which must not be copied, was written")
	}
	type odd struct{ do func() }
	if _, err := freeze.New([]any{&odd{func() {}}}); err == nil {
		t.Error("a root with a function was taken")
	}
	if _, err := freeze.New([]any{odd{}}); err == nil {
		t.Error("a root that is no pointer was taken")
	}
}

// SPEC 19.3: bytes that are not what was written change nothing, and panic nowhere.
func TestDamaged(t *testing.T) {
	e, o := full()
	data := must.Get(codec(t).Append(nil, []any{e, o}))(t)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 3000 {
		bad := bytes.Clone(data)
		if i < len(data) {
			bad = bad[:i]
		} else {
			for range 1 + random.IntN(3) {
				bad[random.IntN(len(bad))] = byte(random.Uint32())
			}
		}
		got, last := fresh(), &other{}
		switch err := codec(t).Read(bad, []any{got, last}); {
		case err == nil: // it is another state: that is for a checksum to find
		case !errors.Is(err, freeze.ErrUnreadable):
			t.Fatal(err)
		case !reflect.DeepEqual(got, fresh()) || last.last != nil:
			t.Fatalf("%v left %+v", err, got)
		}
	}
}

// A shape is that of the types and of what the roots are configured with.
func TestShape(t *testing.T) {
	type one struct{ A, B int }
	type two struct{ A, C int }
	shape := func(roots ...any) [32]byte {
		c := must.Get(freeze.New(roots))(t)
		return c.Shape()
	}
	if a, b := shape(&one{}), shape(&one{}); a != b {
		t.Error("equal ones differ")
	}
	if shape(&one{}) == shape(&two{}) || shape(&one{}) == shape(&one{A: 1}) || shape(&one{}) == shape(&one{}, &one{}) {
		t.Error("different ones are equal")
	}
}
