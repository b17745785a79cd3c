//go:build chromium

package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"
)

// fake is a server that speaks the page's API with a session that the test scripts.
type fake struct {
	*httptest.Server
	mu      sync.Mutex
	wake    chan struct{} // closed at each change
	events  []sent        // a cursor is a position in it
	rows    []object
	states  map[string]object
	blocks  map[string][]object
	asked   []string // requests that change something, with their bodies
	paths   []string // all requests
	streams int      // open now
	down    bool     // it breaks every stream and refuses new ones
	rights  string
	paired  bool
	changed chan struct{} // a stream began or ended
}

type object = map[string]any

type sent struct {
	kind  string
	data  any
	piece bool // it has no cursor of its own
}

// policy is the content security policy of the real server.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func newFake(t *testing.T) *fake {
	f := &fake{wake: make(chan struct{}), states: map[string]object{}, blocks: map[string][]object{}, rights: "steer", paired: true, changed: make(chan struct{}, 1000)}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(os.DirFS("../assets")))
	mux.HandleFunc("POST /api/pair", f.pair)
	mux.HandleFunc("GET /api/hello", func(w http.ResponseWriter, _ *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		answer(w, 200, object{"version": "1.2.3", "rights": f.rights, "device": "Test", "cursor": strconv.Itoa(len(f.events)), "folders": []string{"/home/me/shop", "/home/me/site"}})
	})
	mux.HandleFunc("GET /api/sessions", func(w http.ResponseWriter, _ *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		answer(w, 200, object{"sessions": f.rows})
	})
	mux.HandleFunc("GET /api/s/{id}", func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if s, ok := f.states[r.PathValue("id")]; ok {
			answer(w, 200, s)
			return
		}
		answer(w, 404, object{"error": "There is no such session."})
	})
	mux.HandleFunc("GET /api/s/{id}/blocks", f.page)
	mux.HandleFunc("GET /api/s/{id}/undo", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, object{"hash": "h1", "said": "2 files go back to what they were before the last prompt.", "files": []object{{"path": "cart.go", "said": "+3 -1"}, {"path": "cart_test.go", "said": "+12"}}})
	})
	mux.HandleFunc("GET /api/devices", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, object{"devices": []object{{"id": "d1", "name": "Test", "rights": f.rights, "this": true, "seen": "2026-11-23T10:00:00Z"}}})
	})
	mux.HandleFunc("GET /api/events", f.stream)
	mux.HandleFunc("POST /api/", f.act)
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.paths = append(f.paths, r.URL.Path)
		refused := !f.paired && strings.HasPrefix(r.URL.Path, "/api/") && r.URL.Path != "/api/pair"
		down := f.down && strings.HasPrefix(r.URL.Path, "/api/")
		f.mu.Unlock()
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Cache-Control", "no-cache")
		if strings.HasSuffix(r.URL.Path, ".webmanifest") {
			w.Header().Set("Content-Type", "application/manifest+json")
		}
		switch {
		case down:
			panic(http.ErrAbortHandler)
		case refused:
			answer(w, 401, object{"error": "This device is not paired."})
		default:
			mux.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() {
		f.CloseClientConnections()
		f.Close()
	})
	return f
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the browser may have gone
}

func (f *fake) pair(w http.ResponseWriter, r *http.Request) {
	var in struct{ Code string }
	_ = json.NewDecoder(r.Body).Decode(&in) // an empty code is wrong
	f.mu.Lock()
	defer f.mu.Unlock()
	if in.Code != "GOOD-CODE" {
		answer(w, 403, object{"error": "This code is not valid any more. Ask for a new one."})
		return
	}
	f.paired = true
	answer(w, 200, object{})
}

func (f *fake) page(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := f.blocks[r.PathValue("id")]
	end := len(all)
	if before := r.FormValue("before"); before != "" {
		end = slices.IndexFunc(all, func(b object) bool { return b["id"] == before })
	}
	n, _ := strconv.Atoi(r.FormValue("n"))
	from := max(0, end-n)
	answer(w, 200, object{"blocks": append([]object{}, all[from:end]...), "more": from > 0})
}

// stream sends the events after a cursor, or those from now on.
func (f *fake) stream(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.streams++
	at := len(f.events)
	if n, err := strconv.Atoi(r.FormValue("after")); err == nil {
		at = n
	}
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.streams--
		f.mu.Unlock()
		f.changed <- struct{}{}
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	c := http.NewResponseController(w)
	_ = c.Flush() // the browser may have gone: the context says so
	f.changed <- struct{}{}
	for {
		f.mu.Lock()
		if f.down {
			f.mu.Unlock()
			panic(http.ErrAbortHandler)
		}
		news, wake := f.events[at:], f.wake
		f.mu.Unlock()
		for _, e := range news {
			at++
			data, _ := json.Marshal(e.data)
			_, _ = fmt.Fprintf(w, "event: %s\nid: %d\ndata: %s\n\n", e.kind, at, data)
		}
		_ = c.Flush()
		select {
		case <-wake:
		case <-r.Context().Done():
			return
		}
	}
}

