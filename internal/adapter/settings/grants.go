package settings

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/atomicfile"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// Grants is the file of permissions that were granted permanently. It belongs to the
// user, is keyed by a project's real path, and is never in a repository (SPEC 4.15).
type Grants struct{ Path string }

// List returns the rules granted for a project.
func (g Grants) List(dir string) ([]string, error) {
	all, err := g.load()
	return all[dir], err
}

// All returns the rules of every project, by its path.
func (g Grants) All() (map[string][]string, error) { return g.load() }

func (g Grants) load() (map[string][]string, error) {
	all := map[string][]string{}
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

// Add stores a rule for a project, or several rules separated by commas.
func (g Grants) Add(dir, rule string) error {
	return g.change(dir, func(rules []string) []string {
		for _, r := range each(rule) {
			if !slices.Contains(rules, r) {
				rules = append(rules, r)
			}
		}
		return rules
	})
}

// Revoke removes a rule of a project, or several rules separated by commas. It reports
// whether one was found. A rule that was granted together with others is removed alone.
func (g Grants) Revoke(dir, rule string) (bool, error) {
	found, gone := false, each(rule)
	err := g.change(dir, func(rules []string) []string {
		var left []string
		for _, granted := range rules {
			for _, r := range each(granted) {
				if slices.Contains(gone, r) {
					found = true
				} else {
					left = append(left, r)
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

func (g Grants) change(dir string, edit func([]string) []string) error {
	all, err := g.load()
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
		return fmt.Errorf("keep a permission: %w", err)
	}
	return atomicfile.Write(g.Path, append(raw, '\n'), 0o600)
}
