package progress

import (
	"path"
	"slices"
	"strings"
)

// Detector judges the steps of a run in order. The zero value is not ready: use New.
type Detector struct {
	c     Config
	rules []*rule
	n     int // steps so far
	epoch int // number of new contents so far
	// change counts new contents, and edits whose content is not known.
	change int

	contents memo[struct{}] // (file, content)
	shell    memo[int]      // (command, file): how often it counted as content
	edits    memo[struct{}]
	faults   memo[int]    // an error: the value of change when it was last seen
	failed   memo[int]    // a failed action: the value of change before it
	last     memo[uint64] // action: its key when it last ran
	// The results of reads and searches are kept apart: compaction removes them
	// from the window, and reading again is then no repetition.
	keys, readKeys       memo[int] // a key: the value of change when it was last seen
	results, readResults memo[struct{}]
	ever                 memo[struct{}] // results, compaction or not

	// What was asked: the questions, what they were about, and with what; and where
	// the numbers of their answers have been.
	questions, subjects, verbs memo[struct{}]
	measures                   memo[measure]
	gists                      memo[uint64]   // the meaning of an edit: the edit
	notes                      memo[int]      // a file of prose: how often it was written; below 0, it was there before
	looked, copied             memo[struct{}] // files that were read; files written under other numbers
	copies, noted              int

	waited      int    // how many looks after a wait still belong to it
	thoughts    int    // in a row
	lastMessage uint64 // the newest message
	// phrases are messages that came with a step with news: repeating them has
	// no meaning.
	phrases memo[struct{}]
	asked   int // how many repetitions the person asked for
	counts  memo[int]

	recent [64]seen // the newest steps, by number

	progress     int // number of news of any kind
	atCompaction int
	atPhase      int
	phases       int // in a row without news
	idle         int // compactions in a row without news

	stats stats
}

// waitLooks is how many looks one wait is for: at several jobs, for example.
const waitLooks = 16

// noteWrites is how often a file of prose that the run made may be written before
// it counts as the model's notes.
const noteWrites = 4

// fewWords is the longest short answer, in bytes.
const fewWords = 64

type seen struct {
	key, target uint64
}

// New makes a detector. Zeros in c are replaced by Default's numbers.
func New(c Config) *Detector {
	c = c.Defaults()
	d := &Detector{c: c}
	for _, r := range newRules() {
		if c.enabled(r.name) {
			d.rules = append(d.rules, r)
		}
	}
	d.stats.init(c)
	return d
}

// Config returns the configuration with all its numbers.
func (d *Detector) Config() Config { return d.c }

// Steps returns the number of judged steps.
func (d *Detector) Steps() int { return d.n }

// Skip counts a step that is not judged.
func (d *Detector) Skip() { d.n++ }

// Apply judges the next reply, whose calls the model asked for together, and
// returns the verdict of the strongest rule. The calls of one reply count once in
// every rule that counts repetition: the model has seen nothing between them.
func (d *Detector) Apply(reply ...Step) Finding {
	if len(reply) == 0 {
		return Finding{}
	}
	fs := make([]facts, len(reply))
	for i := range reply {
		fs[i] = d.factsOf(&reply[i])
		d.stats.add(&reply[i], &fs[i])
		if fs[i].fresh {
			d.reset(byContent)
		}
		d.remember(&fs[i])
	}
	var v Finding
	see := func(r *rule, f *facts) {
		if x := r.apply(d, f); x.level > v.Level {
			v = r.found(x)
		}
	}
	said := d.speaker(fs)
	for _, r := range d.rules {
		if !r.each {
			see(r, said)
			continue
		}
		for i := range fs {
			if !slices.ContainsFunc(fs[:i], func(f facts) bool { return f.key == fs[i].key }) && !outdone(fs, i) {
				see(r, &fs[i])
			}
		}
	}
	return v
}

// outdone reports whether the same call, made again in the same reply, found something
// new. Calls of one reply may run at once, so their order says nothing: a number that
// falls may be answered to them in any order.
func outdone(fs []facts, i int) bool {
	return !fs[i].news && slices.ContainsFunc(fs, func(f facts) bool { return f.news && f.action == fs[i].action })
}

// speaker returns the facts that stand for a reply: those of its most telling
// call. What is new in any of its calls makes the reply new; a reply is neutral
// only if all of its calls are.
func (d *Detector) speaker(fs []facts) *facts {
	if len(fs) == 1 {
		return &fs[0]
	}
	rank := func(f *facts) int {
		switch {
		case f.fresh:
			return -1 << 20
		case f.recovered:
			return -1 << 19
		case f.neutral:
			return 1 << 20
		case f.s.Kind == Think:
			return 1 << 19
		case f.wait && !f.news:
			return 1 << 18
		}
		return weight(d, f)
	}
	best := 0
	for i := range fs {
		if rank(&fs[i]) < rank(&fs[best]) {
			best = i
		}
	}
	f := fs[best]
	if f.fresh || f.news || f.recovered || f.neutral {
		return &f
	}
	// Nothing new: the reply as a whole is what may repeat.
	f.key, f.action = 0, 0
	for i := range fs {
		if fs[i].neutral || slices.ContainsFunc(fs[:i], func(g facts) bool { return g.key == fs[i].key }) {
			continue
		}
		f.key += fs[i].key
		f.action += fs[i].action
	}
	return &f
}

