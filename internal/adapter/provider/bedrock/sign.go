package bedrock

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// This file implements Signature Version 4, as AWS's documentation and published test
// requests show it.

const algorithm = "AWS4-HMAC-SHA256"

// keys are credentials of AWS.
type keys struct {
	id, secret, token string
	expires           time.Time // zero: never
}

// sign sets the date, the session's token and the signature of a request. hash is the
// hash of its body.
func sign(req *http.Request, k keys, hash, region, service string, now time.Time) {
	now = now.UTC()
	req.Header.Set("X-Amz-Date", now.Format("20060102T150405Z"))
	if k.token != "" {
		req.Header.Set("X-Amz-Security-Token", k.token)
	}
	host := req.Host
	if host == "" {
		host = req.URL.Host
	}
	req.Header.Set("Authorization", authorization(req.Method, host, req.URL.EscapedPath(), req.URL.RawQuery, req.Header, k, hash, region, service, now))
}

// authorization returns the Authorization header of a request. path is the path as it is
// sent; it is encoded once more.
func authorization(method, host, path, query string, h http.Header, k keys, hash, region, service string, now time.Time) string {
	names, headers := canonicalHeaders(h, host)
	canonical := strings.Join([]string{method, canonicalPath(path), canonicalQuery(query), headers, names, hash}, "\n")
	day := now.Format("20060102")
	scope := day + "/" + region + "/" + service + "/aws4_request"
	sum := sha256.Sum256([]byte(canonical))
	toSign := strings.Join([]string{algorithm, now.Format("20060102T150405Z"), scope, hex.EncodeToString(sum[:])}, "\n")
	key := []byte("AWS4" + k.secret)
	for _, part := range []string{day, region, service, "aws4_request"} {
		key = mac(key, part)
	}
	return algorithm + " Credential=" + k.id + "/" + scope + ", SignedHeaders=" + names + ", Signature=" + hex.EncodeToString(mac(key, toSign))
}

func mac(key []byte, s string) []byte {
	m := hmac.New(sha256.New, key)
	_, _ = m.Write([]byte(s)) // a hash never fails
	return m.Sum(nil)
}

func canonicalPath(path string) string {
	if path == "" {
		return "/"
	}
	return strings.ReplaceAll(escape(path), "%2F", "/")
}

func canonicalQuery(query string) string {
	if query == "" {
		return ""
	}
	var out []string
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		out = append(out, reescape(name)+"="+reescape(value))
	}
	slices.Sort(out)
	return strings.Join(out, "&")
}

// reescape returns a part of a query in the encoding that is signed, whatever its
// encoding is.
func reescape(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		s = plain
	}
	return escape(s)
}

// canonicalHeaders returns the names and the lines of the headers to sign: those that no
// proxy changes.
func canonicalHeaders(h http.Header, host string) (names, lines string) {
	all := map[string]string{"host": host}
	for name, values := range h {
		switch name = strings.ToLower(name); name {
		case "authorization", "user-agent", "accept", "accept-encoding", "connection", "expect", "x-amzn-trace-id", "content-length":
			continue
		}
		if values == nil { // never sent
			continue
		}
		trimmed := make([]string, len(values))
		for i, v := range values {
			trimmed[i] = strings.Join(strings.Fields(v), " ")
		}
		all[name] = strings.Join(trimmed, ",")
	}
	sorted := make([]string, 0, len(all))
	for name := range all {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	for _, name := range sorted {
		lines += name + ":" + all[name] + "\n"
	}
	return strings.Join(sorted, ";"), lines
}
