package repair

import (
	"cmp"
	"errors"
	"fmt"
	"sort"
	"strings"
)

// budget is how many candidates are tried at most, timeout how many seconds the tests of
// one command may take.
const (
	budget  = 600
	timeout = 10
)

// Tests finds the failing tests of a module and tries to repair the code that they
// test. The error is ErrHands, or that the module cannot be read; everything
// else is an Outcome.
func Tests(h Hands, opt Options) (r Report, err error) {
	if len(opt.Packages) == 0 {
		opt.Packages = []string{"./..."}
	}
	opt.Runs = cmp.Or(opt.Runs, 60)
	w := &work{h: h, opt: opt}
	defer func() {
		if r.Outcome != Fixed && r.Outcome != Uncertain || err != nil {
			err = errors.Join(err, w.revert())
		}
	}()
	r, err = w.repair()
	r.Runs = w.runs
	if errors.Is(err, errRuns) {
		r.Outcome, r.Why, err = NotFixed, "the number of commands that a repair may run is used up", nil
	}
	if errors.Is(err, errBuild) {
		r.Outcome, r.Why, err = NotFixed, "the tests do not build, or do not end, with what a repair adds to them", nil
	}
	return r, err
}

func (w *work) repair() (Report, error) {
	r := Report{Outcome: NotFixed}
	m, err := openModule(w.h, w.opt.Dir)
	if err != nil {
		return r, err
	}
	w.m = m
	w.h.Say("Running the tests.")
	v, exit, err := w.everything(&r)
	switch {
	case err != nil:
		return r, err
	case exit == 0:
		r.Outcome, r.Why = NothingFailing, "all tests pass"
		return r, nil
	case len(v.Failed) == 0:
		r.Outcome, r.Why = BuildFails, "the tests do not build"
		return r, nil
	}
	specs, err := w.localise(v)
	if err != nil {
		return r, err
	}
	if len(specs) == 0 {
		r.Outcome, r.Why = Unstable, "the failing tests pass when each runs alone"
		return r, nil
	}
	for _, s := range specs {
		for _, t := range s.failing {
			r.Tests = append(r.Tests, s.pkg.path+": "+t)
		}
	}
	plausible, err := w.search(&r, specs)
	if err != nil || len(plausible) == 0 {
		return r, err
	}
	return r, w.choose(&r, specs, plausible, v)
}

// localise runs the tests of the failing packages one by one.
func (w *work) localise(v TestRun) ([]*spectrum, error) {
	var specs []*spectrum
	for _, imp := range v.Failed {
		dir, ok := w.m.folderOf(imp)
		if !ok {
			continue
		}
		p, err := w.m.open(dir)
		if err != nil {
			return nil, err
		}
		w.h.Say("Running the tests of " + w.m.pattern(dir) + " one by one, to see which statements the failing ones execute.")
		s, err := w.spectrum(p)
		if err != nil {
			return nil, err
		}
		if len(s.failing) > 0 {
			specs = append(specs, s)
		}
	}
	return specs, nil
}

// search screens candidates until the budget ends or what is left is much less
// likely than what was found.
func (w *work) search(r *Report, specs []*spectrum) ([]*candidate, error) {
	cs := w.typed(w.generate(specs[0]), budget)
	if len(cs) == 0 {
		r.Why = "the failing tests run no statement that a small change could repair"
		return nil, nil
	}
	w.h.Say(fmt.Sprintf("%d functions are suspicious; trying up to %d small changes.", len(specs[0].sus), len(cs)))
	var plausible []*candidate
	for len(cs) > 0 {
		n := w.batch(cs)
		passed, tried, err := w.screen(specs[0], cs[:n])
		if err != nil {
			return nil, err
		}
		r.Tried += tried
		cs = cs[n:]
		for _, s := range specs[1:] {
			if len(passed) == 0 {
				break
			}
			if passed, _, err = w.screen(s, passed); err != nil {
				return nil, err
			}
		}
		plausible = append(plausible, passed...)
		if len(plausible) > 0 && len(cs) > 0 && cs[0].score < plausible[0].score/3 {
			break
		}
	}
	sort.SliceStable(plausible, func(i, j int) bool { return better(plausible[i], plausible[j]) })
	if len(plausible) == 0 {
		r.Why = fmt.Sprintf("none of %d small changes of the statements that the failing tests run makes them pass", r.Tried)
		return nil, nil
	}
	w.h.Say(fmt.Sprintf("%d of %d changes pass the tests.", len(plausible), r.Tried))
	return plausible, nil
}

// choose compares what passes, and leaves the best that holds in the tree.
func (w *work) choose(r *Report, specs []*spectrum, plausible []*candidate, v TestRun) error {
	for _, c := range plausible {
		r.Plausible = append(r.Plausible, c.change().Edit)
	}
	classes, inputs := alone(plausible[:1]), 0
	if len(plausible) > 1 {
		var err error
		w.h.Say("Comparing them on inputs that no test has.")
		classes, inputs, r.Differ, err = w.compare(specs[0], plausible)
		if err != nil {
			return err
		}
	}
	rank(classes, inputs)
	for ; len(classes) > 0; classes = classes[1:] {
		same := classes[0].members
		for _, c := range same[:min(len(same), 3)] { // others of the class behave alike
			ok, err := w.validate(r, c.change(), v)
			if err != nil {
				return err
			}
			if ok {
				r.Outcome, r.Why = judge(classes, inputs)
				r.Edit = c.change().Edit
				return nil
			}
		}
	}
	r.Why = "what passes the failing tests breaks others"
	return nil
}

// validate makes a change in the tree and runs all tests. It puts back what does not
// hold.
func (w *work) validate(r *Report, e change, v TestRun) (bool, error) {
	w.h.Say(fmt.Sprintf("Trying %s:%d: %s", e.Path, e.Line, strings.TrimSpace(e.New)))
	if err := w.apply(e); err != nil {
		return false, err
	}
	now, exit, err := w.everything(r)
	if err != nil {
		return false, err
	}
	if exit != 0 && (len(now.Failed) > 0 || len(now.Unbuilt) != len(v.Unbuilt)) {
		return false, w.revert()
	}
	return true, nil
}
