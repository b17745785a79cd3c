package repair

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// errRuns means that the commands that may be run are used up.
var errRuns = errors.New("no more commands")

// errBuild means that what was generated does not compile, or did not come to
// its end.
var errBuild = errors.New("the instrumented tests do not build or do not end")

// spectrum is which statements the failing tests of a package run, and which
// tests those are.
type spectrum struct {
	pkg     *pkg
	failing []string // top-level tests that fail alone
	tests   []string // all top-level tests
	seconds int      // what one run of them may take while screening
	sus     map[*function][]suspect
}

// suspect is a statement with its suspicion in (0, 1].
type suspect struct {
	statement
	score float64
}

// maxStatements bounds what is marked; the runtime has room for no more.
const maxStatements = 1 << 16

// spectrum runs a package's tests one by one and asks which statements each
// runs.
func (w *work) spectrum(p *pkg, stack []place) (*spectrum, error) {
	reach, err := w.m.closure(p.dir)
	if err != nil {
		return nil, err
	}
	s := &spectrum{pkg: p, tests: testNames(p), seconds: w.opt.Timeout, sus: map[*function][]suspect{}}
	var all []statement
	files := map[string]string{}
	for _, q := range reach {
		var add map[string]string
		add, all = w.m.hits(q, all, maxStatements-4096)
		for f, text := range add {
			files[f] = text
		}
	}
	if len(all) > maxStatements {
		return nil, fmt.Errorf("%w: one package is too large", errBuild)
	}
	out, err := w.probe(p, files, probeConfig{Mode: "hits", Tests: s.tests, Seconds: w.opt.Timeout})
	if err != nil {
		return nil, err
	}
	ef, ep, nf := map[int]int{}, map[int]int{}, 0
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		switch f[0] {
		case "PAWLF":
			s.failing = append(s.failing, strings.Join(f[1:], " "))
		case "PAWLS":
			if ms, err := strconv.Atoi(strings.TrimSuffix(f[len(f)-1], "ms")); err == nil {
				s.seconds = min(w.opt.Timeout, 2+len(s.tests)*ms/250)
			}
		case "PAWLN":
			if len(f) == 3 {
				nf, _ = strconv.Atoi(f[1]) // our own output
			}
		case "PAWLH":
			for _, h := range f[1:] {
				x := strings.Split(h, ":")
				if len(x) != 3 {
					continue
				}
				k, err1 := strconv.Atoi(x[0])
				a, err2 := strconv.Atoi(x[1])
				b, err3 := strconv.Atoi(x[2])
				if err := errors.Join(err1, err2, err3); err == nil && k < len(all) {
					ef[k], ep[k] = a, b
				}
			}
		}
	}
	w.score(s, all, ef, ep, nf, stack)
	return s, nil
}

// score assigns each statement that a failing test runs its Ochiai suspicion,
// relative to the highest.
func (w *work) score(s *spectrum, all []statement, ef, ep map[int]int, nf int, stack []place) {
	val := make([]float64, len(all))
	top := 0.0
	for k := range all {
		if ef[k] == 0 {
			continue
		}
		val[k] = float64(ef[k]) / math.Sqrt(float64(nf)*float64(ef[k]+ep[k]))
		if w.panicked(all[k], stack) {
			val[k] *= 1.3
		}
		top = max(top, val[k])
	}
	for k, st := range all {
		if val[k] > 0 {
			s.sus[st.fn] = append(s.sus[st.fn], suspect{st, val[k] / top})
		}
	}
}

// panicked reports whether a line of a panic's stack begins in a statement
// that holds no smaller one there.
func (w *work) panicked(st statement, stack []place) bool {
	from, to := w.m.fset.Position(st.from).Line, w.m.fset.Position(st.to).Line
	for _, p := range stack {
		if p.line >= from && p.line <= to && to-from < 4 && path.Base(p.file) == path.Base(st.fn.file.path) &&
			strings.HasSuffix(p.file, st.fn.file.path[len(w.m.dir):]) {
			return true
		}
	}
	return false
}

// probe runs our probe among a package's tests, with files laid over the tree.
func (w *work) probe(p *pkg, files map[string]string, c probeConfig) (string, error) {
	runtime, err := w.m.runtimeFiles(p, c)
	if err != nil {
		return "", err
	}
	maps.Copy(files, runtime)
	out, _, err := w.run(w.goIn("test", "-vet=off -count=1 -v -timeout=280s -run='^TestPawlProbe$'", shellsyntax.Quote(w.m.pattern(p.dir))), files)
	if err != nil {
		return out, err
	}
	if !strings.Contains(out, "PAWLEND") {
		return out, errBuild
	}
	return out, nil
}

// suspicion returns that of the smallest statement around a candidate; 0 when no
// failing test runs it.
func (s *spectrum) suspicion(c *candidate) float64 {
	best, size := 0.0, -1
	for _, x := range s.sus[c.fn] {
		if c.at >= x.from && c.at < x.to {
			if n := int(x.to - x.from); size < 0 || n < size {
				best, size = x.score, n
			}
		}
	}
	return best
}
