package route

import "strings"

// profileTrajectory keeps a lasting preference.
func profileTrajectory() Trajectory {
	return Trajectory{
		Name: Profile, When: "a preference", Nodes: []string{"profile"}, Rights: []string{RightRead},
		Reads:  "the request reads as a preference to keep",
		Note:   "[This request reads as a preference: follow it. If it is to hold beyond this task, and is no choice made in it, keep it with the remember tool as one sentence and confirm it in one line. If it asks for a change of the code now, do that as well; the user may be asked then.]",
		claims: claimsProfile,
	}
}

func claimsProfile(c clause) (string, bool) {
	w := c.words
	first, second := c.first(), c.word(1)
	switch {
	case c.question || c.need:
		return "", false
	case lastingIn(w):
		return c.why(3), len(w) > 3 || w[0] == "henceforth" && len(w) > 1 // otherwise the preference is missing
	case c.has("here", "there", "instead", "this") || namesFile(w):
		return "", false // about one place
	case first == "always" || first == "never":
		return c.why(2), len(w) > 1 && second != "mind" && !describesEvent(second)
	case (first == "don't" || first == "dont" || first == "do") && c.has("ever"):
		return c.why(3), true
	case first == "remember" && second == "to":
		return c.why(2), statesAlways(w) // otherwise it is a step of the task
	case first == "remember" && (len(w) == 1 || second == "that" || second == "my" || second == "our" || second == "i" || second == "we" || second == ","):
		return c.why(2), true
	case first == "keep" && contains(w, "in", "mind"):
		return c.why(3), true
	case first == "i" && (second == "prefer" || second == "like" || second == "hate" || second == "dislike" || second == "love" || second == "always"),
		first == "i'd" && (second == "rather" || second == "prefer"), first == "we" && (second == "prefer" || second == "always" || second == "never"):
		return c.why(2), true
	case first == "my" && (second == "preference" || second == "preferred" || second == "style"):
		return c.why(2), true
	case first == "by" && second == "default" && len(w) > 3 || first == "as" && contains(w, "a", "rule"):
		return c.why(2), true
	}
	return "", false
}

// Lasting reports whether a prompt explicitly states something that always
// holds ("always", "from now on"), so that it may be kept without asking. "I
// prefer the second one", "we never handle nil" and "remember that Add is
// wrong" look like preferences and may be choices in a task or complaints: the
// model decides what to keep of them, and reports it (SPEC 11.5).
func Lasting(prompt string) bool {
	for _, s := range sentences(strings.TrimSpace(prompt)) {
		for _, c := range clauses(s) {
			if _, ok := claimsProfile(c); ok && statesAlways(c.words) {
				return true
			}
		}
	}
	return false
}

// statesAlways reports whether the words of a preference state that it always holds.
func statesAlways(w []string) bool {
	switch w[0] {
	case "i", "i'd", "we", "my":
		return lastingIn(w) // otherwise it describes what somebody does
	}
	for _, word := range w {
		switch word {
		case "always", "never", "ever", "every", "each", "whenever":
			return true
		}
	}
	return lastingIn(w) || contains(w, "by", "default") || contains(w, "as", "a", "rule")
}

// describesEvent reports whether a verb describes what something does or did (“always
// fails”), and not what is to be done.
func describesEvent(verb string) bool {
	switch verb {
	case "was", "were", "had", "did", "been", "got", "is", "has", "does":
		return true
	case "canvas", "alias", "bias", "embed":
		return false
	}
	return ends(verb, "s") && !ends(verb, "ss", "us") || ends(verb, "ed") && !ends(verb, "eed")
}

func ends(word string, endings ...string) bool {
	for _, e := range endings {
		if strings.HasSuffix(word, e) {
			return true
		}
	}
	return false
}

// lastingIn reports whether any of the words mean that something holds from now on.
func lastingIn(w []string) bool {
	return contains(w, "from", "now", "on") || contains(w, "going", "forward") || w[0] == "in" && (contains(w[:min(3, len(w))], "the", "future") || len(w) > 1 && w[1] == "future") || w[0] == "henceforth"
}

// namesFile reports whether a word looks like a file's name.
func namesFile(words []string) bool {
	for _, w := range words {
		for i := 1; i+1 < len(w); i++ {
			if w[i] == '.' && w[i+1] >= 'a' && w[i+1] <= 'z' && len(w)-i <= 6 && (w[i-1] < '0' || w[i-1] > '9') {
				return true
			}
		}
	}
	return false
}