// factsOf computes the facts about a step.
func (d *Detector) factsOf(s *Step) facts {
	f := facts{n: d.n, s: s, action: hash(s.Tool, s.Args), epoch: d.epoch, change: d.change}
	norm := s.Norm
	if norm == "" {
		norm = s.Exact
	}
	moved, shaken := d.moved(&f, hash(norm))
	if s.OK {
		f.result = hash("ok", norm)
		f.key = f.action ^ f.result*3
	} else {
		f.fault = hash("error", s.Error)
		f.key = f.action ^ f.fault*3
		if moved {
			f.key ^= hash(s.Exact)
		}
	}
	if s.Blocked {
		if k, ok := d.last.get(f.action); ok {
			f.key = k
		}
		f.fault = f.key
	}
	f.unknownResult = s.Blind && s.OK
	acted := d.last.has(f.action)
	note := false
	f.fresh, f.returned, f.renumbered, note = d.content(s)
	f.fresh = f.fresh || f.unknownResult && s.Kind == Edit && !acted
	if f.fresh {
		f.epoch++
		f.change++
	}
	f.editSeen = s.Edit != "" && d.edits.has(hash(s.Edit))
	f.unknownEdit = s.OK && s.Kind == Edit && s.State == "" && len(s.Files) == 0 && !acted && !f.editSeen
	if f.unknownEdit {
		f.change++
	}
	keys, results := &d.keys, &d.results
	if isRead(s.Kind) {
		keys, results = &d.readKeys, &d.readResults
	}
	before, ok := keys.get(f.key)
	f.keySeen = ok || s.Blocked
	f.again = ok && !s.Blocked && before != f.change && (s.Kind == Exec || s.Kind == Test)
	f.resultSeen = s.OK && (results.has(f.result) || d.results.has(f.result) || d.readResults.has(f.result))
	if at, ok := d.faults.get(f.fault); !s.OK && !moved {
		f.faultKnown, f.faultSeen = ok, ok && at == f.change
	}
	short := s.Len <= 1 || s.Len <= fewWords
	f.probe = d.asksAnew(&f, short)
	f.silent = s.OK && !f.keySeen && !f.probe && (s.Kind == Exec || s.Kind == Edit || s.Kind == Test) && s.State == "" && len(s.Files) == 0 &&
		(s.Len <= 1 || f.resultSeen && s.Len <= fewWords)
	f.empty = isRead(s.Kind) && !f.keySeen && !f.probe && (s.Len <= 1 || !s.OK || f.resultSeen && s.Len <= fewWords)
	if s.Message != "" {
		said := hash(s.Message)
		f.sameMessage = said == d.lastMessage && !d.phrases.has(said)
		d.lastMessage = said
	}
	f.textOnly = s.Kind == None && s.OK
	f.textOrThought = f.textOnly || s.Kind == Think
	if s.Kind == Think {
		f.thoughts = d.thoughts + 1
	}
	f.news = s.OK && !f.keySeen && !f.resultSeen && !f.returned && !f.renumbered && s.Len > 1 && !f.textOrThought && !s.Blind ||
		f.unknownResult && !acted || f.probe || moved
	at, failed := d.failed.get(f.action)
	f.recovered = f.news && s.OK && failed && at == f.change
	f.moved = moved
	f.neutral = !f.fresh && (note && !f.keySeen || f.renumbered || shaken || d.aboutNotes(s))
	if f.neutral {
		f.news, f.recovered, f.probe = false, false, false
	}
	f.requested = d.isRequested(&f)
	f.wait = f.requested || s.Kind == Wait || f.keySeen && (d.waited > 0 && (isRead(s.Kind) || s.Kind == Exec) || s.Pending && s.OK && s.Kind != Test)
	return f
}

// isRequested reports whether the person asked for repetition, and whether this is
// within the number that they asked for.
func (d *Detector) isRequested(f *facts) bool {
	if d.asked == 0 {
		return false
	}
	n, _ := d.counts.get(f.key)
	d.counts.put(f.key, n+1)
	return f.keySeen && n < d.asked
}

