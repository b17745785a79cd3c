package mcp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/jsonc"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/policy/trust"
	"github.com/pawl-agent/pawl/internal/policy/unknown"
)

// Server is a configured MCP server.
type Server struct {
	Name string
	File string // the file that configures it
	// Project means that the folder's file configures it, not the person's own.
	Project bool
	// Root is the folder of the plugin that contains it, or "". A plugin's server is
	// treated like a folder's.
	Root      string
	Transport string // stdio, http, sse
	Command   []string
	Env       map[string]string
	Dir       string
	URL       string
	Headers   map[string]string
	OAuth     OAuth
	// Timeout is the longest time a call may take; 0 means callTime.
	Timeout time.Duration
	// Sandbox is how its process is confined: "off", "workspace", "read-only", or "" for
	// the default. Hosts are the hosts that it may then reach.
	Sandbox  string
	Hosts    []string
	Disabled bool
	// Defaults means that the server gets its own defaults where it asks for something and
	// nobody is there, if it has one for each field.
	Defaults bool
	// Problem is the reason why the server cannot be used, or "".
	Problem string

	// InFolder means that the person's own server works in the workspace, or runs what lies
	// there. It belongs to what a person trusts of a folder.
	InFolder bool

	start   []string // what a pin is bound to: the configuration before expansion
	secrets []string // values of variables whose names suggest secrets
}

// callTime is the default time limit of a call.
const callTime = 5 * time.Minute

// Entry is a server in a file, in Claude Code's form, with the key names of other agents.
// Sandbox, Hosts and Defaults are pawl's own.
type Entry struct {
	Type     string            `json:"type,omitempty"`
	Command  Command           `json:"command,omitempty"`
	Args     []string          `json:"args,omitempty"`
	Env      map[string]string `json:"env,omitempty"`
	Cwd      string            `json:"cwd,omitempty"`
	URL      string            `json:"url,omitempty"`
	HTTPURL  string            `json:"httpUrl,omitempty"`
	Headers  map[string]string `json:"headers,omitempty"`
	Timeout  int64             `json:"timeout,omitempty"` // milliseconds
	Defaults bool              `json:"acceptDefaults,omitempty"`
	Disabled bool              `json:"disabled,omitempty"`
	Enabled  *bool             `json:"enabled,omitempty"` // false: disabled, as opencode and Codex write it
	Sandbox  string            `json:"sandbox,omitempty"`
	Hosts    []string          `json:"hosts,omitempty"`
	OAuth    *OAuth            `json:"oauth,omitempty"`
}

func (e Entry) off() bool { return e.Disabled || e.Enabled != nil && !*e.Enabled }

// entryKeys are the keys of a server, here and in other agents. Those that permit something,
// and those that describe the server, are not used.
var entryKeys = unknown.Keys{
	Guards: []string{"disabled", "sandbox", "hosts", "enabled", "disabledTools", "enabledTools", "includeTools", "excludeTools", "allowedTools", "tools"},
	Others: []string{
		"type", "transport", "command", "args", "env", "cwd", "url", "httpUrl", "headers", "timeout", "oauth", "acceptDefaults",
		"trust", "alwaysAllow", "autoApprove", "alwaysLoad", "description", "name", "note", "icon", "tags", "envFile", "gallery", "version",
		"serverUrl", "environment", "env_vars", "http_headers", "env_http_headers", "bearer_token_env_var",
		"startup_timeout_sec", "startup_timeout_ms", "tool_timeout_sec", "headersHelper", "authProviderType", "targetAudience", "targetServiceAccount",
	},
}

// kept are the guards of a server that pawl keeps.
var kept = []string{"disabled", "sandbox", "hosts", "enabled"}

// unkept returns an error for a key of a server that limits it and that pawl cannot keep
// or does not know. Such a server is not used.
func unkept(raw json.RawMessage) error {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(raw, &keys); err != nil {
		return err
	}
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		same := func(g string) bool { return strings.EqualFold(g, k) }
		if slices.ContainsFunc(entryKeys.Guards, same) && !slices.ContainsFunc(kept, same) && limits(keys[k]) {
			return fmt.Errorf("it has %s, which pawl cannot enforce: remove it, and deny its tools with a rule, mcp__SERVER__TOOL", k)
		}
	}
	return entryKeys.Every("an MCP server", maps.Keys(keys))
}

