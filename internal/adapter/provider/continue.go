package provider

import (
	"bytes"
	"net/http"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Continuer is an API whose server can keep conversations: a request then names the reply
// that it follows, in place of everything before. The conversation stays whole here: what
// is left out is only what the server has, byte for byte.
type Continuer interface {
	// Continue returns the head of a request that follows the reply with this id; ok is false
	// where the person does not allow the server to keep conversations.
	Continue(h llm.Head, id string) (head []byte, ok bool)
}

// replyChain are the replies that a next request may continue: those of the conversation,
// and of the few side requests.
type replyChain struct {
	mu    sync.Mutex
	off   bool // the server lost replies that it should have kept
	known []chainLink
}

// chainLink is a reply, and the beginning of the body of a request that continues it.
type chainLink struct {
	id     string
	prefix [][]byte
}

const mostFollows = 4

// shorten returns the body of a request without what the server has, and the reply that
// it follows; ok is false if it has nothing of it. The last of parts is the request's end.
func (f *replyChain) shorten(api API, h llm.Head, parts [][]byte) (short [][]byte, id string, ok bool) {
	c, can := api.(Continuer)
	if !can || len(parts) < 2 {
		return nil, "", false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.off {
		return nil, "", false
	}
	for _, k := range f.known {
		rest, begins := after(parts[:len(parts)-1], k.prefix)
		if !begins || len(rest) == 0 {
			continue
		}
		head, allowed := c.Continue(h, k.id)
		if !allowed {
			return nil, "", false
		}
		return append(append([][]byte{head}, rest...), parts[len(parts)-1]), k.id, true
	}
	return nil, "", false
}

// keep notes the reply to a request, so that the next one may follow it.
func (f *replyChain) keep(api API, h llm.Head, parts [][]byte, r *llm.Reply) {
	c, can := api.(Continuer)
	if !can || r == nil || r.Response == "" || len(parts) < 2 || r.Stop != llm.StopEnd && r.Stop != llm.StopCalls {
		return
	}
	if _, allowed := c.Continue(h, r.Response); !allowed {
		return
	}
	said, err := api.Step([]llm.Message{r.Message}, false)
	if err != nil || len(said) == 0 {
		return
	}
	prefix := append(append([][]byte(nil), parts[:len(parts)-1]...), []byte{','}, said, []byte{','})
	f.mu.Lock()
	defer f.mu.Unlock()
	f.known = append([]chainLink{{r.Response, prefix}}, f.known[:min(len(f.known), mostFollows-1)]...)
}

// forget forgets a reply. Where off, the server is not relied on any more.
func (f *replyChain) forget(id string, off bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.off = f.off || off
	for i, k := range f.known {
		if k.id == id {
			f.known = append(f.known[:i:i], f.known[i+1:]...)
			return
		}
	}
}

// after returns what of a body comes after a prefix; ok is false if it does not begin
// with it. Neither is joined.
func after(body, prefix [][]byte) (rest [][]byte, ok bool) {
	var have []byte
	next := 0
	for _, want := range prefix {
		for len(want) > 0 {
			for len(have) == 0 {
				if next == len(body) {
					return nil, false
				}
				have = body[next]
				next++
			}
			n := min(len(have), len(want))
			if !bytes.Equal(have[:n], want[:n]) {
				return nil, false
			}
			have, want = have[n:], want[n:]
		}
	}
	if len(have) > 0 {
		rest = append(rest, have)
	}
	for _, b := range body[next:] {
		if len(b) > 0 {
			rest = append(rest, b)
		}
	}
	return rest, true
}

// lost reports whether an answer may mean that the server does not have a reply any more.
func lost(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusNotFound || status == http.StatusNotImplemented || status == http.StatusUnprocessableEntity
}
