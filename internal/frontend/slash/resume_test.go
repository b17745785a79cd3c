package slash

import (
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
)

// SPEC 10.3: /resume leaves out the open session and those without a prompt.
func TestSessionsToResume(t *testing.T) {
	rows := []event.Row{{ID: "open", Title: "now"}, {ID: "empty"}, {ID: "other", Title: "mend it"}}
	items := SessionItems(rows, "open", time.Now(), func(event.Row) (string, string) { return "", "" })
	if len(items) != 1 || items[0].ID != "other" {
		t.Errorf("%+v", items)
	}
}
