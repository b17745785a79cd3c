package window

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// ledger is what must survive any compaction, taken from the log and never from
// a summary: the user's prompts, decisions, changed files, failures with their
// evidence, the plan. Its size is limited; the oldest entries are dropped.
type ledger struct {
	prompts   pages       // each its source and its text
	images    []llm.Media // of the first prompt: those of later ones go with their messages
	decisions []string
	kept      []string // the model's notes on results that it released
	failures  []*failure
	files     map[string]*changed
	changes   int
	checks    []*ran
	checkedAt int      // changes when the last check ran
	words     []string // what the model said beside its calls, and at the ends of turns
	since     []string // files changed since the last command
	plan      []tool.Item
	asked     map[string]string // questions without an answer yet
	blocked   map[string]bool   // calls without a result that somebody refused
}

func (l *ledger) prompt(i int) (event.Source, string) {
	r := unpacker(l.prompts.at(i))
	source := event.Source(r.text())
	return source, string(r)
}

// changed is a file that was changed.
type changed struct {
	path           string
	hash           tool.Hash
	added, removed int // lines, by all changes together
	times          int // of changes
	last           int // the number of its last change among all changes
}

// ran is a command line with a check.
type ran struct {
	line, how string
	at        int // how many changes were made before
}

// failure is something that failed, with its evidence.
type failure struct {
	what, evidence string
	key            string // what was tried, to find it again
	after          []string
	times          int
	solved         bool // the same succeeded later
	at             int  // of a command: how many changes were made before; else -1
}

// How much a ledger keeps.
const (
	maxFailures  = 200
	maxDecisions = 200
	maxKept      = 100
	maxChecks    = 20
	maxWords     = 60
	maxSaid      = 400  // bytes of one entry
	maxReply     = 1600 // of a reply: the longest ones state the decisions
)

func (l *ledger) apply(b event.Body) {
	switch b := b.(type) {
	case event.Replied:
		if text := clipMiddle(b.Reply.Message.Text(), maxReply); text != "" {
			l.words = append(l.words, text)
			l.words = l.words[max(0, len(l.words)-maxWords):]
		}
	case event.Prompted:
		if l.prompts.len() == 0 {
			l.images = b.Images
		}
		var w packer
		w.text(string(b.Source))
		l.prompts.add(append(w, b.Text...))
	case event.PersonRan:
		exit := ""
		if b.Exit != nil {
			exit = fmt.Sprintf(" (exit code %d)", *b.Exit)
		}
		l.decide("the user ran `" + clip(b.Command, maxSaid) + "`" + exit)
	case event.Asked:
		if b.Text != "" {
			if l.asked == nil {
				l.asked = map[string]string{}
			}
			l.asked[b.ID] = b.Text
		}
	case event.Answered:
		l.answered(b)
	case event.Remembered:
		l.decide("remembered: " + clip(b.Text, maxSaid))
	case event.ModeSet:
		l.decide("the user set the permission mode " + b.Mode)
	case event.Undone:
		l.decide("the changes to " + clip(strings.Join(b.Paths, ", "), maxSaid) + " were put back (undone)")
	case event.Cleaned:
		if b.Summary != "" {
			l.kept = latest(l.kept, "- "+clip(b.Summary, maxSaid), maxKept)
		}
	case event.Blocked:
		if b.By != event.ByStuck && !b.Ran { // else it is told as a circle, or by its result
			if l.blocked == nil {
				l.blocked = map[string]bool{}
			}
			l.blocked[b.Call] = true
		}
	case event.Planned:
		l.plan = b.Items
	case event.FileChanged:
		l.change(b)
	case event.Checked:
		l.checkedAfterTurn(b)
	case event.Stuck:
		l.fail(&failure{key: "stuck:" + b.Fingerprint, what: "going in circles (" + b.Rule + ")", evidence: clip(strings.Join(b.Evidence, "; "), maxSaid), at: -1})
	}
}

func (l *ledger) answered(b event.Answered) {
	if q, ok := l.asked[b.ID]; ok {
		delete(l.asked, b.ID)
		l.decide("asked “" + clip(q, maxSaid/2) + "”, the user answered “" + clip(b.Text, maxSaid) + "”")
	}
	for _, v := range b.Verdicts {
		if v.Scope == event.No && v.Why != "" {
			l.decide("the user said no to a call: " + clip(v.Why, maxSaid))
		}
	}
}

