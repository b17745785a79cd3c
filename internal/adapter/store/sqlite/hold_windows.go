package sqlite

// lives always returns true: here a lock ends with its process, and no child inherits the
// file.
func lives(int) bool { return true }
