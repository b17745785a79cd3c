package bedrock

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/fault"
)

// Source is where credentials are searched, in the order of AWS's own tools: the
// environment, a profile of the shared files (its keys, or its sign-in by SSO), a web
// identity, the container's service, the instance's service.
type Source struct {
	Env    func(string) string
	Region string
	HTTP   http.RoundTripper // nil: http.DefaultTransport, without a proxy for services of the machine
	Now    func() time.Time  // nil: time.Now
	// Program runs the program of a profile (credential_process) and returns what it
	// prints; files are the files that name it. If it is nil, such a profile is refused.
	Program func(ctx context.Context, files []string, line string) ([]byte, error)
	// Metadata is the address of the instance's service; "" means the default one.
	Metadata string
}

// Credentials authorizes requests with the keys that a Source returns. It implements
// provider.Auth and is safe for concurrent use.
type Credentials struct {
	src Source

	mu   sync.Mutex
	kept keys
	old  bool // kept was used before the last Authorize
	last keys // the keys used last; an answer may repeat them
}

// NewCredentials returns credentials that are not read before the first request.
func NewCredentials(s Source) *Credentials {
	if s.Now == nil {
		s.Now = time.Now
	}
	return &Credentials{src: s}
}

// early is how long before their expiry credentials are renewed.
const early = 2 * time.Minute

// Authorize signs a request.
func (c *Credentials) Authorize(ctx context.Context, req *http.Request, body [][]byte) error {
	k, err := c.get(ctx)
	if err != nil {
		return err
	}
	h := sha256.New()
	for _, part := range body {
		_, _ = h.Write(part) // a hash never fails
	}
	sign(req, k, hex.EncodeToString(h.Sum(nil)), c.src.Region, "bedrock", c.src.Now())
	return nil
}

func (c *Credentials) get(ctx context.Context) (keys, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept.id != "" && (c.kept.expires.IsZero() || c.src.Now().Add(early).Before(c.kept.expires)) {
		c.old = true
		return c.kept, nil
	}
	k, err := c.src.find(ctx)
	if err != nil {
		return keys{}, err
	}
	c.kept, c.old, c.last = k, false, k
	return k, nil
}

// Renew discards the stored keys. It reports whether they were stored before the last
// Authorize: then new ones may be accepted.
func (c *Credentials) Renew() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.old
	c.kept, c.old = keys{}, false
	return was
}

// Secrets returns the keys that were used last.
func (c *Credentials) Secrets() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return []string{c.last.id, c.last.secret, c.last.token}
}

func (s Source) get(name string) string { return strings.TrimSpace(s.Env(name)) }

// find returns the keys from the first place that has some.
func (s Source) find(ctx context.Context) (keys, error) {
	if k := (keys{id: s.get("AWS_ACCESS_KEY_ID"), secret: s.get("AWS_SECRET_ACCESS_KEY"), token: s.get("AWS_SESSION_TOKEN")}); k.id != "" && k.secret != "" {
		return k, nil
	}
	name := s.profile()
	all, err := s.profiles()
	if err != nil {
		return keys{}, err
	}
	if p, ok := all[name]; ok {
		if k, found, err := s.ofProfile(ctx, name, p, all, 0); found || err != nil {
			return k, err
		}
	} else if s.get("AWS_PROFILE") != "" {
		return keys{}, fault.NewConfiguration("name another one with AWS_PROFILE, or make it with aws configure --profile "+name,
			"there is no AWS profile %q", name)
	}
	if file, role := s.get("AWS_WEB_IDENTITY_TOKEN_FILE"), s.get("AWS_ROLE_ARN"); file != "" && role != "" {
		return s.webIdentity(ctx, file, role)
	}
	if k, found, err := s.container(ctx); found || err != nil {
		return k, err
	}
	if k, ok := s.instance(ctx); ok {
		return k, nil
	}
	return keys{}, fault.NewConfiguration(
		"set AWS_BEARER_TOKEN_BEDROCK to a Bedrock API key, set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or sign in with aws configure or aws sso login and set AWS_PROFILE",
		"no AWS credentials were found")
}

func (s Source) profile() string {
	for _, name := range []string{"AWS_PROFILE", "AWS_DEFAULT_PROFILE"} {
		if v := s.get(name); v != "" {
			return v
		}
	}
	return "default"
}

// mostRoles is how many roles may be assumed in a chain.
const mostRoles = 5

// ofProfile returns the keys of a profile; found is false if it has none. depth is the
// number of roles that lead to it.
func (s Source) ofProfile(ctx context.Context, name string, p section, all map[string]section, depth int) (k keys, found bool, err error) {
	own := p["aws_access_key_id"] != "" && p["aws_secret_access_key"] != ""
	switch {
	case p["role_arn"] != "" && p["web_identity_token_file"] != "":
		k, err := s.webIdentity(ctx, p["web_identity_token_file"], p["role_arn"])
		return k, true, err
	case p["role_arn"] != "" && (!own || p["source_profile"] != name || depth == 0):
		k, err := s.role(ctx, name, p, all, depth)
		return k, true, err
	case own:
		return keys{id: p["aws_access_key_id"], secret: p["aws_secret_access_key"], token: p["aws_session_token"]}, true, nil
	case p["sso_account_id"] != "" && p["sso_role_name"] != "":
		k, err := s.sso(ctx, name, p, all)
		return k, true, err
	case p["credential_process"] != "":
		k, err := s.program(ctx, name, p["credential_process"])
		return k, true, err
	case p["login_session"] != "":
		return keys{}, true, outside(name, "signs in by aws login, whose keys are renewed by AWS's own tools only")
	}
	return keys{}, false, nil
}

