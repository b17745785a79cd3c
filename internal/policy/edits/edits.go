// Package edits judges whether a write may proceed, by what the model has been
// shown (SPEC 4.6), and knows which files others changed meanwhile.
//
// For each file it knows the hash that the session saw or wrote last, which
// lines of that content the model was shown under their present numbers, and
// whether it knows the whole content. It promises that a judgement costs the
// same however long the session is. It does not guess: what was not reported as
// shown counts as not shown. It does no I/O; the hashes to compare come with
// the footprint.
package edits

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// lines is a run of line numbers, inclusive.
type lines struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// away are lines that the session's own edits gave other numbers: they were shown under
// these, and are By lines further down now.
type away struct {
	lines
	By int `json:"by"`
}

// file is what the session knows of one file.
type file struct {
	// Last is the content that the session saw or wrote last; it survives
	// compaction, so that changes by others are still noticed.
	Last tool.Hash `json:"last"`
	// Seen: something of the file was shown and is still in the window.
	Seen bool `json:"seen,omitempty"`
	// Whole: all lines of Last were shown under their present numbers.
	Whole bool `json:"whole,omitempty"`
	// Known: the model knows all of Last, but perhaps not the line numbers: it
	// saw the whole file and then edited it.
	Known bool `json:"known,omitempty"`
	// Spans of Last that were shown, sorted and not overlapping.
	Spans []lines `json:"spans,omitempty"`
	Moved []away  `json:"moved,omitempty"`
	// Wrote are the lines that edits of this step wrote: their results, which the model has
	// at the next request, tell the numbers.
	Wrote []lines `json:"wrote,omitempty"`
	// Edited: the session's own edit may have given lines other numbers.
	Edited bool `json:"edited,omitempty"`
}

// Seen is the fold. The zero value is an empty session.
type Seen struct {
	files map[string]*file
	// removed is the last call that removed a file: a file that it creates may
	// be the moved one, so creating it does not show it.
	removed string
	// step: the calls of a reply are running. The model had not read their
	// results when it wrote the other calls of the step, so line numbers there
	// refer to an earlier content. late is what it will have read at the next
	// request, own are the edits of the step: what a call showed is often told only
	// after an edit that ran beside it.
	step bool
	late []tool.Span
	own  []event.FileChanged
}

// CheckResult is the answer of Check. Need are the lines that must be shown before
// the call may be repeated; 0,0 is the whole file.
type CheckResult struct {
	OK     bool
	Reason string
	Need   []tool.Span
}

func (s *Seen) Apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.CallAsked:
		s.step = true
	case event.Requested, event.Ended:
		s.step = false
		for _, sp := range s.late {
			if f := s.files[sp.Path]; f != nil && f.Last == sp.Hash {
				s.saw(sp)
			}
		}
		s.late, s.own = nil, nil
		for _, f := range s.files {
			for _, l := range f.Wrote {
				f.Spans = join(f.Spans, l)
			}
			f.Wrote = nil
		}
	case event.FileSeen:
		for _, sp := range b.Spans {
			if s.step && b.Call != "" {
				s.glimpsed(sp)
			} else {
				s.saw(sp)
			}
		}
	case event.FileChanged:
		s.changed(b)
	case event.CallDone:
		s.removed = "" // in old logs ids repeat
	case event.Rebased:
		if b.Why == event.RebasedCompaction {
			for _, f := range s.files {
				*f = file{Last: f.Last}
			}
		}
	}
}

func (s *Seen) at(path string) *file {
	if s.files == nil {
		s.files = map[string]*file{}
	}
	f := s.files[path]
	if f == nil {
		f = &file{}
		s.files[path] = f
	}
	return f
}

func (s *Seen) saw(sp tool.Span) {
	if sp.Path == "" || sp.Dir {
		return
	}
	f := s.at(sp.Path)
	if f.Last != sp.Hash {
		*f = file{Last: sp.Hash}
	}
	f.saw(sp)
}

// saw adds lines of the file's present content.
func (f *file) saw(sp tool.Span) {
	f.Seen = true
	switch {
	case f.Whole:
	case sp.From <= 0:
		f.Whole, f.Known, f.Spans = true, true, nil
		if sp.To > 0 {
			f.Spans = []lines{{1, sp.To}}
		}
	case sp.From > 0 && sp.To >= sp.From:
		f.Spans = join(f.Spans, lines{sp.From, sp.To})
	}
}

// glimpsed records what a call shows for the other calls of its step: enough to
// search for text or to write the whole file, not to name lines by their
// numbers.
func (s *Seen) glimpsed(sp tool.Span) {
	if sp.Path == "" || sp.Dir {
		return
	}
	spans, hash := []tool.Span{sp}, sp.Hash
	var went []away
	for _, b := range s.own {
		if b.Path == sp.Path && b.Before == hash {
			spans, went = behind(b, spans, went)
			hash = b.After
		}
	}
	f := s.at(sp.Path)
	if f.Last != hash {
		*f = file{Last: hash}
	}
	f.Seen = true
	f.Moved = append(f.Moved, went...)
	s.late = append(s.late, spans...)
}

