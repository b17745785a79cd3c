package slash

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// limitNames are the names by which a person refers to limits.
var limitNames = []struct {
	name string
	kind budget.Kind
}{{"usd", budget.USD}, {"tokens", budget.Tokens}, {"time", budget.Wall}, {"requests", budget.Requests}, {"calls", budget.Calls}, {"agents", budget.Agents}}

func budgetCommand() Command {
	return Command{
		Name: "budget", Anytime: true, Args: "[[usd|tokens|time|requests|calls|agents] LIMIT|none]", Doc: "show the limits of this session, or set one, such as /budget 10 or /budget time 2h",
		Run: func(ctx context.Context, h Host, args string) error {
			if args != "" {
				op, err := parseLimit(args)
				if err != nil {
					return err
				}
				if _, err := h.Session().Submit(ctx, op); err != nil {
					return err
				}
			}
			spent, _ := h.Session().View().Spent()
			writeLimits(h.Out(), h.Session().View().Limits(), spent)
			return nil
		},
	}
}

// parseLimit parses the arguments of /budget.
func parseLimit(args string) (session.SetLimit, error) {
	name, value, two := strings.Cut(strings.TrimSpace(args), " ")
	if !two {
		name, value = "usd", name
	}
	value = strings.ToLower(strings.TrimSpace(value))
	for _, l := range limitNames {
		if l.name != strings.ToLower(name) {
			continue
		}
		op := session.SetLimit{Kind: l.kind}
		if value == "none" || value == "off" {
			return op, nil
		}
		if l.kind == budget.Wall {
			d, err := time.ParseDuration(value)
			if err != nil || d <= 0 {
				return op, fmt.Errorf("%s is not a duration: use one such as 20m or 1h30m, or none", plain.Line(value))
			}
			op.To = d.Seconds()
			return op, nil
		}
		n, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimPrefix(value, "$"), ",", ""), 64)
		if err != nil || !(n > 0) {
			return op, fmt.Errorf("%s is not a limit: use a number above 0, or none", plain.Line(value))
		}
		op.To = n
		return op, nil
	}
	var names []string
	for _, l := range limitNames {
		names = append(names, l.name)
	}
	return session.SetLimit{}, fmt.Errorf("unknown limit %s: use %s", plain.Line(name), strings.Join(names, ", "))
}

func writeLimits(out io.Writer, l budget.Limits, s budget.Spent) {
	none := true
	row := func(name, used, limit string, is bool) {
		if is {
			none = false
			fmt.Fprintf(out, "  %-9s %s of %s\n", name, used, limit)
		}
	}
	row("usd", brief.Spent(s), brief.Cost(&l.USD), l.USD > 0)
	row("tokens", strconv.FormatInt(s.Tokens(), 10), strconv.FormatInt(l.Tokens, 10), l.Tokens > 0)
	row("time", s.Active().Round(time.Second).String(), l.Wall.String(), l.Wall > 0)
	row("requests", strconv.Itoa(s.Requests), strconv.Itoa(l.Requests), l.Requests > 0)
	row("calls", strconv.Itoa(s.Calls), strconv.Itoa(l.Calls), l.Calls > 0)
	row("agents", strconv.Itoa(s.Agents), strconv.Itoa(l.Agents), l.Agents > 0)
	switch {
	case none:
		fmt.Fprintf(out, "no limit is set; spent so far: %s\n", brief.Spent(s))
	case l.Assumed:
		fmt.Fprintln(out, "the limit in USD is pawl's default; /budget 10 sets another, until pawl ends")
	}
}
