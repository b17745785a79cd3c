// Command window runs a scripted task of many calls through the context window
// and prints what is sent, what of it a provider's cache serves, and what is
// still known, beside a loop without these measures.
//
//	go run ./bench/window [-calls 1000]
//
// No model is asked: results are of the sizes that a coding task has, and a
// compaction's summary is the one without a model, so that what is still known
// is what the log alone keeps. Tokens are as policy/window counts them. Money
// is in units of one uncached million input tokens: a cache read costs a
// tenth, a write one and a quarter (Anthropic's rules; the others charge no
// more for writes).
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

func main() {
	calls := flag.Int("calls", 1000, "how many calls the task has")
	flag.Parse()
	fmt.Printf("%d calls\n%-10s %-6s %12s %12s %8s %9s %11s %7s\n", *calls, "window", "loop", "sent", "from cache", "cached", "money", "compacted", "known")
	for _, size := range []int{16_384, 131_072, 1_000_000} {
		naive := sliding(size, *calls)
		ours := run(size, *calls)
		row(size, "naive", naive)
		row(size, "pawl", ours)
		fmt.Printf("%-10s %-6s %.1f %% of the naive loop's money; %.2f %% of input between rebases in an unchanged prefix\n", "", "", 100*ours.money()/naive.money(), 100*float64(ours.kept)/float64(ours.between))
	}
}

type sums struct {
	sent, cached   int64 // tokens
	between, kept  int64 // tokens of requests that are not the first after a rebase, and their unchanged part but for the new step
	compacted      int
	known, planted int
}

func (s sums) money() float64 {
	return (float64(s.cached)*0.1 + float64(s.sent-s.cached)*1.25) / 1e6
}

func row(size int, loop string, s sums) {
	known := "-"
	if s.planted > 0 {
		known = fmt.Sprintf("%d/%d", s.known, s.planted)
	}
	fmt.Printf("%-10d %-6s %12d %12d %7.1f%% %9.2f %11d %7s\n", size, loop, s.sent, s.cached, 100*float64(s.cached)/float64(s.sent), s.money(), s.compacted, known)
}

// task gives the nth result: most are short, some are whole files.
type task struct{ r *rand.Rand }

func newTask() *task { return &task{rand.New(rand.NewPCG(1, 2))} }

func (t *task) result(n int) string {
	lines := 5 + t.r.IntN(60)
	if t.r.IntN(8) == 0 {
		lines = 300 + t.r.IntN(900)
	}
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "%d\tfunc step%d(ctx context.Context, n int) error { return run(ctx, %d) }\n", i+1, n, i)
	}
	return b.String()
}

func head(size int) event.Rebased {
	h := llm.Head{Model: "m", System: strings.Repeat("You are a coding agent. Work in small steps and check them. ", 40)}
	for i := range 20 {
		h.Tools = append(h.Tools, llm.ToolSpec{Name: fmt.Sprint("tool", i), Doc: "Reads files and gives their lines with numbers.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)})
	}
	return event.Rebased{Info: llm.Info{Provider: "p", Model: "m", Window: size, MaxOutput: 8192}, Head: h}
}

// facts are planted over the task: what failed, what was decided, ports, files.
func facts(n int) (bs []event.Body, want []string) {
	switch n % 4 {
	case 0:
		q := fmt.Sprint("q", n)
		return []event.Body{event.Asked{ID: q, Text: fmt.Sprintf("Which port for service %d?", n)}, event.Answered{ID: q, Text: fmt.Sprint("port ", 40000+n)}}, []string{fmt.Sprint(40000 + n)}
	case 1:
		h := tool.Hash(fmt.Sprintf("%064x", n*7919))
		return []event.Body{event.FileChanged{Tool: "edit", Path: fmt.Sprintf("pkg/role%d.go", n), After: h}}, []string{fmt.Sprintf("role%d.go", n)}
	case 2:
		return []event.Body{event.Remembered{Text: fmt.Sprintf("decided: table %d has no index", n)}}, []string{fmt.Sprintf("table %d has no index", n)}
	}
	return nil, []string{fmt.Sprintf("deadlock in worker %d", n)} // a failed call, below
}

func run(size, calls int) sums {
	var c window.Conversation
	var s sums
	at := time.Unix(0, 0)
	apply := func(bs ...event.Body) {
		for _, b := range bs {
			at = at.Add(5 * time.Second)
			c.Apply(event.Event{Time: at, Body: b})
		}
	}
	t := newTask()
	apply(head(size), event.Prompted{Source: event.Person, Text: "Port the service to the new API and keep the tests green."})
	var want []string
	before, rebased := 0, false
	fixed := c.Tokens()
	for n := range calls {
		if why := c.Due(); why != "" {
			apply(c.Plan(why, "").Compacted("", nil))
			s.compacted++
			rebased = true
		}
		now := c.Tokens()
		s.sent += int64(now)
		if rebased {
			// Only the head is in the cache.
			before = fixed
		} else {
			s.between += int64(now)
			s.kept += int64(before)
		}
		s.cached += int64(before)
		before, rebased = now, false
		apply(event.Requested{Attempt: 1})
		id := fmt.Sprint("c", n)
		m := llm.Message{Role: llm.Assistant, Parts: []llm.Part{
			llm.TextPart("Next I look at the callers."),
			{Kind: llm.CallPart, Call: &llm.Call{ID: id, Name: "bash", Args: json.RawMessage(fmt.Sprintf(`{"command":"go test ./p%d"}`, n))}},
		}}
		apply(event.Replied{Reply: llm.Reply{Message: m}})
		text, _ := window.Cut(t.result(n), c.ResultCap(), func() string { return "the whole is in /spill/1" })
		done := event.CallDone{ID: id, Tool: "bash", Outcome: event.OK, Command: fmt.Sprintf("go test ./p%d", n), Result: llm.Result{ID: id, Name: "bash", Text: text}}
		if planted := calls / 20; n%planted == planted/2 && len(want) < 20 {
			bs, w := facts(len(want))
			apply(bs...)
			if bs == nil {
				done.Outcome, done.Result.Error, done.Result.Text = event.Failed, true, "FAIL: "+w[0]
			}
			want = append(want, w...)
		}
		apply(done)
	}
	for n := s.compacted; n < 3; n++ { // what is known after three of them
		apply(c.Plan(window.WhyPerson, "").Compacted("", nil))
	}
	said, err := json.Marshal(c.Messages())
	if err != nil {
		panic(err)
	}
	for _, w := range want {
		s.planted++
		if strings.Contains(string(said), w) {
			s.known++
		}
	}
	return s
}

// sliding is the loop of many agents: whole results of up to 50,000 bytes, the
// oldest messages dropped when the window is full, so that the prefix moves at
// each request from then on.
func sliding(size, calls int) sums {
	var s sums
	t := newTask()
	e := window.Estimate{}
	h := head(size).Head
	first := e.Count(h.System)
	for _, x := range h.Tools {
		first += e.Count(x.Name + x.Doc + string(x.Schema))
	}
	var steps []int
	sum, before := 0, 0
	for n := range calls {
		dropped := false
		for sum+first > size*9/10 && len(steps) > 1 {
			sum -= steps[0]
			steps = steps[1:]
			dropped = true
		}
		s.sent += int64(first + sum)
		if dropped {
			s.cached += int64(first)
		} else {
			s.cached += int64(before)
		}
		before = first + sum
		text := t.result(n)
		step := min(e.Count(text[:min(len(text), 50_000)])+40, size*8/10)
		steps = append(steps, step)
		sum += step
	}
	return s
}
