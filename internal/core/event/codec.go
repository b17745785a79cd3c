package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
)

// sample lists one value of every stored body, which is all that encoding
// needs to know of it; the ephemeral ones are here for the live stream.
var sample = []Body{
	Opened{},
	Resumed{},
	Rebased{},
	Prompted{},
	Noted{},
	Requested{},
	Retried{},
	Replied{},
	CallAsked{},
	CallStarted{},
	CallDone{},
	FileSeen{},
	FileChanged{},
	Undone{},
	Asked{},
	Answered{},
	Granted{},
	Blocked{},
	ModeSet{},
	Planned{},
	Remembered{},
	PersonRan{},
	Interrupted{},
	Stuck{},
	Ended{},
	Ticked{},
	Compacted{},
	Warned{},
	Extended{},
	Charged{},
	Aside{},
	Writing{},
	Redone{},
	Checking{},
	Checked{},
	Phased{},
	Routed{},
	Cleaned{},
	Recalled{},
	Forgotten{},
	Progressed{},
	TextDelta{},
	ReasoningDelta{},
	CallDelta{},
	Waiting{},
	OutputDelta{},
}

var types = func() map[string]reflect.Type {
	m := make(map[string]reflect.Type, len(sample))
	for _, b := range sample {
		m[b.Kind()] = reflect.TypeOf(b)
	}
	return m
}()

// Kinds lists the kinds of all bodies that this pawl knows.
func Kinds() []string {
	out := make([]string, len(sample))
	for i, b := range sample {
		out[i] = b.Kind()
	}
	return out
}

// New gives an empty body of a kind, nil for an unknown one.
func New(kind string) Body {
	if t, ok := types[kind]; ok {
		return reflect.Zero(t).Interface().(Body)
	}
	return nil
}

// Encode gives a body's JSON. An Unknown gives back what was read.
func Encode(b Body) ([]byte, error) {
	if u, ok := b.(Unknown); ok {
		return u.Raw, nil
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(b); err != nil {
		return nil, fmt.Errorf("encode %s: %w", b.Kind(), err)
	}
	return bytes.TrimRight(out.Bytes(), "\n"), nil
}

// Decode reads a body. A kind or a version that is not known gives Unknown and
// no error; JSON that does not fit a known body is an error.
func Decode(kind string, version int, raw []byte) (Body, error) {
	t, ok := types[kind]
	if !ok || reflect.Zero(t).Interface().(Body).Version() < version {
		return Unknown{Name: kind, V: version, Raw: bytes.Clone(raw)}, nil
	}
	p := reflect.New(t)
	if err := json.Unmarshal(raw, p.Interface()); err != nil {
		return nil, fmt.Errorf("decode %s: %w", kind, err)
	}
	return Completed(p.Elem().Interface().(Body)), nil
}
