package repair

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
)

// This file parses the go command's output: results of tests and errors of the
// compiler. It judges nothing.

// Failure is a test that failed.
type Failure struct {
	Pkg, Name string
	Where     string // file:line of its first message
	Said      string // that message
	Panicked  bool
}

// TestRun is the outcome of a `go test`.
type TestRun struct {
	Passed   []string // packages
	Failed   []string // packages
	Unbuilt  []string // packages that did not compile
	Failures []Failure
}

var (
	failedTest = lazyregexp.New(`^\s*--- FAIL: (\S+)`)
	testsOf    = lazyregexp.New(`^(FAIL|ok)\s+(\S+)(?:\s+(.*))?$`)
	located    = lazyregexp.New(`^(\S*\.go):(\d+):(?:(\d+):)?\s*(.*)$`)
	testDecl   = lazyregexp.New(`(?m)^func (Test(?:[^a-z(]\w*)?)\(\w+ \*testing\.T\)`)
)

// ReadTests reads the output of go test, verbose or not.
func ReadTests(out string) TestRun {
	var r TestRun
	var open []Failure
	var last *Failure // whose first message may follow
	panicking := ""
	for l := range strings.SplitSeq(out, "\n") {
		if m := failedTest().FindStringSubmatch(l); m != nil {
			// A parent's Failure is its first failing child's.
			if n := len(open); n > 0 && strings.HasPrefix(m[1], open[n-1].Name+"/") && open[n-1].Said == "" {
				open = open[:n-1]
			}
			open = append(open, Failure{Name: m[1]})
			last = &open[len(open)-1]
		} else if m := located().FindStringSubmatch(strings.TrimSpace(l)); m != nil && last != nil {
			last.Where, last.Said, last = m[1]+":"+m[2], m[4], nil
		} else if what, ok := strings.CutPrefix(l, "panic: "); ok && panicking == "" {
			panicking = strings.TrimSuffix(what, " [recovered]")
		} else if m := testsOf().FindStringSubmatch(l); m != nil {
			last = nil
			switch {
			case m[1] == "ok":
				r.Passed = append(r.Passed, m[2])
				continue
			case strings.HasSuffix(m[3], "failed]"):
				r.Unbuilt, open = append(r.Unbuilt, m[2]), nil
				continue
			case panicking != "" && len(open) == 0:
				open = append(open, Failure{})
			}
			if n := len(open) - 1; panicking != "" {
				open[n].Panicked, open[n].Said = true, panicking
			}
			for _, f := range open {
				f.Pkg = m[2]
				r.Failures = append(r.Failures, f)
			}
			r.Failed, open, panicking = append(r.Failed, m[2]), nil, ""
		} else if strings.HasPrefix(strings.TrimSpace(l), "--- ") {
			last = nil
		}
	}
	return r
}

// BuildError is one error of the compiler or the type checker.
type BuildError struct {
	File      string // relative to the module
	Line, Col int
	Msg       string
}

func (e BuildError) Where() string { return fmt.Sprintf("%s:%d", e.File, e.Line) }

// ReadBuild reads the errors in the output of go build or go vet. Findings of
// vet that are not compile errors are left out: their lines do not begin with
// "vet: ", and vet prints them only for code that compiles.
func ReadBuild(out string, vet bool) []BuildError {
	var errs []BuildError
	for l := range strings.SplitSeq(out, "\n") {
		compile := !vet
		if t, ok := strings.CutPrefix(l, "vet: "); ok {
			l, compile = t, true
		}
		l = strings.TrimPrefix(l, "./")
		if n := len(errs); n > 0 && strings.HasPrefix(l, "\t") && compile {
			errs[n-1].Msg += " " + strings.TrimSpace(l)
			continue
		}
		if !compile && !strings.Contains(l, "is not in std") && !strings.Contains(l, "provides package") && !strings.Contains(l, "providing package") {
			continue
		}
		m := located().FindStringSubmatch(l)
		if m == nil {
			continue
		}
		e := BuildError{File: m[1], Msg: m[4]}
		e.Line, _ = strconv.Atoi(m[2])
		e.Col, _ = strconv.Atoi(m[3]) // 0: not told
		if !slices.Contains(errs, e) {
			errs = append(errs, e)
		}
	}
	return errs
}

// testNames returns the top-level tests of a package, in file order.
func testNames(p *pkg) []string {
	var out []string
	for _, s := range p.tests {
		for _, m := range testDecl().FindAllStringSubmatch(s.text, -1) {
			out = append(out, m[1])
		}
	}
	return out
}
