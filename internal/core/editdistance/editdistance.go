// Package editdistance computes the distance between two names, to find the name
// that was meant by a mistyped one.
package editdistance

import "strings"

// maxName is how many runes of a name are compared. Mistyped names are not longer,
// and the work grows with the square of the length.
const maxName = 80

// Distance counts the insertions, deletions, substitutions and swaps of neighbours
// between two names. Only their first 80 runes count.
func Distance(a, b string) int {
	x, y := head(a), head(b)
	// Three rows of the table are enough, since a swap refers to the row before the last.
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := range x {
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}

func head(s string) []rune {
	out := []rune(s[:min(len(s), 4*maxName)])
	return out[:min(len(out), maxName)]
}

// Nearest returns the most similar one of names, or "" if none is similar enough:
// one letter in three may differ. Case is ignored.
func Nearest(name string, names []string) string {
	low := strings.ToLower(name)
	best, near := max(1, len([]rune(low))/3)+1, ""
	for _, n := range names {
		if d := Distance(low, strings.ToLower(n)); d < best && d < len([]rune(n)) {
			best, near = d, n
		}
	}
	return near
}
