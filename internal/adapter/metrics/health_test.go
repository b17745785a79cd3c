package metrics

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 14.6: health and samples are served, without a host only on this machine.
func TestHealth(t *testing.T) {
	why := errors.New("it is starting")
	s := must.Get(ServeHealth(":0", func() error { return why }, func() []Sample {
		return []Sample{
			Gauge("pawl_slots", "Slots.", 3),
			Counter("pawl_tasks_total", "Tasks.", 2, "outcome", "done"), Counter("pawl_tasks_total", "Tasks.", 1, "outcome", "a\"b\n"),
		}
	}))(t)
	t.Cleanup(func() { _ = s.Close() })
	if host, _, err := net.SplitHostPort(s.Addr()); err != nil || !net.ParseIP(host).IsLoopback() {
		t.Errorf("it listens on %s", s.Addr())
	}
	get := func(path string, want int) string {
		t.Helper()
		r := must.Get(http.Get("http://" + s.Addr() + path))(t)
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != want {
			t.Errorf("%s: %s, %v: %s", path, r.Status, err, text)
		}
		return string(text)
	}
	get("/livez", 200)
	if text := get("/readyz", 503); !strings.Contains(text, "it is starting") {
		t.Error(text)
	}
	why = nil
	get("/readyz", 200)
	want := "# HELP pawl_slots Slots.\n# TYPE pawl_slots gauge\npawl_slots 3\n" +
		"# HELP pawl_tasks_total Tasks.\n# TYPE pawl_tasks_total counter\npawl_tasks_total{outcome=\"done\"} 2\npawl_tasks_total{outcome=\"a\\\"b\\n\"} 1\n"
	if got := get("/metrics", 200); got != want {
		t.Errorf("%s", got)
	}
	if _, err := ServeHealth("nowhere", nil, nil); err == nil || !strings.Contains(err.Error(), "--health") {
		t.Errorf("%v", err)
	}
}
