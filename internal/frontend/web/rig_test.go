package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/session/sessiontest"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// testServer is a server with one open session, s1.
type testServer struct {
	*httptest.Server
	t       *testing.T
	s       *server
	session *session.Session
	devices *Devices
	started []Start
	dir     string

	mu   sync.Mutex
	now  time.Time
	acts []Act
}

func newTestServer(t *testing.T, m llm.Model) *testServer {
	t.Helper()
	r := &testServer{t: t, now: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)}
	cfg := sessiontest.Config(t, t.TempDir(), m, nil)
	cfg.Person, cfg.OpenModel = true, func(string, string) (llm.Model, error) { return nil, errors.New("no model here") }
	r.session, r.dir = sessiontest.Open(t, cfg), cfg.Dir
	state := t.TempDir()
	r.devices = must.Get(OpenDevices(state, r.clock))(t)
	ctx, stop := context.WithCancel(context.Background())
	open := func(ctx context.Context, s Start) (*Opened, error) {
		c := cfg
		c.ID = fmt.Sprint("opened-", len(r.started))
		c.Permission = permission.New(permission.Config{Mode: permission.AcceptEdits, Root: c.Dir, Home: "/home/nobody"}) // each session has its own
		r.started = append(r.started, s)
		if s.Fork {
			at := s.At
			if at == 0 {
				row, err := cfg.Store.Session(ctx, s.ID)
				if err != nil {
					return nil, err
				}
				at = row.Last
			}
			if err := cfg.Store.Fork(ctx, event.Origin{Session: s.ID, At: at}, c.ID); err != nil {
				return nil, err
			}
		}
		o, err := session.Open(ctx, c)
		if err != nil {
			return nil, err
		}
		return &Opened{Session: o, Close: func() { _ = o.Close() }, Own: true, Steers: true}, nil
	}
	r.s = newServer(ctx, Config{
		Open: open, Models: func(context.Context) []UsableModel { return []UsableModel{{Ref: "offline"}} },
		Version: "test", Store: cfg.Store, State: state, Dir: state, Devices: r.devices, Hosts: []string{"pawl.example"}, Now: r.clock,
		Done: func(a Act) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.acts = append(r.acts, a)
		},
	}, 7295)
	r.Server = httptest.NewServer(r.s)
	r.s.sessions.add(&Opened{Session: r.session, Close: func() { _ = r.session.Close() }, Own: true, Steers: true}, event.Row{ID: "s1"})
	t.Cleanup(func() {
		stop()
		r.s.hub.end()
		r.s.sessions.running.Wait()
		r.Close()
	})
	return r
}

func (r *testServer) clock() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

func (r *testServer) later(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = r.now.Add(d)
}

// paired returns the cookie of a new device.
func (r *testServer) paired(rights Rights) string {
	r.t.Helper()
	d, token, err := r.devices.pair(r.devices.NewCode(rights), "test")
	if err != nil || d.Rights != rights {
		r.t.Fatal(d, err)
	}
	return r.s.cookie + "=" + token
}

// ask makes a request as a browser does, after change.
func (r *testServer) ask(cookie, method, path string, body any, change func(*http.Request)) (int, string, http.Header) {
	r.t.Helper()
	var in io.Reader
	if text, ok := body.(string); ok {
		in = strings.NewReader(text)
	} else if body != nil {
		raw, err := json.Marshal(body)
		must.Do(r.t, err)
		in = bytes.NewReader(raw)
	}
	q, err := http.NewRequestWithContext(r.t.Context(), method, r.URL+path, in)
	must.Do(r.t, err)
	q.Header.Set("Cookie", cookie)
	q.Header.Set("Sec-Fetch-Site", "same-origin")
	if body != nil {
		q.Header.Set("Content-Type", "application/json")
	}
	if change != nil {
		change(q)
	}
	a, err := r.Client().Do(q)
	must.Do(r.t, err)
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	must.Do(r.t, err)
	return a.StatusCode, string(text), a.Header
}

// got asks and reads a JSON answer.
func got[T any](r *testServer, cookie, path string) (out T) {
	r.t.Helper()
	code, text, _ := r.ask(cookie, "GET", path, nil, nil)
	if err := json.Unmarshal([]byte(text), &out); code != 200 || err != nil {
		r.t.Fatal(path, code, text, err)
	}
	return out
}

func (r *testServer) post(cookie, path string, body any) int {
	r.t.Helper()
	code, _, _ := r.ask(cookie, "POST", path, body, nil)
	return code
}

// shown is what a browser would show: blocks in order, with their texts.
type shown struct {
	order  []string
	blocks map[string]Block
	states []State
	cursor string
	t      *testing.T
}

func newPage(t *testing.T, b Blocks, cursor string) *shown {
	p := &shown{t: t, blocks: map[string]Block{}, cursor: cursor}
	for _, b := range b.Blocks {
		p.block(b)
	}
	return p
}

func (p *shown) block(b Block) {
	if !slices.Contains(p.order, b.ID) {
		p.order = append(p.order, b.ID)
	}
	p.blocks[b.ID] = b
}

// apply takes an event as the page does; a piece after a gap is an error.
func (p *shown) apply(kind, id, data string) {
	p.t.Helper()
	p.cursor = id
	read := func(into any) {
		if err := json.Unmarshal([]byte(data), into); err != nil {
			p.t.Fatal(kind, data, err)
		}
	}
	switch kind {
	case "block":
		var b Block
		read(&b)
		p.block(b)
	case "piece":
		var x Piece
		read(&x)
		b, ok := p.blocks[x.ID]
		have := units(b.Text)
		if !ok || x.Offset > have {
			p.t.Fatalf("a gap: %s at %d, have %d", x.ID, x.Offset, have)
		}
		if !b.Open || x.Offset+units(x.Text) <= have {
			return
		}
		if x.Offset != have {
			p.t.Fatalf("a piece that is new in part: %+v at %d", x, have)
		}
		b.Text += x.Text
		p.blocks[x.ID] = b
	case "gone":
		var g Gone
		read(&g)
		delete(p.blocks, g.ID)
		p.order = slices.DeleteFunc(p.order, func(id string) bool { return id == g.ID })
	case "state":
		var s State
		read(&s)
		p.states = append(p.states, s)
	}
}

// watch reads the stream from the page's cursor until done says so.
func (r *testServer) watch(cookie string, p *shown, done func(kind, data string) bool) {
	r.t.Helper()
	ctx, stop := context.WithCancel(r.t.Context())
	defer stop()
	q, err := http.NewRequestWithContext(ctx, "GET", r.URL+"/api/events?after="+p.cursor, nil)
	must.Do(r.t, err)
	q.Header.Set("Cookie", cookie)
	a, err := r.Client().Do(q)
	must.Do(r.t, err)
	defer a.Body.Close()
	kind, id := "", ""
	lines := bufio.NewScanner(a.Body)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "event":
			kind = value
		case "id":
			id = value
		case "data":
			p.apply(kind, id, value)
			if done(kind, value) {
				return
			}
		}
	}
	done("", "") // it ended
}

func say(texts ...string) *llmtest.Model {
	var turns []llmtest.Turn
	for _, t := range texts {
		turns = append(turns, llmtest.Say(t))
	}
	return llmtest.New(turns...)
}