// outside returns the error for a profile that needs AWS's own tool.
func outside(name, why string) error {
	return fault.NewConfiguration(
		`put its credentials into the environment first: eval "$(aws configure export-credentials --format env --profile `+name+`)"`,
		"AWS's profile %q %s", name, why)
}

// role returns keys for the role of a profile, assumed with the credentials that it
// names.
func (s Source) role(ctx context.Context, name string, p section, all map[string]section, depth int) (keys, error) {
	if p["mfa_serial"] != "" {
		return keys{}, outside(name, "assumes a role that asks for a code")
	}
	if depth >= mostRoles {
		return keys{}, fault.NewConfiguration("correct source_profile in the AWS config file", "the AWS profile %q refers to itself", name)
	}
	var with keys
	found, err := false, error(nil)
	switch from := p["source_profile"]; {
	case from != "":
		source, ok := all[from]
		if !ok {
			return keys{}, fault.NewConfiguration("correct source_profile in the AWS config file", "there is no AWS profile %q, which is the source_profile of %q", from, name)
		}
		with, found, err = s.ofProfile(ctx, from, source, all, depth+1)
	case p["credential_source"] == "Environment":
		with = keys{id: s.get("AWS_ACCESS_KEY_ID"), secret: s.get("AWS_SECRET_ACCESS_KEY"), token: s.get("AWS_SESSION_TOKEN")}
		found = with.id != ""
	case p["credential_source"] == "EcsContainer":
		with, found, err = s.container(ctx)
	case p["credential_source"] == "Ec2InstanceMetadata":
		with, found = s.instance(ctx)
	}
	if err != nil {
		return keys{}, err
	}
	if !found {
		return keys{}, outside(name, "assumes a role, and there are no credentials to do that with")
	}
	return s.assume(ctx, with, p)
}

// section is a section of AWS's files.
type section map[string]string

// profiles reads the shared files and returns each profile under its name; the
// credentials file has priority. SSO sessions have the prefix "sso-session ".
func (s Source) profiles() (map[string]section, error) {
	out := map[string]section{}
	for _, f := range s.files() {
		raw, err := readSmall(f.path)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, &fault.Error{Category: fault.Configuration, Message: "cannot read AWS's " + f.name, Err: err, Hint: "correct the file, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"}
		}
		parse(string(raw), f.config, out)
	}
	return out, nil
}

// file is one of AWS's shared files.
type file struct {
	name, path string
	config     bool
}

func (s Source) files() (out []file) {
	for _, f := range []struct {
		env, name string
		config    bool
	}{{"AWS_CONFIG_FILE", "config", true}, {"AWS_SHARED_CREDENTIALS_FILE", "credentials", false}} {
		path := s.get(f.env)
		if path == "" {
			if s.home() == "" {
				continue
			}
			path = filepath.Join(s.home(), ".aws", f.name)
		}
		out = append(out, file{f.name, path, f.config})
	}
	return out
}

func (s Source) home() string {
	if h := s.get("HOME"); h != "" {
		return h
	}
	return s.get("USERPROFILE")
}

// readSmall reads a configuration file of at most 1 MB.
func readSmall(path string) ([]byte, error) {
	const most = 1 << 20
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > most {
		return nil, fmt.Errorf("%s is not a file of settings: it is not a regular file, or larger than 1 MiB", path)
	}
	return os.ReadFile(path)
}

// parse reads AWS's form of an INI file. In the file config, profiles except default have
// the prefix "profile ". Indented lines belong to the setting above; no such setting is
// used here.
func parse(text string, config bool, into map[string]section) {
	var at section
	for line := range strings.Lines(text) {
		line = strings.TrimRight(strings.TrimPrefix(line, "\ufeff"), "\r\n\t ")
		if line == "" || line[0] == '#' || line[0] == ';' || line[0] == ' ' || line[0] == '\t' {
			continue
		}
		if line[0] == '[' {
			name, _, _ := strings.Cut(line[1:], "]")
			name = strings.Join(strings.Fields(name), " ")
			if plain, ok := strings.CutPrefix(name, "profile "); ok && config {
				name = plain
			} else if config && name != "default" && !strings.HasPrefix(name, "sso-session ") {
				at = nil
				continue
			}
			if at = into[name]; at == nil {
				at = section{}
				into[name] = at
			}
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok || at == nil {
			continue
		}
		value = strings.TrimSpace(value)
		for _, mark := range []string{" #", " ;", "\t#"} {
			value, _, _ = strings.Cut(value, mark)
		}
		at[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(value)
	}
}

// RegionOf returns the configured region: from the environment, else from the profile.
func RegionOf(env func(string) string) string {
	s := Source{Env: env}
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION"} {
		if v := s.get(name); v != "" {
			return v
		}
	}
	all, err := s.profiles()
	if err != nil {
		return ""
	}
	return all[s.profile()]["region"]
}
