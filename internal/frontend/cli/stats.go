package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/stats"
)

// shownSessions and shownDays bound the text; JSON has all.
const (
	shownSessions = 15
	shownDays     = 31
)

// statsCommand counts what sessions did.
func (a *App) statsCommand() *cobra.Command {
	f := &flags{}
	asJSON, all := false, false
	c := &cobra.Command{
		Use: "stats [SESSION]", Short: "Count calls, tokens and costs per tool, model, session and day",
		Long: `Count what the sessions of this folder did, or the one that is named: calls,
successes and times per tool, tokens and costs per model, and both per session
and per day. Costs are what providers' usage and the price table say; a "+"
behind one says that a part of it is not known.`,
		Args: atMostOne,
		RunE: func(c *cobra.Command, args []string) error { return a.stats(c.Context(), f, args, all, asJSON) },
	}
	c.Flags().StringVarP(&f.dir, "dir", "C", "", "of this folder instead of the current one")
	c.Flags().BoolVarP(&all, "all", "a", false, "of all folders")
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

func (a *App) stats(ctx context.Context, f *flags, args []string, all, asJSON bool) error {
	st, _, err := a.store(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	rows, err := a.chosen(ctx, st, f, args, all)
	if err != nil {
		return err
	}
	fold := stats.Fold{Zone: time.Local}
	shared := counted{}
	for _, r := range rows {
		skip := shared.skip(r, rows)
		if err := foldEvents(ctx, st, r.ID, func(e event.Event) {
			if e.Seq > skip {
				fold.Apply(e)
			}
		}); err != nil {
			return fmt.Errorf("session %s: %w", r.ID, err)
		}
	}
	rep := fold.Report()
	if asJSON {
		return a.json(rep)
	}
	showStats(a.Out, rep, rows)
	return nil
}

// chosen are the sessions to count, newest first.
func (a *App) chosen(ctx context.Context, st event.Store, f *flags, args []string, all bool) ([]event.Row, error) {
	if len(args) > 0 {
		row, err := a.session(ctx, st, f, args)
		return []event.Row{row}, err
	}
	dir, err := a.realDir(f)
	if err != nil {
		return nil, err
	}
	if all {
		dir = ""
	}
	return st.Sessions(ctx, dir)
}

// counted says, by session, up to where its events were counted as those of a
// fork that shares them.
type counted map[string]int64

// skip is the place up to which a session's events are another's, which is
// counted as well: what a fork shares happened once.
func (c counted) skip(r event.Row, rows []event.Row) int64 {
	if r.Origin == nil || len(rows) == 1 {
		return 0
	}
	for _, other := range rows {
		if other.ID == r.Origin.Session {
			return r.Origin.At
		}
	}
	done := c[r.Origin.Session] // the parent is gone, its forks are not
	c[r.Origin.Session] = max(done, r.Origin.At)
	return min(done, r.Origin.At)
}

func showStats(out io.Writer, r stats.Report, rows []event.Row) {
	if len(r.Sessions) == 0 {
		fmt.Fprintln(out, "nothing to count; see: pawl stats --all")
		return
	}
	table := func(head string, n int, row func(int) string) {
		if n == 0 {
			return
		}
		lines := []string{head}
		for i := range n {
			lines = append(lines, row(i))
		}
		columns(out, lines)
		fmt.Fprintln(out)
	}
	table("tool\tcalls\tok\tfailed\tnot run\ttotal\tavg\tmin\tmax\ttokens shown", len(r.Tools), func(i int) string {
		t := r.Tools[i]
		return fmt.Sprintf("%s\t%d\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t%d", plain.Line(t.Name), t.Calls, t.OK, t.Failed, t.NotRun,
			brief.Took(t.Total), brief.Took(t.Avg()), brief.Took(t.Min), brief.Took(t.Max), t.Tokens)
	})
	table("model\trequests\tretries\treplies\ttokens in\tcached\tout\tcost", len(r.Models), func(i int) string {
		m := r.Models[i]
		return fmt.Sprintf("%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s", plain.Line(m.Ref), m.Requests, m.Retries, m.Replies,
			m.Input+m.Cached+m.Written, m.Cached, m.Output, costOf(m.Spent))
	})
	table("day\tturns\tcalls\treplies\ttokens\tlines\tcost", min(len(r.Days), shownDays), func(i int) string {
		return work(r.Days[max(0, len(r.Days)-shownDays)+i], "")
	})
	titles := map[string]string{}
	for _, x := range rows {
		titles[x.ID] = x.Title
	}
	table("session\tturns\tcalls\treplies\ttokens\tlines\tcost", min(len(r.Sessions), shownSessions), func(i int) string {
		return work(r.Sessions[i], titles[r.Sessions[i].Name])
	})
	if n := len(r.Sessions) - shownSessions; n > 0 {
		fmt.Fprintf(out, "and %d older sessions; --json lists all\n", n)
	}
	fmt.Fprintf(out, "in all: sessions %d, turns %d, calls %d (denied %d), replies %d, tokens %d, lines +%d -%d, cost %s\n",
		len(r.Sessions), r.All.Turns, r.All.Calls, r.All.Denials, r.All.Replies, r.All.Tokens(), r.All.Added, r.All.Removed, costOf(r.All.Spent))
}

// columns writes lines of cells, a tab between two: the first column to the
// left, the others to the right.
func columns(out io.Writer, lines []string) {
	var widths []int
	for _, l := range lines {
		for i, cell := range strings.Split(l, "\t") {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, l := range lines {
		var b strings.Builder
		for i, cell := range strings.Split(l, "\t") {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				b.WriteString(cell + pad)
			} else {
				b.WriteString("  " + pad + cell)
			}
		}
		fmt.Fprintln(out, b.String())
	}
}

func work(w stats.Work, title string) string {
	name := w.Name
	if title != "" {
		if r := []rune(title); len(r) > 40 {
			title = string(r[:40]) + "…"
		}
		name = fmt.Sprintf("%.10s %s", name, title)
	}
	return fmt.Sprintf("%s\t%d\t%d\t%d\t%d\t+%d -%d\t%s", plain.Line(name), w.Turns, w.Calls, w.Replies, w.Tokens(), w.Added, w.Removed, costOf(w.Spent))
}

// costOf says a cost; what is not known is no 0.
func costOf(s stats.Spent) string {
	switch {
	case s.Replies == s.Unknown && s.Replies > 0:
		return "unknown"
	case s.Unknown > 0:
		return brief.Cost(&s.USD) + "+"
	}
	return brief.Cost(&s.USD)
}
