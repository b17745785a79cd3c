package secrets

import (
	"encoding/base64"
	"strings"
)

// isWord: letters, digits, _ and -. Written as comparisons, since a table would
// be filled at start-up.
func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// shape is one kind of key: what it begins with, and how long what follows is.
type shape struct {
	prefix, kind string
	min, max     int
	extra        string // characters allowed besides letters, digits, _ and -
	digit        bool   // it has a digit and a letter: a name has not
}

// starts are the first two bytes of every shape.
const starts = "sk SG AI AK AS gh gi gl gs xo xa ey np nv hf hv py pp do dc rk r8 ts ve wh Be be BE bE --"

// find gives the next secret at or after i: where it begins and ends. end 0:
// there is none.
func (m *Masker) find(s string, i int) (begin, end int, kind string) {
	if i >= len(s) {
		return 0, 0, ""
	}
	k := uint(s[i]) << 8
	for ; i+1 < len(s); i++ {
		k = k>>8 | uint(s[i+1])<<8
		if m.pairs[k>>6&1023]>>(k&63)&1 == 0 {
			continue
		}
		for _, h := range m.held {
			if strings.HasPrefix(s[i:], h) {
				return i, i + len(h), "held"
			}
		}
		c := s[i]
		switch {
		case c == '-':
			if strings.HasPrefix(s[i:], "-----BEGIN ") {
				if e := pem(s[i:]); e > 0 {
					return i, i + e, "private-key"
				}
			}
		case i == 0 || !isWord(s[i-1]) || escaped(s, i):
			if e, k := match(s[i:], c); e > 0 {
				return i, i + e, k
			}
		}
	}
	return 0, 0, ""
}

// escaped: the letter before belongs to an escape of JSON, as in "\nsk-…".
func escaped(s string, i int) bool {
	return i >= 2 && s[i-2] == '\\' && (s[i-1] == 'n' || s[i-1] == 't' || s[i-1] == 'r')
}

// match tries the shapes that begin with c at the beginning of s.
func match(s string, c byte) (int, string) {
	switch c {
	case 's':
		if strings.HasPrefix(s, "sk-") || strings.HasPrefix(s, "sk_") {
			return try(s,
				shape{prefix: "sk-ant-", kind: "anthropic", min: 20, max: 200},
				shape{prefix: "sk-or-", kind: "openrouter", min: 20, max: 200},
				shape{prefix: "sk-proj-", kind: "openai", min: 20, max: 300},
				shape{prefix: "sk-svcacct-", kind: "openai", min: 20, max: 300},
				shape{prefix: "sk-", kind: "key", min: 20, max: 300, digit: true},
				shape{prefix: "sk_live_", kind: "stripe", min: 16, max: 200, digit: true},
				shape{prefix: "sk_test_", kind: "stripe", min: 16, max: 200, digit: true})
		}
	case 'S':
		if strings.HasPrefix(s, "SG.") {
			return try(s, shape{prefix: "SG.", kind: "sendgrid", min: 40, max: 100, extra: ".", digit: true})
		}
	case 'A':
		if strings.HasPrefix(s, "AIza") {
			return try(s, shape{prefix: "AIza", kind: "google", min: 35, max: 35, digit: true})
		}
		if strings.HasPrefix(s, "AKIA") || strings.HasPrefix(s, "ASIA") {
			return aws(s)
		}
	case 'g':
		switch {
		case strings.HasPrefix(s, "gh"):
			if len(s) > 4 && s[3] == '_' && strings.IndexByte("pousr", s[2]) >= 0 {
				return try(s, shape{prefix: s[:4], kind: "github", min: 30, max: 260})
			}
		case strings.HasPrefix(s, "github_pat_"):
			return try(s, shape{prefix: "github_pat_", kind: "github", min: 30, max: 260})
		case strings.HasPrefix(s, "gl"):
			return try(s, shape{prefix: "glpat-", kind: "gitlab", min: 18, max: 200, extra: "."},
				shape{prefix: "gldt-", kind: "gitlab", min: 18, max: 200},
				shape{prefix: "glrt-", kind: "gitlab", min: 18, max: 200, extra: "."})
		case strings.HasPrefix(s, "gsk_"):
			return try(s, shape{prefix: "gsk_", kind: "groq", min: 30, max: 200, digit: true})
		}
	case 'x':
		if strings.HasPrefix(s, "xox") && len(s) > 5 && s[4] == '-' && strings.IndexByte("bpoars", s[3]) >= 0 {
			return try(s, shape{prefix: s[:5], kind: "slack", min: 20, max: 300, digit: true})
		}
		if strings.HasPrefix(s, "xai-") {
			return try(s, shape{prefix: "xai-", kind: "xai", min: 40, max: 200, digit: true})
		}
		if strings.HasPrefix(s, "xapp-") {
			return try(s, shape{prefix: "xapp-", kind: "slack", min: 30, max: 300, digit: true})
		}
	case 'e':
		if strings.HasPrefix(s, "eyJ") {
			return jwt(s)
		}
	case 'n':
		return try(s, shape{prefix: "npm_", kind: "npm", min: 36, max: 36, digit: true},
			shape{prefix: "nvapi-", kind: "nvidia", min: 40, max: 200, digit: true})
	case 'h':
		return try(s, shape{prefix: "hf_", kind: "huggingface", min: 30, max: 60},
			shape{prefix: "hvs.", kind: "vault", min: 24, max: 200, digit: true})
	case 'p':
		return try(s, shape{prefix: "pypi-", kind: "pypi", min: 50, max: 400, digit: true},
			shape{prefix: "pplx-", kind: "perplexity", min: 30, max: 200, digit: true})
	case 'd':
		return try(s, shape{prefix: "dop_v1_", kind: "digitalocean", min: 60, max: 80},
			shape{prefix: "dckr_pat_", kind: "docker", min: 20, max: 60})
	case 'r':
		return try(s, shape{prefix: "rk_live_", kind: "stripe", min: 16, max: 200, digit: true},
			shape{prefix: "r8_", kind: "replicate", min: 36, max: 40, digit: true})
	case 't':
		return try(s, shape{prefix: "tskey-", kind: "tailscale", min: 20, max: 100, digit: true})
	case 'w':
		return try(s, shape{prefix: "whsec_", kind: "stripe", min: 24, max: 100, extra: "+/=", digit: true})
	case 'v':
		return try(s, shape{prefix: "vercel_", kind: "vercel", min: 24, max: 60, digit: true})
	case 'B', 'b':
		return bearer(s)
	}
	return 0, ""
}

