package metrics

import (
	"context"
	"errors"
	"net"
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
)

// Server serves the counts at GET /metrics.
type Server struct {
	mu     sync.Mutex // guards counts
	counts Counts
	http   http.Server
	addr   net.Addr
}

// Serve listens on an address such as 127.0.0.1:9464; port 0 means any free port. The
// caller closes the server.
func Serve(addr string) (*Server, error) {
	s := &Server{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", s.metrics)
	return s, s.serve("--metrics-addr", addr, mux)
}

// serve listens on the address of a flag.
func (s *Server) serve(flag, addr string, mux http.Handler) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return &fault.Error{
			Category: fault.Configuration, Err: err,
			Message: flag + " " + addr + " cannot be used to listen", Hint: "give a free address, such as 127.0.0.1:0",
		}
	}
	s.addr = l.Addr()
	s.http = http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 10 * time.Second}
	go func() { _ = s.http.Serve(l) }() // ends at Close; nothing else stops a listener
	return nil
}

// Addr returns the address on which the server listens.
func (s *Server) Addr() string { return s.addr.String() }

// Apply counts one event. It is safe for concurrent use.
func (s *Server) Apply(e event.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Apply(e)
}

func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	var out text
	s.mu.Lock()
	_, _ = s.counts.WriteTo(&out) // a string takes everything
	s.mu.Unlock()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	out.head("go_goroutines", "gauge", "Goroutines that exist.")
	out.line("go_goroutines", float64(runtime.NumGoroutine()))
	out.head("go_memstats_heap_inuse_bytes", "gauge", "Heap in use.")
	out.line("go_memstats_heap_inuse_bytes", float64(m.HeapInuse))
	out.send(w)
}

func (t *text) send(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write([]byte(t.String())) // a scraper that disconnected will ask again
}

// Close stops listening; it waits at most 1 s for running requests.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := s.http.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return s.http.Close()
}
