// Package command knows programs by name: which ones only read (readonly.go), run the
// command that their words end with, check a project, and what a rule about them must name.
//
// It is the only place that does; permission, evidence, progress and undo use it. Facts are
// in one table, with a row for each program (table_*.go, explained by the type program).
//
// It promises that ReadOnly is true only for a closed list of programs in forms whose every
// word is known to be harmless. What any other program does is not guessed: the sandbox
// decides that when it happens. It decides nothing about permission and does no I/O. The
// page for people is doc/safety.md.
package command
