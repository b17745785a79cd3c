// Package sqlite stores the log, the blobs and the list of sessions in one
// SQLite file in WAL mode.
//
// Promises: an append is one transaction. With durability "full" it is synced
// to disk before it returns. With "normal" (the default) it survives the death
// of the process at any instant; a power loss may lose the last moments but
// never the middle: a prefix remains. The database itself refuses to change or
// remove single events (triggers, schema/001.sql). Many processes may use one
// file at once. The cost of an append does not depend on how much is stored.
// Damaged data is never deleted; whatever can still be read is read.
//
// The newest sessions are found in an index (list.go), and snapshots of folded
// state are files next to the log (snapshot.go).
//
// Refused: files of a newer version, files that are not pawl's, network file
// systems (WAL needs shared memory between the processes; SQLite reports it).
//
// Blobs are rows of the same file: an event and the contents that it names
// become durable in the order they were stored, without a sync for each.
package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
)

var _ event.Store = (*Store)(nil)

// Settings of the file, chosen by measuring (ADR 001).
const (
	// pageSize: an append writes its whole page to the WAL, and most events are
	// a few hundred bytes.
	pageSize = 1024
	// checkpointPages bounds the WAL to about 1 MB.
	checkpointPages = 1000
	// appID marks the file as pawl's: "pawl" in ASCII.
	appID = 0x7061776c
	// incremental is SQLite's auto_vacuum mode that returns free pages on request,
	// some at a time. It is set before the first table is made.
	incremental = 2
	// busyStep is how long SQLite itself waits for a lock before the context is
	// checked again.
	busyStep = 100 * time.Millisecond
	// idleReaders is how many read connections are kept.
	idleReaders = 2
)

// Options are the options of Open. The zero value is right for most uses.
type Options struct {
	// Durability is "normal" (also "") or "full": a sync for each append.
	Durability string
	// Now is the clock, time.Now if nil.
	Now func() time.Time
	// Wait is how long to wait while other processes write; 0 is 10 s.
	Wait time.Duration
	// Ready means that the caller opens the log in parallel with other work and appends
	// soon. Open then also does the preparations of the first append.
	Ready bool
}

// Store is an event.Store in a file. It is safe for concurrent use.
type Store struct {
	path string
	vfs  string
	opt  Options
	pack packer
	puts pending

	write chan struct{} // held by the goroutine that uses w
	w     *conn

	mu     sync.Mutex
	idle   []*conn
	closed bool

	stepped func() // for tests: called between two steps of a deletion
}

// Open opens the log at path, and creates it with its folder if it does not
// exist: the folder 0700, the file 0600. Errors are *fault.Error and name what
// to do.
func Open(ctx context.Context, path string, opt Options) (*Store, error) {
	return open(ctx, path, opt, "")
}

// open also takes the name of SQLite's file layer, which tests replace.
func open(ctx context.Context, path string, opt Options, vfs string) (*Store, error) {
	switch opt.Durability {
	case "", "normal":
		opt.Durability = "normal"
	case "full":
	default:
		return nil, fault.NewConfiguration(`set store.durability to "normal" or "full"`,
			"store.durability is %q", opt.Durability)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fault.NewInternal(err, "where is the log?")
	}
	s := newStore(path, vfs, opt)
	if err := s.ensureFile(emptyLog); err != nil {
		return nil, s.explain("open", err)
	}
	if s.w, err = s.dial(ctx); err != nil {
		return nil, s.explain("open", err)
	}
	if err := s.migrate(ctx); err != nil {
		s.w.close()
		return nil, s.explain("open", err)
	}
	if opt.Ready && opt.Durability == "normal" {
		s.ready(ctx)
	}
	return s, nil
}

func newStore(path, vfs string, opt Options) *Store {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	opt.Wait = cmp.Or(opt.Wait, 10*time.Second)
	return &Store{path: path, vfs: vfs, opt: opt, write: make(chan struct{}, 1)}
}

// inMemory is the path of a log that is in memory only. It has one connection.
const inMemory = ":memory:"

// InMemory opens an empty log in memory. now is the clock; nil means time.Now.
func InMemory(now func() time.Time) *Store {
	s := newStore(inMemory, "", Options{Now: now})
	ctx := context.Background()
	var err error
	if s.w, err = s.dial(ctx); err == nil {
		// What a query sorts is not on the disk either.
		err = errors.Join(s.w.c.(interface{ Deserialize([]byte) error }).Deserialize(inMemoryImage()), s.w.script(ctx, "PRAGMA temp_store=MEMORY"))
	}
	if err != nil {
		panic(err) // there is no file that could fail
	}
	return s
}

// ready starts the WAL, which SQLite syncs, with a commit that changes nothing. If that
// fails, the first append fails too and reports the error.
func (s *Store) ready(ctx context.Context) {
	if wal, err := os.Stat(s.path + "-wal"); err != nil || wal.Size() > 0 {
		return
	}
	_ = s.writer(ctx, func(ctx context.Context, c *conn) error {
		return c.script(ctx, fmt.Sprintf("PRAGMA application_id=%d", appID))
	})
}

