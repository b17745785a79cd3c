package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 10.4: a log of an older pawl opens, with all that is in it, and takes
// what is new.
func TestOlderSchema(t *testing.T) {
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "log.db")
	must.Do(t, os.WriteFile(path, nil, 0o600))
	c := must.Get(dial(path, ""))(t)
	if err := c.script(ctx, "PRAGMA journal_mode=WAL; PRAGMA application_id="+strconv.Itoa(appID)+"; PRAGMA user_version=1;"+schema(1)+
		`INSERT INTO sessions (id, dir, title, model, created, updated, last) VALUES ('old', '/w', 'fix it', 'm', 1, 2, 0)`); err != nil {
		t.Fatal(err)
	}
	must.Do(t, c.close())
	s := openAt(t, path, Options{})
	must.Done(t)(s.Append(ctx, "new", 0, event.Draft{Body: event.Opened{Dir: "/w", Parent: &event.ParentCall{Session: "old", Call: "c"}}}))
	for id, parent := range map[string]string{"old": "", "new": "old"} {
		r, err := s.Session(ctx, id)
		if err != nil || r.Dir != "/w" || (r.Parent != nil) != (parent != "") || r.Parent != nil && r.Parent.Session != parent {
			t.Errorf("%s: %+v %v", id, r, err)
		}
	}
}
