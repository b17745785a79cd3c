package bedrock

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// answers is a network: what a host and path answer, and what was asked.
type answers struct {
	t     *testing.T
	of    map[string]string // by METHOD host/path; "" is refused with 403
	asked []*http.Request
}

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	a.asked = append(a.asked, r)
	body, ok := a.of[r.Method+" "+r.URL.Host+r.URL.Path]
	if !ok {
		return nil, errors.New("no route to host")
	}
	status := http.StatusOK
	if body == "" {
		status = http.StatusForbidden
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Header: http.Header{}, Request: r}, nil
}

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// home writes files below a new home.
func home(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must.Write(t, path, text)
	}
	return dir
}

func cache(name string) string {
	sum := sha1.Sum([]byte(name))
	return ".aws/sso/cache/" + hex.EncodeToString(sum[:]) + ".json"
}

const roleAnswer = `{"roleCredentials":{"accessKeyId":"ASIASSO","secretAccessKey":"ssosecretvalue1","sessionToken":"ssotokenvalue1","expiration":1795352400000}}`

const assumed = `{"AssumeRoleResponse":{"AssumeRoleResult":{"AssumedRoleUser":{"Arn":"x"},"Credentials":{"AccessKeyId":"ASIAROLE","SecretAccessKey":"rolesecret","SessionToken":"t","Expiration":1795352400}},"ResponseMetadata":{"RequestId":"x"}}}`

