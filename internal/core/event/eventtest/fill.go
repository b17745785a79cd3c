// Package eventtest fills events for tests of what must hold for every string of every
// event, also of those that are added later.
package eventtest

import (
	"encoding/json"
	"reflect"
	"slices"
	"time"
)

// Fill sets every string that v can hold, however deep, to text, and every JSON value to
// raw. Slices get two elements, maps one. Times and values of the types in leave stay as
// they are.
func Fill(v reflect.Value, text string, raw json.RawMessage, leave ...reflect.Type) {
	switch t := v.Type(); {
	case t == reflect.TypeFor[json.RawMessage]():
		v.SetBytes(raw)
		return
	case t == reflect.TypeFor[time.Time](), slices.Contains(leave, t):
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		Fill(v.Elem(), text, raw, leave...)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			Fill(v.Index(i), text, raw, leave...)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		e := reflect.New(v.Type().Elem()).Elem()
		Fill(e, text, raw, leave...)
		v.SetMapIndex(reflect.ValueOf("k").Convert(v.Type().Key()), e)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				Fill(v.Field(i), text, raw, leave...)
			}
		}
	}
}
