package processtest

import (
	"os"
	"syscall"
)

// Write writes a program that a test is about to start. A process that is just being
// forked by another test would hold a copy of the open file until it runs its own
// program, and the kernel starts no program that somebody can write to ("text file busy").
func Write(path string, program []byte, perm os.FileMode) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, program, perm)
}
