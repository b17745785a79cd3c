package vertex

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/fault"
)

// lifetime is how long the token of another account is requested for.
const lifetime = "3600s"

// impersonate returns a token of the service account that a file names, obtained with the
// credentials in it (gcloud auth application-default login
// --impersonate-service-account). These are sent only to Google.
func (s Source) impersonate(ctx context.Context, client *http.Client, f *file, path string) (token, error) {
	u, err := url.Parse(f.Impersonate)
	host := ""
	if err == nil {
		host = u.Hostname()
	}
	switch {
	case f.Source == nil:
		return token{}, fault.NewConfiguration("run "+login, "%s has no credentials for impersonating an account", path)
	case u == nil || u.Scheme != "https" || !strings.HasPrefix(host, "iamcredentials.") || !strings.HasSuffix(host, ".googleapis.com"):
		return token{}, fault.NewConfiguration("run "+login, "%s names no Google address for the account to impersonate", path)
	}
	own, err := s.of(ctx, f.Source, path)
	if err != nil {
		return token{}, err
	}
	ask, err := json.Marshal(map[string]any{"delegates": append([]string{}, f.Delegates...), "lifetime": lifetime, "scope": []string{scope}})
	if err != nil {
		return token{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.Impersonate, bytes.NewReader(ask))
	if err != nil {
		return token{}, fault.NewConfiguration("run "+login, "%s names no Google address for the account to impersonate", path)
	}
	req.Header.Set("Authorization", "Bearer "+own.access)
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		p := fault.NewProvider("vertex", 0, "no answer from Google's service of credentials", nil)
		p.Hint = "check the network"
		return token{}, p
	}
	defer resp.Body.Close()
	var got struct {
		Access  string    `json:"accessToken"`
		Expires time.Time `json:"expireTime"`
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil || resp.StatusCode != http.StatusOK || json.Unmarshal(body, &got) != nil || got.Access == "" {
		return token{}, fault.NewConfiguration("give your account the role Service Account Token Creator on it, or run "+login,
			"Google gave no token of the service account that %s stands for (HTTP %d)", path, resp.StatusCode)
	}
	return token{access: got.Access, expires: got.Expires}, nil
}
