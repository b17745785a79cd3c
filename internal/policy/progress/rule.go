package progress

import (
	"cmp"
	"slices"
	"strconv"
)

// facts is a step with what the detector knows of it, computed once for all rules.
type facts struct {
	n      int // the step's number
	s      *Step
	action uint64 // tool and arguments
	key    uint64 // action and result
	result uint64 // of a success
	fault  uint64 // of a failure: its error
	epoch  int    // how many new contents came before
	change int    // and how many edits that may have left one
	// silent: another command, test or edit succeeded without output, or with a
	// short output that was seen before, such as "done".
	silent bool
	// empty: another read or search that found nothing, or failed, or returned
	// a short text that was seen before.
	empty bool
	// fresh: it left a new content. returned: an edit restored an earlier
	// content. renumbered: or the content under another number.
	fresh, returned, renumbered bool
	// unknownEdit: a new edit succeeded, and its content is not known: it counts as new.
	unknownEdit bool
	// probe: a question that was not asked before got an answer that is known from
	// other questions, as in a loop over a list. It is news.
	probe bool
	// moved: a number of the answer went where it never was. It is news.
	moved bool
	// neutral: it shows neither news nor a loop: an edit that only changes the looks,
	// a note, an answer whose ids or times changed, a thought.
	neutral bool
	// recovered: it failed before, since content changed, and now has news.
	recovered bool
	// news: it succeeded with a new result.
	news bool
	// keySeen, resultSeen, faultKnown, editSeen: seen before this step.
	// faultSeen: seen since content last changed.
	keySeen, resultSeen, faultKnown, faultSeen, editSeen bool
	// again: a command that already ran since content last changed.
	again bool
	// unknownResult: it succeeded, and its result is not known: it counts as new.
	unknownResult bool
	// requested: the person asked for this repetition.
	requested bool
	// wait: it waits for something, or checks again after a wait, or is requested.
	wait bool
	// sameMessage: the model's text is the same as in the step before.
	sameMessage bool
	// thoughts is the number of thoughts in a row, including this one.
	thoughts int
	// textOnly: text only. textOrThought: text or thought; no rule about calls sees it.
	textOnly, textOrThought bool
}

// finding is the result of one rule for a step.
type finding struct {
	level Level
	print uint64
	steps []int
	text  string
	soft  bool
}

// scope is an event outside the steps that resets rules.
type scope int

const (
	byPerson  scope = 1 << iota // a person's message: everything starts again
	byContent                   // a new content
	byPhase                     // the model began a new phase
	byCompact                   // the window no longer has what the model read

	byAnyNews = byPerson | byContent | byPhase
)

// rule is one way of being stuck.
type rule struct {
	name string
	judge
	// each: it sees every call of a reply. The others see one call for each reply, since
	// the model saw nothing between the calls of one.
	each    bool
	resetBy scope
	ends    string // what ends its finding, if that is not new content
}

// judge sees every step in order and keeps a state of limited size.
type judge interface {
	apply(d *Detector, f *facts) finding
	reset(s scope)
}

// newRules returns every rule. If two report at the same level, the first one
// wins, so more specific rules come first.
func newRules() []*rule {
	const (
		anotherResult = "another result, a new phase, or a word from the person"
		anotherStep   = "another step than these, or a word from the person"
	)
	return []*rule{
		{name: "identical", judge: &identical{}, resetBy: byAnyNews},
		{name: "cycle", judge: &cycle{}, resetBy: byAnyNews},
		{name: "sterile", judge: &sterile{}, resetBy: byAnyNews},
		{name: "same_error", judge: &sameError{}, resetBy: byAnyNews, ends: anotherResult},
		{name: "varied_error", judge: &variedError{}, resetBy: byAnyNews, ends: anotherResult},
		{name: "reapplied", judge: &reapplied{}, each: true, resetBy: byPerson | byContent},
		{name: "oscillation", judge: &oscillation{}, each: true, resetBy: byPerson, ends: anotherStep},
		{name: "repeated", judge: &repeated{}, each: true, resetBy: byAnyNews},
		{name: "same_failure", judge: &sameFailure{}, each: true, resetBy: byPerson | byPhase, ends: "another outcome of that check, a new phase, or a word from the person"},
		{name: "message", judge: &message{}, resetBy: byPerson, ends: anotherStep},
		{name: "failed_edit", judge: &failedEdit{seen: memo[tail]{limit: 256}}, each: true, resetBy: byAnyNews},
		{name: "waiting", judge: &waiting{}, resetBy: byPerson | byContent, ends: "any change in what is waited for, or a word from the person"},
		{name: "staleness", judge: &staleness{}, resetBy: byAnyNews},
	}
}

// found returns what the rule found as a verdict.
func (r *rule) found(x finding) Finding {
	return Finding{
		Level: x.level, Rule: r.name, Fingerprint: fingerprint(r.name, x.print), Steps: x.steps, Text: x.text, Soft: x.soft,
		Ends: cmp.Or(r.ends, "new content of a file, an answer that was not there before, or a word from the person"),
	}
}

// The names of the verdicts that do not come from a step.
const (
	streamRule  = "stream"
	compactRule = "compaction"
)

func ruleNames() []string {
	var out []string
	for _, r := range newRules() {
		out = append(out, r.name)
	}
	return append(out, streamRule, compactRule)
}

func (c *Config) enabled(name string) bool { return c.Enable && !slices.Contains(c.Off, name) }

// fingerprint names a loop: the rule and its subject.
func fingerprint(rule string, about uint64) string {
	return rule + ":" + strconv.FormatUint(about, 16)
}

// tail keeps the numbers of the newest steps of a streak.
type tail struct {
	steps [16]int
	n     int
}

func (t *tail) add(step int) { t.steps[t.n%len(t.steps)] = step; t.n++ }

func (t *tail) list() []int {
	k := min(t.n, len(t.steps))
	out := make([]int, 0, k)
	for i := t.n - k; i < t.n; i++ {
		out = append(out, t.steps[i%len(t.steps)])
	}
	return out
}

// streak counts equal values in a row.
type streak struct {
	what uint64
	tail tail
}

// add adds a value and returns how many equal ones there are in a row.
func (k *streak) add(what uint64, step int) int {
	if k.tail.n == 0 || k.what != what {
		*k = streak{what: what}
	}
	k.tail.add(step)
	return k.tail.n
}
