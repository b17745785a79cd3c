package vertex_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/codectest"
	"github.com/pawl-agent/pawl/internal/adapter/provider/vertex"
	"github.com/pawl-agent/pawl/internal/adapter/provider/wiretest"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var place = vertex.Place{Project: "my-project", Region: "us-east5"}

// SPEC 17.7, 9.4
func TestCodec(t *testing.T) {
	t.Parallel()
	codectest.Encoding(t, vertex.New("claude-sonnet-4-6", place, provider.Tuning{}), `,"cache_control":{"type":"ephemeral"}`)
	codectest.Encoding(t, vertex.New("gemini-2.5-pro", place, provider.Tuning{}), "")
	codectest.Encoding(t, vertex.New("meta/llama-4", place, provider.Tuning{}), "")
}

// SPEC 17.7: where models are, and what is sent there.
func TestPaths(t *testing.T) {
	t.Parallel()
	const at = "/v1/projects/my-project/locations/us-east5/"
	for model, want := range map[string]string{
		"claude-sonnet-4-5@20250929":      at + "publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict",
		"anthropic/claude-opus-4-6":       at + "publishers/anthropic/models/claude-opus-4-6:streamRawPredict",
		"gemini-2.5-pro":                  at + "publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
		"google/gemini-2.5-pro":           at + "publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
		"meta/llama-4-maverick-17b-maas":  at + "endpoints/openapi/chat/completions",
		"gemini/../../../locations/other": at + "endpoints/openapi/chat/completions",
	} {
		if got := vertex.New(model, place, provider.Tuning{}).Path(model); got != want {
			t.Errorf("%s: %s", model, got)
		}
	}
	head, err := vertex.New("claude-x", place, provider.Tuning{}).Head(llm.Head{Model: "claude-x"})
	if err != nil || !strings.HasPrefix(string(head), `{"anthropic_version":"vertex-2023-10-16","stream":true,"messages":[`) {
		t.Errorf("%s %v", head, err)
	}
	for region, want := range map[string]string{
		"global": "https://aiplatform.googleapis.com", "europe-west4": "https://europe-west4-aiplatform.googleapis.com",
		"eu": "https://aiplatform.eu.rep.googleapis.com", "evil.example/": "", "": "",
	} {
		if got, ok := vertex.Address(region); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %s %v", region, got, ok)
		}
	}
}

// google is a network with Google's token service and models.
type google struct {
	other  int // what the service of another account's tokens answers with
	t      *testing.T
	token  func(url.Values) (int, string)
	flavor string // of the machine's service; "" is none
	refuse string // a token that the model refuses
	tokens int
	used   []string
}

func (g *google) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := func(status int, body string, h http.Header) (*http.Response, error) {
		return &http.Response{StatusCode: status, Status: http.StatusText(status), Body: io.NopCloser(strings.NewReader(body)), Header: h, Request: r, ProtoMajor: 1}, nil
	}
	switch r.URL.Host {
	case "oauth2.googleapis.com", "sts.googleapis.com":
		g.tokens++
		raw, _ := io.ReadAll(r.Body)
		form, _ := url.ParseQuery(string(raw))
		status, body := g.token(form)
		return answer(status, body, http.Header{"Content-Type": {"application/json"}})
	case "iamcredentials.googleapis.com":
		if g.other < 0 {
			return nil, errors.New("no route to host")
		}
		body, _ := io.ReadAll(r.Body)
		if r.Header.Get("Authorization") != "Bearer ya29.access-token-0123456789" || !strings.Contains(string(body), `"scope":["https://www.googleapis.com/auth/cloud-platform"]`) {
			g.t.Errorf("%v %s", r.Header, body)
		}
		return answer(g.other, `{"accessToken":"ya29.other-token-0123456789","expireTime":"2099-01-01T00:00:00Z"}`, http.Header{})
	case "169.254.169.254":
		if g.flavor == "" || r.Header.Get("Metadata-Flavor") != "Google" {
			return nil, errors.New("no route to host")
		}
		g.tokens++
		return answer(200, `{"access_token":"ya29.machine-token-0123456789","expires_in":3600}`, http.Header{"Metadata-Flavor": {g.flavor}})
	case "model.invalid":
		auth := r.Header.Get("Authorization")
		g.used = append(g.used, auth+" "+r.Header.Get("X-Goog-User-Project"))
		if g.refuse != "" && strings.Contains(auth, g.refuse) {
			return answer(401, `{"error":{"code":401,"status":"UNAUTHENTICATED","message":"bad token `+auth+`"}}`, http.Header{})
		}
		return answer(200, `{"type":"message","id":"m","model":"m","content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`, http.Header{})
	}
	g.t.Errorf("asked %s", r.URL.Host)
	return nil, errors.New("no such host")
}

func key(t *testing.T) string {
	t.Helper()
	k := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	raw := must.Get(x509.MarshalPKCS8PrivateKey(k))(t)
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}))
}

