package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/tool"
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
