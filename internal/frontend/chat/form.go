package chat

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/choice"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// Form is an open question while it is being answered: the calls in question, the
// choices, and what an answer means. Several calls are
// asked about at once. After "one by one" each call is asked about separately,
// each answer counts, and a plain No cancels the calls after it (SPEC 4.7,
// 18.3). Form draws nothing and is for one goroutine.
type Form struct {
	q            Question
	editsAllowed func() bool // reports whether the mode allows edits unasked
	mode         string
	current      int // index of the call in question; all: all at once
	verdicts     []event.Verdict
	text         string
	missed       int // lines that were no answer
}

const all = -1

// Choice is an answer that a form accepts.
type Choice struct {
	Key  string // y, e, s, a, o, d, n, or the number of an option
	Text string // such as "yes"
	// Covers is what it allows from then on, "" if it allows only the call in question.
	Covers string
	Typed  bool // words may follow: why, or the answer itself
}

// The keys of choices.
const (
	Yes        = "y"
	AllEdits   = "e" // changes the mode
	ForSession = "s"
	ForAlways  = "a"
	OneByOne   = "o"
	WholeDiff  = "d" // shows more, and answers nothing
	No         = "n" // with or without a reason
	Never      = "x" // no, and its rule is denied for this session; for frontends that offer it
)

// Effect is what an answer leads to.
type Effect string

// The effects of answers.
const (
	Complete        Effect = "complete"   // Answer has the whole answer
	NextCall        Effect = "next"       // the next call is asked about
	ShowDiffs       Effect = "whole"      // the diffs are to be shown whole
	SlashCommand    Effect = "command"    // a slash command, for Conversation.Enter, not an answer
	NotAnswer       Effect = "not heard"  // none of the choices
	ChangeMode      Effect = "mode"       // as NextCall, and the permission mode changes to Form.Mode
	CompleteAndMode Effect = "mode, done" // as Complete, and the permission mode changes to Form.Mode
)

// LongDiff is how many lines of a diff are shown before a person asks for all.
// Commands and arguments are always shown completely.
const LongDiff = 60

// Long reports whether the preview is a diff that is shown only in part, from its
// beginning. The counts in its title are those of the whole diff.
func (q Consent) Long() bool {
	return q.Diff && strings.Count(q.Preview, "\n") > LongDiff+LongDiff/4
}

// Ask returns the form for a question of this conversation.
func (c *Conversation) Ask(q Question) *Form {
	return newForm(q, func() bool {
		switch s := c.Session(); {
		case s == nil:
			return false
		default:
			return s.View().Mode().Edits()
		}
	})
}

func newForm(q Question, edits func() bool) *Form {
	f := &Form{q: q, editsAllowed: edits, current: all}
	if len(q.Calls) == 1 {
		f.current = 0
	}
	return f
}

// Question returns the form's question.
func (f *Form) Question() Question { return f.q }

// Calls returns the calls in question: all, or one. There are none for a
// question that expects text.
func (f *Form) Calls() []Consent {
	if f.current == all || len(f.q.Calls) == 0 {
		return f.q.Calls
	}
	return f.q.Calls[f.current : f.current+1]
}

// Position returns the position of the call in question, counted from 1; 0 for all.
func (f *Form) Position() int { return f.current + 1 }

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
	for _, o := range f.q.Answers {
		out = append(out, Choice{Key: o.Key, Text: o.Text, Typed: o.Typed})
	}
	if len(calls) == 0 {
		return out
	}
	edits := slices.ContainsFunc(calls, func(q Consent) bool { return q.Edits })
	onward := Choice{Key: AllEdits, Text: "yes, and all edits from now on"}
	if f.current == all {
		if slices.ContainsFunc(calls, Consent.Long) {
			out = append(out, Choice{Key: WholeDiff, Text: "diffs whole"})
		}
		out = append(out, Choice{Key: Yes, Text: "yes"}, Choice{Key: OneByOne, Text: "one by one"})
		if edits {
			out = append(out, onward)
		}
	} else {
		q := calls[0]
		out = append(out, Choice{Key: Yes, Text: "yes"})
		if edits {
			out = append(out, onward)
		}
		if q.Rule != "" {
			out = append(out, Choice{Key: ForSession, Text: "yes, for this session", Covers: permission.InWords(q.Rule)})
			if q.Always {
				out = append(out, Choice{Key: ForAlways, Text: "yes, always", Covers: permission.InWords(q.Rule)})
			}
		}
		if q.Long() {
			out = append(out, Choice{Key: WholeDiff, Text: "diff whole"})
		}
	}
	return append(out, Choice{Key: No, Text: "no, and what to do instead", Typed: true})
}

func (f *Form) Choice(key string) (c Choice, ok bool) {
	all := f.Choices()
	if i := slices.IndexFunc(all, func(c Choice) bool { return c.Key == key }); i >= 0 {
		return all[i], true
	}
	return c, false
}

// Accepts reports whether a key is one of the choices.
func (f *Form) Accepts(key string) bool {
	if key == Never {
		return f.Denies() != ""
	}
	_, ok := f.Choice(key)
	return ok
}

