package turn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// defaultTimeout bounds a tool that names no limit of its own.
const defaultTimeout = 2 * time.Minute

// finishedCall is a finished call that is not recorded yet.
type finishedCall struct {
	event.CallDone
	p       *Pending
	ran     Ran
	seen    []tool.Span
	blocked *event.Blocked
}

// step checks and runs the calls of one reply. It returns an end if the turn
// must not continue.
func (l *Loop) step(ctx context.Context, calls []llm.Call) (event.End, error) {
	pending := make([]*Pending, len(calls))
	for i, c := range calls {
		pending[i] = &Pending{Call: c, Args: c.Args}
	}
	return l.Step(ctx, pending)
}

// Step passes calls through all stages and runs them: those of a reply, or
// pawl's own (Pending.Records). It returns an end if the turn must not
// continue.
func (l *Loop) Step(ctx context.Context, pending []*Pending) (event.End, error) {
	broken := l.Stages.Check(ctx, pending)
	// A person's No cancels the rest. Calls that they allowed still run,
	// together with the calls that these depend on (SPEC 4.7, 18.3).
	no, stands := false, 0
	for i, p := range pending {
		no = no || p.Refused != nil && p.Refused.EndTurn
		if p.Allowed && p.Refused == nil {
			stands = i + 1
		}
	}
	if broken != nil || ctx.Err() != nil {
		no, stands = true, 0
	}
	for _, p := range pending[stands:] {
		if no && p.Refused == nil {
			p.Refused = &Refusal{Outcome: event.Cancelled, Text: cancelledText}
		}
	}
	if err := l.run(ctx, pending); err != nil {
		return event.EndFailed, err
	}
	switch {
	case ctx.Err() != nil:
		return EndOf(context.Cause(ctx))
	case broken != nil:
		return EndOf(broken)
	case no:
		mark := event.Interrupted{By: event.InterruptedByPermission}
		if err := l.Log.Append(context.WithoutCancel(ctx), event.Draft{Body: mark}); err != nil {
			return event.EndFailed, err
		}
		return event.EndPermission, nil
	}
	return "", nil
}

const cancelledText = "[Cancelled: this call did not run.]"

// run runs what was not refused, as much in parallel as footprints allow, and
// records the results in the order of the calls. A call keeps its lock until
// its result is recorded: the next conflicting call sees both the files and the
// log. A call that waits for an agent releases its lock before, since the
// agent's own calls may wait for it; what it showed is recorded by then.
func (l *Loop) run(ctx context.Context, pending []*Pending) error {
	results := make([]chan finishedCall, len(pending))
	tickets := make([]*Ticket, len(pending))
	var wg sync.WaitGroup
	// A storage failure ends the turn: running calls are cancelled too.
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		wg.Wait()
		for _, t := range tickets {
			t.Release()
		}
	}()
	sideBySide(pending)
	behindChild := false
	for i, p := range pending {
		results[i] = make(chan finishedCall, 1)
		if p.Refused != nil {
			results[i] <- refuse(p, p.Refused) // the stages around a call have not begun
			continue
		}
		if p.Given != nil {
			results[i] <- finishedCall{CallDone: *p.Given, p: p}
			continue
		}
		ticket := l.Locks.Reserve(p.Footprint)
		tickets[i] = ticket
		early := behindChild
		behindChild = behindChild || p.Footprint.RunsChild
		wg.Go(func() {
			if err := ticket.Wait(ctx); err != nil {
				results[i] <- refuse(p, &Refusal{Outcome: event.Cancelled, Text: cancelledText})
				return
			}
			d := l.call(ctx, p)
			if early {
				// If the log cannot be written, recording the result fails too
				// and reports it.
				_ = l.Log.Append(context.WithoutCancel(ctx), d.shown()...)
				d.seen = nil
				ticket.Release()
			}
			results[i] <- d
		})
	}
	for i := range pending {
		d := <-results[i]
		if err := l.record(ctx, d); err != nil {
			return err
		}
		tickets[i].Release()
	}
	return nil
}

func (l *Loop) record(ctx context.Context, d finishedCall) error {
	ctx = context.WithoutCancel(ctx)
	if d.p.Records != nil {
		return l.Log.Append(ctx, d.p.Records.Done(d.ran)...)
	}
	var drafts []event.Draft
	if d.Outcome == event.OK && !d.ran.Started && d.p.Given == nil { // tried on drafts, it had nothing to do
		drafts = append(drafts, event.Draft{Body: event.CallStarted{ID: d.ID}})
	}
	if d.blocked != nil {
		drafts = append(drafts, event.Draft{Body: *d.blocked})
	}
	drafts = append(append(drafts, d.p.GivenWith...), d.shown()...)
	drafts = append(drafts, event.Draft{Body: d.CallDone})
	return l.Log.Append(ctx, drafts...)
}

