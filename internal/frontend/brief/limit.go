package brief

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// Limit describes which limit a person set.
func Limit(b event.LimitSet) string {
	name := strings.TrimPrefix(b.What, "budget.")
	if b.To == 0 {
		return plain.Line("there is no limit of " + name + " any more")
	}
	to := strconv.FormatFloat(b.To, 'f', -1, 64)
	switch budget.Kind(b.What) {
	case budget.USD:
		name, to = "money", "$"+money(b.To)
	case budget.Wall:
		name, to = "time", time.Duration(b.To*float64(time.Second)).String()
	}
	return plain.Line(fmt.Sprintf("the limit of %s is %s", name, to))
}
