package budget

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Limits are hard limits of a whole session; zero means none.
type Limits struct {
	USD float64
	// Assumed: USD is pawl's default, which nobody configured. It holds only if
	// a price is known.
	Assumed  bool
	Tokens   int64 // in and out, cached or not
	Wall     time.Duration
	Requests int
	Calls    int
	Agents   int
	Steps    int // model replies in a turn (--max-turns); never extended
}

// DefaultUSD is the limit of a conversation where nobody set one.
const DefaultUSD = 5

// soft is the fraction of a limit at which the person is warned.
const soft = 0.8

// presets lists the names of the presets, smallest first.
func presets() []string { return []string{"quick", "standard", "deep", "unlimited"} }

// Preset returns the limits of a preset. doc/budgets.md explains them.
func Preset(name string) (Limits, error) {
	switch name {
	case "quick":
		return Limits{USD: 0.5, Tokens: 1_000_000, Wall: 10 * time.Minute, Requests: 40, Calls: 150, Agents: 1}, nil
	case "standard":
		return Limits{USD: 5, Tokens: 10_000_000, Wall: time.Hour, Requests: 600, Calls: 2000, Agents: 8}, nil
	case "deep":
		return Limits{USD: 25, Tokens: 60_000_000, Wall: 6 * time.Hour, Requests: 4000, Calls: 12_000, Agents: 40}, nil
	case "unlimited":
		return Limits{}, nil
	}
	return Limits{}, fmt.Errorf("unknown budget %q: use one of %s", name, strings.Join(presets(), ", "))
}

// Allow returns an error if the limits cannot be enforced with a model: a
// configured limit of money needs a price. The error is of category
// configuration.
func (l Limits) Allow(i llm.Info) error {
	if l.USD <= 0 || l.Assumed || i.Price != nil {
		return nil
	}
	return fault.NewConfiguration(
		fmt.Sprintf(`set it in the configuration: "models": {%q: {"price": {"input": …, "output": …}}}; or limit tokens instead`, i.Ref()),
		"a budget of $%.2f cannot be enforced with %s: its price is unknown", l.USD, i.Ref())
}

// Kind names a limit, as in event.Warned and event.Extended.
type Kind string

// The kinds. Their units are USD, tokens, seconds and counts.
const (
	USD      Kind = "budget.usd"
	Tokens   Kind = "budget.tokens"
	Wall     Kind = "budget.wall"
	Requests Kind = "budget.requests"
	Calls    Kind = "budget.calls"
	Agents   Kind = "budget.agents"
)

// CheckLimit returns an error for a limit that cannot be set. 0 is none.
func CheckLimit(k Kind, to float64) error {
	switch {
	case !known(k):
		return fmt.Errorf("unknown limit %q", k)
	case math.IsNaN(to) || math.IsInf(to, 0) || to < 0:
		return fmt.Errorf("the limit %v is not valid", to)
	case (k == Requests || k == Calls || k == Agents || k == Tokens) && to != math.Trunc(to):
		return fmt.Errorf("the limit %v is not valid: use a whole number", to)
	}
	return nil
}

func kinds() []Kind { return []Kind{USD, Tokens, Wall, Requests, Calls, Agents} }

func (l Limits) of(k Kind) float64 {
	switch k {
	case USD:
		return l.USD
	case Tokens:
		return float64(l.Tokens)
	case Wall:
		return l.Wall.Seconds()
	case Requests:
		return float64(l.Requests)
	case Calls:
		return float64(l.Calls)
	case Agents:
		return float64(l.Agents)
	}
	return 0
}

func (s Spent) of(k Kind) float64 {
	return Limits{USD: s.USD + s.Guessed, Tokens: s.Tokens(), Wall: s.active, Requests: s.Requests, Calls: s.Calls, Agents: s.Agents}.of(k)
}

// format formats an amount with its unit.
func (k Kind) format(v float64) string {
	switch k {
	case USD:
		if v != 0 && math.Abs(v) < 0.1 {
			return fmt.Sprintf("$%.4f", v)
		}
		return fmt.Sprintf("$%.2f", v)
	case Wall:
		return (time.Duration(v) * time.Second).String() + " of running time"
	}
	return strconv.FormatFloat(v, 'f', -1, 64) + " " + strings.TrimPrefix(string(k), "budget.")
}

// LimitError reports that a hard limit is reached. It is a *fault.Error of
// category budget.
type LimitError struct {
	Kind        Kind
	Limit, Used float64 // in the kind's unit
	// Need is by how much the limit must be raised to continue.
	Need float64
}

func (e *LimitError) Error() string {
	how := "--budget or the configuration"
	switch e.Kind {
	case USD:
		how = "--max-budget-usd"
	case Tokens:
		how = "--max-tokens-total"
	}
	return e.text() + " (raise it with " + how + ")"
}

func (e *LimitError) text() string {
	limit, used := e.Kind.format(e.Limit), e.Kind.format(e.Used)
	if e.Used < e.Limit {
		return fmt.Sprintf("the next step could exceed the budget of %s: %s so far", limit, used)
	}
	return fmt.Sprintf("the budget of %s is used up: %s so far", limit, used)
}

func (e *LimitError) Unwrap() error {
	return &fault.Error{Category: fault.Budget, Message: e.Error()}
}

// The answers to Question that are not amounts.
const (
	noLimit = "no limit"
	stop    = "stop"
)

// Question returns the question to a person to raise the limit.
func (e *LimitError) Question() (text string, options []string) {
	return "Stop here, or raise the limit? " + strings.ToUpper(e.text()[:1]) + e.text()[1:] + ".",
		[]string{"add " + e.Kind.format(e.step()), noLimit, stop}
}

// step is what the first option adds: five dollars, or the same amount again,
// and always enough to continue.
func (e *LimitError) step() float64 {
	unit := math.Max(e.Limit, 1)
	if e.Kind == USD {
		unit = DefaultUSD
	}
	return unit * math.Max(1, math.Ceil(e.Need/unit))
}

// Answer parses the answer to Question: an option, or an amount to add such as
// "7", "$7" or "add $7". to is the new limit, 0 for none; ok is false unless
// the answer clearly means to continue.
func (e *LimitError) Answer(text string) (to float64, ok bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	_, options := e.Question()
	switch {
	case text == noLimit:
		return 0, true
	case text == options[0]:
		return e.Limit + e.step(), true
	}
	text = strings.TrimSpace(strings.TrimPrefix(text, "add"))
	if e.Kind == USD {
		text = strings.TrimPrefix(text, "$")
	}
	add, err := strconv.ParseFloat(text, 64)
	if err != nil || !(add > 0) || math.IsInf(add, 0) {
		return 0, false
	}
	return e.Limit + add, true
}

// StepsError reports that a turn reached its number of steps (--max-turns).
type StepsError struct{ Limit int }

func (e *StepsError) Error() string {
	return fmt.Sprintf("the turn reached its limit of %d model replies (--max-turns)", e.Limit)
}

func known(k Kind) bool { return slices.Contains(kinds(), k) }
