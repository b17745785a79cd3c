package freeze

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"
)

// op writes and reads the values of one type.
type op struct {
	write func(w *writer, p unsafe.Pointer)
	read  func(r *reader, p unsafe.Pointer)
}

func (c *Codec) op(t reflect.Type) *op {
	if o := c.ops[t]; o != nil {
		return o
	}
	o := &op{}
	c.ops[t] = o // before it is made: types may contain themselves
	*o = c.make(t)
	return o
}

var (
	timeType = reflect.TypeFor[time.Time]()
	builder  = reflect.TypeFor[strings.Builder]()
	locks    = []reflect.Type{reflect.TypeFor[sync.Mutex](), reflect.TypeFor[sync.RWMutex](), reflect.TypeFor[sync.Once]()}
)

func (c *Codec) make(t reflect.Type) op {
	switch {
	case t == timeType:
		return op{writeTime, readTime}
	case t == builder:
		return op{writeBuilder, func(*reader, unsafe.Pointer) {}}
	case slices.Contains(locks, t):
		return op{func(*writer, unsafe.Pointer) {}, func(*reader, unsafe.Pointer) {}}
	}
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		return number(t)
	case reflect.String:
		return op{
			func(w *writer, p unsafe.Pointer) { w.string(*(*string)(p)) },
			func(r *reader, p unsafe.Pointer) { *(*string)(p) = r.string() },
		}
	case reflect.Struct:
		return c.structOf(t)
	case reflect.Slice:
		return c.sliceOf(t)
	case reflect.Array:
		return c.arrayOf(t)
	case reflect.Map:
		return c.mapOf(t)
	case reflect.Pointer:
		return c.pointerTo(t)
	case reflect.Interface:
		return c.interfaceOf(t)
	}
	return op{
		func(w *writer, p unsafe.Pointer) {
			if !reflect.NewAt(t, p).Elem().IsZero() {
				w.fail("a value of type %s cannot be written", t)
			}
		},
		func(_ *reader, p unsafe.Pointer) { reflect.NewAt(t, p).Elem().SetZero() },
	}
}

// writeBuilder refuses a builder that was written to: it knows its own address, and
// panics at another one.
func writeBuilder(w *writer, p unsafe.Pointer) {
	if (*strings.Builder)(p).Cap() > 0 {
		w.fail("a strings.Builder cannot be written")
	}
}

func writeTime(w *writer, p unsafe.Pointer) {
	t := *(*time.Time)(p)
	if t != t.Round(0).UTC() {
		w.fail("a time that is not in UTC, or has a monotonic part")
		return
	}
	w.int(t.Unix())
	w.int(int64(t.Nanosecond()))
}

func readTime(r *reader, p unsafe.Pointer) {
	s := r.int()
	*(*time.Time)(p) = time.Unix(s, r.int()).UTC()
}

func (c *Codec) structOf(t reflect.Type) op {
	type field struct {
		at uintptr
		op *op
	}
	var fields []field
	for f := range t.Fields() {
		if f.Tag.Get("freeze") != "-" {
			fields = append(fields, field{f.Offset, c.op(f.Type)})
		}
	}
	return op{
		func(w *writer, p unsafe.Pointer) {
			for _, f := range fields {
				f.op.write(w, unsafe.Add(p, f.at))
			}
		},
		func(r *reader, p unsafe.Pointer) {
			for _, f := range fields {
				f.op.read(r, unsafe.Add(p, f.at))
			}
		},
	}
}

func (c *Codec) arrayOf(t reflect.Type) op {
	n, elem, size := t.Len(), c.op(t.Elem()), t.Elem().Size()
	return op{
		func(w *writer, p unsafe.Pointer) {
			for i := range n {
				elem.write(w, unsafe.Add(p, uintptr(i)*size))
			}
		},
		func(r *reader, p unsafe.Pointer) {
			for i := range n {
				elem.read(r, unsafe.Add(p, uintptr(i)*size))
			}
		},
	}
}

func (c *Codec) sliceOf(t reflect.Type) op {
	if t.Elem().Kind() == reflect.Uint8 {
		return op{
			func(w *writer, p unsafe.Pointer) { w.bytes(*(*[]byte)(p)) },
			func(r *reader, p unsafe.Pointer) { *(*[]byte)(p) = r.bytes() },
		}
	}
	elem, size := c.op(t.Elem()), t.Elem().Size()
	return op{
		func(w *writer, p unsafe.Pointer) {
			v := reflect.NewAt(t, p).Elem()
			if !w.length(v.IsNil(), v.Len()) {
				return
			}
			first := v.UnsafePointer()
			for i := range v.Len() {
				elem.write(w, unsafe.Add(first, uintptr(i)*size))
			}
		},
		func(r *reader, p unsafe.Pointer) {
			v := reflect.NewAt(t, p).Elem()
			n, ok := r.length()
			if !ok {
				v.SetZero()
				return
			}
			v.Set(reflect.MakeSlice(t, n, n))
			first := v.UnsafePointer()
			for i := range n {
				elem.read(r, unsafe.Add(first, uintptr(i)*size))
			}
		},
	}
}

