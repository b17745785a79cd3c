package route

import (
	"slices"
)

// readTrajectory answers a question: it chooses what to read, then reads.
func readTrajectory() Trajectory {
	return Trajectory{
		Name: Read, When: "a question", Nodes: []string{"plan_read", "read"}, Rights: []string{RightRead},
		Reads:  "the request reads as a question",
		Note:   "[This request reads as a question, by its words, which may be wrong. If it asks for a change, or reports something to fix, do that; the user may be asked then. If it is a question, find out which files matter, read those, and answer.]",
		claims: claimsRead,
	}
}

const (
	wh         = `(?:why|what|how|where|who|whose|whom|which|when)`
	doing      = `(?:is|are|was|were|am|do|does|did|has|have|had)`
	modal      = `(?:can|could|should|would|will|may)`
	auxiliary  = `(?:` + doing + `|` + modal + `)`
	courtesy   = `(?:(?:hi|hello|hey|ok|okay|so|well|also|and|then|now|just|please|quick question|thanks|there|all|everyone)(?: [,:])? )*`
	telling    = `(?:explain|tell|describe|show|list|find|look|review|analy[sz]e|summari[sz]e|investigate|check|answer|give|clarify|help|advise|point|walk|share|confirm|run|rerun|suggest|propose|plan)`
	everything = `(?:anything|(?:any |any of the |any of my )?(?:files?|code)|(?:the|my|our) (?:code|codebase|files|repo|repository|project|workspace))(?: (?:yet|for now|here|please|at all|though|yourself))*`
	changing   = `(?:changing|editing|modifying|touching) ` + everything
	never      = `(?:do not|don't|dont) (?:(?:please|actually|you) )*(?:(?:change|edit|modify|touch|alter|write|fix) ` + everything + `|(?:make|apply) (?:any )?(?:code )?(?:changes|edits|modifications)(?: (?:yet|for now|here|please|at all|to ` + everything + `))*|(?:change|edit|fix|implement|do) it(?: (?:yet|for now|please))*)`
	andTell    = `(?: [,:] (?:(?:but|just|only|and|please) )*(?:` + telling + `|` + wh + `|` + auxiliary + `|i (?:only|just) want)\b.*)?`
)

var (
	// question has a question mark and a question word, or begins as "what does".
	question = pattern(`(?:^` + courtesy + `|[,:\x60] (?:(?:so|and|but|then) )*)(?:(?:(?:in|at|on|for|from|to|by|with|of|under) |any ideas? )?` + wh + `|` + doing + `|` + modal + ` (?:i|the|a|an|this|that|these|those|my|our|your|you (?:please )?(?:explain|(?:tell|show) (?:me|us)|describe|summari[sz]e|clarify)))\b.* \?$|^` + courtesy + wh + `(?: \?$|(?:'s|s)\b| (?:(?:many|much|long|often) )?` + auxiliary + `\b)`)
	// context has what may stand beside a question. Other statements are a report's.
	context = pattern(`^(?:\x60|` + courtesy + `(?:(?:i'm|i am|we're|we are|we use|i use|so|given)\b.*|thank you.*|[^ ]+)?$)`)
	// nothing has the person's own "change nothing", with or without a request to answer.
	nothing = pattern(`^` + courtesy + `(?:(?:but|just) )*(?:` + never + `|without ` + changing + `(?: ,)?)` + andTell + `$` +
		`|^` + courtesy + `(?:(?:can|could) you )?(?:please )?(?:` + telling + `|` + wh + `|` + auxiliary + `)\b.* (?:[,:]|but|and) (?:(?:but|and|please|just) )*(?:` + never + `|no (?:code )?(?:changes|edits)(?: please)?)` + andTell + `$` +
		`|^` + courtesy + `(?:(?:can|could) you )?(?:please )?` + telling + `\b.* without ` + changing + `(?: \?)?$`)
)

// forbidden returns the words by which a prompt forbids all changes: its first or last
// sentence. If it also asks for a change, one of the two was not meant.
func (p said) forbidden() string {
	n := len(p.sentences)
	if n == 0 || p.reports || p.words > longQuestion {
		return ""
	}
	others := said{sentences: slices.DeleteFunc(slices.Clone(p.sentences), nothing().MatchString)}
	if others.find(asks()) != "" {
		return ""
	}
	return said{sentences: []string{p.sentences[0], p.sentences[n-1]}}.find(nothing())
}

func claimsRead(p said) string {
	doubt := func(s string) bool { return !question().MatchString(s) && !context().MatchString(s) }
	if p.words > longQuestion || slices.ContainsFunc(p.sentences, doubt) {
		return ""
	}
	return p.find(question())
}
