package route

import (
	"slices"
	"strings"
)

// clause is a part of a sentence with one request, without polite words at its beginning.
type clause struct {
	words    []string
	question bool // the sentence ends in a question mark
	// need: it began with words of wanting, such as "I need to".
	need bool
	// asked: it began with "can you", so that a question mark means nothing.
	asked bool
	alone bool // it is in the only sentence
}

func (c clause) first() string {
	if len(c.words) == 0 {
		return ""
	}
	return c.words[0]
}

func (c clause) word(i int) string {
	if i < 0 || i >= len(c.words) {
		return ""
	}
	return c.words[i]
}

// has reports whether the clause contains one of the words.
func (c clause) has(any ...string) bool {
	return slices.ContainsFunc(c.words, func(w string) bool { return slices.Contains(any, w) })
}

// why returns the words that decided: the first n.
func (c clause) why(n int) string {
	return strings.Join(c.words[:min(n, len(c.words))], " ")
}

// clauses splits a sentence where another request begins: "…, then fix it".
func clauses(s sentence) []clause {
	var out []clause
	from := 0
	add := func(to int) {
		if c := withoutCourtesy(slices.Clone(s.words[from:to])); len(c.words) > 0 {
			c.question = s.question
			out = append(out, c)
		}
	}
	for i := 1; i < len(s.words); i++ {
		if n, ok := joint(s.words[from:], i-from); ok {
			add(i)
			from = i + n
			i = from
		}
	}
	if from < len(s.words) {
		add(len(s.words))
	}
	return out
}

// joint reports whether another request begins at i, and how many words there
// only join it to the part before: "," or "and then".
func joint(words []string, i int) (n int, ok bool) {
	for i+n < len(words) && isJoiner(words[i+n]) {
		n++
	}
	if i+n >= len(words) {
		return 0, false
	}
	first, next, rest := words[i], words[i+n], words[i+n:]
	stop := first == "," || first == ":"
	switch {
	case n == 0:
		// Without a word in between: "if not make it so", "… without changing it".
		return 0, i == 2 && words[0] == "if" && isImperative(next) || next == "without" && len(rest) > 1 && changing(rest[1])
	case stop && statesDuration(words[:i]):
		return 0, false // "from now on, use …"
	case first == ":" || first == "but", isNegation(rest), stop && (isQuestionWord(next) || isSubject(next)):
		return n, true
	case !stop && first != "and" && first != "then" && first != "please":
		return 0, false
	case asked(rest):
		return n, true
	case !isImperative(next):
		return 0, false
	case isQuestionWord(words[0]) || isQuestionWord(withoutCourtesy(slices.Clone(words[:i])).first()):
		// In a question "add and remove" are its subject, unless an object follows.
		if n == 1 && first == "then" {
			return n, false // "how would I then use it"
		}
		return n, object(words, i+n+1) || slices.Contains(words[i:i+n], "then") || slices.Contains(words[i:i+n], "please")
	}
	return n, true
}

func isJoiner(w string) bool {
	switch w {
	case ",", ":", "and", "then", "but", "so", "also", "just", "only", "please", "afterwards", "simply", "finally", "instead":
		return true
	}
	return false
}

// asked: "could you …" in the middle of a sentence.
func asked(words []string) bool {
	return len(words) > 2 && words[1] == "you" && (words[0] == "can" || words[0] == "could" || words[0] == "would" || words[0] == "will")
}

// isSubject: "it should …" after a comma is a sentence of its own.
func isSubject(w string) bool { return w == "i" || w == "we" || w == "it" || w == "they" || w == "you" }

// object reports whether the object of a verb begins at i.
func object(words []string, i int) bool {
	if i >= len(words) {
		return false
	}
	switch words[i] {
	case "it", "them", "this", "that", "these", "those", "the", "all", "any", "every", "each", "a", "an", "my", "our", "your", "its", "what", "whatever", "both", "me", quoted:
		return true
	}
	return false
}

// isImperative reports whether a word is a verb that a request begins with.
func isImperative(w string) bool { return isReadVerb(w) || isRunVerb(w) || isEditVerb(w) }

// isQuestionWord reports whether a word begins a question.
func isQuestionWord(w string) bool {
	switch w {
	case "why", "what", "what's", "whats", "how", "how's", "hows", "where", "where's", "wheres", "who", "who's", "whose", "whom", "which", "when",
		"is", "are", "isn't", "aren't", "does", "doesn't", "did", "didn't", "has", "hasn't", "was", "wasn't", "were", "weren't", "wouldn't", "shouldn't", "couldn't", "can't":
		return true
	}
	return false
}

// withoutCourtesy removes the words before the verb.
func withoutCourtesy(words []string) clause {
	c := clause{words: words}
	for len(c.words) > 0 {
		n := 0
		switch c.words[0] {
		case ",", ":", "please", "pls", "plz", "kindly", "hey", "hi", "hello", "ok", "okay", "so", "now", "then", "also", "and", "but", "just", "first", "finally", "well", "actually", "again",
			"maybe", "perhaps", "yes", "yep", "sure", "great", "thanks", "afterwards", "simply", "only", "btw", "here", "or", "both", "still", "quickly", "bitte":
			n = 1
			if len(c.words) == 1 {
				return c
			}
		case "let's", "lets":
			n = 1
		case "can", "could", "would", "will":
			if w := c.word(1); w == "you" || w == "u" {
				n, c.asked = 2, true
				if c.word(2) == "mind" {
					n = 3
				}
			}
		case "i", "we", "i'd", "i'll", "we'd", "you", "you'll":
			n = wants(c.words)
			c.need = c.need || n > 0
		case "your", "the":
			if (c.word(1) == "task" || c.word(1) == "goal" || c.word(1) == "job") && c.word(2) == "is" && c.word(3) == "to" {
				n, c.need = 4, true
			}
		case "help":
			if c.word(1) == "me" || c.word(1) == "us" {
				n = 2
			}
		case "try":
			if c.word(1) == "to" {
				n = 2
			}
		case "feel":
			if c.word(1) == "free" && c.word(2) == "to" {
				n = 3
			}
		case "to":
			n = 1
		case "if":
			// "if not make it so": what follows is the request.
			if c.word(1) == "not" || c.word(1) == "so" || c.word(1) == "possible" {
				n = 2
			}
		}
		if n == 0 || n >= len(c.words) {
			break
		}
		c.words = c.words[n:]
	}
	return c
}

// wants returns the number of words of "I want to", "we need you to", "I'd like to".
func wants(w []string) int {
	at := 1
	next := func(any ...string) bool {
		if at < len(w) && slices.Contains(any, w[at]) {
			at++
			return true
		}
		return false
	}
	next("would", "only", "just", "really", "also")
	next("only", "just", "really", "also")
	if !next("want", "need", "like", "wanna", "should", "must", "have") {
		return 0
	}
	if w[at-1] == "like" && w[0] == "i" && (len(w) < 2 || w[1] != "would") {
		return 0 // "I like …" is a preference
	}
	if w[at-1] == "should" || w[at-1] == "must" || w[at-1] == "wanna" {
		return at
	}
	next("you", "us", "help")
	if next("to") {
		return at
	}
	if w[at-1] == "have" {
		return 0
	}
	return at
}
