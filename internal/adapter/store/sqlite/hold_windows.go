package sqlite

// lives: a lock goes with its process, and no other process gets its files.
func lives(int) bool { return true }
