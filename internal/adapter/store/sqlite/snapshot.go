package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store"
	"github.com/pawl-agent/pawl/internal/core/atomicfile"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/sorting"
)

var _ event.Snapshots = (*Store)(nil)

// Snapshots are files next to the log, one for each session and name. They are not part
// of it: each may be deleted at any time. A file has
//
//	the mark, the SHA-256 of all that follows,
//	the sequence number of the last event and the digest of that event's row,
//	the data.
const (
	snapshotMark = "pawl folds 2\n"
	snapshotHead = len(snapshotMark) + sha256.Size + 8 + sha256.Size
)

// Limits for snapshots: the newest ones stay. Older ones are searched for and removed
// when a large one is saved.
const (
	maxSnapshots     = 256
	maxSnapshotBytes = 256 << 20
	largeSnapshot    = 64 << 10
)

func (s *Store) snapshotFolder() string { return s.path + ".folds" }

// snapshotFile returns a session's file. An imported id may not be a valid file name.
func (s *Store) snapshotFile(session, name string) string {
	return filepath.Join(s.snapshotFolder(), hex.EncodeToString([]byte(session))+"."+name)
}

func (s *Store) Snapshot(ctx context.Context, session, name string) (at int64, data []byte, err error) {
	b, err := os.ReadFile(s.snapshotFile(session, name))
	if err != nil {
		return 0, nil, event.ErrNoSnapshot
	}
	at, digest, data, ok := openSnapshot(b)
	if !ok {
		return 0, nil, event.ErrNoSnapshot
	}
	now, err := s.digest(ctx, session, at)
	if err != nil || now != digest {
		return 0, nil, event.ErrNoSnapshot
	}
	return at, data, nil
}

// openSnapshot splits a file into its fields; ok is false if it is damaged.
func openSnapshot(b []byte) (at int64, digest [sha256.Size]byte, data []byte, ok bool) {
	if len(b) < snapshotHead || !strings.HasPrefix(string(b[:len(snapshotMark)]), snapshotMark) {
		return 0, digest, nil, false
	}
	sum, b := b[len(snapshotMark):], b[len(snapshotMark)+sha256.Size:]
	if sha256.Sum256(b) != [sha256.Size]byte(sum) {
		return 0, digest, nil, false
	}
	return int64(binary.LittleEndian.Uint64(b)), [sha256.Size]byte(b[8:]), b[8+sha256.Size:], true
}

// SaveSnapshot implements event.Snapshots. The file is not synced. After a power loss it
// may be damaged; a damaged file is ignored.
func (s *Store) SaveSnapshot(ctx context.Context, session, name string, at int64, data []byte) error {
	digest, err := s.digest(ctx, session, at)
	if err != nil {
		return s.explain("save a snapshot of", err)
	}
	head := binary.LittleEndian.AppendUint64(nil, uint64(at))
	head = append(head, digest[:]...)
	h := sha256.New()
	h.Write(head)
	h.Write(data)
	mark := h.Sum([]byte(snapshotMark))

	dir := s.snapshotFolder()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return s.explain("save a snapshot of", err)
	}
	f, err := os.CreateTemp(dir, ".new-*") // 0600
	if err != nil {
		return s.explain("save a snapshot of", err)
	}
	defer os.Remove(f.Name())
	for _, part := range [][]byte{mark, head, data} {
		if _, werr := f.Write(part); werr != nil {
			err = errors.Join(err, werr)
		}
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), s.snapshotFile(session, name))
	}
	if err != nil {
		return s.explain("save a snapshot of", err)
	}
	if len(data) >= largeSnapshot {
		s.pruneSnapshots(ctx)
	}
	return nil
}

// digest returns the digest of an event's row.
func (s *Store) digest(ctx context.Context, session string, at int64) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	err = s.reader(ctx, func(c *conn) error {
		spans, err := lineage(ctx, c, session)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(spans, func(sp span) bool { return sp.from < at && at <= sp.to })
		if i < 0 {
			return fmt.Errorf("%w: session %s has no event %d", store.ErrCorrupt, session, at)
		}
		row, err := c.one(ctx, "SELECT cause, time, kind, version, packed, body FROM events WHERE id = ?", spans[i].num<<seqBits|at)
		if err != nil {
			return err
		}
		if row == nil {
			return fmt.Errorf("%w: session %s has no event %d", store.ErrCorrupt, session, at)
		}
		h.Reset()
		fmt.Fprintf(h, "%q %d %d %d %q %d %d ", session, at, integer(row[0]), integer(row[1]), text(row[2]), integer(row[3]), integer(row[4]))
		return writeValue(h, row[5])
	})
	h.Sum(sum[:0])
	return sum, err
}

func writeValue(h hash.Hash, v driver.Value) error {
	_, err := h.Write(blob(v))
	return err
}

// forgetSnapshots removes a session's snapshots, since they contain its data.
func (s *Store) forgetSnapshots(session string) {
	entries, err := os.ReadDir(s.snapshotFolder())
	if err != nil {
		return // there is no folder, so there are no snapshots
	}
	of := filepath.Base(s.snapshotFile(session, ""))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), of) {
			_ = os.Remove(filepath.Join(s.snapshotFolder(), e.Name()))
		}
	}
}

// pruneSnapshots removes the snapshots of deleted sessions, those of older pawls,
// unfinished files that are an hour old, and the oldest ones beyond the limits.
func (s *Store) pruneSnapshots(ctx context.Context) {
	dir := s.snapshotFolder()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	type file struct {
		name string
		size int64
		time time.Time
	}
	var files []file
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue // another process removed it
		}
		f := file{filepath.Join(dir, e.Name()), info.Size(), info.ModTime()}
		if atomicfile.Unfinished(e.Name()) || e.Name()[0] == '.' {
			if time.Since(f.time) > time.Hour {
				_ = os.Remove(f.name)
			}
			continue
		}
		id, _, _ := strings.Cut(e.Name(), ".")
		if session, err := hex.DecodeString(id); err != nil || !s.has(ctx, string(session)) {
			_ = os.Remove(f.name)
			continue
		}
		files = append(files, f)
	}
	sorting.By(files, func(a, b file) int { return b.time.Compare(a.time) })
	total := int64(0)
	for i, f := range files {
		if total += f.size; i > 0 && (i >= maxSnapshots || total > maxSnapshotBytes) {
			_ = os.Remove(f.name)
		}
	}
}

// has reports whether a session exists. If the log cannot be read, it returns true.
func (s *Store) has(ctx context.Context, session string) bool {
	found := true
	_ = s.reader(ctx, func(c *conn) error {
		row, err := c.one(ctx, "SELECT 1 FROM sessions WHERE id = ? AND state = 0", session)
		if err == nil {
			found = row != nil
		}
		return err
	})
	return found
}
