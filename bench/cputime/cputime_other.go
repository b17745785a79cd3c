//go:build !unix

// Package cputime tells what time of the processors the benchmarks used.
package cputime

import "time"

// Used is not measured here.
func Used() time.Duration { return 0 }
