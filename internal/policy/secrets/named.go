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
	"authtoken", "authkey", "refreshtoken", "clientsecret", "privatetoken", "privatekey", "token", "pass",
}

// marks are names that end like one of names and stand for a place in a list, or a
// word of a language.
var marks = [...]string{"pagetoken", "nexttoken", "continuationtoken", "synctoken", "csrftoken", "bypass", "compass"}

// isSecretName reports whether a name ends in one of names.
func isSecretName(name string) bool {
	name = normalName(name)
	for _, n := range marks {
		if strings.HasSuffix(name, n) {
			return false
		}
	}
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

// named returns the secret value after a name that begins at i, as in
// `aws_secret_access_key = …`, `"SecretAccessKey": "…"`, `--password=…`,
// `<password>…</password>` or `define('DB_PASSWORD', '…')`. A value that looks like
// code, a placeholder or a word is not a secret.
func named(s string, i int) (span, bool) {
	e, most := i, min(len(s), i+maxName)
	for e < most && (isWord(s[e]) || s[e] == '.') {
		e++
	}
	v, sep, quotes := e, false, 0
	for ; v < len(s) && v < e+12; v++ {
		switch c := s[v]; {
		case c == ' ' || c == '\t':
		case c == '=' || c == ':' || c == '>' && (sep || v == e && tagged(s, i)):
			if sep && c == '=' && s[v-1] == '=' {
				return span{}, false // a comparison
			}
			sep = true
		case c == ',' && quotes == 1 && !sep: // arguments of a call
			sep = true
		case (c == '"' || c == '\'' || c == '`' || c == '\\') && quotes < 4:
			quotes++
		case quotes == 1 && !sep && (strings.HasPrefix(s[v:], `value="`) || strings.HasPrefix(s[v:], `value='`)):
			v += len(`value="`) - 1
			quotes, sep = quotes+1, true
		default:
			flag := !sep && v == e+1 && s[e] == ' ' && option(s, i)
			if !sep && !flag && c == 0 && option(s, i) { // of a command line in /proc
				v, flag = v+1, true
			}
			from := wordFrom(s, i, e)
			if !sep && !flag || !isSecretName(s[from:e]) || verdict(s[:from], s[from:e]) {
				return span{}, false
			}
			if f, ok := value(s, s[i:e], v); ok && !flag {
				return f, true
			}
			if f, ok := placed(s, v, flag); ok {
				return f, true
			}
			return connecting(s, i, v)
		}
	}
	return span{}, false
}

// verdict reports whether a name is go test's word for a test that passed: "--- PASS: ",
// which the name of the test follows, such as TestServes/v2_client3.
func verdict(before, name string) bool {
	return name == "PASS" && strings.HasSuffix(before, "--- ")
}

// tagged reports whether the word that i is in begins an element of XML.
func tagged(s string, i int) bool {
	from := max(0, i-maxName)
	for i > from && (isWord(s[i-1]) || s[i-1] == '.' || s[i-1] == ':') {
		i--
	}
	return i > 0 && s[i-1] == '<'
}

// wordFrom returns where the letters before i begin, as far as a name is looked at.
func wordFrom(s string, i, e int) int {
	for i > 0 && e-i < maxName && isLetter(s[i-1]) {
		i--
	}
	return i
}

// connecting returns the value at v if it is the password of a connection string, as in
// Server=db;User Id=sa;Password=…;
func connecting(s string, i, v int) (span, bool) {
	e := v
	for e < len(s) && e < v+maxPlaced && s[e] > ' ' && strings.IndexByte(";\"'<", s[e]) < 0 {
		e++
	}
	before := strings.ToLower(s[max(0, i-200):i])
	if nl := strings.LastIndexByte(before, '\n'); nl >= 0 {
		before = before[nl:]
	}
	at := strings.TrimRight(before, " ")
	if e-v < 4 || !strings.HasSuffix(at, ";") || placeholder(s[v:e]) || strings.ContainsAny(s[v:e], "(){}") || allAlike(s[v:e]) {
		return span{}, false
	}
	for _, key := range [...]string{"server=", "data source=", "host=", "user id=", "uid=", "username=", "user="} {
		if strings.Contains(at, key) {
			return span{v, e, "password"}, true
		}
	}
	return span{}, false
}

// option reports whether the word that i is in is an option: --password.
func option(s string, i int) bool {
	from := max(0, i-maxName)
	for i > from && isWord(s[i-1]) {
		i--
	}
	return strings.HasPrefix(s[i:], "--")
}

// maxPlaced is the length of the longest value that is looked at by its place.
const maxPlaced = 256

// placed returns the value that begins at v if it has the place of a secret: all that
// its quotes enclose, or the rest of its line or of its member. It may be shorter than
// those that value finds, so it must look like a password, and not like a name.
func placed(s string, v int, flag bool) (span, bool) {
	e, most := v, min(len(s), v+maxPlaced)
	quote := byte(0)
	if v > 0 && strings.IndexByte("\"'`", s[v-1]) >= 0 {
		quote = s[v-1]
		for e < most && s[e] != quote && s[e] != '\\' && s[e] > ' ' {
			e++
		}
		if e == most || s[e] <= ' ' {
			return span{}, false
		}
	} else {
		for e < most && s[e] > ' ' && strings.IndexByte("\"'`,;<&)\\", s[e]) < 0 {
			e++
		}
		rest := strings.TrimLeft(s[e:min(len(s), e+8)], " \t")
		if !flag && rest != "" && strings.IndexByte("\r\n\x00#,;<&\"\\", rest[0]) < 0 {
			return span{}, false // a part of a sentence or an expression
		}
	}
	if !passwordLike(s[v:e], quote != 0) {
		return span{}, false
	}
	return span{v, e, "secret"}, true
}

// passwordLike reports whether a value behind the name of a secret looks chosen or
// made by a program: digits among its letters, or signs. Names with a digit in them
// (oauth2Token, sha256sum), words, paths and placeholders do not.
func passwordLike(v string, quoted bool) bool {
	if len(v) < 8 || strings.ContainsAny(v, "(){}[]<>`") || strings.IndexByte("/.~$%", v[0]) >= 0 || strings.Contains(v, "://") || !varied(v) {
		return false
	}
	signs := "!@#^~"
	if quoted {
		signs += "$%&*?=+"
	}
	letters, digits, runs, within, special, upper, lower, hex := 0, 0, 0, 0, 0, false, false, true
	for i := 0; i < len(v); i++ {
		c := v[i]
		hex = hex && isHex(c)
		switch {
		case isDigit(c):
			if digits++; i == 0 || !isDigit(v[i-1]) {
				runs++
			}
		case isLetter(c):
			if letters++; i > 0 && isDigit(v[i-1]) {
				within++
			}
			upper, lower = upper || c < 'a', lower || c >= 'a'
		case strings.IndexByte(signs, c) >= 0:
			special++
		case c >= 0x80 || strings.IndexByte("-_.:/+=", c) < 0:
			return false
		}
	}
	slashes := strings.Count(v, "/")
	switch {
	case letters < 2 || digits < 1:
		return false
	case special > 0:
		at := strings.IndexByte(v, '@')
		return at < 0 || strings.IndexByte(v[at:], '.') < 0 // an address
	case slashes > 0 && (runs < 3 || slashes > 3), strings.Count(v, ".") > 3:
		return false
	case uuid(v), !quoted && strings.Contains(v, "."): // ed25519.PrivateKey
		return false
	case hex && len(v) >= 16:
		return true
	case runs >= 2 && within >= 1:
		return !spelled(v)
	}
	return quoted && len(v) >= 16 && digits >= 3 && upper && lower && within > 0
}

func uuid(v string) bool {
	return len(v) == 36 && v[8] == '-' && v[13] == '-' && v[18] == '-' && v[23] == '-'
}

// spelled reports whether a text consists of parts that are words, numbers, or words
// with a number at their end: test-token-1-2, v1.key2.
func spelled(v string) bool {
	for part := range strings.FieldsFuncSeq(v, func(r rune) bool { return strings.ContainsRune("-_.:/+=", r) }) {
		word := strings.TrimRight(part, "0123456789")
		if strings.ContainsAny(word, "0123456789") {
			return false
		}
	}
	return true
}

// userPassword returns the password of `curl -u name:password` at i.
func userPassword(s string, i int) (span, bool) {
	v := i + 2
	switch {
	case i > 0 && s[i-1] > ' ', v >= len(s):
		return span{}, false
	case strings.HasPrefix(s[i:], "--user"), strings.HasPrefix(s[i:], "--proxy-user"):
		v = i + strings.Index(s[i:], "user") + 4
	case s[i+1] != 'u' && s[i+1] != 'U':
		return span{}, false
	}
	line := s[max(0, i-300):i]
	if nl := strings.LastIndexByte(line, '\n'); nl >= 0 {
		line = line[nl:]
	}
	if !strings.Contains(line, "curl") && !strings.Contains(line, "http") {
		return span{}, false
	}
	for v < len(s) && v < i+20 && strings.IndexByte(" =\x00\"'", s[v]) >= 0 {
		v++
	}
	colon, e := 0, v
	for ; e < len(s) && e < v+maxPlaced && s[e] > ' ' && s[e] != '"' && s[e] != '\''; e++ {
		if s[e] == ':' && colon == 0 {
			colon = e
		}
	}
	if colon == 0 || e-colon < 5 || placeholder(s[colon+1:e]) || strings.IndexByte("{$<", s[colon+1]) >= 0 || allAlike(s[colon+1:e]) || !strings.ContainsAny(s[colon+1:e], "0123456789!@#$^*~?+=") {
		return span{}, false
	}
	return span{colon + 1, e, "password"}, true
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
	if uuid(s[v:e]) && strings.EqualFold(name, "token") { // of a protocol's own progress
		return span{}, false
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
