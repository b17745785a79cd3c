package secrets

import "strings"

// This file masks private keys in PEM: the block, and its lines if something
// reordered them, cut the block, or put a number, a file name or a diff sign
// before each.

// maxPEM is how far the end of a block is searched.
const maxPEM = 32_000

// pem returns the end of the private key block that begins at s: its end line
// or, if that was cut off, as far as the text looks like a key. "\n" of JSON
// counts as the end of a line.
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
		return 0 // a text about a key
	}
	return e
}

// openssh is the beginning of the body of every OpenSSH private key.
const openssh = "b3BlbnNzaC1rZXktdjE"

// shortestKeyLine is the length from which a line of pure base64 is part of a
// key, if the text has a private key; the last line may be shorter.
const shortestKeyLine = 40

// keyLines lists the lines of private keys in a text that has a marker of one.
func keyLines(s string) (found []span) {
	if !strings.Contains(s, "PRIVATE KEY-----") && !strings.Contains(s, "YEK ETAVIRP") && !strings.Contains(s, openssh) {
		return nil
	}
	near := false // the line before is part of a key
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

// keyLine returns the last word of a line if it is pure base64 and has letters
// of both cases or digits: a line of dashes and a word of prose do not.
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
