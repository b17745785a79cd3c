package metrics

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/policy/stats"
)

// Counts counts events since the start of the process. The zero value is ready. It is not
// safe for concurrent use.
type Counts struct {
	stats    stats.Fold
	turns    map[string]float64 // by outcome
	stuck    map[[2]string]float64
	compacts map[string]float64
	warnings map[string]float64
	checks   map[string]float64
	running  float64
	waiting  map[string]bool // ids of questions that a person has not answered
}

func (c *Counts) Apply(e event.Event) {
	if e.Seq == 0 {
		return
	}
	c.stats.Apply(e)
	switch b := e.Body.(type) {
	case event.Prompted:
		c.running = 1
	case event.Ended:
		c.running = 0
		c.waiting = nil
		add(&c.turns, string(b.End))
	case event.Stuck:
		add(&c.stuck, [2]string{b.Rule, b.Level})
	case event.Compacted:
		add(&c.compacts, string(b.By))
	case event.Warned:
		add(&c.warnings, string(b.What))
	case event.Checked:
		add(&c.checks, checkOutcome(b))
	case event.Asked:
		if c.waiting == nil {
			c.waiting = map[string]bool{}
		}
		c.waiting[b.ID] = true
	case event.Answered:
		delete(c.waiting, b.ID)
	}
}

func checkOutcome(b event.Checked) string {
	switch {
	case b.Exit == nil:
		return "not_run"
	case *b.Exit == 0:
		return "passed"
	}
	return "failed"
}

func add[K comparable](m *map[K]float64, k K) {
	if *m == nil {
		*m = map[K]float64{}
	}
	(*m)[k]++
}

// WriteTo writes all counts in the text format of Prometheus, version 0.0.4.
func (c *Counts) WriteTo(w io.Writer) (int64, error) {
	var out text
	r := c.stats.Report()
	out.head("pawl_turns_total", "counter", "Turns that ended, by outcome.")
	each(&out, "pawl_turns_total", c.turns, "end")
	out.head("pawl_turn_running", "gauge", "1 while a turn runs.")
	out.line("pawl_turn_running", c.running)
	out.head("pawl_questions_open", "gauge", "Questions that wait for a person.")
	out.line("pawl_questions_open", float64(len(c.waiting)))
	c.models(&out, r)
	c.tools(&out, r)
	out.head("pawl_denials_total", "counter", "Calls that were denied.")
	out.line("pawl_denials_total", float64(r.All.Denials))
	out.head("pawl_lines_changed_total", "counter", "Lines added to and removed from files.")
	out.line("pawl_lines_changed_total", float64(r.All.Added), "kind", "added")
	out.line("pawl_lines_changed_total", float64(r.All.Removed), "kind", "removed")
	out.head("pawl_stuck_total", "counter", "What was done about loops.")
	for _, k := range slices.SortedFunc(maps.Keys(c.stuck), func(a, b [2]string) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	}) {
		out.line("pawl_stuck_total", c.stuck[k], "rule", k[0], "level", k[1])
	}
	out.head("pawl_compactions_total", "counter", "Compactions, by cause.")
	each(&out, "pawl_compactions_total", c.compacts, "by")
	out.head("pawl_checks_total", "counter", "Checks that pawl ran by itself.")
	each(&out, "pawl_checks_total", c.checks, "outcome")
	out.head("pawl_warnings_total", "counter", "Warnings, by what they are about.")
	each(&out, "pawl_warnings_total", c.warnings, "what")
	n, err := io.WriteString(w, out.String())
	return int64(n), err
}

func (c *Counts) models(out *text, r stats.Report) {
	out.head("pawl_requests_total", "counter", "Requests to models.")
	for _, m := range r.Models {
		out.line("pawl_requests_total", float64(m.Requests), "model", m.Ref)
	}
	out.head("pawl_retries_total", "counter", "Requests that failed and were retried.")
	for _, m := range r.Models {
		out.line("pawl_retries_total", float64(m.Retries), "model", m.Ref)
	}
	out.head("pawl_tokens_total", "counter", "Tokens; input is what no cache had.")
	for _, m := range r.Models {
		out.line("pawl_tokens_total", float64(m.Input), "model", m.Ref, "kind", "input")
		out.line("pawl_tokens_total", float64(m.Cached), "model", m.Ref, "kind", "cache_read")
		out.line("pawl_tokens_total", float64(m.Written), "model", m.Ref, "kind", "cache_write")
		out.line("pawl_tokens_total", float64(m.Output), "model", m.Ref, "kind", "output")
	}
	out.head("pawl_cost_usd_total", "counter", "Cost of the replies whose cost is known, in USD.")
	for _, m := range r.Models {
		out.line("pawl_cost_usd_total", m.USD, "model", m.Ref)
	}
	out.head("pawl_cost_unknown_total", "counter", "Replies of unknown cost: above zero, the cost in USD is a lower bound.")
	for _, m := range r.Models {
		out.line("pawl_cost_unknown_total", float64(m.Unknown), "model", m.Ref)
	}
	out.head("pawl_reply_seconds_total", "counter", "Time that whole replies took.")
	for _, m := range r.Models {
		out.line("pawl_reply_seconds_total", m.Took.Seconds(), "model", m.Ref)
	}
}

func (c *Counts) tools(out *text, r stats.Report) {
	out.head("pawl_calls_total", "counter", "Tool calls, by outcome.")
	for _, t := range r.Tools {
		out.line("pawl_calls_total", float64(t.OK), "tool", t.Name, "outcome", "ok")
		out.line("pawl_calls_total", float64(t.Failed), "tool", t.Name, "outcome", "failed")
		out.line("pawl_calls_total", float64(t.NotRun), "tool", t.Name, "outcome", "not_run")
	}
	out.head("pawl_call_seconds_total", "counter", "Time that calls ran.")
	for _, t := range r.Tools {
		out.line("pawl_call_seconds_total", t.Total.Seconds(), "tool", t.Name)
	}
}

func each(out *text, name string, m map[string]float64, label string) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out.line(name, m[k], label, k)
	}
}

// text is a Prometheus text that is being built.
type text struct{ strings.Builder }

func (t *text) head(name, kind, help string) {
	fmt.Fprintf(t, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// line writes a sample; labels alternate between names and values.
func (t *text) line(name string, v float64, labels ...string) {
	t.WriteString(name)
	for i := 0; i+1 < len(labels); i += 2 {
		t.WriteByte("{,"[min(i, 1)])
		t.WriteString(labels[i])
		t.WriteString(`="`)
		t.WriteString(strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.ToValidUTF8(labels[i+1], "\uFFFD")))
		t.WriteByte('"')
	}
	if len(labels) > 0 {
		t.WriteByte('}')
	}
	t.WriteByte(' ')
	t.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
	t.WriteByte('\n')
}