// changed folds a write. The text of a file that the agent wrote whole counts
// as shown. After an edit the model still knows the content if it knew it
// before, but of the line numbers only those that did not move. Changes by a
// command or a person do not count as shown.
func (s *Seen) changed(b event.FileChanged) {
	f := s.at(b.Path)
	switch {
	case b.After == b.Before && b.After == f.Last:
		// Only its mode changed.
	case b.After == "":
		delete(s.files, b.Path)
		s.removed = b.Call
	case b.Child != nil: // the agent's model knows it, and this session's does not
		*f = file{Last: b.After, Seen: f.Seen}
	case b.Whole:
		*f = file{Last: b.After, Seen: true, Whole: true, Known: true}
	case b.Does == tool.Edit:
		created := b.Before == "" && (b.Call == "" || b.Call != s.removed)
		next := file{Last: b.After, Seen: true, Whole: created, Known: created, Edited: true}
		if f.Last == b.Before {
			next.Known = created || f.Known
			next.Spans, next.Moved = f.after(b)
		}
		next.Wrote = f.wrote(b)
		var went []away
		s.late, went = behind(b, s.late, nil)
		next.Moved = append(next.Moved, went...)
		if *f = next; s.step {
			s.own = append(s.own, b)
		}
	default:
		*f = file{Last: b.After, Seen: f.Seen}
	}
}

// after returns where the lines that were shown are after an edit: those that have their
// numbers still, and the others.
func (f *file) after(b event.FileChanged) (stay []lines, went []away) {
	if b.From == 0 {
		return nil, nil
	}
	shown := slices.Clone(f.Moved)
	for _, l := range f.Spans {
		shown = append(shown, away{l, 0})
	}
	if f.Whole && len(f.Spans) == 0 {
		shown = []away{{lines{1, math.MaxInt32}, 0}}
	}
	for _, m := range shown {
		above := away{lines{m.From, min(m.To, b.From-1-m.By)}, m.By}
		below := away{lines{max(m.From, b.To+1-m.By), m.To}, m.By + b.Added - b.Removed}
		for _, part := range []away{above, below} {
			switch {
			case part.From > part.To:
			case part.By == 0:
				stay = join(stay, part.lines)
			case m.To < math.MaxInt32: // else its last line is not known
				went = append(went, part)
			}
		}
	}
	return stay, went
}

// behind returns what of spans is where it was after an edit. went are the lines of its file
// that had other numbers before; it returns those that have other numbers now.
func behind(b event.FileChanged, spans []tool.Span, went []away) ([]tool.Span, []away) {
	var out []tool.Span
	stay, went := (&file{Moved: went}).after(b)
	for _, sp := range spans {
		if sp.Path != b.Path || sp.Hash != b.Before {
			out = append(out, sp)
			continue
		}
		shown := &file{}
		shown.saw(sp)
		still, others := shown.after(b)
		stay, went = append(stay, still...), append(went, others...)
	}
	for _, l := range stay {
		out = append(out, tool.Span{Path: b.Path, From: l.From, To: l.To, Hash: b.After})
	}
	return out, went
}

// wrote returns the lines that edits of this step wrote, under their numbers after one more.
func (f *file) wrote(b event.FileChanged) (out []lines) {
	if b.From == 0 {
		return nil
	}
	if f.Last == b.Before {
		var went []away
		out, went = (&file{Spans: f.Wrote}).after(b)
		for _, m := range went {
			out = join(out, lines{m.From + m.By, m.To + m.By})
		}
	}
	if b.Added > 0 && b.To-b.From+1 == b.Removed { // else lines of the file are between those that were changed
		out = join(out, lines{b.From, b.From + b.Added - 1})
	}
	return out
}

// join adds a run to sorted, separate runs.
func join(runs []lines, n lines) []lines {
	i, _ := slices.BinarySearchFunc(runs, n.From, func(r lines, from int) int {
		if r.To+1 < from {
			return -1
		}
		return 1
	})
	j := i
	for j < len(runs) && runs[j].From <= n.To+1 {
		n.From, n.To = min(n.From, runs[j].From), max(n.To, runs[j].To)
		j++
	}
	return slices.Replace(runs, i, j, n)
}

// missing lists the parts of from..to that the runs do not cover.
func missing(runs []lines, from, to int) []lines {
	var out []lines
	for _, r := range runs {
		if r.To < from {
			continue
		}
		if r.From > to {
			break
		}
		if r.From > from {
			out = append(out, lines{from, r.From - 1})
		}
		from = r.To + 1
	}
	if from <= to {
		out = append(out, lines{from, to})
	}
	return out
}

