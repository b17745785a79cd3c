package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/frontend/page"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// This file judges requests: by their host, their origin, the device and its rights.

type server struct {
	cfg      Config
	hub      *hub
	sessions *sessions
	push     *pusher
	mux      *http.ServeMux
	origins  *http.CrossOriginProtection
	cookie   string // its name has the port, since cookies do not tell ports apart
	viewers  viewers
	tries    limit // wrong codes and unknown cookies of an address
	requests limit // requests of a device
}

func newServer(ctx context.Context, c Config, port int) *server {
	h, p := newHub(), newPusher(c)
	s := &server{
		cfg: c, hub: h, mux: http.NewServeMux(), origins: http.NewCrossOriginProtection(), cookie: fmt.Sprintf("pawl-%d", port),
		push: p, sessions: &sessions{cfg: c, hub: h, push: p, ctx: ctx, live: map[string]*live{}, tried: map[string]time.Time{}},
		viewers:  viewers{of: map[string]map[*context.CancelFunc]bool{}},
		tries:    limit{atOnce: 10, every: 6 * time.Second},
		requests: limit{atOnce: 200, every: 50 * time.Millisecond},
	}
	s.mux.Handle("GET /", http.FileServerFS(assets()))
	s.mux.HandleFunc("GET /blocks.css", func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "blocks.css", time.Time{}, strings.NewReader(page.Blocks))
	})
	for _, r := range routes() {
		s.mux.HandleFunc(r.method+" "+r.path, func(w http.ResponseWriter, q *http.Request) { r.serve(s, w, q) })
	}
	return s
}

// policy lets the page load and run what pawl serves, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache")
	if name, _, _ := strings.Cut(r.Host, ":"); r.TLS != nil && !s.cfg.SelfMade && name != "localhost" {
		h.Set("Strict-Transport-Security", "max-age=2592000") // of a self-made one a person must be able to choose
	}
	if r.ContentLength != 0 { // the body must come, also where nobody reads it: net/http waits for its end
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(3 * slowest)) // a test's recorder has none
	}
	site := r.Header.Get("Sec-Fetch-Site")
	switch api := strings.HasPrefix(r.URL.Path, "/api/"); {
	case !s.knows(r.Host):
		problem(w, http.StatusMisdirectedRequest, fault.NewConfiguration("where a proxy passes this name on: pawl serve --allow-host NAME", "pawl serve does not answer to this name"))
	case s.origins.Check(r) != nil, api && site != "" && site != "same-origin" && site != "none":
		problem(w, http.StatusForbidden, errors.New("this request comes from another page"))
	case api && r.Method != http.MethodGet && !isJSON(r):
		problem(w, http.StatusUnsupportedMediaType, errors.New("the API takes application/json"))
	default:
		if api {
			h.Set("Cache-Control", "no-store")
		}
		if strings.HasSuffix(r.URL.Path, ".webmanifest") {
			h.Set("Content-Type", "application/manifest+json")
		}
		s.mux.ServeHTTP(w, r)
	}
}

// knows reports whether a request names this server. Another name is that of a page that
// had its name lead here. With ssh -L the port is another one.
func (s *server) knows(host string) bool {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.Trim(host, "[]"), ""
	}
	if _, err := strconv.ParseUint(port, 10, 16); port != "" && err != nil {
		return false
	}
	return slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, name) ||
		slices.ContainsFunc(s.cfg.Hosts, func(h string) bool { return strings.EqualFold(h, name) || strings.EqualFold(h, host) })
}

func isJSON(r *http.Request) bool {
	if r.Method == http.MethodDelete {
		return true // it has no body, and no form can send one
	}
	t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && t == "application/json"
}

// request is a request of a known device.
type request struct {
	*http.Request
	device device
	detail string // for the list of acts
}

var rightsOf = map[Rights]int{Watch: 1, Answer: 2, Steer: 3}

// Valid reports whether these are rights that a device can have.
func (r Rights) Valid() bool { return rightsOf[r] > 0 }

// from returns the device that a request comes from, if it has a right. Else it answers.
func (s *server) from(w http.ResponseWriter, r *http.Request, right Rights) (*request, bool) {
	d, ok := device{}, false
	c, err := r.Cookie(s.cookie)
	if err == nil {
		d, ok = s.cfg.Devices.of(c.Value)
	}
	switch {
	case err == nil && !ok && !s.tries.allows(addressOf(r.RemoteAddr), s.cfg.Now()), ok && !s.requests.allows(d.ID, s.cfg.Now()):
		tooOften(w)
	case !ok:
		problem(w, http.StatusUnauthorized, fault.NewConfiguration("scan the QR code of pawl serve", "this device is not paired"))
	case rightsOf[d.Rights] < rightsOf[right]:
		problem(w, http.StatusForbidden, fault.NewConfiguration("pair it again with a code of: pawl serve --rights "+string(right), "this device may not do that"))
	default:
		return &request{Request: r, device: d}, true
	}
	return nil, false
}

