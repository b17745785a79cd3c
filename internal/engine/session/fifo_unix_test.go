//go:build unix

package session_test

import "syscall"

func mkfifo(path string) error { return syscall.Mkfifo(path, 0o600) }
