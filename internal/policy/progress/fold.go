package progress

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/normalize"
	"github.com/pawl-agent/pawl/internal/policy/phase"
)

// Fold judges a session by its events: it makes steps of them, and maintains
// the escalation, the phases and the statistics.
//
// After a reply's last CallDone (or after a reply without calls), Next returns
// the action that is due. The action is recorded as an event.Stuck; only its
// Apply changes the escalation, so that a replayed log decides nothing anew.
type Fold struct {
	d          *Detector
	escalation Escalation
	phases     phase.Fold
	live       running // see live.go

	open    map[string]*openCall // calls that are not done
	message string               // the model's text, for the first call of the reply
	reply   []Step               // the calls of the reply that are done
	left    int                  // how many of its calls are not
	now     Finding              // the strongest verdict since the reply

	outcomes memo[struct{}] // of language servers, see diagnosed.go

	records [recordLimit]record
	calls   int
	paths   []string // files that were seen or changed, the newest last
	known   map[string]struct{}
}

type openCall struct {
	tool    string
	c       call
	files   []File
	at      map[string]int // a path's place in files
	before  []File
	changed []string
	blocked bool
	shown   bool             // it showed lines of files
	found   *event.Diagnosed // what language servers say of it
}

// pathLimit limits the paths that are kept for advice.
const pathLimit = 500

// NewFold returns a fold for a new session.
func NewFold(c Config) *Fold {
	return &Fold{d: New(c), open: map[string]*openCall{}, known: map[string]struct{}{}, outcomes: memo[struct{}]{limit: outcomeLimit}}
}

func (f *Fold) Apply(e event.Event) {
	if ApplyPhases(&f.phases, e) {
		f.d.Phase()
	}
	f.live.apply(f, e)
	switch b := e.Body.(type) {
	case event.Prompted:
		if b.Source == event.Person {
			f.person(b.Text)
		}
	case event.Answered:
		if strings.TrimSpace(b.Text) != "" && !f.live.option(b) {
			f.person(b.Text)
		}
	case event.Replied:
		f.replied(b)
	case event.CallAsked:
		c := describe(b)
		f.open[b.ID] = &openCall{tool: b.Tool, c: c, blocked: f.escalation.Blocked(blockKey(b.Tool, c.args))}
	case event.Blocked:
		if a := f.open[b.Call]; a != nil && b.By == event.ByStuck {
			a.blocked = true
		}
	case event.FileSeen:
		if a := f.open[b.Call]; a != nil {
			a.shown = true
		}
		for _, s := range b.Spans {
			if !s.Dir {
				f.path(s.Path)
			}
		}
	case event.FileChanged:
		f.changed(b)
	case event.CallDone:
		f.done(b)
	case event.Checked:
		f.checked(b)
	case event.Diagnosed:
		if a := f.open[b.Call]; a != nil {
			a.found = &b
		} else {
			f.diagnosed(b)
		}
	case event.Rebased:
		if b.Why == event.RebasedCompaction {
			f.judged(f.d.Compacted())
		}
	case event.Stuck:
		f.escalation.Done(parseAction(b.Level), b.Fingerprint, b.Call)
		f.now = Finding{}
	case event.Ended:
		clear(f.open)
		f.left = 0
		f.settle()
	}
}

func (f *Fold) person(text string) {
	f.d.Person(text)
	f.escalation.Person()
	f.outcomes.clear()
	f.live.loops, f.live.asked = 0, asksRepeats(text)
	f.now = Finding{}
}

func (f *Fold) replied(b event.Replied) {
	f.left = 0
	f.settle() // a call of the reply before may have no end
	f.now = Finding{}
	text := b.Reply.Message.Text()
	f.message = ""
	if strings.TrimSpace(text) != "" {
		f.message = normalize.Digest(text)
	}
	var r Repetition
	if f.d.c.enabled(streamRule) && r.Write(text) != "" {
		f.judged(Finding{
			Level: Warn, Rule: streamRule, Fingerprint: streamRule + ":" + f.message, Steps: []int{},
			Text: "the reply repeats one passage over and over",
		})
	}
	if f.left = len(b.Reply.Message.Calls()); f.left > 0 {
		return
	}
	f.note(record{c: call{kind: None, brief: "a reply without a call"}, ok: true})
	f.judge(Step{Tool: "reply", Kind: None, Args: f.message, OK: true, Message: f.message})
	f.message = ""
}

func (f *Fold) path(p string) {
	if _, ok := f.known[p]; ok || p == "" {
		return
	}
	if len(f.paths) == pathLimit {
		delete(f.known, f.paths[0])
		f.paths = slices.Delete(f.paths, 0, 1)
	}
	f.paths = append(f.paths, p)
	f.known[p] = struct{}{}
}

// gone stands for the content of a file that does not exist.
const gone = "(none)"

func content(h tool.Hash) string {
	if h == "" {
		return gone
	}
	return string(h)
}

func (f *Fold) changed(b event.FileChanged) {
	f.path(b.Path)
	a := f.open[b.Call]
	if a == nil {
		return
	}
	if i, ok := a.at[b.Path]; ok {
		a.files[i].Hash = content(b.After)
		return
	}
	if a.at == nil {
		a.at = map[string]int{}
	}
	a.at[b.Path] = len(a.files)
	a.files = append(a.files, File{Path: b.Path, Hash: content(b.After)})
	a.before = append(a.before, File{Path: b.Path, Hash: content(b.Before)})
	a.changed = append(a.changed, b.Path)
}

