package progress

import (
	"slices"
	"strconv"
)

// facts is a step and what the detector knows of it, worked out once for all
// rules.
type facts struct {
	n      int // the step's number
	s      *Step
	action uint64 // tool and arguments
	key    uint64 // action and result
	result uint64 // of a success
	fault  uint64 // of a failure: its error
	epoch  int    // how many never-seen contents came before
	change int    // and how many edits that may have left one
	// silent: another command, test or edit succeeded without a word, or with a few
	// that came before, such as "done".
	silent bool
	// empty: another look that found nothing, or failed, or said in a few words
	// what was said before: that is an answer too.
	empty bool
	// fresh: it left a content never seen before. returned: an edit left what was
	// there before. copied: or what is there under another number.
	fresh, returned, copied bool
	// written: an edit never made before succeeded, and its content is not known:
	// the best is assumed.
	written bool
	// through: it failed before, since content changed, and now brings news.
	through bool
	// news: it succeeded with a result never seen before.
	news bool
	// keySeen, resultSeen, faultKnown, editSeen: before this step. faultSeen:
	// and since content last changed.
	keySeen, resultSeen, faultKnown, faultSeen, editSeen bool
	// again: a command that ran before, and not since content last changed.
	again bool
	// unseen: it succeeded, and what it brought is not known: the best is
	// assumed.
	unseen bool
	// wanted: the person asked for it to be repeated.
	wanted bool
	// wait: it waits for something, or looks again after a wait, or is wanted.
	wait bool
	// echo: the model said the same, word for word, with the step before.
	echo bool
	// thoughts is how many thoughts came in a row, this one included.
	thoughts int
	// prose: words only. light: prose or thought; no rule on calls sees it.
	prose, light bool
}

// finding is the result of one rule for a step.
type finding struct {
	level Level
	print uint64
	steps []int
	text  string
	soft  bool
}

// scope is what happened outside the steps.
type scope int

const (
	byPerson  scope = iota // a person's message: all is new
	byContent              // a content never seen before
	byPhase                // the model began a phase never seen before
	byCompact              // the model no longer has what it read
)

// rule is one way of being stuck. It sees every step in order and keeps state
// of bounded size.
type rule interface {
	name() string
	apply(d *Detector, f *facts) finding
	reset(s scope)
}

// newRules returns every rule. Where two speak at the same level, the first one
// is heard: the more that a rule knows of what goes wrong, the earlier.
func newRules() []rule {
	return []rule{
		&identical{}, &cycle{}, &sterile{},
		&sameError{}, &variedError{}, &reapplied{}, &oscillation{}, &repeated{}, &sameFailure{}, &message{},
		&failedEdit{seen: memo[tail]{limit: 256}}, &waiting{},
		&staleness{},
	}
}

// The names of the verdicts that come from elsewhere than a step.
const (
	streamRule  = "stream"
	compactRule = "compaction"
)

// Rules lists the names of all rules.
func Rules() []string {
	var out []string
	for _, r := range newRules() {
		out = append(out, r.name())
	}
	return append(out, streamRule, compactRule)
}

func (c *Config) on(name string) bool { return c.Enable && !slices.Contains(c.Off, name) }

// fingerprint names a loop: the rule and what it is about.
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

// add takes a value and returns how many of it came in a row.
func (k *streak) add(what uint64, step int) int {
	if k.tail.n == 0 || k.what != what {
		*k = streak{what: what}
	}
	k.tail.add(step)
	return k.tail.n
}
