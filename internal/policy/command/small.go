package command

import (
	"strings"
)

// The small languages of sed, awk and jq. Each parser accepts the parts that it knows
// to be harmless, and refuses the rest.

// plainSed reports whether a sed script neither writes, nor reads other files, nor runs
// anything.
func plainSed(s string) bool {
	for i := 0; i < len(s); {
		if strings.IndexByte(" \t\n;", s[i]) >= 0 {
			i++
			continue
		}
		if i = sedAddress(s, i); i < 0 || i >= len(s) {
			return i == len(s) && strings.TrimRight(s, "}; \t\n") == ""
		}
		c := s[i]
		i++
		switch {
		case c == '{' || c == '}':
			continue
		case c == '#':
			if j := strings.IndexByte(s[i:], '\n'); j >= 0 {
				i += j
				continue
			}
			return true
		case strings.IndexByte("=dDgGhHnNpPxzFqQlL", c) >= 0:
			i = skip(s, skip(s, i, " \t"), "0123456789")
		case strings.IndexByte(":btT", c) >= 0:
			i = skip(s, i, " \t")
			j := skip(s, i, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
			if c == ':' && i == j {
				return false
			}
			i = j
		case c == 's' || c == 'y':
			if i >= len(s) || strings.IndexByte("\n\\", s[i]) >= 0 || s[i] >= 0x80 {
				return false
			}
			d := s[i]
			if i = delimited(s, i+1, d); i < 0 {
				return false
			}
			if i = delimited(s, i, d); i < 0 {
				return false
			}
			if c == 's' {
				i = skip(s, i, "gpiImM0123456789")
			}
		case c == 'a' || c == 'i' || c == 'c':
			// The text extends to the end of the line; a continued text is not
			// followed.
			j := strings.IndexByte(s[i:], '\n')
			if j < 0 {
				return true
			}
			if j > 0 && s[i+j-1] == '\\' || j == 0 {
				return false
			}
			i += j
			continue
		default: // w, W, r, R, e, v and unknown commands
			return false
		}
		i = skip(s, i, " \t")
		if i < len(s) && strings.IndexByte(";\n}#", s[i]) < 0 {
			return false
		}
	}
	return true
}

// sedAddress skips one or two addresses and "!"; it returns -1 if it cannot parse them.
func sedAddress(s string, i int) int {
	for n := 0; ; n++ {
		switch {
		case i >= len(s):
			return i
		case s[i] == '/':
			if i = delimited(s, i+1, '/'); i < 0 {
				return -1
			}
			i = skip(s, i, "IM")
		case s[i] == '\\' && i+1 < len(s) && s[i+1] != '\n' && s[i+1] < 0x80:
			if i = delimited(s, i+2, s[i+1]); i < 0 {
				return -1
			}
			i = skip(s, i, "IM")
		default:
			i = skip(s, i, "0123456789$+~")
		}
		i = skip(s, i, " \t")
		if i >= len(s) || s[i] != ',' || n > 0 {
			return skip(s, i, "! \t")
		}
		i = skip(s, i+1, " \t")
	}
}

func skip(s string, i int, set string) int {
	for i < len(s) && strings.IndexByte(set, s[i]) >= 0 {
		i++
	}
	return i
}

// delimited returns the position after the delimiter that ends the text starting at i,
// or -1 if versions of sed may disagree about it.
func delimited(s string, i int, d byte) int {
	for ; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case d:
			return i + 1
		case '[':
			// A bracket may contain the delimiter, and versions differ about it.
			if j := strings.IndexByte(s[i:], ']'); j > 0 && strings.IndexByte(s[i:i+j], d) >= 0 {
				return -1
			}
		}
	}
	return -1
}

