//go:build !linux

package machine

func memory() (uint64, bool) { return 0, false }
