package took

import (
	"testing"
	"time"
)

// SPEC 20.3: a duration is written in one form.
func TestText(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0ms", 40 * time.Millisecond: "40ms", time.Second: "1s", 4100 * time.Millisecond: "4.1s", 59_990 * time.Millisecond: "1m",
		time.Minute: "1m", 70 * time.Second: "1m10s", 438 * time.Second: "7m18s", time.Hour: "1h", 2*time.Hour + 10*time.Minute: "2h10m", time.Hour + 20*time.Second: "1h0m20s",
	} {
		if got := Text(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