// shown returns the events for the lines that the call showed.
func (d *finishedCall) shown() []event.Draft {
	if len(d.seen) == 0 {
		return nil
	}
	return []event.Draft{{Body: event.FileSeen{Call: d.ID, Spans: d.seen}}}
}

func refuse(p *Pending, r *Refusal) finishedCall {
	failed := r.Outcome != event.OK
	return finishedCall{
		CallDone: event.CallDone{
			ID: p.Call.ID, Tool: name(p), Outcome: r.Outcome, Note: r.Note, Bytes: int64(len(r.Text)),
			Does: p.Tool.Does(), Listing: p.Tool.Listing, Repeatable: p.Tool.Repeatable,
			Result: llm.Result{ID: p.Call.ID, Name: p.Call.Name, Text: r.Text, Error: failed},
		},
		seen: r.Seen, blocked: r.Blocked,
		p: p, ran: Ran{Pending: p, Outcome: r.Outcome, Result: tool.Result{Text: r.Text, Error: failed}},
	}
}

// name is the tool's own name where there is such a tool, else what the model
// called it.
func name(p *Pending) string {
	if p.Tool.Spec.Name != "" {
		return p.Tool.Spec.Name
	}
	return p.Call.Name
}

// call runs one call that has its lock, with the stages around it.
func (l *Loop) call(ctx context.Context, p *Pending) finishedCall {
	d, no := l.invoke(ctx, p)
	if no != nil {
		d = refuse(p, no)
	}
	if err := l.Stages.after(ctx, &d.ran); err != nil && no == nil {
		if d.Outcome == event.OK {
			d.Outcome = event.Failed
		}
		d.ran.Outcome, d.ran.Result.Error = d.Outcome, true
		d.ran.Result.Text = join(d.ran.Result.Text, err.Error())
	}
	if no == nil {
		l.finish(ctx, &d)
	}
	return d
}

// invoke runs one call that has its lock, or returns why it does not run.
func (l *Loop) invoke(ctx context.Context, p *Pending) (finishedCall, *Refusal) {
	if no := l.Stages.start(ctx, p); no != nil {
		return finishedCall{}, no
	}
	if ctx.Err() != nil || l.Interrupted != nil && l.Interrupted() {
		return finishedCall{}, &Refusal{Outcome: event.Cancelled, Text: cancelledText}
	}
	begun := event.CallStarted{ID: p.Call.ID}
	if p.Footprint.Shell != "" {
		begun.Confine = &p.Confine
	}
	started := []event.Draft{{Body: begun}}
	if p.Records != nil {
		started = p.Records.Started()
	}
	if err := l.Log.Append(context.WithoutCancel(ctx), started...); err != nil {
		return finishedCall{}, &Refusal{Outcome: event.Failed, Text: "[The call did not run: the session's log cannot be written.]"}
	}
	limit := p.Tool.Timeout
	limit = cmp.Or(limit, defaultTimeout)
	cctx := ctx
	if limit > 0 {
		var cancel context.CancelFunc
		cctx, cancel = context.WithTimeoutCause(ctx, limit, fault.NewToolTimeout(p.Tool.Spec.Name, limit))
		defer cancel()
	}
	start := l.Clock.Now()
	r, err := Invoke(cctx, p.Tool, func() tool.Env { return l.Env(p) }, p.Args)
	d := finishedCall{p: p, CallDone: event.CallDone{
		ID: p.Call.ID, Tool: p.Tool.Spec.Name, Outcome: event.OK, Note: r.Note, Diff: r.Diff,
		Command: r.Command, Exit: r.Exit, Checks: r.Checks, Took: l.Clock.Now().Sub(start),
		Does: p.Tool.Does(), Listing: p.Tool.Listing, Repeatable: p.Tool.Repeatable,
	}}
	switch {
	case ctx.Err() != nil:
		d.Outcome = event.Cancelled
		r.Error = true
		r.Text = join(r.Text, "[Cancelled while it ran: what it did so far may stand.]")
	case r.Timeout, errors.Is(context.Cause(cctx), fault.ErrToolTimeout):
		d.Outcome = event.TimedOut
		r.Error = true
		if err != nil {
			r.Text = join(r.Text, context.Cause(cctx).Error())
		}
	case err != nil:
		d.Outcome = event.Failed
		r.Error = true
		r.Text = join(r.Text, err.Error())
	case r.Error:
		d.Outcome = event.Failed
	}
	d.ran = Ran{Pending: p, Started: true, Outcome: d.Outcome, Result: r}
	return d, nil
}