func (f *Fold) done(b event.CallDone) {
	a := f.open[b.ID]
	delete(f.open, b.ID)
	f.left = max(0, f.left-1)
	defer f.settle()
	if a == nil || b.Outcome == event.Cancelled || b.Outcome == event.UnknownDone {
		return // its outcome is not known
	}
	// A blocked call that ran anyway, for example by a person's decision, is
	// judged by its result.
	a.blocked = a.blocked && b.Outcome == event.Denied
	ok := b.Outcome == event.OK && !b.Result.Error && (b.Exit == nil || *b.Exit == 0)
	text := plainResult(b)
	s := Step{
		Tool: a.tool, Kind: a.c.kind, Target: a.c.target, Args: a.c.args, OK: ok, Tested: ranTests(b),
		Verb: a.c.verb, Subject: a.c.subject, Pending: ok && normalize.Pending(text),
		Exact: normalize.Digest(text), Len: len(text), Files: a.files, Before: a.before, Message: f.message, Blocked: a.blocked, Shown: a.shown,
	}
	f.message = ""
	if ok && len(a.files) == 0 && Echoes(a.c.command, text) {
		s.Kind = Think
	}
	switch {
	case !ok && normalize.RateLimited(text):
		s.Kind, s.Patient = Wait, true
	case a.c.kind == Wait && a.c.command == "":
		s.Patient = strings.Contains(text, "still running")
	case a.c.kind == Edit && len(a.files) > 0:
		s.Edit, s.State, s.Target = a.c.args, a.files[0].Hash, a.files[0].Path
		s.Gist, s.Cosmetic = Gist(a.c.args)
	case len(a.files) > 0:
		s.Gist, s.Cosmetic = Gist(a.c.args)
	}
	s.Numbers = normalize.Numbers(text)
	if ok {
		s.Norm = normalize.Digest(normalize.Stable(text))
		s.Form = normalize.Digest(normalize.Form(text))
	} else {
		s.Error = string(b.Outcome) + ": " + normalize.Error(text)
		s.Form = s.Error
		if len(a.files) == 0 {
			s.Norm = normalize.Digest(s.Error)
		}
	}
	f.note(record{
		c: a.c, tool: a.tool, ok: ok, outcome: b.Outcome, said: cut(text, sayLimit), changed: a.changed, blocked: a.blocked,
	})
	f.judge(s)
	if a.found != nil {
		f.diagnosed(*a.found)
	}
}

// plainResult returns a result without what pawl adds: the exit of a command
// that succeeded, and the file with the whole of a long result.
func plainResult(b event.CallDone) string {
	text := b.Result.Text
	if b.Spill != "" {
		text = strings.ReplaceAll(text, b.Spill, "")
	}
	if i := strings.LastIndex(text, "[all output: "); i >= 0 {
		if j := strings.IndexByte(text[i:], ']'); j >= 0 {
			text = text[:i] + text[i+j+1:]
		}
	}
	text = strings.TrimRight(text, "\n")
	if b.Exit != nil && *b.Exit == 0 {
		text = strings.TrimRight(strings.TrimSuffix(text, "exit code 0"), "\n")
	}
	return text
}

// cut keeps the head and the tail of a text that is longer than limit.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit/2], "") + "\n…\n" + strings.ToValidUTF8(s[len(s)-limit/2:], "")
}

func (f *Fold) note(r record) {
	r.step = f.d.Steps() + len(f.reply)
	f.records[f.calls%recordLimit] = r
	f.calls++
}

func (f *Fold) record(step int) *record {
	for i := f.calls - 1; i >= max(0, f.calls-recordLimit); i-- {
		if r := &f.records[i%recordLimit]; r.step == step {
			return r
		}
	}
	return nil
}

// about returns the call before a verdict.
func (f *Fold) about(v Finding) *record {
	if n := len(v.Steps); n > 0 {
		if r := f.record(v.Steps[n-1]); r != nil {
			return r
		}
	}
	if f.calls == 0 {
		return nil
	}
	return &f.records[(f.calls-1)%recordLimit]
}

// judge adds a step to its reply, which is judged when all of its calls are done.
func (f *Fold) judge(s Step) {
	f.reply = append(f.reply, s)
	f.settle()
}

// settle judges the reply, unless calls of it still run.
func (f *Fold) settle() {
	if f.left > 0 || len(f.open) > 0 || len(f.reply) == 0 {
		return
	}
	epoch, news := f.d.epoch, f.d.progress
	v := f.d.Apply(f.reply...)
	f.reply = f.reply[:0]
	if f.d.progress > news {
		f.escalation.News()
	}
	if f.d.epoch > epoch {
		f.escalation.NewContent()
		f.now = Finding{} // the earlier calls of the reply no longer matter
	}
	f.judged(v)
}

func (f *Fold) judged(v Finding) {
	// Of two verdicts of the same level, the one with the stronger action is
	// kept, then the later one.
	if v.Level > f.now.Level || v.Level == f.now.Level && f.escalation.Next(v) >= f.escalation.Next(f.now) {
		f.now = v
	}
}

// Steps returns the number of judged steps.
func (f *Fold) Steps() int { return f.d.Steps() }

// Last returns the strongest verdict since the newest reply.
func (f *Fold) Last() Finding { return f.now }

func (f *Fold) Stats() Stats { return f.d.Stats() }

// Recent returns the statistics as numbers, without cost.
func (f *Fold) Recent() Brief { return f.d.Recent() }

// Phases returns the fold of the task's phases.
func (f *Fold) Phases() *phase.Fold { return &f.phases }

// Config returns the configuration with all its numbers.
func (f *Fold) Config() Config { return f.d.Config() }
