package changes

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/turn"
)

func (d *Drafts) env(limit int) tool.Env {
	return tool.Env{Files: d, Code: d.Code, Out: func(string) {}, Limit: limit, Correct: d.correct}
}

// runsOnDrafts reports whether a call can run on drafts: it only changes files, and
// those only through its tool.Env.
func runsOnDrafts(p *turn.Pending) bool {
	return p.Tool.Does() == tool.Edit && !p.Footprint.Unknown
}

// Preview runs a call that edits files on the drafts, and returns the diff of
// its changes. counts names each file with the numbers of added and removed
// lines. All are empty for any other call. instead is what the model gets if the call fails on
// the drafts, or changes nothing.
func (d *Drafts) Preview(ctx context.Context, p *turn.Pending, limit int) (text, counts string, instead *turn.Refusal) {
	if !runsOnDrafts(p) {
		return "", "", nil
	}
	d.takeWrites()
	r, err := p.Try(ctx, d.env(limit))
	if err != nil || r.Error {
		// The failure must not hide the question: the arguments follow.
		why := r.Text
		if err != nil {
			why = err.Error()
		}
		return "this would fail now: " + why + "\n" + string(p.Args), "", &turn.Refusal{Outcome: event.Failed, Text: why, Seen: r.Seen}
	}
	var diffs strings.Builder
	var cs []tool.Change
	for _, n := range d.takeWrites() {
		diffs.WriteString(n.preview())
		cs = append(cs, n.changes()...)
	}
	if len(cs) == 0 {
		instead = &turn.Refusal{Outcome: event.OK, Text: r.Text, Note: r.Note, Seen: r.Seen}
	}
	return diffs.String(), lineCounts(cs), instead
}

// lineCounts lists what would happen to each file.
func lineCounts(cs []tool.Change) string {
	var out []string
	for _, c := range cs {
		what := fmt.Sprintf("+%d -%d", c.Added, c.Removed)
		switch {
		case c.Before == "":
			what = fmt.Sprintf("new, +%d", c.Added)
		case c.After == "":
			what = fmt.Sprintf("deleted, -%d", c.Removed)
		case c.Diff == "" && c.Before != c.After:
			what = "binary"
		case c.Diff == "":
			what = "mode"
		}
		out = append(out, fmt.Sprintf("%s (%s)", c.Path, what))
	}
	return strings.Join(out, ", ")
}

// Narrow reduces lines that are to be shown, of files that do not fit into
// limit bytes, to those that the call would change, or that are most similar to
// the text that it searches. It runs the call on the drafts.
func (d *Drafts) Narrow(ctx context.Context, p *turn.Pending, need []tool.Span, limit int) []tool.Span {
	fits := func(sp tool.Span) bool {
		f, err := d.Files.Read(ctx, sp.Path, int64(limit))
		return err == nil && len(f.Data)+8*bytes.Count(f.Data, []byte("\n")) < limit
	}
	if p.Footprint.Blind || !runsOnDrafts(p) || !slices.ContainsFunc(need, func(sp tool.Span) bool { return sp.To == 0 && !fits(sp) }) {
		return need
	}
	r, err := p.Try(ctx, d.env(limit))
	if err != nil {
		return need
	}
	var changed []tool.Change
	for _, n := range d.takeWrites() {
		changed = append(changed, n.changes()...)
	}
	var out []tool.Span
	for _, sp := range need {
		var at []tool.Span
		for _, c := range changed {
			if c.Path == sp.Path {
				at = append(at, oldLines(c)...)
			}
		}
		if r.Error {
			at = append(at, slices.DeleteFunc(slices.Clone(r.Seen), func(s tool.Span) bool { return s.Path != sp.Path })...)
		}
		if sp.To > 0 || len(at) == 0 {
			at = []tool.Span{sp}
		}
		out = append(out, at...)
	}
	return out
}

// oldLines returns the lines of the old content that a change's diff shows.
func oldLines(c tool.Change) []tool.Span {
	var out []tool.Span
	for l := range strings.Lines(c.Diff) {
		var at, n int
		if _, err := fmt.Sscanf(l, "@@ -%d,%d ", &at, &n); err == nil && n > 0 {
			out = append(out, tool.Span{Path: c.Path, From: at, To: at + n - 1, Hash: c.Before})
		}
	}
	return out
}
