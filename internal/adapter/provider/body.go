package provider

import (
	"bytes"
	"io"
	"net/http"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/llm"
)

// pieces reads the parts of a request one after the other, so that a body of many MB is
// never copied into one buffer.
type pieces struct {
	rest [][]byte
	at   int // in rest[0]
}

func (p *pieces) Read(b []byte) (int, error) {
	n := 0
	for n < len(b) && len(p.rest) > 0 {
		c := copy(b[n:], p.rest[0][p.at:])
		n += c
		if p.at += c; p.at == len(p.rest[0]) {
			p.rest, p.at = p.rest[1:], 0
		}
	}
	if n == 0 && len(p.rest) == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (p *pieces) Close() error { return nil }

// setBody sets the body of a request and its length, and lets net/http send it again on a
// new connection if the reused one was closed.
func setBody(req *http.Request, parts [][]byte) {
	open := func() (io.ReadCloser, error) { return &pieces{rest: parts}, nil }
	req.Body, _ = open()
	req.GetBody = open
	for _, p := range parts {
		req.ContentLength += int64(len(p))
	}
	// A header key without values is never sent; it tells net/http that the request may
	// be repeated if no byte of an answer came.
	req.Header["Idempotency-Key"] = nil
}

// bodyOf returns the parts of a request's body: those of r.Body, or, if there are none,
// all of it, encoded here. An Ender encodes the last part itself.
func bodyOf(c Config, api API, r *llm.Request) ([][]byte, error) {
	parts := r.Body
	if len(parts) == 0 {
		head, err := api.Head(r.Head)
		if err != nil {
			return nil, err
		}
		step, err := api.Step(r.All(), true)
		if err != nil {
			return nil, err
		}
		parts = [][]byte{head, step, api.Tail(r.Tail)}
	}
	ender, ok := api.(Ender)
	if !ok {
		return parts, nil
	}
	last := parts[len(parts)-1]
	before, ok := bytes.CutSuffix(last, api.Tail(r.Tail))
	if !ok {
		return parts, nil // the end has another form: it is left unchanged
	}
	tail := r.Tail
	if tail.MaxTokens == 0 && !c.NoLimit {
		tail.MaxTokens = c.Info.MaxOutput
	}
	out := make([][]byte, 0, len(parts)+1)
	out = append(out, parts[:len(parts)-1]...)
	return append(out, before, ender.End(r.Head, tail)), nil
}

// Join appends an API's path to a base URL. A version in the base URL's path replaces the
// one at the beginning of path: both https://host and https://host/v1 are a base for
// /v1/messages. A base URL that already ends in the rest of path is returned unchanged:
// https://gateway/chat/completions, which has no version.
func Join(base, path string) string {
	base = strings.TrimRight(base, "/")
	_, after, ok := strings.Cut(base, "://")
	if !ok {
		after = base
	}
	segment, rest, more := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if more && version(segment) {
		if strings.HasSuffix(after, "/"+rest) {
			return base
		}
		_, dirs, _ := strings.Cut(after, "/")
		for dir := range strings.SplitSeq(dirs, "/") {
			if version(dir) {
				return base + "/" + rest
			}
		}
	}
	return base + "/" + strings.TrimPrefix(path, "/")
}

// version reports whether a path segment is a version: v1, v2, v1beta, v1beta1, v1alpha.
func version(s string) bool {
	return len(s) >= 2 && len(s) <= 9 && s[0] == 'v' && s[1] >= '0' && s[1] <= '9' && !strings.ContainsAny(s, ".-_?")
}
