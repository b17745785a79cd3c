package line

import "fmt"

// pressing warns, before input, that the context window is nearly full (SPEC 9.8).
func (c *conversation) pressing() {
	switch urgency, percent := c.talk.Session().View().Urgency(); urgency {
	case "high", "critical":
		c.view.line(fmt.Sprintf("pawl: the context window is %.0f %% full (%s); /compact makes room, /context shows what fills it", percent, urgency))
	}
}
