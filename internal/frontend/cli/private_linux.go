package cli

import "golang.org/x/sys/unix"

// private keeps other processes of this user from reading this one's memory
// and environment, where keys are, by /proc or a debugger, and keeps them out
// of core dumps (SPEC 16.7). A program that is executed is readable again:
// commands run as ever. Root, and who has CAP_SYS_PTRACE, reads everything
// nevertheless: of processes of root, only the environment of commands is
// clean.
func private() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) } // where it is refused pawl works as before
