package permission

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/normalize"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// This file makes what a question shows of a call that changes files: the diff
// of its changes, on top of the earlier calls of the same step.

// previewLimit is how many bytes of a diff a question shows. A longer diff is
// complete in a file that the question names: everything in question can be
// read (SPEC 16.11), and no log or screen is flooded.
const previewLimit = 100 << 10

// question is the question about one call, or about the checks that one grant
// would allow.
type question struct {
	event.Question
	calls    []*turn.Pending
	decision permission.Decision
}

// questions returns the questions about the calls of a step that need consent, in order. An
// edit of which it is known that it fails or changes nothing ends without one, where the mode
// for edits would let it run: the person has nothing to decide, and the result shows the model
// only what that mode would (SPEC 4.3). That a file is as an edit wants it is not known while
// a question about an earlier call is open.
func (g *Gate) questions(ctx context.Context, step []*turn.Pending, open map[*turn.Pending]permission.Decision) []question {
	drafts := g.Drafts()
	var out []question
	unknown := false
	for left := len(open); left > 0; step = step[1:] {
		p := step[0]
		if p.Refused != nil {
			continue
		}
		text, counts, instead := drafts.Preview(ctx, p, previewLimit)
		if d, ok := open[p]; ok {
			left--
			known := instead != nil && !unknown && (instead.Outcome != event.OK || len(out) == 0)
			if known && !d.Explicit && g.allowedAsEdit(ctx, p) {
				p.Refused = instead
				continue
			}
			out = g.addTo(out, question{g.question(ctx, p, d, text, counts, unknown), []*turn.Pending{p}, d})
		}
		unknown = unknown || p.Footprint.Unknown
	}
	return out
}

// addTo adds a question: a question about a check is merged with one about
// checks with the same grant.
func (g *Gate) addTo(out []question, q question) []question {
	c := checkOf(q.calls[0])
	if c == nil {
		return append(out, q)
	}
	q.Title = "check the changes: " + q.Title
	i := slices.IndexFunc(out, func(o question) bool {
		other := checkOf(o.calls[0])
		return q.Pattern != "" && o.Pattern == q.Pattern && other != nil && g.whyAsked(other, o.decision) == g.whyAsked(c, q.decision)
	})
	if i < 0 {
		return append(out, q)
	}
	out[i].Preview += "\n" + q.Preview
	out[i].Reason += "; " + q.Reason
	out[i].calls = append(out[i].calls, q.calls...)
	return out
}

func (g *Gate) question(ctx context.Context, p *turn.Pending, d permission.Decision, preview, counts string, unknown bool) event.Question {
	q := event.Question{
		Call: p.Call.ID, Tool: p.Tool.Spec.Name, Title: p.Title(), Reason: d.Reason,
		Pattern: d.Pattern, Always: d.CanAlways, Edits: !d.Explicit && g.allowedAsEdit(ctx, p), Preview: string(p.Args),
	}
	if p.Footprint.Shell != "" {
		q.Preview = p.Footprint.Shell
		if also := p.Footprint.Notice; also != "" {
			q.Preview += "\n" + also
		}
	}
	if preview != "" {
		// Commands and arguments are shown completely, however long.
		q.Preview = g.bounded(ctx, p, g.Mask(preview))
		if unknown {
			q.Preview = "(as the files are now; a command before it in this step may change them)\n" + q.Preview
		}
	}
	if counts != "" {
		q.Title = p.Tool.Spec.Name + " " + counts
	}
	if p.Tool.Claim != "" {
		q.Reason += "; " + p.Tool.Claim
	}
	q.Reason = strings.TrimPrefix(q.Reason+says(p), "; ")
	return q
}

// saidMost is how much is shown of what a model says that a call is for, in bytes.
const saidMost = 160

// says is what the model says that a call is for, as its own words.
func says(p *turn.Pending) string {
	s := normalize.OneLine(p.Footprint.Says, saidMost)
	if s == "" || checkOf(p) != nil {
		return "" // a check's words are pawl's own
	}
	return "; the model says: “" + s + "”"
}

// bounded cuts a preview at a line, and tells what was left out and where it
// is. If it cannot be stored, it is shown completely.
func (j *Evaluator) bounded(ctx context.Context, p *turn.Pending, text string) string {
	if len(text) <= previewLimit {
		return text
	}
	path, err := j.Spill(ctx, "preview-"+p.Call.ID, text)
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