func (s *Store) Path() string { return s.path }

// Close releases the file. Acknowledged events are safe without Close.
func (s *Store) Close() error {
	s.write <- struct{}{}
	defer func() { <-s.write }()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	for _, c := range s.idle {
		c.close()
	}
	s.idle = nil
	// The last connection to close merges the WAL into the file. If that fails,
	// the WAL remains and the next open reads it: nothing is lost.
	if err := s.w.close(); err != nil {
		return s.explain("close", err)
	}
	return nil
}

// dial opens a connection with the settings that every one needs.
func (s *Store) dial(ctx context.Context) (*conn, error) {
	c, err := dial(s.path, s.vfs)
	if err != nil {
		return nil, err
	}
	sync := "NORMAL"
	if s.opt.Durability == "full" {
		sync = "FULL"
	}
	// A cache of a quarter of a megabyte is enough for the inner pages of the trees.
	// Other pages are read only once.
	err = c.script(ctx, fmt.Sprintf(
		"PRAGMA busy_timeout=%d; PRAGMA synchronous=%s; PRAGMA foreign_keys=ON; PRAGMA secure_delete=ON; PRAGMA wal_autocheckpoint=%d; PRAGMA cache_size=-256",
		busyStep.Milliseconds(), sync, checkpointPages))
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// writer passes the writing connection to f, in a transaction. The transaction is
// committed if f returns nil, and rolled back otherwise. ctx is checked only until the
// transaction has begun. Then it is finished, so the caller always knows whether it was
// committed.
func (s *Store) writer(ctx context.Context, f func(context.Context, *conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case s.write <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.write }()
	if s.closed { // only written by whoever holds s.write
		return os.ErrClosed
	}
	free := context.WithoutCancel(ctx)
	if err := s.retry(ctx, func() error {
		_, err := s.w.exec(free, "BEGIN IMMEDIATE")
		return err
	}); err != nil {
		return err
	}
	err := f(free, s.w)
	if err == nil {
		if _, err = s.w.exec(free, "COMMIT"); err == nil {
			return nil
		}
	}
	// If SQLite has rolled back already, as on a full disk, this fails. The error is
	// ignored.
	s.w.exec(free, "ROLLBACK")
	return err
}

// retry calls f again while others hold the file, up to Options.Wait.
func (s *Store) retry(ctx context.Context, f func() error) error {
	until := time.Now().Add(s.opt.Wait)
	for {
		err := f()
		if !isBusy(err) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Now().After(until) {
			return err
		}
	}
}

// brief passes a connection to f, which must read little. It is the writing connection if
// nobody writes just now. Most sessions need no other.
func (s *Store) brief(ctx context.Context, f func(*conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case s.write <- struct{}{}:
		return s.readByWriter(ctx, f)
	default:
		return s.reader(ctx, f)
	}
}

// readByWriter passes the writing connection to f, and releases it. The caller holds s.write.
func (s *Store) readByWriter(ctx context.Context, f func(*conn) error) error {
	defer func() { <-s.write }()
	if s.closed { // only written by whoever holds s.write
		return os.ErrClosed
	}
	return s.retry(ctx, func() error { return f(s.w) })
}

// reader passes a read connection to f.
func (s *Store) reader(ctx context.Context, f func(*conn) error) error {
	if s.path == inMemory {
		if err := ctx.Err(); err != nil {
			return err
		}
		select {
		case s.write <- struct{}{}:
			return s.readByWriter(ctx, f)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	c, err := s.takeReader(ctx)
	if err != nil {
		return err
	}
	err = s.retry(ctx, func() error { return f(c) })
	s.mu.Lock()
	keep := !s.closed && len(s.idle) < idleReaders
	if keep {
		s.idle = append(s.idle, c)
	}
	s.mu.Unlock()
	if !keep {
		c.close()
	}
	return err
}

func (s *Store) takeReader(ctx context.Context) (*conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, os.ErrClosed
	}
	if n := len(s.idle); n > 0 {
		c := s.idle[n-1]
		s.idle = s.idle[:n-1]
		s.mu.Unlock()
		return c, nil
	}
	s.mu.Unlock()
	c, err := s.dial(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.script(ctx, "PRAGMA query_only=ON"); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// Check searches the whole file for damage and lists it. The list is empty if there is no
// damage.
func (s *Store) Check(ctx context.Context) ([]string, error) {
	var found []string
	err := s.reader(ctx, func(c *conn) error {
		found = nil
		return c.query(ctx, "PRAGMA integrity_check", nil, func(row []driver.Value) (bool, error) {
			if line := text(row[0]); line != "ok" {
				found = append(found, line)
			}
			return true, nil
		})
	})
	if err = s.explain("check", err); errors.Is(err, store.ErrCorrupt) {
		return append(found, err.Error()), nil
	}
	return found, err
}
