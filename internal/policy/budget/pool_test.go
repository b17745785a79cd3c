package budget

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 8.1: with children in flight beside the session, replies cheaper and
// dearer than reserved, replies that fail and are tried again, a hard limit is
// never passed by more than one reply's reservation; and not at all where
// nothing costs more than was reserved. Nobody waits for ever.
func TestHardLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		price := llm.Price{
			Input: rapid.Float64Range(0.1, 20).Draw(t, "in"), Output: rapid.Float64Range(0.1, 100).Draw(t, "out"),
			CacheRead: 0.1, CacheWrite: rapid.Float64Range(0.1, 30).Draw(t, "write"),
		}
		limits := Limits{USD: rapid.Float64Range(0.001, 5).Draw(t, "limit")}
		dearest := rapid.SampledFrom([]float64{1, 1, 1.3, 2}).Draw(t, "dearest")
		m, p := Meter{}, Pool{}
		apply(&m, event.Prompted{})
		inFlight := []Grant{}
		biggest := 0.0
		for range 300 {
			if len(inFlight) < 4 && (len(inFlight) == 0 || rapid.Bool().Draw(t, "another")) {
				g, err := p.Reserve(&m, limits, Ask{
					Price: &price, Child: true, Input: rapid.Int64Range(0, 200_000).Draw(t, "input"), MaxOutput: 8192,
				})
				switch {
				case err == nil:
					inFlight = append(inFlight, g)
					biggest = max(biggest, *g.USD)
					continue
				case errors.Is(err, ErrWait):
					if len(inFlight) == 0 {
						t.Fatal("waits for nobody")
					}
				case fault.CategoryOf(err) == fault.Budget:
					if len(inFlight) == 0 {
						return
					}
				default:
					t.Fatal(err)
				}
			}
			i := rapid.IntRange(0, len(inFlight)-1).Draw(t, "over")
			g := inFlight[i]
			inFlight = append(inFlight[:i], inFlight[i+1:]...)
			cost := *g.USD * rapid.Float64Range(0, dearest).Draw(t, "costs")
			switch rapid.IntRange(0, 3).Draw(t, "came") {
			case 0: // failed before anything came
				apply(&m, event.Charged{By: "child", Guess: true, Requests: 1})
			case 1: // broke off
				apply(&m, event.Charged{By: "child", Guess: true, Requests: 1, USD: &cost})
			default:
				apply(&m, event.Charged{By: "child", Requests: 1, USD: &cost})
			}
			p.Release(g.ID)
			spent, most := m.Session().USD+m.Session().Guessed, limits.USD
			if dearest > 1 {
				most += biggest
			}
			if spent > most*1.0000001 {
				t.Fatalf("spent %v, limit %v, the largest reservation %v", spent, limits.USD, biggest)
			}
		}
	})
}

// SPEC 8.1: the same with tokens.
func TestHardLimitOfTokens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := Limits{Tokens: rapid.Int64Range(1, 500_000).Draw(t, "limit")}
		m, p := Meter{}, Pool{}
		apply(&m, event.Prompted{})
		inFlight := []Grant{}
		for range 200 {
			if len(inFlight) < 4 && (len(inFlight) == 0 || rapid.Bool().Draw(t, "another")) {
				g, err := p.Reserve(&m, limits, Ask{Input: rapid.Int64Range(0, 50_000).Draw(t, "input"), MaxOutput: rapid.IntRange(0, 9000).Draw(t, "max")})
				if err == nil {
					inFlight = append(inFlight, g)
					continue
				}
				if len(inFlight) == 0 {
					if errors.Is(err, ErrWait) {
						t.Fatal("waits for nobody")
					}
					return
				}
			}
			g := inFlight[0]
			inFlight = inFlight[1:]
			u := llm.Usage{Known: true, CacheRead: rapid.Int64Range(0, g.Tokens).Draw(t, "used")}
			apply(&m, event.Charged{Usage: u})
			p.Release(g.ID)
			if m.Session().Tokens() > limits.Tokens {
				t.Fatalf("%d of %d", m.Session().Tokens(), limits.Tokens)
			}
		}
	})
}

// SPEC 8.1: a request in flight is one of the requests that are left.
func TestRequestsInFlight(t *testing.T) {
	m, p := Meter{}, Pool{}
	g := must.Get(p.Reserve(&m, Limits{Requests: 1}, Ask{}))(t)
	if _, err := p.Reserve(&m, Limits{Requests: 1}, Ask{Child: true}); !errors.Is(err, ErrWait) {
		t.Errorf("a second: %v", err)
	}
	apply(&m, event.Requested{}, event.Replied{})
	p.Release(g.ID)
	p.Release(g.ID)
	if _, err := p.Reserve(&m, Limits{Requests: 1}, Ask{}); fault.CategoryOf(err) != fault.Budget {
		t.Errorf("after it: %v", err)
	}
	if len(p.held) != 0 {
		t.Errorf("%d are held", len(p.held))
	}
}