// plainAwk reports whether an awk program only computes and prints: no redirection,
// pipe, system, getline, environment or argument list.
func plainAwk(s string) bool {
	const (
		start   = iota // a regular expression may begin
		operand        // a "/" divides
		unsure         // after ")" and "++": either
	)
	prev, last := start, byte(';')
	printing, depth, at := false, 0, 0
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == ' ' || c == '\t':
			i++
			continue
		case c == '#':
			j := strings.IndexByte(s[i:], '\n')
			if j < 0 {
				return true
			}
			i += j
			continue
		case c == '\\':
			if i+1 >= len(s) || s[i+1] != '\n' {
				return false
			}
			i += 2
			continue
		case c == '"':
			j := i + 1
			for j < len(s) && s[j] != '"' && s[j] != '\n' {
				if s[j] == '\\' {
					j++
				}
				j++
			}
			if j >= len(s) || s[j] != '"' {
				return false
			}
			i, prev = j+1, operand
		case c == '/' && prev == unsure && strings.IndexByte(line(s[i+1:]), '/') >= 0:
			return false
		case c == '/' && prev == start:
			if i = awkRegexp(s, i+1); i < 0 {
				return false
			}
			prev = operand
		case letter(c):
			j := i
			for j < len(s) && (letter(s[j]) || s[j] >= '0' && s[j] <= '9') {
				j++
			}
			name := s[i:j]
			i = j
			switch name {
			case "system", "getline", "ENVIRON", "PROCINFO", "ARGV", "ARGC", "ARGIND", "SYMTAB", "FUNCTAB", "extension", "load", "include", "namespace", "func", "length":
				if name == "length" && strings.IndexByte(line(s[skip(s, i, " \t"):])+" ", '/') != 0 {
					prev = operand
					break
				}
				return false
			case "print", "printf":
				printing, at, prev = true, depth, start
			case "return", "in", "else", "do", "case", "delete", "exit", "if", "while", "for", "function", "BEGIN", "END", "switch", "default", "break", "continue", "next", "nextfile":
				prev = start
			default:
				prev = operand
			}
		case c >= '0' && c <= '9' || c == '.':
			i++
			prev = operand
		case c == '|':
			if i+1 >= len(s) || s[i+1] != '|' {
				return false
			}
			i, prev = i+2, start
		case c == '>':
			if printing && depth <= at || i+1 < len(s) && s[i+1] == '>' {
				return false
			}
			i, prev = i+1, start
		case c == '+' || c == '-':
			if i+1 < len(s) && s[i+1] == c {
				i, prev = i+2, unsure
			} else {
				i, prev = i+1, start
			}
		case c == '(' || c == '[':
			depth++
			i, prev = i+1, start
		case c == ')' || c == ']':
			depth--
			i++
			if prev = unsure; c == ']' {
				prev = operand
			}
		case c == '\n' || c == ';' || c == '{' || c == '}':
			if c != '\n' || strings.IndexByte(",&|", last) < 0 {
				if depth <= at {
					printing = false
				}
			}
			i, prev = i+1, start
		case strings.IndexByte("$!~<=,?:&*%^/", c) >= 0:
			i, prev = i+1, start
		default:
			return false
		}
		last = c
	}
	return true
}

func letter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }

func line(s string) string { s, _, _ = strings.Cut(s, "\n"); return s }

// awkRegexp returns the position after the slash that ends a regular expression, or -1
// if versions of awk may disagree about it.
func awkRegexp(s string, i int) int {
	for ; i < len(s) && s[i] != '\n'; i++ {
		switch s[i] {
		case '\\':
			i++
		case '/':
			return i + 1
		case '[':
			if j := strings.IndexByte(s[i:], ']'); j > 0 && strings.IndexByte(s[i:i+j], '/') >= 0 {
				return -1
			}
		}
	}
	return -1
}

// plainJq reports whether a jq filter reads nothing but its input: no module, no
// environment.
func plainJq(s string) bool {
	depth := []int{} // of brackets, for each open interpolation
	inString := false
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case inString && c == '"':
			inString = false
			i++
		case inString && c == '\\':
			if i+1 < len(s) && s[i+1] == '(' {
				inString = false
				depth = append(depth, 0)
			}
			i += 2
		case inString:
			i++
		case c == '"':
			inString = true
			i++
		case c == '(' && len(depth) > 0:
			depth[len(depth)-1]++
			i++
		case c == ')' && len(depth) > 0:
			if depth[len(depth)-1] == 0 {
				depth, inString = depth[:len(depth)-1], true
			} else {
				depth[len(depth)-1]--
			}
			i++
		case c == '#' || c >= 0x80:
			return false
		case letter(c):
			j := i
			for j < len(s) && (letter(s[j]) || s[j] >= '0' && s[j] <= '9' || s[j] == ':') {
				j++
			}
			field := i > 0 && s[i-1] == '.'
			switch name := s[i:j]; {
			case field:
			case strings.Contains(name, "ENV"), name == "env", name == "import", name == "include", name == "module", name == "modulemeta", name == "get_search_list",
				strings.Contains(name, "::"), strings.HasPrefix(name, "__") && name != "__loc__":
				return false
			}
			i = j
		default:
			i++
		}
	}
	return !inString && len(depth) == 0
}
