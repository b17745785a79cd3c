//go:build conformance

package mcp

import (
	"context"
	"encoding/json"
	"flag"
	"net/http"
	neturl "net/url"
	"os"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// defaults is a person who leaves every answer out.
type defaults struct{}

func (defaults) Question(_ context.Context, _ string, options []string) (string, error) {
	return "", nil
}

// SPEC 17.1: the client of the official conformance suite, which runs it for
// each scenario with the address of its server. `.ci/run` runs the suite.
func TestConformanceClient(t *testing.T) {
	scenario := os.Getenv("MCP_CONFORMANCE_SCENARIO")
	if scenario == "" || flag.NArg() != 1 {
		t.Fatal("the conformance suite starts it: see .ci/run")
	}
	var about struct {
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
	}
	if raw := os.Getenv("MCP_CONFORMANCE_CONTEXT"); raw != "" {
		if err := json.Unmarshal([]byte(raw), &about); err != nil {
			t.Fatal(err)
		}
	}
	url := flag.Arg(0)
	oauth := OAuth{ClientID: about.ClientID, ClientSecret: about.ClientSecret}
	if scenario == "auth/client-credentials-basic" { // a person who knows the service knows its issuer
		oauth.Grant, oauth.Issuer = asService, issuerOf(t, url)
	}
	if scenario == "auth/basic-cimd" {
		oauth.ClientID = "https://conformance-test.local/client-metadata.json"
	}
	s := New(Options{
		Root: t.TempDir(), Pins: NewPins(""), Version: "test", Wait: time.Minute, Grants: Grants{Dir: t.TempDir()}, SignIn: browser(),
		Servers: []Server{{Name: "suite", Transport: "http", URL: url, start: []string{url}, OAuth: oauth}},
		Confine: func(Server) process.Confine { return process.Free },
	})
	defer http.DefaultClient.CloseIdleConnections()
	defer s.Close()
	set, notes := s.Offer(t.Context(), modelOf(1_000_000), true)
	for _, n := range notes {
		t.Log(n)
	}
	args := map[string]string{"mcp__suite__add_numbers": `{"a":5,"b":3}`}
	for _, one := range set {
		in := args[one.Spec.Name]
		if in == "" {
			in = `{}`
		}
		r, err := one.Run(t.Context(), tool.Env{Out: func(string) {}, Ask: defaults{}}, json.RawMessage(in))
		t.Log(one.Spec.Name, r.Text, err)
	}
}

// issuerOf returns the authorization server of the suite's server.
func issuerOf(t *testing.T, server string) string {
	t.Helper()
	u, err := neturl.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/.well-known/oauth-protected-resource" + u.Path
	resp, err := http.Get(u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var doc struct {
		Servers []string `json:"authorization_servers"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&doc); err != nil || len(doc.Servers) == 0 {
		t.Fatalf("%v %+v", err, doc)
	}
	return doc.Servers[0]
}
