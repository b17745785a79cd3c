// Package answers keeps what need not be asked of a model again: the answer to a
// question that only read (SPEC 11.6), and a preference that is nothing else
// (SPEC 11.5).
//
// It promises that an answer is given again only where every call that it rests
// on still returns what it returned, and that a cache which cannot be written
// undoes nothing. It knows the session's log, and not the session.
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

// Config is what a cache works with.
type Config struct {
	Store  Store                   // nil: no answers are kept
	Prefer func(text string) error // keeps a preference; nil: none is kept
	Tools  tool.Set
	Files  tool.Files
	// Masked is a result without the secrets in it.
	Masked func(tool.Result) tool.Result
	Model  func() string // the reference of the model in use
	Limit  func() int    // how many bytes of the next result are shown
	Now    func() time.Time
	Record func(context.Context, ...event.Draft) error
}

// Cache answers a session's questions from a store.
type Cache struct {
	cfg  Config
	log  *eventlog.Log // its View guards the fold
	fold fold
}

// New makes a cache. Its Fold is one of the log's, which Use names before
// anything is asked.
func New(cfg Config) *Cache { return &Cache{cfg: cfg} }

// Use names the log.
func (c *Cache) Use(log *eventlog.Log) { c.log = log }

// Fold takes in what the session asks.
func (c *Cache) Fold() event.Fold { return &c.fold }

// Preference is the turn's only prompt so far in one line, "" where there is more.
// Callers look in a View.
func (c *Cache) Preference() string { return c.fold.preference }

// Store is a cache of answers to questions that only read (SPEC 11.6). It
// knows what an answer depends on beside the question and the workspace:
// model, rules, project. A question is asked again in the same words.
type Store interface {
	Find(question, model string) (key string, a Answered, ok bool)
	Keep(question, model string, a Answered) error
	Drop(key string) error
}

// Answered is an answer with the calls that the model made for it. It holds
// while each call returns what it returned.
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

// fold folds the first turn of a session, where it is a question: what comes
// later depends on what was said before.
type fold struct {
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
	routed     event.Routed // of the running or last turn
}

// Apply is part of event.Fold.
func (a *fold) Apply(e event.Event) {
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
		a.read, a.routed = b.Route == route.Read, b
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

func (a *fold) done(b event.CallDone) {
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
func (c *Cache) kept() (fold, bool) {
	a := eventlog.Look(c.log, func() fold { return c.fold })
	return a, c.cfg.Store != nil && a.read && !a.spoiled
}

// Recall answers the turn's question from the cache; false where it cannot.
func (c *Cache) Recall(ctx context.Context) (bool, error) {
	a, ok := c.kept()
	if !ok {
		return false, nil
	}
	start := c.cfg.Now()
	key, found, ok := c.cfg.Store.Find(a.question, c.cfg.Model())
	if !ok {
		return false, nil
	}
	for _, l := range found.Looks {
		text, ok := c.lookAgain(ctx, l)
		if ctx.Err() != nil {
			return false, nil
		}
		if !ok || digest(text) != l.Sum {
			return false, c.cfg.Store.Drop(key)
		}
	}
	now := c.cfg.Now()
	return true, c.cfg.Record(ctx, event.Draft{Body: event.Recalled{
		Key: key, Text: found.Text, Age: now.Sub(found.Given), Took: now.Sub(start),
	}})
}

// Keep puts the answer of a turn that ended well into the cache, where the
// calls that it rests on still return what the model was shown.
func (c *Cache) Keep(ctx context.Context) error {
	a, ok := c.kept()
	if !ok || len(a.looks) == 0 || strings.TrimSpace(a.answer) == "" {
		return nil
	}
	limit := c.cfg.Limit()
	for i := range a.looks {
		l := &a.looks[i]
		l.Limit = limit
		text, ok := c.lookAgain(ctx, *l)
		// What pawl appended to the result, such as a hint, comes after it.
		if !ok || !strings.HasPrefix(a.shown[i], text) {
			return nil
		}
		l.Sum = digest(text)
	}
	err := c.cfg.Store.Keep(a.question, c.cfg.Model(), Answered{Text: a.answer, Given: c.cfg.Now(), Looks: a.looks})
	if err == nil {
		return nil
	}
	// The turn is done: a cache that cannot be written does not undo that.
	return c.cfg.Record(ctx, event.Draft{Body: event.Warned{What: "cache", Text: "the answer was not kept: " + err.Error()}})
}

// lookAgain runs a call that only reads, and returns its text as the model would
// be shown it. Nothing of it is recorded.
func (c *Cache) lookAgain(ctx context.Context, l Look) (string, bool) {
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

// Keeps reports whether a prompt is a preference that says in so many words that
// it holds for ever, and there is a place for it: no model is needed to keep it.
func (c *Cache) Keeps(text string, r event.Routed) bool {
	return c.cfg.Prefer != nil && text != "" && r.Route == route.Profile && r.By == "pattern" && route.Lasting(text)
}

// PreferOnly keeps a prompt that is nothing but a preference and confirms it in one
// line (SPEC 11.5).
func (c *Cache) PreferOnly(ctx context.Context) (bool, error) {
	var text string
	var routed event.Routed
	c.log.View(func() { text, routed = c.fold.preference, c.fold.routed })
	if !c.Keeps(text, routed) {
		return false, nil
	}
	if err := c.cfg.Prefer(text); err != nil {
		return false, c.cfg.Record(ctx, event.Draft{Body: event.Warned{What: "memory", Text: "the preference was not kept: " + err.Error()}})
	}
	return true, c.cfg.Record(ctx,
		event.Draft{Body: event.Remembered{Text: text, Sort: "preference"}},
		event.Draft{Body: event.Recalled{Text: "Kept for every session of this folder: " + text + " (/memory lists and forgets)"}},
	)
}
