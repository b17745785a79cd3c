package vertex

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	googleauth "golang.org/x/oauth2/google"

	"github.com/pawl-agent/pawl/internal/core/fault"
)

// Source is where credentials are searched, in the order of Google's own tools: the file
// of GOOGLE_APPLICATION_CREDENTIALS, gcloud's file, the machine's service.
type Source struct {
	Env  func(string) string
	HTTP http.RoundTripper // nil: http.DefaultTransport, without a proxy for the machine's service
	Now  func() time.Time  // nil: time.Now
}

// Credentials authorizes requests with a token that a Source returns. It implements
// provider.Auth and is safe for concurrent use.
type Credentials struct {
	src Source

	mu   sync.Mutex
	kept token
	old  bool   // kept was used before the last Authorize
	last string // the token used last; an answer may repeat it
}

// NewCredentials returns credentials that are not read before the first request.
func NewCredentials(s Source) *Credentials {
	if s.Now == nil {
		s.Now = time.Now
	}
	return &Credentials{src: s}
}

// token is an access token with its account and its end.
type token struct {
	access  string
	account string // the account that pays for the quota, "": the project
	expires time.Time
}

const (
	scope       = "https://www.googleapis.com/auth/cloud-platform"
	early       = 2 * time.Minute // how long before its end a token is renewed
	tokenTime   = 15 * time.Second
	machineTime = time.Second // without such a service there is no answer
)

// Authorize adds the token to a request.
func (c *Credentials) Authorize(ctx context.Context, req *http.Request, _ [][]byte) error {
	t, err := c.get(ctx)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+t.access)
	if t.account != "" {
		req.Header.Set("X-Goog-User-Project", t.account)
	}
	return nil
}

func (c *Credentials) get(ctx context.Context) (token, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept.access != "" && c.src.Now().Add(early).Before(c.kept.expires) {
		c.old = true
		return c.kept, nil
	}
	t, err := c.src.find(ctx)
	if err != nil {
		return token{}, err
	}
	c.kept, c.old, c.last = t, false, t.access
	return t, nil
}

// Renew discards the stored token. It reports whether it was stored before the last
// Authorize: then a new one may be accepted.
func (c *Credentials) Renew() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.old
	c.kept, c.old = token{}, false
	return was
}

// Secrets returns the token that was used last.
func (c *Credentials) Secrets() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return []string{c.last}
}

func (s Source) get(name string) string { return strings.TrimSpace(s.Env(name)) }

// file is a credentials file of Google, of any type.
type file struct {
	Type        string `json:"type"`
	Project     string `json:"project_id"`
	Quota       string `json:"quota_project_id"`
	TokenURI    string `json:"token_uri"`
	TokenURL    string `json:"token_url"`                         // of external accounts
	Impersonate string `json:"service_account_impersonation_url"` // of another service account
	Source      *file  `json:"source_credentials"`                // with which it is impersonated
	From        struct {
		Program json.RawMessage `json:"executable"`
	} `json:"credential_source"`

	raw []byte
}

// login is the command with which a person signs in.
const login = "gcloud auth application-default login"

// read returns the credentials file and its path; nil if there is none.
func (s Source) read() (*file, string, error) {
	path, named := s.get("GOOGLE_APPLICATION_CREDENTIALS"), true
	if path == "" {
		path, named = s.usual(), false
	}
	if path == "" {
		return nil, "", nil
	}
	bad := func(err error) error {
		return &fault.Error{
			Category: fault.Configuration, Message: "cannot read Google's credentials", Err: err,
			Hint: "set GOOGLE_APPLICATION_CREDENTIALS to the file of a service account, or run " + login,
		}
	}
	st, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) && !named {
		return nil, "", nil
	}
	if err != nil {
		return nil, path, bad(err)
	}
	if !st.Mode().IsRegular() || st.Size() > 1<<20 {
		return nil, path, bad(fmt.Errorf("%s is not a file of credentials: it is not a regular file, or larger than 1 MiB", path))
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, path, bad(err)
	}
	f := new(file)
	if json.Unmarshal(raw, f) != nil {
		return nil, path, bad(fmt.Errorf("%s is not JSON", path)) // its text may hold a key
	}
	f.raw = raw
	return f, path, nil
}

// usual returns the path where gcloud stores the credentials of application-default
// login.
func (s Source) usual() string {
	const name = "application_default_credentials.json"
	if dir := s.get("CLOUDSDK_CONFIG"); dir != "" {
		return filepath.Join(dir, name)
	}
	if runtime.GOOS == "windows" {
		if dir := s.get("APPDATA"); dir != "" {
			return filepath.Join(dir, "gcloud", name)
		}
		return ""
	}
	if home := s.get("HOME"); home != "" {
		return filepath.Join(home, ".config", "gcloud", name)
	}
	return ""
}

// ProjectOf returns the configured project: from the environment, else from the
// credentials file.
func ProjectOf(env func(string) string) string {
	s := Source{Env: env}
	for _, name := range []string{"ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT", "GOOGLE_VERTEX_PROJECT"} {
		if v := s.get(name); v != "" {
			return v
		}
	}
	f, _, err := s.read()
	switch {
	case err != nil || f == nil:
		return ""
	case f.Project != "":
		return f.Project
	}
	return f.Quota
}

// RegionOf returns the configured region, or Global.
func RegionOf(env func(string) string) string {
	for _, name := range []string{"CLOUD_ML_REGION", "GOOGLE_CLOUD_LOCATION", "GOOGLE_CLOUD_REGION", "GOOGLE_VERTEX_LOCATION"} {
		if v := strings.TrimSpace(env(name)); v != "" {
			return strings.ToLower(v)
		}
	}
	return Global
}

