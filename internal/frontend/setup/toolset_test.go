package setup

import (
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
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

// SPEC 4.9, 20.1: a family is offered the form of edit that it was trained on, and can
// call the others.
func TestEditForms(t *testing.T) {
	for family, want := range map[string]string{"gpt": "write apply_patch", "claude": "edit write", "gemini": "edit write", "other": "edit write", "": "edit write"} {
		set := toolSet(llm.Info{}, nil, nil, nil, false, false).For(llm.Info{Family: family})
		var offered, all []string
		for _, s := range set.Specs() {
			if f, _ := set.Find(s.Name); f.Does() == tool.Edit {
				offered = append(offered, s.Name)
			}
		}
		for _, s := range set {
			if s.Does() == tool.Edit {
				all = append(all, s.Spec.Name)
			}
		}
		if got := strings.Join(offered, " "); got != want || len(all) != 4 {
			t.Errorf("%s is offered %q of %q, want %q", family, got, all, want)
		}
	}
}
