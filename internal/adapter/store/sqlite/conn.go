package sqlite

import (
	"context"
	"database/sql/driver"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	sqlite "modernc.org/sqlite"
)

// conn is one connection with its prepared statements. One goroutine at a time
// uses it. It uses the driver directly: an append does not need the pool,
// goroutine and locks of database/sql.
type conn struct {
	c     driver.Conn
	stmts map[string]driver.Stmt
	args  []driver.NamedValue
	row   []driver.Value
}

// dial opens a connection to an existing file. vfs is "" except in tests.
func dial(path, vfs string) (*conn, error) {
	if path == inMemory {
		return dialDSN(path)
	}
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // C:/… of Windows
	}
	dsn := "file://" + (&url.URL{Path: p}).EscapedPath() + "?mode=rw"
	if vfs != "" {
		dsn += "&vfs=" + vfs
	}
	return dialDSN(dsn)
}

func dialDSN(dsn string) (*conn, error) {
	c, err := new(sqlite.Driver).Open(dsn)
	if err != nil {
		return nil, err
	}
	return &conn{c: c, stmts: map[string]driver.Stmt{}}, nil
}

// script runs statements that return no rows.
func (c *conn) script(ctx context.Context, sql string) error {
	_, err := c.c.(driver.ExecerContext).ExecContext(ctx, sql, nil)
	return err
}

func (c *conn) stmt(sql string) (driver.Stmt, error) {
	if s, ok := c.stmts[sql]; ok {
		return s, nil
	}
	s, err := c.c.Prepare(sql)
	if err != nil {
		return nil, err
	}
	c.stmts[sql] = s
	return s, nil
}

func (c *conn) bind(args []driver.Value) []driver.NamedValue {
	c.args = c.args[:0]
	for i, a := range args {
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return c.args
}

// exec runs a statement without rows and returns how many rows it changed.
func (c *conn) exec(ctx context.Context, sql string, args ...driver.Value) (int64, error) {
	s, err := c.stmt(sql)
	if err != nil {
		return 0, err
	}
	r, err := s.(driver.StmtExecContext).ExecContext(ctx, c.bind(args))
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// query runs a statement and passes its rows to each until each returns false. each may
// retain the values.
func (c *conn) query(ctx context.Context, sql string, args []driver.Value, each func(row []driver.Value) (more bool, err error)) error {
	s, err := c.stmt(sql)
	if err != nil {
		return err
	}
	rows, err := s.(driver.StmtQueryContext).QueryContext(ctx, c.bind(args))
	if err != nil {
		return err
	}
	if n := len(rows.Columns()); cap(c.row) < n {
		c.row = make([]driver.Value, n)
	} else {
		c.row = c.row[:n]
	}
	for {
		err = rows.Next(c.row)
		if err != nil {
			break
		}
		more := false
		if more, err = each(c.row); err != nil || !more {
			break
		}
	}
	if err == io.EOF {
		err = nil
	}
	if cerr := rows.Close(); err == nil {
		err = cerr
	}
	return err
}

// one returns a copy of the first row, or nil if there is no row. The statement runs to
// its end.
func (c *conn) one(ctx context.Context, sql string, args ...driver.Value) ([]driver.Value, error) {
	var out []driver.Value
	err := c.query(ctx, sql, args, func(row []driver.Value) (bool, error) {
		if out == nil {
			out = append(out, row...)
		}
		return true, nil
	})
	return out, err
}

func (c *conn) close() error {
	for _, s := range c.stmts {
		s.Close() // its error is that of its last run, which was reported then
	}
	return c.c.Close()
}

func integer(v driver.Value) int64 {
	n, _ := v.(int64)
	return n
}

func text(v driver.Value) string {
	s, _ := v.(string)
	return s
}

func blob(v driver.Value) []byte {
	b, _ := v.([]byte)
	return b
}
