package chat

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// Form is an open question while it is being answered: what is asked at the
// moment, the possible answers, and what an answer means. Several calls are
// asked about at once. After "one by one" each call is asked about separately,
// each answer counts, and a plain No cancels the calls after it (SPEC 4.7,
// 18.3). Form draws nothing and is for one goroutine.
type Form struct {
	q        Question
	edits    func() bool // reports whether the mode in force asks for no edit
	mode     string
	at       int // the call in question; all: all at once
	verdicts []event.Verdict
	text     string
}

const all = -1

// Choice is an answer that a form accepts at the moment.
type Choice struct {
	Key  string // y, e, s, a, o, d, n, or the number of an option
	Text string // such as "yes once"
	// Rule is what it allows from then on, "" if it allows only the call in question.
	Rule string
	Why  bool // a reason for the model may follow
}

// The keys of choices.
const (
	Yes          = "y"
	AllEdits     = "e" // changes the mode
	ForSession   = "s"
	ForAlways    = "a"
	OneByOne     = "o"
	WholeDiff    = "d" // shows more, and answers nothing
	NoAndPerhaps = "n" // with or without a reason
)

// Heard is the effect of an answer.
type Heard string

// The effects of answers.
const (
	Complete   Heard = "complete"   // Answer has the whole answer
	AsksNext   Heard = "next"       // the next call is in question
	ShowsWhole Heard = "whole"      // the diffs are to be shown whole
	IsCommand  Heard = "command"    // a slash command, for Conversation.Enter, not an answer
	NotHeard   Heard = "not heard"  // it is not one of the choices
	ModeNow    Heard = "mode"       // AsksNext, and the mode changes now: see Mode
	ModeAndAll Heard = "mode, done" // Complete, and the mode changes now
)

// LongDiff is how many lines of a diff are shown before a person asks for all.
// Commands and arguments are always shown completely.
const LongDiff = 60

// Long reports whether the preview is a diff that is shown only in part, from its
// beginning. The counts in its title are those of the whole diff.
func (q Consent) Long() bool {
	return q.Diff && strings.Count(q.Preview, "\n") > LongDiff+LongDiff/4
}

// Ask begins to ask a question of this conversation.
func (c *Conversation) Ask(q Question) *Form {
	return newForm(q, func() bool {
		switch s := c.Session(); {
		case s == nil:
			return false
		default:
			return permitsEdits(s.View().Mode())
		}
	})
}

func permitsEdits(m permission.Mode) bool {
	return m == permission.AcceptEdits || m == permission.Auto || m == permission.Yolo
}

func newForm(q Question, edits func() bool) *Form {
	f := &Form{q: q, edits: edits, at: all}
	if len(q.Calls) == 1 {
		f.at = 0
	}
	return f
}

// Question returns the form's question.
func (f *Form) Question() Question { return f.q }

// Calls returns the calls in question: all, or one. There are none for a
// question that expects text.
func (f *Form) Calls() []Consent {
	if f.at == all || len(f.q.Calls) == 0 {
		return f.q.Calls
	}
	return f.q.Calls[f.at : f.at+1]
}

// Place returns the position of the call in question, counted from 1; 0 for all.
func (f *Form) Place() int { return f.at + 1 }

// Mode returns the permission mode to change to, after ModeNow or ModeAndAll.
func (f *Form) Mode() string { return f.mode }

// Answer returns the whole answer, after Complete.
func (f *Form) Answer() Answered { return Answered{Text: f.text, Verdicts: f.verdicts} }

// Choices returns the possible answers, in the order to show them. For a
// question that expects text, any other text is an answer too.
func (f *Form) Choices() []Choice {
	calls := f.Calls()
	var out []Choice
	for i, o := range f.q.Options {
		out = append(out, Choice{Key: strconv.Itoa(i + 1), Text: o})
	}
	if len(calls) == 0 {
		return out
	}
	edits := slices.ContainsFunc(calls, func(q Consent) bool { return q.Edits })
	onward := Choice{Key: AllEdits, Text: "edits from now on"}
	if f.at == all {
		if slices.ContainsFunc(calls, Consent.Long) {
			out = append(out, Choice{Key: WholeDiff, Text: "diffs whole"})
		}
		out = append(out, Choice{Key: Yes, Text: "yes once"}, Choice{Key: OneByOne, Text: "one by one"})
		if edits {
			out = append(out, onward)
		}
	} else {
		q := calls[0]
		out = append(out, Choice{Key: Yes, Text: "yes once"})
		if edits {
			out = append(out, onward)
		}
		if q.Rule != "" {
			out = append(out, Choice{Key: ForSession, Text: "session", Rule: q.Rule})
			if q.Always {
				out = append(out, Choice{Key: ForAlways, Text: "always", Rule: q.Rule})
			}
		}
		if q.Long() {
			out = append(out, Choice{Key: WholeDiff, Text: "diff whole"})
		}
	}
	return append(out, Choice{Key: NoAndPerhaps, Text: "no, or no and why", Why: true})
}

