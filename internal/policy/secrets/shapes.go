package secrets

import (
	"encoding/base64"
	"slices"
	"strings"
)

// isWord reports whether c is a letter, a digit, _ or -. It uses comparisons,
// since a table would have to be filled at start-up.
func isWord(c byte) bool {
	return isLetter(c) || isDigit(c) || c == '_' || c == '-'
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// shape is the format of one kind of key: its beginning, and the length of the rest.
type shape struct {
	prefix, kind string
	min, max     int
	extra        string // characters allowed besides letters, digits, _ and -
	digit        bool   // it has a digit and a letter, unlike a name
}

// shapes are the keys with a known beginning. Longer prefixes come first.
var shapes = [...]shape{
	{prefix: "sk-ant-", kind: "anthropic", min: 20, max: 200},
	{prefix: "sk-or-", kind: "openrouter", min: 20, max: 200},
	{prefix: "sk-proj-", kind: "openai", min: 20, max: 300},
	{prefix: "sk-svcacct-", kind: "openai", min: 20, max: 300},
	{prefix: "sk-", kind: "key", min: 20, max: 300, digit: true},
	{prefix: "sk_live_", kind: "stripe", min: 16, max: 200, digit: true},
	{prefix: "sk_test_", kind: "stripe", min: 16, max: 200, digit: true},
	{prefix: "rk_live_", kind: "stripe", min: 16, max: 200, digit: true},
	{prefix: "rk_test_", kind: "stripe", min: 16, max: 200, digit: true},
	{prefix: "whsec_", kind: "stripe", min: 24, max: 100, extra: "+/=", digit: true},
	{prefix: "SG.", kind: "sendgrid", min: 40, max: 100, extra: ".", digit: true},
	{prefix: "AIza", kind: "google", min: 35, max: 35, digit: true},
	{prefix: "GOCSPX-", kind: "google", min: 20, max: 60, digit: true},
	{prefix: "ya29.", kind: "google", min: 30, max: 2000, extra: ".", digit: true},
	{prefix: "ghp_", kind: "github", min: 30, max: 260},
	{prefix: "gho_", kind: "github", min: 30, max: 260},
	{prefix: "ghu_", kind: "github", min: 30, max: 260},
	{prefix: "ghs_", kind: "github", min: 30, max: 260},
	{prefix: "ghr_", kind: "github", min: 30, max: 260},
	{prefix: "github_pat_", kind: "github", min: 30, max: 260},
	{prefix: "glpat-", kind: "gitlab", min: 18, max: 200, extra: "."},
	{prefix: "gldt-", kind: "gitlab", min: 18, max: 200},
	{prefix: "glrt-", kind: "gitlab", min: 18, max: 200, extra: "."},
	{prefix: "glptt-", kind: "gitlab", min: 18, max: 200},
	{prefix: "gsk_", kind: "groq", min: 30, max: 200, digit: true},
	{prefix: "xoxb-", kind: "slack", min: 20, max: 300, digit: true},
	{prefix: "xoxp-", kind: "slack", min: 20, max: 300, digit: true},
	{prefix: "xoxo-", kind: "slack", min: 20, max: 300, digit: true},
	{prefix: "xoxa-", kind: "slack", min: 20, max: 300, digit: true},
	{prefix: "xoxr-", kind: "slack", min: 20, max: 300, digit: true},
	{prefix: "xoxs-", kind: "slack", min: 20, max: 300, digit: true},
	{prefix: "xapp-", kind: "slack", min: 30, max: 300, digit: true},
	{prefix: "xai-", kind: "xai", min: 40, max: 200, digit: true},
	{prefix: "npm_", kind: "npm", min: 36, max: 36, digit: true},
	{prefix: "nvapi-", kind: "nvidia", min: 40, max: 200, digit: true},
	{prefix: "hf_", kind: "huggingface", min: 30, max: 60},
	{prefix: "hvs.", kind: "vault", min: 24, max: 200, digit: true},
	{prefix: "hvb.", kind: "vault", min: 24, max: 300, digit: true},
	{prefix: "pypi-", kind: "pypi", min: 50, max: 400, digit: true},
	{prefix: "pplx-", kind: "perplexity", min: 30, max: 200, digit: true},
	{prefix: "dop_v1_", kind: "digitalocean", min: 60, max: 80},
	{prefix: "dckr_pat_", kind: "docker", min: 20, max: 60},
	{prefix: "r8_", kind: "replicate", min: 36, max: 40, digit: true},
	{prefix: "tskey-", kind: "tailscale", min: 20, max: 100, digit: true},
	{prefix: "vercel_", kind: "vercel", min: 24, max: 60, digit: true},
	{prefix: "shpat_", kind: "shopify", min: 30, max: 60, digit: true},
	{prefix: "shpss_", kind: "shopify", min: 30, max: 60, digit: true},
	{prefix: "lin_api_", kind: "linear", min: 30, max: 60, digit: true},
	{prefix: "figd_", kind: "figma", min: 30, max: 80, digit: true},
	{prefix: "ATATT3x", kind: "atlassian", min: 60, max: 300, extra: "=", digit: true},
	{prefix: "rubygems_", kind: "rubygems", min: 40, max: 60, digit: true},
	{prefix: "AGE-SECRET-KEY-1", kind: "age", min: 50, max: 70, digit: true},
	{prefix: "AKIA", kind: "aws"},
	{prefix: "ASIA", kind: "aws"},
	{prefix: "eyJ", kind: "jwt"},
	{prefix: "LS0tLS1CRUdJTi", kind: "private-key"}, // -----BEGIN in base64
}

// contexts are the first two bytes of contexts of secrets without a format: see find.
var contexts = [...]string{
	"--", ":/", "-u", "-U",
	"Be", "be", "BE", "bE", "Ba", "ba", "BA", "bA",
	"se", "Se", "SE", "pa", "Pa", "PA", "ap", "Ap", "AP", "ac", "Ac", "AC", "au", "Au", "AU", "re", "Re", "RE", "cl", "Cl", "CL",
	"sh", "Sh", "SH", "pw", "PW", "Pw", "PG", "pr", "Pr", "PR", "to", "To", "TO",
}

// find returns the next secret at or after i; its end is 0 if there is none.
func (m *Masker) find(s string, i int, at []int) span {
	if i >= len(s) {
		return span{}
	}
	known := m.known.Load()
	k := uint(s[i]) << 8
	for ; i+1 < len(s); i++ {
		k = k>>8 | uint(s[i+1])<<8
		if known.pairs[k>>6&1023]>>(k&63)&1 == 0 {
			continue
		}
		if f := m.begins(known, s, i, at); f.to > 0 {
			return f
		}
	}
	return span{}
}

// begins returns the secret that begins at i, or whose name begins at i.
func (m *Masker) begins(k *known, s string, i int, at []int) span {
	for _, h := range k.by[pair(s[i:])] {
		if strings.HasPrefix(s[i:], h.Text) && (h.Lead == 0 || i == 0 || !isWord(s[i-1])) {
			return span{i + h.Lead, i + len(h.Text) - h.Tail, "held"}
		}
	}
	c := s[i]
	switch {
	case c == '-':
		if strings.HasPrefix(s[i:], "-----BEGIN ") {
			if e := pem(s[i:]); e > 0 {
				return span{i, i + e, "private-key"}
			}
		}
		if f, ok := userPassword(s, i); ok {
			return f
		}
	case c == ':':
		if f, ok := urlPassword(s, i); ok {
			return f
		}
	case border(s, i, at):
		for _, sh := range m.byFirst[c] {
			if strings.HasPrefix(s[i:], sh.prefix) {
				if e := sh.end(s[i:], i, at); e > 0 {
					return span{i, i + e, sh.kind}
				}
			}
		}
		if e, kind := scheme(s[i:]); e > 0 {
			return span{i, i + e, kind}
		}
	}
	if isLetter(c) { // names are searched inside words, too
		if f, ok := named(s, i); ok {
			return f
		}
	}
	return span{}
}

// border reports whether a word may begin at i: the character before it does not
// belong to a word, or is the end of a JSON escape as in "\nsk-…" or of a colour
// code, even of one that is written out as in "^[[31msk-…".
func border(s string, i int, at []int) bool {
	if i == 0 || !isWord(s[i-1]) || at != nil && at[i] != at[i-1]+1 {
		return true
	}
	if i >= 2 && s[i-2] == '\\' && (s[i-1] == 'n' || s[i-1] == 't' || s[i-1] == 'r') {
		return true
	}
	if !isLetter(s[i-1]) {
		return false
	}
	for j := i - 2; j >= 0 && j > i-24; j-- {
		switch c := s[j]; {
		case isDigit(c) || c == ';' || c == ':' || c == '?':
		default:
			return c == '[' && j < i-1
		}
	}
	return false
}

// end returns the end of the key of this format that begins at s, 0 if there is
// none. from is the position of s in the whole text, for at: see scan.
func (sh *shape) end(s string, from int, at []int) int {
	switch sh.kind {
	case "aws":
		return aws(s, from, at)
	case "jwt":
		return jwt(s)
	case "private-key":
		return encodedPEM(s)
	}
	e := len(sh.prefix)
	letter, digit := false, false
	for e < len(s) && (isWord(s[e]) || sh.extra != "" && strings.IndexByte(sh.extra, s[e]) >= 0) {
		digit = digit || isDigit(s[e])
		letter = letter || isLetter(s[e])
		e++
	}
	n := e - len(sh.prefix)
	if n < sh.min || n > sh.max || sh.digit && (!letter || !digit) || !varied(s[len(sh.prefix):e]) {
		return 0
	}
	return e
}

// varied reports whether a text is not a placeholder such as sk-xxxxxxxxxxxxxxxxxxxx.
func varied(s string) bool {
	var seen [256]bool
	n := 0
	for i := 0; i < len(s); i++ {
		if !seen[s[i]] {
			seen[s[i]] = true
			n++
		}
	}
	return n >= 6
}

// aws returns the end of an access key id: AKIA and exactly sixteen capitals and digits.
func aws(s string, from int, at []int) int {
	e := 4
	for e < len(s) && e < 21 && (s[e] >= 'A' && s[e] <= 'Z' || isDigit(s[e])) {
		e++
	}
	cut := at != nil && e < len(s) && at[from+e] != at[from+e-1]+1
	if e != 20 || !cut && e < len(s) && (isWord(s[e]) || s[e] == '/' || s[e] == '+') || !varied(s[4:e]) {
		return 0
	}
	// A secret key may stand beside it, as in credentials.csv.
	v := e
	for v < len(s) && v < e+4 && strings.IndexByte(",;:| \t\"'", s[v]) >= 0 {
		v++
	}
	to := v
	for to < len(s) && to < v+41 && (isLetter(s[to]) || isDigit(s[to]) || s[to] == '/' || s[to] == '+') {
		to++
	}
	if v > e && to-v == 40 && varied(s[v:to]) {
		return to
	}
	return e
}

// encodedPEM returns the end of a private key in PEM that is encoded in base64, as a
// kubeconfig has it. Certificates are encoded alike.
func encodedPEM(s string) int {
	head, err := base64.StdEncoding.DecodeString(s[:min(len(s), 48)/4*4])
	if err != nil || !strings.Contains(string(head), "PRIVATE KEY") {
		return 0
	}
	e := 0
	for e < len(s) && (isLetter(s[e]) || isDigit(s[e]) || s[e] == '+' || s[e] == '/' || s[e] == '=') {
		e++
	}
	return e
}

// jwt returns the end of a token with three base64url parts, the first of which
// is a JSON object with "alg".
func jwt(s string) int {
	e, dots, firstEnd := 0, 0, 0
	for ; e < len(s) && (isWord(s[e]) || s[e] == '.'); e++ {
		if s[e] != '.' {
			if dots == 0 && e > 1024 {
				return 0
			}
			continue
		}
		if dots++; dots == 1 {
			firstEnd = e
		} else if dots > 2 {
			break
		}
	}
	if dots < 2 || firstEnd > 1024 || e-firstEnd < 20 {
		return 0
	}
	head, err := base64.RawURLEncoding.DecodeString(s[:firstEnd])
	if err != nil || !strings.Contains(string(head), `"alg"`) {
		return 0
	}
	return e
}

// scheme returns the end of the text after "Bearer " or "Basic " if it does not
// look like a word. Only the token is a secret, but the mask names the kind, so
// it includes the scheme.
func scheme(s string) (int, string) {
	switch {
	case len(s) > 7 && strings.EqualFold(s[:7], "bearer "):
		e := 7
		digit, letter := false, false
		for e < len(s) && (isWord(s[e]) || strings.IndexByte("._~+/=", s[e]) >= 0) {
			digit = digit || isDigit(s[e])
			letter = letter || isLetter(s[e])
			e++
		}
		if e-7 >= 16 && digit && letter && varied(s[7:e]) {
			return e, "bearer"
		}
	case len(s) > 6 && strings.EqualFold(s[:6], "basic "):
		e := 6
		for e < len(s) && e < 1024 && (isLetter(s[e]) || isDigit(s[e]) || s[e] == '+' || s[e] == '/' || s[e] == '=' || s[e] == '-' || s[e] == '_') {
			e++
		}
		if e-6 >= 8 && credentials(s[6:e]) {
			return e, "basic"
		}
	}
	return 0, ""
}

// credentials reports whether a base64 text decodes to a name and a password.
func credentials(s string) bool {
	s = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(s, "="))
	b, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil || strings.IndexByte(string(b), ':') < 0 {
		return false
	}
	return !slices.ContainsFunc(b, func(c byte) bool { return c < ' ' || c == 0x7f })
}
