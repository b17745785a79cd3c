// Package tools is what the model can do: one tool per file, each made by a
// constructor with the tool's name.
//
// It knows how arguments are read, what a call will touch, and how a result is
// worded for a model. It promises that footprints are correct (paths with
// symlinks followed, absolute outside the workspace); that Seen names exactly
// the lines that a result shows in full; that a failed edit changes nothing and
// shows the real content; and that line endings, byte order mark and final
// newline of an edited file are preserved. It accesses the world only through
// tool.Env. It leaves all refusals of permission to the permission gate.
package tools
