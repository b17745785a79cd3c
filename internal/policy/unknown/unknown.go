// Package unknown decides what becomes of a key that a reader of configuration does not
// know: in settings, hooks, MCP servers, front matter and the requests of programs.
//
// It promises that such a key is never dropped in silence where it may forbid something
// (SPEC 16.17). A misspelt guard would otherwise guard nothing, and nobody would hear of
// it. What a reader does with the answer is its own: stop the start, or not use the
// object that has the key.
package unknown

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/editdistance"
)

// Keys are the keys that a reader knows.
type Keys struct {
	Guards []string // they forbid or limit something
	Others []string
}

// restricting are parts of names that forbid something in the settings of agents.
var restricting = [...]string{
	"permission", "sandbox", "hook", "deny", "denied", "disable", "disallow", "block", "forbid", "restrict", "exclude", "readonly",
}

// MayGuard reports whether a key that is not known may forbid something: it has such a
// word, or it resembles a guard.
func (k Keys) MayGuard(name string) bool {
	plain := folded(name)
	for _, part := range restricting {
		if strings.Contains(plain, part) {
			return true
		}
	}
	return k.Resembles(name)
}

// Resembles reports whether a key that is not known may be a guard, misspelt.
func (k Keys) Resembles(name string) bool {
	plain := folded(name)
	for _, g := range k.Guards {
		if g = folded(g); strings.Contains(plain, g) || editdistance.Nearest(plain, []string{g}) != "" {
			return true
		}
	}
	return false
}

// Of returns the names that are not known, sorted: those that may forbid something, and
// the others. Case does not count, as for encoding/json.
func (k Keys) Of(names iter.Seq[string]) (guards, others []string) {
	for _, name := range slices.Sorted(names) {
		same := func(known string) bool { return strings.EqualFold(known, name) }
		switch {
		case slices.ContainsFunc(k.Guards, same), slices.ContainsFunc(k.Others, same):
		case k.MayGuard(name):
			guards = append(guards, name)
		default:
			others = append(others, name)
		}
	}
	return guards, others
}

// Every returns an error for the names that are not known, nil if there are none: of an
// object in which each key counts as a guard.
func (k Keys) Every(of string, names iter.Seq[string]) error {
	guards, others := k.Of(names)
	return k.Error(of, append(guards, others...))
}

// Error names keys that may forbid something, and what was probably meant.
func (k Keys) Error(of string, names []string) error {
	if len(names) == 0 {
		return nil
	}
	var out []string
	for _, n := range names {
		if near := editdistance.Nearest(n, slices.Concat(k.Guards, k.Others)); near != "" {
			n += fmt.Sprintf(" (did you mean %s?)", near)
		}
		out = append(out, n)
	}
	return fmt.Errorf("pawl does not know %s of %s, which may forbid something; correct or remove it", strings.Join(out, ", "), of)
}

func folded(name string) string {
	return strings.NewReplacer("-", "", "_", "", ".", "", " ", "").Replace(strings.ToLower(name))
}
