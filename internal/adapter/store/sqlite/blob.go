package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"sync"

	"github.com/pawl-agent/pawl/internal/adapter/store"
	"github.com/pawl-agent/pawl/internal/core/event"
)

// maxBlob is the largest content in bytes: half of what SQLite can hold.
const maxBlob = 512 << 20

// Put stores a content; see event.Blobs.
func (s *Store) Put(ctx context.Context, data []byte) (string, error) {
	if len(data) > maxBlob {
		return "", fmt.Errorf("%w: a content of %d bytes", store.ErrRefused, len(data))
	}
	sum := sha256.Sum256(data)
	hash := hex.EncodeToString(sum[:])
	known := false
	err := s.brief(ctx, func(c *conn) error {
		row, err := c.one(ctx, "SELECT 1 FROM blobs WHERE hash = ?", sum[:])
		known = row != nil
		return err
	})
	if err != nil {
		return "", s.explain("store a content in", err)
	}
	packed, how, err := s.pack.in(data)
	if err != nil {
		return "", s.explain("store a content in", err)
	}
	p := put{hash: sum, size: int64(len(data)), how: how, data: packed}
	if !known {
		if err := s.writer(ctx, func(ctx context.Context, c *conn) error { return p.insert(ctx, c) }); err != nil {
			return "", s.explain("store a content in", err)
		}
	}
	s.puts.add(hash, p)
	return hash, nil
}

// Get returns a content; see event.Blobs.
func (s *Store) Get(ctx context.Context, hash string) ([]byte, error) {
	if !store.IsHash(hash) {
		return nil, fmt.Errorf("%w: %.70q", event.ErrNoBlob, hash)
	}
	sum, err := hex.DecodeString(hash)
	if err != nil {
		return nil, fmt.Errorf("%w: %.70q", event.ErrNoBlob, hash)
	}
	var row []driver.Value
	err = s.brief(ctx, func(c *conn) (err error) {
		row, err = c.one(ctx, "SELECT packed, data FROM blobs WHERE hash = ?", sum)
		return err
	})
	if err != nil {
		return nil, s.explain("read a content of", err)
	}
	if row == nil {
		return nil, fmt.Errorf("%w: %s", event.ErrNoBlob, hash)
	}
	data, err := s.pack.out(blob(row[1]), integer(row[0]))
	if err != nil {
		return nil, s.explain("read a content of", fmt.Errorf("%w: content %s: %w", store.ErrCorrupt, hash, err))
	}
	if got := sha256.Sum256(data); !bytes.Equal(got[:], sum) {
		return nil, s.explain("read a content of", fmt.Errorf("%w: content %s is not what was stored", store.ErrCorrupt, hash))
	}
	return data, nil
}

// use records that a session's events name a blob. If the blob was removed after it was
// put, because a session was deleted in between, it is stored again.
func (s *Store) use(ctx context.Context, c *conn, session int64, hash string) error {
	sum, err := hex.DecodeString(hash)
	if err != nil {
		return err
	}
	const claim = "INSERT OR IGNORE INTO uses (session, blob) SELECT ?, num FROM blobs WHERE hash = ?"
	n, err := c.exec(ctx, claim, session, sum)
	if err != nil || n > 0 {
		return err
	}
	p, ok := s.puts.get(hash)
	if !ok {
		return nil // recorded already, or never put by this process
	}
	if err := p.insert(ctx, c); err != nil {
		return err
	}
	_, err = c.exec(ctx, claim, session, sum)
	return err
}

// put is a content in its stored form.
type put struct {
	hash [32]byte
	size int64
	how  int64
	data []byte
}

func (p put) insert(ctx context.Context, c *conn) error {
	_, err := c.exec(ctx, "INSERT INTO blobs (hash, size, packed, data) VALUES (?, ?, ?, ?) ON CONFLICT (hash) DO NOTHING",
		p.hash[:], p.size, p.how, p.data)
	return err
}

// maxPending limits the memory of pending puts, in bytes.
const maxPending = 4 << 20

// pending holds the newest puts until an event names them. Before that, a session that
// used the same content may be deleted, and its blobs are deleted with it.
type pending struct {
	mu    sync.Mutex
	m     map[string]put
	order []string // oldest first; may name entries that were removed
	bytes int
}

func (q *pending) add(hash string, p put) {
	if len(p.data) > maxPending {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.m == nil {
		q.m = map[string]put{}
	}
	if _, ok := q.m[hash]; ok {
		return
	}
	if p.how == plain {
		p.data = bytes.Clone(p.data) // data belongs to the caller
		if p.data == nil {
			p.data = []byte{}
		}
	}
	q.m[hash] = p
	q.order = append(q.order, hash)
	q.bytes += len(p.data)
	for q.bytes > maxPending || len(q.order) > 4096 {
		q.drop(q.order[0])
		q.order = q.order[1:]
	}
}

func (q *pending) get(hash string) (put, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	p, ok := q.m[hash]
	return p, ok
}

func (q *pending) done(hash string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drop(hash)
}

func (q *pending) drop(hash string) {
	if p, ok := q.m[hash]; ok {
		q.bytes -= len(p.data)
		delete(q.m, hash)
	}
}
