// Package why explains a session's problems from its log alone: the last halt,
// denial, block, retry, budget stop, changes that are not verified, and what
// cost most, each with the events that show it (SPEC 15.2).
//
// It is a fold and keeps only the last of each kind, so its cost does not grow
// with the session. Its texts quote models, tools and files: the caller must
// sanitize them before showing them.
package why

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/sorting"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
	"github.com/pawl-agent/pawl/internal/policy/progress"
)

// Kind is the subject of a finding.
type Kind string

// The kinds.
const (
	Halt   Kind = "halt"   // the turn ended before it was done
	Denial Kind = "denial" // a call was not permitted
	Block  Kind = "block"  // a call was refused for another reason than a permission
	Loop   Kind = "loop"   // the run went in circles and was told
	Retry  Kind = "retry"  // a request failed and was tried again
	Budget Kind = "budget" // a limit was near, reached or raised
	Check  Kind = "check"  // changes that are not verified
	Cost   Kind = "cost"   // what the session cost
)

// Finding is the last of its kind.
type Finding struct {
	Kind     Kind      `json:"kind"`
	Seq      int64     `json:"seq"` // its sequence number
	Time     time.Time `json:"time"`
	Text     string    `json:"text"`
	Evidence []string  `json:"evidence"`
}

// Fold keeps the findings of a session. The zero value is ready.
type Fold struct {
	last map[Kind]Finding

	prompt  string
	asked   map[string]string // open calls of the step, by id
	recent  []string          // the outcomes of the last calls of the turn
	blocked map[string]bool   // calls whose denial is known by its own event
	stuck   *event.Stuck      // of this turn
	retries int               // in a row
	model   string
	cost    costs
	running bool // a turn is running
	proof   evidence.Fold
	failed  []string // the first output of this turn's failing checks
	// before is the earlier contents of the files in the finding about checks,
	// as far as they differ from the present ones.
	before map[string]tool.Hash
}

// keep is how many of the last calls are evidence.
const keep = 5

// Apply applies one event.
func (f *Fold) Apply(e event.Event) {
	f.proof.Apply(e)
	switch b := e.Body.(type) {
	case event.Prompted:
		joins := f.running || b.Source == event.Autofix
		if f.running = true; joins {
			return // of the same turn
		}
		f.prompt, f.recent, f.stuck, f.retries, f.failed = b.Text, nil, nil, 0, nil
		f.asked, f.blocked = map[string]string{}, map[string]bool{}
		f.cost.prompted()
	case event.Requested:
		f.model = b.Model
	case event.Retried:
		f.retry(e, b)
	case event.Replied:
		f.retries = 0
		f.cost.replied(e, f.model, b)
	case event.Charged:
		f.cost.charged(b)
	case event.CallAsked:
		if f.asked == nil {
			f.asked = map[string]string{}
		}
		f.asked[b.ID] = callLine(b.Tool, b.Args)
	case event.Blocked:
		if b.Ran {
			f.add(e, Denial, quoted(b.What)+" ran, but "+b.Reason, "decided by: "+string(b.By), "asked for: "+f.what(b.Call, b.Tool))
			return
		}
		if f.blocked == nil {
			f.blocked = map[string]bool{}
		}
		f.blocked[b.Call] = true
		f.add(e, Denial, quoted(b.What)+" was not allowed: "+b.Reason, "decided by: "+string(b.By), "asked for: "+f.what(b.Call, b.Tool))
	case event.CallDone:
		f.done(e, b)
	case event.Stuck:
		f.stuck = &b
		if b.Level != "halt" {
			f.add(e, Loop, fmt.Sprintf("%s by the rule %s: %s", b.Level, b.Rule, quoted(progress.Loop(b))), b.Evidence...)
		}
	case event.Warned:
		switch {
		case strings.HasPrefix(string(b.What), "budget."):
			f.add(e, Budget, b.Text)
		case b.What == event.WarnedFallback:
			f.add(e, Retry, b.Text)
		}
	case event.Extended:
		text := "the limit " + b.What + " was removed by a person"
		if b.To > 0 {
			text = fmt.Sprintf("the limit %s was raised to %v by a person", b.What, b.To)
		}
		f.add(e, Budget, text)
	case event.Checked:
		f.checked(b)
	case event.FileChanged:
		f.forgetUndone(b)
	case event.Ended:
		f.running = false
		f.unverified(e)
		f.ended(e, b)
	}
}

