package settings

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// Every setting of the schema is listed once with what it does, where its value comes from,
// and in groups; of a project's file only what restricts.
//
// SPEC 17.5
func TestListed(t *testing.T) {
	dir := t.TempDir()
	user, project := Config{Path: filepath.Join(dir, "config.json")}, Config{Path: filepath.Join(dir, "project.json"), Project: true}
	for c, text := range map[string]string{user.Path: `{"budget": {"usd": 5}, "model": "offline", "models": {"a/b": {"window": 9}}}`, project.Path: `{"permissions": {"deny": ["bash(rm *)"]}, "mode": "yolo"}`} {
		must.Write(t, c, text)
	}
	all, err := Listed(user, project, func(name string) string { return map[string]string{"PAWL_MODEL": "opus"}[name] })
	if err != nil || len(all) < 80 {
		t.Fatalf("%d settings, %v", len(all), err)
	}
	seen, groups, last, theirs := map[string]Setting{}, map[string]bool{}, "", ""
	for _, s := range all {
		if s.File.Project {
			theirs += s.Key + "=" + s.Value + " "
			continue
		}
		if _, twice := seen[s.Key]; twice {
			t.Errorf("%s is listed twice", s.Key)
		}
		if seen[s.Key] = s; s.About == "" && s.Value == "" {
			t.Errorf("%s: nothing says what it does: write a jsonschema tag", s.Key)
		}
		if s.Group != last {
			if last = s.Group; groups[last] {
				t.Errorf("the group %s is torn at %s", last, s.Key)
			}
			groups[last] = true
		}
	}
	for key, want := range map[string]string{
		"budget.usd": "5//", "model": "\"offline\"//PAWL_MODEL=opus", "retry_for": "/\"5m\"/", "window.compact_at": "/90/", "models.a/b.window": "9//", "mode": "/\"ask\"/", "autofix.enable": "/true/",
	} {
		if s := seen[key]; s.Value+"/"+s.Default+"/"+s.Instead != want {
			t.Errorf("%s: %+v, want %s", key, s, want)
		}
	}
	if want := `permissions.ask= permissions.deny=["bash(rm *)"] hooks= `; theirs != want && theirs != "hooks= "+strings.TrimSuffix(want, "hooks= ") {
		t.Errorf("of the project: %s", theirs)
	}
	if c := seen["effort"].Choices; len(c) != 6 || len(seen["screen.vim"].Choices) != 2 || seen["budget.usd"].Choices != nil {
		t.Errorf("choices: %v", c)
	}
}
