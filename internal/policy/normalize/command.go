package normalize

import "strings"

// CanonicalCommand returns a command line without parts that have no effect:
// comments, blank lines, and spaces outside quotes. It removes them inside a
// here-document too: the result is compared, never run.
func CanonicalCommand(line string) string {
	var b strings.Builder
	b.Grow(len(line))
	space, start := false, true // pending, at the start of a line
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote != 0:
			b.WriteByte(c)
			if c == '\\' && quote == '"' && i+1 < len(line) {
				i++
				b.WriteByte(line[i])
			} else if c == quote {
				quote = 0
			}
			continue
		case c == '#' && (start || space) && (i+1 == len(line) || strings.IndexByte(" \t\r\n#", line[i+1]) >= 0):
			for i+1 < len(line) && line[i+1] != '\n' {
				i++
			}
			space = space || !start
			continue
		case c == ' ' || c == '\t' || c == '\r':
			space = true
			continue
		case c == '\n':
			if !start {
				b.WriteByte('\n')
			}
			space, start = false, true
			continue
		}
		if space && !start {
			b.WriteByte(' ')
		}
		space, start = false, false
		b.WriteByte(c)
		switch {
		case c == '\\' && i+1 < len(line):
			i++
			b.WriteByte(line[i])
		case c == '\'' || c == '"':
			quote = c
		}
	}
	return strings.TrimRight(b.String(), "\n")
}
