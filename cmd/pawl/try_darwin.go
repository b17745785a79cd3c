package main

import (
	"os"

	"github.com/pawl-agent/pawl/internal/adapter/sandbox"
)

// triesSandbox is pawl as the program that tries its sandbox from the inside.
func triesSandbox(args []string) (code int, ok bool) {
	if len(args) != 3 || args[1] != sandbox.TryArgument {
		return 0, false
	}
	return sandbox.Try(args[2], os.Stdin, os.Stdout), true
}
