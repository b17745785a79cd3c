package setup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"

	"github.com/pawl-agent/pawl/internal/adapter/memory"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/engine/answers"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// Memory is what is stored about a project beyond its sessions.
type Memory struct {
	Book    memory.Book   // preferences and notes
	Turns   *memory.Nodes // summaries of the newest turns
	Answers memory.Answers

	version string
	rules   string // rules and preferences at the session's beginning
	mask    func(string) string
}

// Memory returns what is stored for a folder. mask removes secrets from texts.
func (e *Environment) Memory(p settings.Paths, dir string, mask func(string) string) *Memory {
	sum := sha256.Sum256([]byte(dir))
	name := hex.EncodeToString(sum[:8])
	return &Memory{
		Book:    memory.Book{Path: p.Notes(), Dir: dir, Now: e.Now},
		Turns:   &memory.Nodes{Path: filepath.Join(p.State, "turns", name+".jsonl")},
		Answers: memory.Answers{Dir: filepath.Join(p.State, "answers"), Now: e.Now},
		version: e.Version,
		mask:    mask,
	}
}

// entries returns the entries of the book. An unreadable book is reported and
// has no other effect on the session.
func (k *Memory) entries() ([]memory.Entry, error) {
	es, err := k.Book.List()
	for i := range es {
		es[i].Text = k.mask(es[i].Text)
	}
	return es, err
}

func (k *Memory) prompt() (string, []string) {
	es, err := k.entries()
	if err != nil {
		return "", []string{err.Error()}
	}
	return memory.Prompt(es), nil
}

// notes returns what changed since the conversation was last informed.
func (k *Memory) notes(g session.Guidance) []string {
	es, err := k.entries()
	if err != nil {
		return nil // reported at the start
	}
	if n := memory.Changed(es, g.System, g.Notes); n != "" {
		return []string{n}
	}
	return nil
}

func (k *Memory) question(text, model string) string {
	return memory.Question{Project: k.Book.Dir, Model: model, Text: text, Told: k.rules, Pawl: k.version}.Key()
}

// prefer is session.Config.Prefer.
func (k *Memory) prefer(text string) error {
	return k.Book.Keep(memory.Preference, k.mask(text), false)
}

func (k *Memory) Remember(ctx context.Context, note string) error {
	return k.Book.Remember(ctx, k.mask(note))
}

func (k *Memory) Find(question, model string) (string, answers.Answered, bool) {
	key := k.question(question, model)
	a, ok := k.Answers.Get(key)
	out := answers.Answered{Text: a.Text, Given: a.Time}
	for _, l := range a.Calls {
		out.Calls = append(out.Calls, answers.CachedCall(l))
	}
	return key, out, ok
}

func (k *Memory) Keep(question, model string, a answers.Answered) error {
	ans := memory.Answer{Time: a.Given, Text: a.Text}
	for _, l := range a.Calls {
		ans.Calls = append(ans.Calls, memory.Call(l))
	}
	return k.Answers.Put(k.question(question, model), ans)
}

func (k *Memory) Drop(key string) error { return k.Answers.Drop(key) }

// notesOf joins what rules and memory add to a conversation.
func notesOf(b *rulebook, k *Memory) func(context.Context, session.Guidance) []string {
	return func(ctx context.Context, g session.Guidance) []string {
		return append(b.notes(ctx, g), k.notes(g)...)
	}
}

var _ answers.Store = (*Memory)(nil)
