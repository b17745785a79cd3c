//go:build !linux

// Command recording needs Linux.
package main

import "fmt"

func main() { fmt.Println("this needs Linux: /dev/ptmx") }
