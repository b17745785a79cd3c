// Package permission decides what a call may do: allow, ask a person, or deny.
//
// It knows the mode, the rules of user, project, flags and session, and what a
// call will touch: its footprint, and for a shell command line each simple
// command by itself. It promises that any matching deny wins; that the worst
// answer for a part of a call is the answer for the call; that a project's
// rules only narrow; and that what cannot be parsed is never allowed. It
// refuses I/O, the clock and the model's word: a decision depends on the call
// and on the events so far.
//
// The order for each part of a call: refusals, deny rules, plan mode, the most
// specific of allow and ask, what is protected or outside, the mode. The page
// for people is doc/permissions.md.
package permission
