// Package memory implements event.Store in memory, for --no-session and for tests. It
// fulfils all promises of package store and is safe for concurrent use. Bodies are stored
// encoded, as on disk, so a body that could not be stored there is refused here too.
package memory

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store"
	"github.com/pawl-agent/pawl/internal/core/event"
)

var _ event.Store = (*Store)(nil)

// Store is an event.Store in memory.
type Store struct {
	now func() time.Time

	mu       sync.RWMutex
	sessions map[string]*session
	blobs    map[string][]byte
	fresh    map[string]bool // hashes that were put, and that no event has named since
	made     int             // number of sessions created so far; orders sessions with the same time
	closed   bool
}

// session is a session with its own events: those after row.Origin.At.
type session struct {
	row    event.Row
	made   int
	parent *session // of a fork
	forks  int      // sessions that share these events
	hidden bool     // deleted, but others were forked from it
	events []record
	uses   map[string]bool // the hashes of blobs that its events name
}

type record struct {
	store.Item
	time time.Time
}

// New returns an empty store. now is the clock; nil means time.Now.
func New(now func() time.Time) *Store {
	if now == nil {
		now = time.Now
	}
	return &Store{now: now, sessions: map[string]*session{}, blobs: map[string][]byte{}, fresh: map[string]bool{}}
}

func (s *Store) instant() time.Time { return time.Unix(0, s.now().UnixNano()).UTC() }

// live returns a session that is not deleted.
func (s *Store) live(id string) (*session, error) {
	if t := s.sessions[id]; t != nil && !t.hidden {
		return t, nil
	}
	return nil, fmt.Errorf("%w: %s", event.ErrNoSession, id)
}

func (s *Store) usable(ctx context.Context) error {
	if s.closed {
		return fmt.Errorf("the log in memory: %w", os.ErrClosed)
	}
	return ctx.Err()
}

// Append stores drafts; see event.Log.
func (s *Store) Append(ctx context.Context, id string, after int64, ds ...event.Draft) ([]event.Event, error) {
	items, facts, err := store.Prepare(id, ds)
	if err != nil {
		return nil, err
	}
	if after < 0 {
		return nil, fmt.Errorf("%w: after %d", store.ErrRefused, after)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	now := s.instant()
	t := s.sessions[id]
	switch {
	case t == nil && after == 0 && len(ds) == 0:
		return nil, nil
	case t == nil && after == 0:
		s.made++
		t = &session{row: event.Row{ID: id, Created: now, Updated: now, Parent: facts.Parent}, made: s.made, uses: map[string]bool{}}
		s.sessions[id] = t
	case t == nil || t.hidden:
		return nil, fmt.Errorf("%w: %s", event.ErrNoSession, id)
	case t.row.Last != after:
		return nil, fmt.Errorf("%w: session %s is at %d, not at %d", event.ErrStale, id, t.row.Last, after)
	}
	if len(ds) == 0 {
		return nil, nil
	}
	if now.Before(t.row.Updated) {
		now = t.row.Updated
	}
	out := make([]event.Event, len(ds))
	for i, it := range items {
		it.Raw = bytes.Clone(it.Raw) // the Raw of an Unknown belongs to the caller
		t.events = append(t.events, record{it, now})
		for _, h := range it.Blobs {
			t.uses[h] = true
			delete(s.fresh, h)
		}
		out[i] = event.Event{Session: id, Seq: after + int64(i) + 1, Cause: it.Cause, Time: now, Body: ds[i].Body}
	}
	t.row.Updated = now
	t.row.Last += int64(len(ds))
	t.row.Events = t.row.Last
	t.row.Dir = cmp.Or(t.row.Dir, facts.Dir)
	t.row.Title = cmp.Or(t.row.Title, facts.Title)
	t.row.Model = cmp.Or(facts.Model, t.row.Model)
	return out, nil
}

// at returns an existing event by its sequence number. It may be an event of an ancestor.
func (t *session) at(seq int64) record {
	for t.parent != nil && seq <= t.row.Origin.At {
		t = t.parent
	}
	base := int64(0)
	if t.row.Origin != nil {
		base = t.row.Origin.At
	}
	return t.events[seq-base-1]
}

// Read yields events; see event.Log. It yields the events that were stored when it began.
func (s *Store) Read(ctx context.Context, id string, after int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		last := int64(-1)
		for seq := max(after, 0) + 1; ; seq++ {
			s.mu.RLock()
			err := s.usable(ctx)
			var t *session
			if err == nil {
				t, err = s.live(id)
			}
			var r record
			if err == nil {
				if last < 0 {
					last = t.row.Last
				}
				if seq <= last {
					r = t.at(seq)
				}
			}
			s.mu.RUnlock()
			if err == nil && seq > last {
				return
			}
			var b event.Body
			if err == nil {
				b, err = event.Decode(r.Kind, r.Version, r.Raw)
			}
			if err != nil {
				yield(event.Event{}, err)
				return
			}
			if !yield(event.Event{Session: id, Seq: seq, Cause: r.Cause, Time: r.time, Body: b}, nil) {
				return
			}
		}
	}
}

