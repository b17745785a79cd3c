package progress

import "fmt"

// oscillation warns when the contents of a file go back and forth. If contents
// are not known, it warns on edits that alternate between two files, and halts when
// nothing but such edits was made for blindRounds rounds.
type oscillation struct {
	files memo[[]uint64] // the newest contents of a file
	blind []uint64       // the newest edits with unknown contents
	turns int            // how many of them in a row alternate, with nothing in between
}

// blindRounds is how many rounds of two edits halt if nothing says that they differ.
const blindRounds = 3

func (r *oscillation) reset(scope) { *r = oscillation{} }

func (r *oscillation) apply(d *Detector, f *facts) finding {
	s := f.s
	if !s.Blind || s.Kind != Edit || !s.OK {
		r.turns = 0
	}
	if !s.OK {
		return finding{}
	}
	var found finding
	see := func(path, state string) {
		if path == "" || state == "" {
			return
		}
		k := hash(path)
		l, _ := r.files.get(k)
		l = push(l, hash(state), d.c.OscillationWindow)
		r.files.put(k, l)
		if alternates(l, d.c.OscillationWindow) && !f.fresh {
			found = finding{
				level: Warn, print: k, steps: d.stepsOnTarget(s.Target, f.n),
				text: fmt.Sprintf("the contents of %s go back and forth between two versions", path),
			}
		}
	}
	see(s.Target, s.State)
	for _, x := range s.Files {
		see(x.Path, x.Hash)
	}
	if s.Blind && s.Kind == Edit {
		last := len(r.blind)
		if k := last; k > 0 && r.blind[k-1] == f.action || k > 1 && r.blind[k-2] != f.action {
			r.turns = min(r.turns, 1)
		}
		r.turns++
		r.blind = push(r.blind, f.action, d.c.OscillationWindow)
		if alternates(r.blind, d.c.OscillationWindow) {
			level := Warn
			if r.turns >= 2*blindRounds {
				level = Halt
			}
			found = finding{
				level: level, print: f.action + r.blind[len(r.blind)-2], steps: d.newestSteps(d.c.OscillationWindow),
				text: "edits alternate between the same two files, and no content says that they differ",
			}
		}
	}
	return found
}

// push keeps the newest k values; equal neighbors count as one.
func push(l []uint64, v uint64, k int) []uint64 {
	if len(l) > 0 && l[len(l)-1] == v {
		return l
	}
	return last(l, v, k)
}

func alternates(l []uint64, k int) bool {
	if len(l) < k {
		return false
	}
	for i := 2; i < len(l); i++ {
		if l[i] != l[i-2] {
			return false
		}
	}
	return true
}