// find returns a token from the first place that has credentials.
func (s Source) find(ctx context.Context) (token, error) {
	f, path, err := s.read()
	if err != nil {
		return token{}, err
	}
	if f == nil {
		return s.machine(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, tokenTime)
	defer cancel()
	if err := f.safe(path); err != nil {
		return token{}, err
	}
	net := &noting{to: s.HTTP}
	client := &http.Client{Transport: net, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	ctx = context.WithValue(ctx, oauth2.HTTPClient, client)
	from, err := googleauth.CredentialsFromJSONWithType(ctx, f.raw, googleauth.CredentialsType(f.Type), scope)
	if err != nil {
		return token{}, refused(f, err, nil)
	}
	got, err := from.TokenSource.Token()
	if err != nil {
		return token{}, refused(f, err, net.err)
	}
	t := token{access: got.AccessToken, expires: got.Expiry}
	if f.Type == "authorized_user" {
		t.account = f.Quota
	}
	return t, nil
}

// safe returns an error if a file sends its keys or tokens where they do not belong, or
// starts a program.
func (f *file) safe(path string) error {
	for _, address := range []string{f.TokenURI, f.TokenURL} {
		if u, err := url.Parse(address); address != "" && (err != nil || u.Scheme != "https" || u.Host == "") {
			return fault.NewConfiguration("get a new file, or run "+login, "%s sends its key to an address that is not https", path)
		}
	}
	if u, err := url.Parse(f.Impersonate); f.Impersonate != "" && (err != nil || u.Scheme != "https" ||
		!strings.HasPrefix(u.Hostname(), "iamcredentials.") || !strings.HasSuffix(u.Hostname(), ".googleapis.com")) {
		return fault.NewConfiguration("run "+login, "%s names no Google address for the account to impersonate", path)
	}
	if f.Type == "impersonated_service_account" && f.Source == nil {
		return fault.NewConfiguration("run "+login, "%s has no credentials for impersonating an account", path)
	}
	if f.From.Program != nil {
		return fault.NewConfiguration("have a file or an address as its credential_source, or run "+login, "%s names a program, which pawl does not start", path)
	}
	if f.Source != nil {
		return f.Source.safe(path)
	}
	return nil
}

// noting notes that there was no answer: the library's errors do not tell.
type noting struct {
	to  http.RoundTripper
	err error
}

func (n *noting) RoundTrip(r *http.Request) (*http.Response, error) {
	to := n.to
	if to == nil {
		to = http.DefaultTransport
	}
	resp, err := to.RoundTrip(r)
	n.err = err
	return resp, err
}

// refused returns an error that explains why there is no token, without what was sent.
// lost is why there was no answer.
func refused(f *file, err, lost error) error {
	hint := "run " + login
	if f.Type == "service_account" {
		hint = "check the service account and its key"
	}
	if said := (*oauth2.RetrieveError)(nil); errors.As(err, &said) && said.Response != nil {
		what := said.ErrorCode
		if said.Response.StatusCode >= 500 {
			p := fault.NewProvider("vertex", said.Response.StatusCode, "Google gave no token", nil)
			p.Hint = hint
			return p
		}
		if what == "" || len(what) > 60 || strings.Trim(what, "abcdefghijklmnopqrstuvwxyz_") != "" {
			what = "HTTP " + said.Response.Status
		}
		return fault.NewConfiguration(hint, "Google gave no token for %s: %s", f.Type, what)
	}
	if lost != nil {
		p := fault.NewProvider("vertex", 0, "no answer from Google's token service", lost)
		p.Hint = "check the network"
		return p
	}
	if _, status, ok := strings.Cut(err.Error(), "status code "); ok && len(status) >= 3 {
		if f.Impersonate != "" {
			hint = "give your account the role Service Account Token Creator on that account, or run " + login
		}
		return fault.NewConfiguration(hint, "Google gave no token for %s: HTTP %s", f.Type, status[:3])
	}
	return fault.NewConfiguration(hint, "credentials of the type %s cannot be used", f.Type) // the cause may quote the key
}

// machine returns a token from the service of a machine at Google.
func (s Source) machine(ctx context.Context) (token, error) {
	none := fault.NewConfiguration("run "+login+", or set GOOGLE_APPLICATION_CREDENTIALS to the file of a service account",
		"no Google Cloud credentials were found")
	host := s.get("GCE_METADATA_HOST")
	host = cmp.Or(host, "169.254.169.254")
	ctx, cancel := context.WithTimeout(ctx, machineTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+"/computeMetadata/v1/instance/service-accounts/default/token", nil)
	if err != nil {
		return token{}, none
	}
	req.Header.Set("Metadata-Flavor", "Google")
	transport := s.HTTP
	if def, ok := http.DefaultTransport.(*http.Transport); ok && transport == nil {
		direct := def.Clone()
		direct.Proxy = nil
		defer direct.CloseIdleConnections()
		transport = direct
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return token{}, none
	}
	defer resp.Body.Close()
	var got struct {
		Access  string `json:"access_token"`
		Seconds int64  `json:"expires_in"`
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil || resp.StatusCode != http.StatusOK || resp.Header.Get("Metadata-Flavor") != "Google" || json.Unmarshal(body, &got) != nil || got.Access == "" {
		return token{}, none
	}
	return token{access: got.Access, expires: s.Now().Add(time.Duration(got.Seconds) * time.Second)}, nil
}