// Accepts reports whether a key is one of the choices.
func (f *Form) Accepts(key string) bool {
	return slices.ContainsFunc(f.Choices(), func(c Choice) bool { return c.Key == key })
}

// Prompt returns the choices in one line.
func (f *Form) Prompt() string {
	switch {
	case f.q.Why == AskedByCommand:
		return f.q.Text
	case len(f.q.Calls) == 0 && len(f.q.Options) > 0:
		return "answer (a number, or your own words): "
	case len(f.q.Calls) == 0:
		return "answer: "
	}
	prompt := "allow? "
	if f.at == all {
		prompt = fmt.Sprintf("allow all %d? ", len(f.q.Calls))
	}
	var words []string
	for _, c := range f.Choices() {
		words = append(words, "["+c.Key+"]"+strings.TrimPrefix(c.Text, c.Key))
	}
	return prompt + strings.Join(words, ", ") + ": "
}

// Please describes the possible answers, after an invalid one.
func (f *Form) Please() string {
	var keys []string
	for _, c := range f.Choices() {
		keys = append(keys, c.Key)
	}
	last := len(keys) - 1
	return "please answer " + strings.Join(keys[:last], ", ") + " or " + keys[last] + "; after n you may say why"
}

// Allows returns what the choices of a call allow from then on, "" for nothing.
func (f *Form) Allows() string {
	calls := f.Calls()
	if f.at == all || len(calls) == 0 || calls[0].Rule == "" {
		return ""
	}
	out := "s allows " + calls[0].Rule + " for this session"
	if calls[0].Always {
		out += ", a for always"
	}
	if calls[0].Edits {
		out += "; e changes to the mode accept-edits"
	}
	return out
}

// Refresh skips the edits that the present mode does not ask about any more,
// and reports whether that answers everything. A slash command during the
// question may have changed the mode.
func (f *Form) Refresh() Heard {
	if len(f.q.Calls) == 0 || !f.permits() {
		return AsksNext
	}
	if f.at == all {
		f.at = 0
	}
	return f.pass()
}

func (f *Form) permits() bool { return f.mode != "" || f.edits() }

// pass answers for the edits that are not asked about any more.
func (f *Form) pass() Heard {
	for ; f.at < len(f.q.Calls); f.at++ {
		q := f.q.Calls[f.at]
		if !q.Edits || !f.permits() {
			return AsksNext
		}
		f.verdicts = append(f.verdicts, event.Verdict{Call: q.Call, Scope: event.Once})
	}
	f.at = len(f.q.Calls) - 1
	return Complete
}

// Choose handles a pressed choice; why is the text after a no.
func (f *Form) Choose(key, why string) Heard {
	if !f.Accepts(key) {
		return NotHeard
	}
	if len(f.q.Calls) == 0 {
		n, _ := strconv.Atoi(key) // it is one of the choices
		f.text = f.q.Options[n-1]
		return Complete
	}
	scope := map[string]event.Scope{Yes: event.Once, ForSession: event.Session, ForAlways: event.Always, NoAndPerhaps: event.No}[key]
	switch key {
	case WholeDiff:
		return ShowsWhole
	case OneByOne:
		f.at = 0
		return f.pass()
	case AllEdits:
		f.mode = string(permission.AcceptEdits)
		if f.Refresh() == Complete {
			return ModeAndAll
		}
		return ModeNow
	}
	if f.at == all {
		f.rest(0, scope, why)
		return Complete
	}
	f.verdicts = append(f.verdicts, event.Verdict{Call: f.q.Calls[f.at].Call, Scope: scope, Why: why})
	f.at++
	if scope == event.No && why == "" {
		f.rest(f.at, event.No, "")
		f.at = len(f.q.Calls) - 1
		return Complete
	}
	return f.pass()
}

func (f *Form) rest(from int, scope event.Scope, why string) {
	for _, q := range f.q.Calls[from:] {
		f.verdicts = append(f.verdicts, event.Verdict{Call: q.Call, Scope: scope, Why: why})
	}
}

// Read handles a typed answer. Enter alone allows nothing.
func (f *Form) Read(in string) Heard {
	in = strings.TrimSpace(in)
	if f.q.Why == AskedByCommand {
		f.text = in
		return Complete
	}
	if _, _, ok := slash.Parse(in); ok {
		return IsCommand
	}
	if len(f.q.Calls) == 0 {
		switch h := f.Choose(in, ""); {
		case h == Complete:
			return h
		case in == "":
			return NotHeard
		}
		f.text = in
		return Complete
	}
	switch word := strings.ToLower(in); word {
	case "o", "one", "one by one":
		return f.Choose(OneByOne, "")
	case "d":
		return f.Choose(WholeDiff, "")
	}
	scope, why := meaning(in)
	keys := map[event.Scope]string{event.Once: Yes, event.Session: ForSession, event.Always: ForAlways, event.No: NoAndPerhaps, Edits: AllEdits}
	return f.Choose(keys[scope], why)
}