func (l *ledger) decide(s string) { l.decisions = latest(l.decisions, s, maxDecisions) }

func (l *ledger) change(b event.FileChanged) {
	if l.files == nil {
		l.files = map[string]*changed{}
	}
	f := l.files[b.Path]
	if f == nil {
		f = &changed{path: b.Path}
		l.files[b.Path] = f
	}
	f.hash = b.After
	f.added, f.removed, f.times = f.added+b.Added, f.removed+b.Removed, f.times+1
	l.changes++
	f.last = l.changes
	l.since = latest(l.since, b.Path, 8)
}

// latest appends s to a list of the newest texts, or moves it to the end.
func latest(list []string, s string, most int) []string {
	if i := slices.Index(list, s); i >= 0 {
		list = append(list[:i:i], list[i+1:]...)
	}
	list = append(list, s)
	return list[max(0, len(list)-most):]
}

// done records a finished call.
func (l *ledger) done(c llm.Call, d event.CallDone) {
	name := cmp.Or(d.Tool, c.Name)
	target := targetOf(c, d)
	key := name + "\x00" + target
	if d.Command != "" {
		l.ranCheck(d)
	}
	after := l.since
	if d.Command != "" {
		l.since = nil
	}
	refused := "not allowed: " + name + " `" + target + "`: "
	blocked := l.blocked[d.ID]
	delete(l.blocked, d.ID)
	switch d.Outcome {
	case event.OK:
		for _, f := range l.failures {
			f.solved = f.solved || f.key == key
		}
		l.decisions = slices.DeleteFunc(slices.Clone(l.decisions), func(s string) bool { return strings.HasPrefix(s, refused) }) // allowed since
	case event.Failed, event.TimedOut, event.UnknownDone, event.Denied:
		if blocked {
			l.decide(refused + clip(d.Result.Text, 160))
			break
		}
		f := &failure{key: key, what: name + " `" + target + "`", evidence: evidenceOf(d.Result.Text), at: -1}
		if d.Command != "" {
			f.after, f.at = after, l.changes
		}
		l.fail(f)
	}
}

func (l *ledger) fail(f *failure) {
	for i, old := range l.failures {
		if old.key == f.key && old.evidence == f.evidence {
			f.times = old.times
			if len(f.after) == 0 {
				f.after = old.after
			}
			l.failures = append(l.failures[:i:i], l.failures[i+1:]...)
			break
		}
	}
	f.times++
	l.failures = append(l.failures, f)
	if len(l.failures) > maxFailures {
		l.failures = l.failures[1:]
	}
}

// targetOf describes in one line what a call worked on.
func targetOf(c llm.Call, d event.CallDone) string {
	if d.Command != "" {
		return clip(d.Command, maxSaid/2)
	}
	return cmp.Or(worked(c.Args), clip(string(c.Args), 120))
}

// worked returns on what a call worked, by its arguments.
func worked(args json.RawMessage) string {
	var in struct {
		Path, Command, Pattern, URL, ID string
		Files                           []struct{ Path string }
	}
	_ = json.Unmarshal(args, &in) // what has another type stays empty
	for _, f := range in.Files {
		in.Path += " " + f.Path
	}
	if in.Pattern != "" && in.Path != "" {
		in.Path = in.Pattern + " in " + in.Path
	}
	return clip(cmp.Or(in.Path, in.Command, in.Pattern, in.URL, in.ID), maxSaid/2)
}

// evidenceOf is the part of an output that shows a failure: the first lines that look like
// one, and the last two lines. What pawl added to the output, from the exit code on, is no
// evidence.
func evidenceOf(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	for i := len(lines) - 1; i > 0; i-- {
		if strings.HasPrefix(lines[i], "exit code ") {
			lines = lines[:i]
			break
		}
	}
	const most = 4
	var said []string
	end := max(0, len(lines)-2)
	for _, s := range lines[:end] {
		low := strings.ToLower(s)
		if len(said) < most && (strings.Contains(low, "error") || strings.Contains(low, "fail") || strings.Contains(low, "panic") || strings.Contains(low, "undefined")) {
			said = append(said, clip(s, maxSaid/most))
		}
	}
	return strings.Join(append(said, clip(strings.Join(lines[end:], " | "), maxSaid/2)), " … ")
}

