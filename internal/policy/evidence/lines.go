package evidence

import "strings"

// Lines splits an output into lines without colours and overwritten text.
func Lines(s string) []string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	var out []string
	for l := range strings.Lines(s) {
		l = strings.TrimRight(plainLine(l), " \t\r\n")
		if i := strings.LastIndexByte(l, '\r'); i >= 0 { // a progress bar: its last state
			l = l[i+1:]
		}
		out = append(out, l)
	}
	return out
}

// plainLine removes escape sequences from a line.
func plainLine(s string) string {
	if !strings.Contains(s, "\x1b") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\x1b' {
			b.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && strings.IndexByte("]P_^X", s[i+1]) >= 0 { // a title, a link: to its end
			for i += 2; i < len(s) && s[i] != '\a' && s[i] != '\x1b'; i++ {
			}
			if i+1 < len(s) && s[i] == '\x1b' && s[i+1] == '\\' {
				i++
			} else if i < len(s) && s[i] == '\x1b' {
				i-- // another sequence
			}
			continue
		}
		if i+1 >= len(s) || s[i+1] != '[' {
			continue
		}
		for i += 2; i < len(s) && (s[i] < '@' || s[i] > '~'); i++ {
		}
	}
	return b.String()
}
