package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

func said(path, folder string) trust.Entry {
	return trust.Accept(path, folder, time.Unix(9, 0), true, []trust.Part{{Kind: trust.Check, Name: "node in .", Hash: "1"}})
}

// SPEC 16.1: what a person said is kept for them alone, for one folder.
func TestTrust(t *testing.T) {
	tr := Paths{State: filepath.Join(t.TempDir(), "state")}.Trust()
	if e, err := tr.Of("/p", "1"); e != nil || err != nil {
		t.Fatal(e, err)
	}
	must.Do(t, tr.Keep(said("/p", "1")))
	e, err := tr.Of("/p", "1")
	if err != nil || e == nil || e.Path != "/p" || e.Parts["check:node in ."].Hash != "1" {
		t.Fatal(e, err)
	}
	for _, other := range []string{"/p/", "/p/x", "/", "/q", "/p/../p", "/P2"} {
		if e, err := tr.Of(other, "1"); e != nil || err != nil {
			t.Errorf("%s: %+v %v", other, e, err)
		}
	}
	// Another spelling of the same folder, and of another one.
	if e, err := tr.Of("/P", "1"); e == nil || err != nil {
		t.Error("the same folder in other letters is not known", err)
	}
	if e, err := tr.Of("/P", "2"); e != nil || err != nil {
		t.Error("another folder is taken for it", err)
	}
	if e, err := tr.Of("/P", ""); e != nil || err != nil {
		t.Error("a folder that cannot be told is taken for it", err)
	}
	for path, mode := range map[string]os.FileMode{tr.Dir: 0o700, tr.file("/p"): 0o600} {
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != mode {
			t.Errorf("%s: %v %v", path, st.Mode(), err)
		}
	}
	if found, err := tr.Revoke("/p"); !found || err != nil {
		t.Error(found, err)
	}
	if found, err := tr.Revoke("/p"); found || err != nil {
		t.Error(found, err)
	}
}

// A file that somebody else can have made, or that is of another folder, is
// not believed.
func TestTrustIsNotBelieved(t *testing.T) {
	for name, spoil := range map[string]func(file string) error{
		"others can write it": func(f string) error { return os.Chmod(f, 0o666) },
		"the group can":       func(f string) error { return os.Chmod(f, 0o620) },
		"a link": func(f string) error {
			if err := os.Rename(f, f+".x"); err != nil {
				return err
			}
			return os.Symlink(f+".x", f)
		},
		"a folder": func(f string) error {
			if err := os.Remove(f); err != nil {
				return err
			}
			return os.Mkdir(f, 0o700)
		},
		"of another folder": func(f string) error {
			raw, err := os.ReadFile(f)
			if err != nil {
				return err
			}
			return os.WriteFile(f, []byte(strings.ReplaceAll(string(raw), "/p", "/q")), 0o600)
		},
		"broken": func(f string) error { return os.WriteFile(f, []byte("{"), 0o600) },
		"empty":  func(f string) error { return os.WriteFile(f, nil, 0o600) },
		"long":   func(f string) error { return os.Truncate(f, 5<<20) },
	} {
		tr := Trust{Dir: filepath.Join(t.TempDir(), "trust")}
		must.Do(t, tr.Keep(said("/p", "1")))
		must.Do(t, spoil(tr.file("/p")))
		if e, err := tr.Of("/p", "1"); e != nil || err == nil {
			t.Errorf("%s: %+v %v", name, e, err)
		}
	}
}

// Two pawls at once lose nothing of what the other keeps.
func TestTrustAtOnce(t *testing.T) {
	tr := Trust{Dir: filepath.Join(t.TempDir(), "trust")}
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			path := fmt.Sprintf("/p%d", i%8)
			if err := tr.Keep(said(path, "1")); err != nil {
				t.Error(err)
			}
			if e, err := tr.Of(path, "1"); e == nil || err != nil {
				t.Error(path, e, err)
			}
		})
	}
	all.Wait()
	if es, err := tr.All(); len(es) != 8 || err != nil {
		t.Error(len(es), err)
	}
}

// What a repository could bring along is not believed: a state within it.
func TestTrustWithin(t *testing.T) {
	dir := must.Dir(t)
	repo, home := filepath.Join(dir, "home", "repo"), filepath.Join(dir, "home")
	must.Do(t, os.MkdirAll(filepath.Join(repo, "own"), 0o700))
	must.Do(t, os.Symlink(filepath.Join(repo, "own"), filepath.Join(dir, "link")))
	for _, c := range []struct {
		state, workspace, home string
		want                   bool
	}{
		{filepath.Join(home, ".local"), repo, home, false},
		{filepath.Join(repo, ".pawl"), repo, home, true},
		{filepath.Join(repo, "not", "made"), repo, home, true},
		{filepath.Join(repo, "own"), repo, "", true},
		{filepath.Join(dir, "link"), repo, home, true},
		{repo + "-2", repo, home, false},
		{filepath.Join(home, ".local"), home, home, false}, // the home as workspace
		{filepath.Join(repo, "..state"), repo, home, true},
	} {
		if got := (Paths{State: c.state}).Trust().Within(c.workspace, c.home); got != c.want {
			t.Errorf("%s in %s with home %s: %v", c.state, c.workspace, c.home, got)
		}
	}
}
