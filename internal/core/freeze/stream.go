package freeze

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
	"unsafe"
)

// shared is the length from which a string that was written before is written as its
// number: writing a shorter one again is cheaper.
const shared = 32

// text is a string or a byte slice by its address.
type text struct {
	at *byte
	n  int
}

// pointer is the target of a pointer, with its type.
type pointer struct {
	to unsafe.Pointer
	of reflect.Type
}

// The ways to write a pointer.
const (
	isNil = iota
	isNew
	isAgain
	isKnown
)

type writer struct {
	c        *Codec
	buf      []byte
	err      error
	learn    bool
	texts    map[text]uint64
	pointers map[pointer]uint64
}

func (w *writer) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

func (w *writer) roots(roots []any) {
	w.texts, w.pointers = map[text]uint64{}, map[pointer]uint64{}
	for _, r := range roots {
		v := reflect.ValueOf(r)
		if v.Kind() != reflect.Pointer || v.IsNil() {
			w.fail("a root is a pointer, not a %T", r)
			return
		}
		w.pointers[pointer{v.UnsafePointer(), v.Type().Elem()}] = uint64(len(w.pointers))
	}
	for _, r := range roots {
		v := reflect.ValueOf(r)
		w.c.op(v.Type().Elem()).write(w, v.UnsafePointer())
	}
}

func (w *writer) uint(n uint64)  { w.buf = binary.AppendUvarint(w.buf, n) }
func (w *writer) int(n int64)    { w.buf = binary.AppendVarint(w.buf, n) }
func (w *writer) fixed(n uint64) { w.buf = binary.LittleEndian.AppendUint64(w.buf, n) }

// length writes the length of a list or map, and reports whether it is not nil.
func (w *writer) length(none bool, n int) bool {
	if none {
		w.uint(0)
		return false
	}
	w.uint(uint64(n) + 1)
	return true
}

func (w *writer) string(s string) {
	w.text(unsafe.StringData(s), len(s), 0)
}

func (w *writer) bytes(b []byte) {
	if b == nil {
		w.uint(0)
		return
	}
	w.text(unsafe.SliceData(b), len(b), 1)
}

// text writes the length, to which more is added, and the bytes of a string; for a
// string that was written before, only its number.
func (w *writer) text(at *byte, n int, more uint64) {
	if n >= shared {
		t := text{at, n}
		if i, ok := w.texts[t]; ok {
			w.uint(i<<1 | 1)
			return
		}
		w.texts[t] = uint64(len(w.texts))
	}
	w.uint((uint64(n) + more) << 1)
	w.buf = append(w.buf, unsafe.Slice(at, n)...)
}

// pointer writes a pointer, and reports whether the value behind it must follow.
func (w *writer) pointer(to unsafe.Pointer, of reflect.Type) bool {
	if to == nil {
		w.uint(isNil)
		return false
	}
	if i := slices.Index(w.c.known, to); i >= 0 {
		w.uint(isKnown)
		w.uint(uint64(i))
		return false
	}
	p := pointer{to, of}
	if i, ok := w.pointers[p]; ok {
		w.uint(isAgain)
		w.uint(i)
		return false
	}
	w.pointers[p] = uint64(len(w.pointers))
	w.uint(isNew)
	return true
}

type reader struct {
	c        *Codec
	buf      []byte
	at       int
	err      error
	texts    []string
	pointers []pointer
}

func (r *reader) fail(why string) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s at byte %d", ErrUnreadable, why, r.at)
	}
	r.at = len(r.buf) // everything that follows is empty
}

func (r *reader) uint() uint64 {
	n, size := binary.Uvarint(r.buf[r.at:])
	if size <= 0 {
		r.fail("no number")
		return 0
	}
	r.at += size
	return n
}

func (r *reader) int() int64 {
	n, size := binary.Varint(r.buf[r.at:])
	if size <= 0 {
		r.fail("no number")
		return 0
	}
	r.at += size
	return n
}

func (r *reader) fixed() uint64 {
	if len(r.buf)-r.at < 8 {
		r.fail("no number")
		return 0
	}
	r.at += 8
	return binary.LittleEndian.Uint64(r.buf[r.at-8:])
}

