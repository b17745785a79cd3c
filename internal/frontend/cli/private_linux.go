package cli

import "golang.org/x/sys/unix"

// private prevents other processes of this user from reading this process's memory and
// environment, which contain keys, by /proc or a debugger. It also prevents core dumps
// (SPEC 16.7). A program that it executes is readable again, so commands run as usual.
// Root, and processes with CAP_SYS_PTRACE, can still read everything: against root's
// processes, only the environment of commands is free of keys.
func private() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) } // if it is refused, pawl works as before
