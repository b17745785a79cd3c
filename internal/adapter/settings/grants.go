package settings

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pawl-agent/pawl/internal/core/atomicfile"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// Grants is the file of permissions that were granted permanently. It belongs to the
// user, is keyed by a project's real path, and is never in a repository (SPEC 4.15).
type Grants struct{ Path string }

// Grant is a rule, and when the person agreed to it last: it holds outside the sandbox
// while what a command runs is as it was then. The time is zero in a file of an older pawl.
type Grant struct {
	Rule   string    `json:"rule"`
	Agreed time.Time `json:"agreed,omitzero"`
}

// UnmarshalJSON also reads the form without a time.
func (g *Grant) UnmarshalJSON(b []byte) error {
	if err := json.Unmarshal(b, &g.Rule); err == nil {
		return nil
	}
	type plain Grant
	return json.Unmarshal(b, (*plain)(g))
}

// List returns what is granted for a project.
func (g Grants) List(dir string) ([]Grant, error) {
	all, err := g.All()
	return all[dir], err
}

// All returns what is granted for every project, by its path.
func (g Grants) All() (map[string][]Grant, error) {
	all := map[string][]Grant{}
	raw, err := os.ReadFile(g.Path)
	if missing(err) {
		return all, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	if err != nil {
		return nil, &fault.Error{Category: fault.Configuration, Message: "cannot read the permissions given for always: " + g.Path, Err: err, Hint: "correct or remove the file"}
	}
	return all, nil
}

// Add stores a rule for a project, or several rules separated by commas, as agreed now.
func (g Grants) Add(dir, rule string, now time.Time) error {
	return g.change(dir, func(grants []Grant) []Grant {
		for _, r := range each(rule) {
			grants = append(slices.DeleteFunc(grants, func(g Grant) bool { return g.Rule == r }), Grant{r, now})
		}
		return grants
	})
}

// Revoke removes a rule of a project, or several rules separated by commas. It reports
// whether one was found. A rule that was granted together with others is removed alone.
func (g Grants) Revoke(dir, rule string) (bool, error) {
	found, gone := false, each(rule)
	err := g.change(dir, func(grants []Grant) []Grant {
		var left []Grant
		for _, granted := range grants {
			for _, r := range each(granted.Rule) {
				if slices.Contains(gone, r) {
					found = true
				} else {
					left = append(left, Grant{r, granted.Agreed})
				}
			}
		}
		return left
	})
	return found, err
}

// each returns the single rules of a text. A text that cannot be parsed is returned
// unchanged.
func each(text string) []string {
	rules, err := permission.ParseRules(permission.Allows, permission.User, text)
	if err != nil {
		return []string{text}
	}
	out := make([]string, len(rules))
	for i, r := range rules {
		out[i] = r.Text
	}
	return out
}

func (g Grants) change(dir string, edit func([]Grant) []Grant) error {
	all, err := g.All()
	if err != nil {
		return err
	}
	all[dir] = edit(all[dir])
	if len(all[dir]) == 0 {
		delete(all, dir)
	}
	raw, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(g.Path), 0o700); err != nil {
		return fmt.Errorf("store a permission: %w", err)
	}
	return atomicfile.Write(g.Path, append(raw, '\n'), 0o600)
}
