//go:build realmcp

package mcpserve

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-agent/pawl/internal/engine/session"
)

// SPEC 17.1: the official suite's scenarios that ask for none of its own tools,
// resources and prompts. PAWL_MCP_SUITE is the folder in which npm installed it;
// `.ci/run` does that. The suite speaks HTTP, so the server is put behind it.
func TestConformanceServer(t *testing.T) {
	suite := os.Getenv("PAWL_MCP_SUITE")
	var all []*sdk.Server
	var mu sync.Mutex
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server {
		s := New(t.Context(), Options{Version: "test", Open: func(context.Context, bool) (*session.Session, error) { return nil, os.ErrInvalid }}).sdk
		mu.Lock()
		defer mu.Unlock()
		all = append(all, s)
		return s
	}, nil)
	srv := httptest.NewServer(handler)
	defer srv.Close()
	for _, s := range []string{"server-initialize", "ping", "tools-list", "server-sse-multiple-streams", "dns-rebinding-protection"} {
		t.Run(s, func(t *testing.T) {
			cmd := exec.Command(filepath.Join(suite, "node_modules/.bin/node"), filepath.Join(suite, "node_modules/@modelcontextprotocol/conformance/dist/index.js"), "server", "--url", srv.URL, "--scenario", s)
			cmd.Dir = t.TempDir()
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	for _, s := range all {
		for ss := range s.Sessions() {
			_ = ss.Close()
		}
	}
}
