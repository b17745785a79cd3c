package normalize

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
)

// Digest returns the hash of a text for use in steps: short, and equal for equal bytes.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// CanonicalArgs returns arguments in one form: keys sorted, no spaces. A text
// that is not JSON is returned unchanged.
func CanonicalArgs(raw json.RawMessage) string {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return string(raw)
	}
	out, err := json.Marshal(v)
	if err != nil {
		return string(raw)
	}
	return string(out)
}

func word(c byte) bool {
	return c == '_' || isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

func run(s string, is func(byte) bool) int {
	for i := range len(s) {
		if !is(s[i]) {
			return i
		}
	}
	return len(s)
}

// ends reports whether no word continues at s[n].
func ends(s string, n int) bool { return n >= len(s) || !word(s[n]) }

func uuid(s string) int {
	n := 0
	for i, want := range []int{8, 4, 4, 4, 12} {
		if i > 0 {
			if n >= len(s) || s[n] != '-' {
				return 0
			}
			n++
		}
		if run(s[n:], isHex) != want {
			return 0
		}
		n += want
	}
	if !ends(s, n) {
		return 0
	}
	return n
}

// timestamp reads 2026-01-31, 2026-01-31T10:00:00.5Z, 10:00:00 and seconds or
// milliseconds since 1970.
func timestamp(s string) int {
	n := compact(s)
	if n > 0 {
		// It contains a time of day.
	} else if k := pattern(s, "dddd-dd-dd"); k > 0 || pattern(s, "dddd/dd/dd") > 0 {
		n = 10
		if n+1 < len(s) && (s[n] == 'T' || s[n] == ' ') {
			if k := clock(s[n+1:]); k > 0 {
				n += 1 + k
			}
		}
	} else if k := clock(s); k > 0 {
		n = k
	} else if k := run(s, isDigit); (k == 10 || k == 13 || k == 16 || k == 19) && s[0] == '1' && s[1] >= '5' && s[1] <= '9' {
		n = k
		if k == 10 && n+1 < len(s) && s[n] == '.' && isDigit(s[n+1]) {
			n += 1 + run(s[n+1:], isDigit)
		}
	} else {
		n = monthLater(s)
	}
	if n > 0 && ends(s, n) {
		return n
	}
	return 0
}

// pattern matches digits (d) and bytes at the start of s.
func pattern(s, p string) int {
	if len(s) < len(p) {
		return 0
	}
	for i := range len(p) {
		if p[i] == 'd' && !isDigit(s[i]) || p[i] != 'd' && s[i] != p[i] {
			return 0
		}
	}
	return len(p)
}

// clock reads 10:00:00, with a fraction and a zone.
func clock(s string) int {
	n := pattern(s, "dd:dd:dd")
	if n == 0 {
		if n = pattern(s, "d:dd:dd"); n == 0 {
			return 0
		}
	}
	if n+1 < len(s) && (s[n] == '.' || s[n] == ',') && isDigit(s[n+1]) {
		n += 1 + run(s[n+1:], isDigit)
	}
	switch {
	case n < len(s) && s[n] == 'Z':
		n++
	case n < len(s) && (s[n] == '+' || s[n] == '-'):
		if k := pattern(s[n+1:], "dd:dd"); k > 0 {
			n += 1 + k
		} else if k := pattern(s[n+1:], "dddd"); k > 0 {
			n += 1 + k
		}
	}
	return n
}

// duration reads 12ms, 3.4s, 1m2.5s, 3.21 seconds.
func duration(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		k := n + run(s[n:], isDigit)
		if k+1 < len(s) && s[k] == '.' && isDigit(s[k+1]) {
			k += 1 + run(s[k+1:], isDigit)
		}
		spaced := k < len(s) && s[k] == ' '
		u := k
		if spaced {
			u++
		}
		e := u + run(s[u:], func(c byte) bool { return c >= 'a' && c <= 'z' || c >= 0x80 })
		ok := false
		switch s[u:e] {
		case "ns", "us", "µs", "μs", "ms", "sec", "secs", "second", "seconds", "minute", "minutes", "hours", "hour":
			ok = true
		case "s", "m", "h", "min", "mins":
			ok = !spaced
		}
		if !ok {
			break
		}
		n = e
	}
	if n > 0 && !ends(s, n) {
		return 0
	}
	return n
}

// pid reads "pid 123", "PID=123", "process 123".
func pid(s string) (int, string) {
	for _, w := range []string{"pid", "PID", "Pid", "process", "Process"} {
		rest, ok := strings.CutPrefix(s, w)
		if !ok {
			continue
		}
		k := run(rest, func(c byte) bool { return c == ' ' || c == '=' || c == ':' || c == '#' })
		if d := run(rest[k:], isDigit); k > 0 && d > 0 && ends(rest, k+d) {
			return len(w) + k + d, w + " <pid>"
		}
	}
	return 0, ""
}