// act notes what the page asks for, and does what the page would see of it.
func (f *fake) act(w http.ResponseWriter, r *http.Request) {
	var in object
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		answer(w, 400, object{"error": err.Error()})
		return
	}
	if images, ok := in["images"].([]any); ok && len(images) == 0 {
		delete(in, "images")
	} else if ok {
		in["images"] = fmt.Sprint(len(images), " of ", images[0].(object)["type"])
	}
	if _, ok := in["id"]; ok && strings.HasSuffix(r.URL.Path, "/prompt") {
		in["id"] = "unique"
	}
	body, _ := json.Marshal(in)
	f.mu.Lock()
	f.asked = append(f.asked, r.URL.Path+" "+string(body))
	f.mu.Unlock()
	session, what, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/api/s/"), "/")
	switch what {
	case "answer":
		f.set(session, object{"status": "running", "questions": []object{}})
	case "interrupt":
		f.set(session, object{"status": "idle"})
	case "mode":
		f.set(session, object{"mode": in["mode"]})
	case "withdraw":
		f.set(session, object{"queue": []object{}})
	case "model":
		f.set(session, object{"model": in["model"]})
	}
	if r.URL.Path == "/api/sessions" {
		f.add(object{"id": "s-new", "title": "Write the tests", "status": "running"})
		answer(w, 200, object{"id": "s-new"})
		return
	}
	answer(w, 200, object{})
}

// send publishes an event.
func (f *fake) send(kind string, data any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.publish(kind, data)
}

func (f *fake) publish(kind string, data any) {
	f.events = append(f.events, sent{kind: kind, data: data})
	close(f.wake)
	f.wake = make(chan struct{})
}

// set changes fields of a session's state.
func (f *fake) set(session string, fields object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	next := object{}
	for k, v := range f.states[session] {
		next[k] = v
	}
	for k, v := range fields {
		next[k] = v
	}
	f.states[session] = next
	rows := slices.Clone(f.rows)
	for i, r := range rows {
		if r["id"] == session {
			rows[i] = object{"id": session, "title": next["title"], "status": next["status"], "place": r["place"], "cost": next["cost"], "asks": next["asks"]}
		}
	}
	f.rows = rows
	f.publish("state", next)
	f.publish("sessions", object{"sessions": rows})
}

// add begins a session.
func (f *fake) add(state object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := state["id"].(string)
	state["session"] = id
	f.states[id] = state
	f.rows = append(slices.Clone(f.rows), object{"id": id, "title": state["title"], "status": state["status"], "place": "shop", "cost": state["cost"], "asks": state["asks"]})
	f.publish("sessions", object{"sessions": f.rows})
}

// block adds or changes a block.
func (f *fake) block(session string, b object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b["session"] = session
	all := slices.Clone(f.blocks[session])
	if i := slices.IndexFunc(all, func(o object) bool { return o["id"] == b["id"] }); i >= 0 {
		all[i] = b
	} else {
		all = append(all, b)
	}
	f.blocks[session] = all
	f.publish("block", b)
}

// piece streams text into an open block.
func (f *fake) piece(session, id string, text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, b := range f.blocks[session] {
		if b["id"] != id {
			continue
		}
		next := object{}
		for k, v := range b {
			next[k] = v
		}
		so, _ := b["text"].(string)
		next["text"] = so + text
		f.blocks[session][i] = next
		f.publish("piece", object{"session": session, "id": id, "offset": len(utf16.Encode([]rune(so))), "text": text})
	}
}

// fall breaks all connections; rise ends that.
func (f *fake) fall() {
	f.mu.Lock()
	f.down = true
	close(f.wake)
	f.wake = make(chan struct{})
	f.mu.Unlock()
}

func (f *fake) rise() {
	f.mu.Lock()
	f.down = false
	f.mu.Unlock()
}

func (f *fake) did() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.asked)
}

// wait waits until so many streams are open.
func (f *fake) wait(t *testing.T, streams int) {
	t.Helper()
	late := time.After(*patience)
	for {
		f.mu.Lock()
		now := f.streams
		f.mu.Unlock()
		if now == streams {
			return
		}
		select {
		case <-f.changed:
		case <-late:
			t.Fatalf("%d streams are open, not %d", now, streams)
		}
	}
}
