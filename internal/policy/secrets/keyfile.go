package secrets

import "strings"

// This file masks private keys in PEM: the block, and its lines where something
// put them in another order, cut the block up, or put a number, a file's name
// or a sign of a diff before each.

// maxPEM is how far the end of a block is looked for.
const maxPEM = 32_000

// pem is where a block of a private key ends that begins at s: its end or, where
// that was cut off, as far as it looks like one. "\n" of JSON counts as a
// line's end.
func pem(s string) int {
	head := s[:min(len(s), 80)]
	i := strings.Index(head[5:], "-----")
	if i < 0 || !strings.Contains(head[:i+5], "PRIVATE KEY") {
		return 0
	}
	body := i + 10
	near := s[body:min(len(s), body+maxPEM)]
	if j := strings.Index(near, "-----END "); j >= 0 {
		if k := strings.Index(near[j+9:], "-----"); k >= 0 && k < 60 {
			return body + j + 9 + k + 5
		}
	}
	e := body
	for e < len(s) && e < body+maxPEM && (isWord(s[e]) || strings.IndexByte("+/=\n\r\\ :,", s[e]) >= 0) {
		e++
	}
	if e-body < 40 {
		return 0 // it is spoken of
	}
	return e
}

// openssh is how the body of an OpenSSH private key begins, whoever's it is.
const openssh = "b3BlbnNzaC1rZXktdjE"

// shortestKeyLine is the length from which a line of nothing but base64 is one
// of a key's, where the text has a private key; its last line may be shorter.
const shortestKeyLine = 40

// keyLines lists the lines of private keys of a text that has a mark of one.
func keyLines(s string) (found []span) {
	if !strings.Contains(s, "PRIVATE KEY-----") && !strings.Contains(s, "YEK ETAVIRP") && !strings.Contains(s, openssh) {
		return nil
	}
	near := false // the line before is one of a key
	for from := 0; from < len(s); {
		to := strings.IndexByte(s[from:], '\n')
		if to < 0 {
			to = len(s)
		} else {
			to += from
		}
		a, b := keyLine(s[from:to])
		n := b - a
		is := n >= shortestKeyLine || near && n > 0 && (n >= 16 || s[from+b-1] == '=')
		if is {
			found = append(found, span{from + a, from + b, "private-key"})
		}
		near = is
		from = to + 1
	}
	return found
}

// keyLine is the last word of a line where that is nothing but base64 and has
// letters of both kinds or digits: a rule of dashes or a word of prose is none.
func keyLine(l string) (from, to int) {
	l = strings.TrimRight(l, " \r\t")
	i := len(l)
	upper, lower, other := false, false, false
	for i > 0 && (isLetter(l[i-1]) || isDigit(l[i-1]) || strings.IndexByte("+/=", l[i-1]) >= 0) {
		i--
		switch c := l[i]; {
		case c >= 'A' && c <= 'Z':
			upper = true
		case c >= 'a' && c <= 'z':
			lower = true
		default:
			other = true
		}
	}
	if !upper || !lower || !other && len(l)-i < 60 || strings.IndexByte(strings.TrimRight(l[i:], "="), '=') >= 0 {
		return 0, 0
	}
	return i, len(l)
}
