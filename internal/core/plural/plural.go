// Package plural writes a number with its noun.
package plural

import (
	"strconv"
	"strings"
)

// Of returns "1 line", "2 lines", "2 matches", "2 replies"; the last word of noun is the one
// that changes.
func Of(n int, noun string) string {
	if n != 1 {
		noun = many(noun)
	}
	return strconv.Itoa(n) + " " + noun
}

func many(noun string) string {
	stem, y := strings.CutSuffix(noun, "y")
	switch {
	case y && !strings.ContainsAny(stem[len(stem)-1:], "aeiou"):
		return stem + "ies"
	case strings.HasSuffix(noun, "ch"), strings.HasSuffix(noun, "s"), strings.HasSuffix(noun, "x"):
		return noun + "es"
	}
	return noun + "s"
}
