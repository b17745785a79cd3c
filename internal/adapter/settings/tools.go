package settings

import (
	"fmt"
	"time"
)

// Tools configures how tools behave.
type Tools struct {
	// AutoCorrect is "safe" (default), or "all": also make corrections that may not be
	// what was meant, and report them (SPEC 4.5).
	AutoCorrect string `json:"auto_correct,omitempty"`
	// Timeout is the longest that a call of a tool may take, by the tool's name, such as
	// {"web_fetch": "30s"} (SPEC 4.12).
	Timeout map[string]string `json:"timeout,omitempty"`
}

// All reports whether every correction is made.
func (t Tools) All() bool { return t.AutoCorrect == "all" }

// Check returns an error if a value is invalid.
func (t Tools) Check() error {
	if t.AutoCorrect != "" && t.AutoCorrect != "safe" && t.AutoCorrect != "all" {
		return fmt.Errorf("auto_correct %q is not known: safe or all", t.AutoCorrect)
	}
	_, err := t.Timeouts()
	return err
}

// Timeouts returns Timeout as durations.
func (t Tools) Timeouts() (map[string]time.Duration, error) {
	out := make(map[string]time.Duration, len(t.Timeout))
	for name, said := range t.Timeout {
		d, err := time.ParseDuration(said)
		if err != nil || d < time.Second || d > 24*time.Hour {
			return nil, fmt.Errorf("timeout of %s is %q: it must be from 1s to 24h, such as 90s", name, said)
		}
		out[name] = d
	}
	return out, nil
}