// callID reads ids that model providers generate: call_…, toolu_…, msg_….
func callID(s string) (int, string) {
	for _, w := range []string{"call_", "toolu_", "msg_"} {
		if rest, ok := strings.CutPrefix(s, w); ok {
			if n := run(rest, word); n >= 8 && strings.ContainsAny(rest[:n], "0123456789") {
				return len(w) + n, "<id>"
			}
		}
	}
	return 0, ""
}

// tempPath keeps a temporary path except for the parts that look random.
func tempPath(s string) (int, string) {
	for _, root := range []string{"/tmp/", "/var/tmp/", "/private/tmp/", "/var/folders/", "/private/var/folders/", "/dev/shm/"} {
		rest, ok := strings.CutPrefix(s, root)
		if !ok {
			continue
		}
		n := run(rest, func(c byte) bool { return word(c) || c == '/' || c == '-' || c == '.' || c == '+' || c == '@' })
		parts := strings.Split(rest[:n], "/")
		for i, p := range parts {
			if random(p) {
				parts[i] = "*"
			}
		}
		return len(root) + n, "<tmp>/" + strings.Join(parts, "/")
	}
	return 0, ""
}

// random reports whether a file's name looks generated.
func random(name string) bool {
	digits, upper, lower := 0, 0, 0
	for i := range len(name) {
		switch c := name[i]; {
		case isDigit(c):
			digits++
		case c >= 'A' && c <= 'Z':
			upper++
		case c >= 'a' && c <= 'z':
			lower++
		}
	}
	return digits >= 3 || strings.HasPrefix(name, "tmp") && len(name) >= 9 || upper >= 2 && lower >= 2 && digits >= 1
}

// maxError limits the length of a normalised error.
const maxError = 400

// Error returns the constant part of a failed call's result: the first and the
// last line that mention an error (or just the first and the last), without
// volatile parts, with digits masked, and with paths cut to their base names.
func Error(text string) string {
	var first, last, any1, anyN string
	for line := range strings.Lines(shown(text)) {
		line = strings.TrimSpace(line)
		if line == "" || closing(line) {
			continue
		}
		any1 = cmp.Or(any1, line)
		anyN = line
		if complains(line) && !heading(line) {
			first = cmp.Or(first, line)
			last = line
		}
	}
	if first == "" {
		first, last = any1, anyN
	}
	out := mask(first)
	if l := mask(last); l != out {
		out += "\n" + l
	}
	if len(out) > maxError {
		out = out[:maxError]
	}
	return out
}

// closing reports whether a line only tells how a command ended, so that it is
// the same for every failure.
func closing(line string) bool {
	return strings.HasPrefix(line, "exit code ") || strings.HasPrefix(line, "exit status ")
}

// heading reports whether a line only names the file of the lines below it: a
// name such as missing.go does not describe an error.
func heading(line string) bool {
	return strings.HasPrefix(line, "== ") && strings.HasSuffix(line, " ==")
}

// complains reports whether a line mentions an error.
func complains(line string) bool {
	l := strings.ToLower(line)
	return slices.ContainsFunc([]string{
		"error", "fail", "exception", "panic", "fatal", "not found", "no such", "cannot", "can't", "could not",
		"denied", "undefined", "invalid", "refused", "unexpected", "does not exist", "did not match", "no match",
		"not allowed", "missing", "timed out", "timeout", "stopped after", "traceback", "unable", "unknown",
	}, func(w string) bool {
		return strings.Contains(l, w)
	})
}

// mask masks digits and cuts paths.
func mask(line string) string {
	if len(line) > 2000 {
		line = line[:2000]
	}
	line = Result(line)
	var b strings.Builder
	for i := 0; i < len(line); {
		c := line[i]
		if !pathByte(c) {
			b.WriteByte(c)
			i++
			continue
		}
		n := run(line[i:], pathByte)
		p := line[i : i+n]
		i += n
		if k := strings.LastIndexByte(strings.TrimRight(p, "/."), '/'); k >= 0 {
			p = p[k+1:]
		}
		for j := 0; j < len(p); {
			if isDigit(p[j]) {
				b.WriteByte('#')
				j += run(p[j:], isDigit)
				continue
			}
			b.WriteByte(p[j])
			j++
		}
	}
	return b.String()
}

func pathByte(c byte) bool { return word(c) || c == '/' || c == '.' || c == '-' || c == '~' }
