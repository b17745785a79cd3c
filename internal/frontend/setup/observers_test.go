package setup

import (
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/settings"
)

// SPEC 15.1: limits are configured in MB; below zero nothing is looked at.
func TestPressureLimits(t *testing.T) {
	huge := int64(1) << 40
	if what, why := pressure(settings.Resources{MemoryMB: -1, DiskMB: huge}, time.Now, t.TempDir())(); what != "disk" || !strings.Contains(why, "resources.disk_mb") {
		t.Errorf("%s: %s", what, why)
	}
	if what, _ := pressure(settings.Resources{MemoryMB: -1, DiskMB: -1}, time.Now, t.TempDir())(); what != "" {
		t.Error(what)
	}
}
