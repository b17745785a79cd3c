// Package permission decides about a call: allow, ask a person, or deny.
//
// It uses the mode, the rules of user, project, flags and session, and what a
// call will touch: its footprint, and for a shell command line each simple
// command separately. It promises that any matching deny rule wins; that the
// strictest answer for a part of a call is the answer for the call; that a
// project's rules only restrict; and that without a sandbox a line that cannot be
// parsed is never allowed. What a confined command does is decided when it does it
// (Held). It does no I/O, reads no clock and does not trust the model: a
// decision depends only on the call and on the events so far.
//
// The order for each part of a call: refusals, deny rules, plan mode, the most
// specific allow or ask rule, protected and outside paths, the mode. The page
// for people is doc/safety.md.
package permission