// Prompt returns the choices in one line.
func (f *Form) Prompt() string {
	switch {
	case len(f.q.Answers) > 0:
		return choice.Prompt(f.q.Text, f.q.Answers)
	case f.q.Why == AskedByCommand:
		return f.q.Text
	case len(f.q.Calls) == 0 && len(f.q.Options) > 0:
		return "answer (a number, or your own words): "
	case len(f.q.Calls) == 0:
		return "answer: "
	}
	prompt := "allow?"
	if f.current == all {
		prompt = fmt.Sprintf("allow all %d?", len(f.q.Calls))
	}
	return choice.Prompt(prompt, f.options())
}

// Help describes the possible answers, after an invalid one.
func (f *Form) Help() string {
	if len(f.q.Answers) > 0 {
		return "please answer " + choice.Keys(f.q.Answers)
	}
	options := f.options()
	options[len(options)-1].Typed = false // it may also be answered by its letter
	return "please answer " + choice.Keys(options) + "; after n, you can add why"
}

func (f *Form) options() (out []choice.Option) {
	for _, c := range f.Choices() {
		out = append(out, choice.Option{Key: c.Key, Text: c.Text, Typed: c.Typed})
	}
	return out
}

// Allows returns what the choices of a call allow from then on, "" for nothing.
func (f *Form) Allows() string {
	calls := f.Calls()
	if f.current == all || len(calls) == 0 || calls[0].Rule == "" {
		return ""
	}
	out := "s allows " + permission.InWords(calls[0].Rule) + " for this session"
	if calls[0].Always {
		out += ", a for always"
	}
	if calls[0].Edits {
		out += "; e changes to the mode " + string(permission.Default(true).Editing())
	}
	return out
}

// Denies returns what Never denies from then on, "" if it cannot be chosen.
func (f *Form) Denies() string {
	if calls := f.Calls(); f.current != all && len(calls) > 0 {
		return permission.InWords(calls[0].Rule)
	}
	return ""
}

// Refresh allows the edits that the present mode does not ask about any more: a
// slash command during the question may have changed the mode. It returns
// Complete if that answers everything, else NextCall.
func (f *Form) Refresh() Effect {
	if len(f.q.Calls) == 0 || !f.skipsEdits() {
		return NextCall
	}
	if f.current == all {
		f.current = 0
	}
	return f.skipEdits()
}

func (f *Form) skipsEdits() bool { return f.mode != "" || f.editsAllowed() }

// skipEdits allows the edits, from the call in question on, that are not asked about any
// more.
func (f *Form) skipEdits() Effect {
	for ; f.current < len(f.q.Calls); f.current++ {
		q := f.q.Calls[f.current]
		if !q.Edits || !f.skipsEdits() {
			return NextCall
		}
		f.verdicts = append(f.verdicts, event.Verdict{Call: q.Call, Scope: event.Once})
	}
	f.current = len(f.q.Calls) - 1
	return Complete
}

// Choose handles a pressed choice; why is the text after a no.
func (f *Form) Choose(key, why string) Effect {
	if !f.Accepts(key) {
		return NotAnswer
	}
	if c, _ := f.Choice(key); len(f.q.Answers) > 0 {
		if f.text = key; c.Typed {
			f.text = strings.TrimSpace(why)
		}
		if f.text == "" {
			return NotAnswer
		}
		return Complete
	}
	if len(f.q.Calls) == 0 {
		n, _ := strconv.Atoi(key) // it is one of the choices
		f.text = f.q.Options[n-1]
		return Complete
	}
	scope := map[string]event.Scope{Yes: event.Once, ForSession: event.Session, ForAlways: event.Always, No: event.No, Never: event.Never}[key]
	switch key {
	case WholeDiff:
		return ShowDiffs
	case OneByOne:
		f.current = 0
		return f.skipEdits()
	case AllEdits:
		f.mode = string(permission.Default(true).Editing())
		if f.Refresh() == Complete {
			return CompleteAndMode
		}
		return ChangeMode
	}
	if f.current == all {
		f.answerRest(0, scope, why)
		return Complete
	}
	f.verdicts = append(f.verdicts, event.Verdict{Call: f.q.Calls[f.current].Call, Scope: scope, Why: why})
	f.current++
	if scope == event.No && why == "" {
		f.answerRest(f.current, event.No, "")
		f.current = len(f.q.Calls) - 1
		return Complete
	}
	return f.skipEdits()
}

func (f *Form) answerRest(from int, scope event.Scope, why string) {
	for _, q := range f.q.Calls[from:] {
		f.verdicts = append(f.verdicts, event.Verdict{Call: q.Call, Scope: scope, Why: why})
	}
}

// Read handles a typed answer. Enter alone allows nothing.
func (f *Form) Read(in string) Effect {
	in = strings.TrimSpace(in)
	if f.q.Why == AskedByCommand {
		f.text = in
		if answer, ok := choice.Read(in, f.q.Answers); ok {
			f.text = answer
		} else if f.missed++; len(f.q.Answers) > 0 && f.missed < choice.Tries {
			return NotAnswer
		} else if len(f.q.Answers) > 0 {
			f.text = ""
		}
		return Complete
	}
	if _, _, ok := slash.Parse(in); ok {
		return SlashCommand
	}
	if len(f.q.Calls) == 0 {
		switch h := f.Choose(in, ""); {
		case h == Complete:
			return h
		case in == "":
			return NotAnswer
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
	scope, why := parseAnswer(in)
	keys := map[event.Scope]string{event.Once: Yes, event.Session: ForSession, event.Always: ForAlways, event.No: No, Edits: AllEdits}
	return f.Choose(keys[scope], why)
}
