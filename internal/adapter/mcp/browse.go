package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/pawl-agent/pawl/internal/core/redirect"
)

// This file sends the person's browser through a sign-in and reads the result.

// browse shows the person the address, and waits for the address at which their browser
// ends: it reaches the listener, or the person types it in.
func (a *signin) browse(ctx context.Context, l net.Listener, address string) (*auth.AuthorizationResult, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	if err := a.mayReach(u); err != nil {
		return nil, fmt.Errorf("the address for signing in is not shown: %w", err)
	}
	state := u.Query().Get("state")
	at, err := redirect.SignIn{
		Path: "/callback", Mine: func(q url.Values) bool { return q.Get("state") == state }, Show: a.by.Show,
	}.Await(ctx, l, address)
	if err != nil {
		return nil, err
	}
	return answerOf(at.Query())
}

// answerOf reads an authorization server's answer from the query of an address.
func answerOf(q url.Values) (*auth.AuthorizationResult, error) {
	if e := q.Get("error"); e != "" {
		return nil, errors.New(cut(visible(strings.TrimSpace(e+" "+q.Get("error_description"))), 300))
	}
	if q.Get("code") == "" {
		return nil, errors.New("the address holds no code")
	}
	return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
}

// token is the answer of a token endpoint.
type token struct {
	Access  string `json:"access_token"`
	Type    string `json:"token_type"`
	Refresh string `json:"refresh_token"`
	Seconds int64  `json:"expires_in"`
	Error   string `json:"error"`
}

func parseToken(status int, raw []byte) (t token, err error) {
	err = json.Unmarshal(raw, &t)
	switch {
	case t.Error != "":
		return t, errors.New(cut(visible(t.Error), 100))
	case status != http.StatusOK:
		return t, fmt.Errorf("status %d", status)
	case err != nil:
		return t, errors.New("its answer cannot be read")
	case t.Access == "" || t.Type != "" && !strings.EqualFold(t.Type, "bearer"):
		return t, errors.New("its answer has no usable token")
	}
	return t, nil
}

// refusal sends the server a request without a token, and returns its refusal, which
// names the place to sign in. A server that does not refuse may still want a token for
// its tools: then the protocol's own addresses are tried.
func (a *signin) refusal(ctx context.Context) (*http.Request, *http.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, authTime)
	defer cancel()
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + classic + `","capabilities":{},"clientInfo":{"name":"pawl","version":"1"}}}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.srv.URL, strings.NewReader(hello))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	client := a.client()
	client.Transport = &originTransport{to: a.to, headers: a.srv.Headers, next: cmp.Or(a.s.opt.HTTP, http.DefaultTransport)}
	resp, err := client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	_ = resp.Body.Close()
	challenge := resp.Header.Values("WWW-Authenticate")
	if resp.StatusCode != http.StatusUnauthorized {
		challenge = nil
	}
	return req, &http.Response{StatusCode: http.StatusUnauthorized, Header: http.Header{"Www-Authenticate": challenge}, Body: http.NoBody}, nil
}
