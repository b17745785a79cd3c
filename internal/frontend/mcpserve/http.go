package mcpserve

import (
	"context"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxBody is how long a request may be, in bytes.
const maxBody = 16 << 20

// Handler serves programs over streamable HTTP. A program must send the token, which is
// not empty. Requests for another host than this machine's, and requests of a web page from
// elsewhere, are refused whatever they send: a page that a person looks at must not reach
// what runs on their machine.
func (s *Server) Handler(token string) http.Handler {
	mcp := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.sdk }, &sdk.StreamableHTTPOptions{MaxRequestBodyBytes: maxBody})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		switch {
		case !ofThisMachine(r.Host), !sameOrigin(r):
			http.Error(w, "only requests for this machine, and from no page of elsewhere", http.StatusForbidden)
		case token == "" || !bearer || subtle.ConstantTimeCompare([]byte(given), []byte(token)) != 1:
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "send the token of the file that --token-file names: Authorization: Bearer TOKEN", http.StatusUnauthorized)
		default:
			mcp.ServeHTTP(w, r)
		}
	})
}

// sameOrigin reports whether a request comes from no web page, or from one of this server.
func sameOrigin(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return true
	}
	u, err := url.Parse(origins[0])
	return err == nil && len(origins) == 1 && u.Scheme == "http" && u.Host == r.Host
}

// ofThisMachine reports whether a host, with or without a port, is this machine's loopback.
func ofThisMachine(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// ErrAddress means that an address is not one of this machine's loopback.
var ErrAddress = errors.New("not an address of this machine's loopback, such as 127.0.0.1:7296")

// Listen listens on an address of this machine's loopback.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	if _, _, err := net.SplitHostPort(address); err != nil || !ofThisMachine(address) {
		return nil, ErrAddress
	}
	return (&net.ListenConfig{}).Listen(ctx, "tcp", address)
}

// Serve serves programs over HTTP until ctx ends.
func (s *Server) Serve(ctx context.Context, l net.Listener, token string) error {
	srv := &http.Server{Handler: s.Handler(token), ReadHeaderTimeout: 10 * time.Second}
	over := context.AfterFunc(ctx, func() {
		for session := range s.sdk.Sessions() { // their calls end with them
			_ = session.Close()
		}
		_ = srv.Close()
	})
	defer over()
	err := srv.Serve(l)
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, s.Close())
}
