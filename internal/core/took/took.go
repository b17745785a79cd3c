// Package took writes durations for people and models, in one form everywhere: "40ms",
// "4.1s", "7m18s", "2h".
package took

import (
	"fmt"
	"strings"
	"time"
)

// Text returns a duration without what is zero at its end.
func Text(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute-50*time.Millisecond:
		return strings.Replace(fmt.Sprintf("%.1fs", d.Seconds()), ".0s", "s", 1)
	}
	s := d.Round(time.Second).String()
	if m, even := strings.CutSuffix(s, "m0s"); even {
		if s = m + "m"; strings.HasSuffix(s, "h0m") {
			s = strings.TrimSuffix(s, "0m")
		}
	}
	return s
}
