package window

import (
	"fmt"

	"github.com/pawl-agent/pawl/internal/core/event"
)

// WhyStatus is the beginning of the Noted.Why of a status message; the tier follows.
const WhyStatus = "window."

// Status returns a message about how full the window is, if one is due (SPEC
// 9.3): when the tier changed since the last message, and only if compaction is
// off or could not help, since percentages make models rush. With the status
// "always" it is due whenever the tier changes, and at the start.
func (c *Conversation) Status() (n event.Noted, due bool) {
	t := c.Tier()
	always := c.conf.Status == "always"
	switch {
	case c.Limit() <= 0 || t == c.lastTier || t == Normal && !always:
		return event.Noted{}, false
	case !always && !c.conf.off() && !c.compact.unhelpful:
		return event.Noted{}, false
	}
	return event.Noted{Why: event.NotedWhy(WhyStatus + string(t)), Text: c.statusText(t)}, true
}

// statusText is the message as the specification words it, without symbols.
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
