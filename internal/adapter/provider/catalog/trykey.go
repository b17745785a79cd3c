package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/gemini"
)

// Tried is the result of trying a key. It does not contain the key.
type Tried struct {
	Where string // the host that was asked
	// Known is whether the answer shows that the key is right or wrong; Right is whether
	// it is right.
	Known, Right bool
	Said         string // the answer, in words
}

// TryKey asks the provider to list its models, which is free of charge, with the key and,
// if that works, without it: a server that lists them to anybody has not checked the key.
// ok is false if there is no key or no API to try.
func (c Choice) TryKey(ctx context.Context, transport http.RoundTripper) (t Tried, ok bool) {
	key := c.key.reveal()
	api, err := c.api()
	if key == "" || err != nil {
		return Tried{}, false
	}
	if transport == nil {
		transport = http.DefaultTransport
	}
	t.Where = hostOf(c.BaseURL)
	path := "/v1/models"
	if c.Info.API == gemini.Name {
		path = "/v1beta/models"
	}
	list := func(key string) (int, string, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, provider.Join(c.BaseURL, path), nil)
		if err != nil {
			return 0, "", errors.New("its address cannot be read")
		}
		api.Header(req.Header, key)
		if c.KeyName == authToken {
			req.Header.Del("X-Api-Key")
			if key != "" {
				req.Header.Set("Authorization", "Bearer "+key)
			}
		}
		resp, err := transport.RoundTrip(req) // follows no redirect: the key goes nowhere else
		if err != nil {
			return 0, "", err
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<16)) // only searched for known phrases
		return resp.StatusCode, strings.ToLower(string(body)), nil
	}
	status, body, err := list(key)
	switch {
	case ctx.Err() != nil:
		t.Said = "no answer came in time"
	case err != nil:
		t.Said = "it cannot be reached: " + strings.ReplaceAll(err.Error(), key, "[key]")
	case status == http.StatusUnauthorized, status == http.StatusForbidden,
		status == http.StatusBadRequest && (strings.Contains(body, "api key") || strings.Contains(body, "api_key")):
		t.Known, t.Said = true, fmt.Sprintf("the key is refused (HTTP %d)", status)
	case status != http.StatusOK:
		t.Said = fmt.Sprintf("HTTP %d, which does not say whether the key is right", status)
	default:
		without, _, err := list("")
		switch {
		case err != nil:
			t.Said = "HTTP 200 with the key, and no answer without it"
		case without == http.StatusOK:
			t.Said = "it lists its models without a key too, which does not say whether the key is right"
		default:
			t.Known, t.Right, t.Said = true, true, "the key is accepted (HTTP 200)"
		}
	}
	return t, true
}
