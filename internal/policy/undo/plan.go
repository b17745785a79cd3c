package undo

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/edits"
)

// Action is what is to be done to a file.
type Action string

// The actions.
const (
	PutBack Action = "restore"  // restores its content, mode, or both
	Beside  Action = "merge"    // a later edit by someone else is kept
	Delete  Action = "delete"   // the agent created the file
	Same    Action = "same"     // the file already is as it was
	Clash   Action = "conflict" // it cannot be undone beside a later edit
	Lost    Action = "lost"     // it cannot be undone at all
)

// FileState is the present state of a file.
type FileState struct {
	Hash tool.Hash // empty: it does not exist
	Mode uint32    // as event.FileChanged; 0: not known
	// Err is why the file could not be read.
	Err string
}

// File is what is to be done to one file.
type File struct {
	Path         string
	Action       Action
	Ask          string      // if set, it is done only if a person confirms it; the reason
	Why          string      // of Clash and Lost
	Now          FileState   // the state when the plan was made
	Had          []tool.Hash // the contents before its changes, the newest first
	To           tool.Hash
	Mode         uint32   // the mode it gets; 0 keeps it
	Data         []byte   // of Merge; else the content is kept under To
	Folders      []string // folders above it that are removed too if they are empty
	Unattributed bool
	Step         int    // of the newest change: when in its turn it was made
	Description  string // and what for
	Changes      []int64
	With         []string // done only together with these files: lines or contents moved between them
	// Sets, if set, keep it: a file, or a folder with Count files. Newest first.
	Sets  []string
	Over  bool // Now is what they replace
	Count int
	Bytes int64
	// Places of a Clash where both sides changed the same lines.
	Places []Conflict
	// Diff is what will change, for the preview; the frontend sets it.
	Diff string
}

// Blocked reports whether nothing can be done to the file.
func (f File) Blocked() bool { return f.Action == Clash || f.Action == Lost }

// Plan is what an undo will do.
type Plan struct {
	Selector
	Text   string // of the prompt that led to the changes
	Undone int64  // of a redo
	Files  []File
	// Note is a message to show first: what an interrupted earlier undo left.
	Note string
}

// Consent is a person's answer to a plan.
type Consent struct {
	Confirmed []string // paths of files with Ask that are to be done
	LeaveOut  []string // paths that stay as they are
}

// OpenError lists the files of a plan that need a decision: nothing is done before they
// are confirmed or left out.
type OpenError struct{ Files []File }

func (e *OpenError) Error() string {
	var b strings.Builder
	for i, f := range e.Files {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s: %s", f.Path, f.Why+f.Ask) // one of them is empty
	}
	return b.String()
}

// Choose splits a plan into files to do and files to leave out. Files that
// depend on a file that is left out are left out too. It returns an *OpenError
// if decisions are missing.
func (p Plan) Choose(c Consent) (do, left []File, err error) {
	out := map[string]bool{}
	for _, path := range c.LeaveOut {
		out[path] = true
	}
	for grown := true; grown; {
		grown = false
		for _, f := range p.Files {
			if !out[f.Path] && slices.ContainsFunc(f.With, func(w string) bool { return out[w] }) {
				out[f.Path], grown = true, true
			}
		}
	}
	open := &OpenError{}
	for _, f := range p.Files {
		switch {
		case out[f.Path]:
			left = append(left, f)
		case f.Blocked() || f.Ask != "" && !slices.Contains(c.Confirmed, f.Path):
			open.Files = append(open.Files, f)
		default:
			do = append(do, f)
		}
	}
	if len(open.Files) > 0 {
		return nil, nil, open
	}
	return do, left, nil
}

// NeedsNoConsent reports whether the whole plan can be done without asking.
func (p Plan) NeedsNoConsent() bool {
	return !slices.ContainsFunc(p.Files, func(f File) bool { return f.Blocked() || f.Ask != "" })
}

// file is a file that is being restored.
type file struct {
	hash   tool.Hash
	mode   uint32
	data   []byte // the merged content
	merged bool
}

// NeededContents lists the contents that Decide needs, given the present content of the
// file: none, unless it has to merge.
func (s Steps) NeededContents(now tool.Hash) []tool.Hash {
	at := now
	for _, st := range s.steps {
		if at == st.to {
			at = st.from
		} else if at != st.from {
			var out []tool.Hash
			for _, st := range s.steps {
				out = append(out, st.from, st.to)
			}
			out = append(out, now)
			slices.Sort(out)
			out = slices.Compact(out)
			return slices.DeleteFunc(out, func(h tool.Hash) bool { return h == "" })
		}
	}
	return nil
}

