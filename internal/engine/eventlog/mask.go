package eventlog

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// This file masks bodies. Every string of every body is looked at, found by its
// type and not by its name: who adds a field or a kind of event has nothing to
// remember. Bodies are values that others hold as well, so what changes is
// copied first. Bytes (images) and hashes are left alone, and so is what a
// provider signed or encrypted.

func maskBody(m *secrets.Masker, b event.Body) event.Body {
	if m == nil || b == nil {
		return b
	}
	v := reflect.ValueOf(b)
	if out, changed := maskingOf(v.Type())(m, v); changed {
		return out.Interface().(event.Body)
	}
	return b
}

// masking masks a value of one type. changed is false where it came back as it is.
type masking func(m *secrets.Masker, v reflect.Value) (out reflect.Value, changed bool)

var maskings sync.Map // by reflect.Type

func keep(_ *secrets.Masker, v reflect.Value) (reflect.Value, bool) { return v, false }

// maskingOf returns the masking of a type, never nil.
func maskingOf(t reflect.Type) masking {
	if p, ok := maskings.Load(t); ok {
		return p.(masking)
	}
	p := compile(t)
	if p == nil {
		p = keep
	}
	maskings.Store(t, p)
	return p
}

// compile makes the masking of a type, nil for one that holds no text. Types must not
// be recursive; a test checks that the bodies of events are not.
func compile(t reflect.Type) masking {
	switch t { // types that are not masked by their reflect.Kind
	case reflect.TypeFor[time.Time](), reflect.TypeFor[tool.Hash]():
		return nil
	case reflect.TypeFor[json.RawMessage]():
		return maskRaw
	case reflect.TypeFor[llm.Part]():
		return maskPart(maskStruct(t, "Raw"))
	}
	switch t.Kind() {
	case reflect.String:
		return maskString
	case reflect.Pointer:
		if p := compile(t.Elem()); p != nil {
			return maskPointer(p)
		}
	case reflect.Slice:
		if p := compile(t.Elem()); p != nil {
			return maskSlice(p)
		}
	case reflect.Map:
		if p := compile(t.Elem()); p != nil {
			return maskMap(p)
		}
	case reflect.Interface:
		return func(m *secrets.Masker, v reflect.Value) (reflect.Value, bool) {
			if v.IsNil() {
				return v, false
			}
			return maskingOf(v.Elem().Type())(m, v.Elem())
		}
	case reflect.Struct:
		return maskStruct(t, "")
	}
	return nil
}

func maskString(m *secrets.Masker, v reflect.Value) (reflect.Value, bool) {
	s, n := m.Mask(v.String())
	if n == 0 {
		return v, false
	}
	return reflect.ValueOf(s).Convert(v.Type()), true
}

