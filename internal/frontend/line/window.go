package line

import "fmt"

// warnPressure warns, before input, that the context window is nearly full (SPEC 9.8).
func (c *conversation) warnPressure() {
	switch urgency, percent := c.chat.Session().View().Urgency(); urgency {
	case "high", "critical":
		c.view.line(fmt.Sprintf("pawl: the context window is %.0f %% full (%s); /compact makes room, /context shows what fills it", percent, urgency))
	}
}
