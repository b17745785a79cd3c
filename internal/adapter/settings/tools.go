package settings

import "fmt"

// Tools configures how tools behave.
type Tools struct {
	// AutoCorrect is "safe" (default), or "all": also make corrections that may not be
	// what was meant, and report them (SPEC 4.5).
	AutoCorrect string `json:"auto_correct,omitempty"`
}

// All reports whether every correction is made.
func (t Tools) All() bool { return t.AutoCorrect == "all" }

// Check returns an error if a value is invalid.
func (t Tools) Check() error {
	if t.AutoCorrect != "" && t.AutoCorrect != "safe" && t.AutoCorrect != "all" {
		return fmt.Errorf("auto_correct %q is not known: safe or all", t.AutoCorrect)
	}
	return nil
}
