package chat

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
	"github.com/pawl-agent/pawl/internal/policy/phase"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// Timeline folds events into blocks. The zero value is ready. It needs the
// events of a session from the first one on, since proof, cost and phases
// depend on all of them.
type Timeline struct {
	open    []*part // in the order they appeared
	changes []Change

	request  origin // the current request, after which its streamed blocks are named
	tokens   int    // that it has
	window   int    // the model's, in tokens; 0: not known
	turn     bool   // a turn is running
	answer   event.Answer
	commands int // how many commands the person has run
	// commands when the last operation began.
	commandsBefore int
	background     bool // a call started something that runs on
	// The number of further blocks of the log's event last, and of blocks
	// without an event in the log.
	lastSeq     int64
	blocksAtSeq int
	passing     int64

	proof  evidence.Fold
	meter  budget.Meter
	phases phase.Fold
	swarm  swarm.Schedule
	// The workers of a swarm, by name.
	workers map[string]workerCalls
}

// origin is the sequence number and the time of the event that began something.
type origin struct {
	seq  int64
	time time.Time
}

// part is an open block.
type part struct {
	Block
	stream  stream
	call    string        // the id of a call
	retried event.Retried // the last try of a retry
}

// Apply applies one event and returns the changes, in order.
func (t *Timeline) Apply(e event.Event) []Change {
	t.proof.Apply(e)
	t.meter.Apply(e)
	t.answer.Apply(e.Body)
	t.changes = nil
	switch b := e.Body.(type) {
	case event.Prompted:
		t.withdraw(e, isCommand)
		t.addWhole(e, Prompt{
			Queued: b.ID, Joined: t.turn && b.Source != event.Autofix, Source: b.Source, Text: plain.Text(b.Text), Attached: attachedNames(b), Media: llm.CountMedia(b.Images),
		})
		t.turn = true
	case event.Requested:
		if p := t.find(isRetry); p != nil {
			t.countDown(p, 0)
		}
		t.request = origin{e.Seq, e.Time}
		if b.Messages > 0 {
			t.note(e, Note{Kind: OfRequest, Text: t.requestWords(b)})
		}
	case event.ReasoningDelta:
		t.piece(t.streaming(e, "thinking", Thinking{}), b.Text)
	case event.TextDelta:
		t.piece(t.streaming(e, "reply", Reply{}), b.Text)
	case event.Replied:
		t.replied(e, b)
	case event.Recalled:
		r := Reply{Text: plain.Text(b.Text)}
		if b.Key != "" {
			r.Cached = recalledWords(b)
		}
		t.addWhole(e, r)
		t.changes[len(t.changes)-1].More = r.Text
	case event.Retried:
		t.retry(e, b)
	case event.Waiting:
		if p := t.find(isRetry); p != nil {
			t.countDown(p, b.Left)
		}
	case event.CallAsked, event.CallStarted, event.CallDone:
		t.call(e)
	case event.OutputDelta:
		t.output(e, b)
	case event.Checking:
		t.add(&part{Block: Block{ID: id("check", e.Seq), Began: e.Time, Body: Check{Title: checkingTitle(b)}}})
	case event.Checked:
		t.checked(e, b)
	case event.Baseline:
		t.baseline(e, b)
	case event.PersonRan:
		t.personRan(e, b)
	case event.OpStarted, event.OpDone:
		t.operation(e)
	case event.Asked:
		t.asked(e, b)
	case event.Answered:
		t.answered(e, b)
	case event.AgentStarted, event.AgentCalled, event.AgentEnded:
		t.agent(e)
	case event.SwarmPlanned, event.TaskTaken, event.TaskReturned, event.TaskMerged, event.TaskConflicted, event.TaskSteered, event.SwarmEnded, event.SwarmPaused, event.SwarmResumed:
		t.swarmed(e)
	case event.TaskCalled:
		t.workerCalled(b)
	case event.AsideAsked:
		t.add(&part{call: b.ID, Block: Block{ID: id("aside", e.Seq), Began: e.Time, Body: Aside{Question: plain.Text(b.Text)}}})
	case event.AsideAnswered:
		t.asideAnswered(e, b)
	case event.Resumed: // open questions get no answer
		t.end(e, isAside)
		if t.background {
			t.background = false
			t.note(e, Note{Kind: OfTold, Text: "what ran in the background has ended with the pawl that started it"})
		}
	case event.PlanWritten:
		steps, _ := phase.Proposal{Text: b.Text}.Steps()
		t.addWhole(e, Document{Text: plain.Text(b.Text), By: string(b.By), Phases: len(steps)})
	case event.Planned:
		items := make([]tool.Item, len(b.Items))
		for i, it := range b.Items {
			items[i] = tool.Item{Text: plain.Line(it.Text), Status: plain.Line(it.Status)}
		}
		t.addWhole(e, Plan{Items: items})
	case event.Interrupted:
		t.withdraw(e, isThinking, isReply)
		t.endRetry(e)
		t.end(e, isQuestion)
		t.note(e, Note{Kind: OfInterrupt, Text: plain.Line(b.Marker()), By: b.By})
	case event.Ended:
		t.ended(e, b)
	default:
		t.remark(e)
	}
	for _, p := range phased(&t.phases, e) {
		t.addWhole(e, p)
	}
	return t.changes
}

