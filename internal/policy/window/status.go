package window

import (
	"fmt"

	"github.com/pawl-agent/pawl/internal/core/event"
)

// WhyStatus begins Noted.Why of a status message; the tier it tells of
// follows.
const WhyStatus = "window."

// Status returns the message on how full the window is, where one is due
// (SPEC 9.3): when the tier is another than the last one told, and only where
// compaction is off or could not help, since percentages make models rush.
// Status "always" prints C's: whenever the tier changes, and at the start.
func (c *Conversation) Status() (n event.Noted, due bool) {
	t := c.Tier()
	always := c.conf.Status == "always"
	switch {
	case c.Limit() <= 0 || t == c.told || t == Normal && !always:
		return event.Noted{}, false
	case !always && !c.conf.Off() && !c.compact.vain:
		return event.Noted{}, false
	}
	return event.Noted{Why: WhyStatus + string(t), Text: c.statusText(t)}, true
}

// statusText is C's, without its signs.
func (c *Conversation) statusText(t Tier) string {
	used, left, most := c.Percent(), c.CallsLeft(), c.ResultCap()
	switch t {
	case Critical:
		return fmt.Sprintf(`[CRITICAL: %.0f%% context used | %d tools remaining
STOP TOOL USE NOW. You MUST:
   1. Summarize work completed so far
   2. Conclude your response immediately
   3. Do NOT make additional tool calls
Further tool calls will likely be BLOCKED due to context overflow.]`, used, left)
	case Aggressive:
		return fmt.Sprintf(`[WARNING: %.0f%% context used | ~%d tools remaining
Context approaching limits. You should:
   1. Complete ONLY your current task
   2. Avoid starting new investigations
   3. Provide a summary soon
Tool results are heavily truncated (%d tokens max).]`, used, left, most)
	case Moderate:
		return fmt.Sprintf(`[Notice: %.0f%% context used | ~%d tools remaining
Context filling up. Consider:
   1. Prioritizing essential operations
   2. Wrapping up non-critical work
Tool results now limited to %d tokens.]`, used, left, most)
	}
	return fmt.Sprintf("[%.0f%% context used | ~%d tools available | Normal operation]", used, left)
}
