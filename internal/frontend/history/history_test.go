package history

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 16.7: the history is for its owner, keeps no key, and stays short.
func TestHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "history")
	f, _, err := Open(path)
	must.Do(t, err)
	key := "sk-ant-api03-" + strings.Repeat("aB3dE5gH", 10)
	f.Add("first\nsecond")
	f.Add("my key is " + key)
	f.Add(strings.Repeat("long ", long))
	f.Add(" \n")
	st, err := os.Stat(path)
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", st.Mode(), err)
	}
	raw, _ := os.ReadFile(path)
	if bytes.Count(raw, []byte("\n")) != 2 || bytes.Contains(raw, []byte(key)) {
		t.Errorf("%q", raw)
	}
	_, past, err := Open(path)
	if d := cmp.Diff([]string{"first\nsecond"}, past[:1]); d != "" || len(past) != 2 || err != nil {
		t.Errorf("%d entries, %v: %s", len(past), err, d)
	}
	must.Do(t, os.WriteFile(path, append([]byte("evil\x1b[2J\n\n"), bytes.Repeat([]byte("x\n"), 2*Kept)...), 0o600))
	if _, past, err = Open(path); err != nil || len(past) != Kept {
		t.Fatalf("%d entries, %v", len(past), err)
	}
	if st, err = os.Stat(path); err != nil || st.Mode().Perm() != 0o600 || st.Size() != 2*Kept {
		t.Errorf("%v %v", st, err)
	}
	none, _, err := Open("")
	must.Do(t, err)
	none.Add("x")
}