func write(t *testing.T, path string, v any) {
	t.Helper()
	raw := must.Get(json.Marshal(v))(t)
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.Do(t, os.WriteFile(path, raw, 0o600))
}

// SPEC 17.7: a token is got from what Google's tools keep, and nothing of it is shown.
func TestCredentials(t *testing.T) {
	pemKey := key(t)
	const access = "ya29.access-token-0123456789"
	good := func(url.Values) (int, string) {
		return 200, `{"access_token":"` + access + `","expires_in":3600,"token_type":"Bearer"}`
	}
	account := map[string]string{"type": "service_account", "client_email": "a@my-project.iam", "private_key": pemKey, "private_key_id": "k", "token_uri": "https://oauth2.googleapis.com/token"}
	person := map[string]string{"type": "authorized_user", "client_id": "id", "client_secret": "client-secret-01", "refresh_token": "1//refresh-token-01", "quota_project_id": "pays"}
	with := func(m map[string]string, k, v string) map[string]string {
		out := map[string]string{k: v}
		for n, w := range m {
			if n != k {
				out[n] = w
			}
		}
		return out
	}
	other := func(address string, by map[string]string) any {
		out := map[string]any{"type": "impersonated_service_account", "service_account_impersonation_url": address}
		if by != nil {
			out["source_credentials"] = by
		}
		return out
	}
	federated := func(address, source string) any {
		return map[string]any{"type": "external_account", "audience": "//iam.googleapis.com/p", "subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "token_url": address, "credential_source": json.RawMessage(source)}
	}
	for _, c := range []struct {
		name  string
		file  any  // of GOOGLE_APPLICATION_CREDENTIALS
		usual bool // in gcloud's place instead
		net   google
		used  string // the header of the request, or
		err   string
	}{
		{name: "service account", file: account, used: "Bearer " + access, net: google{token: func(f url.Values) (int, string) {
			parts := strings.Split(f.Get("assertion"), ".")
			claims, _ := base64.RawURLEncoding.DecodeString(parts[min(1, len(parts)-1)])
			if f.Get("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" || !strings.Contains(string(claims), `"scope":"https://www.googleapis.com/auth/cloud-platform"`) {
				return 400, `{"error":"invalid_request"}`
			}
			return good(nil)
		}}},
		{name: "gcloud's sign-in", file: person, usual: true, used: "Bearer " + access + " pays", net: google{token: func(f url.Values) (int, string) {
			if f.Get("refresh_token") != "1//refresh-token-01" || f.Get("client_secret") != "client-secret-01" {
				return 400, `{"error":"invalid_grant"}`
			}
			return good(nil)
		}}},
		{name: "a machine at Google", net: google{flavor: "Google"}, used: "Bearer ya29.machine-token-0123456789"},
		{name: "somebody else answers there", net: google{flavor: "Evil"}, err: "no Google Cloud credentials were found"},
		{name: "nothing", err: "gcloud auth application-default login"},
		{name: "the sign-in has ended", file: person, net: google{token: func(url.Values) (int, string) {
			return 400, `{"error":"invalid_grant","error_description":"Token has been expired 1//refresh-token-01"}`
		}}, err: "invalid_grant"},
		{name: "the service repeats what it got", file: person, net: google{token: func(f url.Values) (int, string) { return 400, `{"error":"client-secret-01 ` + f.Encode() + `"}` }}, err: "gave no token"},
		{name: "the service is broken", file: person, net: google{token: func(url.Values) (int, string) { return 503, "1//refresh-token-01" }}, err: "gave no token"},
		{name: "a key that is none", file: with(account, "private_key", "-----BEGIN PRIVATE KEY-----\nsecretkeytext\n-----END PRIVATE KEY-----"), err: "cannot be used"},
		{name: "a key for another address", file: with(account, "token_uri", "http://evil.example/token"), err: "not https"},
		{name: "another account", file: other("https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/b@x.iam:generateAccessToken", person), used: "Bearer ya29.other-token-0123456789", net: google{token: good, other: 200}},
		{name: "another account, by a service account", file: other("https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/b@x.iam:generateAccessToken", account), used: "Bearer ya29.other-token-0123456789", net: google{token: good, other: 200}},
		{name: "another account that is refused", file: other("https://iamcredentials.googleapis.com/v1/x", person), err: "HTTP 403", net: google{token: good, other: 403}},
		{name: "another account elsewhere", file: other("https://iamcredentials.googleapis.com.evil.example/v1/x", person), err: "names no Google address"},
		{name: "another account without https", file: other("http://iamcredentials.googleapis.com/v1/x", person), err: "names no Google address"},
		{name: "another account of Google's else", file: other("https://storage.googleapis.com/evil", person), err: "names no Google address"},
		{name: "another account by nothing", file: other("https://iamcredentials.googleapis.com/v1/x", nil), err: "has no credentials"},
		{name: "another account that nobody answers for", file: other("https://iamcredentials.googleapis.com/v1/x", person), err: "check the network", net: google{token: good, other: -1}},
		{name: "another account whose own keys go elsewhere", file: other("https://iamcredentials.googleapis.com/v1/x", with(person, "token_uri", "http://evil.example/token")), err: "not https"},
		{name: "accounts in a row", file: other("https://iamcredentials.googleapis.com/v1/x", map[string]string{"type": "impersonated_service_account"}), err: "has no credentials"},
		{name: "federation", file: federated("https://sts.googleapis.com/v1/token", `{"file":"HOME/subject"}`), used: "Bearer " + access, net: google{token: good}},
		{name: "federation that is refused", file: federated("https://sts.googleapis.com/v1/token", `{"file":"HOME/subject"}`), err: "HTTP 400", net: google{token: func(url.Values) (int, string) { return 400, "subject-token-01" }}},
		{name: "federation elsewhere", file: federated("http://evil.example/token", `{"file":"HOME/subject"}`), err: "not https"},
		{name: "federation by a program", file: federated("https://sts.googleapis.com/v1/token", `{"executable":{"command":"/bin/give"}}`), err: "names a program"},
		{name: "a type of the future", file: map[string]string{"type": "telepathy"}, err: "telepathy cannot be used"},
		{name: "no JSON", file: nil, usual: true, net: google{flavor: "Google"}, used: "Bearer ya29.machine-token-0123456789"},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := map[string]string{"HOME": t.TempDir()}
			if c.file != nil {
				path := filepath.Join(env["HOME"], "key.json")
				if c.usual {
					path = filepath.Join(env["HOME"], ".config", "gcloud", "application_default_credentials.json")
				} else {
					env["GOOGLE_APPLICATION_CREDENTIALS"] = path
				}
				write(t, path, c.file)
				raw := must.Get(os.ReadFile(path))(t)
				must.Write(t, path, strings.ReplaceAll(string(raw), "HOME", filepath.ToSlash(env["HOME"])))
				must.Write(t, filepath.Join(env["HOME"], "subject"), "subject-token-01")
			}
			net := c.net
			net.t = t
			o := ask(t, &net, env)
			if c.err != "" {
				var f *fault.Error
				if !errors.As(o.Err, &f) || !strings.Contains(f.Error()+f.Hint, c.err) || len(net.used) > 0 {
					t.Fatalf("%v %q", o.Err, net.used)
				}
				for _, secret := range []string{"client-secret-01", "refresh-token-01", "secretkeytext", "subject-token-01", access} {
					if strings.Contains(fmt.Sprintf("%v %+v %s", f, f, f.Hint), secret) {
						t.Errorf("a secret is in %v", f)
					}
				}
				return
			}
			if o.Err != nil || o.Reply.Message.Text() != "hello" || len(net.used) != 1 || strings.TrimSpace(net.used[0]) != c.used {
				t.Errorf("%+v %q", o, net.used)
			}
		})
	}
}

