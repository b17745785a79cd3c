package swarm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pawl-agent/pawl/internal/core/kv"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// How many notes of each kind a swarm keeps.
const maxNotes = 1000

// notes store what workers learned from each other, so that a swarm that goes on after
// a crash still knows it. Each note is one numbered value, so that adding one costs the
// same however many there are. Without a store nothing is kept. If
// the store breaks, the workers of this run still learn, and a person is told.
type notes struct {
	store kv.Store
	swarm string
	next  map[string]int // by kind
	say   func(string)
}

// Kinds of notes, as parts of keys.
const (
	noteFailure = "failure"
	noteFound   = "found"
)

func (n *notes) prefix(kind string) string { return n.swarm + "/" + kind + "/" }

func (n *notes) key(kind string, i int) string { return fmt.Sprintf("%s%08d", n.prefix(kind), i) }

// load reads the notes of an earlier run.
func (n *notes) load(ctx context.Context, l *swarm.Lessons) error {
	n.next = map[string]int{}
	if n.store == nil {
		return nil
	}
	return errors.Join(
		read(ctx, n, noteFailure, l.AddFailure),
		read(ctx, n, noteFound, func(r swarm.Reference) { l.AddReferences(r) }),
	)
}

func read[T any](ctx context.Context, n *notes, kind string, take func(T)) error {
	keys, err := n.store.List(ctx, n.prefix(kind))
	if err != nil {
		return fmt.Errorf("read what the workers learned: %w", err)
	}
	for _, key := range keys {
		e, err := n.store.Load(ctx, key)
		if err != nil {
			return fmt.Errorf("read what the workers learned: %w", err)
		}
		var v T
		if err := json.Unmarshal(e.Value, &v); err != nil {
			return fmt.Errorf("read what the workers learned: %s: %w", key, err)
		}
		take(v)
		var i int
		if _, err := fmt.Sscanf(key[len(n.prefix(kind)):], "%08d", &i); err == nil {
			n.next[kind] = max(n.next[kind], i+1)
		}
	}
	return nil
}

// keep writes one note and removes the oldest one if there are too many.
func (n *notes) keep(kind string, v any) {
	if n.store == nil {
		return
	}
	ctx := context.Background() // lessons are stored also while the swarm is stopped
	raw, err := json.Marshal(v)
	if err == nil {
		i := n.next[kind]
		n.next[kind]++
		_, err = n.store.Save(ctx, n.key(kind, i), raw)
		if err == nil && i >= maxNotes {
			err = n.store.Delete(ctx, n.key(kind, i-maxNotes))
		}
	}
	if err != nil {
		n.broke(err)
	}
}

func (n *notes) broke(err error) {
	n.store = nil
	n.say(fmt.Sprintf("what the workers learn is not kept any more: %v", err))
}

// forget removes all notes, at the end.
func (n *notes) forget(ctx context.Context) {
	if n.store == nil {
		return
	}
	keys, err := n.store.List(ctx, n.swarm+"/")
	for _, key := range keys {
		err = errors.Join(err, n.store.Delete(ctx, key))
	}
	if err != nil {
		n.broke(err)
	}
}
