package session

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/side"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// contextWindow keeps the conversation within the model's window.
type contextWindow struct {
	*state
	side *side.Requests
}

// resultCap returns how many tokens of the next result the model is shown.
func (s *contextWindow) resultCap() int {
	return eventlog.Query(s.log, s.conv.ResultCap)
}

func (s *contextWindow) resultCapOf(text string) int {
	return eventlog.Query(s.log, func() int { return s.conv.ResultCapOf(text) })
}

// results is what the model is shown of results.
func (s *Session) results() turn.Results {
	return turn.Results{Mask: s.cfg.Mask.String, Cap: s.window.resultCapOf, Spill: s.spill}
}

// shorten returns the output of a person's command as the model is shown it:
// limited like a tool's result, with the place of the whole output.
func (s *Session) shorten(ctx context.Context, ran tool.Ran) string {
	ran = ran.Readable()
	r := s.results().Masked(tool.Result{Text: ran.Output, Gap: ran.Gap})
	limit := s.window.resultCapOf(r.Text)
	if r.Gap == nil {
		text, _ := window.Cut(r.Text, limit, func() string {
			file, err := s.spill(context.WithoutCancel(ctx), "command", r.Text)
			if err != nil {
				return "the whole could not be kept: " + err.Error()
			}
			return "the whole is in " + file
		})
		return text
	}
	if window.Fits(r.Text, limit) {
		return r.Text
	}
	return window.Narrow(*r.Gap, limit).Text()
}

// maxReplyTokens returns the longest reply that fits the window, 0 if the model's
// own maximum fits.
func (s *contextWindow) maxReplyTokens() int {
	fits := eventlog.Query(s.log, s.conv.MaxReplyTokens)
	if longest := s.info().MaxOutput; fits == 0 || longest == 0 || fits >= longest {
		return 0
	}
	return fits
}

type compaction struct{ *Session }

func (c compaction) Due() (why event.CompactedWhy, spiral bool) {
	c.log.View(func() { why, spiral = c.conv.Due(), c.conv.Spiral() })
	return why, spiral
}

func (c compaction) Dedup() (e event.Compacted, ok bool) {
	c.log.View(func() { e, ok = c.conv.Dedup() })
	return e, ok
}

func (c compaction) Begin(ctx context.Context, why event.CompactedWhy, focus string) error {
	return c.hooks.Compacting(ctx, why == event.CompactedPerson, focus)
}

// Plan implements turn.Compaction. A planner writes no prose.
func (c compaction) Plan(why event.CompactedWhy, focus string) (window.Plan, bool) {
	return eventlog.Query(c.log, func() window.Plan { return c.conv.Plan(why, focus) }), !c.info().Planner()
}

func (c compaction) Rebase() event.Rebased {
	return eventlog.Query(c.log, func() event.Rebased {
		return event.Rebased{Why: event.RebasedCompaction, Info: c.conv.Info(), Head: c.conv.Head()}
	})
}

func (c compaction) After(ctx context.Context) error {
	if spans := eventlog.Query(c.log, c.conv.StillSeen); len(spans) > 0 {
		if err := c.log.Append(ctx, event.Draft{Body: event.FileSeen{Spans: spans}}); err != nil {
			return err
		}
	}
	if err := c.tasks.repeatPlanNote(ctx); err != nil {
		return err
	}
	if err := c.recordRuleNotes(ctx); err != nil {
		return err
	}
	again, err := c.hooks.Started(ctx, "compact")
	if err != nil {
		return err
	}
	return c.log.Append(ctx, again...)
}

// Summary implements turn.Compaction. A poor one is refused once.
func (c compaction) Summary(ctx context.Context, p window.Plan) (string, error) {
	s := c.window
	text, err := s.summarize(ctx, *p.Ask, p.Input)
	if err != nil {
		return "", err
	}
	why := p.Poor(text)
	if why == "" {
		return text, nil
	}
	again, input := p.AskAgain(text, why)
	if text, err = s.summarize(ctx, again, input); err != nil {
		return "", err
	}
	if why = p.Poor(text); why != "" {
		return "", fault.NewLLM("%s wrote an unusable summary twice: %s", s.info().Ref(), why)
	}
	return text, nil
}

