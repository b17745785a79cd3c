package repair

import (
	"math"
	"slices"
)

// spectrum is which statements the failing tests of a package run, and which
// tests those are.
type spectrum struct {
	pkg     *pkg
	failing []string // top-level tests that fail alone
	tests   []string // all top-level tests
	seconds int      // what one run of them may take while screening
	sus     map[*function][]suspect
	fns     []*function // with suspects, in the order of the text
}

// suspect is a statement with its suspicion in (0, 1].
type suspect struct {
	statement
	score float64
}

// spectrum runs a package's tests one by one and asks which statements each
// runs.
func (w *work) spectrum(p *pkg) (*spectrum, error) {
	reach, err := w.m.closure(p.dir)
	if err != nil {
		return nil, err
	}
	s := &spectrum{pkg: p, tests: testNames(p), sus: map[*function][]suspect{}}
	var all []statement
	files := map[string]string{}
	for _, q := range reach {
		all = w.m.hits(q, all, files)
	}
	out, err := w.probe(p, files, probeConfig{Mode: "hits", Tests: s.tests, Seconds: timeout})
	if err != nil {
		return nil, err
	}
	s.failing, s.seconds = out.Failing, min(timeout, 2+len(s.tests)*out.Slow/250)
	s.score(all, out)
	return s, nil
}

// score assigns each statement that a failing test runs its Ochiai suspicion,
// relative to the highest.
func (s *spectrum) score(all []statement, out *probed) {
	val := make([]float64, len(all))
	top := 0.0
	for k := range all {
		failed, passed := float64(out.Hits[k][0]), float64(out.Hits[k][1])
		if failed == 0 {
			continue
		}
		val[k] = failed / math.Sqrt(float64(out.Fails)*(failed+passed))
		top = max(top, val[k])
	}
	for k, st := range all {
		if val[k] > 0 {
			if s.sus[st.fn] == nil {
				s.fns = append(s.fns, st.fn)
			}
			s.sus[st.fn] = append(s.sus[st.fn], suspect{st, val[k] / top})
		}
	}
	slices.SortFunc(s.fns, func(a, b *function) int { return int(a.decl.Pos() - b.decl.Pos()) })
}

// suspicion returns that of the smallest statement around a candidate; 0 when no
// failing test runs it.
func (s *spectrum) suspicion(c *candidate) float64 {
	best, size := 0.0, -1
	for _, x := range s.sus[c.fn] {
		if n := int(x.to - x.from); c.at >= x.from && c.at < x.to && (size < 0 || n < size) {
			best, size = x.score, n
		}
	}
	return best
}
