package brief

import (
	"fmt"
	"time"
)

// Age describes how long ago something was, in its largest unit only.
func Age(d time.Duration) string {
	switch day := 24 * time.Hour; {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", d/time.Minute)
	case d < day:
		return fmt.Sprintf("%d h ago", d/time.Hour)
	case d < 60*day:
		return fmt.Sprintf("%d d ago", d/day)
	case d < 730*day:
		return fmt.Sprintf("%d mo ago", d/(30*day))
	default:
		return fmt.Sprintf("%d y ago", d/(365*day))
	}
}
