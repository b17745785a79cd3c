package turn

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/core/typo"
)

// Exists finds the tool that a call names. Another case and the names that
// other agents use for the same thing resolve; an unknown name is answered
// with the three nearest (SPEC 4.4).
type Exists struct{ Tools tool.Set }

// Check is part of Gate.
func (g Exists) Check(_ context.Context, step []*Pending) error {
	for _, p := range step {
		if p.Refused != nil {
			continue
		}
		t, ok := g.Tools.Find(p.Call.Name)
		if !ok {
			t, ok = g.resolve(p.Call.Name)
		}
		if !ok {
			p.Refused = &Refusal{Outcome: event.Invalid, Text: fmt.Sprintf(
				"There is no tool %q. The nearest are: %s.", cut(p.Call.Name, 80), strings.Join(nearest(p.Call.Name, g.Tools.Names(), 3), ", "))}
			continue
		}
		p.Tool = t
		p.Args = rename(t.Spec, p)
	}
	return nil
}

func (g Exists) resolve(name string) (tool.Tool, bool) {
	plain := plainName(name)
	for _, t := range g.Tools {
		if plainName(t.Spec.Name) == plain {
			return t, true
		}
	}
	return g.Tools.Find(aliases[plain])
}

// plainName folds what models vary in a name: case, separators, a namespace
// in front.
func plainName(s string) string {
	if i := strings.LastIndexAny(s, ".:/"); i >= 0 {
		s = s[i+1:]
	}
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(s))
}

func cut(s string, n int) string {
	if len(s) > n {
		return cutHead(s, n) + "…"
	}
	return s
}

// nearest gives the n names with the smallest edit distance.
func nearest(to string, names []string, n int) []string {
	type scored struct {
		name string
		d    int
	}
	to = plainName(cut(to, 80))
	all := make([]scored, len(names))
	for i, name := range names {
		d := typo.Distance(to, plainName(name))
		if strings.Contains(to, plainName(name)) || strings.Contains(plainName(name), to) && to != "" {
			d /= 2
		}
		all[i] = scored{name, d}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return a.d - b.d })
	out := []string{}
	for _, s := range all[:min(n, len(all))] {
		out = append(out, s.name)
	}
	return out
}
