package route

import (
	"slices"
	"sync"
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
	wh        = "why|what|how|where|who|whose|whom|which|when"
	doing     = "is|are|was|were|am|do|does|did|has|have|had"
	modal     = "can|could|should|would|will|may"
	auxiliary = doing + "|" + modal
	telling   = "explain|tell|describe|show|list|find|look|review|analyse|analyze|summarise|summarize|investigate|check|answer|give|clarify|help|advise|point|walk|share|confirm|run|rerun|suggest|propose|plan"
	mark      = ",|:"
)

// courtesy has the words before what somebody says.
var courtesy = many(seq(one("hi|hello|hey|ok|okay|so|well|also|and|then|now|just|please|quick question|thanks|there|all|everyone"), maybe(one(mark))))

// question is a sentence that asks: it has a question mark and a question word, or begins as
// "what does".
var question = sync.OnceValue(func() phrase {
	about := seq(maybe(one("in|at|on|for|from|to|by|with|of|under|any idea|any ideas")), head(wh))
	explain := seq(one("you"), maybe(one("please")), head("explain|tell me|tell us|show me|show us|describe|summarise|summarize|clarify"))
	whose := either(head("i|the|a|an|this|that|these|those|my|our|your"), explain)
	return either(
		seq(either(seq(begin, courtesy), seq(one(mark+"|`"), many(one("so|and|but|then")))), either(about, head(doing), seq(one(modal), whose)), asking),
		seq(begin, courtesy, either(
			seq(one(wh), one("?"), end),
			one("why's|whys|what's|whats|how's|hows|where's|wheres|who's|whos|which's|when's|whens"),
			seq(one(wh), maybe(one("many|much|long|often")), head(auxiliary)))),
	)
})

// context may stand beside a question. Other statements are a report's.
var context = sync.OnceValue(func() phrase {
	who := seq(head("i'm|i am|we're|we are|we use|i use|so|given|thank you"), skip)
	return seq(begin, either(seq(one("`"), skip), seq(courtesy, maybe(either(who, word)))), end)
})

// nothing is the person's own "change nothing", with or without a request to answer.
var nothing = sync.OnceValue(func() phrase {
	later := "yet|for now|here|please|at all"
	all := either(one("anything"), seq(maybe(one("any|any of the|any of my")), one("file|files|code")),
		seq(one("the|my|our"), one("code|codebase|files|repo|repository|project|workspace")))
	everything := seq(all, many(one(later+"|though|yourself")))
	changing := seq(one("changing|editing|modifying|touching"), everything)
	never := seq(one("do not|don't|dont"), many(one("please|actually|you")), either(
		seq(one("change|edit|modify|touch|alter|write|fix"), everything),
		seq(one("make|apply"), maybe(one("any")), maybe(one("code")), one("changes|edits|modifications"), many(either(one(later), seq(one("to"), everything)))),
		seq(one("change it|edit it|fix it|implement it|do it"), many(one("yet|for now|please")))))
	andTell := seq(maybe(seq(one(mark), many(one("but|just|only|and|please")), either(head(telling+"|"+wh+"|"+auxiliary), one("i only want|i just want")), skip)), end)
	opening := seq(begin, courtesy, maybe(one("can you|could you")), maybe(one("please")))
	return either(
		seq(begin, courtesy, many(one("but|just")), either(never, seq(one("without"), changing, maybe(one(",")))), andTell),
		seq(opening, head(telling+"|"+wh+"|"+auxiliary), skip, one(mark+"|but|and"), many(one("but|and|please|just")),
			either(never, seq(one("no"), maybe(one("code")), one("changes|edits"), maybe(one("please")))), andTell),
		seq(opening, head(telling), skip, one("without"), changing, maybe(one("?")), end),
	)
})

// forbidden returns the words by which a prompt forbids all changes: its first or last
// sentence. If it also asks for a change, one of the two was not meant.
func (p said) forbidden() string {
	n := len(p.sentences)
	if n == 0 || p.reports || p.words > longQuestion {
		return ""
	}
	others := said{sentences: slices.DeleteFunc(slices.Clone(p.sentences), func(s sentence) bool { return s.has(nothing()) })}
	if others.find(asks()) != "" {
		return ""
	}
	return said{sentences: []sentence{p.sentences[0], p.sentences[n-1]}}.find(nothing())
}

func claimsRead(p said) string {
	doubt := func(s sentence) bool { return !s.has(question()) && !s.has(context()) }
	if p.words > longQuestion || slices.ContainsFunc(p.sentences, doubt) {
		return ""
	}
	return p.find(question())
}
