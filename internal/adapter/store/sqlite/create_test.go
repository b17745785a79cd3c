package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/golden"
)

// SPEC 10.4: a new log has the schema of the source.
func TestImage(t *testing.T) {
	made, err := newImage(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	golden.File(t, "schema/empty.db", string(made))
}

// newImage builds an empty log from the schema.
func newImage(ctx context.Context) ([]byte, error) {
	c, err := dialDSN(":memory:")
	if err != nil {
		return nil, err
	}
	defer c.close()
	sql := fmt.Sprintf("PRAGMA page_size=%d; PRAGMA auto_vacuum=%d; PRAGMA application_id=%d; BEGIN;", pageSize, incremental, appID)
	for v := 1; v <= version; v++ {
		sql += schema(v)
	}
	sql += indexes + "PRAGMA user_version=" + strconv.Itoa(version) + "; COMMIT;"
	if err := c.script(ctx, sql); err != nil {
		return nil, err
	}
	image, err := c.c.(interface{ Serialize() ([]byte, error) }).Serialize()
	if err != nil {
		return nil, err
	}
	// Bytes 18 and 19 of the header are the journal mode: 2 is WAL
	// (https://www.sqlite.org/fileformat2.html#file_format_version_numbers).
	if len(image) < 100 {
		return nil, errors.New("a new database has no header")
	}
	image[18], image[19] = 2, 2
	return image, nil
}
