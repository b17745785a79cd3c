package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/editdistance"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/sorting"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Exists finds the tool of a call. Other cases and other agents' names are
// accepted; for an unknown name the refusal lists the three nearest (SPEC 4.4).
type Exists struct {
	Tools tool.Set
	// Late, if set, finds a tool of a server that was still starting when Tools was
	// listed. It may wait for the server. why is the reason why such a tool cannot be
	// called.
	Late func(ctx context.Context, name string) (t tool.Tool, why string, ok bool)
}

func (g Exists) Check(ctx context.Context, step []*Pending) error {
	for _, p := range step {
		if p.Refused != nil {
			continue
		}
		t, args, why := g.find(ctx, p)
		if why != "" {
			p.Refused = &Refusal{Outcome: event.Invalid, Text: why}
			continue
		}
		p.Tool, p.Args = t, args
		if p.Call.Bad != "" {
			continue // the arguments gate reports the problem
		}
		var notes []string
		if p.Args, notes = t.Accept(p.Args); len(notes) > 0 {
			p.Corrected(strings.Join(notes, "; "))
		}
	}
	return nil
}

// find returns the tool and the arguments that a call means, or why there is none.
func (g Exists) find(ctx context.Context, p *Pending) (t tool.Tool, args json.RawMessage, why string) {
	t, args, ok := g.Tools.Meant(p.Call.Name, p.Args)
	name, in, late := p.Call.Name, p.Args, !ok
	if ok && t.StandsFor != nil { // it stands for a tool that is not in the set
		name, in, late = t.StandsFor(args)
	}
	if late && g.Late != nil {
		if of, why, found := g.Late(ctx, name); found || why != "" {
			return of, in, why
		}
	}
	if !ok {
		why = fmt.Sprintf("There is no tool %q. The nearest are: %s.", cut.Bytes(p.Call.Name, 80), strings.Join(nearest(p.Call.Name, g.Tools, 3), ", "))
	}
	return t, args, why
}

// shorten returns at most n bytes from the start, and never half a rune.
// nearest returns the names of n tools: those that do what tools of that name do
// elsewhere, then those with the smallest edit distance.
func nearest(to string, tools tool.Set, n int) []string {
	family := tool.FamilyOf(to)
	to = tool.PlainName(cut.Bytes(to, 80))
	distance := func(t tool.Tool) int {
		name := tool.PlainName(t.Spec.Name)
		d := editdistance.Distance(to, name)
		switch {
		case family != "" && t.Family == family:
			return d - 1_000
		case strings.Contains(to, name) || strings.Contains(name, to) && to != "":
			return d / 2
		}
		return d
	}
	sorted := slices.Clone(tools)
	sorting.By(sorted, func(a, b tool.Tool) int { return distance(a) - distance(b) })
	return sorted[:min(n, len(sorted))].Names()
}
