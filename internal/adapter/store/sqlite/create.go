package sqlite

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/pawl-agent/pawl/internal/adapter/store"
	"github.com/pawl-agent/pawl/internal/core/fault"
)

// schemas are the migrations: schema/NNN.sql takes a file from user_version
// NNN-1 to NNN.
//
//go:embed schema/*.sql
var schemas embed.FS

// version is the newest schema.
const version = 2

// indexes creates the indexes that older files of the same version do not have.
//
//go:embed schema/indexes.sql
var indexes string

// emptyLog is an empty log of the newest schema, in WAL mode: to make one takes longer than all
// else of a first start. TestImage makes it.
//
//go:embed schema/empty.db
var emptyLog []byte

// inMemoryImage is the image without WAL, for which memory has no file.
func inMemoryImage() []byte {
	b := slices.Clone(emptyLog)
	b[18], b[19] = 1, 1 // https://www.sqlite.org/fileformat2.html#file_format_version_numbers
	return b
}

func schema(v int) string {
	b, err := schemas.ReadFile(fmt.Sprintf("schema/%03d.sql", v))
	if err != nil {
		panic(err) // it is part of the binary
	}
	return string(b)
}

// newFile sets what takes effect only while a file is empty.
var newFile = fmt.Sprintf("PRAGMA page_size=%d; PRAGMA auto_vacuum=%d; PRAGMA journal_mode=WAL", pageSize, incremental)

// ensureFile creates the file from an image if it does not exist. It comes into place as a
// whole, so that neither a second process nor a crash leaves a part of it.
func (s *Store) ensureFile(image []byte) error {
	i, err := os.Stat(s.path)
	switch {
	case err == nil && !i.Mode().IsRegular():
		return &fs.PathError{Op: "open", Path: s.path, Err: errors.New("not a regular file")}
	case err == nil && i.Size() > 0:
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := s.strayWAL(); err != nil {
		return err
	}
	dir := filepath.Dir(s.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := s.placeImage(dir, image); err != nil {
		return err
	}
	if s.opt.Durability == "full" {
		syncDir(dir)
	}
	return nil
}

// placeImage gives the image the name of the log, unless another process was first. Where
// that cannot be, on a file system without hard links or where an empty file has the name,
// an empty file remains, which migrate fills under SQLite's locks.
func (s *Store) placeImage(dir string, image []byte) error {
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(s.path)+".new-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(image)
	// Also with durability "normal": a torn file after a power loss would be a damaged log.
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if os.Link(tmp.Name(), s.path) == nil {
		return nil
	}
	f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Close())
}

// strayWAL refuses to create a log next to the WAL of a missing one: SQLite
// would replay it into the new file. A WAL is only created after its log, so it
// is checked first.
func (s *Store) strayWAL() error {
	if _, err := os.Lstat(s.path + "-wal"); err != nil {
		return nil
	}
	if i, err := os.Stat(s.path); err == nil && i.Size() > 0 {
		return nil
	}
	return fault.NewConfiguration("put the log back beside it, or move that file away too",
		"%s-wal has the last events of a log that is missing", s.path)
}

// syncDir makes a new file's name survive a power loss, and the name of its folder, which
// may be new too. If that fails, the system decides when the names are on disk, as with
// SQLite's own new files.
func syncDir(dir string) {
	for range 2 {
		if d, err := os.Open(dir); err == nil {
			d.Sync()
			d.Close()
		}
		dir = filepath.Dir(dir)
	}
}

// marks reads the file's markers: the schema version, the program's id, whether it has no
// tables, and whether it has the indexes.
func (s *Store) marks(ctx context.Context) (at, app int64, blank, indexed bool, err error) {
	err = s.retry(ctx, func() error {
		row, err := s.w.one(ctx, `SELECT user_version, application_id, NOT EXISTS (SELECT 1 FROM sqlite_schema),
  EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'sessions_going')
FROM pragma_user_version, pragma_application_id`)
		if err == nil {
			at, app, blank, indexed = integer(row[0]), integer(row[1]), integer(row[2]) == 1, integer(row[3]) == 1
		}
		return err
	})
	return at, app, blank, indexed, err
}

// migrate brings the file up to this pawl's schema.
func (s *Store) migrate(ctx context.Context) error {
	at, app, blank, indexed, err := s.marks(ctx)
	if err != nil {
		return err
	}
	switch {
	case at == 0 && app == 0 && blank:
		if err := s.retry(ctx, func() error {
			return s.w.script(ctx, newFile)
		}); err != nil {
			return err
		}
	case app != appID:
		return fault.NewConfiguration("move it aside, or set PAWL_HOME to another folder",
			"%s is a SQLite file, but not a log of pawl", s.path)
	case at == version && indexed:
		return nil
	case at > version:
		return &fault.Error{
			Category: fault.Configuration, Kind: store.ErrNewer,
			Message: fmt.Sprintf("%s was written by a newer pawl (format %d, this one knows %d)", s.path, at, version),
			Hint:    "update pawl, or set PAWL_HOME to another folder",
		}
	}
	err = s.writer(ctx, func(ctx context.Context, c *conn) error {
		row, err := c.one(ctx, "SELECT user_version, EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'sessions_going') FROM pragma_user_version") // another process may have been first
		if err != nil {
			return err
		}
		sql := ""
		for v := int(integer(row[0])) + 1; v <= version; v++ {
			sql += schema(v) + fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d;", appID, v)
		}
		if integer(row[1]) == 0 {
			sql += indexes
		}
		if sql == "" {
			return nil
		}
		return c.script(ctx, sql)
	})
	if at == version {
		return nil // without the index it is only slower
	}
	return err
}
