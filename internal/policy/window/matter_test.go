package window

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
)

// SPEC 9.1, 9.2: a counter that is better than Estimate is due before anything is
// decided by the share that is used, whatever is configured: at half of it.
func TestCountsMatter(t *testing.T) {
	for _, c := range []struct {
		conf Config
		from float64 // percent
	}{
		{Config{}, 35},
		{Config{CompactAt: 50}, 25},
		{Config{DedupAt: 20}, 10},
		{Config{Moderate: 10}, 5},
		{Config{Moderate: 80, CompactAt: 85, DedupAt: 84}, 40},
		{Config{Status: "always"}, 0}, // the model is told the share
	} {
		var conv Conversation
		conv.Configure(c.conf)
		at := time.Unix(0, 0)
		feed(&conv, &at, small(100_000), event.Prompted{Source: event.Person, Text: "go"})
		for i := 0; conv.Percent() < 45; i++ {
			if got := conv.CountsMatter(); got != (conv.Percent() >= c.from) {
				t.Errorf("%+v at %.1f %%: %v", c.conf, conv.Percent(), got)
			}
			id := fmt.Sprint(i)
			feed(&conv, &at, event.Requested{Attempt: 1}, asks(id, "read", `{}`), gives(id, "read", strings.Repeat("a line of it\n", 400)))
		}
	}
}
