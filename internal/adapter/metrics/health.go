package metrics

import (
	"net"
	"net/http"
)

// Sample is one value for a scraper. Samples of one name come one after another.
type Sample struct {
	name, kind, help string
	value            float64
	labels           []string
}

// Gauge returns a value that goes up and down; labels are names and values in turn.
func Gauge(name, help string, v float64, labels ...string) Sample {
	return Sample{name, "gauge", help, v, labels}
}

// Counter returns a value that only grows.
func Counter(name, help string, v float64, labels ...string) Sample {
	return Sample{name, "counter", help, v, labels}
}

// ServeHealth serves, on an address such as 127.0.0.1:8081, whether the process lives
// (/livez) and whether it can take work (/readyz: ready returns why not), and samples
// (/metrics). Without a host it listens only on this machine. The caller closes the server.
func ServeHealth(addr string, ready func() error, samples func() []Sample) (*Server, error) {
	if host, port, err := net.SplitHostPort(addr); err == nil && host == "" {
		addr = net.JoinHostPort("127.0.0.1", port)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := ready(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("ok\n"))
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		var out text
		last := ""
		for _, s := range samples() {
			if s.name != last {
				out.head(s.name, s.kind, s.help)
				last = s.name
			}
			out.line(s.name, s.value, s.labels...)
		}
		out.send(w)
	})
	s := &Server{}
	return s, s.serve("--health", addr, mux)
}
