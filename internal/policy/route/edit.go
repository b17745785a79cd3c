package route

import (
	"cmp"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
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
const change = "add|fix|refactor|rename|implement|write|rewrite|update|remove|delete|make|change|replace|move|create|recreate|convert|bump|clean|port|extract|generate|improve|optimise|optimize|solve|resolve|repair|undo|revert|switch|extend|simplify|drop|introduce|upgrade|downgrade|migrate|adjust|apply|put|split|merge|insert|append|modify|edit|rework|restructure|redesign|enable|disable|avoid|ensure|expose|wrap|reformat|format|translate|debug|patch|finish|complete|continue|proceed|swap|reduce|increase|hide|validate|document|use|set|handle|keep|turn|support|allow|prevent|correct|build|install|commit|push|deploy|combine|unify|restore|log|return|throw|catch|go ahead|do it|do that|do this|do so"

// asks has the words that ask for a change, or may do so.
var asks = sync.OnceValue(func() phrase {
	wanted := either(head("should|must|ought|need to|needs to|hoping|suggestion"),
		seq(one("i|we|you|user|users"), head("need|want|wish")),
		seq(one("would|i'd|we'd"), maybe(one("also")), head("like|love|prefer")))
	return either(
		seq(begin, courtesy, many(seq(one("help me|try to|go ahead and|let's|lets|yes|need|needs"), maybe(one(",")))), head(change)),
		seq(begin, one("need|needs"), word),
		seq(one(mark+"|and|then|please"), many(one("please|just|also|then|and|now")), one(change), either(head("it|them|this|that|the|a|an|all|any|my|our|`"), end)),
		seq(begin, one(auxiliary+"|any|i|we|it|there|if|maybe|perhaps"), skip, one("to"), maybe(one("also")),
			head("add|have|make|support|implement|include|provide|offer|allow|introduce|extend|improve|fix|change|rename|remove|refactor|split|expose")),
		seq(either(begin, one(mark)), courtesy, one("can|could|would|will|shall"), either(
			seq(one("you|u"), many(one("please|also|just|maybe|help|me|us|to")), head(change)),
			seq(one("we|someone|somebody|anyone|it|they|there"), word))),
		head("feature|enhancement|proposal|would be|any plan|any plans|any chance"),
		seq(wanted, stating), // in what is no question, also what is wanted
	)
})

// troubled has the words of trouble: a prompt with one of them is no plain question.
var troubled = lazyregexp.New(`\b(?:bugs?|buggy|broken?|breaks|breaking|crash\w*|fail\w*|errors?|errored|exceptions?|panics?|panicked|wrong\w*|incorrect\w*|unexpected\w*|expected|actual|regress\w*|leak\w*|hangs?|hanging|stuck|freez\w*|frozen|froze|deadlock\w*|\w+n't|(?:do|does|did|is|are|was|ca|wo|have|has|would|could|should)nt|cannot|not|nothing|never|no longer|missing|lost|loses|losing|disappear\w*|vanish\w*|corrupt\w*|invalid|unable|impossible|instead|issues?|problem\w*|trouble\w*|faulty?|flaw\w*|unfortunately|slow\w*|weird\w*|strange\w*|odd|confus\w*|inconsisten\w*|inaccura\w*|mismatch\w*|segfault\w*|segmentation fault|repro\w*|but|however|warnings?|stopped|ignored|blank|vulnerab\w*|typos?|useless|annoying|refuses|twice|duplicated|flak\w+)\b|\b[45]\d\d\b`)

const naming = `(?:errors?|exceptions?|warnings?|failures?|expected|actual|invalid|mismatch(?:es)?)\b`

var (
	// asked is a question of where or how something is done in the code. In it, these words
	// name parts of a program ("how does the client handle errors?"), if they do not point
	// at something that happened ("where does this error come from?").
	clause   = lazyregexp.New(`[^.?!\n]+[.?!\n]*`)
	asked    = lazyregexp.New(`^ *(?:where|which|how (?:does|do|is|are)|what (?:is|are) the) .*\?\n*$`)
	named    = lazyregexp.New(`\b` + naming)
	happened = lazyregexp.New(`\b(?:this|these|that|those|my|our|following|get|got|getting|see|seeing) (?:an? |the )?(?:[\w-]+ )?` + naming)
)

// unnamed removes from questions the words that name parts of a program.
func unnamed(text string) string {
	return clause().ReplaceAllStringFunc(text, func(s string) string {
		if !asked().MatchString(s) || happened().MatchString(s) {
			return s
		}
		return named().ReplaceAllString(s, "")
	})
}