func (f *Fold) add(e event.Event, k Kind, text string, evidence ...string) {
	if f.last == nil {
		f.last = map[Kind]Finding{}
	}
	if evidence == nil {
		evidence = []string{}
	}
	f.last[k] = Finding{Kind: k, Seq: e.Seq, Time: e.Time, Text: text, Evidence: evidence}
}

func (f *Fold) what(id, tool string) string {
	if what, ok := f.asked[id]; ok {
		return what
	}
	return tool
}

func (f *Fold) retry(e event.Event, b event.Retried) {
	f.retries++
	text := fmt.Sprintf("a request to %s failed: %s", f.model, quoted(b.Error.Message))
	ev := []string{fmt.Sprintf("failed %d times in a row", f.retries)}
	if b.Model != "" {
		ev = append(ev, "went on with "+b.Model)
		f.retries = 0
	} else {
		ev = append(ev, "tried again after "+b.Wait.Round(time.Millisecond).String())
	}
	if b.Shown {
		ev = append(ev, "its text so far was discarded")
	}
	f.add(e, Retry, text, ev...)
}

func (f *Fold) done(e event.Event, b event.CallDone) {
	what := f.what(b.ID, b.Tool)
	delete(f.asked, b.ID)
	outcome := string(b.Outcome)
	if b.Exit != nil && *b.Exit != 0 {
		outcome = fmt.Sprintf("exit code %d", *b.Exit)
	}
	line := what + " → " + outcome
	if b.Outcome != event.OK {
		if first := firstLine(b.Result.Text); first != "" {
			line += ": " + quoted(first)
		}
	}
	if f.recent = append(f.recent, line); len(f.recent) > keep {
		f.recent = slices.Delete(f.recent, 0, 1)
	}
	if (b.Outcome == event.Denied || b.Outcome == event.Invalid) && !f.blocked[b.ID] {
		f.add(e, Block, what+" did not run: "+quoted(firstLine(b.Result.Text)))
	}
	delete(f.blocked, b.ID)
}

// ended records why a turn did not end by itself.
func (f *Fold) ended(e event.Event, b event.Ended) {
	if b.End == event.EndDone {
		return
	}
	text := "the turn ended: " + string(b.End)
	if b.Error != nil {
		text += ": " + quoted(b.Error.Message)
	}
	ev := []string{}
	if f.prompt != "" {
		ev = append(ev, "the prompt was: "+quoted(firstLine(f.prompt)))
	}
	switch {
	case b.End == event.EndStuck && f.stuck != nil:
		ev = append(append(ev, "rule: "+f.stuck.Rule), f.stuck.Evidence...)
	case b.End == event.EndBudget:
		ev = append(ev, f.cost.turn()...)
		f.add(e, Budget, text, slices.Clone(ev)...)
	case len(f.recent) > 0:
		ev = append(append(ev, "the last calls:"), f.recent...)
	}
	f.add(e, Halt, text, ev...)
}

// Findings returns the last finding of each kind, newest first, the cost at the end.
func (f *Fold) Findings() []Finding {
	out := []Finding{}
	for _, x := range f.last {
		out = append(out, x)
	}
	// What ended a turn comes before what it left open.
	open := func(x Finding) int {
		if x.Kind == Check {
			return 1
		}
		return 0
	}
	sorting.By(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Seq, a.Seq), cmp.Compare(open(a), open(b)), cmp.Compare(a.Kind, b.Kind))
	})
	if c, ok := f.cost.finding(); ok {
		out = append(out, c)
	}
	return out
}