// Open returns the open blocks, in the order of their appearance.
func (t *Timeline) Open() []Block {
	out := make([]Block, len(t.open))
	for i, p := range t.open {
		out[i] = p.Block
	}
	return out
}

func id(kind string, seq int64) string { return kind + "-" + strconv.FormatInt(seq, 10) }

func (t *Timeline) change(what What, p *part, more string) {
	t.changes = append(t.changes, Change{What: what, Block: p.Block, More: more})
}

func (t *Timeline) add(p *part) {
	p.Open = true
	t.open = append(t.open, p)
	t.change(Added, p, "")
}

// addWhole adds a complete block. One event may lead to several.
func (t *Timeline) addWhole(e event.Event, b Body) {
	p := &part{Block: Block{ID: id("e", e.Seq), Began: e.Time, Body: b, Ephemeral: e.Seq == 0}}
	if e.Seq == 0 {
		t.passing++
		p.ID = id("passing", t.passing)
	} else if t.lastSeq == e.Seq {
		t.blocksAtSeq++
		p.ID += "." + strconv.Itoa(t.blocksAtSeq)
	} else {
		t.lastSeq, t.blocksAtSeq = e.Seq, 0
	}
	t.finish(e, p, "", false)
}

func (t *Timeline) note(e event.Event, n Note) { t.addWhole(e, n) }

func (t *Timeline) finish(e event.Event, p *part, more string, missed bool) {
	p.Open, p.Ended = false, e.Time
	t.open = slices.DeleteFunc(t.open, func(o *part) bool { return o == p })
	t.changes = append(t.changes, Change{What: Finished, Block: p.Block, More: more, Missed: missed})
}

// find returns the first open block for which is returns true.
func (t *Timeline) find(is func(*part) bool) *part {
	if i := slices.IndexFunc(t.open, is); i >= 0 {
		return t.open[i]
	}
	return nil
}

func is[B Body](p *part) bool { _, ok := p.Body.(B); return ok }

var (
	isReply    = is[Reply]
	isThinking = is[Thinking]
	isCommand  = is[Command]
	isCheck    = is[Check]
	isRetry    = is[Retry]
	isQuestion = is[Question]
	isAside    = is[Aside]
)

// end finishes all open blocks of a kind as they are.
func (t *Timeline) end(e event.Event, is func(*part) bool) {
	for p := t.find(is); p != nil; p = t.find(is) {
		t.finish(e, p, p.stream.sanitizer.End(), false)
	}
}

// withdraw ends open blocks that are not in the log: a reply that broke off, a
// command whose end was not recorded.
func (t *Timeline) withdraw(e event.Event, is ...func(*part) bool) {
	for _, is := range is {
		for p := t.find(is); p != nil; p = t.find(is) {
			p.Ephemeral = true
			t.finish(e, p, p.stream.sanitizer.End(), false)
		}
	}
	t.request = origin{}
}

// piece adds new text to an open block.
func (t *Timeline) piece(p *part, text string) {
	if text == "" {
		return
	}
	if more := p.stream.add(text); more != "" {
		t.change(Changed, p, more)
	}
}