// summarize sends a request for a summary.
func (s *contextWindow) summarize(ctx context.Context, r llm.Request, input int64) (string, error) {
	reply, err := s.side.Complete(ctx, side.Request{By: event.ChargedCompaction, Body: r, Input: input})
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(reply.Message.Text())
	switch {
	case side.OnlyThought(reply):
		return "", fault.NewLLM("%s thought for %d tokens, and wrote no summary", s.info().Ref(), reply.Usage.Output)
	case text == "" || reply.Stop == llm.StopRefusal:
		return "", fault.NewLLM("%s gave no summary", s.info().Ref())
	}
	return text, nil
}

// countingLog is the log of the loop. Once the conversation is so long that counts
// matter, the better counter is loaded after a request was sent, and counts in the
// background.
type countingLog struct {
	*eventlog.Log
	s *Session
}

func (l countingLog) Append(ctx context.Context, ds ...event.Draft) error {
	s := l.s
	if err := s.log.Append(ctx, ds...); err != nil {
		return err
	}
	for _, d := range ds {
		if _, sent := d.Body.(event.Requested); sent && s.cfg.Counter != nil && eventlog.Query(s.log, s.conv.CountsMatter) {
			s.counting.Do(func() { s.ops.Go(s.window.recount) })
		}
	}
	return nil
}

func (s *contextWindow) recount() {
	with, err := s.cfg.Counter()
	if err != nil {
		return // the estimate does
	}
	for {
		w := eventlog.Query(s.log, func() *window.Recount { return s.conv.Recount(with) })
		w.Run()
		if eventlog.Query(s.log, func() bool { return s.conv.ApplyRecount(w) }) {
			return
		}
	}
}

// recordHints tells the model what it should know about the window, how it uses its
// tools, and which of its background commands have ended.
func (s *contextWindow) recordHints(ctx context.Context) error {
	var ds []event.Draft
	s.log.View(func() {
		if n, due := s.conv.Status(); due {
			ds = append(ds, event.Draft{Body: n})
		}
		for _, n := range s.hints.Due(window.Bytes(s.conv.ResultCap())) {
			ds = append(ds, event.Draft{Body: n})
		}
	})
	if sh, ok := s.cfg.Shell.(tool.Jobs); ok {
		for _, j := range sh.Ended() {
			text := fmt.Sprintf("[The background command %s has ended, %s: %.200s]", j.ID, j.Exit, j.Command)
			ds = append(ds, event.Draft{Body: event.Noted{Why: event.NotedJob, Text: text}})
		}
	}
	return s.log.Append(ctx, ds...)
}

// contextCleaner lets a call release results.
type contextCleaner struct{ s *state }

func (r contextCleaner) Clean(ctx context.Context, handles []string, summary, reason string) (tool.Cleaned, error) {
	var out tool.Cleaned
	r.s.log.View(func() {
		c := r.s.conv.FindResults(handles, summary, reason)
		out = tool.Cleaned{Unknown: c.Unknown, Gone: c.Gone, Marked: c.Found, Tokens: c.Freed}
		if len(c.Unknown) > 0 {
			out.Known = r.s.conv.Handles(20)
		}
	})
	if len(out.Unknown) > 0 || len(out.Marked) == 0 {
		return out, nil
	}
	return out, r.s.log.Append(context.WithoutCancel(ctx), event.Draft{Body: event.Cleaned{
		Results: out.Marked, Summary: summary, Reason: reason,
	}})
}

// submit compacts the conversation for a person. Prompts that come meanwhile wait.
func (op Compact) submit(ctx context.Context, s *Session) (int64, error) {
	started := event.OpStarted{Op: event.OpCompact, Text: op.Focus}
	return s.ops.Operate(ctx, started, "the conversation cannot be compacted", "the conversation is compacted", func(ctx context.Context) error {
		_, err := s.loop().Compact(ctx, event.CompactedPerson, op.Focus)
		return err
	})
}

// windowGate blocks calls whose results could not be shown (SPEC 4.2).
type windowGate struct{ s *Session }

func (g windowGate) Check(_ context.Context, step []*turn.Pending) error {
	text := ""
	g.s.log.View(func() {
		if g.s.conv.Blocked() {
			text = g.s.conv.BlockedText()
		}
	})
	if text == "" {
		return nil
	}
	for _, p := range step {
		if p.Refused == nil {
			p.Refused = &turn.Refusal{Outcome: event.Denied, Text: text, Blocked: &event.Blocked{
				Call: p.Call.ID, Tool: p.Call.Name, What: p.Call.Name, Reason: "the context window is full", By: event.ByWindow,
			}}
		}
	}
	return nil
}
