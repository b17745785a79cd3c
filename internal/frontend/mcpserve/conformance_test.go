//go:build realmcp

package mcpserve

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/pawl-agent/pawl/internal/engine/session"
)

// SPEC 17.1: the official suite's scenarios that ask for none of its own tools,
// resources and prompts. PAWL_MCP_SUITE is the folder in which npm installed it;
// `.ci/run` does that. The suite sends no token, so it is added before the server.
func TestConformanceServer(t *testing.T) {
	suite := os.Getenv("PAWL_MCP_SUITE")
	const token = "the token of the suite"
	server := New(t.Context(), Options{Version: "test", Open: func(context.Context, bool) (*session.Session, error) { return nil, os.ErrInvalid }})
	handler := server.Handler(token)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+token)
		handler.ServeHTTP(w, r)
	}))
	defer srv.Close()
	for _, s := range []string{"server-initialize", "ping", "tools-list", "server-sse-multiple-streams", "dns-rebinding-protection", "resources-list", "completion-complete"} {
		t.Run(s, func(t *testing.T) {
			cmd := exec.Command(filepath.Join(suite, "node_modules/.bin/node"), filepath.Join(suite, "node_modules/@modelcontextprotocol/conformance/dist/index.js"), "server", "--url", srv.URL, "--scenario", s)
			cmd.Dir = t.TempDir()
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	for session := range server.sdk.Sessions() {
		_ = session.Close()
	}
}
