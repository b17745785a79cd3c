// Package login gets a provider's key by a sign-in with a browser, if the provider offers
// that to other programs (OpenRouter's OAuth with PKCE). For other providers it returns
// how a person gets a key.
//
// It promises that only this process can use the returned code (S256), that only an
// answer at an unguessable address counts, and that no error contains the code or the
// key.
package login

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/core/redirect"
)

// Way describes how a person gets a key of a provider.
type Way struct {
	Provider string
	Key      string // the variable that holds it
	OAuth    bool   // the key can be made by SignIn
	Page     string // where keys are made
	Why      string // why it has no sign-in
}

// notPublished is the reason for most providers.
const notPublished = "it has no sign-in for other programs"

// ways is the table, as of 2026-11-22.
var ways = []Way{
	{Provider: "openrouter", Key: "OPENROUTER_API_KEY", OAuth: true, Page: "https://openrouter.ai/settings/keys"},
	{Provider: "anthropic", Key: "ANTHROPIC_API_KEY", Page: "https://platform.claude.com/settings/keys", Why: notPublished},
	{Provider: "openai", Key: "OPENAI_API_KEY", Page: "https://platform.openai.com/api-keys", Why: notPublished},
	{Provider: "gemini", Key: "GEMINI_API_KEY", Page: "https://aistudio.google.com/apikey", Why: "Google's sign-in is for Google Cloud: run gcloud auth application-default login, and use -m vertex/MODEL"},
	{Provider: "bedrock", Key: "AWS_BEARER_TOKEN_BEDROCK", Page: "https://console.aws.amazon.com/bedrock/home#/api-keys", Why: "AWS signs in with its own tool: run aws sso login, and set AWS_PROFILE"},
	{Provider: "vertex", Why: "Google Cloud signs in with its own tool: run gcloud auth application-default login"},
	{Provider: "azure", Key: "AZURE_OPENAI_API_KEY", Page: "https://ai.azure.com", Why: "Azure signs in with its own tool: az account get-access-token --resource https://cognitiveservices.azure.com prints a token for AZURE_OPENAI_AD_TOKEN"},
	{Provider: "xai", Key: "XAI_API_KEY", Page: "https://console.x.ai", Why: notPublished},
	{Provider: "deepseek", Key: "DEEPSEEK_API_KEY", Page: "https://platform.deepseek.com/api_keys", Why: notPublished},
	{Provider: "mistral", Key: "MISTRAL_API_KEY", Page: "https://console.mistral.ai/api-keys", Why: notPublished},
	{Provider: "groq", Key: "GROQ_API_KEY", Page: "https://console.groq.com/keys", Why: notPublished},
}

// For returns the way for a provider; false if it is not in the table.
func For(name string) (Way, bool) {
	for _, w := range ways {
		if w.Provider == name {
			return w, true
		}
	}
	return Way{}, false
}

// Options configures SignIn. Show is required.
type Options struct {
	// Show shows the person the address to open. It returns the address where their
	// browser ended, if they type it, or "" to wait for the browser. It must return when
	// the context ends.
	Show func(ctx context.Context, address string) (string, error)
	HTTP http.RoundTripper // nil: http.DefaultTransport
	Auth string            // where a person signs in; "": OpenRouter's
	Keys string            // where a code is exchanged; "": OpenRouter's
}

const (
	authAddress = "https://openrouter.ai/auth"
	keysAddress = "https://openrouter.ai/api/v1/auth/keys"
	askTime     = 30 * time.Second
)

// SignIn signs in to OpenRouter and returns the key that was made for pawl.
func SignIn(ctx context.Context, o Options) (string, error) {
	if o.Auth == "" {
		o.Auth, o.Keys = authAddress, keysAddress
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listen for the browser: %w", err)
	}
	verifier := rand.Text() + rand.Text()
	sum := sha256.Sum256([]byte(verifier))
	path := "/callback/" + rand.Text() // takes the place of the state parameter
	_, port, _ := net.SplitHostPort(l.Addr().String())
	q := url.Values{
		"callback_url": {"http://localhost:" + port + path}, "code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])},
		"code_challenge_method": {"S256"},
	}
	code, err := o.browse(ctx, l, path, o.Auth+"?"+q.Encode())
	if err != nil {
		return "", err
	}
	return o.exchange(ctx, code, verifier)
}

// browse shows the address and returns the code.
func (o Options) browse(ctx context.Context, l net.Listener, path, address string) (string, error) {
	at, err := redirect.SignIn{Path: path, Show: o.Show}.Await(ctx, l, address)
	if wrong := (*url.Error)(nil); errors.As(err, &wrong) || err == nil && at.Path != path { // typed in
		return "", errors.New("that is not where the browser ends after this sign-in")
	}
	if err != nil {
		return "", err
	}
	return codeOf(at)
}

func codeOf(u *url.URL) (string, error) {
	q := u.Query()
	if e := q.Get("error"); e != "" {
		return "", errors.New("the sign-in was refused: " + provider.Clean(e+" "+q.Get("error_description")))
	}
	if code := q.Get("code"); code != "" {
		return code, nil
	}
	return "", errors.New("the browser came back without a code")
}

// exchange returns the key for a code. It follows no redirect: the code goes nowhere
// else.
func (o Options) exchange(ctx context.Context, code, verifier string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	body, err := json.Marshal(map[string]string{"code": code, "code_verifier": verifier, "code_challenge_method": "S256"})
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, o.Keys, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	transport := o.HTTP
	if transport == nil {
		transport = http.DefaultTransport
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return "", fmt.Errorf("no answer from %s: %w", req.URL.Host, err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	var got struct {
		Key string `json:"key"`
	}
	if err != nil || resp.StatusCode != http.StatusOK || json.Unmarshal(raw, &got) != nil || !plausible(got.Key) {
		return "", fmt.Errorf("%s gave no key (HTTP %d)", req.URL.Host, resp.StatusCode) // the answer's text may contain the code
	}
	return got.Key, nil
}

// plausible reports whether a text can be a key in a header.
func plausible(key string) bool {
	if len(key) < 8 || len(key) > 4096 {
		return false
	}
	return !slices.ContainsFunc([]byte(key), func(c byte) bool { return c <= ' ' || c > '~' })
}

// Key returns a key that a person typed or piped in; ok is false if it cannot be a key.
func Key(typed string) (key string, ok bool) {
	key = strings.TrimSpace(typed)
	return key, plausible(key)
}
