package session_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// SPEC 19.3: what all folds of a session keep of a turn that was compacted away is a few
// hundred bytes, whatever it printed, read, changed or was shown.
func TestFoldsKeepLittleOfATurn(t *testing.T) {
	page := strings.Repeat("a line of what it printed\n", 200)
	call := func(i int, does string, done event.CallDone, between ...event.Body) []event.Body {
		id, args := fmt.Sprint("call", i), json.RawMessage(fmt.Sprintf(`{"what":"%s %d"}`, does, i))
		done.ID, done.Tool = id, does
		done.Result.ID, done.Result.Name = id, does
		bs := []event.Body{
			event.Replied{Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{{Kind: llm.CallPart, Call: &llm.Call{ID: id, Name: does, Args: args}}}}}},
			event.CallAsked{ID: id, Tool: does, Title: does, Args: args}, event.CallStarted{ID: id},
		}
		return append(append(bs, between...), done, event.Requested{Attempt: 1})
	}
	for _, c := range []struct {
		name   string
		images bool
		calls  func(i int) []event.Body
	}{
		{"words", false, func(int) []event.Body { return nil }},
		{"an image in the prompt", true, func(int) []event.Body { return nil }},
		{"a command", false, func(i int) []event.Body {
			return call(i, "bash", event.CallDone{Outcome: event.OK, Command: "make", Result: llm.Result{Text: fmt.Sprint(i, page)}})
		}},
		{"a command that fails", false, func(i int) []event.Body {
			one := 1
			return call(i, "bash", event.CallDone{Outcome: event.Failed, Command: "make", Exit: &one, Result: llm.Result{Text: fmt.Sprint(i, page), Error: true}})
		}},
		{"an image in a result", false, func(i int) []event.Body {
			image := llm.Media{Type: "image/png", Data: bytes.Repeat([]byte{byte(i)}, 8<<10)}
			return call(i, "read", event.CallDone{Outcome: event.OK, Result: llm.Result{Text: "a picture", Images: []llm.Media{image}}})
		}},
		{"a file that changes", false, func(i int) []event.Body {
			return call(i, "edit", event.CallDone{Outcome: event.OK, Diff: page, Result: llm.Result{Text: fmt.Sprint(i, page)}},
				event.FileChanged{Call: fmt.Sprint("call", i), Path: fmt.Sprintf("f%d.go", i%20), Before: "a", After: "b"})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := must.Get(session.Fresh(session.Config{Program: "p", Permission: policy(t, "yolo", t.TempDir())})())(t)
			seq, at := int64(0), time.Unix(0, 0).UTC()
			do := func(bs ...event.Body) {
				for _, b := range bs {
					seq, at = seq+1, at.Add(time.Second)
					f.Apply(event.Event{Session: "s", Seq: seq, Time: at, Body: b})
				}
			}
			do(event.Rebased{Info: llm.Info{Provider: "p", Model: "m", Window: 200_000, MaxOutput: 4096}, Head: llm.Head{Model: "m", System: "be good"}})
			turns := func(from, to int) int {
				for i := from; i < to; i++ {
					p := event.Prompted{Source: event.Person, Text: fmt.Sprint("do it ", i)}
					if c.images {
						p.Images = []llm.Media{{Type: "image/png", Data: bytes.Repeat([]byte{byte(i)}, 8<<10)}}
					}
					do(p, event.Requested{Attempt: 1})
					do(c.calls(i)...)
					do(event.Replied{Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.TextPart("done")}}}}, event.Ended{End: event.EndDone})
					if i%50 == 49 {
						do(event.Compacted{Why: "full", Older: 1 << 20, Start: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.TextPart("what was")}}}})
					}
				}
				data := must.Get(f.Bytes())(t)
				return len(data)
			}
			const first, last = 100, 200
			before := turns(0, first)
			if each := (turns(first, last) - before) / (last - first); each > 300 {
				t.Errorf("%d bytes are kept of each turn, want at most 300", each)
			}
		})
	}
}
