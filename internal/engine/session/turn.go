package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/operations"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// turn runs a turn to its recorded end.
func (s *Session) turn(r *operations.Run, of Prompt) {
	s.lookAtGit()
	stop := s.spending.LimitTime(r.Context(), r.Cancel)
	end, err := s.runTurn(r.Context(), of)
	stop()
	s.finish(context.WithoutCancel(r.Context()), end, err)
}

// runTurn runs the turn to its end, without a model if none is needed.
func (s *Session) runTurn(ctx context.Context, of Prompt) (event.End, error) {
	if err := s.router.Next(ctx); err != nil {
		return turn.EndOf(err)
	}
	for _, known := range []func(context.Context) (bool, error){s.answers.StorePreference, s.answers.Recall} {
		if of.Until != nil || of.Answer != nil || len(of.Lines) > 0 { // only what was done reaches a goal, and a known answer has another form
			break
		}
		if ok, err := known(ctx); err != nil {
			return event.EndFailed, err
		} else if ok {
			return event.EndDone, nil
		}
	}
	end, err := s.runLoop(ctx, of)
	if end == event.EndDone && err == nil {
		if err = errors.Join(s.answers.Keep(ctx), s.keepPlan(ctx)); err != nil {
			end = event.EndFailed
		}
	}
	return end, err
}

// finish records how a turn ended, even if the context is cancelled. A log that
// cannot be written was reported already, and its readers have ended.
func (s *Session) finish(ctx context.Context, end event.End, err error) {
	var ds []event.Draft
	if why := (*operations.Interruption)(nil); errors.As(err, &why) {
		ds = append(ds, event.Draft{Body: event.Interrupted{By: why.By}})
	}
	s.changes.Verify(ctx)
	_, _ = s.spending.Warn(ctx), s.tasks.recordPendingNotes(ctx) // a log that cannot be written fails below as well
	ended := s.closed(ctx, event.Ended{End: end})
	if err != nil {
		f := turn.Describe(err)
		ended.Error = &f
	}
	if s.log.Append(ctx, append(ds, event.Draft{Body: ended})...) != nil {
		s.log.EndReaders(false)
	}
}

type requests struct{ *Session }

// Build implements turn.Requests: it adds waiting prompts to the turn, and routes them.
func (s requests) Build(ctx context.Context) (*llm.Request, *float64, error) {
	joined := s.ops.TakePrompts()
	for _, p := range joined {
		if err := s.log.Append(context.WithoutCancel(ctx), p.Drafts...); err != nil {
			return nil, nil, err
		}
		if err := s.runLines(ctx, s.loop(), p.Lines); err != nil {
			return nil, nil, err
		}
	}
	if err := s.paused(ctx); err != nil { // asked for while a request was tried again
		return nil, nil, err
	}
	if len(joined) > 0 {
		if err := s.router.Next(ctx); err != nil {
			return nil, nil, err
		}
	}
	var r *llm.Request
	var err error
	tail := llm.Tail{MaxTokens: s.window.maxReplyTokens()}
	s.log.View(func() {
		tail.Thinking = s.conv.ThinkingTokens()
		r, err = s.builder.Request(tail)
	})
	if err != nil {
		return nil, nil, err
	}
	maxTokens, usd, err := s.spending.Begin(ctx, s.priced(), r)
	if err != nil {
		return nil, nil, err
	}
	if maxTokens > 0 && (tail.MaxTokens == 0 || maxTokens < tail.MaxTokens) {
		tail.MaxTokens = maxTokens
		s.log.View(func() { s.builder.SetTail(r, tail) })
	}
	return r, usd, nil
}

func (s requests) Done(ctx context.Context, r turn.RequestResult) error {
	return s.spending.Done(ctx, r)
}

func (s requests) Size() window.Size { return eventlog.Query(s.log, s.conv.Size) }

func (s requests) Cost(u llm.Usage) *float64 { return llm.Cost(s.priced().Price, u) }

// priced returns the model with the prices of the request that was built last.
func (s requests) priced() llm.Info {
	info := s.info()
	if eventlog.Query(s.log, func() bool { return s.builder != nil && s.builder.Long() }) {
		info.Price = info.Price.Long()
	}
	return info
}

func (s requests) Unique(m llm.Message) llm.Message {
	return eventlog.Query(s.log, func() llm.Message { return s.conv.Unique(m) })
}

func (s requests) CutLoops() bool { return eventlog.Query(s.log, s.progress.CutsLoops) }

// spill stores a result that is too long for the model.
func (s *state) spill(_ context.Context, call, text string) (string, error) {
	dir := filepath.Join(s.cfg.SpillDir, s.cfg.ID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(dir, fmt.Sprintf("%d-%s.txt", s.log.Last(), fileName(call)))
	return path, os.WriteFile(path, s.cfg.Mask.MaskBytes([]byte(text)), 0o600)
}

// fileName keeps the characters of an id, which comes from a model, that are
// safe in a file name.
func fileName(id string) string {
	out := []byte{}
	for _, c := range []byte(id) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return "result"
	}
	return string(out[:min(len(out), 80)])
}

// SleepFor waits for d or until ctx ends: the Sleep of a real session.
func SleepFor(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
