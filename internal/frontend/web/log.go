package web

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"net/http"
	"strconv"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/frontend/headless"
)

// log sends a program the log of a session, from an event on: one JSON line an event, as
// stream-json has them. Of an open session what comes is sent live, until it ends.
func (s *server) log(w http.ResponseWriter, r *http.Request) {
	q, ok := s.from(w, r, Watch)
	if !ok {
		return
	}
	at := cmp.Or(r.Header.Get("Last-Event-ID"), r.FormValue("after"))
	after, err := strconv.ParseInt(at, 10, 64)
	if at != "" && (err != nil || after < 0) {
		problem(w, http.StatusBadRequest, fault.NewConfiguration("give the seq of the last event that is known, such as after=12", "%q is not the number of an event", at))
		return
	}
	ctx, leave, err := s.viewers.enter(r.Context(), q.device.ID)
	if err != nil {
		problem(w, http.StatusTooManyRequests, err)
		return
	}
	defer leave()
	id := r.PathValue("id")
	if _, err := s.sessions.row(ctx, id); err != nil {
		answered(w, struct{}{}, err)
		return
	}
	var events iter.Seq2[event.Event, error]
	if l := s.sessions.of(id); l != nil {
		events = l.Session.Events(ctx, after)
	} else {
		events = s.cfg.Store.Read(ctx, id, after)
	}
	send := streamTo(w)
	if !send([]byte(": pawl\n\n")) {
		return
	}
	var out bytes.Buffer
	for e, err := range events {
		if err != nil {
			return // it can be asked for again, from where it broke off
		}
		out.Reset()
		if e.Seq > 0 {
			fmt.Fprintf(&out, "id: %d\n", e.Seq)
		}
		out.WriteString("data: ")
		if headless.WriteEvent(&out, e) != nil {
			return
		}
		out.WriteByte('\n')
		if !s.cfg.Devices.known(q.device.ID) || !send(out.Bytes()) {
			return
		}
	}
	_ = send([]byte("event: bye\ndata: {}\n\n"))
}
