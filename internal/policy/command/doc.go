// Package command knows what programs do with their arguments: which files a command
// reads, changes and removes, whether it runs other programs, whether it is a check of
// the project, and what it would destroy.
//
// It is the only place that knows programs by name; permission, evidence, progress,
// trust and undo use it. Facts that do not depend on the arguments are in one table,
// with a row for each program (table_*.go, explained by the type program). How the
// arguments of git, go, sed and the like are parsed is a function that the row names.
//
// It promises that a command is classified as only reading only if each of its options,
// subcommands, variables and words is known to be harmless. It does not decide what is
// allowed: policy/permission does. It does no I/O. The page for people is
// doc/permissions.md.
package command
