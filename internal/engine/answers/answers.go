// Package answers avoids requests to a model: it repeats the stored answer to a
// question for which the model only read (SPEC 11.6), and confirms a prompt
// that only states a preference (SPEC 11.5).
//
// It promises that an answer is repeated only if every call that it is based on
// still returns the same result, and that a cache that cannot be written does
// not affect the turn. It knows the session's log, but not the session.
package answers

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
)

// Config is the configuration of a cache.
type Config struct {
	Store  Store                   // nil: no answers are stored
	Prefer func(text string) error // stores a preference; nil: none is stored
	Tools  tool.Set
	Files  tool.Files
	// Masked returns a result without its secrets.
	Masked func(tool.Result) tool.Result
	Model  func() string // the reference of the model in use
	Limit  func() int    // how many bytes of the next result are shown
	Now    func() time.Time
	Log    *eventlog.Log
	Fold   *Fold // one of Log's
}

// Cache answers a session's questions from a store.
type Cache struct {
	cfg  Config
	log  *eventlog.Log
	fold *Fold // read in a View of the log
}

func New(cfg Config) *Cache { return &Cache{cfg: cfg, log: cfg.Log, fold: cfg.Fold} }

// Preference returns the turn's only prompt so far in one line, "" if there are
// more. Callers must be in a View.
func (c *Cache) Preference() string { return c.fold.preference }

// Store is a cache of answers to questions for which the model only read (SPEC
// 11.6). It knows what an answer depends on besides the question and the
// workspace: model, rules, project. Questions are compared by their words.
type Store interface {
	Find(question, model string) (key string, a Answered, ok bool)
	Keep(question, model string, a Answered) error
	Drop(key string) error
}

// Answered is an answer with the calls that the model made for it. It holds
// while each call returns the same result.
type Answered struct {
	Text  string
	Given time.Time
	Calls []CachedCall
}

// CachedCall is a call that only reads, with the digest of its result.
type CachedCall struct {
	Tool  string
	Args  json.RawMessage
	Limit int // bytes of the result that were shown
	Sum   string
}

// maxCalls is how many calls an answer may be based on: repeating them must be
// much cheaper than asking the model.
const maxCalls = 30

// Fold folds the first turn of a session, if it is a question: later answers
// depend on the conversation.
type Fold struct {
	question   string
	isQuestion bool // it was classified as a question
	spoiled    bool // the turn did more than read
	open       []event.CallAsked
	calls      []CachedCall
	shown      []string // the result of each call, as shown to the model
	answer     event.Answer
	// preference is the turn's only prompt so far, in one line.
	preference string
	running    bool
	routed     event.Routed // of the running or last turn
}

func (a *Fold) Apply(e event.Event) {
	a.answer.Apply(e.Body)
	switch b := e.Body.(type) {
	case event.Prompted:
		if a.question != "" || b.Source != event.Person || len(b.Images) > 0 || b.Attached != "" {
			a.spoiled = true
		}
		if b.Source == event.Person && !a.running {
			a.routed = event.Routed{}
		}
		a.preference = ""
		if b.Source == event.Person && len(b.Images) == 0 && b.Attached == "" && !a.running {
			a.preference = strings.Join(strings.Fields(b.Text), " ")
		}
		a.question, a.running = b.Text, true
	case event.Routed:
		a.isQuestion, a.routed = b.Route == route.Read, b
	case event.CallAsked:
		a.open = append(a.open, b)
	case event.CallDone:
		a.callDone(b)
	case event.Ended:
		a.running = false
	case event.FileChanged, event.PersonRan, event.Compacted, event.Remembered, event.Stuck, event.Recalled, event.Answered:
		a.spoiled = true
	}
	if a.spoiled {
		a.open, a.calls, a.shown = nil, nil, nil
	}
}

func (a *Fold) callDone(b event.CallDone) {
	i := slices.IndexFunc(a.open, func(c event.CallAsked) bool { return c.ID == b.ID })
	if i < 0 || b.Outcome != event.OK || b.Spill != "" || !b.Repeatable || len(a.calls) == maxCalls {
		a.spoiled = true
		return
	}
	a.calls = append(a.calls, CachedCall{Tool: b.Tool, Args: a.open[i].Args})
	a.shown = append(a.shown, b.Result.Text)
	a.open = slices.Delete(a.open, i, i+1)
}

