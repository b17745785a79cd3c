package route

// negation is what a prompt forbids.
type negation struct {
	kind forbids
	why  string
}

// forbids is how much a negation forbids.
type forbids int

const (
	notNegated forbids = iota
	constraint         // about one thing: "don't touch the tests"
	noFix              // "don't fix it", "the code": everything, unless something is asked for
	noChange           // "don't change anything"
)

func (n negation) stronger(m negation) negation {
	if m.kind > n.kind {
		return m
	}
	return n
}

// apply narrows a match by a negation. Against a plain request for a change,
// only "nothing at all" counts, and then not explicitly: one of the two was not
// meant.
func (n negation) apply(m Match) Match {
	wants := m.Route == Edit
	switch {
	case (n.kind == constraint || n.kind == noFix) && m.Route == "":
		// Without other text, "do not edit" may be pasted text: nothing is refused
		// because of it.
		m.Route, m.Why = Edit, n.why
	case n.kind == noChange && wants:
		m.Route, m.Why = Read, n.why
	case (n.kind == noChange || n.kind == noFix) && !wants && m.Route != Run:
		m.Route, m.Why, m.Explicit = Read, n.why, true
	}
	return m
}

// isNegation reports whether words begin with a negation: "don't …", "without …".
func isNegation(words []string) bool {
	if len(words) == 0 {
		return false
	}
	switch words[0] {
	case "don't", "dont", "without", "never":
		return true
	case "do", "must", "should":
		return len(words) > 1 && words[1] == "not"
	case "no":
		return len(words) > 1 && (changes(words[1]) || words[1] == "code" && len(words) > 2 && changes(words[2]))
	case "not":
		return len(words) > 1 && (words[1] == "to" || changing(words[1]))
	}
	return false
}

func changes(w string) bool {
	switch w {
	case "changes", "change", "edits", "edit", "modifications", "writes":
		return true
	}
	return false
}

// negated returns what a clause forbids.
func negated(c clause) negation {
	w := c.words
	if len(w) == 0 || c.need {
		return negation{}
	}
	if (w[0] == "read-only" || w[0] == "readonly" || w[0] == "read" && c.word(1) == "only") && len(w) <= 4 {
		return negation{noChange, c.why(2)}
	}
	if !isNegation(w) {
		return negation{}
	}
	at := 1
	switch w[0] {
	case "do", "must", "should":
		at = 2
	case "never":
		if !c.has("anything", "any") {
			return negation{} // a preference, or about one thing
		}
	case "no":
		return negation{noChange, c.why(3)}
	case "not":
		if c.word(1) == "to" {
			at = 2
		}
	}
	for at < len(w) && (w[at] == "actually" || w[at] == "yet" || w[at] == "please" || w[at] == "you" || w[at] == "ever") {
		if w[at] == "ever" {
			return negation{} // a preference
		}
		at++
	}
	verb := c.word(at)
	if !changing(verb) {
		return negation{constraint, c.why(3)}
	}
	kind := generic(w[at+1:])
	if kind == noFix && (verb == "write" || verb == "make" || verb == "writing" || verb == "making") && !c.has("code", "changes", "change", "edits") {
		kind = constraint
	}
	return negation{kind, c.why(min(len(w), at+4))}
}

func changing(verb string) bool {
	switch verb {
	case "change", "edit", "modify", "touch", "write", "alter", "make", "fix", "implement", "update", "refactor", "apply",
		"changing", "editing", "modifying", "touching", "writing", "altering", "making", "fixing", "implementing", "updating", "applying":
		return true
	}
	return false
}

// generic returns how much the object of a negation covers: anything at all,
// the code as a whole, or one thing.
func generic(words []string) forbids {
	kind := noFix
	for i, w := range words {
		switch w {
		case "files", "code":
			if kind == noFix && (i == 0 || words[i-1] == "any") {
				kind = noChange // and not "the code"
			}
		case "anything", "any":
			if kind == noFix {
				kind = noChange
			}
		case "changes", "edits":
			kind = noChange
		case "the", "my", "our", "a", "file", "it", "this", "that", "repo", "repository", "codebase", "project", "source", "workspace",
			"yet", "please", "though", "for", "now", "yourself", "at", "all", "just", "only", "in", "to", ",", "here", "thing", "things", "them", "me", "single":
		default:
			return constraint
		}
	}
	return kind
}
