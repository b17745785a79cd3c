package settings

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 4.5, 16.2: what corrections are made is the user's choice, not the
// project's.
func TestAutoCorrect(t *testing.T) {
	for text, want := range map[string]bool{`{}`: false, `{"tools":{"auto_correct":"safe"}}`: false, `{"tools":{"auto_correct":"all"}}`: true} {
		p, dir := Paths{Config: t.TempDir()}, t.TempDir()
		must.Write(t, filepath.Join(p.Config, "config.json"), text)
		must.Write(t, filepath.Join(dir, ".pawl", "config.json"), `{"tools":{"auto_correct":"all"}}`)
		l, err := Load(p, dir)
		if err != nil || l.User.Tools.All() != want || len(l.Warnings) != 1 {
			t.Errorf("%s: %+v, %v", text, l, err)
		}
	}
	p := Paths{Config: t.TempDir()}
	must.Write(t, filepath.Join(p.Config, "config.json"), `{"tools":{"auto_correct":"some"}}`)
	if _, err := Load(p, t.TempDir()); err == nil || !strings.Contains(err.Error(), `auto_correct "some" is not known`) {
		t.Errorf("%v", err)
	}
}

// SPEC 4.12: how long a call of a tool may take is set by the tool's name.
func TestToolTimeouts(t *testing.T) {
	for text, want := range map[string]string{
		`{"tools":{"timeout":{"web_fetch":"30s","bash":"20m"}}}`: "",
		`{"tools":{"timeout":{"web_fetch":"30"}}}`:               `timeout of web_fetch is "30"`,
		`{"tools":{"timeout":{"grep":"-1s"}}}`:                   `timeout of grep is "-1s"`,
		`{"tools":{"timeout":{"ls":"soon"}}}`:                    `from 1s to 24h`,
	} {
		p := Paths{Config: t.TempDir()}
		must.Write(t, filepath.Join(p.Config, "config.json"), text)
		l, err := Load(p, t.TempDir())
		switch {
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v", text, err)
		case want == "":
			if d, derr := l.User.Tools.Timeouts(); err != nil || derr != nil || d["web_fetch"].String() != "30s" || d["bash"].String() != "20m0s" {
				t.Errorf("%v, %v, %v", d, err, derr)
			}
		}
	}
}
