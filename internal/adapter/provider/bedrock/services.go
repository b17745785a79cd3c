package bedrock

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha1" // names a file of AWS's tools, and protects nothing
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/atomicfile"
	"github.com/pawl-agent/pawl/internal/core/fault"
)

// This file gets credentials from AWS's services.

const (
	serviceTime  = 10 * time.Second
	instanceTime = time.Second // without such a service there is no answer
)

// ask sends a request and returns the answer's body, at most 64 KB. It follows no
// redirect. Services of the machine are reached without a proxy.
func (s Source) ask(ctx context.Context, method, address string, h http.Header, most time.Duration, with ...byte) ([]byte, int, error) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(with))
	if err != nil {
		return nil, 0, err
	}
	req.Header = h
	transport := s.HTTP
	if transport == nil {
		transport = http.DefaultTransport
		if def, ok := transport.(*http.Transport); ok && isLink(req.URL.Hostname()) {
			direct := def.Clone()
			direct.Proxy = nil
			defer direct.CloseIdleConnections()
			transport = direct
		}
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	return body, resp.StatusCode, err
}

// isLink reports whether an address is on this machine or its local link.
func isLink(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && (ip.IsLoopback() || ip.IsLinkLocalUnicast() || host == "fd00:ec2::254" || host == "fd00:ec2::23")
}

// serviceCredentials is the answer of the credential services of containers and
// instances.
type serviceCredentials struct {
	AccessKeyID     string `json:"AccessKeyId"`
	SecretAccessKey string
	Token           string
	Expiration      time.Time
}

func (g serviceCredentials) keys() keys {
	return keys{id: g.AccessKeyID, secret: g.SecretAccessKey, token: g.Token, expires: g.Expiration}
}

// unreadable returns the error for an answer without credentials. It does not repeat the
// answer's text, which may contain some.
func unreadable(who string, status int, err error, hint string) error {
	if err != nil {
		f := fault.NewProvider("bedrock", 0, "no credentials from "+who, err)
		f.Hint = hint
		return f
	}
	return fault.NewConfiguration(hint, "%s gave no credentials (HTTP %d)", who, status)
}

// sso returns the keys for a role, requested with the token that aws sso login stored.
func (s Source) sso(ctx context.Context, name string, p section, all map[string]section) (keys, error) {
	login := "aws sso login --profile " + name
	start, region, file := p["sso_start_url"], p["sso_region"], p["sso_start_url"]
	if session := p["sso_session"]; session != "" {
		of := all["sso-session "+session]
		start, region, file = of["sso_start_url"], of["sso_region"], session
	}
	if start == "" || !plain(region) {
		return keys{}, fault.NewConfiguration("run aws configure sso --profile "+name, "AWS's profile %q does not say where to sign in", name)
	}
	sum := sha1.Sum([]byte(file))
	path := filepath.Join(s.home(), ".aws", "sso", "cache", hex.EncodeToString(sum[:])+".json")
	raw, err := readSmall(path)
	if err != nil {
		return keys{}, fault.NewConfiguration("run "+login, "you are not signed in to the AWS profile %q", name)
	}
	var cached struct {
		AccessToken string `json:"accessToken"`
		ExpiresAt   string `json:"expiresAt"`
	}
	if json.Unmarshal(raw, &cached) != nil || cached.AccessToken == "" {
		return keys{}, fault.NewConfiguration("run "+login, "you are not signed in to the AWS profile %q", name)
	}
	if at, err := time.Parse(time.RFC3339, strings.Replace(cached.ExpiresAt, "UTC", "Z", 1)); err != nil || !s.Now().Before(at) {
		if cached.AccessToken, err = s.renewSSO(ctx, path, raw, region); err != nil {
			return keys{}, unreadable("AWS's sign-in service", 0, err, "check the network, or run "+login)
		} else if cached.AccessToken == "" {
			return keys{}, fault.NewConfiguration("run "+login, "the sign-in to the AWS profile %q has expired", name)
		}
	}
	q := url.Values{"role_name": {p["sso_role_name"]}, "account_id": {p["sso_account_id"]}}
	body, status, err := s.ask(ctx, http.MethodGet, "https://portal.sso."+region+"."+domain(region)+"/federation/credentials?"+q.Encode(),
		http.Header{"X-Amz-Sso_bearer_token": {cached.AccessToken}}, serviceTime)
	var got struct {
		Role struct {
			AccessKeyID     string `json:"accessKeyId"`
			SecretAccessKey string `json:"secretAccessKey"`
			SessionToken    string `json:"sessionToken"`
			Expiration      int64  `json:"expiration"`
		} `json:"roleCredentials"`
	}
	if err != nil || status != http.StatusOK || json.Unmarshal(body, &got) != nil || got.Role.AccessKeyID == "" {
		return keys{}, unreadable("AWS's sign-in service", status, err, "run "+login)
	}
	return keys{id: got.Role.AccessKeyID, secret: got.Role.SecretAccessKey, token: got.Role.SessionToken, expires: time.UnixMilli(got.Role.Expiration)}, nil
}