// reusable returns the question if its answer may come from the cache or be stored there.
func (c *Cache) reusable() (Fold, bool) {
	a := eventlog.Query(c.log, func() Fold { return *c.fold })
	return a, c.cfg.Store != nil && a.isQuestion && !a.spoiled
}

// Recall answers the turn's question from the cache; false if it cannot.
func (c *Cache) Recall(ctx context.Context) (bool, error) {
	a, ok := c.reusable()
	if !ok {
		return false, nil
	}
	start := c.cfg.Now()
	key, found, ok := c.cfg.Store.Find(a.question, c.cfg.Model())
	if !ok {
		return false, nil
	}
	for _, l := range found.Calls {
		text, ok := c.repeatCall(ctx, l)
		if ctx.Err() != nil {
			return false, nil
		}
		if !ok || digest(text) != l.Sum {
			return false, c.cfg.Store.Drop(key)
		}
	}
	now := c.cfg.Now()
	return true, c.log.Append(ctx, event.Draft{Body: event.Recalled{
		Key: key, Text: found.Text, Age: now.Sub(found.Given), Took: now.Sub(start),
	}})
}

// Keep stores the answer of a turn that ended well, if the calls that it is
// based on still return what the model was shown.
func (c *Cache) Keep(ctx context.Context) error {
	a, ok := c.reusable()
	if !ok || len(a.calls) == 0 || strings.TrimSpace(a.answer.Text()) == "" {
		return nil
	}
	limit := c.cfg.Limit()
	for i := range a.calls {
		l := &a.calls[i]
		l.Limit = limit
		text, ok := c.repeatCall(ctx, *l)
		// Text that pawl appended to the result, such as a hint, comes after it.
		if !ok || !strings.HasPrefix(a.shown[i], text) {
			return nil
		}
		l.Sum = digest(text)
	}
	err := c.cfg.Store.Keep(a.question, c.cfg.Model(), Answered{Text: a.answer.Text(), Given: c.cfg.Now(), Calls: a.calls})
	if err == nil {
		return nil
	}
	// The turn is done: a failure to write the cache does not change that.
	return c.log.Append(ctx, event.Draft{Body: event.Warned{What: event.WarnedCache, Text: "the answer was not kept: " + err.Error()}})
}

// repeatCall repeats a call that only reads, and returns its text as the model
// would be shown it. Nothing is recorded.
func (c *Cache) repeatCall(ctx context.Context, l CachedCall) (string, bool) {
	t, ok := c.cfg.Tools.Find(l.Tool)
	if !ok || !t.ReadOnly || !t.Repeatable {
		return "", false
	}
	r, err := turn.Invoke(ctx, t, func() tool.Env {
		return tool.Env{Files: c.cfg.Files, Out: func(string) {}, Limit: l.Limit}
	}, l.Args)
	if err != nil || r.Error {
		return "", false
	}
	return strings.ToValidUTF8(c.cfg.Masked(r).Text, "\uFFFD"), true
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// IsPreference reports whether a prompt is an explicit lasting preference that can be
// stored: then no model is needed.
func (c *Cache) IsPreference(text string, r event.Routed) bool {
	return c.cfg.Prefer != nil && text != "" && r.Route == route.Profile && r.By == event.RoutedByPattern
}

// StorePreference stores a prompt that only states a preference and confirms it in
// one line (SPEC 11.5).
func (c *Cache) StorePreference(ctx context.Context) (bool, error) {
	var text string
	var routed event.Routed
	c.log.View(func() { text, routed = c.fold.preference, c.fold.routed })
	if !c.IsPreference(text, routed) {
		return false, nil
	}
	if err := c.cfg.Prefer(text); err != nil {
		return false, c.log.Append(ctx, event.Draft{Body: event.Warned{What: event.WarnedMemory, Text: "the preference was not kept: " + err.Error()}})
	}
	return true, c.log.Append(ctx,
		event.Draft{Body: event.Remembered{Text: text, Sort: "preference"}},
		event.Draft{Body: event.Recalled{Text: "Kept for every session of this folder: " + text + " (/memory lists and forgets)"}},
	)
}