func ask(t *testing.T, net *google, env map[string]string) wiretest.Outcome {
	t.Helper()
	return wiretest.Ask(t.Context(), modelOf(t, net, env))
}

func modelOf(t *testing.T, net *google, env map[string]string) llm.Model {
	t.Helper()
	c := must.Get(provider.New(provider.Config{
		API: vertex.New("claude-test", place, provider.Tuning{}), BaseURL: "https://model.invalid", Info: llm.Info{Provider: "vertex", Model: "claude-test"},
		Auth: vertex.NewCredentials(vertex.Source{Env: func(k string) string { return env[k] }, HTTP: net, Now: func() time.Time { return time.Now() }}),
		HTTP: &http.Client{Transport: net},
	}))(t)
	return c
}

// SPEC 17.7: a token is kept, got anew once it was refused, and a refusal does not
// show it.
func TestTokensAreRenewed(t *testing.T) {
	n := 0
	net := &google{t: t, token: func(url.Values) (int, string) {
		n++
		return 200, fmt.Sprintf(`{"access_token":"opaque-access-token-%d","expires_in":3600,"token_type":"Bearer"}`, n)
	}}
	env := map[string]string{"HOME": t.TempDir()}
	env["GOOGLE_APPLICATION_CREDENTIALS"] = filepath.Join(env["HOME"], "k.json")
	write(t, env["GOOGLE_APPLICATION_CREDENTIALS"], map[string]string{"type": "authorized_user", "client_id": "i", "client_secret": "s", "refresh_token": "r"})
	m := modelOf(t, net, env)
	for range 3 {
		if o := wiretest.Ask(t.Context(), m); o.Err != nil {
			t.Fatal(o.Err)
		}
	}
	if n != 1 {
		t.Errorf("%d tokens for three requests", n)
	}
	net.refuse = "opaque-access-token-1"
	if o := wiretest.Ask(t.Context(), m); o.Err != nil || n != 2 {
		t.Errorf("%v, %d tokens", o.Err, n)
	}
	net.refuse = "opaque-access-token"
	o := wiretest.Ask(t.Context(), m)
	if o.Err == nil || strings.Contains(fmt.Sprintf("%+v", o.Err), "opaque-access-token") {
		t.Errorf("%v", o.Err)
	}
}
