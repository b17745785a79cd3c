// Package cut shortens texts that are shown or quoted.
package cut

import "strings"

// Bytes returns at most the first n bytes of a text, whole characters of them, and a mark if
// there are more.
func Bytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// Runes is Bytes for a limit in characters.
func Runes(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
