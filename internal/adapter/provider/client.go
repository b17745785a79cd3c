package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Config is the configuration of a Client. API, BaseURL and Info are required,
// the rest has defaults.
type Config struct {
	API     API
	BaseURL string // http(s)://host[/path]
	Key     string // empty if the server needs none
	KeyName string // the environment variable (or setting) to name when the key is wrong
	URLName string // the same for the base URL
	Auth    Auth   // nil: the key is enough
	Info    llm.Info
	NoLimit bool        // no limit of the reply is sent unless the request has one
	Header  http.Header // sent with each request, after the API's own

	// HTTP is copied; its CheckRedirect is replaced. Nil: a separate client,
	// with proxies from the environment as in net/http.
	HTTP *http.Client

	FirstByte time.Duration // how long to wait for the first byte of the reply; default 600 s
	Between   time.Duration // how long to wait between bytes; default 90 s
	Linger    time.Duration // how long to wait for the end of the body after the last event; default 2 s
	// AfterFunc is time.AfterFunc; tests inject their own.
	AfterFunc func(time.Duration, func()) Timer
}

// Client is a model reached through a wire API: an llm.Encoded. It reuses one connection
// for a whole session and is safe for concurrent use.
type Client struct {
	cfg  Config
	http *http.Client

	follows replyChain

	mu   sync.Mutex
	less API // in place of cfg.API: without what the server refused; nil: it refused nothing
}

var _ llm.Encoded = (*Client)(nil)

// New returns a client. It sends nothing and resolves no name before the first request.
// An invalid base URL is a configuration error.
func New(cfg Config) (*Client, error) {
	u, err := url.Parse(cfg.BaseURL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fault.NewConfiguration(setTo(cfg.URLName, "http(s)://host[:port][/path]"),
			"the base URL %q is not valid", Clean(cfg.BaseURL))
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fault.NewConfiguration(setTo(cfg.URLName, "http(s)://host[:port][/path]"),
			"the base URL of %s has a user, a query or a fragment", u.Host)
	}
	if cfg.Info.From == "" {
		cfg.Info.From = u.Host
	}
	if cfg.Info.API == "" {
		cfg.Info.API = cfg.API.Name()
	}
	cfg.FirstByte = orElse(cfg.FirstByte, 600*time.Second)
	cfg.Between = orElse(cfg.Between, 90*time.Second)
	cfg.Linger = orElse(cfg.Linger, 2*time.Second)
	if cfg.AfterFunc == nil {
		cfg.AfterFunc = func(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }
	}
	hc := http.Client{}
	if cfg.HTTP != nil {
		hc = *cfg.HTTP
	}
	if hc.Transport == nil {
		hc.Transport = transport()
	}
	hc.CheckRedirect = stayHome
	return &Client{cfg: cfg, http: &hc}, nil
}

// stayHome follows a redirect only if the method and the host stay the same and HTTPS
// does not become HTTP: any header may carry the key.
func stayHome(req *http.Request, via []*http.Request) error {
	from := via[len(via)-1]
	if len(via) >= 5 || req.Method != from.Method || req.URL.Hostname() != from.URL.Hostname() ||
		(from.URL.Scheme == "https" && req.URL.Scheme != "https") {
		return http.ErrUseLastResponse
	}
	return nil
}

func orElse(d, def time.Duration) time.Duration {
	if d <= 0 {
		return def
	}
	return d
}

// Info returns the description of the model.
func (c *Client) Info() llm.Info { return c.cfg.Info }

// Codec returns the encoder of requests for this client.
func (c *Client) Codec() llm.Codec { return c.cfg.API }

func (c *Client) Close() { c.http.CloseIdleConnections() }

// errStopped ends an exchange whose reader wants no more.
var errStopped = errors.New("no longer needed")

