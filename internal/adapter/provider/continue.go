package provider

import (
	"bytes"
	"net/http"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Continuer is an API whose server can store conversations: a request then names the
// reply that it follows instead of repeating everything before it. The client still has
// the whole conversation: it leaves out only what the server has, byte for byte.
type Continuer interface {
	// Continue returns the head of a request that follows the reply with this id. ok is
	// false if the person does not allow the server to store conversations.
	Continue(h llm.Head, id string) (head []byte, ok bool)
}

// replyChain holds the replies that a next request may continue: those of the
// conversation and of a few side requests.
type replyChain struct {
	mu    sync.Mutex
	off   bool // the server lost replies that it should have kept
	known []chainLink
}

// chainLink is a reply, and how the body of a request that continues it begins.
type chainLink struct {
	id     string
	prefix [][]byte
}

const mostFollows = 4

// shorten returns the body of a request without the parts that the server has, and the id
// of the reply that it follows. ok is false if the server has none of it. The last of
// parts is the request's end.
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

// keep records the reply to a request, so that the next request may follow it.
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

// forget removes a reply. With off, the server is no longer relied on.
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

// after returns the part of body after prefix; ok is false if body does not begin with
// it. The parts of neither are joined.
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

// lost reports whether a status may mean that the server no longer has a reply.
func lost(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusNotFound || status == http.StatusNotImplemented || status == http.StatusUnprocessableEntity
}
