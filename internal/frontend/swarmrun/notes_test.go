package swarmrun

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/nats/natstest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
)

// SPEC 14.5: a setting chooses where the notes of a swarm are stored, and another process
// of the swarm finds them there.
func TestNotesAreStoredWhereTheSettingSays(t *testing.T) {
	t.Parallel()
	url := natstest.Server(t).ClientURL()
	for _, c := range []struct {
		notes, server string
		want          string // a file in the state folder; "": none is made there
	}{
		{"", "", "swarms.db"},
		{"sqlite", url, "swarms.db"},
		{"json", "", "swarm-notes"},
		{"json", url, "swarm-notes"},
		{"nats", "", "swarms.db"},
		{"nats", url, ""},
	} {
		t.Run(c.notes+" "+c.server, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			conf := filepath.Join(home, "config", "pawl")
			must.Write(t, filepath.Join(conf, "config.json"), `{"swarm":{"notes":"`+c.notes+`"}}`)
			env := map[string]string{"HOME": home, "XDG_CONFIG_HOME": filepath.Join(home, "config"), "XDG_STATE_HOME": filepath.Join(home, "state")}
			open := func(use func(r *run)) {
				r := &run{Swarm: Swarm{Environment: &setup.Environment{Env: func(k string) string { return env[k] }, Dir: home, Err: &bytes.Buffer{}}}}
				r.Server.URL = c.server
				use(r)
			}
			open(func(r *run) {
				s, closeStore, err := r.openNotes(t.Context())
				must.Do(t, err)
				defer closeStore()
				must.Done(t)(s.Save(t.Context(), "s/found/00000000", []byte(`"x"`)))
			})
			open(func(r *run) {
				s, closeStore, err := r.openNotes(t.Context())
				must.Do(t, err)
				defer closeStore()
				if e, err := s.Load(t.Context(), "s/found/00000000"); err != nil || string(e.Value) != `"x"` {
					t.Errorf("%q, %v", e.Value, err)
				}
			})
			for _, name := range []string{"swarms.db", "swarm-notes"} {
				_, err := os.Stat(filepath.Join(env["XDG_STATE_HOME"], "pawl", name))
				if (err == nil) != (name == c.want) {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}