func tooOften(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "10")
	problem(w, http.StatusTooManyRequests, fault.NewConfiguration("wait for some seconds", "too many requests came at once"))
}

// Sizes of bodies, in bytes.
const (
	mostBody   = 64 << 10
	mostPrompt = 24 << 20 // with its images
)

// route is a row of the API.
type route struct {
	method, path string
	right        Rights // "": of everybody
	words        string // about it
	query        []string
	in, out      reflect.Type // nil: there is none
	program      bool         // the page does not use it
	serve        func(*server, http.ResponseWriter, *http.Request)
}

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

// get is a request that changes nothing.
func get[Out any](path string, right Rights, words string, do func(*server, *request) (Out, error), query ...string) route {
	return route{method: "GET", path: path, right: right, words: words, query: query, out: typeOf[Out](), serve: func(s *server, w http.ResponseWriter, r *http.Request) {
		if q, ok := s.from(w, r, right); ok {
			out, err := do(s, q)
			answered(w, out, err)
		}
	}}
}

// act is a request that changes something. Who did it is told.
func act[In, Out any](method, path string, right Rights, what, words string, do func(*server, *request, In) (Out, error)) route {
	out := route{method: method, path: path, right: right, words: words, out: typeOf[Out]()}
	if method != http.MethodDelete {
		out.in = typeOf[In]()
	}
	out.serve = func(s *server, w http.ResponseWriter, r *http.Request) {
		q, ok := s.from(w, r, right)
		if !ok {
			return
		}
		var in In
		if out.in != nil && !body(w, r, &in) {
			return
		}
		id := r.PathValue("id")
		before := s.sessions.of(id)
		err := s.sessions.tell(q, before, what)
		var did Out
		if err == nil {
			did, err = do(s, q, in)
		}
		if before == nil && err == nil { // it was opened for this
			err = s.sessions.tell(q, s.sessions.of(id), what)
		}
		a := Act{Time: s.cfg.Now().UTC(), Device: q.device.ID, Session: id, What: what, Detail: cut.Runes(plain.Line(strings.TrimSpace(q.detail)), 200)}
		if err != nil {
			a.Error = plain.Line(err.Error())
		}
		s.cfg.Done(a)
		answered(w, did, err)
	}
	return out
}

// onLive is an act on a session that is open.
func onLive[In any](what string, right Rights, words string, do func(*server, *request, *live, In) error) route {
	return act("POST", "/api/s/{id}/"+what, right, what, words, func(s *server, r *request, in In) (struct{}, error) {
		l := s.sessions.of(r.PathValue("id"))
		if l == nil {
			return struct{}{}, errNotOpen
		}
		return struct{}{}, do(s, r, l, in)
	})
}

// body reads a request's body, or answers that it cannot be read.
func body(w http.ResponseWriter, r *http.Request, into any) bool {
	most := int64(mostBody)
	if _, ok := into.(*Prompt); ok {
		most = mostPrompt
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, most))
	err := d.Decode(into)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = cmp.Or(more, errors.New("there is more than one value"))
		}
	}
	if err == nil { // what was asked for may take its time
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
		return true
	}
	status := http.StatusBadRequest
	if big := (*http.MaxBytesError)(nil); errors.As(err, &big) {
		status = http.StatusRequestEntityTooLarge
	}
	problem(w, status, fmt.Errorf("the request cannot be read: %w", err))
	return false
}

func answered(w http.ResponseWriter, out any, err error) {
	switch {
	case err == nil:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(out) // who has left needs none
	case errors.Is(err, errNoSession), errors.Is(err, errNoSwarm), errors.Is(err, ErrNoDevice):
		problem(w, http.StatusNotFound, err)
	case errors.Is(err, errAnswered), errors.Is(err, errNotOpen), errors.Is(err, errElsewhere), errors.Is(err, errPlan), errors.Is(err, errDecided), errors.Is(err, errRuns), errors.Is(err, errSwarm):
		problem(w, http.StatusConflict, err)
	default:
		problem(w, http.StatusUnprocessableEntity, err)
	}
}

