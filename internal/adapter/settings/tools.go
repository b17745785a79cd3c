package settings

import "fmt"

// Tools is how tools behave.
type Tools struct {
	// AutoCorrect: "safe" (default), or "all": corrections that may not be what
	// was meant are made too, and reported (SPEC 4.5).
	AutoCorrect string `json:"auto_correct,omitempty"`
}

// All reports whether every correction is made.
func (t Tools) All() bool { return t.AutoCorrect == "all" }

// Check returns what is wrong with the values.
func (t Tools) Check() error {
	if t.AutoCorrect != "" && t.AutoCorrect != "safe" && t.AutoCorrect != "all" {
		return fmt.Errorf("auto_correct %q is not known: safe or all", t.AutoCorrect)
	}
	return nil
}
