package route

import "strings"

// editTrajectory is for everything else: a prompt that is not understood is an edit.
func editTrajectory() Trajectory {
	return Trajectory{
		Name: Edit, When: "a change, or not clear", Nodes: []string{"edit"}, Rights: []string{RightRead, RightRun, RightEdit},
		Reads:  "the request reads as a change",
		claims: claimsEdit,
	}
}

func claimsEdit(c clause) (string, bool) {
	first, second := c.first(), c.word(1)
	switch {
	case isEditVerb(first), isRunVerb(first) && (second == "a" || second == "an" || second == "the" || strings.HasSuffix(second, "ing")):
		return c.why(2), true
	case (first == "can" || first == "could" || first == "shall") && second == "we" && isEditVerb(c.word(2)), first == "try" && isChangingGerund(second):
		return c.why(3), true
	case isChangingGerund(first) && (c.asked || second == "the" || second == "this"): // "would you mind renaming …"
		return c.why(2), true
	case isReadVerb(first):
		return "", false // not clear: it may have been meant
	case c.need && !isQuestionWord(first):
		return c.why(2), true
	case first == "do" && (second == "it" || second == "that" || second == "this" || second == "so" || second == "the" || second == "both" || second == "all"),
		first == "go" && (second == "ahead" || second == "on" || second == "for"), first == "same" && (second == "for" || second == "here" || second == "with"), first == "as" && second == "before",
		(first == "yes" || first == "yep" || first == "ok" || first == "okay" || first == "sure" || first == "next" || first == "again" || first == "please" || first == "y") && len(c.words) <= 3 && c.alone, first == "try" && second == "again":
		return c.why(2), true // it continues the subject before
	case first == "why" && (second == "don't" || second == "not") || (first == "how" || first == "what") && second == "about":
		for _, w := range c.words[2:min(len(c.words), 6)] {
			if isEditVerb(w) || isChangingGerund(w) {
				return c.why(3), true
			}
		}
	case !c.question && !isQuestionWord(first) && c.has("should", "must", "shouldn't", "needs", "ought"):
		return c.why(4), true // "it should return an error"
	}
	return "", false
}

// isChangingGerund: "renaming", of a verb that changes something.
func isChangingGerund(w string) bool {
	stem, ok := strings.CutSuffix(w, "ing")
	if !ok || len(stem) < 3 {
		return false
	}
	return isEditVerb(stem) || isEditVerb(stem+"e") || stem[len(stem)-1] == stem[len(stem)-2] && isEditVerb(stem[:len(stem)-1])
}

// isEditVerb reports whether a verb asks for a change.
func isEditVerb(w string) bool {
	switch w {
	case "add", "fix", "refactor", "rename", "implement", "write", "update", "remove", "delete", "make", "change", "replace", "move", "create", "convert", "bump", "clean", "cleanup",
		"handle", "port", "use", "set", "extract", "generate", "improve", "optimize", "optimise", "solve", "resolve", "repair", "undo", "revert", "switch", "extend", "support",
		"document", "simplify", "rewrite", "drop", "turn", "introduce", "upgrade", "downgrade", "migrate", "adjust", "wire", "hook", "apply", "put", "split", "bring", "get",
		"speed", "correct", "insert", "append", "modify", "edit", "rework", "restructure", "reorganize", "reorganise", "redesign", "enable", "disable", "avoid", "keep", "allow",
		"prevent", "ensure", "expose", "inline", "wrap", "format", "reformat", "translate", "debug", "patch", "develop", "design", "finish", "complete", "continue", "proceed",
		"swap", "merge", "combine", "deduplicate", "dedupe", "reduce", "increase", "decrease", "lower", "raise", "hide", "align", "style", "sort", "cache", "log", "throw", "return",
		"validate", "sanitize", "mock", "stub", "test", "cover", "annotate", "type", "deprecate", "integrate", "connect", "configure", "scaffold", "bootstrap", "draft", "comment",
		"uncomment", "restore", "reset", "retry", "treat", "store", "save", "load", "parse", "render", "ship", "adapt", "address", "tweak", "polish", "tidy", "shorten", "harden", "parametrize",
		"parameterize", "pin", "unify", "consolidate", "propagate", "pass", "accept", "reject", "ignore", "skip", "strip", "trim", "rip", "kill", "do":
		return w != "do" && w != "kill"
	}
	// "recreate", "re-add"
	if rest, ok := strings.CutPrefix(w, "re"); ok && len(rest) > 2 {
		return isEditVerb(strings.TrimPrefix(rest, "-"))
	}
	return false
}

// reports reports whether a clause describes something that does not work: without a
// request, it is to be fixed.
func reports(c clause) bool {
	return !c.question && c.has("bug", "bugs", "typo", "broken", "crash", "crashes", "crashed", "crashing", "fails", "fail", "failed", "failing", "error", "errors", "wrong", "leak", "leaks", "missing",
		"hangs", "stuck", "regression", "empty", "slow", "doesn't", "doesnt", "didn't", "didnt", "isn't", "isnt", "not", "unfortunately", "cannot", "can't", "won't", "incorrect", "incorrectly", "issue", "problem")
}
