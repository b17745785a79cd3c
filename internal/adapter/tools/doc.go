// Package tools is what the model can do: one tool per file, each made by a
// constructor of its own name.
//
// It knows how arguments are read, what a call will touch, and how a result is
// worded for a model. It promises that a footprint tells the truth (paths with
// symlinks followed, absolute outside the workspace); that Seen names exactly
// the lines a result shows in full; that a failed edit changes nothing and says
// what is really there; that line endings, byte order mark and final newline
// of an edited file survive. It reaches the world only through tool.Env, and
// refuses nothing that is the permission gate's to judge.
package tools