// limits reports whether a list of tools leaves any out, or has one that must be asked for.
func limits(list json.RawMessage) bool {
	var tools []string
	var modes map[string]struct { // Codex
		Approval string `json:"approval_mode"`
	}
	if json.Unmarshal(list, &modes) == nil {
		for _, m := range modes {
			if m.Approval != "approve" {
				return true
			}
		}
		return false
	}
	return json.Unmarshal(list, &tools) != nil || len(tools) > 0 && !slices.Contains(tools, "*")
}

// OAuth is how a person signs in to a server; the zero value is right for most.
type OAuth struct {
	ClientID     string   `json:"clientId,omitempty"` // if pawl is registered already, or the https address of a client metadata document
	ClientSecret string   `json:"clientSecret,omitempty"`
	CallbackPort int      `json:"callbackPort,omitempty"`
	Scopes       []string `json:"scopes,omitempty"` // to ask for besides those that the server names
	// Grant is client_credentials for a server that knows pawl as a service, jwt-bearer
	// where a company vouches for the person. Issuer is the only authorization server that
	// gets the secret; PrivateKey, in PEM form, signs instead of a secret.
	Grant      string  `json:"grant,omitempty"`
	Issuer     string  `json:"issuer,omitempty"`
	PrivateKey string  `json:"privateKey,omitempty"`
	Company    Company `json:"idp,omitzero"`
}

// Company is the identity provider of a company, with its token for the person.
type Company struct {
	TokenEndpoint string `json:"tokenEndpoint"`
	ClientID      string `json:"clientId"`
	ClientSecret  string `json:"clientSecret,omitempty"`
	IDToken       string `json:"idToken"`
}

// values are the values that may name variables; those from the second on are secret.
func (o *OAuth) values() []*string {
	return []*string{&o.ClientID, &o.ClientSecret, &o.PrivateKey, &o.Company.ClientSecret, &o.Company.IDToken}
}

// UnmarshalJSON implements json.Unmarshaler. It also accepts what other agents write: a
// boolean, and scopes as one text.
func (o *OAuth) UnmarshalJSON(b []byte) error {
	if string(b) == "false" || string(b) == "true" {
		*o = OAuth{}
		return nil
	}
	type plain OAuth
	var with struct {
		plain
		Scope  string          `json:"scope"`
		Scopes json.RawMessage `json:"scopes"`
	}
	if err := json.Unmarshal(b, &with); err != nil {
		return err
	}
	*o = OAuth(with.plain)
	var text string
	if len(with.Scopes) > 0 && json.Unmarshal(with.Scopes, &o.Scopes) != nil {
		if err := json.Unmarshal(with.Scopes, &text); err != nil {
			return err
		}
	}
	o.Scopes = union(o.Scopes, strings.Fields(text+" "+with.Scope))
	return nil
}

// Command is a program, or a list with its arguments.
type Command []string

func (c *Command) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*c = nil
		if one != "" {
			*c = Command{one}
		}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(c))
}

func (c Command) MarshalJSON() ([]byte, error) {
	if len(c) == 1 {
		return json.Marshal(c[0])
	}
	return json.Marshal([]string(c))
}

// validName matches the names that a server may have.
var validName = lazyregexp.New(`^[A-Za-z0-9](?:_?[A-Za-z0-9-])*$`)

// CheckName returns an error for a name that a server cannot have.
func CheckName(name string) error {
	if len(name) > 40 || !validName().MatchString(name) {
		return fmt.Errorf("%q is not a server name: use at most 40 letters, digits, - and single _", name)
	}
	return nil
}

