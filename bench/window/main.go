// Command window runs a scripted task of many calls through the context window
// and prints what is sent, what of it a provider's cache serves, and what is
// still known, beside a loop without these measures.
//
//	go run ./bench/window [-calls 1000] [-wide 0] [-at 90]
//
// No model is asked: results are of the sizes that a coding task has, and a
// compaction's summary is the one without a model, so that what is still known
// is what the log alone keeps. Tokens are as policy/window counts them, bytes
// are Anthropic's, from the real codec.
//
// Two numbers say how stable the prefix is. "unchanged" is, of the bytes of a
// request that is not the first after a rebase, how many of the request before
// it are its prefix (cache markers and the end left out): all of them, or the
// prefix is broken. "cached" is, of all tokens sent, how many a cache can
// serve: new results are new tokens in any loop, and the first request after a
// rebase has only its head in the cache.
//
// Money is the input's alone, in units of a million uncached input tokens, by
// each provider's rules (see provider).
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	wire "github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/anthropic"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// provider holds the prices and rules of a provider's cache. Every row assumes that the
// next request comes before the entry expires (5 to 10 minutes).
type provider struct {
	name        string
	read, write float64 // of the price of an input token
	least       int     // tokens that a prefix must have
	step        int     // what is cached is a multiple of it
	lookback    int     // blocks from a marker to an earlier entry; 0: finds any
}

func providers() []provider {
	return []provider{
		// Markers: tools, system, the end, and behind a wide step the last end.
		{name: "Anthropic", read: 0.1, write: 1.25, least: 1024, step: 1, lookback: 20},
		{name: "OpenAI, GPT-5", read: 0.1, write: 1, least: 1024, step: 128},
		{name: "OpenAI, GPT-6", read: 0.1, write: 1.25, least: 1024, step: 128},
		// By best effort: the hits of the real service are fewer.
		{name: "Gemini 3", read: 0.1, write: 1, least: 4096, step: 1},
		{name: "no cache", read: 1, write: 1},
	}
}

// request is one, in tokens: how much of it the one before had, and the head.
type request struct {
	all, before, head int
	blocks            int  // since the end of the one before
	again             bool // that end is marked again
}

func (p provider) cached(q request) int {
	n := q.before
	if p.lookback > 0 && q.blocks > p.lookback && !q.again {
		n = min(n, q.head)
	}
	if n < p.least || p.step == 0 {
		return 0
	}
	return n / p.step * p.step
}

func (p provider) cost(q request) float64 {
	n := p.cached(q)
	return (float64(n)*p.read + float64(q.all-n)*p.write) / 1e6
}

func main() {
	calls := flag.Int("calls", 1000, "how many calls the task has")
	wide := flag.Int("wide", 0, "every tenth step has so many calls at once")
	at := flag.Float64("at", 90, "compact at so many percent")
	flag.Parse()
	fmt.Printf("%d calls, compacted at %.0f %%\n%-9s %-6s %10s %8s %10s %9s %6s\n", *calls, *at, "window", "loop", "sent", "cached", "unchanged", "compacted", "known")
	for _, size := range []int{16_384, 131_072, 1_000_000} {
		naive, ours := sliding(size, *calls, *wide), run(size, *calls, *wide, *at)
		naive.row(size, "naive")
		ours.row(size, "pawl")
		for _, p := range providers() {
			before, now, once := 0.0, 0.0, 0.0
			for _, q := range naive.requests {
				before += p.cost(q)
			}
			for _, q := range ours.requests {
				now += p.cost(q)
				q.again = false
				once += p.cost(q)
			}
			fmt.Printf("%9s %-16s %8.2f naive %8.2f pawl %5.1f %%", "", p.name, before, now, 100*now/before)
			if once > now {
				fmt.Printf("  (%.2f with one mark at the end)", once)
			}
			fmt.Println()
		}
	}
}

type sums struct {
	requests        []request
	bytes, same     int64 // of requests that have one before them in their epoch, and how many of those are a prefix
	compacted       int
	known, planted  int
	between, cached int64 // tokens of requests that are not the first of an epoch, and what of them the one before had
}

func (s sums) row(size int, loop string) {
	known, unchanged := "-", "-"
	if s.planted > 0 {
		known = fmt.Sprintf("%d/%d", s.known, s.planted)
	}
	if s.bytes > 0 {
		unchanged = fmt.Sprintf("%.2f%%", 100*float64(s.same)/float64(s.bytes))
	}
	sent, had := 0, 0
	for _, q := range s.requests {
		sent, had = sent+q.all, had+q.before
	}
	fmt.Printf("%-9d %-6s %10d %7.2f%% %10s %9d %6s", size, loop, sent, 100*float64(had)/float64(sent), unchanged, s.compacted, known)
	if s.between > 0 {
		fmt.Printf("   %.2f%% cached but for the first after a rebase", 100*float64(s.cached)/float64(s.between))
	}
	fmt.Println()
}

// task returns the nth result: most are short, some are whole files.
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

// step returns how many calls the next step has.
func step(n, wide int) int {
	if wide > 1 && n%10 == 9 {
		return wide
	}
	return 1
}

