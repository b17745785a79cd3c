package shell

import (
	"slices"
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// The part of pawl's own environment that a command sees (SPEC 16.7). A variable passes
// if its name is in names or starts with one of prefixes, and does not look secret. The
// lists contain what tool chains need to find themselves, their caches, their proxies and
// their certificates. Variables of applications (DATABASE_URL and the like) are not
// there; a person who needs one adds its name to StarterOptions.Allow.
const (
	names = " PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TMP TEMP HOSTNAME CI NO_COLOR" +
		" HTTP_PROXY HTTPS_PROXY ALL_PROXY FTP_PROXY NO_PROXY http_proxy https_proxy all_proxy ftp_proxy no_proxy" +
		" SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO" +
		" CC CXX CPP AR LD CFLAGS CXXFLAGS CPPFLAGS LDFLAGS CPATH LIBRARY_PATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH" +
		" LD_LIBRARY_PATH DYLD_LIBRARY_PATH SDKROOT DEVELOPER_DIR MACOSX_DEPLOYMENT_TARGET" +
		" VIRTUAL_ENV VOLTA_HOME JAVA_HOME JDK_HOME M2_HOME SOURCE_DATE_EPOCH DEBIAN_FRONTEND" +
		" GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL" +
		" SYSTEMROOT SystemRoot WINDIR windir COMSPEC ComSpec PATHEXT APPDATA LOCALAPPDATA USERPROFILE ProgramData "
	prefixes = " LC_ XDG_ GO CGO_ NODE_ npm_config_ NPM_CONFIG_ YARN_ PNPM_ COREPACK_ BUN_ DENO_ NVM_ FNM_" +
		" PYTHON PIP_ UV_ POETRY_ PIPENV_ CONDA_ PYENV_ CARGO RUST MAVEN_ GRADLE_ SDKMAN_ ANDROID_ DOTNET_ NUGET_" +
		" RUBY GEM_ BUNDLE_ RBENV_ COMPOSER_ PERL OPAM OCAML GHCUP_ CABAL_ STACK_ MIX_ HEX_ ERL_ ZIG_ SWIFT_" +
		" CMAKE_ PKG_CONFIG CCACHE_ NIX_ HOMEBREW_ ASDF_ MISE_ "
	// A name is secret if one of its parts, between characters that are neither letters
	// nor digits, ends in one of these: GITHUB_TOKEN, APIKEY,
	// npm_config_//registry.npmjs.org/:_authToken.
	secretEnds   = " KEY KEYS TOKEN TOKENS SECRET SECRETS PASSWORD PASSWORDS PASSWD PASS PASSPHRASE CREDENTIAL CREDENTIALS CREDS COOKIE "
	secretStarts = " SECRET TOKEN PASSWORD CREDENTIAL APIKEY "
	secretParts  = " AUTH PAT PATS PWD CRED BEARER JWT DSN PASSCODE "
	// Where agents and services are that act as the person. They are no keys. Commands get
	// them, and no other process; the sandbox refuses the sockets.
	services = " SSH_AUTH_SOCK SSH_AGENT_PID GNUPGHOME DOCKER_HOST DOCKER_CONTEXT CONTAINER_HOST DBUS_SESSION_BUS_ADDRESS KUBECONFIG GH_CONFIG_DIR GH_HOST "
	// Prefixes of values that are keys, whatever the variable's name.
	secretValues = " sk- sk_live_ ghp_ gho_ ghs_ github_pat_ glpat- xoxb- xoxp- AKIA AIza hf_ npm_ pypi- "
	// A proxy setting may contain a password. It passes anyway, since without it there is
	// no network.
	proxies = " HTTP_PROXY HTTPS_PROXY ALL_PROXY FTP_PROXY "
)

// fixed returns settings that prevent programs from waiting for a person (SPEC 4.11).
func fixed() []string {
	return []string{
		"GIT_EDITOR=:", "GIT_PAGER=cat", "PAGER=cat", "GIT_TERMINAL_PROMPT=0", "TERM=dumb", "PAWL=1",
	}
}

// environment returns the variables that a process sees. The result is computed again
// only if pawl's environment changed.
func (s *Starter) environment() []string {
	env := s.opt.Env()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.passed == nil || !slices.Equal(env, s.env) {
		s.env, s.passed = slices.Clone(env), environ(env, s.opt.Allow)
	}
	return slices.Clone(s.passed)
}

// serving returns the variables of services in pawl's own environment.
func (s *Starter) serving() []string {
	return slices.DeleteFunc(slices.Clone(s.opt.Env()), func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		return name == "" || !strings.Contains(services, " "+name+" ") || looksSecret("", value)
	})
}

var known = sync.OnceValue(func() *secrets.Masker { return secrets.New() })

// environ filters env by the lists above. extra contains names that pass too, unless they
// look secret.
func environ(env, extra []string) []string {
	out := make([]string, 0, len(env)+12)
	for _, kv := range env {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" || !allowed(name, extra) {
			continue
		}
		if looksSecret(name, value) {
			// Without its index a program would ask the public one for internal names.
			if value = addressUser().ReplaceAllString(value, "$1"); !strings.Contains(value, "://") || looksSecret(name, value) {
				continue
			}
		}
		out = append(out, name+"="+value)
	}
	return append(out, fixed()...)
}

// addressUser matches the user name and the password of an address.
var addressUser = lazyregexp.New(`(://)[^/@\s]*@`)

// WithoutSecrets returns the variables that do not look like a key, by their name or by
// their value.
func WithoutSecrets(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		return looksSecret(name, value)
	})
}

func allowed(name string, extra []string) bool {
	if strings.ContainsRune(name, ' ') {
		return false
	}
	if strings.Contains(names, " "+name+" ") {
		return true
	}
	for _, n := range extra {
		if n == name {
			return true
		}
	}
	if strings.HasPrefix(name, "GOOGLE") {
		return false
	}
	return anyField(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

func looksSecret(name, value string) bool {
	secret := false
	for part := range strings.FieldsFuncSeq(strings.ToUpper(name), func(r rune) bool {
		return (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}) {
		part = strings.TrimRight(part, "0123456789") // TOKEN2 is a secret as well
		secret = secret || strings.Contains(secretParts, " "+part+" ") ||
			anyField(secretEnds, func(w string) bool { return strings.HasSuffix(part, w) }) ||
			anyField(secretStarts, func(w string) bool { return strings.HasPrefix(part, w) })
	}
	if secret || anyField(secretValues, func(p string) bool { return strings.HasPrefix(value, p) }) {
		return true
	}
	return (hasPassword(value) || known().String(value) != value) && !strings.Contains(proxies, " "+strings.ToUpper(name)+" ")
}

// hasPassword reports whether an address in s contains a password or a token.
func hasPassword(s string) bool {
	for {
		_, rest, ok := strings.Cut(s, "://")
		if !ok {
			return false
		}
		authority := rest
		if i := strings.IndexAny(rest, "/?# "); i >= 0 {
			authority = rest[:i]
		}
		// user:password@, or a token alone before the @
		if at := strings.LastIndexByte(authority, '@'); at >= 16 || at >= 0 && strings.Contains(authority[:at], ":") {
			return true
		}
		s = rest
	}
}

func anyField(list string, f func(string) bool) bool {
	for w := range strings.FieldsSeq(list) {
		if f(w) {
			return true
		}
	}
	return false
}
