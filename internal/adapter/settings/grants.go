package settings

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/renameio/v2"

	"github.com/pawl-agent/pawl/internal/core/fault"
)

// Grants is the file of permissions given for always. It is the user's, keyed
// by a project's real path, and never in a repository (SPEC 4.15).
type Grants struct{ Path string }

// List gives the rules granted for a project.
func (g Grants) List(dir string) ([]string, error) {
	all, err := g.load()
	return all[dir], err
}

// All gives the rules of every project.
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

// Add keeps a rule for a project.
func (g Grants) Add(dir, rule string) error {
	return g.change(dir, func(rules []string) []string {
		if slices.Contains(rules, rule) {
			return rules
		}
		return append(rules, rule)
	})
}

// Revoke removes a rule of a project; it says whether there was such a one.
func (g Grants) Revoke(dir, rule string) (bool, error) {
	found := false
	err := g.change(dir, func(rules []string) []string {
		found = slices.Contains(rules, rule)
		return slices.DeleteFunc(rules, func(r string) bool { return r == rule })
	})
	return found, err
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
	return renameio.WriteFile(g.Path, append(raw, '\n'), 0o600)
}
