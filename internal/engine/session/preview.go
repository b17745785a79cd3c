package session

import (
	"context"
	"fmt"
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

// questions words the question for each asked call of a step, in order.
func (g *permissionGate) questions(ctx context.Context, step []*turn.Pending, asked map[*turn.Pending]permission.Decision) []event.Question {
	d := changes.NewDrafts(g.s.cfg.Files, g.s.cfg.AutoCorrect)
	var out []event.Question
	unknown := false
	for _, p := range step {
		if p.Refused != nil || len(out) == len(asked) {
			continue
		}
		text, counts := d.Preview(ctx, p, previewLimit)
		if decision, ok := asked[p]; ok {
			out = append(out, g.question(ctx, p, decision, text, counts, unknown))
		}
		unknown = unknown || p.Footprint.Unknown
	}
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
