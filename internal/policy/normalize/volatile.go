package normalize

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Result removes from a successful result what changes from run to run: times,
// durations, rates, addresses, short-lived ports, random parts of temporary
// paths, process numbers, ids, the hash of a commit that was just made,
// colours, all but the last state of a progress bar, and how much of an output
// was left out. All other digits stay: a counter that moves is progress.
// Applying Result twice changes nothing more.
func Result(text string) string {
	text = shown(text)
	var b strings.Builder
	b.Grow(len(text))
	count := false // in a line about how much was left out
	for i := 0; i < len(text); {
		if i == 0 || text[i-1] == '\n' {
			count = leavesOut(text[i:])
		}
		if i > 0 && word(text[i-1]) {
			b.WriteByte(text[i])
			i++
			continue
		}
		n, put := volatileAt(text, i)
		if n == 0 && count && isDigit(text[i]) {
			n, put = run(text[i:], func(c byte) bool { return isDigit(c) || c == ',' || c == '.' }), "<n>"
		}
		if n == 0 {
			b.WriteByte(text[i])
			i++
			continue
		}
		b.WriteString(put)
		i += n
	}
	return b.String()
}

// Shown returns what a terminal shows of a line in the end: nothing of colours and other
// escapes, and of text that a carriage return overwrites.
func Shown(line string) string {
	if strings.ContainsAny(line, "\x1b\r") {
		line = strings.TrimRight(ansi.Strip(line), "\r\n")
	}
	return line[strings.LastIndexByte(line, '\r')+1:]
}

// shown is Shown for each line of a text.
func shown(text string) string {
	if !strings.ContainsAny(text, "\x1b\r") {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = Shown(l)
	}
	return strings.Join(lines, "\n")
}

// leavesOut reports whether the first line of s tells how much of an output is not shown.
func leavesOut(s string) bool {
	if len(s) > 240 {
		s = s[:240]
	}
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i]
	} else if len(s) == 240 {
		return false
	}
	l := strings.ToLower(s)
	has := func(ws ...string) bool {
		return slices.ContainsFunc(ws, func(w string) bool { return strings.Contains(l, w) })
	}
	return has("omitted", "truncated", "elided", "clipped", "not shown") && has("line", "char", "byte", "token", "output", "more")
}

// volatileAt returns how many bytes at text[i:] are volatile, and their
// replacement. No word continues at i.
func volatileAt(text string, i int) (n int, put string) {
	s := text[i:]
	before := byte(0)
	if i > 0 {
		before = text[i-1]
	}
	switch c := s[0]; {
	case c == '/':
		if strings.HasSuffix(text[:i], "<tmp>") {
			return 0, ""
		}
		return tempPath(s)
	case c == '0' && len(s) > 2 && s[1] == 'x':
		if n := run(s[2:], isHex); n >= 4 {
			return n + 2, "<addr>"
		}
		return 0, ""
	}
	if isHex(s[0]) {
		if n := uuid(s); n > 0 {
			return n, "<id>"
		}
		if n := commit(text, i); n > 0 {
			return n, "<sha>"
		}
	}
	if isDigit(s[0]) {
		if n := timestamp(s); n > 0 {
			return n, "<time>"
		}
		if before != '.' && before != ':' && before != '/' {
			if n := duration(s); n > 0 {
				return n, "<dur>"
			}
			if n := rate(s); n > 0 {
				return n, "<rate>"
			}
		}
		if before == ':' {
			return port(text, i)
		}
		if before == ' ' && i >= 4 && text[i-2] == ']' && isDigit(text[i-3]) {
			return jobNumber(text, i)
		}
		return 0, ""
	}
	switch s[0] {
	case 'J', 'F', 'M', 'A', 'S', 'O', 'N', 'D', 'T', 'W':
		if n := dateWords(s); n > 0 {
			return n, "<time>"
		}
	case 'd', 'e', 'r':
		return named(s)
	case 'c', 't', 'm':
		if n, put := callID(s); n > 0 {
			return n, put
		}
		return named(s)
	case 'g':
		if rest, ok := strings.CutPrefix(s, "goroutine "); ok {
			if n := run(rest, isDigit); n > 0 && ends(rest, n) {
				return len("goroutine ") + n, "goroutine <n>"
			}
		}
	case 'p', 'P':
		return pid(s)
	}
	return 0, ""
}

