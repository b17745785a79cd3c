package route

import (
	"cmp"
)

// editTrajectory is for everything else: a prompt that is not understood is an edit.
func editTrajectory() Trajectory {
	return Trajectory{
		Name: Edit, When: "a change, or not clear", Nodes: []string{"edit"}, Rights: []string{RightRead, RightRun, RightEdit},
		Reads:  "the request reads as a change",
		claims: func(p said) string { return cmp.Or(p.find(asks()), p.trouble) },
	}
}

// change has the verbs that a request for a change begins with.
const change = `(?:add|fix|refactor|rename|implement|write|rewrite|update|remove|delete|make|change|replace|move|create|recreate|convert|bump|clean|port|extract|generate|improve|optimi[sz]e|solve|resolve|repair|undo|revert|switch|extend|simplify|drop|introduce|upgrade|downgrade|migrate|adjust|apply|put|split|merge|insert|append|modify|edit|rework|restructure|redesign|enable|disable|avoid|ensure|expose|wrap|reformat|format|translate|debug|patch|finish|complete|continue|proceed|swap|reduce|increase|hide|validate|document|use|set|handle|keep|turn|support|allow|prevent|correct|build|install|commit|push|deploy|combine|unify|restore|log|return|throw|catch|go ahead|do (?:it|that|this|so))`

// asks has the words that ask for a change, or may do so.
var asks = pattern(`^` + courtesy + `(?:(?:help me|try to|go ahead and|let's|lets|yes|needs?) (?:, )?)*` + change + `\b|^needs? ` +
	`|(?:[,:]|\b(?:and|then|please)) (?:(?:please|just|also|then|and|now) )*` + change + "(?: (?:it|them|this|that|the|a|an|all|any|my|our|`)\\b| `|$)" +
	`|^(?:` + auxiliary + `|any|i|we|it|there|if|maybe|perhaps) .*\bto (?:also )?(?:add|have|make|support|implement|include|provide|offer|allow|introduce|extend|improve|fix|change|rename|remove|refactor|split|expose)\b` +
	`|(?:^|[,:] )` + courtesy + `(?:can|could|would|will|shall) (?:(?:you|u) (?:(?:please|also|just|maybe|help|me|us|to) )*` + change + `\b|(?:we|someone|somebody|anyone|it|they|there) )` +
	`|\b(?:feature|enhancement|proposal|would be|any plans?|any chance)\b` +
	// In what is no question, also what is wanted.
	`|\b(?:should|must|ought|(?:i|we|you|users?) (?:need|want|wish)|needs? to|(?:would|i'd|we'd) (?:also )?(?:like|love|prefer)|hoping|suggestion)\b.*[^?]$`)

// troubled has the words of trouble: a prompt with one of them is no plain question.
var troubled = pattern(`\b(?:bugs?|buggy|broken?|breaks|breaking|crash\w*|fail\w*|errors?|errored|exceptions?|panics?|panicked|wrong\w*|incorrect\w*|unexpected\w*|expected|actual|regress\w*|leak\w*|hangs?|hanging|stuck|freez\w*|frozen|froze|deadlock\w*|\w+n't|(?:do|does|did|is|are|was|ca|wo|have|has|would|could|should)nt|cannot|not|nothing|never|no longer|missing|lost|loses|losing|disappear\w*|vanish\w*|corrupt\w*|invalid|unable|impossible|instead|issues?|problem\w*|trouble\w*|faulty?|flaw\w*|unfortunately|slow\w*|weird\w*|strange\w*|odd|confus\w*|inconsisten\w*|inaccura\w*|mismatch\w*|segfault\w*|segmentation fault|repro\w*|but|however|warnings?|stopped|ignored|blank|vulnerab\w*|typos?|useless|annoying|refuses|twice|duplicated|flak\w+)\b|\b[45]\d\d\b`)

const naming = `(?:errors?|exceptions?|warnings?|failures?|expected|actual|invalid|mismatch(?:es)?)\b`

var (
	// asked is a question of where or how something is done in the code. In it, these words
	// name parts of a program ("how does the client handle errors?"), if they do not point
	// at something that happened ("where does this error come from?").
	sentence = pattern(`[^.?!\n]+[.?!\n]*`)
	asked    = pattern(`^ *(?:where|which|how (?:does|do|is|are)|what (?:is|are) the) .*\?\n*$`)
	named    = pattern(`\b` + naming)
	happened = pattern(`\b(?:this|these|that|those|my|our|following|get|got|getting|see|seeing) (?:an? |the )?(?:[\w-]+ )?` + naming)
)

// unnamed removes from questions the words that name parts of a program.
func unnamed(text string) string {
	return sentence().ReplaceAllStringFunc(text, func(s string) string {
		if !asked().MatchString(s) || happened().MatchString(s) {
			return s
		}
		return named().ReplaceAllString(s, "")
	})
}