// SPEC 8.1: while others are in flight twice all that is reserved must fit, so
// that the limit holds also where every reply costs twice what was reserved; a
// request that is alone has the whole room.
func TestHalfTheRoomBesideOthers(t *testing.T) {
	price := &llm.Price{Input: 1, Output: 1}
	ask := func(millions int64) Ask { return Ask{Price: price, Child: true, Input: millions * 1e6, MaxOutput: 1} }
	for _, c := range []struct {
		first, second int64 // USD
		spent         float64
		fits          bool
	}{
		{2, 2, 0, true},
		{3, 1, 0, true},
		{3, 3, 0, false}, // 6 of 10 would fit, twice that does not
		{2, 4, 0, false},
		{1, 2, 5, false}, // half of what is left counts
		{1, 1, 5, true},
		{8, 1, 0, false}, // alone it had the whole room
	} {
		m, p := Meter{}, Pool{}
		apply(&m, event.Prompted{}, event.Charged{By: "child", Requests: 1, USD: &c.spent, Usage: llm.Usage{Known: true}})
		g, err := p.Reserve(&m, Limits{USD: 10}, ask(c.first))
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		_, err = p.Reserve(&m, Limits{USD: 10}, ask(c.second))
		if c.fits && err != nil || !c.fits && !errors.Is(err, ErrWait) {
			t.Errorf("%+v: %v", c, err)
		}
		p.Release(g.ID)
		if !c.fits {
			if _, err := p.Reserve(&m, Limits{USD: 10}, ask(c.second)); err != nil {
				t.Errorf("%+v, alone: %v", c, err)
			}
		}
	}
}

// SPEC 8.1: what a child's request sets aside comes from what such requests used so far,
// so that a limit does not make children wait for each other; the request is limited to
// it, so the limit holds still. A long reply makes room for longer ones.
func TestChildrenFitBesideEachOther(t *testing.T) {
	price := &llm.Price{Input: 3, Output: 15, CacheWrite: 3.75}
	ask := Ask{Price: price, Child: true, Input: 1000, MaxOutput: 64_000}
	m, p := Meter{}, Pool{}
	reply := func(output int64) {
		cost := float64(output) * 15 / 1e6
		apply(&m, event.Charged{By: "child", Child: true, Requests: 1, USD: &cost, Usage: llm.Usage{Known: true, Output: output}})
	}
	apply(&m, event.Prompted{})
	reply(30)
	n := 0
	for ; n < 100; n++ {
		g, err := p.Reserve(&m, Limits{USD: 2}, ask)
		if err != nil {
			break
		}
		if g.MaxTokens < 2048 || *g.USD < float64(g.MaxTokens)*15/1e6 {
			t.Fatalf("a reply of at most %d tokens, for which $%.4f is set aside", g.MaxTokens, *g.USD)
		}
	}
	if n < 15 {
		t.Errorf("%d children fit beside each other", n)
	}
	p = Pool{}
	reply(5_000)
	if g, err := p.Reserve(&m, Limits{USD: 2}, ask); err != nil || g.MaxTokens != 32_768 {
		t.Errorf("after a long reply: %+v, %v", g, err)
	}
	p = Pool{}
	for range 10 { // shorter replies make it shorter again, in few steps
		reply(1500)
	}
	if g, err := p.Reserve(&m, Limits{USD: 2}, ask); err != nil || g.MaxTokens != 8192 {
		t.Errorf("after short replies: %+v, %v", g, err)
	}
	p = Pool{}
	if g, err := p.Reserve(&m, Limits{}, ask); err != nil || g.MaxTokens != 0 {
		t.Errorf("without a limit: %+v, %v", g, err)
	}
}

// SPEC 8.1: the most that a request can cost is reserved: its input may be written to the
// provider's cache, and the provider may search.
func TestReservesTheMost(t *testing.T) {
	for name, ask := range map[string]Ask{
		"the cache":  {Price: &llm.Price{Input: 1, Output: 1, CacheWrite: 10}, Input: 100_000, MaxOutput: 1000},
		"searches":   {Price: &llm.Price{Input: 1, Output: 1}, Fixed: 1, MaxOutput: 1000},
		"long reply": {Price: &llm.Price{Input: 1, Output: 1000}, MaxOutput: 1000},
	} {
		m, p := Meter{}, Pool{}
		apply(&m, event.Prompted{})
		g, err := p.Reserve(&m, Limits{USD: 5}, ask)
		if err != nil || *g.USD < 1 || *g.USD > 1.002 {
			t.Fatalf("%s: reserved %+v, %v", name, g, err)
		}
		p.Release(g.ID)
		if g, err := p.Reserve(&m, Limits{USD: 0.1}, ask); fault.CategoryOf(err) != fault.Budget {
			t.Errorf("%s, beyond the limit: %+v, %v", name, g, err)
		}
	}
}
