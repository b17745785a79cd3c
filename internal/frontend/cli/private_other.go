//go:build !linux

package cli

// private does nothing where the system has no such switch.
func private() {}
