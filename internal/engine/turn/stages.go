package turn

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Stages are what happens around a request and around a call. Each list is
// executed in its order, and nothing else decides the order: the order is the
// policy.
type Stages struct {
	// Before each request, until one ends the turn.
	Before []Before
	// Gates judge the calls of a step before any of them runs (SPEC 4.3).
	Gates []Gate
	// Start runs just before one call, when no conflicting call is running any
	// more, until one stage refuses it.
	Start []Starter
	// After runs after a call, before its result is recorded and before a call
	// that conflicts with it starts.
	After []After
}

// Before is called before each request. An end or an error ends the turn.
type Before func(context.Context) (event.End, error)

// Gate checks a whole step, so that one question can cover many calls. It sets
// Refused on the calls it refuses, and leaves alone those that are refused
// already. An error means that the gate itself is broken: the turn ends.
type Gate interface {
	Check(ctx context.Context, step []*Pending) error
}

// Starter judges a call just before it runs, since earlier calls of the step
// may have changed things (SPEC 4.3). Calls that do not conflict are judged in
// parallel.
type Starter interface {
	Start(ctx context.Context, p *Pending) *Refusal
}

// After is called for every call whose turn came, even if it was refused or
// cancelled then, so that it can end what a Starter began. An error is reported
// to the model as the call's failure.
type After interface {
	After(ctx context.Context, r *Ran) error
}

// Ran is a finished call.
type Ran struct {
	*Pending
	// Started reports whether the tool was run.
	Started bool
	// Outcome and Result are those of the call. Result has no notes of stages.
	Outcome event.Outcome
	Result  tool.Result
}

// Pending is a call on its way through the stages.
type Pending struct {
	Call      llm.Call
	Args      json.RawMessage // the arguments to run: hooks and corrections may change Call.Args
	Tool      tool.Tool
	Footprint tool.Footprint
	Refused   *Refusal // set by a gate; the call does not run
	Allowed   bool     // a person was asked about this call and allowed it
	Asks      string   // set by a gate: why a person must be asked, whatever permission decides
	// Confine is what the processes of the call may touch; the gate that lets
	// the call pass sets it. The default is the narrowest.
	Confine process.Confine
	// Hold decides about what Confine does not cover, while a process of the call waits;
	// nil: it is refused.
	Hold process.Hold
	// Records, if set, is how the call is recorded: pawl itself made it, and it
	// is not part of the conversation.
	Records Records
	// Given, if a gate sets it, is how the call ended in a session that is played again,
	// and GivenWith what it did: the call does not run.
	Given     *event.CallDone
	GivenWith []event.Draft

	beside    *atomic.Int32 // the edits that stand side by side in the reply and have not ended
	fix       string        // what was corrected, told to the model before the result
	mu        sync.Mutex
	notes     []string
	changed   []event.FileChanged
	untouched bool
	asPerson  bool
}

// Records is how a call is recorded that the model did not ask for: it has no
// result in the conversation.
type Records interface {
	// Started is recorded just before it runs, Done once it is over or refused.
	Started() []event.Draft
	Done(Ran) []event.Draft
}

// LastEdit reports whether every edit has ended that stands beside this one in the reply.
// Each call asks it once, when it has ended.
func (p *Pending) LastEdit() bool { return p.beside == nil || p.beside.Add(-1) == 0 }

// sideBySide counts the edits that follow each other, with nothing else between them.
func sideBySide(step []*Pending) {
	var count *atomic.Int32
	for _, p := range step {
		switch fp := p.Footprint; {
		case p.Refused != nil || p.Given != nil:
		case len(fp.Writes) == 0 || fp.Shell != "" || fp.RunsChild:
			count = nil
		default:
			if count == nil {
				count = new(atomic.Int32)
			}
			count.Add(1)
			p.beside = count
		}
	}
}

// Corrected tells the model, before the result, how its call was read or what
// it should know of its files. Nothing is told twice.
func (p *Pending) Corrected(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fix = joinOnce(p.fix, "; ", what)
}

// Note adds a text for the model to the call's result: after the tool's output,
// before its last line. A stage keeps a text that is too late for this result
// and adds it to a later one.
func (p *Pending) Note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes = append(p.notes, text)
}

// Untouched notes that the sandbox saw no change of the workspace: see event.CallDone.
func (p *Pending) Untouched() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.untouched = !p.asPerson
}

// AsPerson notes that its command runs again as the person, whom no sandbox watches.
func (p *Pending) AsPerson() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asPerson = true
}

func (p *Pending) leftAlone() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.untouched
}

// Changed adds files that the call changed. They are recorded by now.
func (p *Pending) Changed(files ...event.FileChanged) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changed = append(p.changed, files...)
}

// Files are the files that the call changed, in the order in which it did.
func (p *Pending) Files() []event.FileChanged {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]event.FileChanged(nil), p.changed...)
}

// Refusal is why a call does not run. Text is for the model.
type Refusal struct {
	Outcome event.Outcome // OK: there is nothing to do
	Text    string
	Note    string         // what a person sees of it
	Blocked *event.Blocked // set where the run's result should list it
	EndTurn bool           // after a person's No: only what they allowed runs, and the turn ends
	Seen    []tool.Span    // lines that Text shows
}

// Check passes a step through the gates.
func (s Stages) Check(ctx context.Context, step []*Pending) error {
	for _, g := range s.Gates {
		if err := g.Check(ctx, step); err != nil {
			return err
		}
	}
	return nil
}

// before passes the stages before a request.
func (s Stages) before(ctx context.Context) (event.End, error) {
	for _, b := range s.Before {
		if end, err := b(ctx); end != "" || err != nil {
			return end, err
		}
	}
	return "", nil
}

// start passes the stages just before a call.
func (s Stages) start(ctx context.Context, p *Pending) *Refusal {
	for _, st := range s.Start {
		if no := st.Start(ctx, p); no != nil {
			return no
		}
	}
	return nil
}

// after runs the stages after a call. All of them run, and the first error counts.
func (s Stages) after(ctx context.Context, r *Ran) (err error) {
	for _, a := range s.After {
		if aerr := a.After(ctx, r); err == nil {
			err = aerr
		}
	}
	return err
}