// streaming returns the open block of a request's stream, or begins it.
func (t *Timeline) streaming(e event.Event, kind string, b Body) *part {
	find := isReply
	if kind == "thinking" {
		find = isThinking
	}
	p := t.find(find)
	if p == nil {
		if r := t.find(isRetry); r != nil { // it ends with what is recorded, as in the log
			r.Body = r.Body.(Retry).over(r.retried)
			t.change(Changed, r, "")
		}
		at := t.requestOf(e)
		p = &part{Block: Block{ID: id(kind, at.seq), Began: at.time, Body: b}}
		if at.seq == 0 {
			t.passing++
			p.ID = kind + "-" + id("passing", t.passing)
		}
		t.add(p)
	}
	return p
}

// requestOf returns the request that a reply belongs to.
func (t *Timeline) requestOf(e event.Event) origin {
	if t.request.seq == 0 { // an imported log, or one that begins in a turn
		return origin{e.Seq, e.Time}
	}
	return t.request
}

func (t *Timeline) replied(e event.Event, b event.Replied) {
	t.endRetry(e)
	m := b.Reply.Message
	thought := ""
	for _, p := range m.Parts {
		if p.Kind == llm.Reasoning {
			thought += p.Text
		}
	}
	if thought != "" {
		p := t.streaming(e, "thinking", Thinking{})
		more, missed := p.stream.finish(thought)
		p.Body = Thinking{Text: plain.Text(thought)}
		t.finish(e, p, more, missed)
	}
	if text := m.Text(); text != "" {
		p := t.streaming(e, "reply", Reply{})
		more, missed := p.stream.finish(text)
		p.Body = Reply{Text: plain.Text(text), Before: plain.Text(t.answer.Before()), Calls: len(m.Calls()), Cost: b.Cost}
		t.finish(e, p, more, missed)
	}
	t.withdraw(e, isThinking, isReply) // streamed text that is not in the reply
	if b.Reply.Stop == llm.StopRefusal {
		t.note(e, Note{Kind: OfRefusal, Text: plain.Line("the model refused: " + b.Reply.Refusal)})
	}
}

// call handles the events of a call. Ids are unique only among open calls.
func (t *Timeline) call(e event.Event) {
	switch b := e.Body.(type) {
	case event.CallAsked:
		t.add(&part{call: b.ID, Block: Block{ID: id("call", e.Seq), Began: e.Time, Body: Call{
			Tool: plain.Line(b.Tool), Kind: b.Does, Target: plain.Line(b.Target), Title: plain.Line(b.Title), Arguments: argumentWords(b),
		}}})
	case event.CallStarted:
		if p := t.openCall(b.ID); p != nil {
			c := p.Body.(Call)
			c.Started = true
			p.Body, p.Began = c, e.Time // a person may have thought about it before
			t.change(Changed, p, "")
		}
	case event.CallDone:
		p := t.openCall(b.ID)
		if p == nil {
			p = &part{Block: Block{ID: id("call", e.Seq), Began: e.Time, Body: Call{Tool: plain.Line(b.Tool), Kind: b.Does, Title: plain.Line(b.Tool)}}}
		}
		c := p.Body.(Call)
		c.Outcome, c.Summary, c.Command, c.Exit = b.Outcome, outcomeWords(b), plain.Text(b.Command), b.Exit
		c.Diff, c.Output, c.Images = plain.Text(b.Diff), plain.Text(b.Result.Text), b.Result.Images
		p.Body = c
		t.background = t.background || c.Background()
		t.finish(e, p, p.stream.sanitizer.End(), false)
	}
}

func (t *Timeline) openCall(id string) *part {
	return t.find(func(p *part) bool { _, ok := p.Body.(Call); return ok && p.call == id })
}

// output handles the output of something that runs: a person's own command, one
// of pawl's checks, or a call.
func (t *Timeline) output(e event.Event, b event.OutputDelta) {
	var p *part
	switch b.Call {
	case "":
		if p = t.find(isCommand); p == nil {
			p = t.command(e)
			t.add(p)
		}
	case event.CheckCall:
		p = t.find(isCheck)
	default:
		p = t.openCall(b.Call)
	}
	if p != nil {
		t.piece(p, b.Text)
	}
}

