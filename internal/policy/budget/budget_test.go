package budget

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

func apply(m *Meter, bs ...event.Body) {
	for _, b := range bs {
		m.Apply(event.Event{Body: b})
	}
}

// SPEC 5.5: what is not known is unknown, never 0.
func TestUnknownIsNotZero(t *testing.T) {
	var m Meter
	cost := 0.5
	apply(&m, event.Prompted{}, event.Replied{Cost: &cost, Reply: llm.Reply{Usage: llm.Usage{Known: true, Input: 10}}})
	if c := m.Session().Cost(); c == nil || *c != 0.5 {
		t.Errorf("cost %v, want 0.5", c)
	}
	apply(&m, event.Replied{})
	if c := m.Session().Cost(); c != nil {
		t.Errorf("a reply of unknown cost gives %v, want unknown", *c)
	}
	if m.Session().Usage.Known {
		t.Error("usage is called known although a reply reported none")
	}
}

// SPEC 8.1: a hard limit is never passed by more than one reply's reservation,
// and a model without a price can not be held to money.
func TestHardLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		price := llm.Price{
			Input: rapid.Float64Range(0.1, 20).Draw(t, "in"), Output: rapid.Float64Range(0.1, 100).Draw(t, "out"),
			CacheRead: 0.1, CacheWrite: rapid.Float64Range(0.1, 30).Draw(t, "write"),
		}
		limit := Limits{USD: rapid.Float64Range(0.001, 5).Draw(t, "limit")}
		var m Meter
		apply(&m, event.Rebased{Info: llm.Info{Price: &price}}, event.Prompted{})
		for range 200 {
			in := rapid.Int64Range(0, 200_000).Draw(t, "input")
			res, err := m.Reserve(limit, in, 8192)
			if err != nil {
				if fault.CategoryOf(err) != fault.Budget {
					t.Fatal(err)
				}
				return
			}
			if m.Session().USD+*res.USD > limit.USD*1.0000001 {
				t.Fatalf("reserved %v on top of %v, limit %v", *res.USD, m.Session().USD, limit.USD)
			}
			out := rapid.Int64Range(0, int64(res.MaxTokens)).Draw(t, "output")
			u := llm.Usage{Known: true, CacheWrite: in, Output: out}
			apply(&m, event.Replied{Cost: llm.Cost(&price, u), Reply: llm.Reply{Usage: u}})
			if m.Session().USD > limit.USD*1.0000001 {
				t.Fatalf("spent %v, limit %v", m.Session().USD, limit.USD)
			}
		}
	})
	var m Meter
	if _, err := m.Reserve(Limits{USD: 1}, 1, 1); fault.CategoryOf(err) != fault.Budget {
		t.Errorf("without a price: %v", err)
	}
}

// SPEC 4.14
func TestSteps(t *testing.T) {
	var m Meter
	apply(&m, event.Prompted{}, event.Replied{}, event.Replied{})
	_, err := m.Reserve(Limits{Steps: 2}, 0, 0)
	if e := (*StepsError)(nil); !errors.As(err, &e) {
		t.Errorf("got %v", err)
	}
	apply(&m, event.Prompted{})
	if _, err := m.Reserve(Limits{Steps: 2}, 0, 0); err != nil {
		t.Errorf("a new turn: %v", err)
	}
}
