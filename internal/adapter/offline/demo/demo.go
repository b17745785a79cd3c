// Package demo is the project that `pawl demo` repairs: a small planner of
// meeting rooms, in several packages, whose tests fail because of one planted
// bug. It knows the sound project and the bugs; it promises that with any of
// them some test fails, and that the sound one passes. It runs nothing.
package demo

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// The files end in .txt so that no Go tool takes them for part of pawl.
//
//go:embed rooms
var project embed.FS

// Bug is one change that breaks the project: Old is in File exactly once.
type Bug struct {
	Name     string
	File     string // relative to the project
	Old, New string
	Fails    string // the package whose test fails, which need not be the cause's
}

// Bugs lists what can be planted. The first is the one that `pawl demo` shows:
// the tests of plan and report fail, the cause is in span.
func Bugs() []Bug {
	return []Bug{
		{"touching spans overlap", "span/span.go", "return s.From < o.To && o.From < s.To", "return s.From < o.To && o.From <= s.To", "plan"},
		{"touching spans stay apart", "span/span.go", "s.From <= out[last].To", "s.From < out[last].To", "report"},
		{"empty gaps", "span/span.go", "if b.From > at {", "if b.From >= at {", "report"},
		{"the wrong end of the common part", "span/span.go", "To: min(s.To, o.To)}", "To: min(s.To, o.From)}", "report"},
		{"the gap at the end is lost", "span/span.go", "if at < day.To {", "if at > day.To {", "report"},
		{"hours and minutes swapped", "clock/clock.go", "at/60, at%60", "at%60, at/60", "report"},
		{"minutes count backwards", "clock/clock.go", "at := h*60 + m", "at := h*60 - m", "clock"},
		{"sixty minutes allowed", "clock/clock.go", "m >= 60", "m > 60", "clock"},
		{"the last seat stays empty", "room/room.go", "people <= r.Seats", "people < r.Seats", "plan"},
		{"the largest room first", "plan/plan.go", "r.Seats < best.Seats", "r.Seats > best.Seats", "plan"},
		{"the latest meeting first", "plan/plan.go", "a.When.From - b.When.From", "b.When.From - a.When.From", "plan"},
		{"what is used counts down", "room/room.go", "sum += b.Common(day).Len()", "sum -= b.Common(day).Len()", "report"},
		{"a taken room is free", "room/room.go", "if !r.FreeAt(s) {", "if r.FreeAt(s) {", "room"},
	}
}

// Sound is the index of the project without a bug.
const Sound = -1

// Write copies the project into dir, which is made if need be and must not
// have any of its files yet, and plants bug number bug (an index of Bugs, or
// Sound).
func Write(dir string, bug int) error {
	bugs := Bugs()
	if bug != Sound && (bug < 0 || bug >= len(bugs)) {
		return fmt.Errorf("there is no bug %d: choose 0 to %d", bug, len(bugs)-1)
	}
	at := time.Now()
	err := fs.WalkDir(project, "rooms", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := project.ReadFile(p)
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(p, "rooms/")
		if name := strings.TrimSuffix(rel, ".txt"); path.Ext(name) != "" {
			rel = name // README.txt keeps its ending
		}
		if bug != Sound && bugs[bug].File == rel {
			text = bytes.Replace(text, []byte(bugs[bug].Old), []byte(bugs[bug].New), 1)
		}
		name := filepath.Join(dir, filepath.FromSlash(rel))
		if err := create(name, text); err != nil {
			return err
		}
		return os.Chtimes(name, at, at) // all are equally new, so that they are always listed in one order
	})
	if err != nil {
		return fmt.Errorf("write the demo project: %w", err)
	}
	return nil
}

// create makes a new file with its folders; one that exists is left alone and
// is an error.
func create(name string, text []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.Write(text)
	return err
}
