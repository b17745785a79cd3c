package progress

import (
	"math"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/normalize"
)

// This file decides what is new about a step: its question, the numbers in its
// answer, and the contents that it left.

// asksAnew reports whether a step asks a question for the first time, and the
// answer is one that other questions had. For a loop over a list that is progress,
// whatever it finds. An error that other commands had too is trouble with them all,
// unless it answers a list: the same command about other things.
func (d *Detector) asksAnew(f *facts, short bool) bool {
	s := f.s
	if s.Subject == "" || s.Blocked || s.Blind && s.OK || f.keySeen || f.fresh || f.returned || f.renumbered {
		return false
	}
	switch {
	case isRead(s.Kind), s.Kind == Exec, s.Kind == Test:
	case s.Kind == Edit && !s.OK:
	default:
		return false
	}
	if d.questions.has(f.question(d)) {
		return false
	}
	if !s.OK {
		return d.faults.has(f.fault) && (short || d.verbs.has(hash(s.Verb)))
	}
	if f.resultSeen && !short && d.subjects.has(hash(d.plain(s.Subject))) {
		return false // the same text by another program
	}
	return f.resultSeen || s.Len <= 1
}

// question identifies what a step asks. The answer's being short matters: of a
// long text it is the same question with whatever program it is shown.
func (f *facts) question(d *Detector) uint64 { return hash(f.s.Verb, d.plain(f.s.Subject)) }

// plain returns a subject in which copies under other numbers are one file.
func (d *Detector) plain(subject string) string {
	if d.copies == 0 {
		return subject
	}
	var out []string
	for w := range strings.FieldsSeq(subject) {
		if n := normalize.Numberless(w); n != w && d.copied.has(hash(path.Base(n))) {
			w = n
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

// moved compares the answer to a question that was asked before with the earlier
// ones of the same form. It moved if a number went where it never was: in an error
// below all before it, or nearer to a number that stays; in a success anywhere.
// Otherwise it is only shaken: ids, times, a value that goes up and down.
func (d *Detector) moved(f *facts, answer uint64) (moved, shaken bool) {
	s := f.s
	if s.Form == "" || s.Blocked {
		return false, false
	}
	k := f.action ^ hash(s.Form)*5
	m, ok := d.measures.get(k)
	if !ok || len(m.lo) != len(s.Numbers) {
		d.measures.put(k, measure{lo: slices.Clone(s.Numbers), hi: slices.Clone(s.Numbers), last: slices.Clone(s.Numbers), answer: answer})
		return false, false
	}
	if m.answer == answer && s.OK {
		return false, false
	}
	stays := slices.Equal(m.last, s.Numbers)
	goal := math.Inf(-1)
	for i, x := range s.Numbers {
		if m.lo[i] == m.hi[i] && x == m.lo[i] {
			goal = max(goal, x)
		}
	}
	for i, x := range s.Numbers {
		if x < m.lo[i] || x > m.hi[i] && (s.OK || x <= goal) {
			moved = true
		}
		m.lo[i], m.hi[i] = min(m.lo[i], x), max(m.hi[i], x)
	}
	m.answer, m.last = answer, append(m.last[:0], s.Numbers...)
	d.measures.put(k, m)
	if stays {
		return s.OK, false // what changed is not among the numbers that are compared
	}
	return moved, s.OK && !moved
}

// measure is the range of each number in the answers of one form to one question.
type measure struct {
	lo, hi, last []float64
	answer       uint64 // the newest
}

// aboutNotes reports whether a step only looks at the model's own notes.
func (d *Detector) aboutNotes(s *Step) bool {
	if d.noted == 0 || !s.OK || !isRead(s.Kind) {
		return false
	}
	for w := range strings.FieldsSeq(s.Subject) {
		if n, ok := d.notes.get(hash(path.Base(w))); ok && n > noteWrites {
			return true
		}
	}
	return false
}

// isNote reports whether a file is a note of the model: prose that this run made
// and writes again and again, and that no check is about. Logs of attempts are
// such files. Writing one is no progress of the task, and no loop either.
func (d *Detector) isNote(s *Step, file, before string) bool {
	if !normalize.Prose(file) {
		return false
	}
	k := hash(path.Base(file))
	n, ok := d.notes.get(k)
	if !ok {
		n = 1
		if before != "" && before != gone || before == "" && d.looked.has(k) {
			n = -1 << 30 // it was there
		}
	} else {
		n++
	}
	d.notes.put(k, n)
	if n > noteWrites {
		d.noted++
	}
	return n > noteWrites
}

// content reports whether a step left a new content, and whether an edit only
// restored a content that was there before, in this file or under another
// number. Content that a command other than an edit leaves counts at most twice
// per file: a log that grows, or a file that each run writes anew, is not
// progress. One content under many numbers is not progress either.
func (d *Detector) content(s *Step) (fresh, returned, copied, looks bool) {
	for _, x := range s.Before {
		d.contents.put(hash(x.Path, x.Hash), struct{}{})
	}
	cosmetic := s.Cosmetic
	if s.Gist != "" && s.OK {
		g := hash(s.Target, s.Gist)
		if by, ok := d.gists.get(g); ok && by != hash(s.Edit) {
			cosmetic = true
		} else if !ok {
			d.gists.put(g, hash(s.Edit))
		}
	}
	left, known, copies, meant := 0, 0, 0, 0
	see := func(file, state, before string) {
		if state == "" {
			return
		}
		left++
		k := hash(file, state)
		if d.contents.has(k) {
			if file != "" {
				known++
			}
			return
		}
		d.contents.put(k, struct{}{})
		note := d.isNote(s, file, before)
		if n := normalize.Numberless(file); n != file {
			k := hash("#", n, state)
			if d.contents.has(k) {
				copies++
				d.copies++
				d.copied.put(hash(path.Base(n)), struct{}{})
				return
			}
			d.contents.put(k, struct{}{})
		}
		if note || cosmetic {
			meant++
			return
		}
		if (s.Kind == Edit || s.Edit != "") && !s.Shell {
			fresh = true
			return
		}
		c := hash(s.Args, file)
		n, _ := d.shell.get(c)
		d.shell.put(c, n+1)
		fresh = fresh || n < 2
	}
	before := map[string]string{}
	for _, x := range s.Before {
		before[x.Path] = x.Hash
	}
	see(s.Target, s.State, before[s.Target])
	for _, x := range s.Files {
		see(x.Path, x.Hash, before[x.Path])
	}
	old := s.OK && s.Kind == Edit && left > 0 && left == known+copies
	return fresh, old && copies == 0, old && copies > 0, meant > 0 && !fresh
}
