package settings

import (
	"fmt"
	"time"
)

// Tools configures how tools behave.
type Tools struct {
	AutoCorrect string            `json:"auto_correct,omitempty" jsonschema:"all: an ambiguous edit changes every match"`
	Timeout     map[string]string `json:"timeout,omitempty" jsonschema:"the longest call of a tool, by its name, such as {\"web_fetch\": \"30s\"}"`
}

func (t Tools) All() bool { return t.AutoCorrect == "all" }

// Check returns an error if a value is invalid.
func (t Tools) Check() error {
	if t.AutoCorrect != "" && t.AutoCorrect != "safe" && t.AutoCorrect != "all" {
		return fmt.Errorf("auto_correct %q is not known: safe or all", t.AutoCorrect)
	}
	_, err := t.Timeouts()
	return err
}

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
