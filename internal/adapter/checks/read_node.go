package checks

import (
	"slices"
	"strings"
)

// readNode returns the failing tests of node --test, jest, vitest or mocha.
func readNode(lines []string) failures {
	for _, read := range []reader{readTAP, readSpec, readJest, readVitest, readMocha} {
		if f := read(lines); len(f.blocks) > 0 {
			return f
		}
	}
	return failures{}
}

// readTAP returns each "not ok" line with the description below it. It omits a test that
// failed only because of a subtest.
func readTAP(lines []string) failures {
	var f failures
	for i := 0; i < len(lines); i++ {
		l := strings.TrimLeft(lines[i], " ")
		if !strings.HasPrefix(l, "not ok ") {
			continue
		}
		block := []string{l}
		indent := len(lines[i]) - len(l)
		for i+1 < len(lines) && (lines[i+1] == "" || strings.HasPrefix(lines[i+1], strings.Repeat(" ", indent+2))) {
			i++
			d := lines[i][min(indent, len(lines[i])):]
			if t := strings.TrimSpace(d); t == "---" || t == "..." || strings.HasPrefix(t, "duration_ms:") || strings.Contains(t, "node:internal") || strings.HasPrefix(t, "Test.") || strings.HasPrefix(t, "AsyncResource.") {
				continue
			}
			block = append(block, d)
		}
		if slices.ContainsFunc(block, func(s string) bool { return strings.Contains(s, "failureType: 'subtestsFailed'") }) {
			continue
		}
		f.add(block)
		f.count++
	}
	return f
}

// readSpec returns the failures that node --test prints again at its end.
func readSpec(lines []string) failures {
	i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), "✖ failing tests:") })
	if i < 0 {
		return failures{}
	}
	return split(lines[i+1:], func(l string) bool { return strings.HasPrefix(l, "✖ ") }, nil, func(l string) bool {
		return strings.Contains(l, "node:internal")
	})
}

// readJest returns a block for each "● test".
func readJest(lines []string) failures {
	f := split(lines, func(l string) bool { return strings.HasPrefix(l, "  ● ") }, func(l string) bool {
		return strings.HasPrefix(l, "PASS ") || strings.HasPrefix(l, "FAIL ") || strings.HasPrefix(l, "Test Suites:") ||
			strings.HasPrefix(l, "Summary of all failing tests")
	}, func(l string) bool { return strings.Contains(l, "node_modules/") })
	seen := map[string]bool{} // with many suites, the summary prints them again
	f.blocks = slices.DeleteFunc(f.blocks, func(b []string) bool {
		was := seen[b[0]]
		seen[b[0]] = true
		return was
	})
	f.count = len(f.blocks)
	return f
}

// readVitest returns a block for each " FAIL file > test".
func readVitest(lines []string) failures {
	return split(lines, func(l string) bool {
		return strings.HasPrefix(l, " FAIL ") || strings.HasPrefix(l, "FAIL ") && strings.Contains(l, " > ")
	}, func(l string) bool {
		return strings.HasPrefix(strings.TrimSpace(l), "Test Files ")
	}, func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), "⎯") })
}

// readMocha returns the numbered list after "N failing".
func readMocha(lines []string) failures {
	i := slices.IndexFunc(lines, func(l string) bool {
		t := strings.TrimSpace(l)
		return strings.HasSuffix(t, " failing") && number(t) > 0
	})
	if i < 0 {
		return failures{}
	}
	return split(lines[i+1:], func(l string) bool {
		t := strings.TrimSpace(l)
		n := number(t)
		return n > 0 && strings.HasPrefix(l, "  ") && strings.HasPrefix(strings.TrimLeft(t, "0123456789"), ") ")
	}, func(l string) bool { return strings.HasPrefix(l, "npm ") }, func(l string) bool { return strings.Contains(l, "node:internal") })
}

// split splits lines into blocks. A block starts at a line for which begins is true and
// stops at one for which ends is true; lines for which drop is true are omitted.
func split(lines []string, begins, ends, drop func(string) bool) failures {
	var f failures
	var block []string
	done := func() {
		if len(block) > 0 {
			f.add(block)
			f.count++
		}
		block = nil
	}
	for _, l := range lines {
		switch {
		case begins(l):
			done()
			block = []string{l}
		case ends != nil && ends(l):
			done()
		case len(block) > 0 && (drop == nil || !drop(l)):
			block = append(block, l)
		}
	}
	done()
	return f
}

// readTSC returns the errors of the TypeScript compiler as one block: a line for each,
// with the indented lines that explain it.
func readTSC(lines []string) failures {
	var f failures
	var block []string
	for i, l := range lines {
		if !strings.Contains(l, "error TS") {
			continue
		}
		f.count++
		block = append(block, l)
		for _, more := range lines[i+1:] {
			if !strings.HasPrefix(more, "  ") || strings.Contains(more, "error TS") {
				break
			}
			block = append(block, more)
		}
	}
	f.add(block)
	return f
}

// readESLint returns the errors by file; warnings do not fail a check.
func readESLint(lines []string) failures {
	var f failures
	file := ""
	var block []string
	done := func() {
		if len(block) > 1 {
			f.add(block)
		}
		block = nil
	}
	for _, l := range lines {
		fields := strings.Fields(l)
		switch {
		case len(fields) > 2 && fields[1] == "error" && strings.Contains(fields[0], ":") && number(fields[0]) > 0:
			if block == nil {
				block = []string{file}
			}
			block = append(block, l)
			f.count++
		case l != "" && l[0] != ' ':
			done()
			file = l
		}
	}
	done()
	return f
}
