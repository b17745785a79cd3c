package progress

import (
	"fmt"
	"slices"
)

// Config is the configuration of the rules. The first six keys are those of the
// source document, under its names; Defaults replaces zeros.
type Config struct {
	Enable                bool `json:"enable" jsonschema:"find runs that go in circles"`
	StuckThreshold        int  `json:"stuck_threshold" jsonschema:"repetitions that warn"`
	OscillationWindow     int  `json:"oscillation_window" jsonschema:"contents of a file that alternate before a warning"`
	ProgressCheckInterval int  `json:"progress_check_interval" jsonschema:"calls between two lines of progress"`
	MaxRecentActions      int  `json:"max_recent_actions" jsonschema:"calls that a report names at most"`
	MaxRecentErrors       int  `json:"max_recent_errors" jsonschema:"errors that a report names at most"`

	Off             []string `json:"off,omitempty" jsonschema:"rules that are switched off (doc/progress.md)"`
	HaltIdentical   int      `json:"halt_identical" jsonschema:"the same call and result in a row that end the run"`
	CycleMax        int      `json:"cycle_max" jsonschema:"calls of the longest cycle that is found"`
	CycleRounds     int      `json:"cycle_rounds" jsonschema:"rounds of a cycle that end the run"`
	StaleWarn       int      `json:"stale_warn" jsonschema:"points without new content that warn"`
	StaleHalt       int      `json:"stale_halt" jsonschema:"points without new content that end the run"`
	SterileThird    int      `json:"sterile_third" jsonschema:"calls with at most a third of different results that end the run"`
	SterileHalf     int      `json:"sterile_half" jsonschema:"calls with at most half of different results that end the run"`
	HaltFailing     int      `json:"halt_failing" jsonschema:"failures of one call in the same way that end the run"`
	FailureEdits    int      `json:"failure_edits" jsonschema:"changes after which the same test failure warns"`
	FailedEditsWarn int      `json:"failed_edits_warn" jsonschema:"failed edits of one file that warn"`
	FailedEditsHalt int      `json:"failed_edits_halt" jsonschema:"failed edits of one file that end the run"`
	HaltWaits       int      `json:"halt_waits" jsonschema:"checks of something that does not change that end the run"`
	Thoughts        int      `json:"thoughts" jsonschema:"texts without a call that are ignored"`
	Compactions     int      `json:"compactions" jsonschema:"compactions without progress that end the run"`
}

// setting is one of the numbers of a configuration.
type setting struct {
	key    string
	v      *int
	normal int // in place of zero
	lo, hi int // other numbers would stop productive runs
}

func (c *Config) settings() []setting {
	return []setting{
		{"stuck_threshold", &c.StuckThreshold, 3, 2, 1000},
		{"oscillation_window", &c.OscillationWindow, 4, 4, 16},
		{"progress_check_interval", &c.ProgressCheckInterval, 10, 1, 1e6},
		{"max_recent_actions", &c.MaxRecentActions, 20, 1, 1000},
		{"max_recent_errors", &c.MaxRecentErrors, 10, 1, 1000},
		{"halt_identical", &c.HaltIdentical, 5, 3, 1000},
		{"cycle_max", &c.CycleMax, 8, 2, 16},
		{"cycle_rounds", &c.CycleRounds, 3, 2, 100},
		{"stale_warn", &c.StaleWarn, 12, 4, 10000},
		{"stale_halt", &c.StaleHalt, 20, 8, 10000},
		{"sterile_third", &c.SterileThird, 9, 6, 64},
		{"sterile_half", &c.SterileHalf, 14, 8, 64},
		{"halt_failing", &c.HaltFailing, 8, 5, 1000},
		{"failure_edits", &c.FailureEdits, 3, 1, 1000},
		{"failed_edits_warn", &c.FailedEditsWarn, 5, 3, 1000},
		{"failed_edits_halt", &c.FailedEditsHalt, 8, 7, 1000},
		{"halt_waits", &c.HaltWaits, 40, 20, 100000},
		{"thoughts", &c.Thoughts, 4, 1, 1000},
		{"compactions", &c.Compactions, 3, 2, 1000},
	}
}

// Default returns the configuration that doc/progress.md documents.
func Default() Config { return Config{Enable: true}.Defaults() }

// Defaults returns c with Default's numbers in place of zeros.
func (c Config) Defaults() Config {
	for _, s := range c.settings() {
		if *s.v == 0 {
			*s.v = s.normal
		}
	}
	return c
}

// Check returns an error for numbers that would stop productive runs, and for
// names that are not rules.
func (c Config) Check() error {
	for _, s := range c.settings() {
		if *s.v < s.lo || *s.v > s.hi {
			return fmt.Errorf("progress.%s is %d: it must be from %d to %d", s.key, *s.v, s.lo, s.hi)
		}
	}
	for _, name := range c.Off {
		if !slices.Contains(ruleNames(), name) {
			return fmt.Errorf("progress.off names %q: the rules are %v", name, ruleNames())
		}
	}
	return nil
}
