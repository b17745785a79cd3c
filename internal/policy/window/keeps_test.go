package window

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 9.6, 19.3: what a compaction replaced is kept by nothing. Of images only the first
// prompt's stay, which every plan shows again.
func TestKeepsNoCompactedImages(t *testing.T) {
	image := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, 4<<10) }
	picture := func(data []byte) llm.Media { return llm.Media{Type: "image/png", Data: data} }
	for _, c := range []struct {
		name  string
		first bool // the first image stays
		turn  func(id string, data []byte) []event.Body
	}{
		{"of prompts", true, func(_ string, data []byte) []event.Body {
			return []event.Body{event.Prompted{Source: event.Person, Text: "look", Images: []llm.Media{picture(data)}}}
		}},
		{"of prompts that pawl wrote", true, func(_ string, data []byte) []event.Body {
			return []event.Body{event.Prompted{Source: event.Autofix, Text: "look", Images: []llm.Media{picture(data)}}}
		}},
		{"of results", false, func(id string, data []byte) []event.Body {
			d := gives(id, "read", "a picture")
			d.Result.Images = []llm.Media{picture(data)}
			return []event.Body{event.Prompted{Source: event.Person, Text: "look"}, event.Requested{}, asks(id, "read", `{}`), d}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var conv Conversation
			b := NewBuilder(&conv, plainCodec{})
			at := time.Unix(0, 0)
			feed(&conv, &at, small(100_000))
			const turns = 30
			var held []weak.Pointer[byte]
			for i := range turns {
				data := image(i)
				held = append(held, weak.Make(&data[0]))
				feed(&conv, &at, c.turn(fmt.Sprint("c", i), data)...)
				must.Done(t)(b.Request(llm.Tail{}))
				feed(&conv, &at, event.Requested{}, event.Replied{Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.TextPart("seen")}}}})
			}
			older := conv.past.len()
			feed(&conv, &at, event.Compacted{Why: event.CompactedFull, Older: older, Start: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.TextPart("what was")}}}})
			runtime.GC()
			for i, p := range held {
				if want := c.first && i == 0; (p.Value() != nil) != want {
					t.Errorf("image %d of %d is kept: %v, want %v", i, turns, !want, want)
				}
			}
			runtime.KeepAlive(b)
			runtime.KeepAlive(&conv)
		})
	}
}

// SPEC 19.3: what is kept of a short message is little more than its text.
func TestKeepsLittleBesideAMessage(t *testing.T) {
	c, at := Conversation{}, time.Unix(0, 0)
	feed(&c, &at, small(1_000_000))
	const turns = 5000
	said := 0
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	for i := range turns {
		prompt, reply := fmt.Sprint("note ", i), fmt.Sprint("it is noted as number ", i)
		said += 2*len(prompt) + len(reply) // the ledger has the prompts too
		feed(&c, &at, event.Prompted{Source: event.Person, Text: prompt}, event.Requested{},
			event.Replied{Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.TextPart(reply)}}}})
	}
	kept := heap() - before
	if most := uint64(said + 2*turns*20); kept > most {
		t.Errorf("%d bytes are kept of %d messages with %d bytes of text, want at most %d", kept, 2*turns, said, most)
	}
	runtime.KeepAlive(&c)
}

// SPEC 19.3: the ids of calls are kept as hashes, and still no two calls have the same one.
func TestManyIDs(t *testing.T) {
	c, at := Conversation{}, time.Unix(0, 0)
	feed(&c, &at, small(1_000_000), event.Prompted{Source: event.Person, Text: "go"})
	for i := range 3000 {
		id := fmt.Sprint("call_", i%50)
		feed(&c, &at, event.Requested{}, asks(id, "read", `{}`), gives(id, "read", "text"))
	}
	seen := map[string]bool{}
	for _, m := range c.Messages() {
		for _, call := range m.Calls() {
			if seen[call.ID] {
				t.Fatalf("two calls have the id %s", call.ID)
			}
			seen[call.ID] = true
		}
	}
	if len(seen) != 3000 {
		t.Errorf("%d calls, want 3000", len(seen))
	}
}
