// Package lax reads JSON that nearly has the expected shape, and the error bodies of
// servers that roughly follow OpenAI. The wire APIs choose the fields; lax makes sure
// that one field of the wrong type does not invalidate the rest. It returns no error for
// a value, only for text that is not JSON.
package lax

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/core/fault"
)

// Text is a string from any JSON value: "" for null and a missing value, the JSON itself
// for any other value.
type Text string

// UnmarshalJSON takes any JSON value.
func (t *Text) UnmarshalJSON(data []byte) error {
	var s string
	switch {
	case len(data) == 0, string(data) == "null":
		*t = ""
	case json.Unmarshal(data, &s) == nil:
		*t = Text(s)
	default:
		*t = Text(data)
	}
	return nil
}

// Int is a whole number, also from a fraction or a string. Anything else, and numbers
// that cannot be token counts, become 0.
type Int int64

// UnmarshalJSON takes any JSON value.
func (n *Int) UnmarshalJSON(data []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(data), `"`), 64)
	if err != nil || math.IsNaN(f) || f < 0 || f > 1e15 {
		f = 0
	}
	*n = Int(f)
	return nil
}

// Index is a whole number that may be absent.
type Index struct {
	N  int
	OK bool
}

// UnmarshalJSON takes any JSON value.
func (x *Index) UnmarshalJSON(data []byte) error {
	n, err := strconv.Atoi(strings.Trim(string(data), `"`))
	*x = Index{N: n, OK: err == nil}
	return nil
}

// Float is a number that may be absent or of another type, such as an object.
type Float struct {
	F  float64
	OK bool
}

// UnmarshalJSON takes any JSON value.
func (x *Float) UnmarshalJSON(data []byte) error {
	f, err := strconv.ParseFloat(string(data), 64)
	ok := err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
	if !ok {
		f = 0
	}
	*x = Float{F: f, OK: ok}
	return nil
}

// List is an array of T. A single T becomes an array of one; elements of another shape,
// and anything else, are omitted.
type List[T any] []T

// UnmarshalJSON takes any JSON value.
func (l *List[T]) UnmarshalJSON(data []byte) error {
	*l = nil
	raws := []json.RawMessage{data}
	if bytes.HasPrefix(data, []byte("[")) {
		raws = nil
		if err := json.Unmarshal(data, &raws); err != nil {
			return err
		}
	}
	for _, raw := range raws {
		var v T
		if string(raw) != "null" && json.Unmarshal(raw, &v) == nil {
			*l = append(*l, v)
		}
	}
	return nil
}

// Obj is a T if an object was sent; otherwise the zero T.
type Obj[T any] struct{ V T }

// UnmarshalJSON takes any JSON value.
func (o *Obj[T]) UnmarshalJSON(data []byte) error {
	var v T
	if !bytes.HasPrefix(data, []byte("{")) || json.Unmarshal(data, &v) != nil {
		v = *new(T)
	}
	o.V = v
	return nil
}

// Present reports whether a value was sent and is not null.
func Present(raw json.RawMessage) bool {
	return len(raw) > 0 && string(raw) != "null"
}

// AppendString appends s as a JSON string and returns the result. Bytes that are not
// UTF-8 become U+FFFD; only what JSON requires is escaped.
func AppendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, s[from:i]...), "\uFFFD"...)
				from = i + 1
			}
			i += size
			continue
		}
		if c >= 0x20 && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[from:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}

// errorBody has every field in which servers explain an error.
type errorBody struct {
	Error   json.RawMessage `json:"error"`
	Message Text            `json:"message"`
	Detail  json.RawMessage `json:"detail"`
	Type    Text            `json:"type"`
	Code    Text            `json:"code"`
	Status  Text            `json:"status"`
}

type errorObject struct {
	Message    Text `json:"message"`
	Type       Text `json:"type"`
	Code       Text `json:"code"`
	Status     Text `json:"status"`
	StatusCode Text `json:"status_code"`
	Metadata   Obj[struct {
		Raw Text `json:"raw"`
	}] `json:"metadata"`
}

// Fail returns the error of a server that roughly follows OpenAI's error bodies:
// {"error":{…}}, {"error":"…"}, {"detail":…}, {"message":…}, or an array around any of
// them.
func Fail(name string, status int, h http.Header, body []byte) *fault.Error {
	said, named := Said(body)
	if status == http.StatusOK && named != 0 {
		status = named
	}
	f := provider.Fail(name, status, h, body, said)
	if said.Code == "tool_use_failed" { // groq: this call of the model was invalid; the next may be valid
		f.Retryable = true
	}
	return f
}

// Said returns the content of an error body, empty if the body is not JSON. status is the
// status in the body, or 0.
func Said(body []byte) (said provider.Said, status int) {
	body = bytes.TrimSpace(body)
	var many []json.RawMessage
	if bytes.HasPrefix(body, []byte("[")) && json.Unmarshal(body, &many) == nil && len(many) > 0 {
		body = many[0]
	}
	var b errorBody
	if json.Unmarshal(body, &b) != nil {
		return said, 0
	}
	said = provider.Said{Type: string(b.Type), Code: string(b.Code), Message: string(b.Message)}
	status = firstStatus(b.Code, b.Status)
	switch {
	case bytes.HasPrefix(b.Error, []byte("{")):
		var e errorObject
		if json.Unmarshal(b.Error, &e) != nil {
			break
		}
		said = provider.Said{Type: string(e.Type), Code: string(e.Code), Message: string(e.Message)}
		if raw := string(e.Metadata.V.Raw); raw != "" && raw != said.Message { // a router quotes the host that it used
			said.Message = strings.TrimPrefix(said.Message+": "+raw, ": ")
		}
		status = firstStatus(e.Code, e.StatusCode, e.Status)
	case Present(b.Error):
		var s Text
		if json.Unmarshal(b.Error, &s) == nil && s != "" {
			said.Message = string(s)
		}
	case Present(b.Detail):
		said.Message = detail(b.Detail)
	}
	return said, status
}

// firstStatus returns the first word that is an HTTP status of a failure, or 0.
func firstStatus(words ...Text) int {
	for _, w := range words {
		if n, err := strconv.Atoi(string(w)); err == nil && n >= 400 && n < 600 {
			return n
		}
	}
	return 0
}

// detail returns FastAPI's explanation: a sentence, or a list of complaints.
func detail(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var list []struct {
		Loc List[Text] `json:"loc"`
		Msg Text       `json:"msg"`
	}
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return string(raw)
	}
	said := make([]string, 0, len(list))
	for _, e := range list {
		where := make([]string, 0, len(e.Loc))
		for _, l := range e.Loc {
			where = append(where, string(l))
		}
		said = append(said, strings.Trim(strings.Join(where, ".")+": "+string(e.Msg), ": "))
	}
	return strings.Join(said, "; ")
}
