package headless

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/took"
	"github.com/pawl-agent/pawl/internal/engine/operations"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/team/structured"
	"github.com/pawl-agent/pawl/internal/team/until"
)

// Format is the format of the output.
type Format string

// The formats.
const (
	Text   Format = "text"
	JSON   Format = "json"
	Stream Format = "stream-json"
)

// Options are the options of a run.
type Options struct {
	Format  Format
	Verbose bool               // what each request has is shown, too
	Trust   *event.FolderTrust // which programs of the folder do not run; nil: unknown
	Verify  bool
	Until   *until.Goal        // nil: the run ends with the model's turn
	Answer  *structured.Answer // nil: the answer may have any form
	Timeout time.Duration      // 0: none
	Undo    string             // the command that undoes the changes, "" for none
	Why     string             // the command that shows the evidence, "" for none
	Piped   string             // data that belongs to the prompt
	Custom  []slash.Custom     // commands that a prompt may call by /NAME
	Out     io.Writer          // the answer, or JSON
	Err     io.Writer          // progress
	Columns int                // width of the terminal Out; 0: lines are not broken
	Now     func() time.Time
	// Speak is after how long a call or a check that still runs is told of, and again each
	// time that this time has doubled; 0: 15 seconds.
	Speak time.Duration
	// Signals yields the names of signals; each one interrupts the run.
	Signals <-chan string
	// Abort ends the process. It is called at the third signal, if something cannot be
	// interrupted. The log is safe at any moment.
	Abort func(code int)
}

// Run runs one prompt in a session and returns its result. An error means that the
// output could not be written or that the session's log failed; Result then contains
// what is known.
func Run(ctx context.Context, s *session.Session, prompt string, o Options) (Result, error) {
	start := o.Now()
	out := bufio.NewWriter(o.Out)
	defer out.Flush()
	v := &view{Options: o, out: out, s: s}
	v.running.speak = cmp.Or(o.Speak, 15*time.Second)
	from := s.View().Began()
	if o.Format == Text {
		from = 0 // the timeline needs all earlier events
	}
	v.first(s)
	ctx, stop := interrupts(ctx, o)
	defer stop()
	p := session.Prompt{Text: prompt, Piped: o.Piped}
	if o.Until != nil {
		p.Until = o.Until
	}
	if o.Answer != nil {
		p.Answer = o.Answer
	}
	p, err := slash.Expand(ctx, s, o.Custom, p)
	if err != nil {
		return Result{}, err
	}
	lost := brief.Lost{}
	run, err := s.RunPrompt(ctx, p, session.Observer{After: from, See: func(e event.Event) error {
		lost.Apply(e.Body)
		if err := v.show(e); err != nil {
			return unwritten{err}
		}
		return nil
	}})
	v.running.end()
	if out := (unwritten{}); errors.As(err, &out) {
		s.Close()
		return Result{}, out
	}
	if err != nil && run.Began == 0 {
		by := session.Interrupt{}
		if !errors.As(context.Cause(ctx), &by) {
			return Result{}, err
		}
		// Before the prompt was accepted. It ends as it would in the turn.
		end, why := turn.EndOf(operations.Interrupted(by.By))
		f := turn.Describe(why)
		run.Ended.End, run.Ended.Error, run.By, err = end, &f, by.By, nil
	}
	r := resultOf(s, run, o)
	r.DurationMS = o.Now().Sub(start).Milliseconds()
	if run.Began > 0 {
		r.NotRestorable = lost.String()
	}
	if run.Ended.End == "" {
		err = r.fail(cmp.Or(s.Close(), err))
		if o.Format == Text {
			return r, err
		}
	}
	return r, errors.Join(err, v.last(s, r))
}

// unwritten is the error for output that cannot be written.
type unwritten struct{ error }

func (u unwritten) Error() string { return "write the output: " + u.error.Error() }
func (u unwritten) Unwrap() error { return u.error }

// interrupts returns a context that ends at a signal, at the time limit or with ctx.
// Its cause tells which.
func interrupts(ctx context.Context, o Options) (_ context.Context, stop func()) {
	out, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	var limit <-chan time.Time
	if o.Timeout > 0 {
		timer := time.NewTimer(o.Timeout)
		context.AfterFunc(out, func() { timer.Stop() })
		limit = timer.C
	}
	done := make(chan struct{})
	go func() {
		ends, signals := ctx.Done(), 0
		for {
			by := "timeout"
			select {
			case <-limit:
			case by = <-o.Signals:
				if signals++; signals == 3 && o.Abort != nil {
					o.Abort(CodeOf(event.EndInterrupted, by))
				}
			case <-ends:
				by, ends = "SIGTERM", nil
			case <-done:
				return
			}
			cancel(session.Interrupt{By: by})
		}
	}()
	return out, func() {
		close(done)
		cancel(nil)
	}
}

