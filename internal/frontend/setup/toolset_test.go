package setup

import (
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/llm"
)

// SPEC 4.12: a limit that is set holds for that tool and no other.
func TestLimited(t *testing.T) {
	set := toolSet(llm.Info{}, nil, nil, nil, false, true)
	before := toolSet(llm.Info{}, nil, nil, nil, false, true)
	limited(set, map[string]time.Duration{"web_fetch": 30 * time.Second, "bash": time.Hour, "nothing": 1})
	for i := range set {
		want := before[i].Timeout
		switch set[i].Spec.Name {
		case "web_fetch":
			want = 30 * time.Second
		case "bash":
			want = time.Hour
		}
		if set[i].Timeout != want {
			t.Errorf("%s: %v, want %v", set[i].Spec.Name, set[i].Timeout, want)
		}
	}
}
