package settings

import (
	"path/filepath"
	"strings"
	"testing"
)

// SPEC 4.5, 16.2: what corrections are made is the user's choice, not the
// project's.
func TestAutoCorrect(t *testing.T) {
	for text, want := range map[string]bool{`{}`: false, `{"tools":{"auto_correct":"safe"}}`: false, `{"tools":{"auto_correct":"all"}}`: true} {
		p, dir := Paths{Config: t.TempDir()}, t.TempDir()
		write(t, filepath.Join(p.Config, "config.json"), text)
		write(t, filepath.Join(dir, ".pawl", "config.json"), `{"tools":{"auto_correct":"all"}}`)
		l, err := Load(p, dir)
		if err != nil || l.User.Tools.All() != want || len(l.Warnings) != 1 {
			t.Errorf("%s: %+v, %v", text, l, err)
		}
	}
	p := Paths{Config: t.TempDir()}
	write(t, filepath.Join(p.Config, "config.json"), `{"tools":{"auto_correct":"some"}}`)
	if _, err := Load(p, t.TempDir()); err == nil || !strings.Contains(err.Error(), `auto_correct "some" is not known`) {
		t.Errorf("%v", err)
	}
}
