package event

import "cmp"

// Ran returns the command line that Exit is of: the whole, or the check that is piped
// through filters.
func (b CallDone) Ran() string { return cmp.Or(b.Check, b.Command) }

// Ran is as that of CallDone.
func (b PersonRan) Ran() string { return cmp.Or(b.Check, b.Command) }