func try(s string, shapes ...shape) (int, string) {
	for _, sh := range shapes {
		if !strings.HasPrefix(s, sh.prefix) {
			continue
		}
		e := len(sh.prefix)
		letter, digit := false, false
		for e < len(s) && (isWord(s[e]) || sh.extra != "" && strings.IndexByte(sh.extra, s[e]) >= 0) {
			digit = digit || s[e] >= '0' && s[e] <= '9'
			letter = letter || s[e]|0x20 >= 'a' && s[e]|0x20 <= 'z'
			e++
		}
		n := e - len(sh.prefix)
		if n >= sh.min && n <= sh.max && (!sh.digit || letter && digit) && varied(s[len(sh.prefix):e]) {
			return e, sh.kind
		}
	}
	return 0, ""
}

// varied: a placeholder such as sk-xxxxxxxxxxxxxxxxxxxx is none.
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

// aws: an access key id is AKIA and sixteen capitals and digits, with no more
// behind them.
func aws(s string) (int, string) {
	e := 4
	for e < len(s) && (s[e] >= 'A' && s[e] <= 'Z' || s[e] >= '0' && s[e] <= '9') {
		e++
	}
	if e != 20 || e < len(s) && (isWord(s[e]) || s[e] == '/' || s[e] == '+') || !varied(s[4:e]) {
		return 0, ""
	}
	return e, "aws"
}

// jwt: three base64url parts, the first of which is a JSON object with "alg".
func jwt(s string) (int, string) {
	e, dots, firstEnd := 0, 0, 0
	for ; e < len(s) && (isWord(s[e]) || s[e] == '.'); e++ {
		if s[e] != '.' {
			continue
		}
		if dots++; dots == 1 {
			firstEnd = e
		} else if dots > 2 {
			break
		}
	}
	if dots < 2 || firstEnd > 1024 || e-firstEnd < 20 {
		return 0, ""
	}
	head, err := base64.RawURLEncoding.DecodeString(s[:firstEnd])
	if err != nil || !strings.Contains(string(head), `"alg"`) {
		return 0, ""
	}
	return e, "jwt"
}

// bearer: the word behind "Bearer " where it looks like no word. Only the
// token is a secret, but the mask names the kind, so the scheme goes with it.
func bearer(s string) (int, string) {
	if len(s) < 8 || !strings.EqualFold(s[:7], "bearer ") {
		return 0, ""
	}
	e := 7
	digit, letter := false, false
	for e < len(s) && (isWord(s[e]) || strings.IndexByte("._~+/=", s[e]) >= 0) {
		digit = digit || s[e] >= '0' && s[e] <= '9'
		letter = letter || s[e]|0x20 >= 'a' && s[e]|0x20 <= 'z'
		e++
	}
	if e-7 < 16 || !digit || !letter || !varied(s[7:e]) {
		return 0, ""
	}
	return e, "bearer"
}

// pem: a block of a private key, to its end or, where that was cut off, as far
// as it looks like one. "\n" of JSON counts as a line's end.
func pem(s string) int {
	head := s[:min(len(s), 80)]
	i := strings.Index(head[5:], "-----")
	if i < 0 || !strings.Contains(head[:i+5], "PRIVATE KEY") {
		return 0
	}
	body := i + 10
	if j := strings.Index(s[body:], "-----END "); j >= 0 && j < 32_000 {
		if k := strings.Index(s[body+j+9:], "-----"); k >= 0 && k < 60 {
			return body + j + 9 + k + 5
		}
	}
	e := body
	for e < len(s) && (isWord(s[e]) || strings.IndexByte("+/=\n\r\\ :,", s[e]) >= 0) {
		e++
	}
	if e-body < 40 {
		return 0 // it is spoken of
	}
	return e
}