// callLine returns a call's tool and arguments on one line.
func callLine(tool string, args json.RawMessage) string {
	args = args[:min(len(args), 8*longest)] // it may contain the content of a file
	return quoted(tool + " " + strings.Join(strings.Fields(strings.ToValidUTF8(string(args), "")), " "))
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

// longest is the length limit of a quoted text, in runes.
const longest = 240

func quoted(s string) string { return cut.Runes(s, longest) }

// costs is the costs of replies.
type costs struct {
	usd, turnUSD         float64
	replies, turnReplies int
	unknown              int
	guessed, children    float64
	dearest              struct {
		usd   float64
		seq   int64
		at    time.Time
		model string
		usage llm.Usage
	}
	lastSeq int64
	lastAt  time.Time
}

func (c *costs) prompted() { c.turnUSD, c.turnReplies = 0, 0 }

func (c *costs) replied(e event.Event, model string, b event.Replied) {
	c.replies++
	c.turnReplies++
	c.lastSeq, c.lastAt = e.Seq, e.Time
	if b.Cost == nil {
		c.unknown++
		return
	}
	c.usd += *b.Cost
	c.turnUSD += *b.Cost
	if *b.Cost > c.dearest.usd {
		c.dearest.usd, c.dearest.seq, c.dearest.at, c.dearest.model, c.dearest.usage = *b.Cost, e.Seq, e.Time, model, b.Reply.Usage
	}
}

func (c *costs) charged(b event.Charged) {
	if b.Unknown {
		c.replies++
		c.unknown++
	}
	switch {
	case b.USD == nil:
	case b.Guess:
		c.guessed += *b.USD
	case b.Child:
		c.children += *b.USD
		c.turnUSD += *b.USD
	default:
		c.usd += *b.USD
		c.turnUSD += *b.USD
	}
}

// turn returns what the running turn cost.
func (c *costs) turn() []string {
	out := []string{fmt.Sprintf("this turn: %s in %s; the session: %s", usd(c.turnUSD), plural.Of(c.turnReplies, "model reply"), usd(c.usd+c.children))}
	return append(out, c.rest()...)
}

func (c *costs) rest() (out []string) {
	if c.children > 0 {
		out = append(out, fmt.Sprintf("child sessions: %s", usd(c.children)))
	}
	if c.guessed > 0 {
		out = append(out, fmt.Sprintf("up to %s more for replies that were cut off, by pawl's count", usd(c.guessed)))
	}
	if c.unknown > 0 && c.unknown < c.replies {
		out = append(out, fmt.Sprintf("%d replies of unknown cost", c.unknown))
	}
	if c.dearest.usd > 0 {
		u := c.dearest.usage
		out = append(out, fmt.Sprintf("the costliest reply: %s, %s, %d tokens in (%d from the cache, %d written to it), %d out",
			usd(c.dearest.usd), c.dearest.model, u.Input+u.CacheRead+u.CacheWrite, u.CacheRead, u.CacheWrite, u.Output))
	}
	return out
}

func (c *costs) finding() (Finding, bool) {
	if c.replies == 0 {
		return Finding{}, false
	}
	text := fmt.Sprintf("the session cost %s in %s, its last turn %s in %d", usd(c.usd+c.children), plural.Of(c.replies, "model reply"), usd(c.turnUSD), c.turnReplies)
	switch {
	case c.unknown == c.replies && c.children == 0:
		text = fmt.Sprintf("the session's cost is unknown: %s", plural.Of(c.replies, "model reply"))
	case c.unknown > 0:
		text = fmt.Sprintf("the cost of %d of the session's %d model replies is unknown; the others cost %s", c.unknown, c.replies, usd(c.usd+c.children))
	}
	ev := c.rest()
	if ev == nil {
		ev = []string{}
	}
	return Finding{Kind: Cost, Seq: c.lastSeq, Time: c.lastAt, Text: text, Evidence: ev}, true
}

func usd(v float64) string {
	if v == 0 {
		return "$0"
	}
	return fmt.Sprintf("$%.4f", v)
}