// named reads a number whose name marks it as a duration: "duration_ms": 12,
// elapsed=0.5, took 12.
func named(s string) (int, string) {
	for _, w := range [...]string{"duration", "elapsed", "took", "runtime", "time_ms", "time_s", "elapsed_time", "execution_time"} {
		rest, ok := strings.CutPrefix(s, w)
		if !ok {
			continue
		}
		k := run(rest, func(c byte) bool { return c >= 'a' && c <= 'z' || c == '_' })
		gap := run(rest[k:], func(c byte) bool { return c == ' ' || c == ':' || c == '=' || c == '"' || c == '\'' })
		d := run(rest[k+gap:], isDigit)
		if gap == 0 || gap > 4 || d == 0 {
			continue
		}
		n := k + gap + d
		if n+1 < len(rest) && rest[n] == '.' && isDigit(rest[n+1]) {
			n += 1 + run(rest[n+1:], isDigit)
		}
		if !ends(rest, n) {
			// Include the unit, if there is one.
			m := duration(rest[k+gap:])
			if m == 0 {
				continue
			}
			n = k + gap + m
		}
		return len(w) + n, s[:len(w)+k+gap] + "<dur>"
	}
	return 0, ""
}

// rate reads 12.3MB/s, 4it/s.
func rate(s string) int {
	n := run(s, isDigit)
	if n+1 < len(s) && s[n] == '.' && isDigit(s[n+1]) {
		n += 1 + run(s[n+1:], isDigit)
	}
	if n < len(s) && s[n] == ' ' {
		n++
	}
	u := run(s[n:], func(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' })
	if u == 0 || u > 5 || !strings.HasPrefix(s[n+u:], "/s") {
		return 0
	}
	n += u + 2
	if k := run(s[n:], func(c byte) bool { return c >= 'a' && c <= 'z' }); k == 0 || s[n:n+k] == "ec" {
		n += k
	}
	if !ends(s, n) {
		return 0
	}
	return n
}

// port reads the short-lived port after this machine's name.
func port(text string, i int) (int, string) {
	n := run(text[i:], isDigit)
	if n != 5 || !ends(text[i:], n) || text[i:i+n] < "32768" {
		return 0, ""
	}
	host := text[max(0, i-12) : i-1]
	for _, h := range [...]string{"localhost", "127.0.0.1", "0.0.0.0", "[::1]", "[::]"} {
		if strings.HasSuffix(host, h) {
			return n, "<port>"
		}
	}
	return 0, ""
}

// jobNumber reads the process number in "[1] 12345", which a shell prints for a
// background command.
func jobNumber(text string, i int) (int, string) {
	k := i - 3
	for k > 0 && isDigit(text[k-1]) && i-k < 8 {
		k--
	}
	if k == 0 || text[k-1] != '[' || k > 1 && text[k-2] != '\n' {
		return 0, ""
	}
	n := run(text[i:], isDigit)
	if n < 3 || !(i+n == len(text) || text[i+n] == '\n') {
		return 0, ""
	}
	return n, "<pid>"
}

// commit reads the hash in "[main 1a2b3c4] message", which git prints for a new
// commit, and in "commit 1a2b…" at the start of a line.
func commit(text string, i int) int {
	n := run(text[i:], isHex)
	if n < 7 || n > 40 || !ends(text[i:], n) {
		return 0
	}
	line := strings.LastIndexByte(text[max(0, i-120):i], '\n') + 1 + max(0, i-120)
	head := text[line:i]
	switch {
	case n == 40 && head == "commit ":
		return n
	case strings.HasPrefix(head, "[") && strings.HasSuffix(head, " ") && strings.HasPrefix(text[i+n:], "]") && !strings.Contains(head, "]"):
		return n
	}
	return 0
}
