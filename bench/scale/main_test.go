package main

import (
	"errors"
	"os"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// The page has a place for each table, and only that is replaced. SPEC 19
func TestReplaced(t *testing.T) {
	page := must.Get(os.ReadFile("README.md"))(t)
	for _, name := range []string{"machine", "files", "search", "resume", "sessions"} {
		if _, err := replaced(page, name, "x\n"); err != nil {
			t.Error(err)
		}
	}
	got, err := replaced([]byte("a\n<!-- x -->\nold\n<!-- end -->\nb\n<!-- y -->\nold\n<!-- end -->\n"), "y", "new\n")
	if want := "a\n<!-- x -->\nold\n<!-- end -->\nb\n<!-- y -->\nnew\n<!-- end -->\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := replaced([]byte("a"), "y", ""); !errors.Is(err, errNoPlace) {
		t.Error(err)
	}
}
