package route

import "slices"

// readTrajectory answers a question: it chooses what to read, then reads.
func readTrajectory() Trajectory {
	return Trajectory{
		Name: Read, When: "a question", Nodes: []string{"plan_read", "read"}, Rights: []string{RightRead},
		Reads:  "the request reads as a question",
		Note:   "[This request reads as a question: find out which files matter, read those, and answer. Change files only if the answer needs it; the user may be asked then.]",
		claims: claimsRead,
	}
}

func claimsRead(c clause) (string, bool) {
	w := c.words
	first, second := c.first(), c.word(1)
	switch {
	case isQuestionWord(first) && len(w) == 1:
		return first, c.question
	case isQuestionWord(first) && second != ":":
		if first == "how" && second == "to" && !c.question && (c.word(2) == "fix" || c.word(2) == "solve" || c.word(2) == "resolve" || c.word(2) == "make") {
			return "", false // "how to fix the server it is not loading"
		}
		if first == "when" && !c.question {
			return "", false // "when the list is empty, …"
		}
		// "why don't you just …" and "what about …" are requests.
		if first == "why" && (second == "don't" || second == "not") || (first == "how" || first == "what") && second == "about" || first == "what" && second == "if" {
			return "", false
		}
		// "is there a chance you could add …"
		if !isWhWord(first) && asksSomebody(w) {
			return "", false
		}
		return c.why(2), true
	case (first == "in" || first == "at" || first == "on" || first == "from" || first == "for" || first == "to" || first == "by" || first == "with") && (second == "which" || second == "what"):
		return c.why(2), true
	case !c.asked && (first == "can" || first == "could" || first == "should" || first == "would" || first == "do" || first == "have" || first == "will" || first == "am"):
		// "can we add …?" asks for it as often as not.
		ok := second != "we" && second != "you" && c.question && !asksSomebody(w) || first == "should" && (second == "we" || second == "i") || first == "do" && (second == "we" || second == "i" || second == "they")
		return c.why(2), ok || first == "have" && c.word(2) == "look"
	case first == "i" && (second == "don't" || second == "dont" || second == "do") && c.has("understand", "get", "see", "know"):
		return c.why(3), true
	case first == "i" && (second == "wonder" || second == "wondered" || second == "am" && c.has("wondering", "curious")) || first == "i'm" && (second == "wondering" || second == "curious"):
		return c.why(2), true
	case (first == "any" || first == "no") && second == "idea" || first == "wondering" || first == "curious":
		return c.why(2), true
	case first == "take" && c.has("look"):
		return c.why(3), true
	case isReadVerb(first):
		return reads(c)
	case c.question && !c.asked && !c.need && !isImperative(first) && !asksSomebody(w) && first != "how" && first != "what" && first != "why":
		return c.why(2) + " … ?", true
	}
	return "", false
}

// isWhWord reports whether a question word asks for more than yes or no.
func isWhWord(w string) bool {
	switch w {
	case "why", "what", "what's", "whats", "how", "how's", "hows", "where", "where's", "wheres", "who", "who's", "whose", "whom", "which", "when", "whether", "if":
		return true
	}
	return false
}

// asksSomebody reports whether a question asks somebody to do something: "… you could fix".
func asksSomebody(w []string) bool {
	for i, x := range w {
		if x == "you" || x == "we" {
			for _, y := range w[i+1 : min(len(w), i+4)] {
				if isEditVerb(y) || isRunVerb(y) {
					return true
				}
			}
		}
	}
	return false
}

