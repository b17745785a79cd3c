package web

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/fault"
)

// viewers are the open streams: how each is ended, by device.
type viewers struct {
	mu  sync.Mutex
	all int
	of  map[string]map[*context.CancelFunc]bool
}

// A browser needs one stream.
const (
	mostViewers  = 1000
	mostOfDevice = 12
)

// enter adds a stream of a device. Its context ends when it leaves, or is dismissed.
func (v *viewers) enter(ctx context.Context, device string) (context.Context, func(), error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	mine := v.of[device]
	switch {
	case len(mine) >= mostOfDevice:
		return nil, nil, fault.NewConfiguration("close some", "too many pages of this device are open")
	case v.all >= mostViewers:
		return nil, nil, fault.NewConfiguration("close some, or revoke a device: pawl serve devices", "%d pages are open, which is as many as pawl serves", v.all)
	}
	ctx, end := context.WithCancel(ctx)
	if mine == nil {
		mine = map[*context.CancelFunc]bool{}
		v.of[device] = mine
	}
	mine[&end] = true
	v.all++
	return ctx, func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		end()
		v.all--
		if delete(mine, &end); len(mine) == 0 {
			delete(v.of, device)
		}
	}, nil
}

// dismiss ends the streams of devices.
func (v *viewers) dismiss(which func(device string) bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for device, streams := range v.of {
		if which(device) {
			for end := range streams {
				(*end)()
			}
		}
	}
}

// streamTo begins a stream of server-sent events. send reports whether they were taken: who
// takes them too slowly is left.
func streamTo(w http.ResponseWriter) (send func([]byte) bool) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // a proxy is not to collect it
	rc := http.NewResponseController(w)
	return func(b []byte) bool {
		_ = rc.SetWriteDeadline(time.Now().Add(slowest)) // a test's recorder has none
		_, err := w.Write(b)
		return err == nil && rc.Flush() == nil
	}
}

// events sends a browser all that happens, from its cursor on.
func (s *server) events(w http.ResponseWriter, r *http.Request) {
	q, ok := s.from(w, r, Watch)
	if !ok {
		return
	}
	ctx, leave, err := s.viewers.enter(r.Context(), q.device.ID)
	if err != nil {
		problem(w, http.StatusTooManyRequests, err)
		return
	}
	defer leave()
	n, known := s.hub.place(cmp.Or(r.Header.Get("Last-Event-ID"), r.FormValue("after"), s.hub.cursor()))
	if !known {
		n = -1 // so that all is loaded again
	}
	send := streamTo(w)
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
		case <-ctx.Done():
			return
		}
	}
}
