package slash

import (
	"context"
	"fmt"
	"io"

	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

func contextCommand() Command {
	return Command{Name: "context", Anytime: true, Doc: "show what fills the context window", Run: func(_ context.Context, h Host, _ string) error {
		writeWindow(h.Out(), h.Session().View().Window())
		return nil
	}}
}

func writeWindow(out io.Writer, r window.Report) {
	switch {
	case r.Limit > 0:
		fmt.Fprintf(out, "about %d of %d tokens, %.0f %% (%s; urgency %s)\n", r.Tokens, r.Limit, r.Percent, r.Tier, r.Urgency)
	default:
		fmt.Fprintf(out, "about %d tokens; the size of the model's context window is unknown\n", r.Tokens)
	}
	row := func(in string, s window.Share) {
		of := ""
		if r.Tokens > 0 {
			of = fmt.Sprintf("%5.1f %%", 100*float64(s.Tokens)/float64(r.Tokens))
		}
		fmt.Fprintf(out, "%s%-*s %8d  %s  (%d)\n", in, 30-len(in), plain.Line(s.Name), s.Tokens, of, s.Count)
	}
	for _, s := range r.Parts {
		if s.Tokens > 0 {
			row("  ", s)
		}
	}
	for _, s := range r.Results {
		row("    ", s)
	}
	if len(r.Biggest) > 1 {
		fmt.Fprintln(out, "largest results:")
		for _, s := range r.Biggest {
			fmt.Fprintf(out, "  %-28s %8d\n", plain.Line(s.Name), s.Tokens)
		}
	}
	calls := fmt.Sprintf("about %d", r.Calls)
	if r.Calls == r.CallsMost {
		calls += " or more"
	}
	fmt.Fprintf(out, "space for %s calls; the next result may have %d tokens; %d compactions so far\n", calls, r.Cap, r.Compacts)
	if r.Cleaned > 0 {
		fmt.Fprintf(out, "cleaned up: %s; they are removed at the next compaction\n", plural.Of(r.Cleaned, "result"))
	}
}
