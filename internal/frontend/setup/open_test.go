package setup

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// SPEC 19.3: the state of a session as it is really made can be written, so that opening a
// long one reads the newest snapshot and not every event.
func TestSnapshotsOfRealSessions(t *testing.T) {
	env := map[string]string{"HOME": t.TempDir(), "PATH": os.Getenv("PATH")}
	e := &Environment{Env: func(name string) string { return env[name] }, Dir: t.TempDir(), Now: time.Now, Version: "test", Err: io.Discard}
	e.Prepare()
	for _, opt := range []Options{{}, {Continue: true, Allow: []string{"bash(make *)"}, Deny: []string{"read(secret/**)"}}} {
		var store event.Snapshots
		opt.Model = "offline"
		o, err := e.Open(t.Context(), &opt, Frontend{Name: "test", Configure: func(c *session.Config) {
			store, _ = c.Store.(event.Snapshots)
			c.SnapshotEvery = 4 // opening the log takes one after a single event
		}})
		must.Do(t, err)
		if !opt.Continue {
			_, err = o.RunPrompt(t.Context(), session.Prompt{Text: "run `true`"}, session.Observer{})
		}
		for opt.Continue && err == nil { // it is taken in the background
			if _, _, err = store.Snapshot(t.Context(), o.ID(), "folds"); err == nil {
				break
			} else if errors.Is(err, event.ErrNoSnapshot) {
				err = t.Context().Err()
			}
		}
		if o.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// SPEC 10.4: a session is opened without a command line, is stored, and is found
// again; what was asked for in vain is a usage error, and nothing stays open.
func TestOpen(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	env := map[string]string{"HOME": home, "PATH": os.Getenv("PATH")}
	e := &Environment{Env: func(name string) string { return env[name] }, Dir: dir, Now: time.Now, Version: "test", Err: io.Discard}
	e.Prepare()
	open := func(opt Options) (*Opened, error) {
		t.Helper()
		opt.Model, opt.Sandbox = "offline", "off"
		return e.Open(t.Context(), &opt, Frontend{Name: "test"})
	}
	o := must.Get(open(Options{}))(t)
	id := o.ID()
	if _, err := o.RunPrompt(t.Context(), session.Prompt{Text: "run `true`"}, session.Observer{}); err != nil {
		t.Error(err)
	}
	o.Close()
	o = must.Get(open(Options{Continue: true}))(t)
	if o.ID() != id {
		t.Errorf("%s goes on, not %s", o.ID(), id)
	}
	o.Close()
	for name, opt := range map[string]Options{
		"no folder":    {Dir: filepath.Join(dir, "none")},
		"no session":   {Resume: "none"},
		"a wrong mode": {Mode: "none"},
		"a wrong id":   {SessionID: "no id"},
	} {
		o, err := open(opt)
		if wrong := (*UsageError)(nil); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			o.Close()
		}
	}
}
