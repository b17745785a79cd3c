package spending_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/spending"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// price makes a million tokens cost one dollar.
var price = &llm.Price{Input: 1, Output: 1}

// account opens an account on a log of its own.
func account(t *testing.T, id string, usd float64, parent spending.Parent, more ...func(*spending.Config)) (*spending.Account, *eventlog.Log) {
	t.Helper()
	meter := &budget.Meter{}
	log := must.Get(eventlog.Open(t.Context(), eventlog.Config{Store: memory.New(time.Now), Session: id, Now: time.Now}, meter))(t)
	cfg := spending.Config{Session: id, Limits: budget.Limits{USD: usd}, Parent: parent, Now: time.Now, Log: log, Meter: meter}
	for _, change := range more {
		change(&cfg)
	}
	return spending.New(cfg), log
}

// charges are what a log says of the cost of requests, one after the other.
func charges(t *testing.T, log *eventlog.Log) string {
	t.Helper()
	log.EndReaders(true)
	var out []string
	for e, err := range log.Events(t.Context(), 0) {
		must.Do(t, err)
		c, ok := e.Body.(event.Charged)
		if !ok {
			continue
		}
		line := "nothing"
		if c.USD != nil {
			line = fmt.Sprintf("$%.5f", *c.USD)
		}
		for _, word := range []struct {
			is   bool
			text string
		}{{c.Guess, " guessed"}, {c.Unknown, " unknown"}, {c.Child, " of " + c.By}, {c.Requests == 1, ", a request"}} {
			if word.is {
				line += word.text
			}
		}
		out = append(out, line)
	}
	return strings.Join(out, "; ")
}

// free reports whether an account holds no reservation: a large request does not wait.
func free(t *testing.T, acc *spending.Account) bool {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := acc.Reserve(ctx, budget.Ask{Price: price, Input: 900_000, MaxOutput: 1000})
	return err == nil
}

// SPEC 8.1: a child's own reservation ends with its request, and where its parent
// refuses the request: then the next one has the whole of the child's limit.
func TestChildsOwnReservationEnds(t *testing.T) {
	for name, usd := range map[string]float64{"settled": 5, "refused": 0.05} {
		parent, _ := account(t, "parent", usd, nil)
		child, _ := account(t, "child", 1, parent)
		_, settle, err := child.ReserveWithParent(t.Context(), budget.Ask{Price: price, Input: 100_000, MaxOutput: 1000})
		if (err != nil) != (name == "refused") {
			t.Fatal(name, err)
		}
		if err == nil && settle(t.Context()) != nil {
			t.Fatal(name, "is not settled")
		}
		if !free(t, child) {
			t.Error(name, "its reservation is still held")
		}
	}
}