// Stream sends one request and yields the parts of the reply; see llm.Model.
func (c *Client) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		err := c.exchange(ctx, r, func(ds []llm.Delta) error {
			for _, d := range ds {
				if !yield(d, nil) {
					return errStopped
				}
			}
			return nil
		})
		if err == nil || errors.Is(err, errStopped) {
			return
		}
		yield(llm.Delta{}, c.finish(ctx, err))
	}
}

// exchange sends one request and passes its answer to out. What the server refuses and the
// API can do without is left out from then on; the first reply has a notice of it.
func (c *Client) exchange(parent context.Context, r *llm.Request, out func([]llm.Delta) error) error {
	c.mu.Lock()
	api := c.cfg.API
	if c.less != nil {
		api = c.less
	}
	c.mu.Unlock()
	notice := ""
	for {
		err := c.attempt(parent, api, r, func(ds []llm.Delta) error {
			for _, d := range ds {
				if d.Kind == llm.Done && notice != "" {
					c.mu.Lock()
					c.less = api
					c.mu.Unlock()
					d.Reply.Notice = c.cfg.Info.From + " refuses " + notice + ": requests are sent without"
				}
			}
			return out(ds)
		})
		f := (*fault.Error)(nil)
		frugal, ok := api.(Frugal)
		if !ok || !errors.As(err, &f) || f.Status != http.StatusBadRequest && f.Status != http.StatusUnprocessableEntity {
			return err
		}
		less, what := frugal.Without(f.Message)
		if less == nil {
			return err
		}
		if api = less; notice != "" {
			notice += ", "
		}
		notice += what
	}
}