// renewSSO exchanges the refresh token that aws sso login stored for a new access token,
// "" if there is none or it is not accepted. What it gets is stored as AWS's own tools
// do it: the old refresh token may end now.
func (s Source) renewSSO(ctx context.Context, path string, raw []byte, region string) (string, error) {
	var stored map[string]any
	if json.Unmarshal(raw, &stored) != nil || stored["refreshToken"] == nil {
		return "", nil
	}
	asked, err := json.Marshal(map[string]any{
		"grantType": "refresh_token", "refreshToken": stored["refreshToken"],
		"clientId": stored["clientId"], "clientSecret": stored["clientSecret"],
	})
	if err != nil {
		return "", err
	}
	body, status, err := s.ask(ctx, http.MethodPost, "https://oidc."+region+"."+domain(region)+"/token",
		http.Header{"Content-Type": {"application/json"}}, serviceTime, asked...)
	var got struct {
		AccessToken  string `json:"accessToken"`
		RefreshToken string `json:"refreshToken"`
		ExpiresIn    int64  `json:"expiresIn"`
	}
	if err != nil || status != http.StatusOK || json.Unmarshal(body, &got) != nil || got.AccessToken == "" {
		return "", err
	}
	stored["accessToken"] = got.AccessToken
	stored["expiresAt"] = s.Now().Add(time.Duration(got.ExpiresIn) * time.Second).UTC().Format(time.RFC3339)
	if got.RefreshToken != "" {
		stored["refreshToken"] = got.RefreshToken
	}
	if raw, err = json.Marshal(stored); err == nil {
		_ = atomicfile.Write(path, raw, 0o600) // without it, the token is good for this time
	}
	return got.AccessToken, nil
}