// Put stores a content; see event.Blobs.
func (s *Store) Put(ctx context.Context, data []byte) (string, error) {
	sum := sha256.Sum256(data)
	hash := hex.EncodeToString(sum[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return "", err
	}
	s.fresh[hash] = true
	if _, ok := s.blobs[hash]; !ok {
		s.blobs[hash] = bytes.Clone(data)
	}
	return hash, nil
}

// Get returns a content; see event.Blobs.
func (s *Store) Get(ctx context.Context, hash string) ([]byte, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	data, ok := s.blobs[hash]
	if !ok {
		return nil, fmt.Errorf("%w: %.70q", event.ErrNoBlob, hash)
	}
	return bytes.Clone(data), nil
}

func (t *session) listed() event.Row {
	r := t.row
	if r.Origin != nil {
		o := *r.Origin
		r.Origin = &o
	}
	if r.Parent != nil {
		p := *r.Parent
		r.Parent = &p
	}
	return r
}

// Sessions lists sessions by their last event, newest first; see event.Store.
func (s *Store) Sessions(ctx context.Context, dir string) ([]event.Row, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	var found []*session
	for t := range maps.Values(s.sessions) {
		if !t.hidden && (dir == "" || t.row.Dir == dir) {
			found = append(found, t)
		}
	}
	slices.SortFunc(found, func(a, b *session) int {
		return cmp.Or(b.row.Updated.Compare(a.row.Updated), cmp.Compare(b.made, a.made))
	})
	var out []event.Row
	for _, t := range found {
		out = append(out, t.listed())
	}
	return out, nil
}

// Newest yields what Sessions lists; see event.Store.
func (s *Store) Newest(ctx context.Context, dir string) iter.Seq2[event.Row, error] {
	return func(yield func(event.Row, error) bool) {
		rows, err := s.Sessions(ctx, dir)
		if err != nil {
			yield(event.Row{}, err)
			return
		}
		listed := map[string]bool{}
		for _, r := range rows {
			listed[r.ID] = true
		}
		for _, r := range rows {
			if (r.Parent == nil || !listed[r.Parent.Session]) && !yield(r, nil) {
				return
			}
		}
	}
}

// Count returns how many rows Newest yields; see event.Store.
func (s *Store) Count(ctx context.Context, dir string) (n int, err error) {
	for _, err := range s.Newest(ctx, dir) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// Agents lists the sessions that a session's agents run in; see event.Store.
func (s *Store) Agents(ctx context.Context, id string) ([]event.Row, error) {
	rows, err := s.Sessions(ctx, "")
	slices.Reverse(rows)
	return slices.DeleteFunc(rows, func(r event.Row) bool { return r.Parent == nil || r.Parent.Session != id }), err
}

// Session returns one row; see event.Store. If several match it returns
// store.ErrAmbiguous.
func (s *Store) Session(ctx context.Context, id string) (event.Row, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return event.Row{}, err
	}
	if t, err := s.live(id); err == nil {
		return t.listed(), nil
	}
	var found []string
	for k, t := range s.sessions {
		if id != "" && !t.hidden && strings.HasPrefix(k, id) {
			found = append(found, k)
		}
	}
	switch len(found) {
	case 0:
		return event.Row{}, fmt.Errorf("%w: %.40q", event.ErrNoSession, id)
	case 1:
		return s.sessions[found[0]].listed(), nil
	}
	slices.Sort(found)
	return event.Row{}, store.Ambiguous(id, found)
}

// Fork creates a session that shares another session's events; see event.Store. It
// returns store.ErrExists if the id is taken, and store.ErrRefused if the parent does not
// have the sequence number.
func (s *Store) Fork(ctx context.Context, from event.Origin, id string) error {
	if err := store.CheckID(id); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	parent, err := s.live(from.Session)
	if err != nil {
		return err
	}
	if from.At < 0 || from.At > parent.row.Last {
		return fmt.Errorf("%w: session %s has no event %d to fork at, its last is %d", store.ErrRefused, from.Session, from.At, parent.row.Last)
	}
	if s.sessions[id] != nil {
		return fmt.Errorf("%w: %s", store.ErrExists, id)
	}
	now := s.instant()
	s.made++
	t := &session{made: s.made, parent: parent, uses: map[string]bool{}, row: event.Row{
		ID: id, Dir: parent.row.Dir, Created: now, Updated: now, Events: from.At, Last: from.At, Origin: &from,
	}}
	for seq := int64(1); seq <= from.At; seq++ {
		r := parent.at(seq)
		b, err := event.Decode(r.Kind, r.Version, r.Raw)
		if err != nil {
			return err
		}
		f := store.Of(b)
		t.row.Title = cmp.Or(t.row.Title, f.Title)
		t.row.Model = cmp.Or(f.Model, t.row.Model)
		if r.time.After(t.row.Updated) {
			t.row.Updated = r.time
		}
	}
	parent.forks++
	s.sessions[id] = t
	return nil
}

// Delete removes a whole session; see event.Store. A content that was put, and that no
// event has named since, is not removed: a caller is about to name it.
func (s *Store) Delete(ctx context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	t, err := s.live(id)
	if err != nil {
		return err
	}
	s.remove(t)
	return nil
}

func (s *Store) remove(t *session) {
	for _, c := range slices.Collect(maps.Values(s.sessions)) {
		if c.row.Parent != nil && c.row.Parent.Session == t.row.ID && !c.hidden && c != t {
			s.remove(c)
		}
	}
	t.hidden = true
	for t != nil && t.hidden && t.forks == 0 {
		delete(s.sessions, t.row.ID)
		for h := range t.uses {
			if !s.fresh[h] && !s.used(h) {
				delete(s.blobs, h)
			}
		}
		if t = t.parent; t != nil {
			t.forks--
		}
	}
}

func (s *Store) used(hash string) bool {
	for _, t := range s.sessions {
		if t.uses[hash] {
			return true
		}
	}
	return false
}

// Close makes every later call fail. A second Close is not an error.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}
