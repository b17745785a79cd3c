package turn

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/editdistance"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Exists finds the tool of a call. Other cases and other agents' names are
// accepted; for an unknown name the refusal lists the three nearest (SPEC 4.4).
type Exists struct{ Tools tool.Set }

// Check is part of Gate.
func (g Exists) Check(_ context.Context, step []*Pending) error {
	for _, p := range step {
		if p.Refused != nil {
			continue
		}
		t, args, ok := g.Tools.Meant(p.Call.Name, p.Args)
		if !ok {
			p.Refused = &Refusal{Outcome: event.Invalid, Text: fmt.Sprintf(
				"There is no tool %q. The nearest are: %s.", cut(p.Call.Name, 80), strings.Join(nearest(p.Call.Name, g.Tools.Names(), 3), ", "))}
			continue
		}
		p.Tool, p.Args = t, args
		if p.Call.Bad != "" {
			continue // the arguments gate reports the problem
		}
		var renamed []string
		if p.Args, renamed = t.Accept(p.Args); len(renamed) > 0 {
			p.Corrected("arguments read as: " + strings.Join(renamed, ", "))
		}
	}
	return nil
}

func cut(s string, n int) string {
	if len(s) > n {
		return cutHead(s, n) + "…"
	}
	return s
}

// nearest returns the n names with the smallest edit distance.
func nearest(to string, names []string, n int) []string {
	type scored struct {
		name string
		d    int
	}
	to = tool.PlainName(cut(to, 80))
	all := make([]scored, len(names))
	for i, name := range names {
		d := editdistance.Distance(to, tool.PlainName(name))
		if strings.Contains(to, tool.PlainName(name)) || strings.Contains(tool.PlainName(name), to) && to != "" {
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
