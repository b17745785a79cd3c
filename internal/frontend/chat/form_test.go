package chat

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// SPEC 4.7, 18.3: what each answer of a question means, and that it stands.
func TestForm(t *testing.T) {
	run := Consent{Call: "a", Tool: "bash", Title: "bash ls", Rule: "bash(ls *)", Always: true}
	edit := Consent{Call: "b", Tool: "edit", Title: "edit x.go", Rule: "edit(x.go)", Edits: true}
	bare := Consent{Call: "c", Tool: "x", Title: "x"}
	v := func(call string, scope event.Scope, why ...string) event.Verdict {
		return event.Verdict{Call: call, Scope: scope, Why: append(why, "")[0]}
	}
	type in struct {
		text string
		want Effect
	}
	for name, c := range map[string]struct {
		calls  []Consent
		allows bool // the mode in force does not ask for edits
		in     []in
		want   []event.Verdict
		mode   string
	}{
		"yes":                  {[]Consent{run}, false, []in{{"y", Complete}}, []event.Verdict{v("a", event.Once)}, ""},
		"Enter allows nothing": {[]Consent{run}, false, []in{{"", NotAnswer}, {"ok", NotAnswer}, {"x", NotAnswer}, {"yes but", NotAnswer}}, nil, ""},
		"session":              {[]Consent{run}, false, []in{{"session", Complete}}, []event.Verdict{v("a", event.Session)}, ""},
		"always":               {[]Consent{run}, false, []in{{"A", Complete}}, []event.Verdict{v("a", event.Always)}, ""},
		"not always":           {[]Consent{edit}, false, []in{{"a", NotAnswer}, {"s", Complete}}, []event.Verdict{v("b", event.Session)}, ""},
		"no rule":              {[]Consent{bare}, false, []in{{"s", NotAnswer}, {"a", NotAnswer}, {"e", NotAnswer}, {"o", NotAnswer}, {"d", NotAnswer}, {"n", Complete}}, []event.Verdict{v("c", event.No)}, ""},
		"no and why":           {[]Consent{run}, false, []in{{"no, use make", Complete}}, []event.Verdict{v("a", event.No, "use make")}, ""},
		"why alone":            {[]Consent{run}, false, []in{{"use make instead", Complete}}, []event.Verdict{v("a", event.No, "use make instead")}, ""},
		"a command":            {[]Consent{run}, false, []in{{"/mode auto", SlashCommand}}, nil, ""},
		"edits":                {[]Consent{edit}, false, []in{{"e", CompleteAndMode}}, []event.Verdict{v("b", event.Once)}, "accept-edits"},
		"all":                  {[]Consent{run, edit}, false, []in{{"s", NotAnswer}, {"y", Complete}}, []event.Verdict{v("a", event.Once), v("b", event.Once)}, ""},
		"none":                 {[]Consent{run, edit}, false, []in{{"n not now", Complete}}, []event.Verdict{v("a", event.No, "not now"), v("b", event.No, "not now")}, ""},
		"one by one": {
			[]Consent{run, edit, bare}, false, []in{{"o", NextCall}, {"s", NextCall}, {"no why", NextCall}, {"y", Complete}},
			[]event.Verdict{v("a", event.Session), v("b", event.No, "why"), v("c", event.Once)}, "",
		},
		"a plain no cancels the rest": {
			[]Consent{run, edit, bare}, false, []in{{"one by one", NextCall}, {"y", NextCall}, {"n", Complete}},
			[]event.Verdict{v("a", event.Once), v("b", event.No), v("c", event.No)}, "",
		},
		"edits among others": {
			[]Consent{edit, run, edit}, false, []in{{"e", ChangeMode}, {"y", Complete}},
			[]event.Verdict{v("b", event.Once), v("a", event.Once), v("b", event.Once)}, "accept-edits",
		},
		"edits are allowed meanwhile": {
			[]Consent{run, edit}, true, []in{{"o", NextCall}, {"y", Complete}},
			[]event.Verdict{v("a", event.Once), v("b", event.Once)}, "",
		},
	} {
		f := newForm(Question{ID: "q", Calls: c.calls}, func() bool { return c.allows })
		for _, i := range c.in {
			if got := f.Read(i.text); got != i.want {
				t.Errorf("%s: %q is %s, want %s", name, i.text, got, i.want)
			}
		}
		if d := cmp.Diff(c.want, f.Answer().Verdicts); d != "" || f.Mode() != c.mode {
			t.Errorf("%s: mode %q (-want +got):\n%s", name, f.Mode(), d)
		}
	}
}

// SPEC 4.7: the answers say in words exactly what each allows.
func TestChoices(t *testing.T) {
	for name, c := range map[string]struct {
		q              Question
		prompt, allows string
	}{
		"one": {
			Question{Calls: []Consent{{Rule: "bash(ls *)", Always: true}}},
			"allow? [y]es, [s] yes, for this session, [a] yes, always, [n]o, and what to do instead: ", "s allows commands that begin with `ls` for this session, a for always",
		},
		"an edit": {
			Question{Calls: []Consent{{Rule: "edit(x)", Edits: true}}},
			"allow? [y]es, [e] yes, and all edits from now on, [s] yes, for this session, [n]o, and what to do instead: ", "s allows edits in x for this session; e changes to the mode accept-edits",
		},
		"several": {Question{Calls: []Consent{{Rule: "bash(ls *)"}, {Edits: true}}}, "allow all 2? [y]es, [o]ne by one, [e] yes, and all edits from now on, [n]o, and what to do instead: ", ""},
		"options": {Question{Options: []string{"a", "b"}}, "answer (a number, or your own words): ", ""},
		"words":   {Question{}, "answer: ", ""},
	} {
		f := newForm(c.q, func() bool { return false })
		if f.Prompt() != c.prompt || f.Allows() != c.allows {
			t.Errorf("%s: %q %q", name, f.Prompt(), f.Allows())
		}
		if f.Denies() != "" && len(c.q.Calls) != 1 {
			t.Errorf("%s: never is for %s alone", name, f.Denies())
		}
		for _, ch := range f.Choices() {
			if ch.Covers != "" && ch.Covers != permission.InWords(c.q.Calls[0].Rule) {
				t.Errorf("%s: %+v", name, ch)
			}
		}
	}
	for in, want := range map[string]string{"2": "b", "b, I think": "b, I think", "3": "3"} {
		f := newForm(Question{Options: []string{"a", "b"}}, nil)
		if h := f.Read(in); h != Complete || f.Answer().Text != want {
			t.Errorf("%q is %s %q", in, h, f.Answer().Text)
		}
	}
}

// SPEC 18.4: neither Enter alone nor a slash command is the text that a question wants.
func TestWhatIsNoText(t *testing.T) {
	f := newForm(Question{ID: "q", Text: "Which port?"}, func() bool { return false })
	for in, want := range map[string]Effect{"": NotAnswer, "  ": NotAnswer, "/mode auto": SlashCommand} {
		if got := f.Read(in); got != want || f.Answer().Text != "" {
			t.Errorf("%q is %s: %q", in, got, f.Answer().Text)
		}
	}
	if got := f.Read("8642"); got != Complete || f.Answer().Text != "8642" {
		t.Errorf("%s: %q", got, f.Answer().Text)
	}
}
