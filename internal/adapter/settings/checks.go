package settings

import (
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Autofix configures the checks after a turn that changed files (SPEC 13.3). Nil, or 0
// for TimeoutSeconds, means the default.
type Autofix struct {
	Enable         *bool `json:"enable,omitempty" jsonschema:"run the checks after a turn that changed files"`
	Attempts       *int  `json:"attempts,omitempty" jsonschema:"how often the model is asked to fix what fails, 0 to 10"`
	TimeoutSeconds int   `json:"timeout_seconds,omitempty" jsonschema:"the longest time of one check"`
}

// Check is a configured check. It replaces those that pawl would find.
type Check struct {
	Name    string   `json:"name,omitempty"`
	Command string   `json:"command"`
	Paths   []string `json:"paths,omitempty"` // patterns of changed files; empty: all
	In      string   `json:"in,omitempty"`    // the folder that it applies to, ~ is the home; "": all
}

func (s *Settings) checkChecks() error {
	if n := s.Autofix.Attempts; n != nil && (*n < 0 || *n > 10) {
		return fmt.Errorf("autofix.attempts is %d: 0 to 10", *n)
	}
	if n := s.Autofix.TimeoutSeconds; n < 0 || n > 600 {
		return fmt.Errorf("autofix.timeout_seconds is %d: 1 to 600", n)
	}
	for i, c := range s.Checks {
		if strings.TrimSpace(c.Command) == "" {
			return fmt.Errorf("checks[%d] has no command", i)
		}
		for _, p := range c.Paths {
			if !doublestar.ValidatePattern(p) {
				return fmt.Errorf("checks[%d]: %q is not a valid pattern", i, p)
			}
		}
	}
	return nil
}
