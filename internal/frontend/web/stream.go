package web

import (
	"bytes"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/fault"
)

// viewers counts the streams of each device.
type viewers struct {
	mu  sync.Mutex
	all int
	of  map[string]int
}

// A browser needs one stream.
const (
	mostViewers  = 1000
	mostOfDevice = 12
)

func (v *viewers) enter(id string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.all >= mostViewers || v.of[id] >= mostOfDevice {
		return false
	}
	v.all++
	v.of[id]++
	return true
}

func (v *viewers) leave(id string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.all--
	if v.of[id]--; v.of[id] == 0 {
		delete(v.of, id)
	}
}

// events sends a browser all that happens, from its cursor on.
func (s *server) events(w http.ResponseWriter, r *http.Request) {
	q, ok := s.from(w, r, Watch)
	if !ok {
		return
	}
	if !s.viewers.enter(q.device.ID) {
		problem(w, http.StatusTooManyRequests, fault.NewConfiguration("close some", "too many pages of this device are open"))
		return
	}
	defer s.viewers.leave(q.device.ID)
	at := r.FormValue("after")
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		at = id
	}
	if at == "" {
		at = s.hub.cursor()
	}
	n, known := s.hub.place(at)
	if !known {
		n = -1 // so that all is loaded again
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // a proxy is not to collect it
	rc := http.NewResponseController(w)
	send := func(b []byte) bool {
		_ = rc.SetWriteDeadline(time.Now().Add(slowest)) // a test's recorder has none
		_, err := w.Write(b)
		return err == nil && rc.Flush() == nil
	}
	if !send([]byte(": pawl\n\n")) {
		return
	}
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	var out bytes.Buffer
	for {
		frames, next, missed, over, wake := s.hub.since(n)
		out.Reset()
		if missed {
			fmt.Fprintf(&out, "event: reset\nid: %s\ndata: {}\n\n", s.hub.cursorAt(next))
		}
		for i, f := range frames {
			fmt.Fprintf(&out, "event: %s\nid: %s\ndata: %s\n\n", f.kind, s.hub.cursorAt(next-int64(len(frames)-i-1)), f.data)
		}
		n = next
		if out.Len() > 0 && (!s.cfg.Devices.known(q.device.ID) || !send(out.Bytes())) {
			return
		}
		if over {
			return
		}
		select {
		case <-wake:
		case <-ping.C:
			if !s.cfg.Devices.known(q.device.ID) || !send([]byte(": still here\n\n")) {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}