// Invoke runs a tool: it is the only place that does. A panic becomes an error:
// one broken tool must not end the session.
func Invoke(ctx context.Context, t tool.Tool, env func() tool.Env, args json.RawMessage) (r tool.Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			r, err = tool.Result{}, fault.NewInternal(nil, "the %s tool broke: %v", t.Spec.Name, v)
		}
	}()
	return t.Run(ctx, env(), args)
}

// Masked returns a result without secrets. Code that shortens a result, stores
// it elsewhere or compares it must use this: a key that was cut in two would
// not be found any more. The log masks everything again.
func (rs Results) Masked(r tool.Result) tool.Result {
	texts := []*string{&r.Text}
	if r.Gap != nil {
		g := *r.Gap
		r.Gap = &g
		texts = append(texts, &g.Head, &g.Tail)
	}
	whole := r.Text
	for _, text := range texts {
		*text = rs.Mask(*text)
	}
	if r.Text != whole {
		r.Seen = nil // masked lines are not what the file holds: an edit must read again
	}
	return r
}

// finish masks, shortens and stores a result. It is the only place that decides
// how much of it the model is shown.
func (l *Loop) finish(ctx context.Context, d *finishedCall) {
	p, r := d.p, d.ran.Result
	r.Text = p.noted(r)
	after := afterOutput(r)
	r = l.Results.Masked(r)
	text := r.Text
	d.Bytes = int64(len(text))
	switch limit := l.Results.Cap(text); {
	case r.Gap != nil:
		d.Bytes, d.Spill = d.Bytes-int64(len(r.Gap.Text()))+r.Gap.Size(), r.Gap.File
		if text = r.Gap.Text() + after; limit > 0 && !window.Fits(text, limit) {
			text = window.Narrow(*r.Gap, max(limit-window.Estimate{}.Count(after), 1)).Text() + after
			r.Seen = nil // some of it may be cut
		}
	// A tool that chose its lines by Env.Limit is trusted: they stay shown.
	case limit > 0 && (len(r.Seen) == 0 || len(text) > window.Bytes(limit)):
		whole := text
		var cut bool
		text, cut = window.Cut(text, limit, func() string {
			spill, err := l.Results.Spill(context.WithoutCancel(ctx), d.ID, whole)
			if err != nil {
				return "the whole could not be kept: " + err.Error()
			}
			d.Spill = spill
			return "the whole is in " + spill
		})
		if cut {
			r.Seen = nil
		}
	}
	if p.fix != "" {
		text = join("["+p.fix+"]", text) // the log masks it on its way in
	}
	// The log keeps text: other bytes would come back as others.
	text = strings.ToValidUTF8(text, "\uFFFD")
	d.seen, d.Untouched = r.Seen, p.leftAlone()
	// The name that the model used: providers compare it with the call's.
	d.Result = llm.Result{ID: d.ID, Name: p.Call.Name, Text: text, Error: r.Error, Images: r.Images}
}

// afterOutput returns the text after an output whose middle is missing. It is
// not cut, and the log masks it.
func afterOutput(r tool.Result) string {
	if r.Gap == nil {
		return ""
	}
	output := r.Gap.Text()
	trimmed := strings.TrimRight(output, "\n") // as some tools give it
	return strings.TrimPrefix(strings.TrimPrefix(r.Text, trimmed), output[len(trimmed):])
}

// noted returns a result's text with the stages' notes.
func (p *Pending) noted(r tool.Result) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.notes) == 0 {
		return r.Text
	}
	text, last := r.Text, ""
	if i := strings.LastIndex(text, r.Last); i >= 0 && r.Last != "" {
		text, last = text[:i], text[i:]
	}
	for _, n := range p.notes {
		text = join(strings.TrimSuffix(text, "\n"), strings.TrimSuffix(n, "\n"))
	}
	return join(text, last)
}

// joinOnce adds b to a where it is not there yet.
func joinOnce(a, between, b string) string {
	switch {
	case a == "":
		return b
	case b == "" || strings.Contains(a, b):
		return a
	}
	return a + between + b
}

func join(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	}
	return a + "\n" + b
}