func head(size int) event.Rebased {
	h := llm.Head{Model: "m", System: strings.Repeat("You are a coding agent. Work in small steps and check them. ", 40)}
	for i := range 20 {
		h.Tools = append(h.Tools, llm.ToolSpec{Name: fmt.Sprint("tool", i), Doc: "Reads files and gives their lines with numbers.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)})
	}
	h.Tools = append(h.Tools, llm.ToolSpec{Name: window.CleanTool, Schema: json.RawMessage(`{"type":"object"}`)})
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

const marker = `,"cache_control":{"type":"ephemeral"}`

func run(size, calls, wide int, at float64) sums {
	var c window.Conversation
	c.Configure(window.Config{CompactAt: at, DedupAt: min(80, at)})
	var s sums
	now := time.Unix(0, 0)
	apply := func(bs ...event.Body) {
		for _, b := range bs {
			now = now.Add(5 * time.Second)
			c.Apply(event.Event{Time: now, Body: b})
		}
	}
	t := newTask()
	apply(head(size))
	fixed := c.Tokens()
	apply(event.Prompted{Source: event.Person, Text: "Port the service to the new API and keep the tests green."})
	b := window.NewBuilder(&c, anthropic.New(wire.Tuning{}))
	var want []string
	var bodyBefore []byte
	before, blocks, first := 0, 0, true
	for n, done := 0, 0; done < calls; n++ {
		if why := c.Due(); why != "" {
			apply(c.Plan(why, "").Compacted("", nil))
			s.compacted++
			first = true
		}
		r, err := b.Request(llm.Tail{})
		check(err)
		body := bytes.ReplaceAll(bytes.Join(r.Body[:2], nil), []byte(marker), nil)
		q := request{all: c.Tokens(), before: before, head: fixed, blocks: blocks, again: bytes.Count(r.Body[1], []byte(marker)) > 1}
		if first {
			q.before, q.blocks = min(fixed, before), 0
		} else {
			s.between, s.cached = s.between+int64(q.all), s.cached+int64(before)
			s.bytes += int64(len(bodyBefore))
			s.same += int64(prefix(bodyBefore, body))
		}
		s.requests = append(s.requests, q)
		before, bodyBefore, first = q.all, body, false
		apply(event.Requested{Attempt: 1})
		k := step(n, wide)
		m := llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.TextPart("Next I look at the callers.")}}
		for i := range k {
			m.Parts = append(m.Parts, llm.Part{Kind: llm.CallPart, Call: &llm.Call{ID: fmt.Sprint("c", n, "_", i), Name: "bash", Args: json.RawMessage(fmt.Sprintf(`{"command":"go test ./p%d"}`, n))}})
		}
		apply(event.Replied{Reply: llm.Reply{Message: m}})
		blocks = 2*k + 1
		for i := range k {
			id := fmt.Sprint("c", n, "_", i)
			text, _ := window.Cut(t.result(n), c.ResultCap(), func() string { return "the whole is in /spill/1" })
			d := event.CallDone{ID: id, Tool: "bash", Outcome: event.OK, Command: fmt.Sprintf("go test ./p%d", n), Result: llm.Result{ID: id, Name: "bash", Text: text}}
			if planted := calls / 20; done%planted == planted/2 && len(want) < 20 {
				bs, w := facts(len(want))
				apply(bs...)
				if bs == nil {
					d.Outcome, d.Result.Error, d.Result.Text = event.Failed, true, "FAIL: "+w[0]
				}
				want = append(want, w...)
			}
			apply(d)
			done++
		}
	}
	for n := s.compacted; n < 3; n++ { // what is known after three of them
		apply(c.Plan(event.CompactedPerson, "").Compacted("", nil))
	}
	said, err := json.Marshal(c.Messages())
	check(err)
	for _, w := range want {
		s.planted++
		if strings.Contains(string(said), w) {
			s.known++
		}
	}
	return s
}

// prefix returns the length of the common prefix of two texts, in bytes.
func prefix(a, b []byte) int {
	if bytes.HasPrefix(b, a) {
		return len(a)
	}
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// sliding is the loop of many agents: whole results of up to 50,000 bytes, the
// oldest messages dropped when the window is full, so that the prefix moves at
// each request from then on. It marks its end for the cache, once.
func sliding(size, calls, wide int) sums {
	var s sums
	t := newTask()
	e := window.Estimate{}
	h := head(size).Head
	first := e.Count(h.System)
	for _, x := range h.Tools {
		first += e.Count(x.Name + x.Doc + string(x.Schema))
	}
	var steps []int
	sum, before, blocks := 0, 0, 0
	for n, done := 0, 0; done < calls; n++ {
		dropped := false
		for sum+first > size*9/10 && len(steps) > 1 {
			sum -= steps[0]
			steps = steps[1:]
			dropped = true
		}
		q := request{all: first + sum, before: before, head: first, blocks: blocks}
		if dropped {
			q.before = first
		}
		s.requests = append(s.requests, q)
		before = q.all
		k, added := step(n, wide), 0
		for range k {
			text := t.result(n)
			added += e.Count(text[:min(len(text), 50_000)]) + 40
			done++
		}
		added = min(added, size*8/10)
		steps, sum, blocks = append(steps, added), sum+added, 2*k+1
	}
	return s
}
