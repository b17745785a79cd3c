package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pawl-agent/pawl/internal/adapter/store"
	"github.com/pawl-agent/pawl/internal/core/kv"
)

var _ kv.Store = (*KV)(nil)

// KV is a kv.Store in a separate SQLite file, not in the log. It is safe for concurrent
// use, and many processes may use one file at once.
type KV struct{ s *Store }

// kvID marks the file: "pawk" in ASCII.
const kvID = 0x7061776b

// The versions of all keys are one sequence, so the versions of a deleted key do not
// start again. Keys are stored escaped: SQLite ends a text at its first NUL.
const kvSchema = `
CREATE TABLE IF NOT EXISTS kv (key TEXT PRIMARY KEY, version INTEGER NOT NULL, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS writes (n INTEGER NOT NULL);
INSERT INTO writes SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM writes);
PRAGMA user_version=1;`

// OpenKV opens the file at path, and creates it with its folder if it does not exist.
func OpenKV(ctx context.Context, path string) (*KV, error) { return openKV(ctx, path, "") }

func openKV(ctx context.Context, path, vfs string) (*KV, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	s := &KV{newStore(path, vfs, Options{})}
	if err := s.s.ensureFile(nil); err != nil {
		return nil, s.explain("open", err)
	}
	if s.s.w, err = s.s.dial(ctx); err != nil {
		return nil, s.explain("open", err)
	}
	if err := s.prepare(ctx); err != nil {
		s.s.w.close()
		return nil, s.explain("open", err)
	}
	return s, nil
}

func (s *KV) prepare(ctx context.Context) error {
	// These take effect only while the file is empty.
	if err := s.s.retry(ctx, func() error { return s.s.w.script(ctx, newFile) }); err != nil {
		return err
	}
	return s.s.writer(ctx, func(ctx context.Context, c *conn) error {
		row, err := c.one(ctx, "SELECT user_version, application_id, NOT EXISTS (SELECT 1 FROM sqlite_schema) FROM pragma_user_version, pragma_application_id")
		switch {
		case err != nil:
			return err
		case integer(row[2]) == 1:
			return c.script(ctx, kvSchema+fmt.Sprintf("PRAGMA application_id=%d", kvID))
		case integer(row[1]) != kvID:
			return errors.New("it is a SQLite file, but not one with values of pawl: move it aside")
		case integer(row[0]) != 1:
			return fmt.Errorf("%w: update pawl", store.ErrNewer)
		}
		return nil
	})
}

// Close releases the file. Acknowledged writes are safe without Close.
func (s *KV) Close() error { return s.s.Close() }

func (s *KV) explain(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, kv.ErrNone), errors.Is(err, kv.ErrChanged), errors.Is(err, kv.ErrLimit), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case code(err) == sqlite3.SQLITE_FULL, noSpace(err), errors.Is(err, errNoSpace):
		return fmt.Errorf("%s %s: %w: free some space on that disk: %w", doing, s.s.path, store.ErrFull, err)
	}
	return fmt.Errorf("%s %s: %w", doing, s.s.path, err)
}

func (s *KV) one(ctx context.Context, query string, args ...driver.Value) (row []driver.Value, err error) {
	err = s.s.brief(ctx, func(c *conn) error { row, err = c.one(ctx, query, args...); return err })
	return row, err
}

func (s *KV) Load(ctx context.Context, key string) (kv.Entry, error) {
	if err := kv.Check(key, nil); err != nil {
		return kv.Entry{}, err
	}
	row, err := s.one(ctx, "SELECT version, value FROM kv WHERE key=?", kv.Escape(key))
	switch {
	case err != nil:
		return kv.Entry{}, s.explain("read an entry of", err)
	case row == nil:
		return kv.Entry{}, fmt.Errorf("%w: %q", kv.ErrNone, key)
	}
	return kv.Entry{Version: version64(row[0]), Value: blob(row[1])}, nil
}

func version64(v driver.Value) kv.Version { return kv.Version(strconv.FormatInt(integer(v), 10)) }

func (s *KV) Save(ctx context.Context, key string, value []byte) (kv.Version, error) {
	return s.put(ctx, key, value, nil)
}

func (s *KV) Swap(ctx context.Context, key string, was kv.Version, value []byte) (kv.Version, error) {
	return s.put(ctx, key, value, &was)
}

func (s *KV) put(ctx context.Context, key string, value []byte, was *kv.Version) (now kv.Version, err error) {
	if err := kv.Check(key, value); err != nil {
		return "", err
	}
	if value == nil {
		value = []byte{} // nil is NULL
	}
	escaped := kv.Escape(key)
	err = s.s.writer(ctx, func(ctx context.Context, c *conn) error {
		if was != nil {
			row, err := c.one(ctx, "SELECT version FROM kv WHERE key=?", escaped)
			if err != nil {
				return err
			}
			var at kv.Version
			if row != nil {
				at = version64(row[0])
			}
			if at != *was {
				return fmt.Errorf("%w: %q", kv.ErrChanged, key)
			}
		}
		row, err := c.one(ctx, "UPDATE writes SET n=n+1 RETURNING n")
		if err != nil {
			return err
		}
		now = version64(row[0])
		_, err = c.exec(ctx, "INSERT INTO kv (key, version, value) VALUES (?,?,?) ON CONFLICT(key) DO UPDATE SET version=excluded.version, value=excluded.value", escaped, integer(row[0]), value)
		return err
	})
	if err != nil {
		return "", s.explain("write to", err)
	}
	return now, nil
}

func (s *KV) Delete(ctx context.Context, key string) error {
	if err := kv.Check(key, nil); err != nil {
		return err
	}
	return s.explain("write to", s.s.writer(ctx, func(ctx context.Context, c *conn) error {
		_, err := c.exec(ctx, "DELETE FROM kv WHERE key=?", kv.Escape(key))
		return err
	}))
}

func (s *KV) Exists(ctx context.Context, key string) (bool, error) {
	if err := kv.Check(key, nil); err != nil {
		return false, err
	}
	row, err := s.one(ctx, "SELECT 1 FROM kv WHERE key=?", kv.Escape(key))
	return row != nil, s.explain("read an entry of", err)
}

func (s *KV) List(ctx context.Context, prefix string) (keys []string, err error) {
	from := kv.Escape(prefix)
	err = s.s.brief(ctx, func(c *conn) error {
		keys = nil
		// ~ comes after every letter of an escaped key.
		return c.query(ctx, "SELECT key FROM kv WHERE key>=? AND key<?", []driver.Value{from, from + "~"}, func(row []driver.Value) (bool, error) {
			key, ok := kv.Unescape(text(row[0]))
			if !ok {
				return false, fmt.Errorf("%w: the key %.100q", kv.ErrDamaged, text(row[0]))
			}
			keys = append(keys, key)
			return true, nil
		})
	})
	slices.Sort(keys) // escaped keys have another order
	return keys, s.explain("list the keys of", err)
}
