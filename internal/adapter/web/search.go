package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// This file searches the web with a search API. It makes the promises of Fetch for the
// one configured host: no redirect is followed, so that the key goes nowhere else; the
// address that was checked is the one that is dialled; at most 2 MB and 30 s. A person's
// own service may be on this machine or in a private network if its configured name or
// address shows that; a public name that leads there is refused.

// searchAPI is a service with a published API.
type searchAPI struct {
	base    string // "": the person names it
	keys    []string
	request func(base, key, query string) (*http.Request, error)
	read    func(body []byte) ([]tool.Hit, error)
}

var searchAPIs = map[string]searchAPI{
	"brave": {
		base: "https://api.search.brave.com", keys: []string{"BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"},
		request: func(base, key, query string) (*http.Request, error) {
			req, err := http.NewRequest(http.MethodGet, base+"/res/v1/web/search?"+url.Values{"q": {query}, "count": {"10"}}.Encode(), nil)
			if err == nil {
				req.Header.Set("X-Subscription-Token", key)
			}
			return req, err
		},
		read: func(body []byte) ([]tool.Hit, error) {
			var r struct {
				Web struct{ Results []hit }
			}
			return hits(json.Unmarshal(body, &r), r.Web.Results)
		},
	},
	"tavily": {
		base: "https://api.tavily.com", keys: []string{"TAVILY_API_KEY"},
		request: func(base, key, query string) (*http.Request, error) {
			body, err := json.Marshal(map[string]any{"query": query, "max_results": 10})
			if err != nil {
				return nil, err
			}
			req, err := http.NewRequest(http.MethodPost, base+"/search", bytes.NewReader(body))
			if err == nil {
				req.Header.Set("Authorization", "Bearer "+key)
				req.Header.Set("Content-Type", "application/json")
			}
			return req, err
		},
		read: readResults,
	},
	"searxng": {
		request: func(base, _, query string) (*http.Request, error) {
			return http.NewRequest(http.MethodGet, base+"/search?"+url.Values{"q": {query}, "format": {"json"}}.Encode(), nil)
		},
		read: readResults,
	},
}

type hit struct{ Title, URL, Description, Content string }

func readResults(body []byte) ([]tool.Hit, error) {
	var r struct{ Results []hit }
	return hits(json.Unmarshal(body, &r), r.Results)
}

func hits(err error, of []hit) ([]tool.Hit, error) {
	if err != nil {
		return nil, errors.New("its answer does not follow its API")
	}
	var out []tool.Hit
	for _, h := range of[:min(len(of), 10)] {
		if u, err := url.Parse(h.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" {
			continue
		}
		out = append(out, tool.Hit{Title: plainText(h.Title), URL: visible(h.URL), Text: plainText(h.Description + h.Content)})
	}
	return out, nil
}

// plainText returns an extract without the marks that services insert, cut after 600
// characters.
func plainText(s string) string {
	for _, mark := range []string{"<strong>", "</strong>", "<b>", "</b>", "<em>", "</em>"} {
		s = strings.ReplaceAll(s, mark, "")
	}
	return cut.Runes(visible(strings.ToValidUTF8(html.UnescapeString(s), "\uFFFD")), 600)
}

func searchAPINames() []string { return []string{"brave", "tavily", "searxng"} }

// SearchKeys returns the variables that may hold the services' keys.
func SearchKeys() (out []string) {
	for _, name := range searchAPINames() {
		out = append(out, searchAPIs[name].keys...)
	}
	return out
}

// Search is a configured search service, a tool.Searcher.
type Search struct {
	name, base, key string
	api             searchAPI
	client          *Client
}

// SearchOptions configures a search service.
type SearchOptions struct {
	API  string // brave, tavily or searxng
	URL  string // "": the service's default address
	Env  func(string) string
	Base Options // for tests; Follow and Proxy are not used
}

// NewSearch returns a Search. It opens no connection. The error for a missing key or
// address names what to set.
func NewSearch(o SearchOptions) (*Search, error) {
	api, ok := searchAPIs[o.API]
	if !ok {
		return nil, fmt.Errorf("search.api is %q: there are %s", o.API, strings.Join(searchAPINames(), ", "))
	}
	s := &Search{name: o.API, base: strings.TrimRight(o.URL, "/"), api: api}
	s.base = cmp.Or(s.base, api.base)
	if s.base == "" {
		return nil, fmt.Errorf("search.api is %s: set search.url to its address", o.API)
	}
	u, err := parseURL(s.base)
	if err != nil {
		return nil, fmt.Errorf("search.url: %w", err)
	}
	s.base = strings.TrimRight(u.String(), "/")
	for _, name := range api.keys {
		if s.key == "" {
			s.key = strings.TrimSpace(o.Env(name))
		}
	}
	if s.key == "" && len(api.keys) > 0 {
		return nil, fmt.Errorf("search.api is %s: set %s to its key", o.API, api.keys[0])
	}
	s.client = New(o.Base)
	if s.client.Refuses(u.Hostname()) { // the configured host is not public
		o.Base.Allowed = func(netip.Addr) bool { return true }
		s.client = New(o.Base)
	}
	return s, nil
}

func (s *Search) Host() string {
	u, err := url.Parse(s.base)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

func (s *Search) Search(ctx context.Context, query string) (tool.SearchResult, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.client.opt.Timeout, fmt.Errorf("no answer within %s", s.client.opt.Timeout.Round(time.Second)))
	defer cancel()
	body, err := s.ask(ctx, query)
	if err == nil {
		var found []tool.Hit
		if found, err = s.api.read(body); err == nil {
			return tool.SearchResult{Hits: found}, nil
		}
	}
	if ctx.Err() != nil && context.Cause(ctx) != nil {
		err = context.Cause(ctx)
	}
	return tool.SearchResult{}, fmt.Errorf("search by %s: %w", s.name, shortError(err))
}

func (s *Search) ask(ctx context.Context, query string) ([]byte, error) {
	req, err := s.api.request(s.base, s.key, query)
	if err != nil {
		return nil, errors.New("its address cannot be asked")
	}
	req.Header.Set("User-Agent", s.client.opt.Agent)
	req.Header.Set("Accept", "application/json")
	resp, err := s.client.http.Do(req.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, s.client.opt.MaxBytes+1))
	switch status := resp.StatusCode; {
	case status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusUnprocessableEntity:
		if len(s.api.keys) == 0 {
			return nil, fmt.Errorf("it refuses (HTTP %d): does its configuration allow the format json?", status)
		}
		return nil, fmt.Errorf("it refuses the key or the request (HTTP %d)", status)
	case status == http.StatusTooManyRequests:
		return nil, errors.New("its limit is reached (HTTP 429); try again later")
	case status != http.StatusOK:
		return nil, fmt.Errorf("HTTP %d", status)
	case int64(len(body)) > s.client.opt.MaxBytes:
		return nil, errors.New("its answer is too long")
	}
	return body, err
}
