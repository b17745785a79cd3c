package progress

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/policy/normalize"
)

// record is what is kept of a call for messages.
type record struct {
	step    int
	c       call
	tool    string
	ok      bool
	outcome event.Outcome
	said    string // the result, cut
	changed []string
	blocked bool
}

// recordLimit is how many calls are kept, sayLimit how much of each result.
const (
	recordLimit = 64
	sayLimit    = 1500
)

// trouble is the kind of a problem; each has its own advice.
type trouble int

const (
	general trouble = iota
	mismatch
	missingFile
	timedOut
	failingTest
	sameResult
	denied
	badArguments
	words
	backAndForth
	noEnd
)

func (r *record) trouble(rule string) trouble {
	low := strings.ToLower(r.said)
	has := func(ws ...string) bool {
		return slices.ContainsFunc(ws, func(w string) bool { return strings.Contains(low, w) })
	}
	switch {
	case rule == "message" || rule == streamRule || r.c.kind == None:
		return words
	case rule == "oscillation" || rule == "reapplied":
		return backAndForth
	case rule == "waiting" || r.c.kind == Wait && r.ok:
		return noEnd
	case r.ok:
		return sameResult
	case r.outcome == event.TimedOut || has("\nstopped after ", "timed out"):
		return timedOut
	case r.outcome == event.Denied:
		return denied
	case r.outcome == event.Invalid:
		return badArguments
	case r.c.kind == Test:
		return failingTest
	case has("no such file", "does not exist", "there is no file", "there is no "):
		return missingFile
	case r.c.kind == Edit:
		return mismatch
	}
	return general
}

// recovery returns the message to the model: the loop, the evidence, and the
// advice for this kind of problem.
func (f *Fold) recovery(v Finding, r Action) string {
	var b strings.Builder
	fmt.Fprintf(&b, toModel+"%s.\n", v.Text)
	if _, told := f.escalation.stage[v.Fingerprint]; told {
		// The evidence and the advice are in the window already.
		fmt.Fprintf(&b, "The advice above stands. What ends it: %s.\n", v.Ends)
		f.blocks(&b, v, r)
		return b.String()
	}
	if ev := f.evidence(v); len(ev) > 0 {
		b.WriteString("\nWhat shows it:\n")
		for _, e := range ev {
			b.WriteString("- " + e + "\n")
		}
	}
	last := f.about(v)
	if last == nil && v.Rule == streamRule {
		last = &record{c: call{kind: None}}
	}
	if last == nil {
		return b.String()
	}
	b.WriteString("\n" + f.advice(v, last) + "\n")
	if v.Ends != "" {
		fmt.Fprintf(&b, "What ends it: %s.\n", v.Ends)
	}
	f.blocks(&b, v, r)
	return b.String()
}

func (f *Fold) blocks(b *strings.Builder, v Finding, r Action) {
	if last := f.about(v); r == Block && last != nil {
		fmt.Fprintf(b, "\nThis call will not run again until a file has new content: %s\n", last.c.brief)
	}
}