func maskPointer(of masking) masking {
	return func(m *secrets.Masker, v reflect.Value) (reflect.Value, bool) {
		if v.IsNil() {
			return v, false
		}
		e, changed := of(m, v.Elem())
		if !changed {
			return v, false
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(e)
		return out, true
	}
}

func maskSlice(of masking) masking {
	return func(m *secrets.Masker, v reflect.Value) (out reflect.Value, changed bool) {
		out = v
		for i := range v.Len() {
			e, ok := of(m, v.Index(i))
			if !ok {
				continue
			}
			if !changed {
				out = reflect.MakeSlice(v.Type(), v.Len(), v.Len())
				reflect.Copy(out, v)
				changed = true
			}
			out.Index(i).Set(e)
		}
		return out, changed
	}
}

func maskMap(of masking) masking {
	return func(m *secrets.Masker, v reflect.Value) (out reflect.Value, changed bool) {
		out = v
		for it := v.MapRange(); it.Next(); {
			e, ok := of(m, it.Value())
			if !ok {
				continue
			}
			if !changed {
				out = reflect.MakeMapWithSize(v.Type(), v.Len())
				for all := v.MapRange(); all.Next(); {
					out.SetMapIndex(all.Key(), all.Value())
				}
				changed = true
			}
			out.SetMapIndex(it.Key(), e)
		}
		return out, changed
	}
}

// unrestorable is a body that means something else once its text is masked.
type unrestorable interface{ Unrestorable() any }

func maskStruct(t reflect.Type, but string) masking {
	type field struct {
		i  int
		of masking
	}
	var fields []field
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() && f.Name != but {
			if p := compile(f.Type); p != nil {
				fields = append(fields, field{i, p})
			}
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return func(m *secrets.Masker, v reflect.Value) (out reflect.Value, changed bool) {
		out = v
		for _, f := range fields {
			e, ok := f.of(m, v.Field(f.i))
			if !ok {
				continue
			}
			if !changed {
				out = reflect.New(t).Elem()
				out.Set(v)
				changed = true
			}
			out.Field(f.i).Set(e)
		}
		if changed {
			if u, ok := out.Interface().(unrestorable); ok {
				out = reflect.ValueOf(u.Unrestorable())
			}
		}
		return out, changed
	}
}

func maskRaw(m *secrets.Masker, v reflect.Value) (reflect.Value, bool) {
	raw, changed := maskJSON(m, v.Bytes(), nil)
	if !changed {
		return v, false
	}
	return reflect.ValueOf(json.RawMessage(raw)), true
}

// maskPart masks a part of a message. Where a provider signed the text that
// would be masked, the signed form goes: sent back in another form it would be
// refused, and without it the part is as one of another provider.
func maskPart(rest masking) masking {
	return func(m *secrets.Masker, v reflect.Value) (reflect.Value, bool) {
		out, changed := rest(m, v)
		p := out.Interface().(llm.Part)
		signed := false
		raw, ok := maskJSON(m, p.Raw, func(name string) bool {
			s := sealed(name)
			signed = signed || s
			return s
		})
		if !ok {
			return out, changed
		}
		if p.Raw = raw; signed {
			p.Wire, p.Raw = "", nil
		}
		return reflect.ValueOf(p), true
	}
}

// sealed reports whether a member of what a provider wants back as it came
// holds bytes that only the provider can read.
func sealed(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "signature") || strings.Contains(name, "encrypted") || name == "data"
}

// maskJSON masks every string of a JSON text, names and values, and leaves
// every other byte as it is. A value is looked at together with its name, as in
// `name = value`. skip, if set, names the members whose strings stay.
func maskJSON(m *secrets.Masker, raw []byte, skip func(name string) bool) (out []byte, changed bool) {
	name := "" // of the member whose value comes next
	from := 0  // what is before was copied to out
	for i := 0; i < len(raw); {
		if raw[i] != '"' {
			if raw[i] == ',' || raw[i] == '{' || raw[i] == '}' {
				name = ""
			}
			i++
			continue
		}
		end := stringEnd(raw, i)
		isName := namesMember(raw[end:])
		text, ok := literal(raw[i:end])
		masked := text
		if isName || skip == nil || !skip(name) {
			masked = m.String(text)
			if !isName && name != "" && masked == text {
				masked = m.Named(name, text)
			}
		}
		if masked != text {
			lit := []byte(masked)
			if ok {
				lit = quoted(masked)
			}
			out = append(append(out, raw[from:i]...), lit...)
			from, changed = end, true
		}
		if isName {
			name = text
		}
		i = end
	}
	if !changed {
		return raw, false
	}
	return append(out, raw[from:]...), true
}

// literal returns the value of a string literal; an invalid one is returned as
// it is.
func literal(lit []byte) (text string, ok bool) {
	if n := len(lit) - 1; n > 0 && lit[n] == '"' && bytes.IndexByte(lit, '\\') < 0 {
		return string(lit[1:n]), true
	}
	if json.Unmarshal(lit, &text) != nil {
		return string(lit), false
	}
	return text, true
}

// stringEnd is where the string literal ends that begins at i.
func stringEnd(raw []byte, i int) int {
	for i++; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}

// namesMember reports whether what comes after a string makes it a name.
func namesMember(rest []byte) bool {
	rest = bytes.TrimLeft(rest[:min(len(rest), 8)], " \t\r\n")
	return len(rest) > 0 && rest[0] == ':'
}

func quoted(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	return bytes.TrimRight(b.Bytes(), "\n")
}
