package repair

import (
	"fmt"
	"go/ast"
	"strconv"
	"strings"
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
	Tests    bool    // the output is that of go test
	stack    []place // lines of panics, innermost first
}

// ReadTests reads the output of go test, verbose or not.
func ReadTests(out string) TestRun {
	var r TestRun
	var open []Failure
	panicking := ""
	lines := strings.Split(out, "\n")
	for i, raw := range lines {
		l := strings.TrimSpace(raw)
		if p, ok := stackLine(raw); ok {
			r.stack = append(r.stack, p)
			continue
		}
		switch {
		case strings.HasPrefix(l, "--- FAIL: "):
			name, _, _ := strings.Cut(strings.TrimPrefix(l, "--- FAIL: "), " ")
			f := Failure{Name: name}
			// A parent's Failure is its first failing child's.
			if n := len(open); n > 0 && strings.HasPrefix(name, open[n-1].Name+"/") && open[n-1].Said == "" {
				open = open[:n-1]
			}
			for _, m := range lines[i+1:] {
				m = strings.TrimSpace(m)
				if strings.HasPrefix(m, "--- ") || strings.HasPrefix(m, "FAIL") || strings.HasPrefix(m, "ok ") {
					break
				}
				if where, said, ok := located(m); ok {
					f.Where, f.Said = where, said
					break
				}
			}
			open = append(open, f)
		case strings.HasPrefix(l, "panic: ") && panicking == "":
			panicking = strings.TrimSuffix(strings.TrimPrefix(l, "panic: "), " [recovered]")
		case strings.HasPrefix(l, "FAIL\t") || strings.HasPrefix(l, "FAIL "):
			f := strings.Fields(l)
			if len(f) < 2 {
				continue
			}
			r.Tests = true
			if strings.HasSuffix(l, "failed]") {
				r.Unbuilt = append(r.Unbuilt, f[1])
				open = nil
				continue
			}
			r.Failed = append(r.Failed, f[1])
			for j := range open {
				open[j].Pkg = f[1]
				if panicking != "" && j == len(open)-1 {
					open[j].Panicked, open[j].Said = true, panicking
				}
			}
			if len(open) == 0 && panicking != "" {
				open = append(open, Failure{Pkg: f[1], Said: panicking, Panicked: true})
			}
			r.Failures = append(r.Failures, open...)
			open, panicking = nil, ""
		case strings.HasPrefix(l, "ok  \t") || strings.HasPrefix(l, "ok "):
			if f := strings.Fields(l); len(f) >= 3 {
				r.Tests = true
				r.Passed = append(r.Passed, f[1])
			}
		}
	}
	return r
}

// located reads "file.go:12: message" or "file.go:12:3: message".
func located(l string) (where, said string, ok bool) {
	i := strings.Index(l, ".go:")
	if i < 0 {
		return "", "", false
	}
	file, rest := l[:i+3], l[i+4:]
	if strings.ContainsAny(file, " \t") {
		return "", "", false
	}
	num, rest, ok := strings.Cut(rest, ":")
	if _, err := strconv.Atoi(num); err != nil || !ok {
		return "", "", false
	}
	if col, after, ok := strings.Cut(rest, ":"); ok {
		if _, err := strconv.Atoi(col); err == nil {
			rest = after
		}
	}
	return file + ":" + num, strings.TrimSpace(rest), true
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
	seen := map[BuildError]bool{}
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
		where, msg, ok := located(l)
		if !ok {
			continue
		}
		file, num, _ := strings.Cut(where, ".go:")
		e := BuildError{File: file + ".go", Msg: msg}
		e.Line, _ = strconv.Atoi(num)
		if rest := strings.TrimPrefix(l, where+":"); rest != l {
			col, _, _ := strings.Cut(rest, ":")
			e.Col, _ = strconv.Atoi(col)
		}
		if !seen[e] {
			seen[e] = true
			errs = append(errs, e)
		}
	}
	return errs
}

// names returns the failing tests, as path: Name.
func (r TestRun) names() []string {
	var out []string
	for _, f := range r.Failures {
		out = append(out, f.Pkg+": "+f.Name)
	}
	return out
}

type place struct {
	file string
	line int
}

// stackLine reads "\t/dir/file.go:12 +0x1d".
func stackLine(line string) (place, bool) {
	if !strings.HasPrefix(line, "\t") {
		return place{}, false
	}
	file, rest, ok := strings.Cut(strings.TrimSpace(line), ".go:")
	if !ok {
		return place{}, false
	}
	num, _, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(num)
	if err != nil {
		return place{}, false
	}
	return place{file + ".go", n}, true
}

// testNames returns the top-level tests of a package, in file order.
func testNames(p *pkg) []string {
	var out []string
	for _, s := range p.tests {
		for _, d := range s.tree.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || f.Type.Params == nil || len(f.Type.Params.List) != 1 {
				continue
			}
			rest, ok := strings.CutPrefix(f.Name.Name, "Test")
			if !ok || rest != "" && rest[0] >= 'a' && rest[0] <= 'z' || f.Name.Name == "TestMain" {
				continue
			}
			out = append(out, f.Name.Name)
		}
	}
	return out
}