// attempt sends one request and passes its answer to out.
func (c *Client) attempt(parent context.Context, api API, r *llm.Request, out func([]llm.Delta) error) error {
	if parent.Err() != nil {
		return parent.Err()
	}
	parts, err := bodyOf(c.cfg, api, r)
	if err != nil {
		return fault.NewInternal(err, "encode the request for %s", c.cfg.API.Name())
	}
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	w := newStallTimer(c.cfg.AfterFunc, c.cfg.FirstByte, c.cfg.Between, c.cfg.Linger, func() { cancel(fault.ErrStalled) })
	defer w.stop()
	ask := func(body [][]byte) (*http.Response, error) {
		return c.authorized(ctx, func() (*http.Request, error) { return c.request(ctx, api, r, body) }, body)
	}
	body, id, short := c.follows.shorten(c.cfg.API, r.Head, parts)
	if !short {
		body = parts
	}
	resp, err := ask(body)
	if err == nil && short && lost(resp.StatusCode) { // the whole conversation is right, whatever the server has stored
		_ = resp.Body.Close()
		c.follows.forget(id, true)
		resp, err = ask(parts)
	}
	if err != nil {
		return c.stalled(ctx, w, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return c.stalled(ctx, w, c.refused(resp, w))
	}
	err = c.reply(ctx, resp, w, func(ds []llm.Delta) error {
		for _, d := range ds {
			if d.Kind == llm.Done {
				c.follows.keep(c.cfg.API, r.Head, parts, d.Reply)
			}
		}
		return out(ds)
	})
	if err != nil && short {
		c.follows.forget(id, false) // the next try sends the whole
	}
	return err
}

// send sends a request. It repeats it once if a reused connection was closed: a server
// may close it at the moment of its reuse.
func (c *Client) send(req *http.Request) (*http.Response, error) {
	var kept atomic.Bool
	trace := &httptrace.ClientTrace{
		GotConn:              func(i httptrace.GotConnInfo) { kept.Store(i.Reused) },
		GotFirstResponseByte: func() { kept.Store(false) },
	}
	resp, err := c.http.Do(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
	if err == nil || !kept.Load() || req.Context().Err() != nil {
		return resp, err
	}
	if req.Body, err = req.GetBody(); err != nil {
		return nil, err
	}
	return c.http.Do(req)
}

func (c *Client) request(ctx context.Context, api API, r *llm.Request, parts [][]byte) (*http.Request, error) {
	model := firstOf(r.Head.Model, c.cfg.Info.Model)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, Join(c.cfg.BaseURL, c.cfg.API.Path(model)), nil)
	if err != nil {
		return nil, fault.NewConfiguration(setTo(c.cfg.URLName, "another address"), "cannot address %s: %v", c.cfg.Info.From, err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "pawl")
	if c.cfg.API.Framing() == SSE {
		req.Header.Set("Accept", "text/event-stream, application/json")
	}
	api.Header(req.Header, c.cfg.Key)
	for k, vs := range c.cfg.Header {
		req.Header[http.CanonicalHeaderKey(k)] = vs
	}
	setBody(req, parts)
	return req, nil
}

// reply reads an answer with a 2xx status.
func (c *Client) reply(ctx context.Context, resp *http.Response, w *stallTimer, out func([]llm.Delta) error) error {
	dec := c.cfg.API.Decoder()
	finisher, _ := dec.(Finisher)
	take := func(ds []llm.Delta, err error) error {
		if oerr := out(ds); oerr != nil {
			return oerr
		}
		if err != nil {
			return c.malformed(err)
		}
		if finisher != nil && finisher.Finished() {
			w.finish()
		}
		return nil
	}
	f := frames{
		framing: c.cfg.API.Framing(),
		event:   func(name string, data []byte) error { return take(dec.Event(name, data)) },
		whole:   func(body []byte) error { return take(dec.Whole(body)) },
	}
	rerr := f.read(watched{resp.Body, w})
	switch fe := (*fault.Error)(nil); {
	case errors.Is(rerr, errStopped) || errors.As(rerr, &fe):
		return rerr
	case errors.Is(rerr, errNothing) || errors.Is(rerr, errForeign) || errors.Is(rerr, errNotJSON):
		return c.foreign(resp, rerr, f.start)
	case errors.Is(rerr, errTooLarge):
		return c.malformed(rerr)
	case rerr != nil && cancelled(ctx):
		return rerr
	}
	// Whatever ended the body: after the last event the reply is complete.
	reply, err := dec.End()
	if err != nil {
		return c.stalled(ctx, w, c.incomplete(rerr, err))
	}
	w.stop()
	settle(&reply)
	return out([]llm.Delta{{Kind: llm.Done, Reply: &reply}})
}

// settle removes the whitespace from a reply's JSON, as the session log does: the bytes
// that are sent back must be the same before and after a resume (SPEC 10.4).
func settle(r *llm.Reply) {
	r.UsageRaw = compact(r.UsageRaw)
	for i := range r.Message.Parts {
		p := &r.Message.Parts[i]
		p.Raw = compact(p.Raw)
		if p.Call != nil {
			p.Call.Args = compact(p.Call.Args)
		}
	}
}

func compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if len(raw) == 0 || json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// refused returns the error for an answer whose status is not 2xx.
func (c *Client) refused(resp *http.Response, w *stallTimer) error {
	body, _ := io.ReadAll(io.LimitReader(watched{resp.Body, w}, 1<<20)) // a partial explanation is useful too
	if to := resp.Header.Get("Location"); to != "" && resp.StatusCode < 400 {
		f := fault.NewProvider(c.cfg.Info.Provider, resp.StatusCode, "", nil)
		f.Message = c.cfg.Info.From + " redirects to " + Clean(to) + ", where the key is not sent"
		f.Hint = setTo(c.cfg.URLName, "that address if it is the right one")
		return f
	}
	return c.hint(c.cfg.API.Error(c.cfg.Info.Provider, resp.StatusCode, resp.Header, body), body)
}

// finish returns every error of Stream as a *fault.Error without secrets.
func (c *Client) finish(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fault.NewCancellation(context.Cause(ctx))
	}
	var f *fault.Error
	if !errors.As(err, &f) {
		f = fault.NewProvider(c.cfg.Info.Provider, 0, c.cfg.Info.From, err)
	}
	if f.Category == fault.Provider && f.Provider == "" {
		f.Provider = c.cfg.Info.Provider
	}
	return c.mask(f)
}