// command begins the block of a person's own command. The log has only its end,
// so it is named by the number of commands before it.
func (t *Timeline) command(e event.Event) *part {
	return &part{Block: Block{ID: id("command", int64(t.commands)), Began: e.Time, Body: Command{}}}
}

// operation handles the end of an operation that nothing else reports: a
// command that was cancelled before it ran, and failures.
func (t *Timeline) operation(e event.Event) {
	switch b := e.Body.(type) {
	case event.OpStarted:
		t.commandsBefore = t.commands
	case event.OpDone:
		switch {
		case b.Outcome == event.Cancelled && b.Op == "command" && t.commands == t.commandsBefore:
			t.withdraw(e, isCommand)
			t.note(e, Note{Kind: OfInterrupt, Text: "interrupted", By: "person"})
		case b.Outcome == event.Failed && b.Error != nil:
			t.withdraw(e, isCommand)
			t.note(e, Note{Kind: OfFailure, Text: faultWords(*b.Error)})
		}
	}
}

func (t *Timeline) personRan(e event.Event, b event.PersonRan) {
	p := t.find(isCommand)
	if p == nil {
		p = t.command(e)
	}
	t.commands++
	p.Began = e.Time // the log has no other time
	more, missed := p.stream.finish(b.Output)
	p.Body = Command{Line: plain.Text(b.Command), Output: plain.Text(b.Output), Exit: b.Exit}
	t.finish(e, p, more, missed && !p.stream.endsLike(b.Output))
}

func (t *Timeline) asideAnswered(e event.Event, b event.AsideAnswered) {
	p := t.find(func(p *part) bool { return isAside(p) && p.call == b.ID })
	if p == nil { // the log begins after it
		p = &part{Block: Block{ID: id("aside", e.Seq), Began: e.Time, Body: Aside{}}}
	}
	a := p.Body.(Aside)
	a.Answer, a.Cost = plain.Text(b.Text), b.Cost
	if b.Error != nil {
		a.Error = faultWords(*b.Error)
	}
	p.Body = a
	t.finish(e, p, "", false)
}

// checked ends one of pawl's checks. One without a command is why none ran; the
// turn's ending shows that too.
func (t *Timeline) checked(e event.Event, b event.Checked) {
	p := t.find(isCheck)
	if b.Command == "" {
		t.end(e, isCheck)
		return
	}
	if p == nil {
		p = &part{Block: Block{ID: id("check", e.Seq), Began: e.Time}}
	}
	p.Body = Check{Title: checkTitle(b.Command), Summary: checkedWords(b), Exit: b.Exit, Output: plain.Text(b.Output)}
	t.finish(e, p, p.stream.sanitizer.End(), false)
}

// baseline ends a check of the files as they were before the turn. One that never began
// is not shown.
func (t *Timeline) baseline(e event.Event, b event.Baseline) {
	if p := t.find(isCheck); p != nil {
		c := p.Body.(Check)
		c.Summary = baselineWords(b)
		p.Body = c
		t.finish(e, p, p.stream.sanitizer.End(), false)
	}
}

func (t *Timeline) ended(e event.Event, b event.Ended) {
	t.withdraw(e, isThinking, isReply)
	if p := t.find(isRetry); p != nil && b.Error != nil && strings.Contains(b.Error.Message, p.retried.Error.Message) {
		p.Ephemeral = true // the turn's end says it
	}
	t.endRetry(e)
	t.turn = false
	t.end(e, isQuestion)
	t.end(e, isCheck)
	out := TurnEnd{End: b.End, Proof: brief.Evidence(t.proof.Report()), Spent: t.meter.Turn()}
	if b.Error != nil && b.End != event.EndInterrupted {
		out.Error = faultWords(*b.Error)
	}
	t.addWhole(e, out)
}

// attachedNames returns the names of what the mentions of a prompt attached.
func attachedNames(b event.Prompted) []string {
	var names []string
	for line := range strings.Lines(b.Attached) {
		if name, ok := strings.CutPrefix(strings.TrimSuffix(line, " ==\n"), "== "); ok && strings.HasSuffix(line, " ==\n") {
			names = append(names, plain.Line(name))
		}
	}
	return names
}
