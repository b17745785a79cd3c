package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// What a permission question shows of a call that changes files: the diff of
// what it would do, to the files as the calls before it in the same step would
// leave them.

// previewLimit is how many bytes of a diff a question shows. What is longer is
// whole in a file that the question names: nothing that is asked about is out
// of reach (SPEC 16.11), and no log or screen drowns in it.
const previewLimit = 100 << 10

// consent is a question and the calls that it is about: one, or the checks that
// one grant would allow.
type consent struct {
	event.Question
	of []*turn.Pending
	d  permission.Decision
}

// questions words the questions for the asked calls of a step, in order.
func (g *permissionGate) questions(ctx context.Context, step []*turn.Pending, asked map[*turn.Pending]permission.Decision) []consent {
	d := changes.NewDrafts(g.s.cfg.Files, g.s.cfg.AutoCorrect)
	d.Code = g.s.cfg.Code
	var out []consent
	unknown := false
	for left := len(asked); left > 0; step = step[1:] {
		p := step[0]
		if p.Refused != nil {
			continue
		}
		text, counts := d.Preview(ctx, p, previewLimit)
		if decision, ok := asked[p]; ok {
			left--
			out = addTo(out, consent{g.question(ctx, p, decision, text, counts, unknown), []*turn.Pending{p}, decision})
		}
		unknown = unknown || p.Footprint.Unknown
	}
	return out
}

// addTo adds a question: that about a check to one about checks with the same
// grant, where there is one.
func addTo(out []consent, c consent) []consent {
	k := checkOf(c.of[0])
	if k == nil {
		return append(out, c)
	}
	c.Title = "check the changes: " + c.Title
	i := slices.IndexFunc(out, func(o consent) bool {
		other := checkOf(o.of[0])
		return c.Pattern != "" && o.Pattern == c.Pattern && other != nil && other.asks(o.d) == k.asks(c.d)
	})
	if i < 0 {
		return append(out, c)
	}
	out[i].Preview += "\n" + c.Preview
	out[i].Reason += "; " + c.Reason
	out[i].of = append(out[i].of, c.of...)
	return out
}

func (g *permissionGate) question(ctx context.Context, p *turn.Pending, d permission.Decision, preview, counts string, unknown bool) event.Question {
	q := event.Question{
		Call: p.Call.ID, Tool: p.Tool.Spec.Name, Title: title(p), Reason: d.Reason,
		Pattern: d.Pattern, Always: d.CanAlways, Edits: g.edits(ctx, p), Preview: string(p.Args),
	}
	if p.Footprint.Shell != "" {
		q.Preview = p.Footprint.Shell
		if also := p.Footprint.Besides; also != "" {
			q.Preview += "\n" + also
		}
	}
	if preview != "" {
		// Commands and arguments are shown whole, however long.
		q.Preview = g.bounded(ctx, p, g.s.cfg.Mask.String(preview))
		if unknown {
			q.Preview = "(as the files are now; a command before it in this step may change them)\n" + q.Preview
		}
	}
	if counts != "" {
		q.Title = p.Tool.Spec.Name + " " + counts
	}
	return q
}

// bounded cuts a preview at a line and says what was left out and where it is.
// Where it cannot be kept, it is shown whole.
func (g *permissionGate) bounded(ctx context.Context, p *turn.Pending, text string) string {
	if len(text) <= previewLimit {
		return text
	}
	path, err := g.s.spill(ctx, "preview-"+p.Call.ID, text)
	if err != nil {
		return text
	}
	n := strings.LastIndexByte(text[:previewLimit], '\n') + 1
	if n == 0 {
		n = len(strings.ToValidUTF8(text[:previewLimit], ""))
	}
	return fmt.Sprintf("%s[%d of %d lines are shown here. All of it is in %s]\n",
		text[:n], strings.Count(text[:n], "\n"), strings.Count(text, "\n"), path)
}