// SPEC 17.7: credentials are found where AWS's tools find them, in their order.
func TestCredentials(t *testing.T) {
	signedIn := `{"accessToken":"sso-access-token-1","expiresAt":"2026-11-22T13:00:00Z"}`
	for _, c := range []struct {
		name   string
		env    map[string]string
		files  map[string]string
		net    map[string]string
		id     string // of the key, or
		err    string // a part of the error
		asked  string // what was asked last
		header string // with this header
		query  string // with this query
		signed string // and this in its signature
	}{
		{name: "environment", env: map[string]string{"AWS_ACCESS_KEY_ID": "AKIAENV", "AWS_SECRET_ACCESS_KEY": "s", "AWS_PROFILE": "other"}, id: "AKIAENV"},
		{name: "half of it", env: map[string]string{"AWS_ACCESS_KEY_ID": "AKIAENV"}, files: map[string]string{".aws/credentials": "[default]\naws_access_key_id = AKIAFILE\naws_secret_access_key = s\n"}, id: "AKIAFILE"},
		{name: "a profile", env: map[string]string{"AWS_PROFILE": "work"}, files: map[string]string{".aws/credentials": "# keys\n[default]\naws_access_key_id=AKIAD\naws_secret_access_key=s\n[work]\r\naws_access_key_id = AKIAWORK # mine\r\naws_secret_access_key = s\r\n"}, id: "AKIAWORK"},
		{name: "in the file config", env: map[string]string{"AWS_PROFILE": "work"}, files: map[string]string{".aws/config": "[profile work]\naws_access_key_id=AKIAC\naws_secret_access_key=s\ns3 =\n  aws_access_key_id=AKIANESTED\n"}, id: "AKIAC"},
		{name: "a section of another service", env: map[string]string{"AWS_PROFILE": "work"}, files: map[string]string{".aws/config": "[services work]\naws_access_key_id=AKIAC\naws_secret_access_key=s\n"}, err: `no AWS profile "work"`},
		{name: "other files", env: map[string]string{"AWS_SHARED_CREDENTIALS_FILE": "HOME/c"}, files: map[string]string{"c": "[default]\naws_access_key_id=AKIAO\naws_secret_access_key=s"}, id: "AKIAO"},
		{name: "no such profile", env: map[string]string{"AWS_PROFILE": "gone"}, err: `no AWS profile "gone"`},
		{name: "sso", env: map[string]string{"AWS_PROFILE": "sso"}, files: map[string]string{
			".aws/config": "[profile sso]\nsso_session = corp\nsso_account_id = 123\nsso_role_name = Dev\n[sso-session corp]\nsso_start_url = https://corp.awsapps.com/start\nsso_region = eu-west-1\n",
			cache("corp"): signedIn,
		}, net: map[string]string{"GET portal.sso.eu-west-1.amazonaws.com/federation/credentials": roleAnswer}, id: "ASIASSO", header: "X-Amz-Sso_bearer_token: sso-access-token-1"},
		{name: "sso of old", env: map[string]string{"AWS_PROFILE": "sso"}, files: map[string]string{
			".aws/config":                          "[profile sso]\nsso_start_url = https://old.awsapps.com/start\nsso_region = us-east-1\nsso_account_id = 123\nsso_role_name = Dev\n",
			cache("https://old.awsapps.com/start"): strings.Replace(signedIn, "Z", "UTC", 1),
		}, net: map[string]string{"GET portal.sso.us-east-1.amazonaws.com/federation/credentials": roleAnswer}, id: "ASIASSO"},
		{name: "sso that ended", env: map[string]string{"AWS_PROFILE": "sso"}, files: map[string]string{
			".aws/config": "[profile sso]\nsso_session = corp\nsso_account_id = 123\nsso_role_name = Dev\n[sso-session corp]\nsso_start_url = https://corp.awsapps.com/start\nsso_region = eu-west-1\n",
			cache("corp"): strings.Replace(signedIn, "13:00", "11:00", 1),
		}, err: "expired"},
		{name: "nobody signed in", env: map[string]string{"AWS_PROFILE": "sso"}, files: map[string]string{
			".aws/config": "[profile sso]\nsso_session = corp\nsso_account_id = 123\nsso_role_name = Dev\n[sso-session corp]\nsso_start_url = https://x\nsso_region = eu-west-1\n",
		}, err: "aws sso login --profile sso"},
		{name: "a region that is none", env: map[string]string{"AWS_PROFILE": "sso"}, files: map[string]string{
			".aws/config": "[profile sso]\nsso_start_url = https://x\nsso_region = evil.example/\nsso_account_id = 123\nsso_role_name = Dev\n", cache("https://x"): signedIn,
		}, err: "does not say where"},
		{name: "sso refuses", env: map[string]string{"AWS_PROFILE": "sso"}, files: map[string]string{
			".aws/config": "[profile sso]\nsso_start_url = https://x\nsso_region = us-east-1\nsso_account_id = 123\nsso_role_name = Dev\n", cache("https://x"): signedIn,
		}, net: map[string]string{"GET portal.sso.us-east-1.amazonaws.com/federation/credentials": ""}, err: "HTTP 403"},
		{name: "a role", env: map[string]string{"AWS_PROFILE": "r"}, files: map[string]string{
			".aws/config": "[profile r]\nrole_arn=arn:aws:iam::1:role/r\nsource_profile=default\nexternal_id=e\n", ".aws/credentials": "[default]\naws_access_key_id=AKIASOURCE\naws_secret_access_key=s\n",
		}, net: map[string]string{"POST sts.us-west-2.amazonaws.com/": assumed}, id: "ASIAROLE", query: "Action=AssumeRole&ExternalId=e&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr&RoleSessionName=pawl&Version=2011-06-15", signed: "Credential=AKIASOURCE/20261122/us-west-2/sts/aws4_request"},
		{name: "a role of its own keys", env: map[string]string{"AWS_PROFILE": "r"}, files: map[string]string{
			".aws/config": "[profile r]\nrole_arn=arn:r\nsource_profile=r\naws_access_key_id=AKIAOWN\naws_secret_access_key=s\n",
		}, net: map[string]string{"POST sts.us-west-2.amazonaws.com/": assumed}, id: "ASIAROLE", signed: "Credential=AKIAOWN/"},
		{name: "a role of a container", env: map[string]string{"AWS_PROFILE": "r", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/x"}, files: map[string]string{
			".aws/config": "[profile r]\nrole_arn=arn:r\ncredential_source=EcsContainer\n",
		}, net: map[string]string{"GET 169.254.170.2/x": `{"AccessKeyId":"ASIAC","SecretAccessKey":"s","Token":"t","Expiration":"2026-11-22T13:00:00Z"}`, "POST sts.us-west-2.amazonaws.com/": assumed}, id: "ASIAROLE", signed: "Credential=ASIAC/"},
		{name: "roles in a circle", env: map[string]string{"AWS_PROFILE": "a"}, files: map[string]string{".aws/config": "[profile a]\nrole_arn=arn:a\nsource_profile=b\n[profile b]\nrole_arn=arn:b\nsource_profile=a\n"}, err: "refers to itself"},
		{name: "a role of nobody", env: map[string]string{"AWS_PROFILE": "a"}, files: map[string]string{".aws/config": "[profile a]\nrole_arn=arn:a\nsource_profile=gone\n"}, err: `no AWS profile "gone"`},
		{name: "a role without a source", env: map[string]string{"AWS_PROFILE": "a"}, files: map[string]string{".aws/config": "[profile a]\nrole_arn=arn:a\n"}, err: "export-credentials"},
		{name: "a role with a code", env: map[string]string{"AWS_PROFILE": "a"}, files: map[string]string{".aws/config": "[profile a]\nrole_arn=arn:a\nsource_profile=default\nmfa_serial=arn:mfa\n"}, err: "asks for a code"},
		{name: "a role that is refused", env: map[string]string{"AWS_PROFILE": "r"}, files: map[string]string{
			".aws/config": "[profile r]\nrole_arn=arn:r\nsource_profile=r\naws_access_key_id=AKIAOWN\naws_secret_access_key=s\n",
		}, net: map[string]string{"POST sts.us-west-2.amazonaws.com/": ""}, err: "HTTP 403"},
		{name: "aws login", env: map[string]string{"AWS_PROFILE": "r"}, files: map[string]string{".aws/config": "[profile r]\nlogin_session=arn:aws:sts::1:assumed-role/x\n"}, err: "export-credentials"},
		{name: "a program that nobody starts", env: map[string]string{"AWS_PROFILE": "r"}, files: map[string]string{".aws/config": "[profile r]\ncredential_process=/bin/give\n"}, err: "is not started here"},
		{name: "web identity", env: map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": "HOME/t", "AWS_ROLE_ARN": "arn:aws:iam::1:role/r"}, files: map[string]string{"t": "web.identity.token\n"},
			net: map[string]string{"POST sts.us-west-2.amazonaws.com/": `{"AssumeRoleWithWebIdentityResponse":{"AssumeRoleWithWebIdentityResult":{"Credentials":{"AccessKeyId":"ASIAWEB","SecretAccessKey":"s","SessionToken":"t","Expiration":1795352400}}}}`}, id: "ASIAWEB"},
		{name: "web identity out of reach", env: map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": "HOME/t", "AWS_ROLE_ARN": "arn:r"}, files: map[string]string{"t": "web.identity.token\n"}, err: "no answer"},
		{name: "container", env: map[string]string{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2/x"}, net: map[string]string{"GET 169.254.170.2/v2/x": `{"AccessKeyId":"ASIAC","SecretAccessKey":"s","Token":"t","Expiration":"2026-11-22T13:00:00Z"}`}, id: "ASIAC"},
		{name: "container with a token", env: map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://169.254.170.23/v1/credentials", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "HOME/t"}, files: map[string]string{"t": "pod-token\n"},
			net: map[string]string{"GET 169.254.170.23/v1/credentials": `{"AccessKeyId":"ASIAP","SecretAccessKey":"s","Token":"t","Expiration":"2026-11-22T13:00:00Z"}`}, id: "ASIAP", header: "Authorization: pod-token"},
		{name: "a container's service elsewhere", env: map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://evil.example/x"}, err: "neither https nor"},
		{name: "instance", net: map[string]string{
			"PUT 169.254.169.254/latest/api/token":                               "imds-token",
			"GET 169.254.169.254/latest/meta-data/iam/security-credentials/":     "role\n",
			"GET 169.254.169.254/latest/meta-data/iam/security-credentials/role": `{"AccessKeyId":"ASIAI","SecretAccessKey":"s","Token":"t","Expiration":"2026-11-22T13:00:00Z"}`,
		}, id: "ASIAI", header: "X-Aws-Ec2-Metadata-Token: imds-token"},
		{name: "an instance's service that is switched off", env: map[string]string{"AWS_EC2_METADATA_DISABLED": "true"}, net: map[string]string{"PUT 169.254.169.254/latest/api/token": "x"}, err: "no AWS credentials were found"},
		{name: "a token that would break a header", net: map[string]string{"PUT 169.254.169.254/latest/api/token": "a\r\nHost: evil"}, err: "no AWS credentials were found"},
		{name: "nothing", err: "AWS_BEARER_TOKEN_BEDROCK"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := home(t, c.files)
			net := &answers{t: t, of: c.net}
			cred := NewCredentials(Source{
				Env: func(k string) string {
					if k == "HOME" {
						return dir
					}
					return strings.Replace(c.env[k], "HOME", dir, 1)
				},
				Region: "us-west-2", HTTP: net, Now: func() time.Time { return noon },
			})
			req, _ := http.NewRequest(http.MethodPost, "https://bedrock-runtime.us-west-2.amazonaws.com/model/m/invoke-with-response-stream", nil)
			err := cred.Authorize(t.Context(), req, [][]byte{[]byte("{}")})
			if c.err != "" {
				var f *fault.Error
				if !errors.As(err, &f) || !strings.Contains(f.Error()+" "+f.Hint, c.err) || f.Hint == "" {
					t.Fatalf("%v", err)
				}
				for _, secret := range []string{"sso-access-token-1", "web.identity.token"} {
					if strings.Contains(fmt.Sprintf("%v %+v %s", err, err, f.Hint), secret) {
						t.Errorf("a secret is in %v", err)
					}
				}
				return
			}
			if err != nil || !strings.Contains(req.Header.Get("Authorization"), "Credential="+c.id+"/20261122/us-west-2/bedrock/aws4_request") {
				t.Fatalf("%v %v", err, req.Header)
			}
			if n := len(net.asked); c.query != "" && net.asked[n-1].URL.RawQuery != c.query || c.signed != "" && !strings.Contains(net.asked[n-1].Header.Get("Authorization"), c.signed) {
				t.Errorf("asked %s %v", net.asked[n-1].URL, net.asked[n-1].Header)
			}
			if name, value, ok := strings.Cut(c.header, ": "); ok && net.asked[len(net.asked)-1].Header[name][0] != value {
				t.Errorf("asked with %v", net.asked[len(net.asked)-1].Header)
			}
		})
	}
}

// SPEC 17.7: a sign-in by SSO that has ended is renewed with its refresh token, and stored
// for AWS's own tools.
func TestSignInIsRenewed(t *testing.T) {
	const token = "POST oidc.eu-west-1.amazonaws.com/token"
	const role = "GET portal.sso.eu-west-1.amazonaws.com/federation/credentials"
	config := "[default]\nsso_session = corp\nsso_account_id = 123\nsso_role_name = Dev\n[sso-session corp]\nsso_start_url = https://x\nsso_region = eu-west-1\n"
	ended := `{"accessToken":"access-1","expiresAt":"2026-11-22T11:00:00Z","refreshToken":"refresh-1","clientId":"id-1","clientSecret":"client-secret-1","startUrl":"https://x"}`
	for _, c := range []struct{ name, answer, stored, err string }{
		{"with a new refresh token", `{"accessToken":"access-2","refreshToken":"refresh-2","expiresIn":3600}`, `{"accessToken":"access-2","clientId":"id-1","clientSecret":"client-secret-1","expiresAt":"2026-11-22T13:00:00Z","refreshToken":"refresh-2","startUrl":"https://x"}`, ""},
		{"without one", `{"accessToken":"access-2","expiresIn":60}`, `{"accessToken":"access-2","clientId":"id-1","clientSecret":"client-secret-1","expiresAt":"2026-11-22T12:01:00Z","refreshToken":"refresh-1","startUrl":"https://x"}`, ""},
		{"refused", "", ended, "has expired"},
		{"no answer", "-", ended, "no credentials from AWS's sign-in service"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := home(t, map[string]string{".aws/config": config, cache("corp"): ended})
			net := &answers{t: t, of: map[string]string{token: c.answer, role: roleAnswer}}
			if c.answer == "-" {
				delete(net.of, token)
			}
			cred := NewCredentials(Source{Env: func(k string) string { return map[string]string{"HOME": dir}[k] }, Region: "us-west-2", HTTP: net, Now: func() time.Time { return noon }})
			req, _ := http.NewRequest(http.MethodPost, "https://h/", nil)
			err := cred.Authorize(t.Context(), req, nil)
			if said := fmt.Sprint(err); (err != nil) != (c.err != "") || !strings.Contains(said, c.err) || strings.Contains(said, "-1\"") {
				t.Fatal(err)
			}
			if got, _ := os.ReadFile(filepath.Join(dir, cache("corp"))); string(got) != c.stored {
				t.Errorf("stored %s", got)
			}
			asked, _ := io.ReadAll(net.asked[0].Body)
			if want := `{"clientId":"id-1","clientSecret":"client-secret-1","grantType":"refresh_token","refreshToken":"refresh-1"}`; string(asked) != want {
				t.Errorf("asked with %s", asked)
			}
			if err == nil && net.asked[1].Header["X-Amz-Sso_bearer_token"][0] != "access-2" {
				t.Errorf("asked with %v", net.asked[1].Header)
			}
		})
	}
}

// SPEC 17.7: credentials are kept as long as they last, and read anew after a refusal.
func TestCredentialsAreRenewed(t *testing.T) {
	now := noon
	net := &answers{t: t, of: map[string]string{"GET 169.254.170.2/x": `{"AccessKeyId":"ASIA1","SecretAccessKey":"secret-of-one","Token":"token-of-one","Expiration":"2026-11-22T13:00:00Z"}`}}
	cred := NewCredentials(Source{
		Env: func(k string) string {
			return map[string]string{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/x", "HOME": t.TempDir()}[k]
		},
		Region: "us-east-1", HTTP: net, Now: func() time.Time { return now },
	})
	use := func(want int) {
		t.Helper()
		req, _ := http.NewRequest(http.MethodPost, "https://h/", nil)
		must.Do(t, cred.Authorize(t.Context(), req, nil))
		if len(net.asked) != want {
			t.Errorf("asked %d times, want %d", len(net.asked), want)
		}
	}
	use(1)
	if cred.Renew() {
		t.Error("new credentials that are refused stay wrong")
	}
	use(2)
	use(2)
	if !cred.Renew() {
		t.Error("kept ones may have ended")
	}
	use(3)
	now = now.Add(59 * time.Minute)
	use(4)
	if got := strings.Join(cred.Secrets(), " "); !strings.Contains(got, "secret-of-one") || !strings.Contains(got, "token-of-one") {
		t.Errorf("secrets: %q", got)
	}
}
