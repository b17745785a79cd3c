package brief

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/took"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/stats"
	"github.com/pawl-agent/pawl/internal/policy/why"
)

// shownSessions, shownSignals and shownDays limit the length of the text.
const (
	shownSessions = 15
	shownSignals  = 12
	shownDays     = 31
)

// Why writes the explanations of a session's problems, each with its evidence.
func Why(out io.Writer, found []why.Finding) {
	if len(found) == 0 {
		fmt.Fprintln(out, "nothing was stopped, denied, blocked or retried, and nothing was spent")
	}
	for _, x := range found {
		fmt.Fprintln(out, plain.Line(fmt.Sprintf("%-7s %s  %s", x.Kind, x.Time.Local().Format("2006-01-02 15:04:05"), x.Text)))
		for _, e := range x.Evidence {
			fmt.Fprintln(out, "        "+plain.Line(e))
		}
	}
}

// Stats writes tables of what sessions did; titles are the sessions' titles, by id. The
// text is limited in length; JSON contains everything.
func Stats(out io.Writer, r stats.Report, titles map[string]string) {
	if len(r.Sessions) == 0 {
		fmt.Fprintln(out, "nothing to count; for all folders: pawl stats --all")
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
			took.Text(t.Total), took.Text(t.Avg()), took.Text(t.Min), took.Text(t.Max), t.Tokens)
	})
	table("model\trequests\tretries\treplies\ttokens in\tcached\tout\tcost", len(r.Models), func(i int) string {
		m := r.Models[i]
		return fmt.Sprintf("%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s", plain.Line(m.Ref), m.Requests, m.Retries, m.Replies,
			m.Input+m.Cached+m.Written, m.Cached, m.Output, costOf(m.Spent))
	})
	table("day\tturns\tcalls\treplies\ttokens\tlines\tcost", min(len(r.Days), shownDays), func(i int) string {
		return workLine(r.Days[max(0, len(r.Days)-shownDays)+i], "")
	})
	table("session\tturns\tcalls\treplies\ttokens\tlines\tcost", min(len(r.Sessions), shownSessions), func(i int) string {
		return workLine(r.Sessions[i], titles[r.Sessions[i].Name])
	})
	course(out, r.Course)
	if n := len(r.Sessions) - shownSessions; n > 0 {
		fmt.Fprintf(out, "and %s; --json lists all\n", plural.Of(n, "older session"))
	}
	fmt.Fprintf(out, "total: sessions %d, turns %d, calls %d (denied %d), replies %d, tokens %d, lines +%d -%d, cost %s\n",
		len(r.Sessions), r.All.Turns, r.All.Calls, r.All.Denials, r.All.Replies, r.All.Tokens(), r.All.Added, r.All.Removed, costOf(r.All.Spent))
}

// course writes how it went: how full the window was, and where it was warned and checked.
func course(out io.Writer, c *stats.Course) {
	if c == nil || len(c.Replies) == 0 {
		return
	}
	most, bars := int64(0), []rune(nil)
	for _, m := range c.Replies {
		most = max(most, m.Window)
	}
	for i := range min(len(c.Replies), 60) {
		m := c.Replies[i*len(c.Replies)/min(len(c.Replies), 60)]
		bars = append(bars, []rune("▁▂▃▄▅▆▇█")[m.Window*7/max(most, 1)])
	}
	fmt.Fprintf(out, "window: %s, at most %d tokens\n", string(bars), most)
	for _, s := range c.Signals[max(0, len(c.Signals)-shownSignals):] {
		fmt.Fprintln(out, plain.Line(fmt.Sprintf("after reply %d: a loop (%s, %s): %s", s.Reply, s.Level, s.Rule, s.Text)))
	}
	for _, x := range c.Checks[max(0, len(c.Checks)-shownSignals):] {
		fmt.Fprintln(out, plain.Line(fmt.Sprintf("after reply %d: %s: %s", x.Reply, x.Name, CheckResult(x))))
	}
	fmt.Fprintln(out)
}

// CheckResult is what a check said, in words.
func CheckResult(x stats.Check) string {
	switch {
	case !x.Ended:
		return "did not end"
	case x.OK && x.Tests > 0:
		return fmt.Sprintf("passed, %s", plural.Of(x.Tests, "test"))
	case x.OK:
		return "passed"
	case x.Failures > 0:
		return plural.Of(x.Failures, "failure")
	}
	return "failed"
}

// columns writes lines of cells, which tabs separate: the first column is aligned left,
// the others right.
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

func workLine(w stats.Work, title string) string {
	name := w.Name
	if title != "" {
		name = fmt.Sprintf("%.10s %s", name, cut.Runes(title, 40))
	}
	return fmt.Sprintf("%s\t%d\t%d\t%d\t%d\t+%d -%d\t%s", plain.Line(name), w.Turns, w.Calls, w.Replies, w.Tokens(), w.Added, w.Removed, costOf(w.Spent))
}

// costOf formats a cost; an unknown cost is not 0.
func costOf(s stats.Spent) string {
	switch {
	case s.Unknown > 0 && s.USD == 0:
		return "unknown"
	case s.Unknown > 0:
		return Cost(&s.USD) + "+"
	}
	return Cost(&s.USD)
}