// plain reports whether a region can be a part of a host name.
func plain(region string) bool {
	return region != "" && len(region) < 40 && strings.Trim(region, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

func domain(region string) string {
	if strings.HasPrefix(region, "cn-") {
		return "amazonaws.com.cn"
	}
	return "amazonaws.com"
}

// Address returns the address of Bedrock in a region; ok is false if it is not a
// region.
func Address(region string) (address string, ok bool) {
	return "https://bedrock-runtime." + region + "." + domain(region), plain(region)
}

// webIdentity exchanges the token in a file for the keys of a role, as in Kubernetes.
func (s Source) webIdentity(ctx context.Context, file, role string) (keys, error) {
	hint := "correct AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN"
	token, err := readSmall(file)
	if err != nil {
		return keys{}, &fault.Error{Category: fault.Configuration, Message: "cannot read the web identity token", Err: err, Hint: hint}
	}
	session := s.get("AWS_ROLE_SESSION_NAME")
	session = cmp.Or(session, "pawl")
	return s.sts(ctx, "AssumeRoleWithWebIdentity", nil, url.Values{"RoleArn": {role}, "RoleSessionName": {session}, "WebIdentityToken": {strings.TrimSpace(string(token))}}, hint)
}

// assume returns the keys of a role, requested with other keys.
func (s Source) assume(ctx context.Context, with keys, p section) (keys, error) {
	q := url.Values{"RoleArn": {p["role_arn"]}, "RoleSessionName": {"pawl"}}
	for name, of := range map[string]string{"RoleSessionName": p["role_session_name"], "ExternalId": p["external_id"], "DurationSeconds": p["duration_seconds"]} {
		if of != "" {
			q.Set(name, of)
		}
	}
	return s.sts(ctx, "AssumeRole", &with, q, "check the role of the profile, and that its source may assume it")
}

// sts sends a request to AWS's token service and returns the keys in the answer. with, if
// not nil, signs it.
func (s Source) sts(ctx context.Context, action string, with *keys, q url.Values, hint string) (keys, error) {
	q.Set("Action", action)
	q.Set("Version", "2011-06-15")
	host := "sts." + s.Region + "." + domain(s.Region)
	h := http.Header{"Accept": {"application/json"}}
	if with != nil {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+host+"/?"+q.Encode(), nil)
		if err != nil {
			return keys{}, unreadable("AWS's token service", 0, nil, hint)
		}
		empty := sha256.Sum256(nil)
		sign(req, *with, hex.EncodeToString(empty[:]), s.Region, "sts", s.Now())
		for name, values := range req.Header {
			h[name] = values
		}
	}
	body, status, err := s.ask(ctx, http.MethodPost, "https://"+host+"/?"+q.Encode(), h, serviceTime)
	if err != nil {
		err = fmt.Errorf("%s: no answer", host) // the address may hold a token
	}
	type role struct {
		Credentials struct {
			AccessKeyID     string `json:"AccessKeyId"`
			SecretAccessKey string
			SessionToken    string
			Expiration      float64
		}
	}
	var got map[string]map[string]json.RawMessage // by response, then by part: result, metadata
	var of role
	if err != nil || status != http.StatusOK || json.Unmarshal(body, &got) != nil ||
		json.Unmarshal(got[action+"Response"][action+"Result"], &of) != nil || of.Credentials.AccessKeyID == "" {
		return keys{}, unreadable("AWS's token service", status, err, hint)
	}
	k := of.Credentials
	return keys{id: k.AccessKeyID, secret: k.SecretAccessKey, token: k.SessionToken, expires: time.Unix(int64(k.Expiration), 0)}, nil
}

// container returns the keys from the service of a container (ECS, EKS, Cloud Shell);
// found is false if the environment announces none.
func (s Source) container(ctx context.Context) (k keys, found bool, err error) {
	address := s.get("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	if path := s.get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); path != "" {
		address = "http://169.254.170.2" + path
	}
	if address == "" {
		return k, false, nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && !(u.Scheme == "http" && isLink(u.Hostname())) {
		return k, true, fault.NewConfiguration("correct AWS_CONTAINER_CREDENTIALS_FULL_URI", "the address of the container's credentials is neither https nor on this machine")
	}
	h := http.Header{}
	token := s.get("AWS_CONTAINER_AUTHORIZATION_TOKEN")
	if file := s.get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); file != "" {
		raw, err := readSmall(file)
		if err != nil {
			return k, true, &fault.Error{Category: fault.Configuration, Message: "cannot read the container's token", Err: err, Hint: "correct AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"}
		}
		token = strings.TrimSpace(string(raw))
	}
	if token != "" {
		h.Set("Authorization", token)
	}
	body, status, err := s.ask(ctx, http.MethodGet, address, h, serviceTime)
	var got serviceCredentials
	if err != nil || status != http.StatusOK || json.Unmarshal(body, &got) != nil || got.AccessKeyID == "" {
		return k, true, unreadable("the container's service", status, err, "check the container's role")
	}
	return got.keys(), true, nil
}

// instance returns the keys from the service of an instance (IMDSv2); ok is false if
// there is no such service.
func (s Source) instance(ctx context.Context) (k keys, ok bool) {
	if strings.EqualFold(s.get("AWS_EC2_METADATA_DISABLED"), "true") {
		return k, false
	}
	base := s.Metadata
	base = cmp.Or(base, "http://169.254.169.254")
	base += "/latest/"
	token, status, err := s.ask(ctx, http.MethodPut, base+"api/token", http.Header{"X-Aws-Ec2-Metadata-Token-Ttl-Seconds": {"21600"}}, instanceTime)
	if err != nil || status != http.StatusOK || len(token) == 0 || strings.ContainsAny(string(token), "\r\n") {
		return k, false
	}
	h := http.Header{"X-Aws-Ec2-Metadata-Token": {string(token)}}
	role, status, err := s.ask(ctx, http.MethodGet, base+"meta-data/iam/security-credentials/", h, instanceTime)
	name, _, _ := strings.Cut(strings.TrimSpace(string(role)), "\n")
	if err != nil || status != http.StatusOK || name == "" {
		return k, false
	}
	body, status, err := s.ask(ctx, http.MethodGet, base+"meta-data/iam/security-credentials/"+url.PathEscape(name), h, instanceTime)
	var got serviceCredentials
	if err != nil || status != http.StatusOK || json.Unmarshal(body, &got) != nil || got.AccessKeyID == "" {
		return k, false
	}
	return got.keys(), true
}
