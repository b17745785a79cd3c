//go:build !linux

// Command tui measures the screen; it needs Linux.
package main

import "fmt"

func main() { fmt.Println("this needs Linux: /dev/ptmx and /proc") }
