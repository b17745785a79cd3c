package workspace

// This file is for the journal, a separate package below this one.

func Temporary(name string) bool { return isTemp(name) }

// Lines counts the added and removed lines between two contents; none if one of
// them is not text, or too large.
func Lines(before, after []byte) (added, removed int) {
	_, added, removed = unified("a", "b", before, after)
	return added, removed
}