// reads judges a clause whose verb may mean reading or making: "show me the
// flags", and "show a warning when the disk is full".
func reads(c clause) (string, bool) {
	verb, next := c.first(), c.word(1)
	if verb == "help" || writesTo(c.words) || isConditional(c.words) {
		return "", false
	}
	me := next == "me" || next == "us"
	asksFor := isWhWord(next) || me
	the := next == "the" || next == "all" || next == "every" || next == "any" || next == "each" || next == "which" || next == "my" || next == "our" || next == "everything" || next == "both" || next == quoted || next == "this" || next == "these" || next == "that" || next == "those"
	ok := false
	switch verb {
	case "show", "find", "list", "identify", "see":
		ok = asksFor || the || next == "out"
		if verb == "show" && the && c.has("in") && !me {
			ok = false // where? on a screen?
		}
		if verb == "list" {
			ok = ok || next == "public" || next == "exported" || next == "open"
		}
	case "tell", "walk", "remind", "point", "teach", "answer":
		ok = me || isWhWord(next)
	case "let":
		ok = me && c.word(2) == "know"
	case "give", "provide":
		ok = (me || verb == "provide") && c.has("description", "overview", "summary", "list", "explanation", "idea", "breakdown", "hint", "hints", "introduction", "tour", "feedback", "opinion", "details", "context", "rundown", "reasons", "pointers", "estimate")
	case "look":
		ok = next != "up"
	case "search":
		ok = next == "for" || next == "the" || next == "through" || next == "in"
	case "check":
		ok = slices.ContainsFunc(c.words[1:min(len(c.words), 4)], isWhWord) && !c.has(liveness()...)
		if next == "out" {
			ok = !c.has("branch", "main", "master", "commit", "tag")
		}
	case "trace", "follow", "figure", "work":
		ok = isWhWord(next) || next == "out" || next == "through"
	case "count":
		ok = isWhWord(next) || c.has("tests", "lines", "files", "functions", "occurrences", "todos", "usages", "calls", "packages", "classes", "number")
	case "read":
		ok = next == "through" || next == "this" || next == "up" || c.has("tell", "file", "files", "directory", "folder", "readme")
	case "print", "display":
		ok = c.has("contents", "content") || me
	case "verify", "confirm":
		ok = next == "that" || isWhWord(next)
	case "learn", "know", "understand":
		ok = c.need || verb == "understand"
	default:
		ok = true // explain, describe, summarize, review, …
	}
	return c.why(2), ok
}

// liveness has words about states that only a run can show.
func liveness() []string {
	return []string{"running", "up", "pass", "passes", "passing", "compiles", "compile", "builds", "works", "green", "installed", "reachable"}
}

// isReadVerb reports whether a verb may ask only for reading.
func isReadVerb(w string) bool {
	switch w {
	case "explain", "describe", "show", "tell", "list", "find", "search", "summarize", "summarise", "review", "analyze", "analyse", "compare", "read", "check", "look",
		"count", "trace", "walk", "print", "give", "investigate", "diagnose", "figure", "identify", "outline", "suggest", "propose", "recommend", "inspect", "locate", "clarify",
		"elaborate", "examine", "audit", "evaluate", "assess", "study", "explore", "sketch", "brainstorm", "point", "let", "verify", "confirm", "understand", "know", "learn", "see",
		"estimate", "plan", "discuss", "teach", "remind", "answer", "critique", "interpret", "eli5", "grep", "display", "follow", "work", "provide":
		return true
	}
	return false
}

// writesTo reports whether the answer is to be put into a file or on a screen.
func writesTo(w []string) bool {
	for i, x := range w {
		if isWhWord(x) {
			return false // "explain how to add a column to the table"
		}
		if x != "in" && x != "on" && x != "to" && x != "into" {
			continue
		}
		for _, y := range w[i+1 : min(len(w), i+5)] {
			switch y {
			case "comment", "comments", "doc", "docs", "docstring", "docstrings", "help", "changelog", "documentation", "header", "footer", "sidebar", "toolbar", "menu", "dialog",
				"title", "ui", "screen", "page", "bar", "prompt", "spec", "popup", "tooltip", "banner", "dashboard", "stdout", "stderr", "terminal", "table", "output", "log":
				return true
			}
		}
	}
	return false
}

// isConditional reports whether a clause describes how a program should behave: "… when the
// disk is full", without a question word before that.
func isConditional(w []string) bool {
	for _, x := range w {
		switch x {
		case "why", "what", "what's", "how", "where", "who", "which", "whether":
			return false
		case "when", "while", "whenever", "before", "after", "unless", "instead", "once", "automatically", "newest", "oldest", "first":
			return true
		}
	}
	return false
}

// statesDuration reports whether words state how long something holds.
func statesDuration(w []string) bool {
	switch {
	case len(w) == 0:
		return false
	case len(w) >= 3 && w[0] == "from" && w[1] == "now" && w[2] == "on", len(w) >= 2 && w[0] == "going" && w[1] == "forward":
		return len(w) <= 4
	case w[0] == "in" && (len(w) == 2 && w[1] == "future" || len(w) == 3 && w[1] == "the" && w[2] == "future"), w[0] == "henceforth":
		return true
	}
	return false
}

func contains(w []string, run ...string) bool {
	for i := 0; i+len(run) <= len(w); i++ {
		if slices.Equal(w[i:i+len(run)], run) {
			return true
		}
	}
	return false
}
