package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

// This file is the way of a sign-in through the person's browser and back.

const signedInPage = `<!doctype html><meta charset="utf-8"><title>pawl</title><p>You can close this page and go back to pawl.`

// browse shows the person the address, and waits for where their browser ends:
// at the listener, or at the address that they type in.
func (a *signin) browse(ctx context.Context, l net.Listener, address string) (*auth.AuthorizationResult, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	if err := a.mayReach(u); err != nil {
		return nil, fmt.Errorf("the address for signing in is not shown: %w", err)
	}
	state := u.Query().Get("state")
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type ended struct {
		r   *auth.AuthorizationResult
		err error
	}
	got := make(chan ended, 2)
	srv := &http.Server{
		ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 32 << 10,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			host, _, _ := net.SplitHostPort(r.Host)
			if r.Method != http.MethodGet || r.URL.Path != "/callback" || host != "127.0.0.1" && host != "localhost" || r.URL.Query().Get("state") != state {
				http.NotFound(w, r) // no answer to this sign-in: the right one may still come
				return
			}
			res, err := answerOf(r.URL.Query())
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Header().Set("Connection", "close")
			_, _ = io.WriteString(w, signedInPage)
			select {
			case got <- ended{res, err}:
			default:
			}
		}),
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = srv.Serve(l)
	}()
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		typed, err := a.by.Show(ctx, address)
		if err == nil && typed == "" {
			return // the browser is waited for
		}
		var res *auth.AuthorizationResult
		if err == nil {
			var back *url.URL
			if back, err = url.Parse(strings.TrimSpace(typed)); err == nil {
				res, err = answerOf(back.Query())
			}
		}
		select {
		case got <- ended{res, err}:
		default:
		}
	}()
	defer func() {
		cancel()
		stop, done := context.WithTimeout(context.Background(), time.Second) // for the page
		defer done()
		if srv.Shutdown(stop) != nil {
			_ = srv.Close()
		}
		<-served
		<-shown
	}()
	select {
	case e := <-got:
		return e.r, e.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// answerOf reads the answer of an authorization server.
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
		return t, errors.New("its answer can not be read")
	case t.Access == "" || t.Type != "" && !strings.EqualFold(t.Type, "bearer"):
		return t, errors.New("its answer has no token that is sent as one")
	}
	return t, nil
}

// refusal sends the server a request without a token, and returns its refusal,
// which says where to sign in. One that does not refuse may still want a token
// for what it does: then the protocol's own addresses are tried.
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
	client.Transport = &bound{to: a.to, headers: a.srv.Headers, next: cmp.Or(a.s.opt.HTTP, http.DefaultTransport)}
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
