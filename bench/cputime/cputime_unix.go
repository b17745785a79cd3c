//go:build unix

// Package cputime tells what time of the processors the benchmarks used.
package cputime

import (
	"syscall"
	"time"
)

// Used returns the time of the processors that this process used.
func Used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
