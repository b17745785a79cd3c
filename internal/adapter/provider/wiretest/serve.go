package wiretest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
)

// Server answers request N with the Nth recording's response, and stores the requests.
type Server struct {
	*httptest.Server

	mu    sync.Mutex
	recs  []*Recording
	asked [][]byte
}

// Serve starts a server for the recorded cases; it is closed when the test ends. A
// request beyond the last gets status 410, which no client retries.
func Serve(t testing.TB, cases ...Case) *Server {
	t.Helper()
	s := new(Server)
	for _, c := range cases {
		r, err := c.Load()
		if err != nil {
			t.Fatal(err)
		}
		s.recs = append(s.recs, r)
	}
	s.Server = httptest.NewServer(http.HandlerFunc(s.answer))
	t.Cleanup(s.Close)
	return s
}

// Client returns the real client of a case, connected to the server.
func (s *Server) Client(t testing.TB, c Case) *provider.Client {
	t.Helper()
	wire, ok := c.Wire()
	if !ok {
		t.Fatalf("%s: no API %s", c.File, c.API)
	}
	client, err := provider.New(provider.Config{
		API: wire, BaseURL: s.URL, Key: "test-key-of-nobody", KeyName: "TEST_API_KEY", Info: c.Info(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// Asked returns the bodies of the requests so far.
func (s *Server) Asked() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([][]byte(nil), s.asked...)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	body, err := readAll(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	n := len(s.asked)
	s.asked = append(s.asked, body)
	s.mu.Unlock()
	if n >= len(s.recs) {
		http.Error(w, `{"error":{"message":"the recorded session is over"}}`, http.StatusGone)
		return
	}
	write(w, s.recs[n], s.recs[n].Response.Body)
}

// write answers with a recording's status and headers and the given body.
func write(w http.ResponseWriter, r *Recording, body string) {
	for k, v := range r.Response.Headers {
		switch strings.ToLower(k) {
		case "content-length", "transfer-encoding", "content-encoding", "connection":
		default:
			w.Header().Set(k, v)
		}
	}
	w.WriteHeader(r.Response.Status)
	_, _ = w.Write([]byte(body)) // a client that went away is not the server's trouble
}