// length reads the length of a list; ok is false for a nil list. A list cannot be
// longer than the number of bytes left.
func (r *reader) length() (n int, ok bool) {
	switch n := r.uint(); {
	case n == 0:
		return 0, false
	case n-1 > uint64(len(r.buf)-r.at):
		r.fail("a list that is too long")
		return 0, false
	default:
		return int(n - 1), true
	}
}

func (r *reader) string() string { s, _ := r.text(0); return s }

func (r *reader) bytes() []byte {
	s, some := r.text(1)
	if !some {
		return nil
	}
	if len(s) == 0 {
		return []byte{}
	}
	// Nobody changes a content that was recorded: sharing it with a string is safe.
	return unsafe.Slice(unsafe.StringData(s), len(s))
}

// text returns a string; some is false if the length is below more, which means none.
func (r *reader) text(more uint64) (_ string, some bool) {
	n := r.uint()
	if n&1 == 1 {
		if n>>1 >= uint64(len(r.texts)) {
			r.fail("a text that did not come")
			return "", false
		}
		return r.texts[n>>1], true
	}
	n >>= 1
	if n < more {
		return "", false
	}
	n -= more
	if n > uint64(len(r.buf)-r.at) {
		r.fail("a text that is too long")
		return "", false
	}
	s := string(r.buf[r.at : r.at+int(n)])
	r.at += int(n)
	if n >= shared {
		r.texts = append(r.texts, s)
	}
	return s, true
}

// pointer reads a pointer; fresh reports whether the value behind it follows.
func (r *reader) pointer(of reflect.Type) (_ unsafe.Pointer, fresh bool) {
	switch r.uint() {
	case isNil:
		return nil, false
	case isKnown:
		if i := r.uint(); i < uint64(len(r.c.known)) {
			return r.c.known[i], false
		}
	case isAgain:
		if i := r.uint(); i < uint64(len(r.pointers)) && r.pointers[i].of == of {
			return r.pointers[i].to, false
		}
	case isNew:
		p := reflect.New(of).UnsafePointer()
		r.pointers = append(r.pointers, pointer{p, of})
		return p, true
	}
	r.fail("a pointer to nothing")
	return nil, false
}

// number returns the op of a number or a bool.
func number(t reflect.Type) op {
	switch t.Kind() {
	case reflect.Bool, reflect.Uint8:
		return op{
			func(w *writer, p unsafe.Pointer) { w.buf = append(w.buf, *(*byte)(p)) },
			func(r *reader, p unsafe.Pointer) {
				if r.at == len(r.buf) {
					r.fail("no byte")
					return
				}
				b := r.buf[r.at]
				if t.Kind() == reflect.Bool && b > 1 {
					r.fail("neither true nor false")
					return
				}
				*(*byte)(p) = b
				r.at++
			},
		}
	case reflect.Int:
		return op{
			func(w *writer, p unsafe.Pointer) { w.int(int64(*(*int)(p))) },
			func(r *reader, p unsafe.Pointer) { *(*int)(p) = int(r.int()) },
		}
	case reflect.Int64:
		return op{
			func(w *writer, p unsafe.Pointer) { w.int(*(*int64)(p)) },
			func(r *reader, p unsafe.Pointer) { *(*int64)(p) = r.int() },
		}
	case reflect.Uint64:
		return op{
			func(w *writer, p unsafe.Pointer) { w.fixed(*(*uint64)(p)) },
			func(r *reader, p unsafe.Pointer) { *(*uint64)(p) = r.fixed() },
		}
	}
	return op{
		func(w *writer, p unsafe.Pointer) {
			switch v := reflect.NewAt(t, p).Elem(); {
			case v.CanInt():
				w.int(v.Int())
			case v.CanUint():
				w.uint(v.Uint())
			default:
				w.fixed(math.Float64bits(v.Float()))
			}
		},
		func(r *reader, p unsafe.Pointer) {
			switch v := reflect.NewAt(t, p).Elem(); {
			case v.CanInt():
				v.SetInt(r.int())
			case v.CanUint():
				v.SetUint(r.uint())
			default:
				v.SetFloat(math.Float64frombits(r.fixed()))
			}
		},
	}
}