// view writes events in one of the formats.
type view struct {
	Options
	out *bufio.Writer
	s   *session.Session

	timeline chat.Timeline
	said     struct {
		answer string // the text of the last reply
		phases int64  // phases up to this event were shown
	}
	running running
}

// running are the calls and checks that run. While its lock is held nothing is told.
type running struct {
	sync.Mutex
	speak time.Duration
	is    map[string]*time.Timer // by the id of the block
}

// begin tells of what has begun, again and again, until it is over.
func (r *running) begin(id string, tell func(took string)) {
	if r.is[id] != nil {
		return
	}
	if r.is == nil {
		r.is = map[string]*time.Timer{}
	}
	after := r.speak
	r.is[id] = time.AfterFunc(after, func() {
		r.Lock()
		defer r.Unlock()
		if t := r.is[id]; t != nil {
			tell(took.Text(after))
			t.Reset(after)
			after *= 2
		}
	})
}

func (r *running) over(id string) {
	if t := r.is[id]; t != nil {
		t.Stop()
		delete(r.is, id)
	}
}

func (r *running) end() {
	r.Lock()
	defer r.Unlock()
	for id := range r.is {
		r.over(id)
	}
}

func (v *view) first(s *session.Session) {
	if v.Format == Text {
		fmt.Fprintf(v.Err, "pawl: %s; mode %s; session %s%s\n", brief.Model(s.View().Info()), s.View().Mode(), s.ID(), v.inert())
		if p := s.View().Phases(); p.Open != nil { // earlier phases were shown before
			fmt.Fprintln(v.Err, plain.Line(fmt.Sprintf("pawl: phase %d of %d: %s", p.Open.Number, p.Totals.TotalPhases, p.Open.Description)))
		}
		v.said.phases = s.View().Last()
	}
}

// inert returns the part of the first line that names the folder's programs that do not
// run.
func (v *view) inert() string {
	if v.Trust == nil {
		return ""
	}
	if text := brief.Inert(*v.Trust); text != "" {
		return "; " + text
	}
	return ""
}

func (v *view) show(e event.Event) error {
	switch v.Format {
	case Stream:
		if err := WriteEvent(v.out, e); err != nil {
			return err
		}
		return v.out.Flush()
	case Text:
		v.running.Lock() // it writes to the same place
		defer v.running.Unlock()
		v.progress(e)
	}
	return nil
}

// progress writes the timeline to stderr, a line per entry. Events before this run are
// folded but not written.
func (v *view) progress(e event.Event) {
	changes := v.timeline.Apply(e)
	if e.Seq != 0 && e.Seq <= v.s.View().Began() {
		return
	}
	for _, c := range changes {
		if _, ok := c.Block.Body.(chat.Phase); ok && e.Seq <= v.said.phases {
			continue // the first lines contained it
		}
		v.draw(c)
	}
}

func (v *view) draw(c chat.Change) {
	if b, ok := c.Block.Body.(chat.Retry); ok {
		switch {
		case b.Failed:
			v.line(b.Text)
		case b.Left > 0 && b.Left%(10*time.Second) == 0: // a log keeps these lines, so they are few
			v.line(b.Next)
		}
		return
	}
	if c.What != chat.Finished {
		what := ""
		switch b := c.Block.Body.(type) {
		case chat.Call:
			if b.Started {
				what = b.Title
			}
		case chat.Check:
			what = b.Title
		}
		if what != "" {
			v.running.begin(c.Block.ID, func(took string) { v.did(cut.Runes(what, 60)+" (still runs, "+took+")", "") })
		}
		return
	}
	v.running.over(c.Block.ID)
	switch b := c.Block.Body.(type) {
	case chat.Call:
		v.did(b.Title, b.Summary)
	case chat.Check:
		v.did(b.Title, b.Summary)
	case chat.Prompt:
		if b.Source == event.Autofix {
			if v.said.answer != "" { // it is no longer the answer
				fmt.Fprintln(v.Err, v.said.answer)
			}
			v.said.answer = ""
			v.line(chat.AutofixMessage)
		}
		v.line(b.Attachments())
	case chat.Reply:
		v.reply(c.Block, b)
	case chat.Phase:
		v.line(b.String())
	case chat.Note:
		v.note(b)
	}
}

