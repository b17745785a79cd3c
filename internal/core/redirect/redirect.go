// Package redirect waits for the end of a sign-in in a person's browser.
//
// It promises that only the answer to this sign-in counts: a GET of its path, at the
// loopback by name or number, that the caller accepts. Every other request gets a 404,
// and the right answer may still come after it. When Await returns, nothing that it
// started is still running.
package redirect

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// page is what the browser shows at the end.
const page = `<!doctype html><meta charset="utf-8"><title>pawl</title><p>You can close this page and go back to pawl.`

type SignIn struct {
	Path string // of the address at which the browser ends
	// Mine reports whether an answer is to this sign-in; nil: each one is.
	Mine func(url.Values) bool
	// Show shows the person the address. It returns the address at which their browser
	// ended, if they typed it in, or "": then the browser itself is waited for.
	Show func(ctx context.Context, address string) (typed string, err error)
}

// Await shows the address, and returns where the browser ended: at the listener, which it
// closes, or what was typed in, which the caller has to check. If ctx ended, the error is
// its cause.
func (s SignIn) Await(ctx context.Context, l net.Listener, address string) (*url.URL, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type ended struct {
		at  *url.URL
		err error
	}
	got := make(chan ended, 1)
	tell := func(at *url.URL, err error) {
		select {
		case got <- ended{at, err}:
		default: // the first one counts
		}
	}
	srv := &http.Server{
		ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 32 << 10,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			host, _, _ := net.SplitHostPort(r.Host)
			if r.Method != http.MethodGet || r.URL.Path != s.Path || host != "localhost" && host != "127.0.0.1" || s.Mine != nil && !s.Mine(r.URL.Query()) {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Header().Set("Connection", "close")
			_, _ = io.WriteString(w, page)
			tell(r.URL, nil)
		}),
	}
	done := make(chan struct{}, 2)
	go func() {
		_ = srv.Serve(l)
		done <- struct{}{}
	}()
	go func() {
		defer func() { done <- struct{}{} }()
		typed, err := s.Show(ctx, address)
		if err != nil {
			tell(nil, err)
		} else if typed = strings.TrimSpace(typed); typed != "" {
			tell(url.Parse(typed))
		}
	}()
	defer func() {
		cancel()
		stop, end := context.WithTimeout(context.Background(), time.Second) // for the page
		defer end()
		if srv.Shutdown(stop) != nil {
			_ = srv.Close()
		}
		<-done
		<-done
	}()
	select {
	case e := <-got:
		return e.at, e.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