// Parse reads a file of servers, {"mcpServers": {…}}. env is the person's own
// environment; ${VAR} and ${VAR:-default} are replaced only from it. A server that cannot
// be used is in the list, with its Problem.
func Parse(file string, raw []byte, project bool, env func(string) string) ([]Server, error) {
	var all struct {
		Servers map[string]json.RawMessage `json:"mcpServers"`
	}
	if err := json.Unmarshal(jsonc.Plain(raw), &all); err != nil {
		if at := (*json.SyntaxError)(nil); errors.As(err, &at) {
			file = fmt.Sprintf("%s:%d", file, 1+bytes.Count(raw[:min(int(at.Offset), len(raw))], []byte{'\n'}))
		}
		return nil, fmt.Errorf("%s: %w: none of its servers is used", file, err)
	}
	var out []Server
	for _, name := range slices.Sorted(maps.Keys(all.Servers)) {
		out = append(out, parse(file, name, all.Servers[name], project, env))
	}
	return out, nil
}

func parse(file, name string, raw json.RawMessage, project bool, env func(string) string) Server {
	s := Server{Name: name, File: file, Project: project}
	var e Entry
	if err := json.Unmarshal(raw, &e); err != nil {
		s.Problem = "its configuration cannot be read: " + err.Error()
		return s
	}
	s.Disabled, s.Sandbox, s.Hosts, s.Defaults = e.off(), e.Sandbox, e.Hosts, e.Defaults
	if err := unkept(raw); err != nil {
		s.Problem = err.Error()
		return s
	}
	if project {
		s.Sandbox, s.Hosts, s.Defaults = "", nil, false // a folder cannot decide how it is confined, and what is answered
	}
	if e.Timeout > 0 {
		s.Timeout = time.Duration(min(e.Timeout, int64(time.Hour/time.Millisecond))) * time.Millisecond
	}
	s.start = start(e)
	var missing []string
	ex := func(v string) string {
		for _, m := range variable().FindAllStringSubmatch(v, -1) {
			if secretName().MatchString(m[1]) {
				s.secrets = append(s.secrets, env(m[1]))
			}
		}
		return expand(v, env, &missing)
	}
	for _, a := range append(slices.Clone([]string(e.Command)), e.Args...) {
		s.Command = append(s.Command, ex(a))
	}
	s.Env, s.Headers, s.Dir = expandAll(e.Env, ex), expandAll(e.Headers, ex), ex(e.Cwd)
	s.URL = ex(cmp.Or(e.URL, e.HTTPURL))
	if e.OAuth != nil {
		s.OAuth = *e.OAuth
		for _, v := range s.OAuth.values() {
			*v = ex(*v)
		}
	}
	s.Transport = transport(e)
	s.Problem = problem(&s, missing)
	return s
}

func expandAll(m map[string]string, ex func(string) string) map[string]string {
	out := make(map[string]string, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out[k] = ex(m[k])
	}
	return out
}

// start returns what a pin is bound to: everything that decides which program answers.
// The values are as configured, so a new token does not make it another server.
func start(e Entry) []string {
	out := []string{transport(e), cmp.Or(e.URL, e.HTTPURL), e.Cwd}
	out = append(append(out, e.Command...), e.Args...)
	for _, m := range []map[string]string{e.Env, e.Headers} {
		out = append(out, "")
		for _, k := range slices.Sorted(maps.Keys(m)) {
			out = append(out, k+"="+m[k])
		}
	}
	return out
}

func transport(e Entry) string {
	switch t := strings.ToLower(e.Type); {
	case t == "streamable-http" || t == "streamable_http" || t == "streamablehttp" || t == "remote":
		return "http"
	case t == "local":
		return "stdio"
	case t != "":
		return t
	case len(e.Command) > 0:
		return "stdio"
	case e.URL != "" || e.HTTPURL != "":
		return "http"
	}
	return "stdio"
}