// Decide returns what is to be done to the file. The steps are reverted one by one, the
// newest first, so that text that someone else wrote between two of them stays. contents
// holds those of NeededContents that are kept.
func (s Steps) Decide(now FileState, contents map[tool.Hash][]byte) File {
	f := File{Path: s.Path, Now: now, Unattributed: s.Unattributed, Step: s.Step, Description: s.Description, Changes: s.Changes}
	for _, st := range s.steps {
		f.Had = append(f.Had, st.from)
	}
	if now.Err != "" {
		f.Action, f.Why = Lost, now.Err
		return f
	}
	now.Mode = withoutLinkMode(now.Mode)
	at := file{hash: now.Hash, mode: now.Mode}
	for _, st := range s.steps {
		if !f.revertStep(&at, st, contents) {
			return f
		}
		f.Folders = append(f.Folders, st.folders...)
	}
	// The content is as it was, and would stay so: what it had between may be somebody's work.
	overwrote := at.hash == now.Hash && s.overwrote != nil && s.overwrote.takes(now.Hash)
	if overwrote {
		at = file{hash: s.overwrote.from, mode: cmp.Or(s.overwrote.fromMode, now.Mode)}
		f.Ask = overwroteWhy(s.Command)
	}
	if f.To = at.hash; at.mode != now.Mode && now.Mode != 0 || now.Hash == "" {
		f.Mode = at.mode
	}
	switch {
	case at.hash == now.Hash && f.Mode == 0:
		f.Action, f.Ask = Same, ""
	case at.hash == "":
		f.Action = Delete
		if s.restoredByRedo {
			f.askFor("somebody removed it, and a redo brought it back")
		}
		if s.Only != "" {
			f.askFor(fmt.Sprintf("its content was that of %s, which lost it since", s.Only))
		}
	case at.merged:
		f.Action, f.Data = Beside, at.data
	default:
		f.Action = PutBack
	}
	if f.Action != Delete {
		f.Folders = nil
	}
	if f.Action != Same {
		for _, p := range s.With {
			if p != s.Path && !slices.Contains(f.With, p) {
				f.With = append(f.With, p)
			}
		}
	}
	if s.Unattributed && !overwrote && f.Action != Same {
		f.askFor(unattributedWhy(s.Command))
	}
	return f
}

// takes reports whether a step led to a content and took another one, which is kept.
func (st step) takes(now tool.Hash) bool {
	return st.to == now && st.from != now && st.from != "" && st.kept
}

func unattributedWhy(command string) string {
	if command == "" {
		return "it is not certain that the agent changed it"
	}
	return fmt.Sprintf("it changed while %q ran, perhaps not by the command", command)
}

func overwroteWhy(command string) string {
	if command == "" {
		return "it lost again what somebody else may have written"
	}
	return fmt.Sprintf("it lost again what was written while %q ran, perhaps by somebody else", command)
}

// askFor marks the file to be done only if a person confirms it.
func (f *File) askFor(why string) {
	if strings.Contains(f.Ask, why) {
		return
	}

	if f.Ask != "" {
		f.Ask += "; "
	}
	f.Ask += why
}

// block records why the file cannot be restored.
func (f *File) block(a Action, format string, args ...any) bool {
	f.Action, f.Why, f.Ask = a, fmt.Sprintf(format, args...), ""
	return false
}

// revertStep reverts one step; it returns false if that is not possible.
func (f *File) revertStep(at *file, st step, contents map[tool.Hash][]byte) bool {
	exact := at.hash == st.to && (at.mode == 0 || st.mode == 0 || link(at.mode) == link(st.mode))
	switch {
	case st.from == st.to && (st.from == "" || at.hash == ""):
		return true // the change had no effect
	case st.from != st.to && at.hash == st.from:
		return true // somebody has restored it already
	case exact:
	case link(st.mode) || link(st.fromMode) || link(at.mode):
		return f.block(Clash, "it is, or was, a symlink, and is not as the agent left it")
	case st.from == st.to: // only its mode changed
	case at.hash == "":
		f.askFor("it was removed since, and would come back as it was before")
	case st.to == "":
		return f.block(Clash, "the agent removed it, and there is another file of that name now")
	case st.from == "":
		return f.block(Clash, "the agent created it, and it was changed since")
	default:
		return f.merge(at, st, contents)
	}
	if st.from != st.to {
		if !st.kept {
			return f.block(Lost, "its old content was not kept")
		}
		at.hash, at.data, at.merged = st.from, nil, false
	}
	return f.revertMode(at, st)
}

// revertMode restores the mode if it still is the agent's. Changes of the mode by others
// stay.
func (f *File) revertMode(at *file, st step) bool {
	switch {
	case at.hash == "" && st.mode != 0 && at.mode != 0 && at.mode != st.mode:
		f.askFor("its mode was changed since")
	case at.hash == "":
	case st.to == "" || at.mode == 0: // the file is restored from nothing
		at.mode = st.fromMode
	case link(at.mode) && !link(st.fromMode): // never write its content as a link's target
		at.mode = max(st.fromMode, 0o600)
	case st.mode != 0 && st.fromMode != 0 && at.mode == st.mode:
		at.mode = st.fromMode
	}
	return true
}

// mergeLimit is the size limit of a content that is merged, in bytes.
const mergeLimit = 8 << 20

// merge reverts a step and keeps what someone else changed.
func (f *File) merge(at *file, st step, contents map[tool.Hash][]byte) bool {
	if !st.kept {
		return f.block(Lost, "its old content was not kept")
	}
	ours := at.data
	if !at.merged {
		ours = contents[at.hash]
	}
	base, theirs := contents[st.to], contents[st.from]
	for _, c := range [][]byte{base, ours, theirs} {
		switch {
		case c == nil:
			return f.block(Clash, "it was changed since, and the data to merge it is not kept")
		case len(c) > mergeLimit:
			return f.block(Clash, "it was changed since, and is too large to merge")
		case bytes.IndexByte(c, 0) >= 0:
			return f.block(Clash, "it was changed since, and is not text: it cannot be merged")
		}
	}
	m := merge(base, ours, theirs)
	if len(m.Conflicts) > 0 {
		f.Places = m.Conflicts
		return f.block(Clash, "it was changed since in the same lines")
	}
	*at = file{hash: edits.HashOf(m.Text), mode: at.mode, data: m.Text, merged: true}
	return f.revertMode(at, st)
}

// withoutLinkMode removes the permissions of a link: they have no meaning and differ between
// systems.
func withoutLinkMode(mode uint32) uint32 {
	if link(mode) {
		return uint32(fs.ModeSymlink)
	}
	return mode
}

func link(mode uint32) bool { return fs.FileMode(mode)&fs.ModeSymlink != 0 }
