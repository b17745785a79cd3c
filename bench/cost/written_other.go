//go:build !linux

package main

import "os/exec"

// written is not known here.
func written(*exec.Cmd) (int64, bool) { return 0, false }
