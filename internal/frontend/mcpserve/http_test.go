package mcpserve

import (
	"context"
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// SPEC 17.1: what the tools show can be read and subscribed to as resources; arguments are
// completed; what does not exist cannot be subscribed to.
func TestResources(t *testing.T) {
	p := newProgram(t, accept(allowOnce), write(), llmtest.Say("It is written."))
	for _, uri := range []string{"pawl://diff/turn", "pawl://status"} {
		if err := p.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
			t.Fatal(uri, err)
		}
	}
	for _, uri := range []string{"pawl://diff/", "pawl://diff/all", "pawl://statu", "file:///etc/passwd", ""} {
		if err := p.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err == nil {
			t.Errorf("%q does not exist", uri)
		}
	}
	p.text(t, "prompt", `{"prompt":"write a.txt"}`)
	got := []string{<-p.updates, <-p.updates}
	if slices.Sort(got); !slices.Equal(got, []string{"pawl://diff/turn", "pawl://status"}) {
		t.Errorf("%q", got)
	}
	for uri, want := range map[string]string{"pawl://diff/turn": "+one", "pawl://diff/session": "+one", "pawl://status": `"files":["a.txt"]`} {
		if r, err := p.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err != nil || len(r.Contents) != 1 || !strings.Contains(r.Contents[0].Text, want) {
			t.Errorf("%s: %+v, %v", uri, r, err)
		}
	}
	if _, err := p.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "pawl://diff/other"}); err == nil {
		t.Error("there is no such diff")
	}
	must.Do(t, p.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: "pawl://status"}))
	p.text(t, "undo", `{}`)
	if got := <-p.updates; got != "pawl://diff/turn" {
		t.Error(got)
	}
	for _, c := range []struct{ uri, argument, typed, want string }{
		{diffsURI, "of", "", "session turn"}, {diffsURI, "of", "t", "turn"}, {diffsURI, "of", "x", ""}, {diffsURI, "other", "", ""}, {"other://{of}", "of", "", ""},
	} {
		r, err := p.Complete(t.Context(), &sdk.CompleteParams{Ref: &sdk.CompleteReference{Type: "ref/resource", URI: c.uri}, Argument: sdk.CompleteParamsArgument{Name: c.argument, Value: c.typed}})
		if err != nil || strings.Join(r.Completion.Values, " ") != c.want {
			t.Errorf("%+v: %+v, %v", c, r, err)
		}
	}
	if r, err := p.Complete(t.Context(), &sdk.CompleteParams{Ref: &sdk.CompleteReference{Type: "ref/prompt", Name: "none"}, Argument: sdk.CompleteParamsArgument{Name: "a"}}); err != nil || r.Completion.Values == nil {
		t.Errorf("%+v, %v", r, err)
	}
}

// bearer adds a token to each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// SPEC 17.1, 16: over HTTP only programs of this machine that send the token are served,
// and no web page; the server ends with its context, with its programs' calls.
func TestServeHTTP(t *testing.T) {
	const token = "a-token-of-this-test"
	for _, at := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "example.com:0", "127.0.0.1", ""} {
		if l, err := Listen(t.Context(), at); !errors.Is(err, ErrAddress) {
			t.Errorf("%q: %v, %v", at, l, err)
		}
	}
	l := must.Get(Listen(t.Context(), "127.0.0.1:0"))(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	s := New(ctx, Options{Version: "test", Open: func(context.Context, bool) (*session.Session, error) { return nil, os.ErrInvalid }})
	go func() { ended <- s.Serve(ctx, l, token) }()
	defer http.DefaultClient.CloseIdleConnections()
	address := "http://" + l.Addr().String()
	for name, c := range map[string]struct {
		host, origin, auth string
		want               int
	}{
		"no token":               {"", "", "", 401},
		"another token":          {"", "", "Bearer a-token-of-this-tesT", 401},
		"an empty token":         {"", "", "Bearer ", 401},
		"another scheme":         {"", "", "Basic " + token, 401},
		"a name that leads here": {"evil.example:80", "", "Bearer " + token, 403},
		"a name like localhost":  {"localhost.evil.example", "", "Bearer " + token, 403},
		"a page of elsewhere":    {"", "https://evil.example", "Bearer " + token, 403},
		"a page of another port": {"", "http://127.0.0.1:1", "Bearer " + token, 403},
		"a page without origin":  {"", "null", "Bearer " + token, 403},
		"a page of this server":  {"", address, "Bearer " + token, 200},
		"a program":              {"", "", "Bearer " + token, 200},
	} {
		hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
		r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(hello)))(t)
		r.Host = c.host
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		for k, v := range map[string]string{"Origin": c.origin, "Authorization": c.auth} {
			if v != "" {
				r.Header.Set(k, v)
			}
		}
		resp := must.Get(http.DefaultClient.Do(r))(t)
		_ = resp.Body.Close()
		if resp.StatusCode != c.want {
			t.Errorf("%s: %d, want %d", name, resp.StatusCode, c.want)
		}
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "program", Version: "1"}, nil)
	p := must.Get(client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: address, HTTPClient: &http.Client{Transport: bearer(token)}, MaxRetries: -1}, nil))(t)
	if tools, err := p.ListTools(t.Context(), nil); err != nil || len(tools.Tools) != 4 {
		t.Errorf("%v, %v", tools, err)
	}
	stop()
	must.Do(t, <-ended)
	_ = p.Close()
}
