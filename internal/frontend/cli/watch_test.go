package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 15.1, 16.2: a run's spans reach the collector that the environment
// names, whole when the process ends, and a project cannot name one.
func TestSpansOfARun(t *testing.T) {
	t.Parallel()
	got := make(chan string, 4)
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got <- string(b)
	}))
	defer srv.Close()
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, ".env"), []byte("OTEL_EXPORTER_OTLP_ENDPOINT="+srv.URL+"\n"), 0o644))
	run := func(env ...string) string {
		t.Helper()
		c := pawl(t, dir, t.TempDir(), env, "run", "-m", "offline", "run `echo marmalade`")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	run()
	if len(got) > 0 {
		t.Error("spans were sent that nobody asked for")
	}
	run("OTEL_EXPORTER_OTLP_ENDPOINT=" + srv.URL)
	spans := <-got
	for _, want := range []string{`"invoke_agent pawl"`, `"chat `, `"gen_ai.conversation.id"`} {
		if !strings.Contains(spans, want) {
			t.Errorf("no %s in %s", want, spans)
		}
	}
	if strings.Contains(spans, "marmalade") || strings.Contains(spans, dir) {
		t.Error("a prompt or a path leaves with the spans")
	}
	srv.CloseClientConnections()
	if out := run("OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_TIMEOUT=200"); !strings.Contains(out, "spans were not sent") {
		t.Errorf("a collector that is not there is not mentioned:\n%s", out)
	}
	if out := run("OTEL_EXPORTER_OTLP_ENDPOINT=nonsense"); !strings.Contains(out, "no spans are sent") {
		t.Errorf("a bad address is not mentioned:\n%s", out)
	}
}

// SPEC 15.1: the address of the counters is said; one that cannot be had is a
// configuration error before anything is asked of a model.
func TestMetricsAddr(t *testing.T) {
	t.Parallel()
	out, err := pawl(t, t.TempDir(), t.TempDir(), nil, "run", "-m", "offline", "--metrics-addr", "127.0.0.1:0", "run `true`").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "metrics are served on http://127.0.0.1:") {
		t.Errorf("%v\n%s", err, out)
	}
	c := pawl(t, t.TempDir(), t.TempDir(), nil, "run", "-m", "offline", "--metrics-addr", "256.0.0.1:1", "run `true`")
	out, err = c.CombinedOutput()
	if err == nil || c.ProcessState.ExitCode() != 3 || !strings.Contains(string(out), "--metrics-addr") {
		t.Errorf("%v\n%s", err, out)
	}
}
