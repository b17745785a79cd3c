// Package freeze writes the state of folds as bytes and reads it back.
//
// It promises that nothing is left out: every field of every value that can be
// reached from the roots is written, exported or not. A value that cannot be
// written (a function, a channel, a strings.Builder with a text, a value of an
// unknown type behind an interface) is an error. Only locks and fields with the
// tag `freeze:"-"` are skipped. Strings, contents and pointers that two values
// share are shared again after reading. Reading changes the roots only after
// everything was read, so an error leaves them unchanged.
//
// Only the program that wrote the bytes can read them: they have no version, and
// the caller must compare Shape first.
package freeze

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"unsafe"
)

// ErrUnreadable means that bytes are not what Append made of such roots.
var ErrUnreadable = errors.New("not the state of these values")

// Codec writes and reads values of some roots. It is not safe for concurrent use.
type Codec struct {
	ops   map[reflect.Type]*op
	types []reflect.Type // that may be behind an interface
	known []unsafe.Pointer
	shape [sha256.Size]byte
}

// New returns a codec for roots: pointers to values that no event was folded into
// yet. known are pointers to values that are not written, such as tables of the
// program: a pointer to one of them is read as a pointer to the same value. A nil
// pointer in known names a type that an interface may hold, in addition to the types
// that the roots' interfaces hold now.
func New(roots []any, known ...any) (*Codec, error) {
	c := &Codec{ops: map[reflect.Type]*op{}}
	for _, k := range known {
		if v := reflect.ValueOf(k); v.IsNil() {
			c.types = append(c.types, v.Type())
		} else {
			c.known = append(c.known, v.UnsafePointer())
		}
	}
	w := &writer{c: c, learn: true}
	w.roots(roots)
	if w.err != nil {
		return nil, w.err
	}
	h := sha256.New()
	h.Write(w.buf)
	seen := map[reflect.Type]bool{}
	for _, r := range roots {
		describe(h, reflect.TypeOf(r), seen)
	}
	for _, t := range c.types {
		describe(h, t, seen)
	}
	h.Sum(c.shape[:0])
	return c, nil
}

// Shape is a fingerprint of the types and of the values that the roots had when
// New got them: their configuration. State is read only into roots of the same shape.
func (c *Codec) Shape() [sha256.Size]byte { return c.shape }

// Append appends the state of roots, which are of the types that New got.
func (c *Codec) Append(dst []byte, roots []any) ([]byte, error) {
	w := &writer{c: c, buf: dst}
	w.roots(roots)
	return w.buf, w.err
}

// Read sets roots to the state that was written.
func (c *Codec) Read(data []byte, roots []any) error {
	r := &reader{c: c, buf: data}
	drafts := make([]reflect.Value, len(roots))
	for i, root := range roots {
		v := reflect.ValueOf(root)
		drafts[i] = reflect.New(v.Type().Elem())
		copyMemory(drafts[i].UnsafePointer(), v.UnsafePointer(), v.Type().Elem())
		r.pointers = append(r.pointers, pointer{v.UnsafePointer(), v.Type().Elem()})
	}
	for i, root := range roots {
		c.op(reflect.TypeOf(root).Elem()).read(r, drafts[i].UnsafePointer())
	}
	if r.err == nil && r.at != len(r.buf) {
		r.fail("bytes are left")
	}
	if r.err != nil {
		return r.err
	}
	for i, root := range roots {
		reflect.ValueOf(root).Elem().Set(drafts[i].Elem())
	}
	return nil
}

// copyMemory copies a value, also its locks and the fields with the tag.
func copyMemory(to, from unsafe.Pointer, t reflect.Type) {
	reflect.NewAt(t, to).Elem().Set(reflect.NewAt(t, from).Elem())
}

// describe writes what a type is made of.
func describe(out interface{ Write([]byte) (int, error) }, t reflect.Type, seen map[reflect.Type]bool) {
	fmt.Fprintf(out, "%s %s %s %d\n", t.PkgPath(), t.String(), t.Kind(), t.Size())
	if seen[t] {
		return
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			fmt.Fprintf(out, ".%s %s", f.Name, f.Tag)
			describe(out, f.Type, seen)
		}
	case reflect.Map:
		describe(out, t.Key(), seen)
		describe(out, t.Elem(), seen)
	case reflect.Pointer, reflect.Slice, reflect.Array:
		describe(out, t.Elem(), seen)
	}
}