// SPEC 8.1, 5.5: what a request of a child costs it and its parent, however the request
// ended: 1000 tokens are sent, for $0.00100, and $0.01100 are reserved.
func TestWhatARequestCosts(t *testing.T) {
	for name, c := range map[string]struct {
		came            turn.RequestResult
		child, parent   string
		childsLogIsFull bool
	}{
		"a reply with its cost":             {came: turn.RequestResult{Replied: &event.Replied{Cost: new(0.25), Reply: llm.Reply{Usage: llm.Usage{Known: true}}}}, parent: "$0.25000 of child, a request"},
		"a reply of unknown cost":           {came: turn.RequestResult{Replied: &event.Replied{}}, parent: "$0.01100 guessed unknown of child, a request"},
		"broken off after 30 bytes":         {came: turn.RequestResult{Got: 30}, child: "$0.00101 guessed", parent: "$0.00101 guessed of child, a request"},
		"broken off, with its usage":        {came: turn.RequestResult{Usage: llm.Usage{Known: true, Output: 20}}, child: "$0.00002", parent: "$0.00002 of child, a request"},
		"interrupted before its first byte": {came: turn.RequestResult{Cut: true}, child: "$0.00100 guessed", parent: "$0.00100 guessed of child, a request"},
		"failed before anything came":       {parent: "nothing guessed of child, a request"},
		"a charge that cannot be recorded":  {came: turn.RequestResult{Got: 30}, childsLogIsFull: true},
	} {
		parent, parents := account(t, "parent", 1.8, nil)
		child, own := account(t, "child", 1.8, parent, func(cfg *spending.Config) {
			if c.childsLogIsFull {
				cfg.Log = full{cfg.Log}
			}
		})
		if _, _, err := child.Begin(t.Context(), llm.Info{Price: price, MaxOutput: 10_000}, &llm.Request{Body: [][]byte{make([]byte, 3000)}}); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time does nothing
			if err := child.Done(t.Context(), c.came); err != nil && !c.childsLogIsFull {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got, above := charges(t, own), charges(t, parents); got != c.child || above != c.parent {
			t.Errorf("%s: %q, want %q; the parent: %q, want %q", name, got, c.child, above, c.parent)
		}
		if !free(t, child) || !free(t, parent) {
			t.Errorf("%s: a reservation is still held", name)
		}
	}
}

// full is a log that takes nothing.
type full struct{ spending.Log }

func (f full) Append(_ context.Context, ds ...event.Draft) error {
	if len(ds) > 0 {
		return errors.New("disk full")
	}
	return nil
}

// lender is a parent that pays for replies of at most so many tokens.
type lender struct {
	pays  int
	asked budget.Ask
}

func (l *lender) Reserve(_ context.Context, a budget.Ask) (budget.Grant, error) {
	l.asked = a
	return budget.Grant{MaxTokens: l.pays, USD: new(0.5)}, nil
}

func (l *lender) Settle(context.Context, int, ...event.Charged) error { return nil }

// SPEC 8.1: a child's reply is no longer than it can pay itself, and than its parent pays.
func TestReplyThatBothCanPay(t *testing.T) {
	for pays, want := range map[int]int{0: 4000, 3000: 3000} {
		parent := &lender{pays: pays}
		child, _ := account(t, "child", 0.005, parent)
		g, _, err := child.ReserveWithParent(t.Context(), budget.Ask{Price: price, Input: 1000, MaxOutput: 10_000})
		if err != nil || g.MaxTokens != want || *g.USD != 0.5 || parent.asked.MaxOutput != 4000 || !parent.asked.Child {
			t.Errorf("the parent pays %d: %+v, %v, it was asked for %+v", pays, g, err, parent.asked)
		}
	}
}

// SPEC 8.1, 14.1: children that spend at the same time never pass their parent's limit by
// more than one reservation, and not at all where nothing costs more than was reserved; the
// parent's log has all that they spent.
func TestChildrenCanNotOverspend(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limit, dear := rapid.Float64Range(0.01, 2).Draw(rt, "limit"), rapid.SampledFrom([]float64{0.5, 1, 2}).Draw(rt, "dear")
		costs := rapid.SliceOfN(rapid.Float64Range(0, dear), 24, 24).Draw(rt, "costs")
		parent, log := account(t, "parent", limit, nil)
		var billed, most float64 // the log's View guards them
		var all sync.WaitGroup
		for i := range 6 {
			all.Go(func() {
				for _, part := range costs[4*i : 4*i+4] {
					g, err := parent.Reserve(t.Context(), budget.Ask{Price: price, Child: true, Input: 1000, MaxOutput: 8192})
					if err != nil {
						return // nothing is left
					}
					cost := part * *g.USD
					log.View(func() { billed, most = billed+cost, max(most, *g.USD) })
					if err := parent.Settle(t.Context(), g.ID, event.Charged{USD: &cost, Requests: 1, Usage: llm.Usage{Known: true}}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		over := map[bool]float64{dear > 1: most}[true]
		if spent, _ := parent.Spent(); billed > (limit+over)*1.000001 || math.Abs(spent.USD-billed) > 1e-6 {
			rt.Fatalf("billed %v of %v, the log says %v", billed, limit, spent.USD)
		}
	})
}

// SPEC 8.1: who waits for money that others hold gets it when it is free.
func TestWaitsForMoney(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acc, _ := account(t, "s", 1, nil)
		most := budget.Ask{Price: price, Input: 400_000, MaxOutput: 1000}
		g := must.Get(acc.Reserve(t.Context(), most))(t)
		waits := make(chan error, 1)
		go func() {
			_, err := acc.Reserve(t.Context(), most)
			waits <- err
		}()
		synctest.Wait()
		if len(waits) > 0 {
			t.Fatal("it did not wait")
		}
		must.Do(t, acc.Settle(t.Context(), g.ID))
		must.Do(t, <-waits)
	})
}

// SPEC 8.1, 3.4: the nearer limit of time counts, and none where a person can be asked.
func TestTimeLeft(t *testing.T) {
	for _, c := range []struct {
		wall, timeout, want time.Duration
		person              bool
	}{
		{0, 0, 0, false}, {10, 0, 10, false}, {0, 10, 10, false}, {10, 60, 10, false}, {60, 10, 10, false}, {60, 10, 0, true},
	} {
		acc, _ := account(t, "s", 0, nil, func(cfg *spending.Config) {
			cfg.Limits.Wall, cfg.Timeout, cfg.Person = c.wall*time.Second, c.timeout*time.Second, c.person
			cfg.Sleep = func(ctx context.Context, _ time.Duration) error {
				if c.person {
					t.Error("the turn of a person is ended by the limit")
				}
				<-ctx.Done()
				return ctx.Err()
			}
		})
		if left, ok := acc.TimeLeft(); left != c.want*time.Second || ok != (c.want > 0) {
			t.Errorf("%+v: %v is left, %v", c, left, ok)
		}
		acc.LimitTime(t.Context(), func(err error) { t.Error(err) })()
	}
}

// SPEC 8.1: requests that reach a limit together are one question, and its answer counts
// for both.
func TestOneQuestionForALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, answer := 0, make(chan event.Answered)
		acc, _ := account(t, "s", 0.1, nil, func(cfg *spending.Config) {
			cfg.Person = true
			cfg.Ask = func(context.Context, event.Asked) (event.Answered, error) {
				cfg.Log.View(func() { asked++ })
				return <-answer, nil
			}
		})
		done := make(chan error)
		for range 2 {
			go func() {
				_, err := acc.Reserve(t.Context(), budget.Ask{Price: price, Input: 200_000, MaxOutput: 1000})
				done <- err
			}()
		}
		synctest.Wait()
		if asked != 1 {
			t.Errorf("asked %d times at once", asked)
		}
		answer <- event.Answered{Text: "no limit"}
		for range 2 {
			select {
			case err := <-done:
				if err != nil {
					t.Error(err)
				}
			case answer <- event.Answered{Text: "no limit"}:
				t.Error("asked again")
			}
		}
	})
}
