package secrets

import "strings"

// This file finds secrets by their context: after their name, and in a URL.

const (
	maxName  = 64
	maxValue = 4096
)

// names are the names of secrets, in lower case and without separators between the words.
var names = [...]string{
	"secretaccesskey", "sessiontoken", "securitytoken", "sharedaccesskey", "accountkey", "secretkey", "secrettoken", "secret",
	"passwd", "password", "passphrase", "pwd", "pgpassword", "apikey", "apitoken", "apisecret", "accesskey", "accesstoken",
	"authtoken", "authkey", "refreshtoken", "clientsecret", "privatetoken", "privatekey",
}

// isSecretName reports whether a name ends in one of names.
func isSecretName(name string) bool {
	name = normalName(name)
	for _, n := range names {
		if strings.HasSuffix(name, n) {
			return true
		}
	}
	return false
}

// normalName returns a name in lower case and without separators between its words.
func normalName(name string) string {
	var b [maxName]byte
	n := 0
	for i := 0; i < len(name) && n < len(b); i++ {
		if c := name[i]; c != '_' && c != '-' && c != '.' && c != ' ' {
			if c >= 'A' && c <= 'Z' {
				c |= 0x20
			}
			b[n] = c
			n++
		}
	}
	return string(b[:n])
}

// named returns the secret value after a name at the beginning of s, as in
// `aws_secret_access_key = …`, `"SecretAccessKey": "…"` or `--password=…`. A
// value that looks like code, a placeholder or a word is not a secret.
func named(s string) (span, bool) {
	e := 0
	for e < len(s) && e < maxName && (isWord(s[e]) || s[e] == '.') {
		e++
	}
	v, sep := e, false
	for quotes := 0; v < len(s) && v < e+12; v++ {
		switch c := s[v]; {
		case c == ' ' || c == '\t':
		case c == '=' || c == ':' || c == '>' && sep:
			if sep && c == '=' && s[v-1] == '=' {
				return span{}, false // a comparison
			}
			sep = true
		case (c == '"' || c == '\'' || c == '`' || c == '\\') && quotes < 4:
			quotes++
		default:
			if !sep || !isSecretName(s[:e]) {
				return span{}, false
			}
			return value(s, s[:e], v)
		}
	}
	return span{}, false
}

// value returns the value that begins at v, if it is a secret.
func value(s, name string, v int) (span, bool) {
	e := v
	letters, digits, upper, lower := 0, 0, false, false
	for ; e < len(s) && e < v+maxValue; e++ {
		c := s[e]
		if !isWord(c) && c != '+' && c != '/' && c != '=' && c != '~' {
			break
		}
		switch {
		case isDigit(c):
			digits++
		case isLetter(c):
			letters++
			upper, lower = upper || c < 'a', lower || c >= 'a'
		}
	}
	if e < len(s) && strings.IndexByte("([{.<$%*", s[e]) >= 0 {
		return span{}, false // code, or a placeholder
	}
	n := e - v
	kind := "secret"
	if strings.HasSuffix(normalName(name), "secretaccesskey") {
		// Its name marks a value of 40 characters as a key; it may have few digits.
		kind = "aws"
		if n == 40 && upper && lower && varied(s[v:e]) {
			return span{v, e, kind}, true
		}
	}
	if n < 20 || digits < 3 || letters < 3 || strings.HasPrefix(s[v:e], "/") || strings.Count(s[v:e], "/") > 3 || !varied(s[v:e]) {
		return span{}, false
	}
	return span{v, e, kind}, true
}

// urlPassword returns the password of a URL whose "://" begins at i.
func urlPassword(s string, i int) (span, bool) {
	if i == 0 || !strings.HasPrefix(s[i:], "://") || !isLetter(s[i-1]) && !isDigit(s[i-1]) {
		return span{}, false
	}
	from := i + 3
	colon, host := -1, -1
	end := from
	for ; end < len(s) && end < from+512; end++ {
		c := s[end]
		if c <= ' ' || c == 0x7f || strings.IndexByte("/?#\"'`<>\\|^{}", c) >= 0 {
			break
		}
		switch {
		case c == ':' && colon < 0 && host < 0:
			colon = end
		case c == '@':
			host = end
		}
	}
	if host < 0 || strings.HasPrefix(s[from:], "[masked:") {
		return span{}, false
	}
	user, pass := s[from:host], ""
	v := from
	if colon >= 0 {
		user, pass, v = s[from:colon], s[colon+1:host], colon+1
	} else if digits := strings.IndexAny(user, "0123456789"); len(user) >= 20 && digits >= 0 && varied(user) {
		pass = user // a token in place of a user name
	}
	host++
	switch {
	case pass == "", pass == user && colon >= 0, strings.ContainsAny(pass, "$%*<>[") && placeholder(pass), allAlike(pass), reservedForExamples(s[host:end]):
		return span{}, false
	}
	return span{v, v + len(pass), "password"}, true
}

// placeholder reports whether a text stands for a password without being one:
// $PASS, ${PASS}, %s, ****, [masked:…].
func placeholder(s string) bool {
	switch {
	case s[0] == '$', s[0] == '[', s[0] == '<':
		return true
	case s[0] == '%': // %s, but not %40 of an encoded character
		return len(s) < 3 || !isHex(s[1]) || !isHex(s[2])
	}
	return strings.Trim(s, "*") == ""
}

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// allAlike reports whether a text is one repeated character: xxxxx, as Go
// prints passwords in URLs.
func allAlike(s string) bool { return len(s) > 1 && strings.Trim(s, s[:1]) == "" }

// reservedForExamples reports whether a host is reserved for examples (RFC 2606).
func reservedForExamples(host string) bool {
	host, _, _ = strings.Cut(host, ":")
	for _, d := range [...]string{"example.com", "example.org", "example.net"} {
		if host == d || strings.HasSuffix(host, "."+d) {
			return true
		}
	}
	return strings.HasSuffix(host, ".example")
}