func problem(w http.ResponseWriter, status int, err error) {
	out := Problem{Error: plain.Line(err.Error())}
	if f := (*fault.Error)(nil); errors.As(err, &f) {
		out = Problem{Error: plain.Line(f.Message), Hint: plain.Line(f.Hint)}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(out)
}

func (s *server) pair(w http.ResponseWriter, r *http.Request) {
	var in Pairing
	if !body(w, r, &in) {
		return
	}
	if !s.tries.allows(addressOf(r.RemoteAddr), s.cfg.Now()) {
		tooOften(w) // and this one voids no code
		return
	}
	d, token, err := s.cfg.Devices.pair(in.Code, cmp.Or(strings.TrimSpace(in.Device), browser(r.UserAgent())))
	if err != nil {
		problem(w, http.StatusForbidden, err)
		return
	}
	s.cfg.Done(Act{Time: s.cfg.Now().UTC(), Device: d.ID, What: "pair", Detail: string(d.Rights)})
	http.SetCookie(w, &http.Cookie{
		Name: s.cookie, Value: token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || strings.HasPrefix(r.Header.Get("Origin"), "https:"), MaxAge: int((365 * 24 * time.Hour).Seconds()),
	})
	answered(w, struct{}{}, nil)
}

// browser names a device by its User-Agent, whatever that says.
func browser(agent string) string {
	first := func(prefix string, known ...[2]string) string {
		for _, k := range known {
			if strings.Contains(agent, k[0]) {
				return prefix + k[1]
			}
		}
		return ""
	}
	name := first("", [][2]string{{"Firefox/", "Firefox"}, {"Edg/", "Edge"}, {"Chrome/", "Chrome"}, {"CriOS/", "Chrome"}, {"Safari/", "Safari"}}...)
	system := first(" on ", [][2]string{{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Macintosh", "macOS"}, {"Windows", "Windows"}, {"Linux", "Linux"}}...)
	return cmp.Or(name, "a browser") + system
}

func (s *server) hello(r *request) (Hello, error) {
	cursor := s.hub.cursor() // before all that the page loads after this
	folders, err := s.sessions.folders(r.Context())
	for i := range folders {
		folders[i] = plain.Line(folders[i])
	}
	return Hello{Version: s.cfg.Version, Rights: r.device.Rights, Device: r.device.Name, Folders: folders, Cursor: cursor}, err
}

func (s *server) devices(r *request) (Paired, error) {
	list, err := s.cfg.Devices.List()
	for i := range list {
		list[i].This = list[i].ID == r.device.ID
	}
	return Paired{list}, err
}

func (s *server) revoke(r *request, _ struct{}) (struct{}, error) {
	id := r.PathValue("device")
	r.detail = id
	if id != r.device.ID && r.device.Rights != Steer {
		return struct{}{}, fault.NewConfiguration("pawl serve revoke "+id, "this device may only revoke itself")
	}
	err := s.cfg.Devices.Revoke(id)
	if err == nil {
		s.viewers.dismiss(func(of string) bool { return of == id })
	}
	return struct{}{}, err
}

func (s *server) list(r *request) (List, error) {
	rows, err := s.sessions.rows(r.Context())
	return List{rows}, err
}

func (s *server) state(r *request) (State, error) {
	return s.sessions.state(r.Context(), r.PathValue("id"))
}

func (s *server) begin(r *request, w Want) (Begun, error) {
	r.detail = w.Folder
	l, err := s.sessions.begin(r.Context(), w)
	if err != nil {
		return Begun{}, err
	}
	if w.Text != "" {
		err = l.prompt(r.Context(), Prompt{ID: "first-" + l.id, Text: w.Text})
	}
	return Begun{ID: l.id}, err
}

const mostAtOnce = 200

// number reads an optional number of an address.
func number(text string) (int64, error) {
	n, err := strconv.ParseInt(cmp.Or(text, "0"), 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("this is not a number: %s", plain.Line(text))
	}
	return n, nil
}

func (s *server) blocks(r *request) (Blocks, error) {
	n, err := strconv.Atoi(cmp.Or(r.FormValue("n"), "100"))
	if err != nil || n < 1 {
		return Blocks{}, errors.New("n is how many blocks are wanted")
	}
	id := r.PathValue("id")
	if _, err := s.sessions.row(r.Context(), id); err != nil && s.sessions.of(id) == nil {
		return Blocks{}, err
	}
	return s.sessions.blocks(r.Context(), id, r.FormValue("before"), min(n, mostAtOnce))
}

func (s *server) prompt(r *request, p Prompt) (struct{}, error) {
	r.detail = p.ID
	if s.sessions.isSwarm(r.Context(), r.PathValue("id")) {
		return struct{}{}, errSwarm
	}
	l, err := s.sessions.opened(r.Context(), r.PathValue("id"))
	if err != nil {
		return struct{}{}, err
	}
	return struct{}{}, l.prompt(r.Context(), p)
}

func (s *server) withdraw(r *request, l *live, w Withdrawn) error {
	return l.withdraw(r.Context(), w.ID)
}

func (s *server) interrupt(r *request, l *live, _ struct{}) error { return l.interrupt(r.Context()) }

func (s *server) undo(r *request, l *live, u Undo) error { return l.undo(r.Context(), selector(0), u) }
