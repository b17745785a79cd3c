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

// Grants is the file of permissions granted for always. It is the user's, keyed
// by a project's real path, and never in a repository (SPEC 4.15).
type Grants struct{ Path string }

// List returns the rules granted for a project.
func (g Grants) List(dir string) ([]string, error) {
	all, err := g.load()
	return all[dir], err
}

// All returns the rules of every project.
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

// Add stores a rule, or several separated by commas, for a project.
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

// Revoke removes a rule of a project, or several separated by commas; it
// reports whether there was one. A rule that was granted together with others
// is removed alone.
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

// each returns the single rules of a text. An unreadable text stays as it is.
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
