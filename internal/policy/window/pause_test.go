package window

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// hourCodec can ask for a cache that lasts an hour.
type hourCodec struct {
	plainCodec
	long, can bool
}

func (h hourCodec) Long() (llm.Codec, bool) {
	h.long = h.can
	return h, h.can
}

func (h hourCodec) Head(head llm.Head) ([]byte, error) {
	b, err := h.plainCodec.Head(head)
	if h.long {
		b = append([]byte("HOUR"), b...)
	}
	return b, err
}

// SPEC 9.4, 20.1: after a pause that the usual cache does not outlive and a long one does, the
// long one is asked for, to the session's end and by who resumes it.
func TestPauses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pauses []time.Duration // before each prompt but the first one
		can    bool
		want   string // of each request
	}{
		"none":             {[]time.Duration{time.Minute, 4 * time.Minute}, true, "sss"},
		"one":              {[]time.Duration{time.Minute, 20 * time.Minute, time.Minute}, true, "ssll"},
		"at the limit":     {[]time.Duration{5*time.Minute - time.Second}, true, "ss"},
		"too long":         {[]time.Duration{3 * time.Hour, time.Minute}, true, "sss"},
		"too long, then":   {[]time.Duration{3 * time.Hour, 6 * time.Minute}, true, "ssl"},
		"not known there":  {[]time.Duration{20 * time.Minute}, false, "ss"},
		"again and longer": {[]time.Duration{6 * time.Minute, 24 * time.Hour}, true, "sll"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var conv Conversation
			codec := hourCodec{can: c.can}
			b := NewBuilder(&conv, codec)
			at := time.Unix(1e9, 0)
			got := ""
			feed(&conv, &at, small(100_000))
			for i := range len(c.pauses) + 1 {
				if i > 0 {
					at = at.Add(c.pauses[i-1] - time.Second)
				}
				feed(&conv, &at, event.Prompted{Source: event.Person, Text: "go"})
				r := must.Get(b.Request(llm.Tail{}))(t)
				whole := bytes.Join(r.Body, nil)
				again, err := NewBuilder(&conv, codec).Request(llm.Tail{})
				if err != nil || !bytes.Equal(bytes.Join(again.Body, nil), whole) {
					t.Errorf("request %d, resumed: %v", i, err)
				}
				if b.Long() != strings.HasPrefix(string(whole), "HOUR") {
					t.Errorf("request %d: it says %t", i, b.Long())
				}
				got += map[bool]string{true: "l", false: "s"}[b.Long()]
				feed(&conv, &at, event.Requested{}, event.Replied{Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.TextPart("done")}}}})
				at = at.Add(-2 * time.Second) // the pauses are those between requests
			}
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