// variable is ${NAME} or ${NAME:-default}.
var variable = lazyregexp.New(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-[^}]*)?\}`)

func expand(s string, env func(string) string, missing *[]string) string {
	return variable().ReplaceAllStringFunc(s, func(ref string) string {
		m := variable().FindStringSubmatch(ref)
		if v := env(m[1]); v != "" {
			return v
		}
		if m[2] == "" && !slices.Contains(*missing, m[1]) {
			*missing = append(*missing, m[1])
		}
		return strings.TrimPrefix(m[2], ":-")
	})
}

func problem(s *Server, missing []string) string {
	if err := CheckName(s.Name); err != nil {
		return err.Error()
	}
	if len(missing) > 0 {
		text := "the environment has no " + strings.Join(missing, ", ")
		if s.Project {
			text += " for a folder's server, which gets none of pawl's own keys"
		}
		return text
	}
	switch s.Sandbox {
	case "", "off", "workspace", "read-only":
	default:
		return fmt.Sprintf("\"sandbox\" is %q: use workspace, read-only or off", s.Sandbox)
	}
	switch s.Transport {
	case "stdio":
		if len(s.Command) == 0 || strings.TrimSpace(s.Command[0]) == "" {
			return "it names neither a command nor an address"
		}
	case "http", "sse":
		if _, err := address(s.URL); err != nil {
			return err.Error()
		}
		for k, v := range s.Headers {
			if strings.ContainsAny(k+v, "\r\n\x00") {
				return "the header " + fmt.Sprintf("%q", k) + " holds a line end"
			}
		}
	case inside:
		return "it is a part of a program, which has to drive pawl itself (see doc/programs.md)"
	default:
		return fmt.Sprintf("its type %q is not known: stdio, http or sse", s.Transport)
	}
	return ""
}

var errAddress = errors.New("its address must be an http or https address without credentials")

func address(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return nil, errAddress
	}
	return u, nil
}

// Own reports whether the person configured the server for themselves, so that it must
// find nothing through the workspace.
func (s Server) Own() bool { return !s.Project && !s.InFolder && s.Transport == "stdio" }

// Configured returns what decides which program the server is, as it is configured and
// without secrets.
func (s Server) Configured() string {
	if len(s.start) < 3+len(s.Command) {
		return ""
	}
	out := slices.Clone(s.start[2 : 3+len(s.Command)])
	for _, k := range slices.Sorted(maps.Keys(s.Env)) {
		if !secretName().MatchString(k) {
			out = append(out, k+"="+s.Env[k])
		}
	}
	return strings.Join(out, "\n")
}

// Here reports whether the server runs on this machine, where it may change the
// workspace.
func (s Server) Here() bool {
	if s.Transport == "stdio" || s.InProgram() {
		return true
	}
	u, err := address(s.URL)
	if err != nil {
		return false
	}
	name := strings.ToLower(u.Hostname())
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	a, err := netip.ParseAddr(name)
	return err == nil && (a.Unmap().IsLoopback() || a.IsUnspecified())
}

// SignsIn reports whether a person may have to sign in to the server: it is reached over
// HTTP, and no token is configured.
func (s Server) SignsIn() bool {
	if s.Transport == "stdio" || s.InProgram() {
		return false
	}
	for k := range s.Headers {
		if strings.EqualFold(k, "Authorization") {
			return false
		}
	}
	return true
}

// Runs returns its command line or address, in one line without secrets.
func (s Server) Runs() string {
	switch {
	case s.Transport == "stdio":
		return strings.Join(s.Command, " ")
	case s.InProgram():
		return "inside the program"
	}
	if u, err := address(s.URL); err == nil {
		u.RawQuery, u.Fragment = "", ""
		return u.String()
	}
	return "of an unknown form"
}

// secretName matches the names of variables with secrets.
var secretName = lazyregexp.New(`(?i)key|token|secret|passw|auth|cred|cookie|session|_pat$|dsn|private`)

// Secrets returns the values that must never be shown: those of headers, of an
// address's query, and of variables whose names suggest secrets.
func (s Server) Secrets() []string {
	out := slices.Clone(s.secrets)
	for _, k := range slices.Sorted(maps.Keys(s.Env)) {
		if secretName().MatchString(k) {
			out = append(out, s.Env[k])
		}
	}
	for _, k := range slices.Sorted(maps.Keys(s.Headers)) {
		v := s.Headers[k]
		out = append(out, v)
		if scheme, rest, ok := strings.Cut(v, " "); ok && len(scheme) < 12 {
			out = append(out, rest)
		}
	}
	for _, v := range s.OAuth.values()[1:] {
		if *v != "" {
			out = append(out, *v)
		}
	}
	if u, err := address(s.URL); err == nil {
		for _, vs := range u.Query() {
			out = append(out, vs...)
		}
	}
	return out
}

func (s Server) identity(instructions string, items []trust.Item) trust.Server {
	return trust.Server{Name: s.Name, Start: s.start, Instructions: instructions, Items: items}
}
