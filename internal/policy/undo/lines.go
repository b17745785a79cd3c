package undo

import (
	"fmt"
	"maps"
	"slices"
)

// This file keeps an undo from leaving lines nowhere: an agent that moves lines
// from one file to another changes both, and putting back only the other takes
// the lines from the disk.

// Flow is what happens to the lines of a file when a plan is done: Goes are
// those that it takes from the file, Comes all that the file has then.
type Flow struct{ Goes, Comes map[string]bool }

// FlowOf compares a file as it is with what it becomes.
func FlowOf(now, to []byte) Flow { return Flow{Gone(now, to), Gone(to, nil)} }

// Flows are those of the files of a plan, in their order.
type Flows struct {
	each []Flow
	back map[string]bool // what any of the files has then
}

// FlowsOf gathers flows.
func FlowsOf(each []Flow) Flows {
	f := Flows{each, map[string]bool{}}
	for _, fl := range each {
		maps.Copy(f.back, fl.Comes)
	}
	return f
}

// AskUnattributed asks about the files that hold lines which came to another
// file by a change that may be somebody else's: what it brought may have gone
// on.
func (f Flows) AskUnattributed(files []File, o Change, before, after []byte) {
	brought := Gone(after, before)
	for i := range files {
		if file := &files[i]; (file.Path != o.Path || !file.Unattributed) && Meet(f.each[i].Goes, brought, f.back) {
			file.AskFor(fmt.Sprintf("it has lines that came to %s while a command ran, and may be somebody else's", o.Path))
		}
	}
}

// AskTaken asks about the files that hold lines which a change that stands took
// from a file, as that one is now.
func (f Flows) AskTaken(files []File, o Change, before, now []byte) {
	gone, all := Gone(before, now), Gone(before, nil)
	for i := range files {
		file := &files[i]
		switch {
		case file.Path != o.Path && Meet(f.each[i].Goes, gone, f.back):
			file.AskFor(fmt.Sprintf("it has lines that were taken from %s", o.Path))
		case file.Path == o.Path && Meet(f.each[i].Goes, all, f.back):
			file.AskFor("it has lines that an earlier change took from it")
		}
	}
}

// Split leaves out the files that hold lines which a file that is left out does
// not get back. had are the contents that its changes began with, now is how it
// is.
func (f Flows) Split(do []File, left File, had [][]byte, now []byte) (stays, goes []File) {
	gone := map[string]bool{}
	for _, h := range had {
		maps.Copy(gone, Gone(h, now))
	}
	for j, file := range do {
		if Meet(f.each[j].Goes, gone, f.back) {
			file.With = append(slices.Clone(file.With), left.Path)
			goes = append(goes, file)
			continue
		}
		stays = append(stays, file)
	}
	return stays, goes
}
