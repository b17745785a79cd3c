// Package tools defines the tools of the model: one per file, each returned by a function
// with the tool's name.
//
// A tool defines how its arguments are parsed, what a call will touch, and how a result
// is worded for a model. The package promises:
//   - Footprints are correct: paths with symlinks followed, absolute outside the workspace.
//   - Seen lists exactly the lines that a result shows in full, or that the model wrote
//     and the result names by number.
//   - A failed edit changes nothing and shows the real content.
//   - An edit preserves line endings, byte order mark and final newline.
//
// It accesses the world only through tool.Env, except that go_overlay writes a temporary
// folder, and resolve reads the disk. It refuses nothing for lack of permission: that is
// the permission gate's task.
package tools
