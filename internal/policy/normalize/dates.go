package normalize

import "strings"

// month returns the length of a month's short or full name at the start of s.
func month(s string) int {
	if len(s) < 3 {
		return 0
	}
	for _, m := range [...]string{
		"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
	} {
		if strings.HasPrefix(s, m) && ends(s, len(m)) {
			return len(m)
		}
		if s[:3] == m[:3] && ends(s, 3) {
			return 3
		}
	}
	return 0
}

// weekday returns the length of a weekday's name at the start of s.
func weekday(s string) int {
	if len(s) < 3 {
		return 0
	}
	for _, d := range [...]string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"} {
		if strings.HasPrefix(s, d) && ends(s, len(d)) {
			return len(d)
		}
		if s[:3] == d[:3] && ends(s, 3) {
			return 3
		}
	}
	return 0
}

// dateWords reads "Mon Jan  2 15:04:05 CET 2026", "Mon, 02 Jan 2026 15:04:05
// +0100", "Jan 2 15:04", "Jan 2 2026".
func dateWords(s string) int {
	n := 0
	if k := weekday(s); k > 0 {
		n = k + run(s[k:], func(c byte) bool { return c == ',' || c == ' ' })
		if n == k || n-k > 3 {
			return 0
		}
		if m := monthLater(s[n:]); m > 0 {
			return n + m
		}
	}
	k := month(s[n:])
	if k == 0 {
		return 0
	}
	n += k
	sp := run(s[n:], func(c byte) bool { return c == ' ' })
	d := run(s[n+sp:], isDigit)
	if sp == 0 || sp > 2 || d == 0 || d > 2 {
		return 0
	}
	n += sp + d
	if !ends(s, n) {
		return 0
	}
	return n + dateRest(s[n:])
}

// monthLater reads "02 Jan 2026 15:04:05 GMT" and "31/Jan/2026:10:00:00 +0000".
func monthLater(s string) int {
	d := run(s, isDigit)
	if d == 0 || d > 2 || d == len(s) {
		return 0
	}
	sep := s[d]
	if sep != ' ' && sep != '/' && sep != '-' {
		return 0
	}
	k := month(s[d+1:])
	if k == 0 {
		return 0
	}
	n := d + 1 + k
	if n >= len(s) || s[n] != sep || run(s[n+1:], isDigit) != 4 {
		return 0
	}
	n += 5
	if n < len(s) && s[n] == ':' {
		if c := clock(s[n+1:]); c > 0 {
			n += 1 + c
		}
	}
	return n + dateRest(s[n:])
}

// dateRest reads what may follow a day: a time, a zone and a year, in any of
// the usual orders.
func dateRest(s string) int {
	n := 0
	for range 3 {
		k := run(s[n:], func(c byte) bool { return c == ' ' || c == ',' })
		if k == 0 || k > 2 {
			return n
		}
		t := s[n+k:]
		c := clock(t)
		if c == 0 && pattern(t, "dd:dd") > 0 {
			c = 5
		}
		if c == 0 && run(t, isDigit) == 4 && (t[0] == '1' || t[0] == '2') {
			c = 4
		}
		if c == 0 && n > 0 {
			c = zone(t)
		}
		if c == 0 || !ends(t, c) {
			return n
		}
		n += k + c
	}
	return n
}

// zone reads +0100 and the usual names.
func zone(s string) int {
	if len(s) > 4 && (s[0] == '+' || s[0] == '-') && pattern(s[1:], "dddd") > 0 {
		return 5
	}
	for _, z := range [...]string{"GMT", "UTC", "CET", "CEST", "EST", "EDT", "PST", "PDT", "CST", "CDT", "JST", "IST", "BST", "AM", "PM"} {
		if strings.HasPrefix(s, z) && ends(s, len(z)) {
			return len(z)
		}
	}
	return 0
}

// compact reads 20260131T100000Z, 20260131_100000, 2026-01-31_10-00-00.
func compact(s string) int {
	n := 0
	switch {
	case pattern(s, "2ddddddd") > 0:
		n = 8
	case pattern(s, "2ddd-dd-dd") > 0:
		n = 10
	default:
		return 0
	}
	if n >= len(s) || s[n] != 'T' && s[n] != '_' && s[n] != '-' {
		return 0
	}
	for _, p := range [...]string{"dddddd", "dd-dd-dd", "dd_dd_dd"} {
		if k := pattern(s[n+1:], p); k > 0 {
			n += 1 + k
			if n < len(s) && s[n] == 'Z' {
				n++
			}
			return n
		}
	}
	return 0
}
