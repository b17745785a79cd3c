package window

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"
	"time"
	"unsafe"
	"weak"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
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
				if _, err := b.Request(llm.Tail{}); err != nil {
					t.Fatal(err)
				}
				feed(&conv, &at, event.Requested{}, event.Replied{Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.TextPart("seen")}}}})
			}
			older := len(conv.messages)
			feed(&conv, &at, event.Compacted{Why: WhyFull, Older: older, Start: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.TextPart("what was")}}}})
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

// SPEC 19.3: a conversation of many short messages is mostly what is kept beside each of
// them. What only results need takes no room in the others.
func TestKeepsLittleBesideAMessage(t *testing.T) {
	if got := unsafe.Sizeof(about{}); got > 24 {
		t.Errorf("%d bytes beside each message, want at most 24", got)
	}
	if got := unsafe.Sizeof(said{}); got > 32 {
		t.Errorf("%d bytes of each prompt in the ledger, want at most 32", got)
	}
	var c Conversation
	at := time.Unix(0, 0)
	feed(&c, &at, small(1_000_000))
	for i := range 100 {
		feed(&c, &at, event.Prompted{Source: event.Person, Text: fmt.Sprint("note ", i)}, event.Requested{},
			event.Replied{Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.TextPart("noted")}}}})
	}
	feed(&c, &at, event.Prompted{Source: event.Person, Text: "read it"}, event.Requested{}, asks("c", "read", `{}`), gives("c", "read", "text"), event.Requested{})
	with := 0
	for _, a := range c.about {
		if a.more != nil {
			with++
		}
	}
	if with != 1 {
		t.Errorf("%d messages keep what only results need, want 1", with)
	}
}