// Check judges a call by its footprint, whose spans have the present hashes.
//
// A blind write over an existing file requires that all its present lines were
// shown: the span is 1..N for a file of N lines. A write of a range of lines
// requires that those lines were shown under their present numbers. Any other
// write of an existing file requires that the file was seen in this session,
// unless the call quotes what it replaces. A file that does not exist (Hash "")
// requires nothing.
func (s *Seen) Check(fp tool.Footprint) CheckResult {
	var reasons []string
	v := CheckResult{OK: true}
	if fp.Derived {
		return v
	}
	for _, w := range fp.Writes {
		if w.Hash == "" || w.Dir || slices.Contains(fp.Quoted, w.Path) {
			continue
		}
		reason, need := s.judge(w, fp.Blind)
		if reason == "" {
			continue
		}
		v.OK = false
		reasons = append(reasons, reason)
		v.Need = append(v.Need, need...)
	}
	v.Reason = strings.Join(reasons, "; ")
	return v
}

func (s *Seen) judge(w tool.Span, blind bool) (string, []tool.Span) {
	f := s.files[w.Path]
	if f == nil {
		f = &file{}
	}
	span := func(l lines) tool.Span { return tool.Span{Path: w.Path, From: l.From, To: l.To, Hash: w.Hash} }
	if blind { // before a file is written whole, one read of it is enough
		g := *f
		g.Spans = slices.Clone(f.Spans)
		for _, sp := range s.late {
			if sp.Path == w.Path && sp.Hash == g.Last {
				g.saw(sp)
			}
		}
		f = &g
	}
	ranged := w.From > 0 && w.To >= w.From
	same := f.Last == w.Hash
	if !blind && !ranged {
		if f.Seen {
			return "", nil
		}
		return w.Path + " was not read in this session, so what is in it is not known: read it first", []tool.Span{span(lines{})}
	}
	if same && (f.Whole || blind && f.Known) {
		return "", nil
	}
	if !ranged {
		return w.Path + " exists and was not shown whole: read it first, or use edit", []tool.Span{span(lines{})}
	}
	var runs []lines
	if same {
		runs = f.Spans
	}
	gaps := missing(runs, w.From, w.To)
	if len(gaps) == 0 {
		return "", nil
	}
	var said []string
	for _, g := range gaps {
		said = append(said, g.String())
	}
	what, why, it := "lines", "were not shown", "them"
	if len(gaps) == 1 && gaps[0].From == gaps[0].To {
		what, why, it = "line", "was not shown", "it"
	}
	if !same && f.Last != "" || f.Edited {
		why += " since the file changed"
	}
	shown, reason := gaps, fmt.Sprintf("%s %s of %s %s: line numbers may have moved, so look at %s first", what, strings.Join(said, ", "), w.Path, why, it)
	if blind {
		reason = fmt.Sprintf("write would replace all of %s, and %s %s %s: read %s first, or use edit", w.Path, what, strings.Join(said, ", "), why, it)
	} else if i := slices.IndexFunc(f.Moved, func(m away) bool { return same && m.From <= w.From && w.To <= m.To }); i >= 0 {
		by := f.Moved[i].By
		now := lines{w.From + by, w.To + by}
		shown, reason = join(slices.Clone(gaps), now), fmt.Sprintf("%s; what you read as %s is %s now", reason, lines{w.From, w.To}, now)
	}
	var need []tool.Span
	for _, l := range shown {
		need = append(need, span(l))
	}
	return reason, need
}

func (l lines) String() string {
	if l.From == l.To {
		return fmt.Sprint(l.From)
	}
	return fmt.Sprintf("%d-%d", l.From, l.To)
}

// ChangedSince lists, sorted, the files of a footprint that differ from what
// the session saw or wrote last: someone else changed or removed them.
func (s *Seen) ChangedSince(fp tool.Footprint) []string {
	var out []string
	for _, sps := range [][]tool.Span{fp.Reads, fp.Writes} {
		for _, sp := range sps {
			if f := s.files[sp.Path]; !sp.Dir && f != nil && f.Last != sp.Hash {
				out = append(out, sp.Path)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// saved is the form of a checkpoint.
type saved struct {
	Files   map[string]*file `json:"files"`
	Removed string           `json:"removed,omitempty"`
	Step    bool             `json:"step,omitempty"`
	Late    []tool.Span      `json:"late,omitempty"`
	// Own are the edits of the step.
	Own []event.FileChanged `json:"own,omitempty"`
}

// Save returns the state for a checkpoint.
func (s *Seen) Save() ([]byte, error) {
	return json.Marshal(saved{s.files, s.removed, s.step, s.late, s.own})
}

// Load restores a checkpoint.
func (s *Seen) Load(b []byte) error {
	var v saved
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	s.files, s.removed, s.step, s.late, s.own = v.Files, v.Removed, v.Step, v.Late, v.Own
	return nil
}