func (f *Fold) advice(v Finding, last *record) string {
	switch last.trouble(v.Rule) {
	case mismatch:
		return "The text to replace is not what is in the file. What the tool said of the file as it is now:\n" + quote(last.said) +
			"\nCopy the old text from there exactly, or name a line range, or write the whole file with write."
	case missingFile:
		s := "The path does not exist."
		if near := f.nearest(last.c.target); len(near) > 0 {
			s += " Paths near it that do: " + strings.Join(near, ", ") + "."
		}
		return s + " Look with ls or glob before you name it again."
	case timedOut:
		return "The command does not end in time. Run it with \"background\": true and look at it with bash_output, " +
			"or run a narrower one: one test, one package, one file."
	case failingTest:
		tries := ""
		if c := f.changes(6); len(c) > 0 {
			tries = "What was tried so far:\n" + strings.Join(c, "\n") + "\n"
		}
		return tries + "Take another approach. Read the failure from its first line, check the assumption that these changes share " +
			"(is the code that you change the code that runs?), and print the value in question before you change anything else."
	case sameResult:
		return "Nothing changed, so the result is the same. It is known:\n" + quote(last.said) +
			"\nUse it as it is, and take a step that can bring something new: another file, another question, or a change. " +
			"If what was asked is done, say so and stop. If you cannot go on, say what is missing."
	case denied:
		return "This is not permitted, and asking again does not change that. Reach the goal by another way, or say what you would need and why."
	case badArguments:
		return "The arguments are not what the tool takes:\n" + quote(last.said) + "\nGive them as its schema says, or use another tool."
	case noEnd:
		return "It says the same each time:\n" + quote(last.said) +
			"\nTo look again and again costs and brings nothing. Wait longer at a time (bash_output with \"wait\": 600, one long sleep). " +
			"If it should have ended by now, find out why it has not: is the process there, what does its log say, what does it wait for? " +
			"Or do other work meanwhile, or stop and say what still runs."
	case words:
		return "Words alone change nothing here. Make one call that brings something new, or, if what was asked is done, say so once and stop."
	case backAndForth:
		return "A file goes back to a content that it had before. Decide which version is right and why, from a test or from the code that uses it, " +
			"and then change something else. What was tried:\n" + strings.Join(f.changes(8), "\n")
	}
	return "It fails the same way each time. The error:\n" + quote(last.said) +
		"\nIts cause is not in what you vary. Look at one thing that you have not looked at yet (the definition, the configuration, the version, " +
		"the working folder), or reach the goal by another way."
}

// evidence lists the calls that show the loop, one line each.
func (f *Fold) evidence(v Finding) []string {
	var out []string
	if v.Rule == streamRule {
		out = append(out, f.live.said...)
	}
	for _, n := range v.Steps {
		r := f.record(n)
		if r == nil {
			continue
		}
		line := fmt.Sprintf("call %d: %s", n+1, r.c.brief)
		switch {
		case r.blocked:
			line += " → blocked"
		case r.c.kind == None:
			line += " → no call"
		default:
			line += " → " + r.sum()
		}
		out = append(out, line)
	}
	if len(out) > 5 {
		out = slices.Concat(out[:1], []string{fmt.Sprintf("… %d more", len(out)-4)}, out[len(out)-3:])
	}
	return out
}

// sum returns a result in a few words.
func (r *record) sum() string {
	if r.ok {
		if len(r.changed) > 0 {
			return "changed " + normalize.OneLine(strings.Join(r.changed, ", "), 100)
		}
		if strings.TrimSpace(r.said) == "" {
			return "no output"
		}
		return normalize.OneLine(r.said, 100)
	}
	return normalize.OneLine(normalize.Error(r.said), 160)
}

// changes lists what was changed between the failures, the newest k.
func (f *Fold) changes(k int) []string {
	var out []string
	for i := max(0, f.calls-recordLimit); i < f.calls; i++ {
		if r := &f.records[i%recordLimit]; len(r.changed) > 0 {
			out = append(out, fmt.Sprintf("- call %d: %s changed %s", r.step+1, r.tool, normalize.OneLine(strings.Join(r.changed, ", "), 120)))
		}
	}
	return out[max(0, len(out)-k):]
}

// quoteLimit is how much of a result a message repeats: the model has it above.
const quoteLimit = 500

func quote(s string) string {
	if s = cut(strings.TrimRight(s, "\n"), quoteLimit); s == "" {
		return "> (no output)"
	}
	return "> " + strings.ReplaceAll(s, "\n", "\n> ")
}

// nearest returns known paths that are similar to one that does not exist:
// first those with the same base name, then those with the same beginning.
func (f *Fold) nearest(target string) []string {
	base := path.Base(target)
	if base == "." || base == "/" {
		return nil
	}
	stem := strings.TrimSuffix(base, path.Ext(base))
	var same, like []string
	for _, p := range f.paths {
		switch b := path.Base(p); {
		case p == target:
		case b == base:
			same = append(same, p)
		case len(stem) >= 3 && strings.HasPrefix(b, stem[:3]):
			like = append(like, p)
		}
	}
	out := append(same, like...)
	return out[:min(len(out), 5)]
}
