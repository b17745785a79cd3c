//go:build chromium

package browser

import (
	"encoding/json"
	"fmt"
	"maps"
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
	swarm   object // other facts of the swarm
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
	mux.HandleFunc("GET /blocks.css", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, "../../page/blocks.css") })
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
	mux.HandleFunc("GET /api/s/{id}/stats", func(w http.ResponseWriter, _ *http.Request) {
		var replies []object
		for i := range 40 {
			replies = append(replies, object{"reply": i + 1, "usd": float64(i) * 0.0108, "tokens": i * 21000, "window": 20000 + i%25*3500, "time": "2026-11-23T10:00:00Z"})
		}
		answer(w, 200, object{
			"unknown": 0, "tools": []object{{"tool": "bash", "calls": 31, "failed": 9}, {"tool": "read", "calls": 24, "failed": 0}, {"tool": "edit", "calls": 8, "failed": 2}},
			"replies": replies,
			"signals": []object{{"reply": 17, "level": "recovery", "rule": "same_error", "text": "the same error <b>three times</b>", "time": "2026-11-23T10:00:00Z", "evidence": []string{"call 14: bash go test ./… → FAIL"}}, {"reply": 22, "level": "block", "text": "the same call again", "time": "2026-11-23T10:00:00Z", "evidence": []string{}}},
			"checks":  []object{{"reply": 12, "check": "go test", "ok": false, "said": "3 failures"}, {"reply": 25, "check": "go test", "ok": false, "said": "1 failure"}, {"reply": 40, "check": "go test", "ok": true, "said": "passed, 48 tests"}},
		})
	})
	mux.HandleFunc("GET /api/push", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, object{"key": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", "on": false})
	})
	mux.HandleFunc("DELETE /api/push", func(w http.ResponseWriter, _ *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.asked = append(f.asked, "DELETE /api/push")
		answer(w, 200, object{})
	})
	mux.HandleFunc("GET /api/s/{id}/swarm", func(w http.ResponseWriter, _ *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		now := object{
			"goal": "Build the shop", "outcome": "", "cost": "$1.25", "more": true, "tokens": 420000, "again": "", "aside": []string{},
			"tasks": []object{
				{"id": "cart", "title": "The cart", "state": "merged", "worker": "w1", "machine": "build-1", "cost": "$0.40", "after": []string{}},
				{"id": "pay", "title": "Payment", "state": "taken", "worker": "w2", "machine": "build-2", "tries": 1, "after": []string{}},
				{"id": "list", "title": "The list", "state": "conflicted", "merged_by": "list-merge", "cost": "$0.30", "after": []string{}, "error": "cart.go: both changed line 12 <b>"},
				{"id": "docs", "state": "waiting", "after": []string{"cart", "pay"}},
			},
			"machines": []object{{"name": "build-1", "works": 0, "done": 1, "failed": 0}, {"name": "build-2", "works": 1, "done": 0, "failed": 2, "aside": "lacks npm"}},
		}
		maps.Copy(now, f.swarm)
		answer(w, 200, now)
	})
	mux.HandleFunc("GET /api/models", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, object{"models": []object{{"ref": "anthropic/claude-sonnet", "about": "$3 in, $15 out for a million tokens"}, {"ref": "ollama/qwen", "about": "free"}}})
	})
	mux.HandleFunc("GET /api/s/{id}/plan", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, object{"id": "p7", "waits": true, "text": "# Plan\n\n1. Look\n2. Write\n", "html": `<div class="reply"><h3 dir="auto">Plan</h3><ol role="list"><li><span class="sign">1.</span><div><p dir="auto">Look at the cart</p></div></li><li><span class="sign">2.</span><div><p dir="auto">Write the sum</p></div></li></ol></div>`})
	})
	mux.HandleFunc("GET /api/s/{id}/prompts", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, object{"prompts": []object{{"prompt": 40, "time": "2026-11-23T10:05:00Z", "text": "Add a test too", "files": []string{"cart_test.go"}}, {"prompt": 4, "time": "2026-11-23T10:00:00Z", "text": "The total of the cart is always 0.", "files": []string{"cart.go"}}}})
	})
	mux.HandleFunc("GET /api/s/{id}/undo", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("prompt") != "0" {
			answer(w, 200, object{"hash": "h2", "said": "2 files to undo", "files": []object{{"path": "cart_test.go", "said": "is undone", "html": question["calls"].([]object)[0]["html"]}, {"path": "README.md", "said": "somebody changed it since", "asks": true}}})
			return
		}
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
	if what == "rewind" || what == "fork" {
		f.add(object{"id": "s-back", "title": "Gone back", "status": "idle"})
		answer(w, 200, object{"id": "s-back", "text": "Add a test too"})
		return
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
