package checks

import (
	"path"
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
	f := failures{about: aboutTAP}
	var said []string // the comments before a test: what its file printed
	for i := 0; i < len(lines); i++ {
		l := strings.TrimLeft(lines[i], " ")
		if c, ok := strings.CutPrefix(l, "# "); ok && !strings.HasPrefix(c, "Subtest: ") {
			said = append(said, c)
		} else if !ok && !strings.HasPrefix(l, "not ok ") {
			said = nil
		}
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
		if slices.ContainsFunc(block, func(s string) bool { return strings.TrimSpace(s) == "error: 'test failed'" }) {
			block = append(block, said...) // a file that ended by itself
		}
		said = nil
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
	return split(aboutNode, lines[i+1:], func(l string) bool { return strings.HasPrefix(l, "✖ ") }, nil, func(l string) bool {
		return strings.Contains(l, "node:internal")
	})
}

// readJest returns a block for each "● test".
func readJest(lines []string) failures {
	f := split(aboutNode, lines, func(l string) bool { return strings.HasPrefix(l, "  ● ") }, func(l string) bool {
		return strings.HasPrefix(l, "PASS ") || strings.HasPrefix(l, "FAIL ") || strings.HasPrefix(l, "Test Suites:") ||
			strings.HasPrefix(l, "Summary of all failing tests")
	}, func(l string) bool { return strings.Contains(l, "node_modules/") })
	seen := map[string]bool{} // with many suites, the summary prints them again
	f.blocks = slices.DeleteFunc(f.blocks, func(b block) bool {
		text := strings.Join(b.lines, "\n")
		was := seen[text]
		seen[text] = true
		return was
	})
	f.count = len(f.blocks)
	return f
}

// readVitest returns a block for each " FAIL file > test".
func readVitest(lines []string) failures {
	return split(aboutNode, lines, func(l string) bool {
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
	return split(aboutMocha, lines[i+1:], func(l string) bool {
		t := strings.TrimSpace(l)
		n := number(t)
		return n > 0 && strings.HasPrefix(l, "  ") && strings.HasPrefix(strings.TrimLeft(t, "0123456789"), ") ")
	}, func(l string) bool { return strings.HasPrefix(l, "npm ") }, func(l string) bool { return strings.Contains(l, "node:internal") })
}

// split splits lines into blocks. A block starts at a line for which begins is true and
// stops at one for which ends is true; lines for which drop is true are omitted.
func split(about func(*block), lines []string, begins, ends, drop func(string) bool) failures {
	f := failures{about: about}
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

// aboutTAP finds the test, its file, and the first line of the error.
func aboutTAP(b *block) {
	if _, b.name, _ = strings.Cut(b.lines[0], " - "); path.IsAbs(b.name) {
		b.name, b.unit = "", path.Base(b.name)
	}
	for i, l := range b.lines {
		switch key, value, _ := strings.Cut(strings.TrimSpace(l), ": "); {
		case key == "location" && b.unit == "":
			b.unit, _, _ = strings.Cut(path.Base(strings.Trim(value, "'")), ":")
		case key == "error" && b.at == 0:
			if b.at = i; strings.HasPrefix(value, "|") && i+1 < len(b.lines) {
				b.at++
			} else if value == "'test failed'" {
				b.at = max(b.at, i+1+slices.IndexFunc(b.lines[i+1:], func(l string) bool { return strings.Contains(l, "Error") && !strings.Contains(l, "throw") }))
			}
		}
	}
}

// aboutNode finds the test, and the first line below its heading.
func aboutNode(b *block) {
	b.name = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(b.lines[0]), "✖●"))
	if i := strings.LastIndex(b.name, " ("); i > 0 && strings.HasSuffix(b.name, "ms)") {
		b.name = b.name[:i]
	}
	if file, ok := strings.CutPrefix(b.name, "FAIL "); ok {
		b.unit, b.name, _ = strings.Cut(strings.TrimSpace(file), " > ")
		b.unit, _, _ = strings.Cut(b.unit, " [")
	}
	b.at = below(b.lines, 0)
}

// aboutMocha finds the test, whose names are in the lines up to a colon.
func aboutMocha(b *block) {
	for i, l := range b.lines {
		b.name = strings.TrimSpace(b.name + " " + strings.TrimSpace(l))
		if strings.HasSuffix(l, ":") {
			b.at = below(b.lines, i)
			break
		}
	}
	_, b.name, _ = strings.Cut(strings.TrimSuffix(b.name, ":"), ") ")
}

// below returns the first line after i that is not empty, i if there is none.
func below(lines []string, i int) int {
	for j := i + 1; j < len(lines); j++ {
		if strings.TrimSpace(lines[j]) != "" {
			return j
		}
	}
	return i
}

// readTSC returns the errors of the TypeScript compiler, each with the indented lines
// that explain it.
func readTSC(lines []string) failures {
	f := failures{about: func(b *block) { b.unit, _, _ = strings.Cut(b.lines[0], "(") }}
	for i, l := range lines {
		if !strings.Contains(l, "error TS") {
			continue
		}
		f.count++
		block := []string{l}
		for _, more := range lines[i+1:] {
			if !strings.HasPrefix(more, "  ") || strings.Contains(more, "error TS") {
				break
			}
			block = append(block, more)
		}
		f.add(block)
	}
	return f
}

// readESLint returns the errors, each below its file; warnings do not fail a check.
func readESLint(lines []string) failures {
	f := failures{about: func(b *block) { b.unit, b.at = b.lines[0], 1 }}
	file := ""
	for _, l := range lines {
		fields := strings.Fields(l)
		switch {
		case len(fields) > 2 && fields[1] == "error" && strings.Contains(fields[0], ":") && number(fields[0]) > 0:
			f.add([]string{file, l})
			f.count++
		case l != "" && l[0] != ' ':
			file = l
		}
	}
	return f
}
