package provider

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Bodies of any size arrive whole, also at the same time and on a connection that was
// used before, although connections share the memory they are sent through.
func TestTransportSendsBodiesWhole(t *testing.T) {
	var mu sync.Mutex
	remotes := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		remotes[r.RemoteAddr] = true
		mu.Unlock()
		b, _ := io.ReadAll(r.Body) // whole, before the reply begins
		_, _ = w.Write(b)
	}))
	defer server.Close()
	client := &http.Client{Transport: transport()}
	post := func(c byte, sizes ...int) {
		var parts [][]byte
		for i, n := range sizes {
			parts = append(parts, bytes.Repeat([]byte{c + byte(i)}, n))
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, nil)
		if err != nil {
			t.Error(err)
			return
		}
		setBody(req, parts)
		resp, err := client.Do(req)
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		if got, err := io.ReadAll(resp.Body); err != nil || !bytes.Equal(got, slices.Concat(parts...)) {
			t.Errorf("%c %v: got %d bytes, %v", c, sizes, len(got), err)
		}
	}
	for _, n := range []int{0, 1, 32<<10 - 1, 32 << 10, 32<<10 + 1, 300_000} {
		post('a', n, 7, n)
	}
	if len(remotes) != 1 {
		t.Errorf("%d connections for requests after each other", len(remotes))
	}
	var wg sync.WaitGroup
	for _, c := range strings.Split("A D G J M P S V", " ") {
		wg.Go(func() { post(c[0], 100_000, 50_000, 1) })
	}
	wg.Wait()
}