// remember remembers a step.
func (d *Detector) remember(f *facts) {
	s := f.s
	d.epoch, d.change = f.epoch, f.change
	if !s.Blocked {
		keys, results := &d.keys, &d.results
		if isRead(s.Kind) {
			keys, results = &d.readKeys, &d.readResults
		}
		keys.put(f.key, f.change)
		d.last.put(f.action, f.key)
		if s.Subject != "" {
			d.questions.put(f.question(d), struct{}{})
			d.subjects.put(hash(d.plain(s.Subject)), struct{}{})
			d.verbs.put(hash(s.Verb), struct{}{})
		}
		if s.OK && isRead(s.Kind) && s.Target != "" {
			d.looked.put(hash(path.Base(s.Target)), struct{}{})
		}
		if s.OK {
			results.put(f.result, struct{}{})
			if f.fresh || f.news && !d.ever.has(f.result) {
				d.progress++
			}
			d.ever.put(f.result, struct{}{})
		} else {
			d.faults.put(f.fault, f.change)
			d.failed.put(f.action, f.change)
		}
		if s.Edit != "" {
			d.edits.put(hash(s.Edit), struct{}{})
		}
	}
	if s.Message != "" && (f.fresh || f.news) {
		d.phrases.put(d.lastMessage, struct{}{})
	}
	d.thoughts = f.thoughts
	switch {
	case f.textOrThought:
	case s.Kind == Wait:
		d.waited = waitLooks
	case f.wait:
		d.waited = max(0, d.waited-1)
	default:
		d.waited = 0
	}
	d.recent[d.n%len(d.recent)] = seen{key: f.key, target: hash(s.Target)}
	d.n++
}

func isRead(k Kind) bool { return k == Read || k == Search }

func (d *Detector) reset(s scope) {
	for _, r := range d.rules {
		if r.resetBy&s != 0 {
			r.reset(s)
		}
	}
}

// Person records a message of a person: everything against the run is
// forgotten. Repetition that it asks for is not a loop.
func (d *Detector) Person(text string) {
	d.reset(byPerson)
	d.edits.clear()
	d.faults.clear()
	d.failed.clear()
	d.last.clear()
	d.keys.clear()
	d.readKeys.clear()
	d.results.clear()
	d.readResults.clear()
	d.counts.clear()
	d.waited, d.lastMessage, d.thoughts = 0, 0, 0
	d.questions.clear()
	d.subjects.clear()
	d.verbs.clear()
	d.measures.clear()
	d.gists.clear()
	d.idle, d.atCompaction = 0, d.progress
	d.asked = asksRepeats(text)
}

// idlePhases is how many phases in a row may begin with nothing new in between
// and still forgive: to rewrite a plan is no way out of a loop.
const idlePhases = 3

// Phase records that a new phase began: streaks start again, and the count of
// errors in a row.
func (d *Detector) Phase() {
	if d.progress > d.atPhase {
		d.phases = 0
	}
	d.atPhase = d.progress
	if d.phases++; d.phases > idlePhases {
		return
	}
	d.reset(byPhase)
	d.stats.FailStreak = 0
}

// Compacted records that the window no longer has what the model read. Several
// compactions without news in between are a loop.
func (d *Detector) Compacted() Finding {
	d.reset(byCompact)
	d.readKeys.clear()
	d.readResults.clear()
	if d.progress > d.atCompaction {
		d.idle = 0
	}
	d.idle++
	d.atCompaction = d.progress
	// The first of a row may follow a long and good stretch.
	level := OK
	switch {
	case d.idle > d.c.Compactions:
		level = Halt
	case d.idle == d.c.Compactions:
		level = Warn
	}
	if level == OK || !d.c.enabled(compactRule) {
		return Finding{}
	}
	return Finding{
		Level: level, Rule: compactRule, Fingerprint: fingerprint(compactRule, uint64(d.epoch)), Steps: d.newestSteps(8),
		Ends: "anything new between two compactions, or a word from the person",
		Text: "the context was compacted again and again with nothing new found in between",
	}
}

func (d *Detector) call(f *facts) string {
	switch {
	case f.s.Kind == None:
		return "reply without a call"
	case f.s.Tool == "":
		return "call"
	case strings.HasSuffix(f.s.Tool, "call"):
		return f.s.Tool
	}
	return f.s.Tool + " call"
}

// stepsWithKey lists the newest steps with this key, n last.
func (d *Detector) stepsWithKey(key uint64, n int) []int {
	return d.find(n, func(s seen) bool { return s.key == key })
}

// stepsOnTarget lists the newest steps about a target, n last.
func (d *Detector) stepsOnTarget(target string, n int) []int {
	h := hash(target)
	return d.find(n, func(s seen) bool { return s.target == h })
}

func (d *Detector) find(n int, match func(seen) bool) []int {
	out := []int{}
	for i := max(0, d.n-len(d.recent)); i < n; i++ {
		if match(d.recent[i%len(d.recent)]) {
			out = append(out, i)
		}
	}
	if len(out) > 8 {
		out = out[len(out)-8:]
	}
	return append(out, n)
}

func (d *Detector) newestSteps(k int) []int {
	out := []int{}
	for i := max(0, d.n-k); i < d.n; i++ {
		out = append(out, i)
	}
	return out
}

// Message judges a text of the model, without any call.
func (d *Detector) Message(text string) Finding {
	s := Step{Kind: None, OK: true, Message: text}
	f := facts{n: max(0, d.n-1), s: &s, epoch: d.epoch, change: d.change, textOnly: true, textOrThought: true}
	for _, r := range d.rules {
		if m, ok := r.judge.(*message); ok {
			if x := m.apply(d, &f); x.level != OK {
				return r.found(x)
			}
		}
	}
	return Finding{}
}

// Contents returns the number of new contents.
func (d *Detector) Contents() int { return d.epoch }