func (c *Codec) pointerTo(t reflect.Type) op {
	var elem *op // of what may contain this pointer again: found when it is used
	of := func() *op {
		if elem == nil {
			elem = c.op(t.Elem())
		}
		return elem
	}
	return op{
		func(w *writer, p unsafe.Pointer) {
			q := *(*unsafe.Pointer)(p)
			if w.pointer(q, t.Elem()) {
				of().write(w, q)
			}
		},
		func(r *reader, p unsafe.Pointer) {
			q, fresh := r.pointer(t.Elem())
			*(*unsafe.Pointer)(p) = q
			if fresh {
				of().read(r, q)
			}
		},
	}
}

func (c *Codec) interfaceOf(t reflect.Type) op {
	return op{
		func(w *writer, p unsafe.Pointer) {
			v := reflect.NewAt(t, p).Elem()
			if v.IsNil() {
				w.uint(0)
				return
			}
			v = v.Elem()
			i := slices.Index(c.types, v.Type())
			if i < 0 && w.learn {
				i = len(c.types)
				c.types = append(c.types, v.Type())
			}
			if i < 0 {
				w.fail("a %s in a %s cannot be written", v.Type(), t)
				return
			}
			w.uint(uint64(i) + 1)
			held := reflect.New(v.Type())
			held.Elem().Set(v)
			c.op(v.Type()).write(w, held.UnsafePointer())
		},
		func(r *reader, p unsafe.Pointer) {
			v := reflect.NewAt(t, p).Elem()
			i := r.uint()
			switch {
			case i == 0:
				v.SetZero()
			case i > uint64(len(c.types)) || !c.types[i-1].AssignableTo(t):
				r.fail("a type that is not known")
			default:
				held := reflect.New(c.types[i-1])
				c.op(c.types[i-1]).read(r, held.UnsafePointer())
				v.Set(held.Elem())
			}
		},
	}
}

func (c *Codec) mapOf(t reflect.Type) op {
	switch t {
	case reflect.TypeFor[map[uint64]int]():
		return plainMap[int](c)
	case reflect.TypeFor[map[uint64]uint64]():
		return plainMap[uint64](c)
	case reflect.TypeFor[map[uint64]struct{}]():
		return plainMap[struct{}](c)
	}
	key, elem := c.op(t.Key()), c.op(t.Elem())
	return op{
		func(w *writer, p unsafe.Pointer) {
			v := reflect.NewAt(t, p).Elem()
			if !w.length(v.IsNil(), v.Len()) {
				return
			}
			keys := v.MapKeys()
			slices.SortFunc(keys, compare)
			k, e := reflect.New(t.Key()), reflect.New(t.Elem())
			for _, x := range keys {
				k.Elem().Set(x)
				e.Elem().Set(v.MapIndex(x))
				key.write(w, k.UnsafePointer())
				elem.write(w, e.UnsafePointer())
			}
		},
		func(r *reader, p unsafe.Pointer) {
			v := reflect.NewAt(t, p).Elem()
			n, ok := r.length()
			if !ok {
				v.SetZero()
				return
			}
			v.Set(reflect.MakeMapWithSize(t, n))
			k, e := reflect.New(t.Key()), reflect.New(t.Elem())
			for range n {
				k.Elem().SetZero()
				e.Elem().SetZero()
				key.read(r, k.UnsafePointer())
				elem.read(r, e.UnsafePointer())
				if r.err != nil {
					return
				}
				v.SetMapIndex(k.Elem(), e.Elem())
			}
		},
	}
}

// plainMap is a fast path for maps with uint64 keys, of which folds have many large ones.
func plainMap[V any](c *Codec) op {
	elem := c.op(reflect.TypeFor[V]())
	return op{
		func(w *writer, p unsafe.Pointer) {
			m := *(*map[uint64]V)(p)
			if !w.length(m == nil, len(m)) {
				return
			}
			keys := make([]uint64, 0, len(m))
			for k := range m {
				keys = append(keys, k)
			}
			slices.Sort(keys)
			for _, k := range keys {
				w.fixed(k)
				v := m[k]
				elem.write(w, unsafe.Pointer(&v))
			}
		},
		func(r *reader, p unsafe.Pointer) {
			n, ok := r.length()
			if !ok {
				*(*map[uint64]V)(p) = nil
				return
			}
			m := make(map[uint64]V, n)
			var v V
			for range n {
				k := r.fixed()
				elem.read(r, unsafe.Pointer(&v))
				m[k] = v
			}
			*(*map[uint64]V)(p) = m
		},
	}
}

// compare orders the keys of a map, so that equal maps are equal bytes.
func compare(a, b reflect.Value) int {
	switch {
	case a.Kind() == reflect.String:
		return strings.Compare(a.String(), b.String())
	case a.CanInt():
		return cmp.Compare(a.Int(), b.Int())
	case a.CanUint():
		return cmp.Compare(a.Uint(), b.Uint())
	case a.Kind() == reflect.Struct:
		for i := range a.NumField() {
			if n := compare(a.Field(i), b.Field(i)); n != 0 {
				return n
			}
		}
	case a.Kind() == reflect.Bool:
		return cmp.Compare(fromBool(a.Bool()), fromBool(b.Bool()))
	}
	return 0
}

func fromBool(b bool) int {
	if b {
		return 1
	}
	return 0
}
