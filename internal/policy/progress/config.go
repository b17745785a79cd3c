package progress

import "fmt"

// Config is the configuration of the rules. The first six keys are those of the
// source document, under its names; Defaults replaces zeros.
type Config struct {
	// Enable switches the rules on; statistics and phases are always recorded.
	Enable bool `json:"enable"`
	// StuckThreshold is how many repetitions, in a row or since progress, warn:
	// of the same error on the same target, the same tool with the same error,
	// an identical call, a message. 3.
	StuckThreshold int `json:"stuck_threshold"`
	// OscillationWindow is how many contents of a file must alternate. 4.
	OscillationWindow int `json:"oscillation_window"`
	// ProgressCheckInterval is the number of calls between two OnProgress. 10.
	ProgressCheckInterval int `json:"progress_check_interval"`
	// MaxRecentActions and MaxRecentErrors are the numbers of kept entries. 20, 10.
	MaxRecentActions int `json:"max_recent_actions"`
	MaxRecentErrors  int `json:"max_recent_errors"`

	// Off names rules that are switched off.
	Off []string `json:"off,omitempty"`
	// HaltIdentical is how many identical calls in a row halt. 5.
	HaltIdentical int `json:"halt_identical"`
	// CycleMax is the longest cycle that is detected; CycleRounds is after how
	// many rounds it halts. 8, 3.
	CycleMax    int `json:"cycle_max"`
	CycleRounds int `json:"cycle_rounds"`
	// StaleWarn and StaleHalt are the staleness that warns and halts. 12, 20.
	StaleWarn int `json:"stale_warn"`
	StaleHalt int `json:"stale_halt"`
	// SterileThird and SterileHalf are how many calls in a row halt if at most
	// a third, or half, of their results differ. 9, 14.
	SterileThird int `json:"sterile_third"`
	SterileHalf  int `json:"sterile_half"`
	// HaltFailing is how often a call may fail in the same way, with nothing changed
	// that it could depend on, before it halts. 8.
	HaltFailing int `json:"halt_failing"`
	// FailureEdits is after how many changes the same failure warns. 3.
	FailureEdits int `json:"failure_edits"`
	// FailedEditsWarn and FailedEditsHalt are how many failures of the edits of
	// one file with one error, since content last changed, warn and halt. 5, 8.
	FailedEditsWarn int `json:"failed_edits_warn"`
	FailedEditsHalt int `json:"failed_edits_halt"`
	// HaltWaits is how many reads in a row of something that does not change halt. 40.
	HaltWaits int `json:"halt_waits"`
	// Thoughts is how many thoughts in a row are ignored. 4.
	Thoughts int `json:"thoughts"`
	// Compactions is how many compactions without progress count as a loop. 3.
	Compactions int `json:"compactions"`
}

// Default returns the configuration that doc/progress.md documents.
func Default() Config {
	return Config{
		Enable: true, StuckThreshold: 3, OscillationWindow: 4, ProgressCheckInterval: 10,
		MaxRecentActions: 20, MaxRecentErrors: 10,
		HaltIdentical: 5, CycleMax: 8, CycleRounds: 3, StaleWarn: 12, StaleHalt: 20,
		SterileThird: 9, SterileHalf: 14, HaltFailing: 8, FailureEdits: 3,
		FailedEditsWarn: 5, FailedEditsHalt: 8, HaltWaits: 40, Thoughts: 4, Compactions: 3,
	}
}

// Defaults returns c with Default's numbers in place of zeros.
func (c Config) Defaults() Config {
	d := Default()
	for _, p := range []struct{ v, d *int }{
		{&c.StuckThreshold, &d.StuckThreshold},
		{&c.OscillationWindow, &d.OscillationWindow},
		{&c.ProgressCheckInterval, &d.ProgressCheckInterval},
		{&c.MaxRecentActions, &d.MaxRecentActions},
		{&c.MaxRecentErrors, &d.MaxRecentErrors},
		{&c.HaltIdentical, &d.HaltIdentical},
		{&c.CycleMax, &d.CycleMax},
		{&c.CycleRounds, &d.CycleRounds},
		{&c.StaleWarn, &d.StaleWarn},
		{&c.StaleHalt, &d.StaleHalt},
		{&c.SterileThird, &d.SterileThird},
		{&c.SterileHalf, &d.SterileHalf},
		{&c.HaltFailing, &d.HaltFailing},
		{&c.FailureEdits, &d.FailureEdits},
		{&c.FailedEditsWarn, &d.FailedEditsWarn},
		{&c.FailedEditsHalt, &d.FailedEditsHalt},
		{&c.HaltWaits, &d.HaltWaits},
		{&c.Thoughts, &d.Thoughts},
		{&c.Compactions, &d.Compactions},
	} {
		if *p.v == 0 {
			*p.v = *p.d
		}
	}
	return c
}

// Check returns an error for numbers that would stop productive runs, and for
// names that are not rules.
func (c Config) Check() error {
	for _, p := range []struct {
		key    string
		v      int
		lo, hi int
	}{
		{"stuck_threshold", c.StuckThreshold, 2, 1000},
		{"oscillation_window", c.OscillationWindow, 4, 16},
		{"progress_check_interval", c.ProgressCheckInterval, 1, 1e6},
		{"max_recent_actions", c.MaxRecentActions, 1, 1000},
		{"max_recent_errors", c.MaxRecentErrors, 1, 1000},
		{"halt_identical", c.HaltIdentical, 3, 1000},
		{"cycle_max", c.CycleMax, 2, 16},
		{"cycle_rounds", c.CycleRounds, 2, 100},
		{"stale_warn", c.StaleWarn, 4, 10000},
		{"stale_halt", c.StaleHalt, 8, 10000},
		{"sterile_third", c.SterileThird, 6, 64},
		{"sterile_half", c.SterileHalf, 8, 64},
		{"halt_failing", c.HaltFailing, 5, 1000},
		{"failure_edits", c.FailureEdits, 1, 1000},
		{"failed_edits_warn", c.FailedEditsWarn, 3, 1000},
		{"failed_edits_halt", c.FailedEditsHalt, 7, 1000},
		{"halt_waits", c.HaltWaits, 20, 100000},
		{"thoughts", c.Thoughts, 1, 1000},
		{"compactions", c.Compactions, 2, 1000},
	} {
		if p.v < p.lo || p.v > p.hi {
			return fmt.Errorf("progress.%s is %d: it must be from %d to %d", p.key, p.v, p.lo, p.hi)
		}
	}
	for _, name := range c.Off {
		known := false
		for _, n := range ruleNames() {
			known = known || n == name
		}
		if !known {
			return fmt.Errorf("progress.off names %q: the rules are %v", name, ruleNames())
		}
	}
	return nil
}
