package window

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm"
)

// filler sets every field that a value leads to, exported or not, to something random: a
// field that is added to a message and not packed fails the test.
type filler struct {
	rnd *rand.Rand
	// sparse leaves fields out.
	sparse bool
}

func (f filler) fill(v reflect.Value) {
	if f.sparse && f.rnd.IntN(3) == 0 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		words := []string{"text", "user", "assistant", "result", "x\xff\x00y", string(bytes.Repeat([]byte("long "), f.rnd.IntN(9000)))}
		v.SetString(words[f.rnd.IntN(len(words))])
	case reflect.Bool:
		v.SetBool(!f.sparse || f.rnd.IntN(2) == 0)
	case reflect.Int:
		v.SetInt(f.rnd.Int64N(1<<f.rnd.IntN(40)+1) + 1)
	case reflect.Uint8:
		v.SetUint(uint64(f.rnd.IntN(200)) + 1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Slice:
		n := f.rnd.IntN(4)
		if !f.sparse {
			n++
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			f.fill(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f.fill(v.Field(i))
		}
	default:
		panic(fmt.Sprint("a message has a ", v.Kind()))
	}
}

// SPEC 9.4: what is packed comes out as it went in: empty and missing bytes apart, every
// field, in any order of reading.
func TestPastIsWhatWasAdded(t *testing.T) {
	for seed := range uint64(8) {
		rnd := rand.New(rand.NewPCG(seed, 14))
		var p packedMessages
		var ms []llm.Message
		var as []about
		copies := []packedMessages{}
		for i := range 300 {
			m, a := llm.Message{Parts: make([]llm.Part, 1+rnd.IntN(3))}, about{tokens: rnd.IntN(1 << 20), kind: kind(rnd.IntN(3))}
			f := filler{rnd, i%2 == 0}
			for j := range m.Parts {
				f.fill(reflect.ValueOf(&m.Parts[j]).Elem())
			}
			f.fill(reflect.ValueOf(&m.Role).Elem())
			if rnd.IntN(2) == 0 {
				a.more = &results{numbers: make([]int, 1)}
				f.fill(reflect.ValueOf(&a.more.seen).Elem())
				for range rnd.IntN(4) {
					a.more.numbers, a.more.reads = append(a.more.numbers, rnd.IntN(1000)), append(a.more.reads, rnd.IntN(2) == 0)
				}
				if len(a.more.seen) == 0 {
					a.more.seen = nil
				}
			}
			p.add(m, a)
			ms, as = append(ms, m), append(as, a)
			if i%50 == 0 {
				copies = append(copies, p.copied())
			}
		}
		same := func(what string, i int, m llm.Message, a about) {
			t.Helper()
			if !reflect.DeepEqual(m, ms[i]) || !reflect.DeepEqual(a, as[i]) {
				t.Fatalf("seed %d, %s: message %d is %+v %+v, want %+v %+v", seed, what, i, m, a, ms[i], as[i])
			}
		}
		all, about := p.all()
		if len(all) != len(ms) || p.len() != len(ms) {
			t.Fatalf("%d messages, want %d", len(all), len(ms))
		}
		for i := range all {
			same("all", i, all[i], about[i])
		}
		for range 10 {
			i := rnd.IntN(len(ms))
			m, a := p.at(i)
			same("at", i, m, a)
			for m, a := range p.from(i) {
				same("from", i, m, a)
				i++
			}
			if i != len(ms) {
				t.Fatalf("from ended at %d", i)
			}
		}
		for k, c := range copies {
			if c.len() != 50*k+1 {
				t.Errorf("a copy has %d messages, want %d", c.len(), 50*k+1)
			}
			n := 0
			for m, a := range c.from(0) {
				same("copy", n, m, a)
				n++
			}
			if n != c.len() {
				t.Errorf("a copy yields %d messages, want %d", n, c.len())
			}
		}
	}
}
