package llmtest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// Binding is the rule of models that bind their thinking to what precedes it: system,
// tools and the messages before it must be those of the request that it was made for,
// without cache markers. A request that breaks the rule gets status 400, unless it asks
// for the block to be dropped.
type Binding struct {
	mu                     sync.Mutex
	kept, dropped, refused int
}

// Counts returns how many thinking blocks came back with the prefix that they were made
// with, how many were dropped, and how many requests were refused.
func (b *Binding) Counts() (kept, dropped, refused int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kept, b.dropped, b.refused
}

// refuses checks a request, and returns the message of its refusal; "": none.
func (b *Binding) refuses(h http.Header, body []byte) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := parsed(body)
	drop := strings.Contains(string(body), `"block_binding":{"prefix_mismatch_behavior":"drop_block"}`)
	if drop && !strings.Contains(h.Get("anthropic-beta"), "thinking-binding-controls-2026-08-01") {
		return "thinking.block_binding: needs the beta thinking-binding-controls-2026-08-01"
	}
	for i, m := range r.Messages {
		for k, block := range m.Content {
			if block["type"] != "thinking" {
				continue
			}
			switch {
			case block["signature"] == digest(r, i, k):
				b.kept++
			case drop:
				b.dropped++
			default:
				b.refused++
				return fmt.Sprintf("messages.%d.content.%d: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\".", i, k)
			}
		}
	}
	return ""
}

// asked is what of a request thinking is bound to.
type asked struct {
	System   any `json:"system"`
	Tools    any `json:"tools"`
	Messages []struct {
		Role    string           `json:"role"`
		Content []map[string]any `json:"content"`
	} `json:"messages"`
}

func parsed(body []byte) (r asked) {
	_ = json.Unmarshal([]byte(strings.ReplaceAll(string(body), `,"cache_control":{"type":"ephemeral"}`, "")), &r) // another body binds nothing
	return r
}

// signature is that of thinking at the beginning of the reply to a request.
func signature(body []byte) string {
	r := parsed(body)
	return digest(r, len(r.Messages), 0)
}

// digest covers all that stands before block k of message i.
func digest(r asked, i, k int) string {
	var last any
	if i < len(r.Messages) && k > 0 {
		last = r.Messages[i].Content[:k]
	}
	b, err := json.Marshal([]any{r.System, r.Tools, r.Messages[:i], last})
	if err != nil {
		panic(err) // it was JSON
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
