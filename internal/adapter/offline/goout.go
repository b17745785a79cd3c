package offline

import (
	"fmt"
	"strconv"
	"strings"
)

// This file parses the go command's output: results of tests and errors of the
// compiler. It judges nothing.

// failure is a test that failed.
type failure struct {
	pkg, name string
	where     string // file:line of its first message
	said      string // that message
	panicked  bool
}

// testRun is the outcome of a `go test`.
type testRun struct {
	passed   []string // packages
	failed   []string // packages
	unbuilt  []string // packages that did not compile
	failures []failure
	tests    bool // the output is that of go test
}

// readTests reads the output of go test, verbose or not.
func readTests(out string) testRun {
	var r testRun
	var open []failure
	panicking := ""
	lines := strings.Split(out, "\n")
	for i, raw := range lines {
		l := strings.TrimSpace(raw)
		switch {
		case strings.HasPrefix(l, "--- FAIL: "):
			name, _, _ := strings.Cut(strings.TrimPrefix(l, "--- FAIL: "), " ")
			f := failure{name: name}
			// A parent's failure is its first failing child's.
			if n := len(open); n > 0 && strings.HasPrefix(name, open[n-1].name+"/") && open[n-1].said == "" {
				open = open[:n-1]
			}
			for _, m := range lines[i+1:] {
				m = strings.TrimSpace(m)
				if strings.HasPrefix(m, "--- ") || strings.HasPrefix(m, "FAIL") || strings.HasPrefix(m, "ok ") {
					break
				}
				if where, said, ok := located(m); ok {
					f.where, f.said = where, said
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
			r.tests = true
			if strings.HasSuffix(l, "failed]") {
				r.unbuilt = append(r.unbuilt, f[1])
				open = nil
				continue
			}
			r.failed = append(r.failed, f[1])
			for j := range open {
				open[j].pkg = f[1]
				if panicking != "" && j == len(open)-1 {
					open[j].panicked, open[j].said = true, panicking
				}
			}
			if len(open) == 0 && panicking != "" {
				open = append(open, failure{pkg: f[1], said: panicking, panicked: true})
			}
			r.failures = append(r.failures, open...)
			open, panicking = nil, ""
		case strings.HasPrefix(l, "ok  \t") || strings.HasPrefix(l, "ok "):
			if f := strings.Fields(l); len(f) >= 3 {
				r.tests = true
				r.passed = append(r.passed, f[1])
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

// buildError is one error of the compiler or the type checker.
type buildError struct {
	file      string // relative to the module
	line, col int
	msg       string
}

func (e buildError) where() string { return fmt.Sprintf("%s:%d", e.file, e.line) }

// readBuild reads the errors in the output of go build or go vet. Findings of
// vet that are not compile errors are left out: their lines do not begin with
// "vet: ", and vet prints them only for code that compiles.
func readBuild(out string, vet bool) []buildError {
	var errs []buildError
	seen := map[buildError]bool{}
	for l := range strings.SplitSeq(out, "\n") {
		compile := !vet
		if t, ok := strings.CutPrefix(l, "vet: "); ok {
			l, compile = t, true
		}
		l = strings.TrimPrefix(l, "./")
		if n := len(errs); n > 0 && strings.HasPrefix(l, "\t") && compile {
			errs[n-1].msg += " " + strings.TrimSpace(l)
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
		e := buildError{file: file + ".go", msg: msg}
		e.line, _ = strconv.Atoi(num)
		if rest := strings.TrimPrefix(l, where+":"); rest != l {
			col, _, _ := strings.Cut(rest, ":")
			e.col, _ = strconv.Atoi(col)
		}
		if !seen[e] {
			seen[e] = true
			errs = append(errs, e)
		}
	}
	return errs
}
