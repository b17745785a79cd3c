// Package command knows what programs do with their arguments: which files a
// command reads, changes and removes, whether it runs other programs, whether
// it is a check of the project, and what it would destroy.
//
// It is the one place that knows programs by name: permission, evidence,
// progress, trust and undo ask it. What holds whatever the arguments are is one
// table, a row for each program (table_*.go, explained by the type program). How
// the arguments of git, go, sed and the like are read is a function that the row
// names.
//
// It promises that a command is called one that only reads only where each
// option, subcommand, variable and word of it is known to be harmless. It refuses
// to judge: what is allowed is policy/permission's. It does no I/O. The page for
// people is doc/permissions.md.
package command
