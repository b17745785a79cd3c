package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// SPEC 4.1: calls that wait for a child session or a person take no place from
// the calls that they wait for, however many there are.
func TestChildrenAndTheirCalls(t *testing.T) {
	for _, c := range []struct {
		name     string
		most     int
		children int
		after    []tool.Footprint // calls of the parent behind them, in the same step
		asks     bool             // each child asks a person, too
	}{
		{name: "as many as places", most: 8, children: 8},
		{name: "more than places", most: 2, children: 9, asks: true},
		{name: "one place", most: 1, children: 3, asks: true},
		{name: "a command behind them", most: 8, children: 8, after: []tool.Footprint{{Unknown: true}}},
		{name: "writes behind them", most: 2, children: 4, after: []tool.Footprint{{Writes: []tool.Span{{Path: "a"}}}, {Writes: []tool.Span{{Path: "a"}}}}},
		{name: "a question behind them", most: 1, children: 2, after: []tool.Footprint{{AsksPerson: true}}, asks: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			l := NewLocks(c.most)
			var mu sync.Mutex
			running, most := 0, 0
			call := func(fp tool.Footprint) {
				ticket := l.Reserve(fp)
				defer ticket.Release()
				if err := ticket.Wait(ctx); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if !fp.AsksPerson {
					running++
					most = max(most, running)
				}
				mu.Unlock()
				mu.Lock()
				if !fp.AsksPerson {
					running--
				}
				mu.Unlock()
			}
			var wg sync.WaitGroup
			var tickets []*Ticket
			for range c.children {
				tickets = append(tickets, l.Reserve(tool.Footprint{RunsChild: true}))
			}
			for _, fp := range c.after {
				wg.Go(func() { call(fp) })
			}
			for i, ticket := range tickets {
				wg.Go(func() {
					defer ticket.Release()
					if err := ticket.Wait(ctx); err != nil {
						t.Error(err)
						return
					}
					call(tool.Footprint{Unknown: true})
					call(tool.Footprint{Reads: []tool.Span{{Path: "a"}}, Writes: []tool.Span{{Path: fmt.Sprint(i)}}})
					if c.asks {
						call(tool.Footprint{AsksPerson: true})
					}
				})
			}
			wg.Wait()
			if most > c.most {
				t.Errorf("%d calls ran at once", most)
			}
			if len(l.tickets) != 0 || l.running != 0 {
				t.Errorf("%d tickets and %d places are left", len(l.tickets), l.running)
			}
		})
	}
}

// SPEC 4.3: a tool that breaks is an error of its call, whoever runs it.
func TestInvokeIsGuarded(t *testing.T) {
	broken := tool.Tool{Run: func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) { panic("oops") }}
	broken.Spec.Name = "broken"
	r, err := Invoke(t.Context(), broken, func() tool.Env { return tool.Env{} }, nil)
	if err == nil || err.Error() != "the broken tool broke: oops" || r.Text != "" {
		t.Errorf("%+v %v", r, err)
	}
	if _, err := Invoke(t.Context(), broken, func() tool.Env { panic("no env") }, nil); err == nil {
		t.Error("what gives a call its abilities is not guarded")
	}
}

// SPEC 4.1: a call that is cancelled while it waits gives back no place, since it had none.
func TestCancelledWaitHasNoPlace(t *testing.T) {
	l := NewLocks(1)
	running := l.Reserve(tool.Footprint{Writes: []tool.Span{{Path: "a"}}})
	l.Reserve(tool.Footprint{Writes: []tool.Span{{Path: "b"}}}).Release()
	next := l.Reserve(tool.Footprint{Writes: []tool.Span{{Path: "c"}}})
	select {
	case <-next.ready:
		t.Error("two run where one may")
	default:
	}
	running.Release()
	select {
	case <-next.ready:
	default:
		t.Error("the next one does not run")
	}
}

// SPEC 4.3: a call that was repeated after one of unknown effect is another question, also
// where that one says that it only reads.
func TestRepeatedAfterTheUnknown(t *testing.T) {
	look := tool.Tool{Spec: llm.ToolSpec{Name: "look"}, ReadOnly: true}
	for unknown, refused := range map[bool]bool{false: true, true: false} {
		between := tool.Tool{Spec: llm.ToolSpec{Name: "between"}, ReadOnly: true}
		step := []*Pending{
			{Tool: look, Args: json.RawMessage(`{}`)},
			{Tool: between, Args: json.RawMessage(`{}`), Footprint: tool.Footprint{Unknown: unknown}},
			{Tool: look, Args: json.RawMessage(`{}`)},
		}
		must.Do(t, (Repeated{}).Check(t.Context(), step))
		if (step[2].Refused != nil) != refused {
			t.Errorf("unknown %v: refused is %v", unknown, step[2].Refused)
		}
	}
}

// SPEC 4.6: of a result that was masked nothing counts as shown: what the model saw is not
// what the file holds.
func TestMaskedLinesAreNotSeen(t *testing.T) {
	rs := Results{Mask: func(s string) string { return strings.ReplaceAll(s, "secret", "[masked]") }}
	for text, seen := range map[string]int{"1\tplain\n": 1, "1\ta secret\n": 0} {
		if r := rs.Masked(tool.Result{Text: text, Seen: []tool.Span{{Path: "f"}}}); len(r.Seen) != seen {
			t.Errorf("%q: %v", text, r.Seen)
		}
	}
}

// SPEC 6.7, 9.6: after a provider refused a length, the request is sent again only if it got
// shorter: not in a spiral, not where nothing can be left out, and not after an interrupt.
func TestRefusedLengths(t *testing.T) {
	stop := errors.New("stop")
	nothing := new(window.Conversation).Plan(event.CompactedLength, "")
	some := nothing
	some.Summarise = true
	for name, c := range map[string]struct {
		packing
		again bool
		want  error
	}{
		"shorter":              {packing{plan: some}, true, nil},
		"a spiral":             {packing{plan: some, spiral: true}, false, errSpiral},
		"nothing to leave out": {packing{plan: nothing}, false, nil},
		"interrupted":          {packing{plan: some, interrupt: stop}, false, stop},
	} {
		b := newBench(nil)
		ctx, cancel := context.WithCancelCause(t.Context())
		c.cancel = cancel
		b.Compaction = c.packing
		again, err := b.tooLong(ctx, 1, fault.ErrContextLength, false)
		compacted := slices.ContainsFunc(b.events, func(e event.Body) bool { _, ok := e.(event.Compacted); return ok })
		if again != c.again || compacted != c.again || !errors.Is(err, c.want) {
			t.Errorf("%s: again %v, compacted %v, %v", name, again, compacted, err)
		}
	}
}

// packing is a compaction with a plan.
type packing struct {
	plan      window.Plan
	spiral    bool
	interrupt error // while the summary is made
	cancel    context.CancelCauseFunc
}

func (p packing) Due() (event.CompactedWhy, bool)                         { return event.CompactedFull, p.spiral }
func (p packing) Dedup() (e event.Compacted, ok bool)                     { return e, false }
func (p packing) Begin(context.Context, event.CompactedWhy, string) error { return nil }
func (p packing) Plan(event.CompactedWhy, string) (window.Plan, bool)     { return p.plan, true }
func (p packing) Rebase() event.Rebased                                   { return event.Rebased{} }
func (p packing) After(context.Context) error                             { return nil }
func (p packing) Summary(context.Context, window.Plan) (string, error) {
	if p.interrupt != nil {
		p.cancel(p.interrupt)
	}
	return "so far", nil
}
