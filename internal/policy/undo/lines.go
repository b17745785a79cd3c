package undo

import (
	"fmt"
	"maps"
	"slices"
)

// This file keeps an undo from losing lines. An agent that moves lines from one file
// to another changes both files; undoing only the change of the target would remove
// the lines from the disk.

// Flow is what happens to the lines of a file when a plan is executed: Removed are the
// lines that it removes from the file, After all lines that the file has afterwards.
type Flow struct{ Removed, After map[string]bool }

// FlowOf compares the present content of a file with its next content.
func FlowOf(now, to []byte) Flow { return Flow{removedLines(now, to), removedLines(to, nil)} }

// Flows are those of the files of a plan, in the plan's order.
type Flows struct {
	each []Flow
	back map[string]bool // all lines that the files have afterwards
}

func FlowsOf(each []Flow) Flows {
	f := Flows{each, map[string]bool{}}
	for _, fl := range each {
		maps.Copy(f.back, fl.After)
	}
	return f
}

// AskUnattributed asks about files whose lines were moved to another file by an
// unattributed change: that file's lines may have been moved on.
func (f Flows) AskUnattributed(files []File, o Change, before, after []byte) {
	brought := removedLines(after, before)
	for i := range files {
		if file := &files[i]; (file.Path != o.Path || !file.Unattributed) && intersect(f.each[i].Removed, brought, f.back) {
			file.askFor(fmt.Sprintf("it has lines that came to %s while a command ran, and may be somebody else's", o.Path))
		}
	}
}

// AskTaken asks about files with lines that a change in effect removed from another
// file, given that file's present content.
func (f Flows) AskTaken(files []File, o Change, before, now []byte) {
	gone, all := removedLines(before, now), removedLines(before, nil)
	for i := range files {
		file := &files[i]
		switch {
		case file.Path != o.Path && intersect(f.each[i].Removed, gone, f.back):
			file.askFor(fmt.Sprintf("it has lines that were taken from %s", o.Path))
		case file.Path == o.Path && intersect(f.each[i].Removed, all, f.back):
			file.askFor("it has lines that an earlier change took from it")
		}
	}
}

// Split leaves out files of a plan. left is a file that stays as it is. A file is left
// out too if undoing it would remove lines that left does not get back. had are the
// contents before left's changes, now is its present content.
func (f Flows) Split(do []File, left File, had [][]byte, now []byte) (stays, goes []File) {
	gone := map[string]bool{}
	for _, h := range had {
		maps.Copy(gone, removedLines(h, now))
	}
	for j, file := range do {
		if intersect(f.each[j].Removed, gone, f.back) {
			file.With = append(slices.Clone(file.With), left.Path)
			goes = append(goes, file)
			continue
		}
		stays = append(stays, file)
	}
	return stays, goes
}
