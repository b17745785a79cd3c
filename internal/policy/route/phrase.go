package route

import (
	"slices"
	"strings"
)

// phrase is a pattern of words. It is tried at the word i of a sentence, and calls next with
// the place after each end that it can have, until next accepts one.
type phrase func(s sentence, i int, next func(int) bool) bool

// sentence has a person's words in lower case: "," and ":" are words, "`" stands for a
// quotation, and "?" is the last word of a question.
type sentence []string

// match returns where a phrase first matches.
func (s sentence) match(p phrase) (from, to int, ok bool) {
	for from = range s {
		if p(s, from, func(end int) bool { to = end; return true }) {
			return from, to, true
		}
	}
	return 0, 0, false
}

func (s sentence) has(p phrase) bool {
	_, _, ok := s.match(p)
	return ok
}

// find returns the words that a phrase matches first.
func (s sentence) find(p phrase) string {
	from, to, _ := s.match(p)
	return strings.Trim(strings.Join(s[from:to], " "), " ,:")
}

// one matches one of the words, or groups of words, in a list such as "let's|go ahead".
func one(list string) phrase { return oneOf(list, false) }

// head is one, also where a mark follows the word in the same one: "what's", "add/remove".
func head(list string) phrase { return oneOf(list, true) }

func oneOf(list string, marks bool) phrase {
	var groups []sentence
	for g := range strings.SplitSeq(list, "|") {
		if strings.Contains(g, " ") {
			groups = append(groups, strings.Fields(g))
		}
	}
	list = "|" + list + "|"
	is := func(w, of string) bool {
		return strings.Contains(of, "|"+w+"|") || marks && strings.Contains(of, "|"+bare(w)+"|")
	}
	return func(s sentence, i int, next func(int) bool) bool {
		for _, g := range groups {
			end := i + len(g)
			if end <= len(s) && slices.Equal(s[i:end-1], g[:len(g)-1]) && is(s[end-1], "|"+g[len(g)-1]+"|") && next(end) {
				return true
			}
		}
		return i < len(s) && is(s[i], list) && next(i+1)
	}
}

// bare returns the letters before the first mark in a word.
func bare(w string) string {
	if i := strings.IndexFunc(w, func(r rune) bool { return r < 'a' || r > 'z' }); i > 0 {
		return w[:i]
	}
	return w
}

// seq matches phrases one after the other.
func seq(order ...phrase) phrase {
	if len(order) == 1 {
		return order[0]
	}
	rest := seq(order[1:]...)
	return func(s sentence, i int, next func(int) bool) bool {
		return order[0](s, i, func(end int) bool { return rest(s, end, next) })
	}
}

func either(others ...phrase) phrase {
	return func(s sentence, i int, next func(int) bool) bool {
		return slices.ContainsFunc(others, func(p phrase) bool { return p(s, i, next) })
	}
}

// maybe matches a phrase or nothing.
func maybe(p phrase) phrase { return either(p, empty) }

func empty(_ sentence, i int, next func(int) bool) bool { return next(i) }

// many matches a phrase up to eight times. Who repeats it more often than that does not talk,
// and to try each number of times from each word would take long.
func many(p phrase) phrase {
	most := phrase(empty)
	for range 8 {
		most = maybe(seq(p, most))
	}
	return most
}

// skip matches any words.
func skip(s sentence, i int, next func(int) bool) bool {
	for ; i <= len(s); i++ {
		if next(i) {
			return true
		}
	}
	return false
}

// word matches any word.
func word(s sentence, i int, next func(int) bool) bool { return i < len(s) && next(i+1) }

// begin and end match nothing, at the ends of a sentence.
func begin(_ sentence, i int, next func(int) bool) bool { return i == 0 && next(i) }

func end(s sentence, i int, next func(int) bool) bool { return i == len(s) && next(i) }

// asking and stating match the rest of a sentence, which is a question or is none.
func asking(s sentence, i int, next func(int) bool) bool {
	return i < len(s) && s[len(s)-1] == "?" && next(len(s))
}

func stating(s sentence, i int, next func(int) bool) bool {
	return i < len(s) && s[len(s)-1] != "?" && next(len(s))
}
