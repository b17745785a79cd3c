package vault

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// ring is a keyring in memory; broken refuses.
type ring struct {
	of     map[string]string
	broken bool
}

func (r *ring) Get(name string) (string, error) {
	if v, ok := r.of[name]; ok && !r.broken {
		return v, nil
	}
	return "", errors.New("locked")
}

func (r *ring) Set(name, v string) error {
	if r.broken {
		return errors.New("locked")
	}
	r.of[name] = v
	return nil
}

func (r *ring) Delete(name string) error {
	delete(r.of, name)
	return nil
}

// SPEC 17.7, 16.7: a secret is in the keyring, or in a file that only the person can
// read, and nowhere after its removal.
func TestVault(t *testing.T) {
	for name, c := range map[string]struct {
		ring *ring
		file bool // the secret is in the file
	}{"no keyring": {nil, true}, "a keyring": {&ring{of: map[string]string{}}, false}, "one that refuses": {&ring{of: map[string]string{}, broken: true}, true}} {
		t.Run(name, func(t *testing.T) {
			v := Vault{Dir: filepath.Join(t.TempDir(), "keys")}
			if c.ring != nil {
				v.Ring = c.ring
			}
			if got, err := v.Get("A_KEY"); got != nil || err != nil {
				t.Fatal(got, err)
			}
			must.Do(t, v.Set("A_KEY", []byte("the secret")))
			if got, err := v.Get("A_KEY"); string(got) != "the secret" || err != nil {
				t.Fatal(string(got), err)
			}
			if in, err := v.InRing("A_KEY"); in == c.file || err != nil {
				t.Error(in, err)
			}
			raw, err := os.ReadFile(filepath.Join(v.Dir, "A_KEY.json"))
			if err != nil || strings.Contains(string(raw), "the secret") != c.file {
				t.Errorf("%s %v", raw, err)
			}
			st, err := os.Stat(filepath.Join(v.Dir, "A_KEY.json"))
			if err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
				t.Error(st.Mode(), err)
			}
			if was, err := v.Delete("A_KEY"); !was || err != nil {
				t.Error(was, err)
			}
			if was, err := v.Delete("A_KEY"); was || err != nil || c.ring != nil && len(c.ring.of) > 0 {
				t.Error(was, err)
			}
		})
	}
}

// SPEC 17.7: what cannot be read is an error, and nothing is kept without a folder.
func TestVaultFailures(t *testing.T) {
	v := Vault{Dir: t.TempDir(), Ring: &ring{of: map[string]string{}}}
	must.Do(t, v.Set("K", []byte("x")))
	v.Ring = nil
	if _, err := v.Get("K"); err == nil {
		t.Error("the keyring is gone, and there is no error")
	}
	if err := os.Symlink(filepath.Join(v.Dir, "K.json"), filepath.Join(v.Dir, "L.json")); err == nil {
		if _, err := v.Get("L"); err == nil {
			t.Error("a link was followed")
		}
	}
	if err := (Vault{}).Set("K", nil); err == nil {
		t.Error("kept nowhere")
	}
}
