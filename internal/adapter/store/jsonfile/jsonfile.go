// Package jsonfile implements kv.Store with one JSON file for each value. People can read
// the files.
//
// A folder is one store. A text value is stored as text, any other value in base64. One
// process or goroutine writes at a time. The kernel releases the lock when its process
// ends, however it ends. Readers need no lock, since files are replaced as a whole
// (core/atomicfile).
package jsonfile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/atomicfile"
	"github.com/pawl-agent/pawl/internal/core/filelock"
	"github.com/pawl-agent/pawl/internal/core/kv"
)

// Parts of file names. An escaped key has no dot. With the underscore in front, it is
// never one of the names that Windows reserves.
const (
	before, after = "_", ".json"
	lockName      = "lock"
	countName     = "count"
)

// askAgain is how long to wait before a held lock is tried again.
const askAgain = time.Millisecond

// Store is a folder of JSON files.
type Store struct {
	dir  string
	disk atomicfile.Disk
}

var _ kv.Store = (*Store)(nil)

// Open opens a folder, and creates it if it does not exist.
func Open(dir string) (*Store, error) { return open(dir, atomicfile.OS{}) }

func open(dir string, disk atomicfile.Disk) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return &Store{dir: dir, disk: disk}, nil
}

// file is the content of a file.
type file struct {
	Version string  `json:"version"`
	Text    *string `json:"text,omitempty"`
	Bytes   []byte  `json:"base64,omitempty"`
}

func (s *Store) path(key string) string {
	return filepath.Join(s.dir, before+kv.Escape(key)+after)
}

func (s *Store) Load(ctx context.Context, key string) (kv.Entry, error) {
	if err := errors.Join(ctx.Err(), kv.Check(key, nil)); err != nil {
		return kv.Entry{}, err
	}
	raw, err := readFile(s.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return kv.Entry{}, fmt.Errorf("%w: %q", kv.ErrNone, key)
	}
	if err != nil {
		return kv.Entry{}, err
	}
	var f file
	if err := json.Unmarshal(raw, &f); err != nil || f.Version == "" {
		return kv.Entry{}, fmt.Errorf("%w: %s (remove the file to go on without it)", kv.ErrDamaged, s.path(key))
	}
	if f.Text != nil {
		f.Bytes = []byte(*f.Text)
	}
	return kv.Entry{Value: f.Bytes, Version: kv.Version(f.Version)}, nil
}

// Save implements kv.Store. It replaces a damaged file too.
func (s *Store) Save(ctx context.Context, key string, value []byte) (kv.Version, error) {
	return s.write(ctx, key, value, func() error { return nil })
}

func (s *Store) Swap(ctx context.Context, key string, was kv.Version, value []byte) (kv.Version, error) {
	return s.write(ctx, key, value, func() error {
		now, err := s.Load(ctx, key)
		if err != nil && !errors.Is(err, kv.ErrNone) {
			return err
		}
		if now.Version != was {
			return fmt.Errorf("%w: %q", kv.ErrChanged, key)
		}
		return nil
	})
}

func (s *Store) write(ctx context.Context, key string, value []byte, allowed func() error) (kv.Version, error) {
	if err := kv.Check(key, value); err != nil {
		return "", err
	}
	release, err := s.lock(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	if err := allowed(); err != nil {
		return "", err
	}
	v, err := s.next()
	if err != nil {
		return "", err
	}
	f := file{Version: v}
	if utf8.Valid(value) {
		text := string(value)
		f.Text = &text
	} else {
		f.Bytes = value
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(f); err != nil {
		return "", err
	}
	return kv.Version(v), atomicfile.WriteOn(s.disk, s.path(key), out.Bytes(), 0o600)
}

// next returns the next version. It counts the writes of the whole store, so that a
// deleted key does not start again. The count is on disk before it is used.
func (s *Store) next() (string, error) {
	path, n := filepath.Join(s.dir, countName), uint64(0)
	switch raw, err := readFile(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", err
	default:
		if n, err = strconv.ParseUint(strings.TrimSpace(string(raw)), 10, 64); err != nil {
			return "", fmt.Errorf("%w: %s: %w", kv.ErrDamaged, path, err)
		}
	}
	v := strconv.FormatUint(n+1, 10)
	return v, atomicfile.WriteOn(s.disk, path, []byte(v+"\n"), 0o600)
}

func (s *Store) Delete(ctx context.Context, key string) error {
	if err := kv.Check(key, nil); err != nil {
		return err
	}
	release, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := s.disk.Remove(s.path(key)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (s *Store) Exists(ctx context.Context, key string) (bool, error) {
	if err := errors.Join(ctx.Err(), kv.Check(key, nil)); err != nil {
		return false, err
	}
	_, err := os.Lstat(s.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// List implements kv.Store. It takes the lock, since a folder that changes while it is
// read may miss a name.
func (s *Store) List(ctx context.Context, prefix string) ([]string, error) {
	release, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, e := range entries {
		name, ours := strings.CutPrefix(e.Name(), before)
		name, json := strings.CutSuffix(name, after)
		if key, ok := kv.Unescape(name); ours && json && ok && strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys, nil
}

// lock waits for the writers' lock, and removes the files of a killed writer.
func (s *Store) lock(ctx context.Context) (release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(s.dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = filelock.Try(f)
		if err == nil {
			return func() { _ = f.Close() }, s.clear()
		}
		if errors.Is(err, filelock.ErrLocked) {
			select {
			case <-time.After(askAgain):
				continue
			case <-ctx.Done():
				err = ctx.Err()
			}
		}
		_ = f.Close()
		return nil, err
	}
}

// clear removes unfinished files. Writers hold the lock, so no other process uses them.
func (s *Store) clear() error {
	d, err := os.Open(s.dir)
	if err != nil {
		return err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	for _, name := range names {
		if atomicfile.Unfinished(name) {
			_ = os.Remove(filepath.Join(s.dir, name)) // an error is ignored: the file disturbs nobody
		}
	}
	return err
}
