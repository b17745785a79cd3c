package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/route"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// Answers is a cache of answers to questions that only read (SPEC 11.6). It
// knows what an answer depends on beside the question and the workspace:
// model, rules, project. A question is asked again in the same words.
type Answers interface {
	Find(question, model string) (key string, a Answered, ok bool)
	Keep(question, model string, a Answered) error
	Drop(key string) error
}

// Answered is an answer with the calls that the model made for it. It holds
// while each call gives what it gave.
type Answered struct {
	Text  string
	Given time.Time
	Looks []Look
}

// Look is a call that only reads, and the digest of what it gave.
type Look struct {
	Tool  string
	Args  json.RawMessage
	Limit int // bytes of the result that were shown
	Sum   string
}

// maxLooks is how many calls an answer may rest on: looking again must stay
// much cheaper than asking.
const maxLooks = 30

// asking folds the first turn of a session, where it is a question: what comes
// later depends on what was said before.
type asking struct {
	question string
	read     bool // it was taken for a question
	spoiled  bool // more was done than to look
	open     []event.CallAsked
	looks    []Look
	shown    []string // what each gave, as the model was shown it
	answer   string
	// preference is the turn's only prompt so far, in one line.
	preference string
	running    bool
}

func (a *asking) apply(b event.Body) {
	switch b := b.(type) {
	case event.Prompted:
		if a.question != "" || b.Source != event.Person || len(b.Images) > 0 || b.Attached != "" {
			a.spoiled = true
		}
		a.preference = ""
		if b.Source == event.Person && len(b.Images) == 0 && b.Attached == "" && !a.running {
			a.preference = strings.Join(strings.Fields(b.Text), " ")
		}
		a.question, a.running = b.Text, true
	case event.Routed:
		a.read = b.Route == route.Read
	case event.CallAsked:
		a.open = append(a.open, b)
	case event.CallDone:
		a.done(b)
	case event.Ended:
		a.running = false
	case event.Replied:
		a.answer = b.Reply.Message.Text()
	case event.FileChanged, event.PersonRan, event.Compacted, event.Remembered, event.Stuck, event.Recalled, event.Answered:
		a.spoiled = true
	}
	if a.spoiled {
		a.open, a.looks, a.shown = nil, nil, nil
	}
}

func (a *asking) done(b event.CallDone) {
	i := slices.IndexFunc(a.open, func(c event.CallAsked) bool { return c.ID == b.ID })
	if i < 0 || b.Outcome != event.OK || b.Spill != "" || !b.Repeatable || len(a.looks) == maxLooks {
		a.spoiled = true
		return
	}
	a.looks = append(a.looks, Look{Tool: b.Tool, Args: a.open[i].Args})
	a.shown = append(a.shown, b.Result.Text)
	a.open = slices.Delete(a.open, i, i+1)
}

// kept is the question, where its answer may come from the cache or go there.
func (s *Session) kept() (asking, bool) {
	a := eventlog.Look(s.log, func() asking { return s.asking })
	return a, s.cfg.Answers != nil && a.read && !a.spoiled
}

// recall answers the turn's question from the cache; false where it cannot.
func (s *Session) recall(ctx context.Context) (bool, error) {
	a, ok := s.kept()
	if !ok {
		return false, nil
	}
	start := s.cfg.Now()
	key, found, ok := s.cfg.Answers.Find(a.question, s.info().Ref())
	if !ok {
		return false, nil
	}
	for _, l := range found.Looks {
		text, ok := s.lookAgain(ctx, l)
		if ctx.Err() != nil {
			return false, nil
		}
		if !ok || digest(text) != l.Sum {
			return false, s.cfg.Answers.Drop(key)
		}
	}
	now := s.cfg.Now()
	return true, s.record(ctx, event.Draft{Body: event.Recalled{
		Key: key, Text: found.Text, Age: now.Sub(found.Given), Took: now.Sub(start),
	}})
}

// keep puts the answer of a turn that ended well into the cache, where the
// calls that it rests on still give what the model was shown.
func (s *Session) keep(ctx context.Context) error {
	a, ok := s.kept()
	if !ok || len(a.looks) == 0 || strings.TrimSpace(a.answer) == "" {
		return nil
	}
	limit := window.Bytes(s.resultCap())
	for i := range a.looks {
		l := &a.looks[i]
		l.Limit = limit
		text, ok := s.lookAgain(ctx, *l)
		// What pawl appended to the result, such as a hint, is behind it.
		if !ok || !strings.HasPrefix(a.shown[i], text) {
			return nil
		}
		l.Sum = digest(text)
	}
	err := s.cfg.Answers.Keep(a.question, s.info().Ref(), Answered{Text: a.answer, Given: s.cfg.Now(), Looks: a.looks})
	if err == nil {
		return nil
	}
	// The turn is done: a cache that cannot be written does not undo that.
	return s.record(ctx, event.Draft{Body: event.Warned{What: "cache", Text: "the answer was not kept: " + err.Error()}})
}

// lookAgain runs a call that only reads, and gives its text as the model would
// be shown it. Nothing of it is recorded.
func (s *Session) lookAgain(ctx context.Context, l Look) (string, bool) {
	t, ok := s.cfg.Tools.Find(l.Tool)
	if !ok || !t.ReadOnly || !t.Repeatable {
		return "", false
	}
	r, err := turn.Invoke(ctx, t, func() tool.Env {
		return tool.Env{Files: s.cfg.Files, Out: func(string) {}, Limit: l.Limit}
	}, l.Args)
	if err != nil || r.Error {
		return "", false
	}
	return strings.ToValidUTF8(s.cfg.Mask.String(r.Text), "\uFFFD"), true
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// keeps reports whether a prompt is a preference that says in so many words that
// it holds for ever, and there is a place for it: no model is needed to keep it.
func (s *Session) keeps(text string, r event.Routed) bool {
	return s.cfg.Prefer != nil && text != "" && r.Route == route.Profile && r.By == "pattern" && route.Lasting(text)
}

// prefer keeps a prompt that is nothing but a preference and confirms it in one
// line (SPEC 11.5).
func (s *Session) prefer(ctx context.Context) (bool, error) {
	var text string
	var routed event.Routed
	s.log.View(func() { text, routed = s.asking.preference, s.routing.now })
	if !s.keeps(text, routed) {
		return false, nil
	}
	if err := s.cfg.Prefer(text); err != nil {
		return false, s.record(ctx, event.Draft{Body: event.Warned{What: "memory", Text: "the preference was not kept: " + err.Error()}})
	}
	return true, s.record(ctx,
		event.Draft{Body: event.Remembered{Text: text, Sort: "preference"}},
		event.Draft{Body: event.Recalled{Text: "Kept for every session of this folder: " + text + " (/memory lists and forgets)"}},
	)
}
