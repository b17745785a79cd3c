package progress

import (
	"slices"
	"strconv"
	"strings"
)

// openEnded is the number of repetitions for "in a loop".
const openEnded = 1000

// asksRepeats returns how many repetitions a person's words ask for, 0 for
// none. "Until it passes" asks for an outcome, not for repetition.
func asksRepeats(text string) int {
	if len(text) > 1<<14 {
		text = text[:1<<14] // the request is near the start; pasted logs are not
	}
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	n := 0
	for i, w := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch {
		case w == "repeatedly", w == "continuously",
			w == "a" && next == "loop" && i > 0 && words[i-1] == "in",
			w == "again" && next == "and" && i+2 < len(words) && words[i+2] == "again",
			w == "keep" && slices.Contains([]string{"polling", "checking", "running", "watching", "monitoring"}, next),
			w == "every" && i+2 < len(words) && number(next) > 0 && unit(words[i+2]),
			w == "every" && unit(next):
			n = max(n, openEnded)
		case next == "times" && number(w) > 1:
			n = max(n, min(number(w), openEnded))
		case w == "times" && i+1 < len(words) && (next == "in" || next == "a") && i > 0 && number(words[i-1]) > 1:
			n = max(n, number(words[i-1]))
		}
	}
	return n
}

func unit(w string) bool {
	return slices.Contains([]string{"second", "minute", "hour", "sec", "min"}, strings.TrimSuffix(w, "s"))
}

func number(w string) int {
	if n, err := strconv.Atoi(w); err == nil {
		return n
	}
	if i := slices.Index([]string{"two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}, w); i >= 0 {
		return i + 2
	}
	switch w {
	case "several", "many", "twenty":
		return 20
	case "hundred":
		return 100
	case "thousand":
		return 1000
	}
	return 0
}