// reply writes a reply that is followed by calls; the text of the last reply is the
// answer.
func (v *view) reply(at chat.Block, b chat.Reply) {
	switch {
	case at.Ephemeral:
	case b.Calls > 0:
		fmt.Fprintln(v.Err, b.Answer())
		v.said.answer = ""
	default:
		v.said.answer = b.Answer()
		v.line(b.Cached)
	}
}

func (v *view) note(b chat.Note) {
	text := b.Text
	switch b.Kind {
	case chat.OfStuck:
		if v.Why != "" {
			text += " (evidence: " + plain.Line(v.Why) + ")"
		}
	case chat.OfRequest:
		if !v.Verbose {
			return
		}
	case chat.OfWarning, chat.OfCompaction, chat.OfRoute, chat.OfProgress:
	default:
		return
	}
	v.line(text)
	for _, l := range b.More {
		v.line(l)
	}
}

// line writes a line from pawl; it writes nothing for "".
func (v *view) line(text string) {
	if text != "" {
		fmt.Fprintln(v.Err, "pawl: "+text)
	}
}

func (v *view) did(what, said string) {
	line := "  " + what
	if said != "" {
		line += "  → " + said
	}
	fmt.Fprintln(v.Err, line)
}

func (v *view) last(s *session.Session, r Result) error {
	switch v.Format {
	case JSON, Stream:
		if err := json.NewEncoder(v.out).Encode(r); err != nil {
			return err
		}
		return v.out.Flush()
	}
	switch {
	case r.Structured != nil:
		text := string(r.Structured)
		if v.Columns > 0 {
			text = plain.Text(text)
		}
		fmt.Fprintln(v.out, text)
	case r.Misfit != "": // a program reads the result
		fmt.Fprintln(v.Err, plain.Line("pawl: the answer does not match the schema: "+r.Misfit))
	case r.Text != "":
		fmt.Fprintln(v.out, plain.Wrap(plain.Text(r.Text), v.Columns, false))
	}
	if err := v.out.Flush(); err != nil {
		return err
	}
	_, spent := s.View().Spent()
	told := brief.Evidence(s.View().Evidence())
	if n := len(told); n > 0 && v.Undo != "" && len(r.Files) > 0 {
		told[n-1] += "; to undo it: " + plain.Line(v.Undo)
	}
	for _, line := range told {
		v.line(line)
	}
	if r.NotRestorable != "" {
		fmt.Fprintln(v.Err, "pawl: "+r.NotRestorable)
	}
	var reasons []string
	refused := map[string][]string{} // by the reason, with what was refused
	for _, d := range r.Denials {
		what := strings.TrimSpace(cut.Runes(plain.Line(d.What), 80))
		why := "not allowed: %s (" + d.Reason + ")"
		if d.Ran {
			why = "refused within %s: " + d.Reason
		}
		if refused[why] == nil {
			reasons = append(reasons, why)
		}
		if !slices.Contains(refused[why], what) { // a call that is made again stands once
			refused[why] = append(refused[why], what)
		}
	}
	for _, why := range reasons {
		v.line(plain.Line(strings.Replace(why, "%s", strings.Join(refused[why], ", "), 1)))
	}
	if r.Error != nil {
		text := "pawl: " + brief.Ending(event.End(r.Outcome), r.Error.Message)
		if r.Outcome == string(event.EndStuck) && v.Why != "" {
			text += "; the evidence: " + v.Why
		}
		fmt.Fprintln(v.Err, plain.Line(text))
	}
	fmt.Fprintf(v.Err, "pawl: %s; %s, %s\n", r.Outcome, brief.Spending(spent), took.Text(time.Duration(r.DurationMS)*time.Millisecond))
	return nil
}

// WriteEvent writes an event as one line of JSON: its sequence number and time,
// its kind as type, and its body. doc/stream.schema.json is its schema.
func WriteEvent(w io.Writer, e event.Event) error {
	body, err := event.Encode(e.Body)
	if err != nil {
		return err
	}
	head, err := json.Marshal(struct {
		Type    string    `json:"type"`
		Session string    `json:"session"`
		Seq     int64     `json:"seq"`
		Cause   int64     `json:"cause"`
		Time    time.Time `json:"time"`
	}{e.Body.Kind(), e.Session, e.Seq, e.Cause, e.Time})
	if err != nil {
		return err
	}
	line := append(head[:len(head)-1:len(head)-1], ",\"body\":"...)
	line = append(append(line, body...), "}\n"...)
	_, err = w.Write(line)
	return err
}