func (f *failure) line(changes int) string {
	s := "- " + f.what
	if len(f.after) > 0 {
		s += " after changes to " + strings.Join(f.after, ", ")
	}
	if f.times > 1 {
		s += fmt.Sprintf(" (%d times)", f.times)
	}
	if f.evidence != "" {
		s += ": " + f.evidence
	}
	switch {
	case f.solved:
		s += " [worked later]"
	case f.at >= 0:
		s += since(changes - f.at)
	}
	return s
}

// text returns the ledger with at most this number of tokens. The last texts of the model
// that the conversation still shows are not repeated.
func (l *ledger) text(tokens, shown int) string {
	var open, solved, decisions, files, plan, checks, words []string
	for _, f := range l.failures {
		if f.solved {
			solved = append(solved, f.line(l.changes))
		} else {
			open = append(open, f.line(l.changes))
		}
	}
	for _, d := range l.decisions {
		decisions = append(decisions, "- "+d)
	}
	byLast := slices.SortedFunc(maps.Values(l.files), func(a, b *changed) int { return a.last - b.last })
	for _, f := range byLast {
		what := "removed"
		if f.hash != "" {
			what = fmt.Sprintf("+%d -%d", f.added, f.removed)
			if f.times > 1 {
				what += fmt.Sprintf(" in %d changes", f.times)
			}
		}
		if f.last > l.checkedAt {
			what += "; not checked since"
		}
		files = append(files, fmt.Sprintf("- %s (%s)", f.path, what))
	}
	for _, r := range l.checks {
		checks = append(checks, r.text(l.changes))
	}
	for _, w := range l.words[:max(0, len(l.words)-shown)] {
		words = append(words, "- "+w)
	}
	for _, i := range l.plan {
		plan = append(plan, fmt.Sprintf("- [%s] %s", i.Status, clip(i.Text, maxSaid)))
	}
	var out strings.Builder
	left, share := tokens, 0
	for _, s := range []struct {
		title string
		lines []string
		part  int // percent
	}{
		{"Plan", plan, 15},
		{"Tried and failed: the same again only after a change that can matter", open, 25},
		{"Decided, or said by the user", decisions, 15},
		{"Checks that ran, newest last", checks, 10},
		{"Files changed, newest last", files, 10},
		{"Your own words, newest last", words, 10},
		{"Noted of results that were let go of", l.kept, 10},
		{"Failed before something else worked", solved, 5},
	} {
		// Tokens that a section does not use go to the next one.
		share += tokens * s.part / 100
		used := section(&out, s.title, s.lines, min(left, share))
		left, share = left-used, share-used
	}
	return out.String()
}

// section writes the newest lines that fit, oldest first.
func section(out *strings.Builder, title string, lines []string, tokens int) (used int) {
	if len(lines) == 0 {
		return 0
	}
	_, n := head(title, -1)
	used = n + 6
	first := len(lines)
	for first > 0 {
		_, n := head(lines[first-1], -1)
		if used+n > tokens {
			break
		}
		used += n
		first--
	}
	if first == len(lines) {
		return 0
	}
	fmt.Fprintf(out, "## %s\n", title)
	if first > 0 {
		fmt.Fprintf(out, "(%d older ones are not listed)\n", first)
	}
	for _, s := range lines[first:] {
		out.WriteString(s + "\n")
	}
	return used
}

// said returns the prompts before the last kept ones, word for word, with at
// most this number of tokens: the first and the newest whole, long ones in
// between cut.
func (l *ledger) said(kept, tokens int) string {
	n := max(0, l.prompts.len()-kept)
	if n == 0 {
		return ""
	}
	texts := make([]string, n)
	left := tokens
	take := func(i, most int) bool {
		note := func() string { return "cut to make room" }
		source, text := l.prompt(i)
		t, _ := Cut(text, most, note)
		if source != event.Person && source != "" {
			t = "(from " + string(source) + ", not from the user) " + t
		}
		_, n := head(t, -1)
		if n > left && i > 0 {
			return false
		}
		texts[i], left = t, left-n
		return true
	}
	take(0, max(tokens/2, 50))
	first := n
	for first > 1 && take(first-1, max(tokens/4, 50)) {
		first--
	}
	var out strings.Builder
	fmt.Fprintf(&out, "<prompt>\n%s\n</prompt>\n", texts[0])
	if first > 1 {
		fmt.Fprintf(&out, "(%d prompts in between are not listed)\n", first-1)
	}
	for _, t := range texts[first:] {
		fmt.Fprintf(&out, "<prompt>\n%s\n</prompt>\n", t)
	}
	return out.String()
}
